"""A log of a hundred million rows under a memory limit: what is planned, and what it takes.

    python tests/faults/load.py --folder /var/tmp/load

An R-MAT log is generated once and kept in the folder. Then one slice of columns is read, sampled
and embedded under `run.memory_limit`, three times: with room, with too little for all columns at
once (more passes over the log), and with too little for any (an early stop). The kernel holds each
run to the same limit where the memory controller of cgroups can be used: a run that took more
would be killed.
"""

import argparse
import contextlib
import dataclasses
import json
import os
import pathlib
import resource
import shutil
import subprocess
import time

from scenarios import PROGRAM

MEGABYTE = 1000 * 1000
CGROUPS = pathlib.Path("/sys/fs/cgroup/memory")


@dataclasses.dataclass
class Measured:
    code: int
    seconds: float
    errors: str
    held: bool
    """Whether the kernel would have ended a run above the limit."""


@contextlib.contextmanager
def memory_group(limit):
    """A cgroup in which no process has more than `limit` MB; None where there are no cgroups."""
    group = CGROUPS / f"coden-{os.getpid()}"
    try:
        group.mkdir()
        (group / "memory.limit_in_bytes").write_text(str(limit * MEGABYTE))
    except OSError:
        yield None
        return
    try:
        yield group
    finally:
        group.rmdir()


def measure(arguments, limit):
    """Run the program under a limit of MB, its own and the kernel's."""
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


def planned(flags, limit=None):
    """What the plan says a run takes: MB of memory, and passes over the log."""
    limits = ["--run.memory_limit", f"{limit}MB"] if limit else []
    command = [PROGRAM, "plan", *map(str, flags), *limits, "--format", "json", "--quiet"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    needs = {row["what"]: row["value"] for row in json.loads(done.stdout)["needs"]}
    memory = int(needs["memory"].removesuffix(" MB").replace(",", ""))
    return memory, int(needs["passes of the embedding"])


def generate(folder, scale, edges, features):
    data = folder / f"rmat-{scale}-{edges}-{features}"
    if not (data / "features.parquet").exists():
        sizes = ["--scale", scale, "--edges", edges, "--features", features]
        command = [PROGRAM, "generate", "rmat", "--out", data, *sizes, "--quiet"]
        subprocess.run(list(map(str, command)), check=True, stdout=subprocess.DEVNULL)
    return data


def load(folder, scale, edges, columns, say=print):
    """Embed `columns` of the log with room, with little and with too little memory."""
    folder.mkdir(parents=True, exist_ok=True)
    data = generate(folder, scale, edges, max(columns, 16))
    flags = ["--input.edges", data / "edges.parquet", "--input.features", data / "features.parquet"]
    flags += ["--embed.columns", f"0:{columns}", "--partition.predictions", "2"]
    flags += ["--sample.max_per_interval", "1", "--embed.epsilon", "1e-3"]
    memory, passes = planned(flags)
    say(f"planned: {memory} MB, {passes} pass(es)")
    run = folder / "run"

    def embed(limit, what):
        shutil.rmtree(run, ignore_errors=True)
        found = measure(["embed", *flags, "--run.directory", run, "--quiet"], limit)
        peak = peak_of(run) if found.code == 0 else 0
        held = "held to it by the kernel" if found.held else "not held by the kernel"
        say(
            f"{what}: limit {limit} MB ({held}): exit {found.code}, peak {peak} MB, "
            f"{found.seconds:.0f} s {found.errors.strip()}"
        )
        return found, peak

    room, peak = embed(memory + 1, "with room")
    assert room.code == 0 and peak <= memory + 1, room
    say(f"peak / planned = {peak / memory:.3f}")
    # Passes are of 16 columns at least, so there may be no fewer.
    little = memory - 1
    low, more = planned(flags, little)
    if low <= little and more > 1:
        fewer, fewer_peak = embed(little, f"{more} passes")
        assert fewer.code == 0 and fewer_peak <= little, fewer
    none, _ = embed(max(memory // 3, 300), "too little")
    assert none.code == 4 and none.errors.count("\n") == 1, none
    shutil.rmtree(run, ignore_errors=True)
    return memory, peak


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--folder", type=pathlib.Path, required=True)
    parser.add_argument("--scale", type=int, default=23, help="2^scale nodes")
    parser.add_argument("--edges", type=int, default=110_000_000)
    parser.add_argument("--columns", type=int, default=8)
    options = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    load(options.folder, options.scale, options.edges, options.columns)


if __name__ == "__main__":
    main()
