"""The commit log of a run: a file belongs to the run only if the newest manifest names it."""

import json
import pathlib
import re
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from coden.checksums import digest, is_sealed
from coden.errors import RunError, one_line
from coden.storage import Storage

FORMAT_VERSION = 5
FOLDER = "_coden"
TRAININGS = "trainings/"
# A writer publishes and prunes manifests, and moves files, while we look at them.
ATTEMPTS = 5


@dataclass(frozen=True)
class CommittedFile:
    path: str
    size: int
    xxh3: str
    staged: str | None
    """Where the file lies while its commit is being finished."""


@dataclass(frozen=True)
class Manifest:
    number: int
    settings: dict[str, str]
    """What the parts of the run depend on, by `section.key`."""
    trainings: dict[str, dict[str, str]]
    """The settings of earlier trainings, by their names."""
    files: dict[str, CommittedFile]
    """By path."""


def newest_manifest(storage: Storage) -> Manifest:
    storage.check_inside(FOLDER)
    for _ in range(ATTEMPTS):
        matches = [re.fullmatch(r"manifest-(\d{6,})\.json", name) for name in storage.list(FOLDER)]
        number = max((int(match[1]) for match in matches if match), default=None)
        if number is None:
            raise RunError(f"'{storage.name}' is not a run: it has no manifest in {FOLDER}/")
        name = f"{FOLDER}/manifest-{number:06}.json"
        storage.check_inside(name)
        file = storage.open(name)
        if file is not None:
            with file:
                return _parse(file.read(), number, storage.path(name))
    raise RunError(f"'{storage.name}' is being written: its manifests vanish; load it again")


def open_file(storage: Storage, file: CommittedFile) -> pa.NativeFile:
    """Open a committed file where it lies now; its size is as committed."""
    sizes: list[int] = []
    for _ in range(ATTEMPTS):
        sizes = []
        # A file that still waits in the stage is newer than what has its name.
        for name in (file.staged, file.path):
            if name is None:
                continue
            storage.check_inside(name)
            handle = storage.open(name)
            if handle is None:
                continue
            if handle.size() == file.size:
                return handle
            sizes.append(handle.size())
            handle.close()
        if file.staged is None:
            break
    found = f"has {sizes[0]} bytes instead of {file.size}" if sizes else "is missing"
    raise RunError(
        f"'{storage.path(file.path)}' {found}: it is damaged, or the run has been rewritten "
        "since it was loaded"
    )


def read_checked(storage: Storage, file: CommittedFile) -> pa.Buffer:
    """The bytes of a committed file, which are as committed where xxhash is there to tell.

    They are read once, and what is compared is what is used.
    """
    try:
        with open_file(storage, file) as handle:
            content = handle.read_buffer()
    except OSError as error:
        raise RunError(f"'{storage.path(file.path)}' cannot be read: {one_line(error)}") from None
    found = digest(content)
    if found not in (None, file.xxh3):
        raise RunError(
            f"'{storage.path(file.path)}' is damaged, or the run has been rewritten since "
            f"it was loaded: its xxh3 is {found} instead of {file.xxh3}"
        )
    return content


def read_schema(storage: Storage, file: CommittedFile) -> pa.Schema:
    """The schema of a committed Parquet file, with its metadata. Reads the footer alone.

    Only the size of the file is compared with the manifest.
    """
    try:
        with open_file(storage, file) as handle, pq.ParquetFile(handle) as parquet:
            return parquet.schema_arrow.with_metadata(parquet.metadata.metadata)
    except (pa.ArrowException, OSError) as error:
        raise RunError(f"'{storage.path(file.path)}' cannot be read: {one_line(error)}") from None


def read_parquet(
    storage: Storage, file: CommittedFile, columns: list[str] | None = None
) -> pa.Table:
    """Read a committed file, or some columns of it, checking its pages."""
    content = pa.BufferReader(read_checked(storage, file))
    # Pages have checksums of their own, but the footer that describes them has none.
    try:
        with pq.ParquetFile(content, page_checksum_verification=True) as parquet:
            return parquet.read(columns)
    except (pa.ArrowException, OSError) as error:
        raise RunError(f"'{storage.path(file.path)}' cannot be read: {one_line(error)}") from None


def _parse(text: bytes, number: int, name: str) -> Manifest:
    try:
        value = json.loads(text)
        version = value["format_version"]
        manifest = Manifest(number, {}, {}, {})
        for part in value["parts"] if version == FORMAT_VERSION else []:
            settings = _settings(part["parameters"])
            if part["name"].startswith(TRAININGS):
                manifest.trainings[part["name"].removeprefix(TRAININGS)] = settings
            else:
                manifest.settings.update(settings)
            manifest.files.update((file["path"], _file(file)) for file in part["files"])
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        reason = f"{type(error).__name__}: {one_line(error)}"
        raise RunError(f"the manifest '{name}' is damaged: {reason}") from None
    if version != FORMAT_VERSION:
        raise RunError(f"'{name}' has a format this version does not know: {version!r}")
    if not is_sealed(text):
        raise RunError(f"the manifest '{name}' is damaged: it lacks the right checksum of itself")
    # An older state of the run must not pass for the newest one.
    if value.get("number") != number:
        raise RunError(f"'{name}' is the text of another manifest: {value.get('number')!r}")
    return manifest


def _settings(lines: str) -> dict[str, str]:
    """One setting a line: key = value."""
    pairs = (line.partition(" =") for line in lines.splitlines())
    return {key: value.strip() for key, _, value in pairs}


def _file(value: dict[str, Any]) -> CommittedFile:
    staged = value.get("staged")
    for path in (value["path"], staged):
        # Never follow a path out of the folder of the run.
        if path is not None and (path.startswith("/") or ".." in pathlib.PurePosixPath(path).parts):
            raise ValueError(f"path leaves the run: {path!r}")
    return CommittedFile(value["path"], int(value["size"]), str(value["xxh3"]), staged)
