"""Call `coden embed` and `coden train` on one data set, and read what they leave."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("CODEN_DATA", ROOT.parent / "shared" / "data"))
PROGRAM = Path(os.environ.get("CODEN_PROGRAM", ROOT / "build" / "coden"))

Settings = dict[str, object]  # by the names of `coden settings`
POLL_SECONDS = 0.02


def flags(settings: Settings) -> list[str]:
    return [word for key, value in settings.items() for word in (f"--{key}", str(value))]


def input_settings(data: Path, name: str) -> Settings:
    parts = ("edges", "features", "labels")
    return {f"input.{part}": data / name / f"{part}.parquet" for part in parts}


def peak_memory(pid: int | str = "self") -> int:
    """Bytes that the process has held at most so far; 0 where it has ended."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return 0
    for line in status.splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) << 10
    return 0


@dataclass
class Called:
    stdout: str
    wall: float
    peak: int
    cpu: float  # seconds of all threads


def children_cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def call(command: list[object], data: Path = DATA) -> Called:
    """Run a program to its end and watch its memory; one that fails ends this one.

    The mark is read while the program runs, since that of an ended child would count what
    its parent held when it was forked.
    """
    words = [str(word) for word in command]
    start, cpu = time.perf_counter(), children_cpu()
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(
            words, stdout=out, stderr=errors, env={**os.environ, "CODEN_DATA": str(data)}
        )
        peak = 0
        try:
            while process.poll() is None:
                peak = max(peak, peak_memory(process.pid))
                time.sleep(POLL_SECONDS)
        except BaseException:
            process.terminate()
            process.wait()
            raise
        wall = time.perf_counter() - start
        out.seek(0)
        errors.seek(0)
        if process.returncode != 0:
            sys.exit(f"{' '.join(words)}\n{errors.read()}")
        return Called(out.read(), wall, peak, children_cpu() - cpu)


@dataclass
class Training:
    wall: float  # of the whole command
    cpu: float  # seconds of all threads, for the same
    peak: int  # bytes
    metrics: list[dict]  # metrics.parquet: one per training run and prediction time
    epochs: list[dict]  # lines of epochs in metrics.jsonl; its other lines repeat `metrics`


class TrainingRun:
    """A run folder of one data set: embedded once, trained as often as one likes.

    `words` say what the set is: a pipeline file, or the flags of its settings.
    """

    def __init__(self, folder: Path, words: list[object], data: Path = DATA):
        self.folder = folder
        self.words = [*words, "--run.directory", folder, "--report.html", "false", "--quiet"]
        self.data = data
        if not PROGRAM.exists():
            sys.exit(f"{PROGRAM} is missing: build it, or name it by CODEN_PROGRAM")

    def embed(self) -> Called:
        """Returns at once where the folder has the snapshots of these settings."""
        return call([PROGRAM, "embed", *self.words], self.data)

    def train(self, settings: Settings) -> Training:
        """Returns at once where these settings were the last to be trained here."""
        called = call([PROGRAM, "train", *self.words, *flags(settings)], self.data)
        log = (self.folder / "metrics.jsonl").read_text().splitlines()
        lines = [json.loads(line) for line in log]
        return Training(
            called.wall,
            called.cpu,
            called.peak,
            pq.read_table(self.folder / "metrics.parquet").to_pylist(),
            [line for line in lines if "epoch" in line],
        )

    def predictions(self) -> pa.Table:
        return pq.read_table(self.folder / "predictions.parquet")
