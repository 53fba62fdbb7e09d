"""Recheck the committed files of a run: sizes, and contents where the package xxhash is there."""

from dataclasses import dataclass

from coden.checksums import file_digest, hasher
from coden.errors import RunError
from coden.manifest import ATTEMPTS, CommittedFile, Manifest, newest_manifest, open_file
from coden.storage import Storage


@dataclass(frozen=True)
class Verification:
    files: int
    checksums: bool
    """False: the package xxhash is not installed, only sizes were compared."""
    problems: tuple[str, ...]

    @property
    def ok(self) -> bool:
        return not self.problems

    def __str__(self) -> str:
        what = "size and xxh3" if self.checksums else "size alone (xxhash is not installed)"
        if self.ok:
            return f"{self.files} files are as committed, by {what}"
        found = f"{len(self.problems)} of {self.files} files are not as committed, by {what}"
        return f"{found}: {self.problems[0]}"


def verify(storage: Storage) -> Verification:
    """Check every file that the newest manifest names."""
    for _ in range(ATTEMPTS):
        manifest = newest_manifest(storage)
        result = _verify(storage, manifest)
        # A commit in between may have replaced files that the older manifest names.
        if result.ok or newest_manifest(storage).number == manifest.number:
            break
    return result


def _verify(storage: Storage, manifest: Manifest) -> Verification:
    files = manifest.files.values()
    problems = []
    for file in files:
        try:
            with open_file(storage, file) as handle:
                digest = file_digest(handle)
        except RunError as error:
            problems.append(str(error))
            continue
        except OSError:
            problems.append(f"'{storage.path(file.path)}' cannot be read")
            continue
        if digest not in (None, file.xxh3):
            problems.append(_damaged(storage, file))
    return Verification(len(files), hasher() is not None, tuple(problems))


def _damaged(storage: Storage, file: CommittedFile) -> str:
    return f"'{storage.path(file.path)}' is damaged: its xxh3 is not {file.xxh3}"
