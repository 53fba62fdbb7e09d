"""The folder of a run: a local path, or a URI of a file system that Arrow knows."""

import os
import re
from typing import Any

import pyarrow as pa
import pyarrow.fs

from coden.errors import RunError, one_line


class Storage:
    """Files by their path below the folder of a run."""

    def __init__(self, location: str | os.PathLike[str], filesystem: pa.fs.FileSystem | None):
        text = os.fspath(location)
        self.name = _without_secrets(text) if _is_uri(text) else text
        self._filesystem: Any = filesystem
        self._root = text.rstrip("/")
        if filesystem is None:
            try:
                if not _is_uri(text):
                    text = os.path.abspath(text)
                self._filesystem, self._root = pa.fs.FileSystem.from_uri(text)
            except (pa.ArrowException, OSError, ValueError) as error:
                reason = one_line(error).replace(text, self.name)
                raise RunError(f"'{self.name}' cannot be opened: {reason}") from None

    def check_inside(self, name: str) -> None:
        """Refuse a file of the run that is a symbolic link, or lies behind one.

        A run has its files in its own folder: nothing elsewhere is taken for a part of it.
        """
        folder = _local_folder(self._filesystem, self._root)
        parts = name.split("/")
        for end in range(1, len(parts) + 1) if folder is not None else []:
            step = "/".join(parts[:end])
            if os.path.islink(f"{folder}/{step}"):
                raise RunError(
                    f"'{self.path(step)}' is a symbolic link; a run has its files in its own "
                    "folder: put the file or folder itself there"
                )

    def path(self, name: str) -> str:
        """How messages call a file of the run."""
        return f"{self.name.rstrip('/')}/{name}"

    def list(self, folder: str) -> list[str]:
        """Names of the files in a folder; none where the folder is missing."""
        selector = pa.fs.FileSelector(f"{self._root}/{folder}", allow_not_found=True)
        try:
            found = self._filesystem.get_file_info(selector)
        except OSError as error:
            raise RunError(f"'{self.path(folder)}' cannot be listed: {one_line(error)}") from None
        return [info.base_name for info in found if info.type == pa.fs.FileType.File]

    def open(self, name: str) -> pa.NativeFile | None:
        """A file for reading at random; nothing where there is none."""
        try:
            return self._filesystem.open_input_file(f"{self._root}/{name}")
        except FileNotFoundError:
            return None
        except OSError as error:
            raise RunError(f"'{self.path(name)}' cannot be opened: {one_line(error)}") from None


def _local_folder(filesystem: Any, root: str) -> str | None:
    """Where a place in a file system is on this machine; None where it is elsewhere."""
    if isinstance(filesystem, pa.fs.SubTreeFileSystem):
        return _local_folder(filesystem.base_fs, f"{filesystem.base_path.rstrip('/')}/{root}")
    return root if isinstance(filesystem, pa.fs.LocalFileSystem) else None


def _is_uri(text: str) -> bool:
    return re.match(r"[A-Za-z][A-Za-z0-9+.-]+://", text) is not None


def _without_secrets(uri: str) -> str:
    """A URI may carry a key, a secret (with a slash that should be escaped) and options."""
    return re.sub(r"(?<=://)([^/@]*|[^@]*:[^@]*)@", "***@", uri).partition("?")[0]
