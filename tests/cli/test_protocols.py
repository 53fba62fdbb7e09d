"""What a prediction may know: nothing later under the default protocol. And what it must not be
below: label propagation, where it reads label columns."""

import json
import pathlib
import re

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

NUM_NODES = 240
NUM_EVENTS = 2400
SMALL = ["--train.hidden", "16", "--train.batch", "64", "--train.epochs", "5"]
UPDATES = ["--train.inputs", "embedding,features"]
LABELS = ["--train.label_columns", "3", "--train.label_windows", "0,800"]


class Case:
    """A log whose edges mostly stay within a class; features are noise."""

    def __init__(self, folder: pathlib.Path, num_classes=4, homophily=0.8, skew=0.0):
        self.folder = folder
        random = np.random.default_rng(4)
        shares = np.arange(1.0, num_classes + 1) ** -skew
        self.labels = random.choice(num_classes, NUM_NODES, p=shares / shares.sum())
        members = [np.flatnonzero(self.labels == label) for label in range(num_classes)]
        self.src = random.integers(0, NUM_NODES, NUM_EVENTS)
        self.dst = random.integers(0, NUM_NODES, NUM_EVENTS)
        for edge in np.flatnonzero(random.random(NUM_EVENTS) < homophily):
            self.dst[edge] = random.choice(members[self.labels[self.src[edge]]])
        self.features = random.standard_normal((NUM_NODES, 6)).astype(np.float32)
        self.label_times = None
        self.update_times = self.update_nodes = self.updates = None

    def add_updates(self):
        """Features change while the log goes on, also at prediction times and right after."""
        random = np.random.default_rng(6)
        times = random.integers(0, NUM_EVENTS, 2000)
        around = [600 * k + offset for k in (1, 2, 3) for offset in (-1, 0, 1)]
        self.update_times = np.sort(np.append(times, around * 20))
        self.update_nodes = random.integers(0, NUM_NODES, len(self.update_times))
        self.updates = random.standard_normal((len(self.update_times), 6)).astype(np.float32)

    def change_edges(self, after):
        """Later edges lead elsewhere."""
        later = np.random.default_rng(8).permutation(self.dst[after + 1 :])
        self.dst[after + 1 :] = later

    def change_updates(self, after):
        """Later features are others."""
        self.updates[self.update_times > after] *= -5

    def flags(self, name, *more, events=NUM_EVENTS, interval="600"):
        folder = self.folder / name
        folder.mkdir()
        edges = {"src": self.src[:events], "dst": self.dst[:events], "time": np.arange(events)}
        pq.write_table(pa.table(edges), folder / "e.parquet")
        nodes = np.arange(NUM_NODES)
        pq.write_table(pa.table({"node": nodes, "x": list(self.features)}), folder / "x.parquet")
        table = {"node": nodes, "label": [f"class {label}" for label in self.labels]}
        if self.label_times is not None:
            table["time"] = self.label_times
        table = pa.table(table).filter(pa.array(self.labels >= 0))
        pq.write_table(table, folder / "y.parquet")
        if self.updates is not None:
            there = self.update_times < events
            updates = {"node": self.update_nodes[there], "time": self.update_times[there]}
            updates["x"] = list(self.updates[there])
            pq.write_table(pa.table(updates), folder / "u.parquet")
            more = ["--input.feature_updates", folder / "u.parquet", *more]
        return [
            *["--input.edges", folder / "e.parquet", "--input.features", folder / "x.parquet"],
            *["--input.labels", folder / "y.parquet", "--run.directory", folder / "run"],
            *["--graph.directed", "false", "--partition.initial", interval],
            *["--partition.width", interval, *SMALL, *more],
        ]

    def predictions(self, coden, name, *more, events=NUM_EVENTS):
        """By time and node: part, prediction and probability."""
        outcome = coden("run", *self.flags(name, *more, events=events))
        assert outcome.code == 0, outcome.stderr
        rows = pq.read_table(self.folder / name / "run/predictions.parquet").to_pylist()
        return {
            (row["time"], row["node"]): (row["split"], row["predicted"], row["probability"])
            for row in rows
            if row["present"]
        }


def until(predictions, time):
    found = {key: value for key, value in predictions.items() if key[0] <= time}
    assert len(found) > NUM_NODES / 2
    return found


@pytest.mark.parametrize(
    "flags", [[], LABELS, UPDATES], ids=["embeddings", "label columns", "feature updates"]
)
def test_the_future_changes_no_earlier_prediction(coden, tmp_path, flags):
    case = Case(tmp_path)
    changes = [case.change_edges]
    if flags is UPDATES:
        case.add_updates()
        changes.insert(0, case.change_updates)
    latest = before = case.predictions(coden, "before", *flags)
    times = sorted({time for time, _ in before})
    assert len(times) == 3
    for change in changes:
        change(after=times[1])
        after = case.predictions(coden, change.__name__, *flags)
        assert until(after, times[1]) == until(before, times[1])
        assert after != latest
        latest = after
    # There is nothing later.
    short = case.predictions(coden, "short", *flags, events=times[1] + 1)
    assert short == until(before, times[1])


@pytest.mark.parametrize("protocol", ["each", "rolling"])
@pytest.mark.parametrize("flags", [[], LABELS], ids=["embeddings", "label columns"])
def test_a_class_that_comes_later_changes_no_earlier_prediction(coden, tmp_path, flags, protocol):
    case = Case(tmp_path)
    case.label_times = np.where(case.labels == 1, 1900, 0)
    flags = [*flags, "--train.protocol", protocol]
    before = case.predictions(coden, "with", *flags)
    late = {time for (time, _), value in before.items() if value[1] == "class 1"}
    classes = json.loads((tmp_path / "with/run/model/config.json").read_text())["classes"]
    # A rolling model has not learnt from the last time, which it predicts.
    assert ("class 1" in classes) == (protocol == "each")
    assert not late or min(late) > 1900

    case.labels[case.labels == 1] = -1  # these nodes have no label at all
    after = case.predictions(coden, "without", *flags)
    assert until(after, 1800) == until(before, 1800)


def test_the_part_of_a_node_follows_from_its_id_and_the_seed(coden, tmp_path):
    case = Case(tmp_path)
    parts = [
        {key[1]: value[0] for key, value in case.predictions(coden, name, **more).items()}
        for name, more in [("long", {}), ("short", {"events": 1300})]
    ]
    common = parts[0].keys() & parts[1].keys()
    assert len(common) > 200
    assert {node: parts[0][node] for node in common} == {node: parts[1][node] for node in common}
    other = case.predictions(coden, "seed", "--run.seed", "7")
    assert any(parts[0][node] != part for (_, node), (part, _, _) in other.items())


def propagated(case, table, time, alpha=0.2):
    """What the one-hot training labels send to every node, by a dense solution."""
    adjacency = np.zeros((NUM_NODES, NUM_NODES))
    src, dst = case.src[: time + 1], case.dst[: time + 1]
    adjacency[dst, src] = adjacency[src, dst] = 1
    np.fill_diagonal(adjacency, 0)
    operator = adjacency / np.maximum(adjacency.sum(axis=0), 1)
    classes = sorted(set(table["label"].to_pylist()))
    known = np.zeros((NUM_NODES, len(classes)))
    for row in table.to_pylist():
        if row["split"] == "train":
            known[row["node"], classes.index(row["label"])] = 1
    solution = np.linalg.solve(np.eye(NUM_NODES) - (1 - alpha) * operator, alpha * known)
    return {node: classes[best] for node, best in enumerate(solution.argmax(axis=1))}


@pytest.mark.parametrize("rate", ["0.01", "0.5"], ids=["learns", "spoils what it learns"])
def test_a_model_with_label_columns_is_not_below_label_propagation(coden, tmp_path, rate):
    """Labels follow the graph alone. The start takes part in the choice of the best epoch."""
    case = Case(tmp_path, homophily=0.7)
    flags = [*LABELS, "--train.learning_rate", rate, "--train.rate_schedule", "cosine"]
    case.predictions(coden, "run", *flags)
    table = pq.read_table(tmp_path / "run/run/predictions.parquet")
    metrics = pq.read_table(tmp_path / "run/run/metrics.parquet").to_pylist()
    assert len(metrics) == 3
    for row in metrics:
        here = table.filter(pa.array(np.array(table["time"]) == row["time"]))
        control = propagated(case, here, row["time"])
        scores = [
            control[one["node"]] == one["label"]
            for one in here.to_pylist()
            if one["split"] == "validate" and one["present"]
        ]
        # Two nodes may be ties, or be reached by so little that it is the solver's error.
        assert row["validate_micro_f1"] >= np.mean(scores) - 1e-9
    assert np.mean([row["propagation_micro_f1"] for row in metrics]) > 0.5


@pytest.mark.parametrize("model", ["coden", "coden-s"])  # coden-s reads no first snapshot
def test_the_last_label_before_the_first_prediction_is_that_of_the_initial_graph(
    coden, tmp_path, model
):
    """The graph starts with rows 0 to 299, and the first prediction time is 599."""
    case = Case(tmp_path)
    flags = case.flags("run", "--train.model", model, events=600, interval="300")
    facts = [(node, 0, (label + 1) % 4) for node, label in enumerate(case.labels)]
    # Known by the end of the initial graph and, of every fourth node, only after it.
    facts += [(node, 299 + (node % 4 == 0), label) for node, label in enumerate(case.labels)]
    table = dict(zip(("node", "time", "label"), np.array(facts).T, strict=True))
    pq.write_table(pa.table(table), tmp_path / "run/y.parquet")
    outcome = coden("run", *flags)
    assert outcome.code == 0, outcome.stderr
    (row,) = pq.read_table(tmp_path / "run/run/metrics.parquet").to_pylist()
    pairs = pq.read_table(tmp_path / "run/run/predictions.parquet").to_pylist()
    test = [pair["node"] for pair in pairs if pair["split"] == "test" and pair["present"]]
    assert row["time"] == 599
    assert row["last_label_micro_f1"] == pytest.approx(np.mean([node % 4 > 0 for node in test]))
    assert row["majority_micro_f1"] < 0.5 < row["last_label_micro_f1"] < 1.0


def test_a_run_that_learns_nothing_says_so_in_one_note(coden, tmp_path):
    """Twenty skewed classes, features of noise, labels that follow the graph only a little."""
    case = Case(tmp_path, num_classes=20, homophily=0.03, skew=1.2)
    outcome = coden("run", *case.flags("run"))
    assert outcome.code == 0, outcome.stderr
    notes = [line for line in outcome.stderr.splitlines() if "the model is not better than" in line]
    assert len(notes) == 1
    assert "the majority class (" in notes[0]
    assert " by more than the spread: " in notes[0]
    assert "; try `train.label_columns" in notes[0]
    metrics = pq.read_table(tmp_path / "run/run/metrics.parquet")
    for control in ("majority_micro_f1", "propagation_micro_f1"):
        assert metrics[control].null_count == 0
        assert control in (tmp_path / "run/run/metrics.jsonl").read_text()
    lines = outcome.stdout.splitlines()
    header = next(line for line in lines if line.startswith("prediction "))
    assert re.split("  +", header)[-3:] == ["majority %", "propagation %", "gain"]
    *_, majority, propagation, gain = next(line for line in lines if "average" in line).split()
    found = [np.mean(metrics[f"{name}_micro_f1"]) for name in ("majority", "propagation")]
    assert [float(majority), float(propagation)] == pytest.approx(100 * np.array(found), abs=0.01)
    above = np.mean(metrics["micro_f1"]) - max(found)
    assert float(gain) == pytest.approx(100 * above, abs=0.02)
    assert "protocol each" in outcome.stdout and "1 seed" not in outcome.stdout
    assert "the model is not better than" in (tmp_path / "run/run/report.html").read_text()
