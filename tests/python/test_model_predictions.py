"""Models of the Python package on the snapshots of a run."""

import subprocess
import sys

import coden
import numpy as np
import pyarrow as pa
import pytest
from handmade_model import CLASSES, KINDS, HandmadeModel
from handmade_run import HandmadeRun
from small_run import ROOT

pytest.importorskip("torch")
pytest.importorskip("safetensors")
model_module = pytest.importorskip("coden.model")
load_model, label_channels = model_module.load_model, model_module.label_channels


def run_with(made, folder):
    """Three snapshots, of which the last two are at prediction times."""
    run = HandmadeRun(folder / "run", dim=5)
    random = np.random.default_rng(7)
    run.add([20, 10], random.normal(size=(2, 5)))
    run.add([20, 10, 30], 3 * random.normal(size=(3, 5)))
    run.add([30, 20, 10], 0.01 * random.normal(size=(3, 5)))
    made.write(run.folder / "model")
    for name in ["config.json", "model.safetensors"]:
        run.name(f"model/{name}")
    return coden.load(run.commit())


def unit_history(run, nodes, snapshots):
    rows = run.sequence(nodes, snapshots).embeddings.astype(np.float64)
    lengths = np.sqrt((rows**2).sum(axis=2))
    lengths[lengths == 0] = 1
    return (rows / lengths[:, :, None]).transpose(0, 2, 1)


@pytest.mark.parametrize(("kind", "gate"), KINDS)
@pytest.mark.parametrize("averages", [[], [0.5]])
@pytest.mark.parametrize("classes", [CLASSES, [5, -3, 9]])
def test_predictions_of_a_run(tmp_path, kind, gate, averages, classes):
    made = HandmadeModel(kind, gate, averages=averages, classes=classes)
    run = run_with(made, tmp_path)
    model = run.model()
    assert model.classes == tuple(classes)
    for prediction in [1, 2]:
        for nodes in [None, [30, 20, 99]]:
            table = model.predict(run, prediction, nodes)
            nodes = run.snapshot(prediction).nodes.to_pylist() if nodes is None else nodes
            history = unit_history(run, nodes, range(prediction + 1))
            logits = made.logits(history, [prediction])[:, 0]
            expected = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
            assert table.column_names == ["node", "predicted", "probability", "probabilities"]
            assert table["node"].to_pylist() == nodes
            found = np.array(table["probabilities"].to_pylist())
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5)
            assert table["predicted"].to_pylist() == [classes[i] for i in expected.argmax(axis=1)]
            assert table["probability"].to_pylist() == found.max(axis=1).tolist()
    assert model.predict(run, 1, []).num_rows == 0


@pytest.mark.parametrize(
    ("protocol", "last", "refused", "given"),
    [("each", 2, [1], [2]), ("rolling", 1, [1], [2]), ("shared", 2, [], [1, 2])],
)
def test_a_model_does_not_predict_what_it_has_learnt_after(
    tmp_path, protocol, last, refused, given
):
    made = HandmadeModel()
    made.config |= {"protocol": protocol, "prediction": last}
    run = run_with(made, tmp_path)
    for prediction in refused:
        with pytest.raises(coden.RunError, match=f"has learnt from labels up to prediction {last}"):
            run.model().predict(run, prediction)
        assert run.model().predict(run, prediction, allow_future=True).num_rows == 3
    for prediction in given:
        assert run.model().predict(run, prediction).num_rows == 3


def test_many_nodes_are_taken_in_parts(tmp_path, monkeypatch):
    run = run_with(HandmadeModel(), tmp_path)
    whole = run.model().predict(run, 2)
    monkeypatch.setattr(model_module, "CHUNK_NODES", 2)
    monkeypatch.setattr(coden.history, "CHUNK_NODES", 2)
    parts = run.model().predict(run, 2)
    assert parts.drop_columns(["probability", "probabilities"]).equals(whole.select([0, 1]))
    np.testing.assert_allclose(parts["probability"], whole["probability"], atol=1e-6)


def test_snapshots_that_a_model_reads(tmp_path):
    run = run_with(HandmadeModel("coden-s"), tmp_path)
    assert run.snapshots_until(1) == [0, 1]
    assert run.model().snapshots(run, 2) == [2]
    with_average = load_model(HandmadeModel("coden-s", averages=[0.5]).write(tmp_path / "other"))
    assert with_average.snapshots(run, 2) == [0, 1, 2]
    with pytest.raises(coden.RunError, match="has no prediction 3: it has 1 to 2$"):
        run.model().predict(run, 3)


def test_features_are_given_as_the_run_reads_them(tmp_path):
    made = HandmadeModel(features=3)
    run = run_with(made, tmp_path)
    raw = np.random.default_rng(2).normal(4, 2, size=(2, 3))
    table = run.model().predict(run, 2, [10, 30], features=raw)
    standard = (raw - made.tensors["features.mean"]) / made.tensors["features.deviation"]
    logits = made.logits(unit_history(run, [10, 30], range(3)), [2], standard)[:, 0]
    expected = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(table["probabilities"].to_pylist(), expected, rtol=0, atol=1e-5)
    with pytest.raises(
        coden.RunError, match="reads 3 features of a node: give them as `features`$"
    ):
        run.model().predict(run, 2)
    with pytest.raises(coden.RunError, match=r"`features` must be an array of \(3, 3\): \(2, 3\)$"):
        run.model().predict(run, 2, features=raw)


@pytest.mark.parametrize("embedding", [5, 0])
def test_label_channels_are_given_as_an_array(tmp_path, embedding):
    made = HandmadeModel(labels=True, embedding=embedding)
    run = run_with(made, tmp_path)
    with pytest.raises(coden.RunError, match="reads 12 label channels, .* as `label_channels`"):
        run.model().predict(run, 2)
    with pytest.raises(coden.RunError, match="`label_channels` must be an array of"):
        run.model().predict(run, 2, label_channels=np.zeros((3, 12, 2)))
    labels = label_channels(np.random.default_rng(3).random((3, 1, 2, 3, 3)))
    table = run.model().predict(run, 2, label_channels=labels)
    embeddings = unit_history(run, [30, 20, 10], range(3))[:, :embedding]
    logits = made.logits(np.concatenate([embeddings, labels], axis=1), [2])[:, 0]
    expected = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(table["probabilities"].to_pylist(), expected, rtol=0, atol=1e-5)


def test_label_channels_are_shares_and_evidence_of_each_window_and_alpha():
    values = np.random.default_rng(3).random((2, 2, 3, 4, 5))
    values[1, 0, 2, :, 3] = 0
    found = label_channels(values)
    assert found.shape == (2, 2 * 3 * 2 * 4, 5) and found.dtype == np.float32
    expected = []
    for window in range(2):
        for alpha in range(3):
            one = values[1, window, alpha, :, 3]
            expected += [value / one.sum() if one.any() else 0 for value in one]
            expected += [np.log(1 + 10 * value) for value in one]
    np.testing.assert_allclose(found[1, :, 3], expected, rtol=1e-6)
    with pytest.raises(ValueError, match="nodes x windows x alphas x classes x snapshots"):
        label_channels(values[0])


def test_a_model_of_other_embeddings(tmp_path):
    run = run_with(HandmadeModel(embedding=4), tmp_path)
    with pytest.raises(coden.RunError, match="reads embeddings of 4, the run has 5$"):
        run.model().predict(run, 1)


def test_embeddings_that_are_not_finite(tmp_path):
    run = HandmadeRun(tmp_path, dim=5)
    run.add([1, 2], np.zeros((2, 5)))
    run.add([1, 2], [[1, 2, 3, 4, 5], [1, np.inf, 3, 4, 5]])
    loaded = coden.load(run.commit())
    model = load_model(HandmadeModel().write(tmp_path / "model"))
    assert model.predict(loaded, 1, [1]).num_rows == 1
    with pytest.raises(coden.RunError, match="an embedding is not finite"):
        model.predict(loaded, 1)


@pytest.mark.parametrize("package", ["torch", "safetensors"])
def test_the_package_without_torch(tmp_path, package):
    folder = tmp_path / "run"
    run_with(HandmadeModel(), tmp_path)
    script = f"""
import sys
sys.modules[{package!r}] = None
import coden
assert "coden.model" not in sys.modules and not sys.modules.get("torch")
run = coden.load({str(folder)!r})
assert run.sequence([10]).embeddings.shape == (1, 3, 5)
try:
    run.model()
except ImportError as error:
    assert "pip install torch safetensors" in str(error), error
else:
    sys.exit("it was loaded")
"""
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={"PYTHONPATH": str(ROOT / "python")},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


def test_tables_have_the_types_of_the_run(tmp_path):
    run = run_with(HandmadeModel(), tmp_path)
    types = run.model().predict(run, 1).schema.types
    assert types == [pa.int64(), pa.string(), pa.float64(), pa.list_(pa.float64(), 3)]
