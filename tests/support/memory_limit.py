"""Run the program under a memory limit, its own and the kernel's."""

import contextlib
import dataclasses
import json
import os
import pathlib
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(os.environ.get("CODEN_PROGRAM", ROOT / "build" / "coden"))
MEGABYTE = 1000 * 1000
CGROUPS = pathlib.Path("/sys/fs/cgroup")


@dataclasses.dataclass
class Measured:
    code: int
    seconds: float
    errors: str
    held: bool
    """Whether the kernel would have ended a run above the limit."""

    def __str__(self):
        held = "held to it by the kernel" if self.held else "not held by the kernel"
        return f"{held}: exit {self.code}, {self.seconds:.0f} s {self.errors.strip()}"


@contextlib.contextmanager
def memory_group(limit):
    """A cgroup in which no process has more than `limit` MB, of version 1 or 2; None where this
    process may not make one."""
    versions = [(CGROUPS / "memory", "memory.limit_in_bytes"), (CGROUPS, "memory.max")]
    for folder, file in versions:
        group = folder / f"coden-{os.getpid()}"
        # Version 2 has the file only where the group above gives memory to those below, and what
        # is no cgroup at all must not get one.
        if not (folder / "cgroup.procs").exists():
            continue
        try:
            group.mkdir()
            if (group / file).exists():
                (group / file).write_text(str(limit * MEGABYTE))
                break
            group.rmdir()
        except OSError:
            if group.exists():
                group.rmdir()
    else:
        yield None
        return
    try:
        yield group
    finally:
        group.rmdir()


def measure(arguments, limit):
    """Run the program under a limit of MB."""
    with memory_group(limit) as group:

        def enter():
            if group:
                (group / "cgroup.procs").write_text(str(os.getpid()))

        start = time.monotonic()
        process = subprocess.Popen(
            [PROGRAM, *map(str, arguments), "--run.memory_limit", f"{limit}MB"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=enter,
        )
        errors = process.communicate()[1]
        seconds = time.monotonic() - start
    return Measured(process.returncode, seconds, errors, group is not None)


def peak_of(run):
    """MB of resident memory that the process itself has seen. What the kernel tells its parent
    counts what the parent held when it forked."""
    manifest = json.loads(max(run.glob("_coden/manifest-*.json")).read_text())
    figures = [figure for part in manifest["parts"] for figure in part["figures"]]
    return max(figure["peak_bytes"] for figure in figures) // MEGABYTE


def generate(folder, scale, edges, features):
    """An R-MAT log with features, made once."""
    data = folder / f"rmat-{scale}-{edges}-{features}"
    if not (data / "features.parquet").exists():
        sizes = ["--scale", scale, "--edges", edges, "--features", features]
        command = [PROGRAM, "generate", "rmat", "--out", data, *sizes, "--force", "--quiet"]
        subprocess.run(list(map(str, command)), check=True, stdout=subprocess.DEVNULL)
    return data


def flags_of(data, predictions, epsilon):
    """What embeds a generated log, with at most one snapshot between two prediction times."""
    return [
        *["--input.edges", data / "edges.parquet", "--input.features", data / "features.parquet"],
        *["--partition.predictions", predictions, "--sample.max_per_interval", 1],
        *["--embed.epsilon", epsilon],
    ]
