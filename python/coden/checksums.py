"""Checksums of files, where the package xxhash is installed."""

from collections.abc import Callable
from typing import Any

import pyarrow as pa

CHUNK_BYTES = 4 << 20
# The second line of a manifest; the checksum is that of all other lines.
SEAL = b' "xxh3": "%b",'


def hasher() -> Callable[[], Any] | None:
    try:
        import xxhash
    except ImportError:
        return None
    new: Callable[[], Any] = xxhash.xxh3_64
    return new


def digest(content: pa.Buffer) -> str | None:
    """The xxh3 of bytes; nothing without xxhash."""
    new = hasher()
    if new is None:
        return None
    found = new()
    found.update(content)
    return str(found.hexdigest())


def file_digest(handle: pa.NativeFile) -> str | None:
    """The xxh3 of a file, read piece by piece; nothing without xxhash."""
    new = hasher()
    if new is None:
        return None
    found = new()
    while chunk := handle.read(CHUNK_BYTES):
        found.update(chunk)
    return str(found.hexdigest())


def is_sealed(text: bytes) -> bool:
    """Whether a manifest is what was written: it carries the checksum of its other lines."""
    head, _, rest = text.partition(b"\n")
    line, _, rest = rest.partition(b"\n")
    new = hasher()
    if new is None:
        return line.startswith(b' "xxh3": "')
    found = new()
    found.update(head + b"\n" + rest)
    return bool(line == SEAL % found.hexdigest().encode())
