"""What `coden plan --slices` says a run costs, and what it takes: the figures of docs/scaling.md.

    python tests/bench/cost.py --folder FOLDER [--scales 16 18 20] [--columns 32] [--slices 2]

For every size an R-MAT log is generated, planned, scheduled, embedded slice by slice and committed,
each step a process of its own. Seconds, memory at its peak, and the bytes that were read and
written through system calls stand beside what was planned. Wants a quiet machine.
"""

import argparse
import json
import os
import pathlib
import platform
import shutil
import subprocess
import time

import taken
from taken import MEGABYTE

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(os.environ.get("CODEN_PROGRAM", ROOT / "build" / "coden"))
# Rows for every node: dense enough that edges, not nodes, are most of the work.
ROWS_PER_NODE = 14


def run(*arguments):
    return taken.run(PROGRAM, *arguments)


def plan(flags, slices):
    command = [PROGRAM, "plan", *map(str, flags), "--slices", str(slices), "--format", "json"]
    done = subprocess.run([*command, "--quiet"], capture_output=True, text=True, check=True)
    tables = json.loads(done.stdout)
    return tables["slices"], {row["step"]: row for row in tables["costs"]}


def compare(size, step, planned, found_by_run):
    parts = [f"{size:24} {step:10}"]
    for name in ("seconds", "memory", "read", "write"):
        is_time = name == "seconds"
        expected = planned[name] if is_time else planned[f"{name}_bytes"] / MEGABYTE
        found = getattr(found_by_run, name if is_time else f"{name}_mb")
        ratio = found / expected if expected else float("nan")
        parts.append(f"{expected:10.1f} {found:10.1f} {ratio:6.2f}")
    print(" ".join(parts), flush=True)


def measure(folder, scale, columns, slices, epsilon, threads):
    data = folder / f"rmat-{scale}"
    shutil.rmtree(data, ignore_errors=True)
    rows = ROWS_PER_NODE << scale
    sizes = ["--scale", scale, "--edges", rows, "--features", columns]
    run("generate", "rmat", "--out", data, *sizes)
    target = folder / "run"
    shutil.rmtree(target, ignore_errors=True)
    flags = ["--input.edges", data / "edges.parquet", "--input.features", data / "features.parquet"]
    flags += ["--run.directory", target, "--partition.predictions", 4]
    flags += ["--sample.max_per_interval", 1, "--embed.epsilon", epsilon]
    flags += ["--run.threads", threads]
    size = f"2^{scale}, {rows / 1e6:.1f} M rows"
    scheduled = run("schedule", *flags)
    parts, steps = plan(flags, slices)
    compare(size, "schedule", steps["schedule"], scheduled)
    for part in parts:
        embedded = run("embed", *flags, "--embed.columns", part["columns"])
        compare(size, part["columns"], part, embedded)
    compare(size, "commit", steps["commit"], run("commit", *flags))
    shutil.rmtree(target)
    shutil.rmtree(data)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--folder", type=pathlib.Path, required=True)
    parser.add_argument("--scales", type=int, nargs="+", default=[16, 18, 20])
    parser.add_argument("--columns", type=int, default=32)
    parser.add_argument("--slices", type=int, default=2)
    parser.add_argument("--epsilon", type=float, default=1e-5)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    print(f"{platform.machine()}, {os.cpu_count()} cores, {time.strftime('%d %B %Y')}")
    heads = "".join(
        f" {name + ':':>10} {'taken':>10} {'ratio':>6}" for name in ("s", "MB", "read", "written")
    )
    print(f"{'':24} {'step':10}{heads}")
    for scale in options.scales:
        measure(
            options.folder, scale, options.columns, options.slices, options.epsilon, options.threads
        )


if __name__ == "__main__":
    main()
