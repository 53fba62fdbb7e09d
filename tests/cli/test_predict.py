"""`coden predict`: a model goes on with the log, and says what the whole history would."""

import json
import re
import shutil
import signal
import subprocess
import time

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from conftest import PROGRAM

USAGE, INPUT, RESOURCES, CORRUPTION, HISTORY = 2, 3, 4, 5, 7
WIDTH = 6
MODELS = {
    "coden-s": [],
    "coden": ["--train.averages", "0.5,0.9"],
    "coden-r": ["--train.gate", "input"],
    "coden-a": ["--train.averages", "0.5"],
}
LABELS = ["--train.label_columns", "3"]
TOLERANCE = 1e-5


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """A log in three parts, whose nodes keep coming, with features, updates and labels."""
    folder = tmp_path_factory.mktemp("data")
    random = np.random.default_rng(11)
    times = np.sort(random.integers(0, 300, 900))
    newest = 30 + times // 10
    edges = pa.table(
        {"src": random.integers(0, newest), "dst": random.integers(0, newest), "time": times}
    )
    cuts = [0, *np.searchsorted(times, [150, 220]), len(times)]
    for name, first, end in zip("abc", cuts, cuts[1:], strict=False):
        pq.write_table(edges.slice(first, end - first), folder / f"{name}.parquet")
    pq.write_table(
        pa.table({"node": np.arange(60), "x": lists(random.normal(size=(60, WIDTH)))}),
        folder / "features.parquet",
    )
    pq.write_table(
        pa.table(
            {"node": [3, 3, 5], "time": [70, 200, 250], "x": lists(random.normal(size=(3, WIDTH)))}
        ),
        folder / "updates.parquet",
    )
    # Some classes come with time, some nodes have none.
    labelled = random.permutation(60)[:45]
    pq.write_table(
        pa.table({"node": labelled, "label": [f"class {n % 3}" for n in labelled]}),
        folder / "labels.parquet",
    )
    return folder


def lists(rows):
    return pa.array(list(rows.astype("float32")), pa.list_(pa.float32()))


class Case:
    """A run with a log of its own, which grows by parts."""

    def __init__(self, coden, data, folder, flags=()):
        self.coden, self.data, self.folder, self.more = coden, data, folder, list(flags)
        self.run = folder / "run"

    def flags(self, *more):
        return [
            *["--input.edges", self.folder / "log", "--run.directory", self.run],
            *["--input.features", self.data / "features.parquet"],
            *["--input.feature_updates", self.data / "updates.parquet"],
            *["--input.labels", self.data / "labels.parquet"],
            *["--partition.initial", "40", "--partition.width", "25"],
            *["--partition.unfinished", "wait", "--embed.epsilon", "1e-9"],
            *["--train.epochs", "2", "--train.hidden", "8", "--report.html", "false"],
            *self.more,
            *more,
        ]

    def grow(self, names):
        (self.folder / "log").mkdir(parents=True, exist_ok=True)
        for name in names:
            shutil.copy2(self.data / f"{name}.parquet", self.folder / "log")

    def call(self, command, *more):
        outcome = self.coden(command, *self.flags(*more))
        assert outcome.code == 0, outcome.stderr
        return outcome

    def copy(self, folder):
        shutil.copytree(self.folder, folder)
        return Case(self.coden, self.data, folder, self.more)

    def forecast(self):
        return pq.read_table(self.run / "forecast.parquet")


@pytest.fixture(scope="module")
def trained(coden, data, tmp_path_factory):
    """Runs that were trained on the first part of the log, by their flags."""
    cases = {}

    def make(*flags):
        if flags not in cases:
            cases[flags] = Case(coden, data, tmp_path_factory.mktemp("case"), flags)
            cases[flags].grow("a")
            cases[flags].call("run")
        return cases[flags]

    return make


def model_flags(model):
    return ["--train.model", model, *MODELS[model]]


def shares(table):
    return np.array(table["probabilities"].to_pylist())


def assert_same(one, other):
    for name in ("node", "prediction", "time", "predicted"):
        assert one[name].equals(other[name]), name
    assert np.abs(shares(one) - shares(other)).max() < TOLERANCE


def tensors(path):
    """The tensors of a safetensors file, read by hand."""
    content = path.read_bytes()
    size = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + size])
    header.pop("__metadata__", None)
    body = content[8 + size :]
    return {
        name: np.frombuffer(body[slice(*entry["data_offsets"])], "<f4")
        .reshape(entry["shape"])
        .astype("f8")
        for name, entry in header.items()
    }


def features_at(data, moment):
    table = pq.read_table(data / "features.parquet")
    rows = dict(zip(table["node"].to_pylist(), table["x"].to_pylist(), strict=True))
    for update in pq.read_table(data / "updates.parquet").to_pylist():
        if update["time"] <= moment:
            rows[update["node"]] = update["x"]
    return rows


def softmax(rows):
    rows = np.exp(rows - rows.max(axis=-1, keepdims=True))
    return rows / rows.sum(axis=-1, keepdims=True)


def one_shot(case, prediction):
    """Nodes and probabilities, from the whole history at once as the documents define it."""
    config = json.loads((case.run / "model" / "config.json").read_text())
    weights = tensors(case.run / "model" / "model.safetensors")
    w = {name.removeprefix("temporal."): value for name, value in weights.items()}
    rows = pq.read_table(case.run / "schedule.parquet").to_pylist()
    last = next(r for r in rows if r["at_prediction"] and r["prediction"] == prediction)
    tables = [
        pq.read_table(case.run / f"snapshots/snapshot={r['snapshot']:06}/part-0.parquet")
        for r in rows
        if r["snapshot"] <= last["snapshot"]
        and (r["at_prediction"] or config["model"] != "coden-s" or config["averages"])
    ]
    nodes = tables[-1]["node"].to_pylist()
    history = np.zeros((len(tables), len(nodes), config["embedding"]))
    place = {node: i for i, node in enumerate(nodes)}
    for s, table in enumerate(tables):
        found = np.array(table["embedding"].to_pylist(), "f8")
        norm = np.linalg.norm(found, axis=1, keepdims=True)
        history[s, [place[n] for n in table["node"].to_pylist()]] = found / np.where(
            norm > 0, norm, 1
        )
    lag = np.arange(len(tables))[::-1, None, None]
    now = history[-1]
    if config["model"] == "coden-s":
        output = now
    elif config["model"] == "coden":
        rate = -np.exp(w["log_rate"])
        delta = np.log1p(np.exp(w["step"]))[:, None] * rate
        kernel = w["output"] * np.expm1(delta) / rate * w["input"] * np.exp(delta * lag)
        output = np.einsum("sf,snf->nf", kernel.sum(2), history) + w["skip"] * now
    elif config["model"] == "coden-r":
        output = np.zeros_like(now)
        for row in history:
            keep = 1 / (1 + np.exp(row @ w["gate.weight"].T + w["gate.bias"]))
            output = keep * output + (1 - keep) * row
    else:
        question = now @ w["query"].T
        scores = np.einsum("nq,snq->ns", question, history @ w["key"].T) / np.sqrt(config["states"])
        absent = np.abs(history).max(axis=2).T == 0
        absent[:, -1] = False
        found = softmax(np.where(absent, -np.inf, scores))
        output = np.einsum("ns,snf->nf", found, history) @ w["value"].T + w["skip"] * now
    groups = [output]
    for pole in config["averages"]:
        groups.append(((1 - pole) * pole**lag * history).sum(0))
    if config["features"]:
        raw = features_at(case.data, last["time"])
        raw = np.array([raw.get(node, [0.0] * WIDTH) for node in nodes])
        groups.append((raw - weights["features.mean"]) / weights["features.deviation"])
    normed = []
    for i, group in enumerate(groups):
        centred = group - group.mean(1, keepdims=True)
        scaled = centred / np.sqrt((centred**2).mean(1, keepdims=True) + 1e-5)
        normed.append(
            scaled * weights[f"classifier.norm{i}.weight"] + weights[f"classifier.norm{i}.bias"]
        )
    hidden = np.concatenate(normed, axis=1)
    for layer in range(config["layers"]):
        name = f"classifier.linear{layer}"
        hidden = np.maximum(hidden, 0) if layer else hidden
        hidden = hidden @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]
    return nodes, softmax(hidden)


def check_one_shot(case):
    table = case.forecast()
    metadata = pq.read_metadata(case.run / "forecast.parquet").metadata
    classes = json.loads(metadata[b"coden.classes"])
    assert classes == json.loads((case.run / "model" / "config.json").read_text())["classes"]
    predictions = sorted(set(table["prediction"].to_pylist()))
    for prediction in predictions:
        rows = table.filter(pc.equal(table["prediction"], prediction))
        nodes, expected = one_shot(case, prediction)
        assert rows["node"].to_pylist() == nodes
        assert np.abs(shares(rows) - expected).max() < TOLERANCE
        best = [classes[i] for i in shares(rows).argmax(axis=1)]
        assert rows["predicted"].to_pylist() == best
        assert np.allclose(rows["probability"], shares(rows).max(axis=1))
    return predictions


@pytest.mark.parametrize("model", MODELS)
def test_predictions_are_those_of_the_whole_history(trained, tmp_path, model):
    base = trained(*model_flags(model))
    last = max(pq.read_table(base.run / "predictions.parquet")["prediction"].to_pylist())
    steps, at_once = base.copy(tmp_path / "steps"), base.copy(tmp_path / "at_once")

    steps.grow("b")
    first = steps.call("predict", "--format", "json")
    rows = json.loads(first.stdout)["results"]
    assert [row["prediction"] for row in rows] == list(range(last + 1, last + 1 + len(rows)))
    for row in rows:
        parts = row["embed_seconds"] + row["state_seconds"] + row["score_seconds"]
        assert row["latency_seconds"] == pytest.approx(parts) and parts > 0
        assert row["nodes"] > 0 and row["new_rows"] > 0 and row["snapshots"] > 0
    replayed = r"note: Replayed \d+ earlier snapshots in [\d.]+ s \(not counted as latency\)\.\n"
    told = "read again" if model == "coden-a" else replayed
    assert re.search(told, first.stderr)
    check_one_shot(steps)

    steps.grow("c")
    second = steps.call("predict")
    assert "Replayed" not in second.stderr
    at_once.grow("bc")
    at_once.call("predict")
    predicted = check_one_shot(steps)
    assert len(predicted) > len(rows) and predicted[0] == last + 1
    assert_same(steps.forecast(), at_once.forecast())

    if model not in ("coden", "coden-a"):
        return
    before = (steps.run / "forecast.parquet").read_bytes()
    nothing = steps.call("predict", "--format", "json")
    assert "nothing to predict" in nothing.stderr and json.loads(nothing.stdout)["results"] == []
    assert (steps.run / "forecast.parquet").read_bytes() == before
    steps.call("predict", "--force")
    assert_same(steps.forecast(), at_once.forecast())
    assert steps.coden("verify", steps.run).code == 0


@pytest.mark.parametrize(
    "split",
    [
        [],
        ["--train.split_by", "time", "--train.split", "0.5/0.1/0.4"],
        ["--train.split_by", "file"],
    ],
    ids=["seed", "time", "file"],
)
def test_label_columns_reach_nodes_as_they_did_in_training(trained, data, tmp_path, split):
    if "file" in split:
        labelled = pq.read_table(data / "labels.parquet")["node"]
        parts = [["train", "test", "train", "validate"][i % 4] for i in range(len(labelled))]
        pq.write_table(pa.table({"node": labelled, "split": parts}), data / "split.parquet")
        split = [*split, "--input.split", data / "split.parquet"]
    # A rolling model predicts a time that it has not learnt: training says what it should be.
    base = trained(*LABELS, "--train.protocol", "rolling", "--train.averages", "0.5", *split)
    config = json.loads((base.run / "model" / "config.json").read_text())
    trained_rows = pq.read_table(base.run / "predictions.parquet").to_pylist()
    last = max(row["prediction"] for row in trained_rows)
    assert config["prediction"] == last - 1

    steps, at_once = base.copy(tmp_path / "steps"), base.copy(tmp_path / "at_once")
    steps.call("predict")
    rows = {row["node"]: row for row in steps.forecast().to_pylist()}
    compared = [row for row in trained_rows if row["prediction"] == last and row["present"]]
    assert {row["split"] for row in compared} == {"train", "validate", "test"}
    for row in compared:
        assert rows[row["node"]]["prediction"] == last
        assert rows[row["node"]]["predicted"] == row["predicted"]
        assert rows[row["node"]]["probability"] == pytest.approx(row["probability"], abs=TOLERANCE)
    if split:
        return
    steps.grow("b")
    steps.call("predict")
    steps.grow("c")
    assert "Replayed" not in steps.call("predict").stderr
    at_once.grow("bc")
    at_once.call("predict")
    assert_same(steps.forecast(), at_once.forecast())


def test_label_columns_without_states(trained, tmp_path):
    base = trained(*LABELS, *model_flags("coden-a"))
    steps, at_once = base.copy(tmp_path / "steps"), base.copy(tmp_path / "at_once")
    for part in "bc":
        steps.grow(part)
        steps.call("predict")
    at_once.grow("bc")
    at_once.call("predict")
    assert_same(steps.forecast(), at_once.forecast())


@pytest.mark.parametrize("inputs", ["features", "embedding,features"])
def test_features_are_those_in_force(trained, tmp_path, inputs):
    case = trained("--train.inputs", inputs).copy(tmp_path / "case")
    for part in "bc":
        case.grow(part)
        case.call("predict")
    if inputs == "embedding,features":
        assert len(check_one_shot(case)) > 2
    # The update at 250 changes what is said of its node, whose other inputs stay.
    else:
        rows = [r for r in case.forecast().to_pylist() if r["node"] == 5]
        before = {tuple(r["probabilities"]) for r in rows if r["time"] < 250}
        after = {tuple(r["probabilities"]) for r in rows if r["time"] >= 250}
        assert len(before) == 1 and len(after) == 1 and before != after


def test_a_forecast_that_force_replaces_is_kept(trained, tmp_path):
    case = trained(*model_flags("coden-s")).copy(tmp_path / "case")
    case.grow("b")
    case.call("predict")
    first = (case.run / "forecast.parquet").read_bytes()
    case.grow("c")
    said = case.call("predict", "--force").stderr
    kept = case.run / "forecasts" / "forecast-1.parquet"
    assert f"the earlier forecast is kept in '{kept}'" in said
    assert kept.read_bytes() == first
    assert (case.run / "forecast.parquet").read_bytes() != first
    assert "the earlier forecast is kept" in case.call("report", "--table", "notes").stdout
    # The same predictions are not kept twice, and a call without --force keeps what is there.
    for flags in (["--force"], []):
        assert "is kept" not in case.call("predict", *flags).stderr
        assert [path.name for path in case.run.glob("forecasts/*")] == [kept.name]
    assert case.coden("verify", case.run).code == 0
    # The copy is the user's: it outlives the next training, and may be removed.
    case.call("run")
    assert kept.read_bytes() == first
    kept.unlink()
    assert case.coden("verify", case.run).code == 0


def test_a_kept_forecast_takes_the_next_free_number(trained, tmp_path):
    case = trained(*model_flags("coden-s")).copy(tmp_path / "case")
    (case.run / "forecasts").mkdir()
    (case.run / "forecasts" / "forecast-4.parquet").write_text("of the user")
    case.grow("b")
    case.call("predict")
    damaged = case.run / "forecast.parquet"
    case.grow("c")
    case.call("predict", "--force")
    assert (case.run / "forecasts" / "forecast-5.parquet").exists()
    assert (case.run / "forecasts" / "forecast-4.parquet").read_text() == "of the user"
    # One that is not what was written is not passed off as it.
    content = damaged.read_bytes()
    damaged.write_bytes(content[:50] + b"x" + content[51:])
    said = case.call("predict", "--force").stderr
    assert "the earlier forecast is damaged and is not kept" in said
    assert len(list(case.run.glob("forecasts/*"))) == 2
    assert damaged.read_bytes() == content


@pytest.mark.parametrize("moment", ["embedded", "staged"])
def test_a_killed_prediction_leaves_a_run_that_goes_on(trained, tmp_path, moment):
    base = trained(*model_flags("coden"))
    whole, case = base.copy(tmp_path / "whole"), base.copy(tmp_path / "case")
    whole.grow("b")
    whole.call("predict")
    case.grow("b")
    newest = max(case.run.glob("_coden/manifest-*.json"))
    command = [PROGRAM, "predict", *map(str, case.flags())]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    while process.poll() is None:
        if moment == "embedded" and max(case.run.glob("_coden/manifest-*.json")) > newest:
            break
        if moment == "staged" and list(case.run.glob("_coden/stage/*/forecast.parquet")):
            break
        time.sleep(0.0005)
    process.send_signal(signal.SIGKILL)
    process.wait()
    verified = case.coden("verify", case.run)
    assert verified.code == 0, verified.stderr
    case.call("predict")
    assert_same(case.forecast(), whole.forecast())


def test_what_is_predicted_goes_with_its_model(trained, tmp_path):
    case = trained(*model_flags("coden-s")).copy(tmp_path / "case")
    case.grow("b")
    case.call("predict")
    manifest = max(case.run.glob("_coden/manifest-*.json")).read_text()
    assert {part["name"] for part in json.loads(manifest)["parts"]} == {
        *("embed", "train", "predict")
    }
    case.call("run")
    assert not (case.run / "forecast.parquet").exists()
    assert not (case.run / "state" / "model.safetensors").exists()
    case.grow("c")
    case.call("predict")
    assert (case.run / "forecast.parquet").exists()
    case.call("embed", "--force")
    assert not (case.run / "forecast.parquet").exists()
    for name in ["coden-s-1", "coden-s-2"]:
        assert (case.run / "trainings" / name / "forecast.parquet").exists()
    outcome = case.coden("predict", *case.flags())
    assert outcome.code == INPUT and "there is no trained model in" in outcome.error


def test_a_model_is_needed(coden, data, tmp_path):
    case = Case(coden, data, tmp_path / "case")
    case.grow("a")
    outcome = coden("predict", *case.flags())
    assert outcome.code == INPUT and "there is no trained model in" in outcome.error
    assert not case.run.exists()
    case.call("embed")
    outcome = coden("predict", *case.flags())
    assert outcome.code == INPUT and "there is no trained model in" in outcome.error


def test_labels_are_needed_by_a_model_that_reads_them(trained, tmp_path):
    case = trained(*LABELS).copy(tmp_path / "case")
    case.grow("b")
    labels = pq.read_table(case.data / "labels.parquet")
    other = tmp_path / "labels.parquet"
    gone = case.coden("predict", *case.flags("--input.labels", tmp_path / "gone.parquet"))
    assert gone.code == INPUT and "gone.parquet" in gone.error
    unset = case.coden("predict", *case.flags("--input.labels", ""))
    assert unset.code == USAGE and "`input.labels`" in unset.error
    pq.write_table(labels.slice(1), other)
    changed = case.coden("predict", *case.flags("--input.labels", other))
    assert changed.code == HISTORY and "labels have changed" in changed.error
    # Settings of the training are those of the model, whatever is said now.
    case.call("predict", "--train.label_columns", "0", "--train.split", "0.2/0.2/0.6")


def test_labels_are_not_needed_otherwise(trained, tmp_path):
    case = trained(*model_flags("coden-s")).copy(tmp_path / "case")
    case.grow("b")
    case.call("predict", "--input.labels", tmp_path / "gone.parquet")
    assert case.forecast().num_rows > 0


def test_other_settings_little_memory_and_damage_are_refused(trained, tmp_path):
    case = trained(*model_flags("coden")).copy(tmp_path / "case")
    case.grow("b")
    other = case.coden("predict", *case.flags("--embed.alpha", "0.3"))
    assert other.code == HISTORY and "embed.alpha" in other.error
    assert "coden run --force" in other.error
    case.call("embed")
    little = case.coden("predict", *case.flags("--run.memory_limit", "1MB"))
    assert little.code == RESOURCES and "`run.memory_limit`" in little.error
    weights = case.run / "model" / "model.safetensors"
    content = bytearray(weights.read_bytes())
    content[-1] ^= 1
    weights.write_bytes(content)
    damaged = case.coden("predict", *case.flags())
    assert damaged.code == CORRUPTION and "model.safetensors" in damaged.error
