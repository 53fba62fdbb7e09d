"""What runs on a node of a Ray cluster: one call of the program, told as it happens.

The function is sent to the nodes by value and uses the standard library alone, so that a node needs
Ray and the program, and nothing of this package.
"""

import ctypes
import glob
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from typing import Any

USAGE = 2
FAILED = 1
SECONDS_TO_APPEAR = 60.0
"""How long a folder that another node has written may stay unseen on a network filesystem."""


def run_program(call: dict[str, Any]) -> Iterator[tuple[Any, ...]]:
    """Run the program once, as `call` says (see `Cluster.run`), and tell how it goes.

    Yields ("start", node), then ("line", text) for every line of standard error, and at last
    ("end", exit code, standard output); the code is negative where a signal ended the program.
    """
    node = socket.gethostname()
    yield ("start", node)
    with tempfile.TemporaryDirectory(prefix="coden-ray-") as folder:
        where = call["folder"]
        if not os.path.isdir(where) and not call["needs_folder"]:
            where = folder
        problem = _problem(where, call["run"])
        if problem is not None:
            yield ("line", f"coden: error: {problem[1]} on node {node}")
            yield ("end", problem[0], "")
            return
        command = [call["program"], call["command"]]
        sent = None
        if call["pipeline"] is not None:
            name, text = call["pipeline"]
            sent = pathlib.Path(folder, os.path.basename(name))
            sent.write_bytes(text)
            command.append(str(sent))
        environment = {**os.environ, **call["environment"]}
        if "OMP_NUM_THREADS" not in call["environment"]:
            # Set by Ray for what runs in its workers.
            environment.pop("OMP_NUM_THREADS", None)
        with tempfile.TemporaryFile() as output:
            try:
                process = subprocess.Popen(
                    [*command, *call["arguments"]],
                    cwd=where,
                    env=environment,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.PIPE,
                    preexec_fn=_dies_with(os.getpid()),
                )
            except OSError as error:
                yield ("line", f"coden: error: cannot start the program on node {node}: {error}")
                yield ("end", USAGE, "")
                return
            try:
                assert process.stderr is not None
                for raw in process.stderr:
                    line = raw.decode(errors="replace").rstrip("\n")
                    yield ("line", line.replace(str(sent), name) if sent else line)
                code = process.wait()
            finally:
                process.kill()
                process.wait()
            output.seek(0)
            yield ("end", code, output.read().decode(errors="replace"))


def _problem(folder: str, run: str | None) -> tuple[int, str] | None:
    """What keeps the program from working in `folder`; `run` has a schedule, if it is given."""
    if not os.path.isdir(folder):
        return USAGE, f"relative paths refer to '{folder}', which is not there"
    if run is None or re.match(r"[A-Za-z][A-Za-z0-9+.-]+://", run):
        return None
    deadline = time.monotonic() + SECONDS_TO_APPEAR
    manifests = os.path.join(glob.escape(os.path.join(folder, run)), "_coden", "manifest-*.json")
    # Without its schedule the program would take a slice for a run of its own.
    while not glob.glob(manifests):
        if time.monotonic() > deadline:
            return USAGE, f"the schedule in '{run}' is not seen: its folder must be shared"
        time.sleep(0.5)
    return None


def _dies_with(parent: int) -> Callable[[], None] | None:
    """What the new process does first, so that it is killed when this one dies, however it dies.

    Linux sends the signal when the thread ends that made the process. That is the thread that waits
    for it here, and which a worker of Ray runs its tasks in: the main one.
    """
    if not sys.platform.startswith("linux"):
        return None
    prctl = ctypes.CDLL(None).prctl
    set_death_signal = 1

    def prepare() -> None:
        prctl(set_death_signal, int(signal.SIGKILL), 0, 0, 0)
        if os.getppid() != parent:  # it has died in between
            os._exit(1)

    return prepare
