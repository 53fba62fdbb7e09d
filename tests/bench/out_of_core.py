"""Columns that do not fit in memory together: what a run takes in one pass and in several.

    python tests/bench/out_of_core.py --folder FOLDER [--limits 12000 7500 6000]

Embeds all columns of an R-MAT log, by default 8.4 M nodes, 120 M rows and 64 columns, once for
every limit in MB, held to it by the kernel where it can be (docs/scaling.md has the figures). The
snapshots of all runs have to be the same to the last byte. Needs 45 GB of disk and a quiet machine.
"""

import argparse
import hashlib
import os
import pathlib
import platform
import shutil
import sys
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from memory_limit import flags_of, generate, measure, peak_of


def hash_of(snapshots):
    """One hash over the bytes of all snapshots."""
    found = hashlib.sha256()
    for path in sorted(snapshots.rglob("*.parquet")):
        with path.open("rb") as file:
            found.update(str(path.relative_to(snapshots)).encode())
            while block := file.read(1 << 24):
                found.update(block)
    return found.hexdigest()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--folder", type=pathlib.Path, required=True)
    parser.add_argument("--scale", type=int, default=23, help="2^scale nodes")
    parser.add_argument("--edges", type=int, default=120_000_000)
    parser.add_argument("--columns", type=int, default=64)
    parser.add_argument("--predictions", type=int, default=4)
    parser.add_argument("--epsilon", type=float, default=1e-5)
    parser.add_argument("--limits", type=int, nargs="+", default=[12000, 7500, 6000], help="in MB")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    print(f"{platform.machine()}, {os.cpu_count()} cores, {time.strftime('%d %B %Y')}", flush=True)
    data = generate(options.folder, options.scale, options.edges, options.columns)
    flags = flags_of(data, options.predictions, options.epsilon)
    run = options.folder / "run"
    hashes = set()
    for limit in options.limits:
        shutil.rmtree(run, ignore_errors=True)
        found = measure(["embed", *flags, "--run.directory", run], limit)
        # What it says at every step is of interest where it has failed.
        lines = found.errors.splitlines()
        found.errors = "; ".join(lines[-1:] if found.code else [x for x in lines if "done" in x])
        peak = peak_of(run) if found.code == 0 else 0
        print(f"limit {limit} MB, peak {peak} MB, {found}", flush=True)
        assert found.code == 0, lines
        hashes.add(hash_of(run / "snapshots"))
    assert len(hashes) == 1, "the snapshots differ"
    print(f"all {len(options.limits)} runs have the same snapshots", flush=True)
    shutil.rmtree(run)


if __name__ == "__main__":
    main()
