"""A log of a hundred million rows under a memory limit: what is planned, and what it takes.

    python tests/faults/load.py --folder /var/tmp/load

An R-MAT log is generated once and kept in the folder. Then one slice of columns is read, sampled
and embedded under `run.memory_limit`, three times: with room, with too little for all columns at
once (more passes over the log), and with too little for any (an early stop). The kernel holds each
run to the same limit where the memory controller of cgroups can be used: a run that took more
would be killed.
"""

import argparse
import json
import pathlib
import resource
import shutil
import subprocess
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from memory_limit import PROGRAM, flags_of, generate, measure, peak_of


def planned(flags, limit=None):
    """What the plan says a run takes: MB of memory, and passes over the log."""
    limits = ["--run.memory_limit", f"{limit}MB"] if limit else []
    command = [PROGRAM, "plan", *map(str, flags), *limits, "--format", "json", "--quiet"]
    done = subprocess.run(command, capture_output=True, text=True)
    # Where not even the smallest pass fits it says so, and what that takes.
    assert done.returncode in (0, 4), done.stderr
    needs = json.loads(done.stdout)["needs"]
    return -(-needs["memory_bytes"] // 1_000_000), needs["passes"]


def load(folder, scale, edges, columns, say=print):
    """Embed `columns` of the log with room, with little and with too little memory. Returns what
    was planned, what was taken, and whether the kernel would have ended a run above its limit."""
    folder.mkdir(parents=True, exist_ok=True)
    data = generate(folder, scale, edges, max(columns, 16))
    flags = [*flags_of(data, predictions=2, epsilon=1e-3), "--embed.columns", f"0:{columns}"]
    memory, passes = planned(flags)
    say(f"planned: {memory} MB, {passes} pass(es)")
    run = folder / "run"

    def embed(limit, what):
        shutil.rmtree(run, ignore_errors=True)
        found = measure(["embed", *flags, "--run.directory", run, "--quiet"], limit)
        peak = peak_of(run) if found.code == 0 else 0
        say(f"{what}: limit {limit} MB, peak {peak} MB, {found}")
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
    none, _ = embed(max(memory // 2, 100), "too little")
    assert none.code == 4 and none.errors.count("\n") == 1, none
    shutil.rmtree(run, ignore_errors=True)
    return memory, peak, room.held


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
