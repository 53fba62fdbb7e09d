"""Slices of feature columns: which are embedded already, and what is left of a cut."""

import os
import posixpath
import re
from collections.abc import Iterable
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.fs

from coden.errors import RunError, one_line
from coden.storage import Storage

FOLDER = "_coden/slices"
SUCCESS = "_SUCCESS"
_RECORD = re.compile(r"([^/]+)/columns-(\d+)-(\d+)\.json")


class Columns(NamedTuple):
    begin: int
    end: int

    def __str__(self) -> str:
        return f"{self.begin}:{self.end}"

    @property
    def size(self) -> int:
        return self.end - self.begin

    @staticmethod
    def parse(text: str) -> "Columns":
        begin, _, end = text.partition(":")
        return Columns(int(begin), int(end))


def is_complete(run: str) -> bool:
    """Whether all snapshots are there; holds right after `coden schedule`."""
    file = Storage(run, None).open(SUCCESS)
    if file is None:
        return False
    file.close()
    return True


def finished(run: str) -> list[Columns]:
    """The slices that have a record, by their first column.

    Empty where records belong to several schedules: which of them counts, the program knows.
    """
    storage = Storage(run, None)  # for its checks and messages
    is_uri = re.match(r"[A-Za-z][A-Za-z0-9+.-]+://", run)
    try:
        filesystem, root = pa.fs.FileSystem.from_uri(run if is_uri else os.path.abspath(run))
        folder = posixpath.join(root, FOLDER)
        selector = pa.fs.FileSelector(folder, recursive=True, allow_not_found=True)
        paths = [info.path for info in filesystem.get_file_info(selector)]
    except (pa.ArrowException, OSError, ValueError) as error:
        reason = one_line(error).replace(run, storage.name)
        raise RunError(f"'{storage.path(FOLDER)}' cannot be listed: {reason}") from None
    matches: list[Any] = [_RECORD.fullmatch(posixpath.relpath(path, folder)) for path in paths]
    records = [match for match in matches if match]
    if len({match[1] for match in records}) > 1:
        return []
    return sorted(Columns(int(match[2]), int(match[3])) for match in records)


def missing(wanted: Iterable[Columns], there: Iterable[Columns]) -> list[Columns]:
    """What is to be embedded yet of the slices `wanted`, which may have been cut otherwise before.

    Of slices that overlap the program takes, from left to right, the first and widest; so do we.
    """
    taken: list[Columns] = []
    for columns in sorted(there, key=lambda columns: (columns.begin, -columns.end)):
        if not taken or columns.begin >= taken[-1].end:
            taken.append(columns)
    pieces = []
    for columns in wanted:
        begin = columns.begin
        for other in taken:
            if other.end <= begin or other.begin >= columns.end:
                continue
            if other.begin > begin:
                pieces.append(Columns(begin, other.begin))
            begin = max(begin, other.end)
        if begin < columns.end:
            pieces.append(Columns(begin, columns.end))
    return pieces
