"""A run, as it stood when it was loaded."""

import functools
import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.fs

from coden.embeddings import Matrix, embedding_matrix, one_chunk, stored_dtype
from coden.errors import RunError, one_line
from coden.manifest import (
    ATTEMPTS,
    TRAININGS,
    CommittedFile,
    Manifest,
    newest_manifest,
    read_parquet,
    read_schema,
)
from coden.node_ids import node_ids
from coden.schedule import Schedule
from coden.sequence import FileRows, Sequence, gather
from coden.snapshot import Snapshot, laid_over
from coden.storage import Storage
from coden.training import Training
from coden.verification import Verification, verify

if TYPE_CHECKING:
    from coden.model import Model

SCHEDULE = "schedule.parquet"
NODES = "state/nodes.parquet"


def load(location: str | os.PathLike[str], *, filesystem: pa.fs.FileSystem | None = None) -> "Run":
    """Open the run in a local folder, or at a URI such as s3://bucket/runs/my.

    A run that is being written is read as far as it is committed; load it again to see more. With
    `filesystem`, the location is a path in it. Raises RunError where there is no run.
    """
    storage = Storage(location, filesystem)
    manifest = newest_manifest(storage)
    for _ in range(ATTEMPTS):
        try:
            return Run(storage, manifest)
        except RunError:
            # A commit in between has put the next schedule in the place of this one.
            newer = newest_manifest(storage)
            if newer.number == manifest.number:
                raise
            manifest = newer
    raise RunError(f"'{storage.name}' is written faster than it is read: load it again")


class Run:
    """Made by `load`. Reads files when they are asked for.

    Keeps the schedule, and the tables of the training once they were asked for.
    """

    def __init__(self, storage: Storage, manifest: Manifest):
        self._storage, self._manifest = storage, manifest
        file = manifest.files.get(SCHEDULE)
        if file is None:
            raise RunError(f"'{storage.name}' has no snapshots: coden embed writes them")
        self._schedule = Schedule(read_parquet(storage, file), storage.path(SCHEDULE))
        self._training = Training(storage, manifest.files, manifest.settings)

    @property
    def schedule(self) -> pa.Table:
        """When and why each snapshot was taken: one row per snapshot."""
        return self._schedule.table

    @property
    def num_snapshots(self) -> int:
        return len(self._schedule)

    @property
    def dim(self) -> int:
        """Width of an embedding."""
        return self._columns.dim

    @property
    def settings(self) -> dict[str, str]:
        """Every setting that the committed parts depend on, by `section.key`."""
        return dict(self._manifest.settings)

    @property
    def predictions(self) -> pa.Table | None:
        """One row per labelled node and prediction time; None before training."""
        return self._training.predictions

    @property
    def metrics(self) -> pa.Table | None:
        """One row per training run and prediction time; None before training."""
        return self._training.metrics

    @property
    def forecast(self) -> pa.Table | None:
        """What `coden predict` has said of times after the training; None before it."""
        return self._training.forecast

    @property
    def trainings(self) -> dict[str, Training]:
        """The earlier trainings that the run has kept, by name, oldest first."""
        return {
            name: Training(self._storage, self._manifest.files, settings, f"{TRAININGS}{name}/")
            for name, settings in self._manifest.trainings.items()
        }

    def snapshot(self, number: int, *, keep_precision: bool = False) -> Snapshot:
        """A snapshot by its number; float32, or as it was written with `keep_precision`."""
        planned = self._schedule.snapshot(number)
        table = self._read(number)
        if planned.base != number:
            table = laid_over(self._read(planned.base), table)
        embeddings = self._matrix(table, number, self._columns.dtype(keep_precision))
        nodes = one_chunk(table["node"])
        return Snapshot(number, planned.time, planned.prediction, table, nodes, embeddings)

    def at_prediction(self, prediction: int, *, keep_precision: bool = False) -> Snapshot:
        """The snapshot taken at a prediction time, counted from 1."""
        number = self._schedule.at_prediction(prediction)
        return self.snapshot(number, keep_precision=keep_precision)

    def sequence(
        self,
        nodes: Any,
        snapshots: Iterable[int] | None = None,
        *,
        keep_precision: bool = False,
    ) -> Sequence:
        """The embeddings of some nodes (a list or array of ids) over some or all snapshots.

        An id that no snapshot has is masked everywhere. Features alone put a node into every
        snapshot: `seen` says from when on it has had an event. Holds one decoded file beside the
        result.
        """
        numbers = self._schedule.numbers if snapshots is None else snapshots
        plan = [self._schedule.snapshot(number) for number in numbers]

        ids = node_ids(nodes, self._columns.node_type)
        dtype = self._columns.dtype(keep_precision)

        def read(number: int) -> FileRows:
            table = self._read(number)
            return FileRows(one_chunk(table["node"]), self._matrix(table, number, dtype))

        embeddings = np.zeros((len(ids), len(plan), self.dim), dtype)
        return gather(ids, plan, embeddings, self._first_events(ids), read)

    def snapshots_until(self, prediction: int) -> list[int]:
        """Numbers of the snapshots that a prediction may use; the last is at its time."""
        numbers = self._schedule.numbers
        return numbers[: numbers.index(self._schedule.at_prediction(prediction)) + 1]

    def model(self) -> "Model":
        """The trained model, as a module of PyTorch; needs torch and safetensors."""
        return self._training.model()

    def verify(self) -> Verification:
        """Recheck every file of the newest manifest: size, and xxh3 with the package xxhash."""
        return verify(self._storage)

    def __repr__(self) -> str:
        return f"<coden.Run '{self._storage.name}': {self.num_snapshots} snapshots>"

    @functools.cached_property
    def _columns(self) -> "_Columns":
        if not len(self._schedule):
            raise RunError(f"'{self._storage.name}' has no snapshots yet")
        path = _snapshot_path(self._schedule.numbers[0])
        schema = read_schema(self._storage, self._committed(path))
        try:
            dim = int((schema.metadata or {})[b"coden.dim"])
            return _Columns(dim, schema.field("node").type, stored_dtype(schema))
        except (KeyError, ValueError) as error:
            where = self._storage.path(path)
            raise RunError(f"'{where}' is not a snapshot: {one_line(error)}") from None

    def _read(self, number: int) -> pa.Table:
        path = _snapshot_path(number)
        table = read_parquet(self._storage, self._committed(path))
        if "node" not in table.column_names:
            raise RunError(f"'{self._storage.path(path)}' is not a snapshot: no column node")
        return table

    def _first_events(self, ids: pa.Array) -> pa.Array:
        """Time of the first event of each node; null where it has none."""
        nodes = read_parquet(self._storage, self._committed(NODES), ["node", "first_event"])
        places = pc.index_in(ids, value_set=one_chunk(nodes["node"]))
        return one_chunk(nodes["first_event"]).take(places)

    def _matrix(self, table: pa.Table, number: int, dtype: npt.DTypeLike) -> Matrix:
        try:
            return embedding_matrix(table, self.dim, dtype)
        except ValueError as error:
            where = self._storage.path(_snapshot_path(number))
            raise RunError(f"'{where}' is not a snapshot: {one_line(error)}") from None

    def _committed(self, path: str) -> CommittedFile:
        file = self._manifest.files.get(path)
        if file is None:
            raise RunError(f"'{self._storage.path(path)}' is not committed: no manifest names it")
        return file


class _Columns(NamedTuple):
    """What the files of all snapshots of a run share."""

    dim: int
    node_type: pa.DataType
    stored: npt.DTypeLike

    def dtype(self, keep_precision: bool) -> npt.DTypeLike:
        return self.stored if keep_precision else np.float32


def _snapshot_path(number: int) -> str:
    return f"snapshots/snapshot={number:06}/part-0.parquet"
