"""Baselines beside coden on one data set: one table.

    python tests/bench/baselines/run.py [--data FOLDER] [--set dblp] [--seeds 3]
        [--first-seed 2] [--models gcn coden] [--epochs N] [--quick] [--out FOLDER]

All rows have the same splits, features, prediction times and counted nodes, which are those of a
training run of coden, and two threads. A finished row is kept as a JSON file in the folder, that
of a baseline seed by seed, and is not computed again with the same settings; to repeat one,
delete its file. The settings of the baselines are in models.py, those of coden in accuracy.py.
The former were chosen by validation nodes of seed 0, the latter by test nodes of seeds 0 and 1,
so the default begins with 2.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
# Threads that spin are slow where the machine has other work.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

import numpy as np
from accuracy import ROWS, Row, SetTable, spread
from accuracy_sets import SETS
from baselines.models import BASELINES, QUICK, Baseline, settings_of
from baselines.trial import THREADS, Figures, Work, kept
from controls import Pairs
from table import render
from training_run import DATA

OURS = {row.name: row for row in ROWS if row.name in ("coden-s", "coden", "labels-coden")}


@dataclass
class Result:
    """By seed; coden trains all seeds in one process, so its seconds are the same for each."""

    title: str
    micro_f1: np.ndarray  # [seeds, times]
    seconds: list[float]
    cpu: list[float]
    peak: int

    def cells(self) -> list[str]:
        return [
            self.title,
            spread(self.micro_f1.mean(axis=1)),
            spread(self.micro_f1[:, -1]),
            f"{np.mean(self.seconds):.1f}",
            f"{np.mean(self.cpu):.1f}",
            f"{self.peak / 2**20:.0f}",
        ]


class Bench:
    def __init__(self, options: argparse.Namespace):
        self.options = options
        self.set = SetTable(options.set, options)
        self.set.run.words += ["--run.threads", THREADS]
        self.folder = self.set.folder
        self.embedding = self.embed()
        self.set.pairs()

    def embed(self) -> dict[str, float]:
        """Seconds and peak of the embedding, which is made again where they are not known."""
        path = self.folder / "embedding.json"
        others = ("train.", "run.")
        shared = self.set.shared.items()
        wanted = {key: str(value) for key, value in shared if not key.startswith(others)}
        if path.exists():
            known = json.loads(path.read_text())
            if known["settings"] == wanted:
                self.set.run.embed()
                return known
        shutil.rmtree(self.folder / "run", ignore_errors=True)
        called = self.set.run.embed()
        known = {"settings": wanted, "seconds": called.wall, "cpu": called.cpu}
        known["peak"] = called.peak
        path.write_text(json.dumps(known, indent=1) + "\n")
        return known

    def pairs_path(self) -> Path:
        first = self.options.first_seed
        return self.folder / f"each-pairs-{first}-{first + self.options.seeds}.parquet"

    def figures(self, baseline: Baseline, run: int) -> Figures:
        less = dict(QUICK) if self.options.quick else {}
        if self.options.epochs:
            less |= {"epochs": self.options.epochs, "warm_epochs": self.options.epochs}
        seed = self.options.first_seed + run
        data = self.options.data / self.options.set
        work = Work(
            baseline.name,
            settings_of(baseline.options(**less)),
            str(self.pairs_path()),
            str(data / "edges.parquet"),
            str(data / "features.parquet"),
            run,
            seed,
        )
        return kept(self.folder / f"{baseline.name}-seed{seed}.json", work)

    def baseline(self, baseline: Baseline) -> Result:
        figures = [self.figures(baseline, run) for run in range(self.options.seeds)]
        return Result(
            baseline.title,
            np.array([one.micro_f1 for one in figures]),
            [one.seconds for one in figures],
            [one.cpu for one in figures],
            max(one.peak for one in figures),
        )

    def ours(self, row: Row) -> Result:
        settings = self.set.settings(row)
        wanted = {key: str(value) for key, value in settings.items()}
        path = self.folder / f"ours-{row.name}.json"
        known = json.loads(path.read_text()) if path.exists() else {}
        if known.get("settings") != wanted:
            started = path.with_suffix(".started")
            if started.exists():  # a killed training would go on, and its seconds be too few
                shutil.rmtree(self.folder / "run")
                self.set.run.embed()
            started.touch()
            training = self.set.run.train(settings)
            predictions = self.set.run.predictions()
            pairs = self.set.pairs()
            assert pairs.same(Pairs.of(predictions)), f"stale: delete {self.folder}/*pairs*"
            scores = pairs.micro_f1(predictions["predicted"].to_numpy())
            known = {
                "settings": wanted,
                "micro_f1": scores.tolist(),
                "seconds": training.wall / self.options.seeds,
                "cpu": training.cpu / self.options.seeds,
                "peak": training.peak,
            }
            path.write_text(json.dumps(known, indent=1) + "\n")
            started.unlink()
        return Result(
            row.title,
            np.array(known["micro_f1"]),
            [self.embedding["seconds"] + known["seconds"]],
            [self.embedding["cpu"] + known["cpu"]],
            max(self.embedding["peak"], known["peak"]),
        )


def report(results: list[Result], options: argparse.Namespace) -> str:
    first, last = options.first_seed, options.first_seed + options.seeds - 1
    seeds = f"seeds {first} to {last}" if last > first else f"seed {first}"
    head = ["model", "average", "last", "seconds", "CPU s", "peak, MB"]
    notes = (
        "Seconds are for one seed and all prediction times; of coden, embedding and training.\n"
        "CPU s are of all threads; other work on the machine changes them little.\n"
        "Rows with label columns read labels of training nodes as inputs, the others do not."
    )
    title = f"Micro-F1 in percent on {options.set}, {seeds}, {THREADS} threads"
    return f"{title}\n\n{render(head, [one.cells() for one in results])}\n\n{notes}\n"


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--set", choices=SETS, default="dblp")
    parser.add_argument("--seeds", type=int, default=0, help="3, or 1 with --quick")
    parser.add_argument("--first-seed", type=int, default=2)
    parser.add_argument("--epochs", type=int, default=0, help="in place of each row's own")
    parser.add_argument("--quick", action="store_true", help="2 epochs of small models")
    parser.add_argument("--out", type=Path, default=Path("runs/baselines"))
    names = [*(one.name for one in BASELINES), *OURS]
    parser.add_argument("--models", nargs="+", choices=names, default=names, metavar="MODEL")
    options = parser.parse_args()
    options.seeds = options.seeds or (1 if options.quick else 3)
    options.data, options.out = options.data.resolve(), options.out.resolve()
    options.protocol = "each"
    return options


def main() -> None:
    options = parse()
    bench = Bench(options)
    baselines = [one for one in BASELINES if one.name in options.models]
    for run in range(options.seeds):  # so that one that is killed leaves a seed of each
        for baseline in baselines:
            score = 100 * np.mean(bench.figures(baseline, run).micro_f1)
            seed = options.first_seed + run
            print(f"{baseline.title}, seed {seed}: {score:.2f}", file=sys.stderr, flush=True)
    results = [bench.baseline(one) for one in baselines]
    results += [bench.ours(row) for name, row in OURS.items() if name in options.models]
    text = report(results, options)
    (options.out / f"baselines-{options.set}.md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
