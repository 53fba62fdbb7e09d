"""Kill runs with SIGKILL, at named points of a commit and at random times; look at what is left.

    python tests/faults/kills.py --kills 200

After every kill `coden verify` must pass, and whoever reads snapshots/ must find files that an
uninterrupted run has, whole. The run that is then taken up again must end with the same data
files as the uninterrupted one, byte for byte.
"""

import argparse
import collections
import dataclasses
import hashlib
import os
import pathlib
import random
import shutil
import subprocess
import tempfile
import time

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "build" / "coden"
SHIM = ROOT / "build" / "tests" / "libkill_at.so"
# What differs between two runs that are equal: times of day and of work.
TIMED = {"metrics.jsonl", "work.parquet"}


def coden(*arguments, kill_at=None, timeout=None):
    """Run the program; None where it was killed."""
    environment = dict(os.environ)
    if kill_at:
        environment |= {"LD_PRELOAD": str(SHIM), "CODEN_KILL_AT": kill_at}
    process = subprocess.Popen(
        [PROGRAM, *map(str, arguments)],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        _, errors = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return None
    if process.returncode == -9:
        return None
    assert process.returncode == 0, errors
    return process


def committed(run):
    """Hash of every data file of a run, by its name."""
    return {
        str(path.relative_to(run)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(run.rglob("*"))
        if path.is_file() and "_coden" not in path.parts and path.suffix in DATA
        if path.name not in TIMED
    }


DATA = {".parquet", ".json", ".safetensors"}


@dataclasses.dataclass
class Scenario:
    """A run directory as it is before, and the command that is killed in it."""

    name: str
    command: list
    before: pathlib.Path | None

    def start(self, run):
        shutil.rmtree(run, ignore_errors=True)
        if self.before:
            shutil.copytree(self.before, run)

    def arguments(self, run):
        return [*self.command, "--run.directory", run, "--quiet"]


def make_scenarios(folder):
    """A run from nothing, rows added to a run, and training on the snapshots of a run."""
    data = folder / "data"
    coden("generate", "sbm", "--out", data, "--nodes", "300", "--steps", "12", "--quiet")
    table = pq.read_table(data / "edges.parquet")
    times = table["time"].to_pylist()
    cut = next(row for row in range(len(times) * 3 // 4, len(times)) if times[row] > times[row - 1])
    for name, rows in {"old": [(0, cut)], "new": [(0, cut), (cut, len(times) - cut)]}.items():
        (data / name).mkdir()
        for number, (first, count) in enumerate(rows):
            file = data / name / f"part-{number}.parquet"
            pq.write_table(table.slice(first, count), file, row_group_size=5000)
            os.utime(file, (1, 1))
    flags = ["--input.features", data / "features.parquet", "--run.commit_interval", "0"]
    flags += ["--partition.initial", "3", "--partition.width", "1", "--sample.lambda", "0.02"]
    old = ["--input.edges", data / "old", *flags]
    new = ["--input.edges", data / "new", *flags]
    coden("embed", *old, "--run.directory", folder / "old-run", "--quiet")
    labels = ["--input.labels", data / "labels.parquet", "--train.epochs", "2"]
    return [
        Scenario("embed", ["embed", *new], None),
        Scenario("append", ["embed", *new], folder / "old-run"),
        Scenario("train", ["run", *old, *labels, "--train.hidden", "8"], folder / "old-run"),
    ]


@dataclasses.dataclass
class Reference:
    """What an uninterrupted run of a scenario leaves, takes and calls."""

    files: dict
    seconds: float
    calls: dict

    @staticmethod
    def of(scenario, folder):
        run = folder / "reference"
        scenario.start(run)
        start = time.monotonic()
        coden(*scenario.arguments(run))
        seconds = time.monotonic() - start
        files = committed(run)
        scenario.start(run)
        coden(*scenario.arguments(run), kill_at=f"count:{folder / 'calls'}")
        lines = (folder / "calls").read_text().split("\n")
        calls = {name: int(count) for name, count in map(str.split, filter(None, lines))}
        return Reference(files, seconds, calls)


def check_what_is_left(run, references):
    """Verify the run as it is, and read its snapshots as any program would."""
    if not list(run.glob("_coden/manifest-*.json")):
        return "nothing"
    verify = subprocess.run([PROGRAM, "verify", run], capture_output=True, text=True)
    assert verify.returncode == 0, verify.stderr
    snapshots = {
        name: digest for name, digest in committed(run).items() if name.startswith("snapshots/")
    }
    for name, digest in snapshots.items():
        assert digest in [reference.files.get(name) for reference in references], name
    if not snapshots:
        return "no snapshot"
    rows = ds.dataset(
        run / "snapshots",
        partitioning=ds.partitioning(pa.schema([("snapshot", pa.int32())]), flavor="hive"),
    ).count_rows()
    assert rows == sum(pq.read_metadata(run / name).num_rows for name in snapshots)
    return "snapshots"


def kill_runs(num_kills, seed=0, say=lambda *_: None):
    """Kill `num_kills` times; what was counted on the way."""
    choose = random.Random(seed)
    counts = collections.Counter()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        scenarios = make_scenarios(folder)
        references = {s.name: Reference.of(s, folder) for s in scenarios}
        run = folder / "run"
        while counts["kills"] < num_kills:
            scenario = scenarios[counts["runs"] % len(scenarios)]
            reference = references[scenario.name]
            scenario.start(run)
            # Up to three kills before the run is let through.
            for _ in range(choose.randint(1, 3)):
                if counts["at a point"] <= counts["at a time"]:
                    function = choose.choice(
                        ["write", "fsync", "link", "rename", "remove", "mkdir"]
                    )
                    call = choose.randint(1, max(1, reference.calls[function]))
                    side = choose.choice(["before", "after"])
                    point, limit, kind = f"{function}:{call}:{side}", None, "at a point"
                else:
                    point, limit, kind = None, choose.uniform(0, reference.seconds), "at a time"
                if coden(*scenario.arguments(run), kill_at=point, timeout=limit):
                    break
                counts["kills"] += 1
                counts[kind] += 1
                counts["left " + check_what_is_left(run, references.values())] += 1
            coden(*scenario.arguments(run))
            assert committed(run) == reference.files, f"{scenario.name} ends differently"
            assert subprocess.run([PROGRAM, "verify", run], capture_output=True).returncode == 0
            counts["runs"] += 1
            say(dict(counts))
    return counts


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    start = time.monotonic()
    counts = kill_runs(options.kills, options.seed)
    for what, count in sorted(counts.items()):
        print(f"{what:24} {count}")
    print(f"{'seconds':24} {time.monotonic() - start:.0f}")


if __name__ == "__main__":
    main()
