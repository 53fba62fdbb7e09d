"""Choose settings of the baselines on the validation nodes: one table per model.

    python tests/bench/baselines/tune.py [--data FOLDER] [--set dblp] [--seeds 2]
        [--models gcn tgn] [--out FOLDER]

Each line differs from the settings of models.py in what it names; the first differs in nothing.
The figures are Micro-F1 of the validation nodes, mean over prediction times and seeds 0, 1, ...;
test nodes are not looked at. What is finished is kept, as in run.py.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

import numpy as np
from accuracy import SetTable, spread
from accuracy_sets import SETS
from baselines.models import BASELINES, Baseline, settings_of
from baselines.trial import Work, kept
from table import render
from training_run import DATA

OF_ALL = [
    {},
    {"scaling": "raw"},
    {"scaling": "row"},
    {"rate": 1e-3},
    {"dropout": 0.0},
    {"dropout": 0.5},
    {"regime": "shared", "epochs": 60},  # an epoch of it costs as much as one at each time
]
CANDIDATES = {one.name: OF_ALL for one in BASELINES}
CANDIDATES["tgn"] = [*OF_ALL[:-1], {"rate": 3e-3}, {"passes": 2}]


def name_of(more: dict) -> str:
    return ", ".join(f"{key} {value}" for key, value in more.items()) or "as in models.py"


class Tuning:
    def __init__(self, options: argparse.Namespace):
        self.options = options
        table = SetTable(options.set, options)
        table.run.embed()
        table.pairs()
        self.folder = table.folder
        self.pairs = table.folder / f"each-pairs-0-{options.seeds}.parquet"

    def cells(self, baseline: Baseline, more: dict) -> list[str]:
        settings = settings_of(baseline.options(**more))
        data = self.options.data / self.options.set
        files = str(self.pairs), str(data / "edges.parquet"), str(data / "features.parquet")
        name = name_of(more).replace(", ", "-").replace(" ", "_")
        figures = [
            kept(
                self.folder / f"{baseline.name}-{name}-seed{seed}.json",
                Work(baseline.name, settings, *files, seed, seed),
            )
            for seed in range(self.options.seeds)
        ]
        scores = np.array([one.validation for one in figures])
        return [
            name_of(more),
            spread(scores.mean(axis=1)),
            " ".join(str(sum(one.epochs)) for one in figures),
            f"{np.mean([one.seconds for one in figures]):.0f}",
        ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--set", choices=SETS, default="dblp")
    parser.add_argument("--seeds", type=int, default=2)
    names = list(CANDIDATES)
    parser.add_argument("--models", nargs="+", choices=names, default=names)
    parser.add_argument("--out", type=Path, default=Path("runs/baselines-tuning"))
    options = parser.parse_args()
    options.data, options.out = options.data.resolve(), options.out.resolve()
    options.first_seed, options.protocol = 0, "each"
    options.quick, options.epochs = False, 0
    tuning = Tuning(options)
    for baseline in BASELINES:
        if baseline.name not in options.models:
            continue
        body = []
        for more in CANDIDATES[baseline.name]:
            body.append(tuning.cells(baseline, more))
            print(baseline.name, *body[-1], file=sys.stderr, flush=True)
        text = render([baseline.title, "validation", "epochs", "seconds"], body) + "\n"
        (options.out / f"tuning-{options.set}-{baseline.name}.md").write_text(text)
        print(f"\n{text}", flush=True)


if __name__ == "__main__":
    main()
