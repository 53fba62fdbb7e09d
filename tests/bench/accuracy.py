"""Models and controls on real data: one table per data set.

    python tests/bench/accuracy.py [--data FOLDER] [--sets dblp brain] [--seeds 5]
        [--first-seed 2] [--epochs N] [--quick] [--protocol each|shared|rolling]
        [--rows coden labels-coden] [--out FOLDER]

Every row is trained on the snapshots of one run per data set, with the same splits by seed.
Micro-F1 is over the test nodes that have had an event by the prediction time. A finished row
is kept as a JSON file in the folder and is not computed again with the same settings, so a
table that was killed goes on; to repeat a row, delete its file. One with
other settings takes its place: give them a folder of their own.

The settings below were chosen by the test nodes of seeds 0 and 1, so the default begins with 2.
"""

from __future__ import annotations

import argparse
import json
import math
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from accuracy_sets import SETS, set_settings, windows
from controls import Pairs, majority, propagation
from table import render
from training_run import DATA, Settings, TrainingRun, flags

# What works best, by experiment; all else is the program's default. Steps of the optimizer are
# fixed, not epochs: few nodes make few steps an epoch. The second number is for the prediction
# times after the first, which begin with the weights of the one before.
STEPS = (700, 300)
LABELS_STEPS = (600, 300)
LABELS_STEPS_OF = {"dblp": (240, 120)}
USUAL: Settings = {
    "train.hidden": 256,
    "train.rate_schedule": "cosine",
    "train.patience": 0,
}
LABELS: Settings = {
    "train.inputs": "embedding,features",
    "train.label_columns": 10,
    "train.label_alphas": "0.2,0.5,0.8",
}
QUICK: Settings = {"train.epochs": 2, "train.warm_epochs": 1, "train.hidden": 32}


@dataclass(frozen=True)
class Row:
    name: str
    title: str
    settings: Settings | None  # None: there is nothing to train
    control: bool = False
    labels: bool = False  # with label columns


def model(name: str, **more: bool) -> Row:
    return Row(name, name, {"train.model": name}, **more)


def labels_model(name: str) -> Row:
    return Row(f"labels-{name}", f"{name}, label columns", {"train.model": name}, labels=True)


ROWS = [
    Row("majority", "majority class", None, control=True),
    Row("propagation", "label propagation", None, control=True),
    Row(
        "features",
        "MLP on X",
        {"train.model": "coden-s", "train.inputs": "features"},
        control=True,
    ),
    model("coden-s", control=True),
    Row(
        "coden-s-x",
        "coden-s with X",
        {"train.model": "coden-s", "train.inputs": "embedding,features"},
        control=True,
    ),
    model("coden-r"),
    model("coden-a"),
    model("coden"),
    Row(
        "labels-whole",
        "coden-s, label columns, no windows",
        {"train.model": "coden-s", "train.label_windows": "0"},
        labels=True,
    ),
    labels_model("coden-s"),
    labels_model("coden-r"),
    labels_model("coden-a"),
    labels_model("coden"),
]


@dataclass
class Result:
    settings: dict[str, str]
    times: list[int]
    micro_f1: list[list[float]]  # by seed and prediction time
    seconds: list[float] = field(default_factory=list)  # of the epochs, by seed
    wall: float = 0.0  # of the whole command, for all seeds

    def averages(self) -> np.ndarray:
        """Over the prediction times, by seed."""
        return np.mean(self.micro_f1, axis=1)

    def last(self) -> np.ndarray:
        return np.asarray(self.micro_f1)[:, -1]


def spread(values: np.ndarray) -> str:
    """Mean and standard deviation of a share, in percent."""
    text = f"{100 * values.mean():.2f}"
    return text if len(values) < 2 else f"{text} ± {100 * values.std(ddof=1):.2f}"


class SetTable:
    """The rows of one data set."""

    def __init__(self, name: str, options: argparse.Namespace):
        self.name = name
        self.options = options
        self.folder = options.out / name
        self.folder.mkdir(parents=True, exist_ok=True)
        settings = set_settings(options.data, name)
        self.edges = settings["input.edges"]
        self.num_labelled = pq.read_metadata(settings["input.labels"]).num_rows
        self.run = TrainingRun(self.folder / "run", flags(settings), options.data)
        self.windows = ",".join(map(str, windows(options.data, name)))
        self.shared: Settings = {
            "train.runs": options.seeds,
            "run.seed": options.first_seed,
            "train.protocol": options.protocol,
            # All that the snapshots depend on: a row of others must not be taken for one of these.
            **{key: settings[key] for key in settings if not key.startswith("input.")},
        }
        self.results: dict[str, Result] = {}

    def steps(self, steps: tuple[int, int]) -> Settings:
        """As many epochs as make so many steps, with the split of the program."""
        batch = 1024 if self.num_labelled > 20000 else 256
        per_epoch = math.ceil(self.num_labelled * 0.7 / batch)
        first, warm = (math.ceil(count / per_epoch) for count in steps)
        return {"train.batch": batch, "train.epochs": first, "train.warm_epochs": warm}

    def settings(self, row: Row) -> Settings:
        if row.settings is None:
            return self.shared
        usual = {**USUAL, **self.steps(STEPS)}
        if row.labels:
            usual |= {**LABELS, **self.steps(LABELS_STEPS_OF.get(self.name, LABELS_STEPS))}
            usual["train.label_windows"] = self.windows
        less = QUICK if self.options.quick else {}
        if self.options.epochs:
            less = {**less, "train.epochs": self.options.epochs, "train.warm_epochs": 0}
        return {**self.shared, **usual, **row.settings, **less}

    def path(self, row: Row) -> Path:
        return self.folder / f"{self.options.protocol}-{row.name}.json"

    def read(self, row: Row) -> None:
        """Take the row where it was computed before."""
        path = self.path(row)
        if not path.exists():
            return
        result = Result(**json.loads(path.read_text()))
        if result.settings == {key: str(value) for key, value in self.settings(row).items()}:
            self.results[row.name] = result

    def pairs(self) -> Pairs:
        """The pairs that count; a short training tells, as all trainings share them."""
        first, protocol = self.options.first_seed, self.options.protocol
        seeds = f"{first}-{first + self.options.seeds}"
        path = self.folder / f"{protocol}-pairs-{seeds}.parquet"
        if not path.exists():
            least = {"train.model": "coden-s", "train.inputs": "features", "train.epochs": 1}
            self.run.train({**self.shared, **least, "train.hidden": 1})
            self.write_pairs(path, self.run.predictions())
        return Pairs.of(pq.read_table(path))

    def write_pairs(self, path: Path, predictions: pa.Table) -> None:
        written = path.with_suffix(".part")
        pq.write_table(predictions.drop_columns(["predicted", "probability"]), written)
        written.rename(path)

    def compute(self, row: Row) -> None:
        self.run.embed()
        pairs = self.pairs()
        settings = self.settings(row)
        seconds, wall = [], 0.0
        if row.name == "majority":
            predicted = majority(pairs)
        elif row.name == "propagation":
            predicted = propagation(pairs, self.edges)
        else:
            training = self.run.train(settings)
            wall = training.wall
            seconds = [
                sum(epoch["seconds"] for epoch in training.epochs if epoch["run"] == run)
                for run in range(self.options.seeds)
            ]
            predictions = self.run.predictions()
            predicted = predictions["predicted"].to_numpy()
            assert pairs.same(Pairs.of(predictions)), f"stale: delete {self.folder}/*pairs*"
        scores = pairs.micro_f1(predicted)
        if row.settings is not None:
            theirs = np.reshape([one["micro_f1"] for one in training.metrics], scores.shape)
            assert np.allclose(scores, theirs), f"{row.name}: metrics.parquet disagrees"
        result = Result(
            {key: str(value) for key, value in settings.items()},
            pairs.times.tolist(),
            scores.tolist(),
            seconds,
            wall,
        )
        self.path(row).write_text(json.dumps(vars(result), indent=1) + "\n")
        self.results[row.name] = result

    def table(self) -> str:
        known = [row for row in ROWS if row.name in self.results]
        times = self.results[known[0].name].times
        head = ["model", *map(str, times), "average", "last", "epochs, s", "command, s"]
        body = []
        for row in known:
            result = self.results[row.name]
            cells = [f"{100 * value:.2f}" for value in np.mean(result.micro_f1, axis=0)]
            cost = ["", ""]
            if result.seconds:
                cost = [
                    f"{np.mean(result.seconds):.1f}",
                    f"{result.wall / len(result.seconds):.1f}",
                ]
            body.append(
                [row.title, *cells, spread(result.averages()), spread(result.last()), *cost]
            )
        return render(head, body)

    def gains(self) -> str:
        """Differences seed by seed, over the prediction times and at the last one."""
        controls = [row for row in ROWS if row.control and row.name in self.results]
        wanted = [("labels-coden", "labels-coden-s"), ("coden", "coden-s")]
        if controls:
            best = max(controls, key=lambda row: self.results[row.name].averages().mean())
            wanted.insert(0, ("labels-coden", best.name))
            wanted.insert(1, ("labels-coden-s", best.name))
        titles = {row.name: row.title for row in ROWS}
        body = []
        for ours, theirs in wanted:
            if ours not in self.results or theirs not in self.results:
                continue
            a, b = self.results[ours], self.results[theirs]
            note = " (best control)" if controls and theirs == best.name else ""
            gains = spread(a.averages() - b.averages()), spread(a.last() - b.last())
            body.append([f"{titles[ours]} - {titles[theirs]}{note}", *gains])
        return render(["gain", "average", "last"], body) if body else ""

    def report(self) -> str:
        first, last = self.options.first_seed, self.options.first_seed + self.options.seeds - 1
        seeds = f"seeds {first} to {last}" if last > first else f"seed {first}"
        head = f"Micro-F1 in percent on {self.name}, {seeds}, protocol {self.options.protocol}"
        seconds = "Seconds are for one seed: of its epochs, and its share of the whole command."
        parts = [head, self.table(), seconds, self.gains()]
        return "\n\n".join(part for part in parts if part) + "\n"


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--sets", nargs="+", default=SETS)
    parser.add_argument("--seeds", type=int, help="5, or 1 with --quick")
    parser.add_argument("--first-seed", type=int, default=2)
    parser.add_argument("--epochs", type=int, default=0, help="in place of each row's own")
    parser.add_argument("--quick", action="store_true", help="2 epochs of small models")
    parser.add_argument("--out", type=Path, default=Path("runs/accuracy"))
    parser.add_argument("--protocol", choices=["shared", "each", "rolling"], default="each")
    names = [row.name for row in ROWS]
    parser.add_argument("--rows", nargs="+", choices=names, default=names, metavar="ROW")
    options = parser.parse_args()
    options.seeds = options.seeds or (1 if options.quick else 5)
    options.data, options.out = options.data.resolve(), options.out.resolve()
    return options


def main() -> None:
    options = parse()
    suffix = "" if options.protocol == "each" else f"-{options.protocol}"
    for name in options.sets:
        table = SetTable(name, options)
        for row in ROWS:
            table.read(row)
            if row.name not in options.rows or row.name in table.results:
                continue
            table.compute(row)
            result = table.results[row.name]
            print(f"{name}: {row.title}: {spread(result.averages())}", flush=True)
        report = table.report()
        (options.out / f"accuracy-{name}{suffix}.md").write_text(report)
        print(f"\n{report}", flush=True)


if __name__ == "__main__":
    main()
