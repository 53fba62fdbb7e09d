"""Our training against the same model in PyTorch: seconds per epoch and peak memory.

    python tests/bench/training.py [--data FOLDER] [--sets dblp_paper git_rust]
        [--models coden coden-s] [--epochs 3] [--repetitions 2] [--most N] [--out FOLDER]

Both train on the snapshots of one run, with the same split and pairs, by turns; the quickest
epoch and the least peak of each count. The losses of the last epoch must be near each other:
it is the same task, though not the same random numbers.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import dataclass, field
from pathlib import Path

from table import render, seconds
from training_run import DATA, ROOT, TrainingRun, call

LOSS_APART = 0.1  # of the mean of both


@dataclass
class Side:
    epoch: list[float] = field(default_factory=list)  # seconds
    peak: list[int] = field(default_factory=list)
    loss: float = 0.0  # of the last epoch
    score: float = 0.0  # on the validation nodes, after it

    def add(self, epochs: list[dict], peak: int) -> None:
        self.epoch += [epoch["seconds"] for epoch in epochs]
        self.peak.append(peak)
        self.loss, self.score = epochs[-1]["loss"], epochs[-1]["validate_micro_f1"]


def measure(run: TrainingRun, model: str, epochs: int, repetitions: int):
    """Ours, theirs, and what theirs says of the task."""
    ours, theirs, task = Side(), Side(), {}
    peer = [
        "env",
        "OMP_WAIT_POLICY=PASSIVE",
        sys.executable,
        Path(__file__).with_name("training_peer.py"),
        run.folder,
    ]
    for repetition in range(repetitions):
        # Never reached, but a training with the settings of the last one would be skipped.
        patience = {"train.patience": epochs + 1 + repetition}
        settings = {"train.model": model, "train.protocol": "shared", "train.hidden": 512}
        training = run.train({**settings, "train.epochs": epochs, **patience})
        ours.add(training.epochs, training.peak)
        task = json.loads(call([*peer, "--model", model, "--epochs", epochs]).stdout)
        theirs.add(task["epochs"], task["peak"])
    return ours, theirs, task


def cells(name: str, model: str, ours: Side, theirs: Side, task: dict) -> list[str]:
    mean = (ours.loss + theirs.loss) / 2
    apart = abs(ours.loss - theirs.loss) / mean
    if apart > LOSS_APART:
        print(f"{name}, {model}: losses {apart:.0%} apart: not the same task", file=sys.stderr)
    return [
        name,
        model,
        f"{task['nodes']:,} x {task['snapshots']}",
        f"{task['train_pairs']:,}",
        seconds(min(ours.epoch)),
        seconds(min(theirs.epoch)),
        f"{min(theirs.epoch) / min(ours.epoch):.2f}x",
        f"{min(ours.peak) / 1e6:,.0f} MB",
        f"{min(theirs.peak) / 1e6:,.0f} MB",
        f"{min(theirs.peak) / min(ours.peak):.2f}x",
        f"{ours.loss:.3f} / {theirs.loss:.3f}",
        f"{100 * ours.score:.1f} / {100 * theirs.score:.1f}",
    ]


HEAD = ["set", "model", "nodes x snapshots", "pairs", "epoch", "PyTorch", "ratio"]
HEAD += ["memory", "PyTorch", "ratio", "loss", "validation, %"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--sets", nargs="+", default=["dblp_paper", "git_rust"])
    models = ["coden", "coden-s"]
    parser.add_argument("--models", nargs="+", choices=models, default=models)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--repetitions", type=int, default=2)
    parser.add_argument("--most", type=int, default=0, help="sample.max_per_interval")
    parser.add_argument("--out", type=Path, default=Path("runs/training"))
    options = parser.parse_args()
    body = []
    for name in options.sets:
        words = [ROOT / f"pipelines/{name}.ini", "--sample.max_per_interval", options.most]
        run = TrainingRun(options.out.resolve() / name, words, options.data.resolve())
        run.embed()
        for model in options.models:
            measured = measure(run, model, options.epochs, options.repetitions)
            body.append(cells(name, model, *measured))
            print(" ".join(body[-1]), file=sys.stderr, flush=True)
    report = render(HEAD, body)
    print(report)
    (options.out / "training.md").write_text(report + "\n")


if __name__ == "__main__":
    main()
