"""Calls of the program: as processes of their own, or forked from one that has started.

Loading and unloading the libraries takes a quarter of a second of work, most calls on small
files a hundredth. `Forked` loads them once (tests/support/fork_server.cc).
"""

import dataclasses
import os
import pathlib
import re
import struct
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(os.environ.get("CODEN_PROGRAM", ROOT / "build" / "coden"))
SHIM = ROOT / "build" / "tests" / "libfork_server.so"
TIMEOUT = 20
# Where files are synced in no time, if there is such a place.
SCRATCH = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


@dataclasses.dataclass
class Outcome:
    """How a call of the program ended, and what it took."""

    code: int  # negative: the signal that ended it, SIGALRM after the time that is given
    stdout: str
    stderr: str
    seconds: float
    processor_seconds: float
    peak_bytes: int  # of a started process never less than what its parent held

    @property
    def line(self):
        """The one error line, or None where there is not exactly one printable one."""
        lines = self.stderr.split("\n")
        _, prefix, message = lines[0].partition("Z coden: error: ")
        if len(lines) != 2 or lines[1] or not prefix:
            return None
        return message if lines[0].isprintable() else None


class Forked:
    """The program, started once; every call is a fork of it, with the same environment."""

    def __init__(self, environment=None):
        self.folder = tempfile.TemporaryDirectory(dir=SCRATCH)
        self.files = [os.path.join(self.folder.name, name) for name in ("out", "err")]
        self.server = subprocess.Popen(
            [PROGRAM],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, **(environment or {}), "LD_PRELOAD": str(SHIM)},
        )
        # A fork is not charged for pages that only loading has touched.
        self.loaded_bytes = 0
        forked = self.call("--version").peak_bytes
        status = pathlib.Path(f"/proc/{self.server.pid}/status").read_text()
        loaded = int(re.search(r"VmHWM:\s*(\d+) kB", status)[1]) * 1024
        self.loaded_bytes = max(0, loaded - forked)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.stdin.close()
        self.server.stdout.close()
        self.server.wait()
        self.folder.cleanup()

    def call(self, *arguments):
        strings = [*self.files, str(TIMEOUT), str(PROGRAM), *map(str, arguments)]
        request = b"".join(os.fsencode(string) + b"\0" for string in strings)
        self.server.stdin.write(struct.pack("=I", len(request)) + request)
        self.server.stdin.flush()
        status, seconds, busy, kilobytes = self.server.stdout.readline().split()
        texts = [pathlib.Path(file).read_bytes() for file in self.files]
        return Outcome(
            os.waitstatus_to_exitcode(int(status)),
            *[text.decode(errors="surrogateescape") for text in texts],
            float(seconds),
            float(busy),
            int(kilobytes) * 1024 + self.loaded_bytes,
        )


class Started:
    """The program, every call a process of its own."""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def call(self, *arguments):
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            start = time.monotonic()
            command = ["timeout", "-s", "ALRM", str(TIMEOUT), PROGRAM, *map(str, arguments)]
            process = subprocess.Popen(command, stdout=out, stderr=err)
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            seconds = time.monotonic() - start
            texts = []
            for file in (out, err):
                file.seek(0)
                texts.append(file.read().decode(errors="surrogateescape"))
        busy = usage.ru_utime + usage.ru_stime
        return Outcome(process.returncode, *texts, seconds, busy, usage.ru_maxrss * 1024)
