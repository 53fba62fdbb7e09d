"""One result for any number of threads and passes, run after run: equal bytes of every data file.

    python tests/faults/determinism.py --sets brain git_postgres

Threads 1, 2, 4 and 8, all columns at once and in four passes over the log, three times each: the
snapshots, schedule, predictions, metrics, model and state must have one hash. What work took is
not compared, nor, between numbers of passes, how the state of the columns is cut into files.
"""

import argparse
import collections
import json
import os
import pathlib
import subprocess
import tempfile
import time

from scenarios import PROGRAM, ROOT, committed

SHARED_DATA = pathlib.Path(os.environ.get("CODEN_DATA", ROOT.parent / "shared" / "data"))
THREADS = (1, 2, 4, 8)
PASSES = (1, 4)
# Enough to have an early stop, a second run with another seed and every file of a training.
TRAINING = ["--train.epochs", "3", "--train.runs", "2", "--train.hidden", "16"]


def coden(*arguments, codes=(0,)):
    """What the program prints; it must end with one of `codes`."""
    done = subprocess.run(
        [PROGRAM, *map(str, arguments)],
        env=os.environ | {"CODEN_DATA": str(SHARED_DATA)},
        capture_output=True,
        text=True,
    )
    assert done.returncode in codes, done.stderr
    return done.stdout


def needs_of(flags, limit):
    """Passes over the log and MB that a plan says an embedding under a limit of MB takes."""
    # Also where not even the smallest pass fits.
    limits = ["--run.memory_limit", f"{limit}MB"]
    plan = coden("plan", *flags, *limits, "--format", "json", "--quiet", codes=(0, 4))
    needs = json.loads(plan)["needs"]
    return needs["passes"], -(-needs["embedding_memory_bytes"] // 1_000_000)


def limit_for(flags, passes):
    """The largest memory limit, in MB, with which the embedding takes so many passes or more, and
    how many it then takes."""
    low, high = 0, needs_of(flags, 64 << 10)[1]
    while high - low > 1:
        middle = (low + high) // 2
        found, _ = needs_of(flags, middle)
        low, high = (middle, high) if found >= passes else (low, middle)
    found, memory = needs_of(flags, low)
    assert memory <= low, f"no memory limit gives {passes} passes"
    return low, found


def data_of(run, whole):
    """Hashes by name; not `whole`: without the state of columns, which passes cut differently."""
    return {
        name: digest
        for name, digest in committed(run).items()
        if whole or not name.startswith(("state/columns-", "state/progress"))
    }


def compare(flags, threads=THREADS, passes=PASSES, repeats=3):
    """Run every combination; counts of runs and of files that were compared."""
    counts = collections.Counter()
    first = {}
    for number in passes:
        for count in threads:
            # Threads need memory of their own.
            alone = [*flags, "--run.threads", count]
            limit, taken = limit_for(alone, number) if number > 1 else (0, 1)
            for _ in range(repeats):
                with tempfile.TemporaryDirectory() as folder:
                    run = pathlib.Path(folder) / "run"
                    where = ["--run.directory", run, "--quiet"]
                    coden("embed", *alone, "--run.memory_limit", f"{limit}MB", *where)
                    # A training takes more than the embedding of few columns.
                    coden("run", *alone, *where)
                    for key, whole in ((taken, True), ("any", False)):
                        found = data_of(run, whole)
                        expected = first.setdefault(key, found)
                        differing = {
                            name
                            for name in found.keys() | expected.keys()
                            if found.get(name) != expected.get(name)
                        }
                        assert not differing, (taken, count, sorted(differing)[:5])
                    counts["runs"] += 1
                    counts["files compared"] += len(data_of(run, True))
    return counts


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sets", nargs="+", default=["brain", "git_postgres"])
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    for name in options.sets:
        start = time.monotonic()
        flags = [ROOT / "pipelines" / f"{name}.ini", *TRAINING, "--train.protocol", "shared"]
        counts = compare(flags, repeats=options.repeats)
        print(f"{name}: {dict(counts)}, equal, {time.monotonic() - start:.0f} s", flush=True)


if __name__ == "__main__":
    main()
