"""What is killed, failed and starved in this folder: small runs, and what they must leave."""

import dataclasses
import hashlib
import os
import pathlib
import shutil
import subprocess

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(os.environ.get("CODEN_PROGRAM", ROOT / "build" / "coden"))
SHIM = ROOT / "build" / "tests" / "libfault_at.so"
# What differs between two runs that are equal: times of day and of work.
TIMED = {"metrics.jsonl", "work.parquet"}
DATA = {".parquet", ".json", ".safetensors"}
# What a user has put into a run: it is among the files that must stay as they are.
USER_FILES = ["snapshots/_delta_log/00000000000000000000.json", "model/mine.json"]


@dataclasses.dataclass
class Outcome:
    """How a call of the program ended; `code` is negative where a signal ended it."""

    code: int
    errors: str


def fault_environment(fault, folder, **more):
    """What makes the shim do `fault` to files below `folder`; tests/support/fault_at.cc."""
    return {
        "LD_PRELOAD": str(SHIM),
        "CODEN_FAULT": fault,
        "CODEN_FAULT_FOLDER": str(folder),
        **{f"CODEN_FAULT_{name.upper()}": str(value) for name, value in more.items()},
    }


def call(*arguments, environment=None, timeout=None):
    """Run the program, for at most `timeout` seconds: then it is killed."""
    process = subprocess.Popen(
        [PROGRAM, *map(str, arguments)],
        env=os.environ | (environment or {}),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        errors = process.communicate(timeout=timeout)[1]
    except subprocess.TimeoutExpired:
        process.kill()
        errors = process.communicate()[1]
    return Outcome(process.returncode, errors)


def coden(*arguments):
    """Run the program, which must succeed."""
    outcome = call(*arguments)
    assert outcome.code == 0, outcome.errors


def committed(run):
    """Hash of every data file of a run, by its name."""
    return {
        str(path.relative_to(run)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(run.rglob("*"))
        if path.is_file() and "_coden" not in path.parts and path.suffix in DATA
        if path.name not in (*TIMED, "settings.ini")  # with the paths of the inputs
    }


@dataclasses.dataclass
class Scenario:
    """A run directory as it is before, and the command that meets a fault in it."""

    name: str
    command: list
    before: pathlib.Path | None
    rest: tuple = ()
    """Commands that make a whole run of what the first has left."""

    def start(self, run):
        shutil.rmtree(run, ignore_errors=True)
        if self.before:
            shutil.copytree(self.before, run)
            for name in USER_FILES:
                (run / name).parent.mkdir(parents=True, exist_ok=True)
                (run / name).write_text("{}")

    def arguments(self, run):
        return [*self.command, "--run.directory", run, "--quiet"]

    def finish(self, run):
        for command in self.rest:
            coden(*command, "--run.directory", run, "--quiet")


def run_flags(data, edges, sample_lambda):
    return [
        *["--input.edges", data / edges, "--input.features", data / "features.parquet"],
        *["--run.commit_interval", "0", "--partition.initial", "3", "--partition.width", "1"],
        *["--sample.lambda", sample_lambda],
    ]


def make_scenarios(folder, nodes=300, sample_lambda=0.02):
    """A run from nothing, rows added to a run, training on the snapshots of a run, and training
    again with other settings."""
    data = folder / "data"
    coden("generate", "sbm", "--out", data, "--nodes", nodes, "--steps", "12", "--quiet")
    table = pq.read_table(data / "edges.parquet")
    times = table["time"].to_pylist()
    cut = next(row for row in range(len(times) * 3 // 4, len(times)) if times[row] > times[row - 1])
    for name, rows in {"old": [(0, cut)], "new": [(0, cut), (cut, len(times) - cut)]}.items():
        (data / name).mkdir()
        for number, (first, count) in enumerate(rows):
            file = data / name / f"part-{number}.parquet"
            pq.write_table(table.slice(first, count), file, row_group_size=5000)
            os.utime(file, (1, 1))
    old = run_flags(data, "old", sample_lambda)
    new = run_flags(data, "new", sample_lambda)
    coden("embed", *old, "--run.directory", folder / "old-run", "--quiet")
    labels = ["--input.labels", data / "labels.parquet", "--train.epochs", "2"]
    train = ["run", *old, *labels, "--train.hidden", "8"]
    shutil.copytree(folder / "old-run", folder / "trained-run")
    coden(*train, "--train.model", "coden-s", "--run.directory", folder / "trained-run", "--quiet")
    return [
        Scenario("embed", ["embed", *new], None),
        Scenario("append", ["embed", *new], folder / "old-run"),
        Scenario("train", train, folder / "old-run"),
        Scenario("retrain", train, folder / "trained-run"),
    ]


def make_slice_scenarios(folder, sample_lambda):
    """One slice of a schedule, and the commit of two; after make_scenarios."""
    flags = run_flags(folder / "data", "new", sample_lambda)
    first, second = (["embed", *flags, "--embed.columns", cut] for cut in ("0:8", "8:16"))
    commit = ["commit", *flags]
    for name, commands in {"scheduled": [], "sliced": [first, second]}.items():
        for command in [["schedule", *flags], *commands]:
            coden(*command, "--run.directory", folder / name, "--quiet")
    return [
        Scenario("slice", first, folder / "scheduled", (second, commit)),
        Scenario("commit", commit, folder / "sliced"),
    ]


def count_calls(scenario, folder, **more):
    """How often an undisturbed run calls each function, on files below `folder`."""
    run = folder / "counted"
    scenario.start(run)
    environment = fault_environment(f"count:{folder / 'calls'}", folder, **more)
    outcome = call(*scenario.arguments(run), environment=environment)
    assert outcome.code == 0, outcome.errors
    lines = (folder / "calls").read_text().splitlines()
    return {name: int(count) for name, count in map(str.split, lines)}


def check_what_is_left(run, wholes):
    """Verify the run as it is, and read its snapshots as any program would.

    `wholes` are the files of all states that a run may be in, as of `committed`.
    """
    if not list(run.glob("_coden/manifest-*.json")):
        return "nothing"
    verify = call("verify", run)
    assert verify.code == 0, verify.errors
    snapshots = {
        name: digest
        for name, digest in committed(run).items()
        if name.startswith("snapshots/") and name not in USER_FILES
    }
    for name, digest in snapshots.items():
        assert digest in [whole.get(name) for whole in wholes], name
    if not snapshots:
        return "no snapshot"
    rows = ds.dataset(
        run / "snapshots",
        partitioning=ds.partitioning(pa.schema([("snapshot", pa.int32())]), flavor="hive"),
    ).count_rows()
    assert rows == sum(pq.read_metadata(run / name).num_rows for name in snapshots)
    return "snapshots"
