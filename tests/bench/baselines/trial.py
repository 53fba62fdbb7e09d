"""Train one baseline on one split in a process of its own; prints its figures as JSON.

    python tests/bench/baselines/trial.py WORK

WORK is a JSON object: model, options, files of pairs, edges and features, run (which of
the runs in the pairs), seed. Called by run.py and tune.py.
"""

from __future__ import annotations

import json
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import pyarrow.parquet as pq
import torch
from baselines.models import BY_NAME
from baselines.task import Features, Log, Task, of_run
from controls import Pairs
from training_run import call, peak_memory

THREADS = 2


@dataclass
class Work:
    model: str
    options: dict
    pairs: str
    edges: str
    features: str
    run: int
    seed: int


@dataclass
class Figures:
    times: list[int]
    micro_f1: list[float]  # of the test nodes, by prediction time
    validation: list[float]  # Micro-F1 of the validation nodes, by prediction time
    epochs: list[int]  # how many, by training
    seconds: float  # reading, training and predicting; not the start of Python
    cpu: float  # of all threads, for the same
    peak: int  # bytes


def train(work: Work) -> Figures:
    start, cpu = time.perf_counter(), time.process_time()
    torch.set_num_threads(THREADS)
    baseline = BY_NAME[work.model]
    options = baseline.options_class()(**work.options)
    pairs = of_run(Pairs.of(pq.read_table(work.pairs)), work.run)
    task = Task(pairs, Log.read(work.edges), Features.read(work.features), options.scaling)
    outcome = baseline.train(task, options, work.seed)
    scores = task.micro_f1(outcome.codes)
    return Figures(
        task.times.tolist(),
        scores.tolist(),
        outcome.validation,
        [len(losses) for losses in outcome.losses],
        time.perf_counter() - start,
        time.process_time() - cpu,
        peak_memory(),
    )


def kept(path: Path, work: Work) -> Figures:
    """Train in a process of its own, or take what it left there for the same work."""
    wanted = asdict(work)
    if path.exists():
        known = json.loads(path.read_text())
        if known["work"] == wanted:
            return Figures(**known["figures"])
    called = call([sys.executable, __file__, json.dumps(wanted)])
    figures = json.loads(called.stdout)
    written = path.with_suffix(".part")
    written.write_text(json.dumps({"work": wanted, "figures": figures}, indent=1) + "\n")
    written.rename(path)
    return Figures(**figures)


def main() -> None:
    print(json.dumps(asdict(train(Work(**json.loads(sys.argv[1]))))))


if __name__ == "__main__":
    main()
