"""The embeddings of chosen nodes over many snapshots, as one array.

Files are read one after the other, and of each only the rows asked for are kept: at any time there
is at most one decoded file beside the result.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from coden.embeddings import Matrix
from coden.schedule import Planned
from coden.snapshot import shared_tensor

if TYPE_CHECKING:
    import torch

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False, repr=False)
class Sequence:
    nodes: pa.Array
    snapshots: list[int]
    times: npt.NDArray[np.int64]
    """Time of each snapshot, in the unit of the log's time column."""
    embeddings: Matrix
    """len(nodes) x len(snapshots) x dim; zeros where a node is not there."""
    mask: Mask
    """len(nodes) x len(snapshots); true where the snapshot has the node."""
    seen: Mask
    """len(nodes) x len(snapshots); true where the node has had an event by then.

    A node with a row in the features is in every snapshot, also before its first event.
    """

    def torch(self) -> tuple["torch.Tensor", "torch.Tensor"]:
        """Embeddings and mask as tensors that share their memory."""
        return shared_tensor(self.embeddings), shared_tensor(self.mask)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Matrix:
        return np.array(self.embeddings, dtype, copy=copy)

    def __repr__(self) -> str:
        nodes, snapshots, dim = self.embeddings.shape
        return f"<coden.Sequence {nodes} nodes x {snapshots} snapshots x {dim}>"


class FileRows(NamedTuple):
    nodes: pa.Array
    embeddings: Matrix


def gather(
    nodes: pa.Array,
    plan: list[Planned],
    embeddings: Matrix,
    first_events: pa.Array,
    read: Callable[[int], FileRows],
) -> Sequence:
    """Fill `embeddings`, zeros in the shape of the result; `read` decodes a snapshot's file.

    `first_events` is the time of each node's first event, null where it has none.
    """
    mask = np.zeros((len(nodes), len(plan)), np.bool_)
    base = _BaseRows(nodes, read)
    for place, planned in enumerate(plan):
        values, there = base.rows(planned.base)
        embeddings[:, place] = values
        mask[:, place] = there
        if planned.number != planned.base:
            values, there = _rows_of(nodes, read(planned.number))
            embeddings[there, place] = values[there]
            mask[:, place] |= there
    times = np.array([planned.time for planned in plan], np.int64)
    had_events = pc.is_valid(first_events).to_numpy(zero_copy_only=False)
    first = pc.fill_null(first_events, 0).to_numpy()
    seen = had_events[:, None] & (first[:, None] <= times)
    numbers = [planned.number for planned in plan]
    return Sequence(nodes, numbers, times, embeddings, mask, seen)


class _BaseRows:
    """The rows asked for of the base read last: consecutive snapshots share it."""

    def __init__(self, nodes: pa.Array, read: Callable[[int], FileRows]):
        self._nodes, self._read = nodes, read
        self._number: int | None = None
        self._rows: tuple[Matrix, Mask]

    def rows(self, number: int) -> tuple[Matrix, Mask]:
        if number != self._number:
            self._rows, self._number = _rows_of(self._nodes, self._read(number)), number
        return self._rows


def _rows_of(nodes: pa.Array, file: FileRows) -> tuple[Matrix, Mask]:
    """Embedding of each node in the file, zeros where it is not there, and where it is."""
    places = pc.index_in(nodes, value_set=file.nodes)
    there: Mask = pc.is_valid(places).to_numpy(zero_copy_only=False)
    values = np.zeros((len(nodes), file.embeddings.shape[1]), file.embeddings.dtype)
    values[there] = file.embeddings[places.drop_null().to_numpy()]
    return values, there
