"""A small run with every kind of file a run can have, and manifests that are made to fit.

The log has three parts. The run was trained on the first one and predicted the second; the
third has come since, so `embed` and `predict` go on from what is below state/. `train` and
`run` are given the log as it was when the run was made.
"""

import functools
import hashlib
import os
import pathlib
import shutil
import signal
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from forked import PROGRAM, ROOT  # noqa: E402

HOSTILE = pathlib.Path(os.environ.get("CODEN_HOSTILE", ROOT.parent / "shared" / "hostile"))
FAULT_SHIM = ROOT / "build" / "tests" / "libfault_at.so"
WIDTH = 3


def lists(rows):
    return pa.array(list(rows.astype("float32")), pa.list_(pa.float32()))


def write_inputs(folder):
    """A log in three parts whose nodes keep coming, features, updates and labels."""
    folder.mkdir(parents=True)
    random = np.random.default_rng(3)
    times = np.sort(random.integers(0, 90, 270))
    newest = 12 + times // 5
    edges = pa.table(
        {"src": random.integers(0, newest), "dst": random.integers(0, newest), "time": times}
    )
    cuts = [0, *np.searchsorted(times, [50, 70]), len(times)]
    for name, first, end in zip("abc", cuts, cuts[1:], strict=False):
        pq.write_table(edges.slice(first, end - first), folder / f"{name}.parquet")
    nodes = np.arange(30)
    vectors = lists(random.normal(size=(30, WIDTH)))
    pq.write_table(pa.table({"node": nodes, "x": vectors}), folder / "features.parquet")
    updates = pa.table({"node": [3, 5], "time": [20, 60], "x": vectors[:2]})
    pq.write_table(updates, folder / "updates.parquet")
    labels = pa.table({"node": nodes, "label": [f"class {node % 3}" for node in nodes]})
    pq.write_table(labels, folder / "labels.parquet")


class WholeRun:
    """The run in a folder of its own; `copy` gives another one to spoil."""

    def __init__(self, folder, program):
        self.folder = pathlib.Path(folder)
        self.program = program
        self.run = self.folder / "run"

    @staticmethod
    def make(folder, program):
        """Write the inputs and let the program make the run."""
        whole = WholeRun(folder, program)
        write_inputs(whole.folder / "data")
        whole.grow("log", "a")
        whole.call("run")
        whole.grow("log", "b")
        whole.call("predict")
        shutil.copytree(whole.folder / "log", whole.folder / "log-then")
        whole.grow("log", "c")
        return whole

    def with_training(self):
        """The same run, whose training was killed when it had saved something.

        What was saved is committed, and not yet in its place.
        """
        other = WholeRun(self.folder, self.program)
        other.run = self.copy(self.folder / "training")
        other.interrupt_training()
        return other

    def interrupt_training(self):
        environment = {"LD_PRELOAD": str(FAULT_SHIM), "CODEN_FAULT": "link:2:kill-after"}
        arguments = [*self.command("train", self.run), "--run.commit_interval", "0"]
        done = subprocess.run(
            [PROGRAM, *map(str, arguments)], env={**os.environ, **environment}, capture_output=True
        )
        assert done.returncode == -signal.SIGKILL
        assert list(self.run.rglob("*training.safetensors")), "nothing was saved"

    def grow(self, log, part):
        (self.folder / log).mkdir(exist_ok=True)
        shutil.copy2(self.folder / "data" / f"{part}.parquet", self.folder / log)

    def flags(self, *more, run=None, log="log"):
        data = self.folder / "data"
        return [
            *["--input.edges", self.folder / log, "--run.directory", run or self.run],
            *["--input.features", data / "features.parquet"],
            *["--input.feature_updates", data / "updates.parquet"],
            *["--input.labels", data / "labels.parquet"],
            *["--partition.initial", "20", "--partition.width", "10"],
            *["--partition.unfinished", "wait", "--graph.window", "40"],
            *["--sample.max_per_interval", "1", "--run.threads", "1"],
            *["--train.epochs", "1", "--train.hidden", "4", "--train.label_columns", "2"],
            *["--report.tensorboard", "true", "--quiet"],
            *more,
        ]

    def call(self, command, *more):
        done = self.program.call(command, *self.flags(*more))
        assert done.code == 0, done.stderr
        return done

    def copy(self, folder):
        """A copy of the run directory; the inputs are shared."""
        folder = pathlib.Path(folder)
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(self.run, folder)
        return folder

    def command(self, name, run):
        """The arguments of one of COMMANDS, for a copy of the run."""
        match name:
            case "embed" | "predict":
                return [name, *self.flags(run=run)]
            case "train" | "run":
                return [name, *self.flags("--train.epochs", "2", run=run, log="log-then")]
            case "report":
                return ["report", "--run.directory", run, "--quiet"]
            case "compare":
                page = run.parent / "compare.html"
                return ["report", "--compare", run, self.run, "--out", page, "--quiet"]
            case _:
                return [name, run, "--quiet"]


COMMANDS = ["verify", "inspect", "report", "compare", "embed", "predict", "train", "run"]
# What differs between two runs that are equal: times of day and of work.
TIMED = {"metrics.jsonl", "work.parquet", "report.html"}


@functools.lru_cache(maxsize=100_000)
def digest_of(path, *_):
    return hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()


def data_files(run):
    """Hash of every data file of a run, by its name, but for those that hold times."""
    digests = {}
    for folder, folders, names in os.walk(run):
        folders[:] = [name for name in folders if name not in ("_coden", "tensorboard")]
        for name in set(names) - TIMED:
            path = os.path.join(folder, name)
            status = os.stat(path)
            # A file that was not touched since need not be read again.
            stamp = (status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
            digests[os.path.relpath(path, run)] = digest_of(path, stamp)
    return digests
