"""The models of the program and those of the Python package agree: logits, gradients, predictions.

build/tests/model_probe MODEL_DIR CASE.safetensors OUT.safetensors runs the network of src/train/ on
a history, without dropout.
"""

import itertools
import os
import pathlib
import subprocess

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from handmade_model import CASES, KINDS, HandmadeModel, case_name
from small_run import ROOT, call, embed

PROBE = pathlib.Path(os.environ.get("CODEN_MODEL_PROBE", ROOT / "build/tests/model_probe"))
if not PROBE.exists():
    pytest.skip("build/tests/model_probe is not built", allow_module_level=True)
torch = pytest.importorskip("torch")
safetensors_numpy = pytest.importorskip("safetensors.numpy")
coden = pytest.importorskip("coden")
load_model = pytest.importorskip("coden.model").load_model


def probe(made, case, folder):
    """What the program gives for a case, by name."""
    safetensors_numpy.save_file(case, folder / "case.safetensors")
    done = subprocess.run(
        [PROBE, made.write(folder / "model"), folder / "case.safetensors", folder / "out"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return safetensors_numpy.load_file(folder / "out")


def check_agreement(made, folder, nodes=11, snapshots=9, at=(0, 3, 4, 8)):
    random = np.random.default_rng(17)
    history, features = made.history(nodes, snapshots), made.feature_rows(nodes)
    # Some pairs have no label.
    labels = random.integers(-1, len(made.config["classes"]), (nodes, len(at)))
    # The probe reads float32 alone.
    case = {"history": history, "at": np.array(at, np.float32)}
    case["labels"] = labels.astype(np.float32)
    if features is not None:
        case["features"] = features
    found = probe(made, case, folder)

    model = load_model(folder / "model")
    given = None if features is None else torch.tensor(features)
    logits = model(torch.tensor(history), list(at), given)
    np.testing.assert_allclose(found["logits"], logits.detach(), rtol=0, atol=1e-5)

    labels = torch.tensor(labels)
    loss = torch.nn.functional.cross_entropy(logits[labels >= 0], labels[labels >= 0])
    loss.backward()
    gradients = {name: parameter.grad.numpy() for name, parameter in model.named_parameters()}
    names = {name.removeprefix("grad.") for name in found if name.startswith("grad.")}
    assert names == gradients.keys()
    largest = max(np.abs(gradient).max() for gradient in gradients.values())
    assert largest > 0
    for name, expected in gradients.items():
        gradient = found[f"grad.{name}"]
        assert gradient.shape == expected.shape, name
        error = np.abs(gradient - expected).max()
        assert error <= 1e-4 * largest, f"{name}: {error} of {largest}"


@pytest.mark.parametrize("case", CASES, ids=case_name)
def test_logits_and_gradients(tmp_path, case):
    check_agreement(HandmadeModel(**case, seed=CASES.index(case)), tmp_path)


@pytest.mark.parametrize(("kind", "gate"), KINDS)
def test_other_sizes(tmp_path, kind, gate):
    sizes = itertools.product([1, 3], [1, 40])
    for number, (layers, snapshots) in enumerate(sizes):
        made = HandmadeModel(
            kind,
            gate,
            labels=True,
            averages=[0.9],
            features=1,
            embedding=0 if number == 1 else 8,
            states=1 + 15 * (number % 2),
            hidden=32,
            layers=layers,
            classes=list(range(2 + number)),
            seed=number,
        )
        folder = tmp_path / str(number)
        folder.mkdir()
        check_agreement(
            made, folder, nodes=2 + 40 * number, snapshots=snapshots, at=[snapshots - 1]
        )


@pytest.mark.parametrize("ids", ["int", "string"])
@pytest.mark.parametrize(
    "flags",
    [
        ["--train.model", "coden"],
        ["--train.model", "coden-s"],
    ],
    ids=lambda flags: flags[1],
)
def test_predictions_of_a_run(tmp_path, flags, ids):
    folder = embed(tmp_path, ids=ids)
    run = coden.load(folder)
    nodes = run.snapshot(run.num_snapshots - 1).nodes
    labels = [f"class {row % 3}" for row in range(len(nodes))]
    pq.write_table(pa.table({"node": nodes, "label": labels}), tmp_path / "labels.parquet")
    call(
        *["train", folder / "_coden" / "settings.ini", "--run.directory", folder],
        *["--input.labels", tmp_path / "labels.parquet", "--train.epochs", "5"],
        # One model for all prediction times.
        *["--train.protocol", "shared", "--train.hidden", "16", *flags],
    )
    run = coden.load(folder)
    model = run.model()
    for prediction in [1, 2, 3]:
        rows = run.predictions.filter(pc.equal(run.predictions["prediction"], prediction))
        assert rows.num_rows == len(nodes)
        found = model.predict(run, prediction, rows["node"])
        np.testing.assert_allclose(found["probability"], rows["probability"], rtol=0, atol=1e-5)
        assert found["predicted"].to_pylist() == rows["predicted"].to_pylist()
