"""Run a program to its end and say what it took, as the kernel has counted it."""

from __future__ import annotations

import os
import pathlib
import subprocess
import time
from dataclasses import dataclass

MEGABYTE = 1000 * 1000


@dataclass
class Taken:
    seconds: float = 0.0
    cpu: float = 0.0
    memory_mb: float = 0.0
    read_mb: float = 0.0
    write_mb: float = 0.0

    def then(self, other: Taken) -> Taken:
        """What both take, one after the other."""
        return Taken(
            self.seconds + other.seconds,
            self.cpu + other.cpu,
            max(self.memory_mb, other.memory_mb),
            self.read_mb + other.read_mb,
            self.write_mb + other.write_mb,
        )


def run(program, *arguments) -> Taken:
    """Bytes are those of system calls. A failure ends the script with the error."""
    start = time.monotonic()
    process = subprocess.Popen(
        [program, *map(str, arguments), "--quiet"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    errors = process.stderr.read()
    # What the kernel has counted is there until the process is waited for.
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    seconds = time.monotonic() - start
    counted = dict(
        line.split(": ")
        for line in pathlib.Path(f"/proc/{process.pid}/io").read_text().split("\n")[:-1]
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert status == 0, errors.decode()
    return Taken(
        seconds,
        usage.ru_utime + usage.ru_stime,
        usage.ru_maxrss * 1024 / MEGABYTE,
        int(counted["rchar"]) / MEGABYTE,
        int(counted["wchar"]) / MEGABYTE,
    )
