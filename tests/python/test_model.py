"""Models of the Python package give what their formulas give, written out as loops."""

import json

import coden
import numpy as np
import pytest
from handmade_model import CASES, KINDS, HandmadeModel, case_name
from handmade_run import HandmadeRun

torch = pytest.importorskip("torch")
pytest.importorskip("safetensors")
load_model = pytest.importorskip("coden.model").load_model

ALL_INPUTS = dict(labels=True, averages=[0.5, 0.98], features=3)
AT = [0, 3, 8]


def tensors(*arrays):
    return [torch.as_tensor(array) for array in arrays if array is not None]


@pytest.mark.parametrize("case", CASES, ids=case_name)
def test_logits_are_those_of_a_loop(tmp_path, case):
    made = HandmadeModel(**case)
    model = load_model(made.write(tmp_path))
    history, features = made.history(), made.feature_rows()
    expected = made.logits(history, AT, features)
    with torch.no_grad():
        found = model(*tensors(history, AT, features)).numpy()
        exact = model.double()(
            torch.tensor(history).double(),
            AT,
            None if features is None else torch.tensor(features).double(),
        ).numpy()
    assert found.shape == (7, 3, 3) and found.dtype == np.float32
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5)
    np.testing.assert_allclose(exact, expected, rtol=0, atol=1e-11)


@pytest.mark.parametrize(("kind", "gate"), KINDS)
@pytest.mark.parametrize("inputs", [{}, ALL_INPUTS], ids=["plain", "all"])
def test_a_stream_gives_what_the_history_gives(tmp_path, kind, gate, inputs):
    made = HandmadeModel(kind, gate, **inputs)
    model = load_model(made.write(tmp_path))
    (history, *features) = tensors(made.history(), made.feature_rows())
    with torch.no_grad():
        expected = model(history, range(9), *features)
        state = model.start(len(history))
        for snapshot, rows in enumerate(history.unbind(2)):
            state, logits = model.step(state, rows, *features)
            torch.testing.assert_close(logits, expected[:, snapshot], rtol=0, atol=1e-5)


@pytest.mark.parametrize("layers", [1, 3])
def test_one_layer_and_three(tmp_path, layers):
    made = HandmadeModel(layers=layers)
    model = load_model(made.write(tmp_path))
    history = made.history()
    found = model(torch.tensor(history), AT).detach()
    np.testing.assert_allclose(found, made.logits(history, AT), rtol=0, atol=1e-5)


def test_the_linear_model_is_attention_with_a_decaying_mask(tmp_path):
    """Y = (L o Q K') V over a node's snapshots: q and k take the decay apart, L is causal."""
    model = load_model(HandmadeModel(embedding=2, states=3).write(tmp_path)).double()
    ssm, snapshots = model.temporal, 12
    u = torch.tensor(np.random.default_rng(5).normal(size=(4, 2, snapshots)))
    times = torch.arange(snapshots)
    with torch.no_grad():
        log_decay, gain = ssm.discretise()
        state = ssm.start(u)
        for t in range(snapshots):
            state, y = ssm.advance(state, u[:, :, t])
            for f in range(2):
                q = ssm.output[f] * torch.exp(log_decay[f] * times[:, None])
                k = gain[f] * torch.exp(-log_decay[f] * times[:, None])
                causal = torch.tril(torch.ones(snapshots, snapshots, dtype=torch.float64))
                attention = (causal * (q @ k.T)) @ u[:, f].T
                expected = attention[t] + ssm.skip[f] * u[:, f, t]
                torch.testing.assert_close(y[:, f], expected, rtol=0, atol=1e-10)


def slow_and_long():
    """Steps so short that exp(Delta A) - 1 loses half its digits in float32, many snapshots."""
    made = HandmadeModel(averages=[0.999])
    made.tensors["temporal.step"][:] = -9
    made.tensors["temporal.log_rate"][:] = -1
    made.tensors["temporal.input"][:] = 300
    return made, made.history(snapshots=200), [0, 199]


def test_short_steps_keep_their_digits(tmp_path):
    made, history, at = slow_and_long()
    found = load_model(made.write(tmp_path))(torch.tensor(history), at).detach()
    np.testing.assert_allclose(found, made.logits(history, at), rtol=0, atol=1e-5)


def check_exports(made, folder, history, at, snapshots=None):
    onnxruntime = pytest.importorskip("onnxruntime")
    pytest.importorskip("onnxscript")
    model = load_model(made.write(folder))
    model.to_onnx(folder / "model.onnx", snapshots)
    session = onnxruntime.InferenceSession(folder / "model.onnx")
    torch.export.save(model.export(snapshots), folder / "model.pt2")
    program = torch.export.load(folder / "model.pt2").module()
    features = made.feature_rows(len(history))
    short = slice(None) if snapshots else slice(1)
    for inputs in [
        tensors(history, at, features),
        # One of everything is no other case.
        tensors(history[:1, :, short], at[:1], None if features is None else features[:1]),
    ]:
        with torch.no_grad():
            expected = model(*inputs)
        torch.testing.assert_close(program(*inputs), expected, rtol=0, atol=1e-6)
        names = [one.name for one in session.get_inputs()]
        assert names == ["history", "at", "features"][: len(inputs)]
        arrays = (one.numpy() for one in inputs)
        (found,) = session.run(["logits"], dict(zip(names, arrays, strict=True)))
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5)
    return session


@pytest.mark.parametrize(
    ("kind", "gate", "inputs"),
    [(*kind, ALL_INPUTS) for kind in KINDS]
    + [("coden", "channel", {}), ("coden-a", "channel", {})],
)
def test_exported_models_give_the_same(tmp_path, kind, gate, inputs):
    made = HandmadeModel(kind, gate, **inputs)
    snapshots = 9 if gate == "input" else None
    session = check_exports(made, tmp_path, made.history(), AT, snapshots)
    config = session.get_modelmeta().custom_metadata_map["coden.config"]
    assert json.loads(config) == made.config
    first = session.get_inputs()[0]
    assert first.shape == ["nodes", made.config["channels"], snapshots or "snapshots"]


def test_exported_models_keep_their_digits(tmp_path):
    check_exports(slow_and_long()[0], tmp_path, *slow_and_long()[1:])


def test_a_gate_of_the_input_is_exported_for_a_number_of_snapshots(tmp_path):
    model = load_model(HandmadeModel("coden-r", "input").write(tmp_path))
    with pytest.raises(coden.RunError, match="give it as `snapshots`$"):
        model.export()
    with pytest.raises(coden.RunError, match="must be 1 or more: 0$"):
        model.export(0)


def test_inputs_of_another_shape(tmp_path):
    model = load_model(HandmadeModel(features=2).write(tmp_path))
    history, features = torch.zeros(4, 5, 3), torch.zeros(4, 2)
    for inputs, reason in [
        ((history[:, 1:], [0], features), r"5 channels at every snapshot: .* \(4, 4, 3\)"),
        ((history, [3], features), r"places of 3 snapshots: \[3\]"),
        ((history, [-1], features), r"places of 3 snapshots: \[-1\]"),
        ((history, [0]), "reads 2 features of a node"),
        ((history, [0], features[1:]), r"reads 2 features of a node: \(3, 2\)"),
    ]:
        with pytest.raises(ValueError, match=reason):
            model(*inputs)


def load_error(folder):
    with pytest.raises(coden.RunError) as caught:
        load_model(folder)
    text = str(caught.value)
    assert text.isprintable() and "\n" not in text and str(folder) in text
    return text


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"format_version": 1}, "has a format this version does not know: 1"),
        ({"format_version": "2"}, "has a format this version does not know: '2'"),
        (
            {"model": "coden-x"},
            "`model` must be one of coden, coden-s, coden-r, coden-a: 'coden-x'",
        ),
        ({"gate": None}, "`gate` must be one of channel, input: None"),
        ({"channels": 6}, "`channels` must be those of embedding and labels, 5: 6"),
        ({"states": 2.0}, "`states` must be a whole number from 1 on: 2.0"),
        ({"layers": True}, "`layers` must be a whole number from 1 on: True"),
        ({"hidden": 2**40}, "`hidden` must be a whole number from 1 on"),
        ({"averages": [1.0]}, "`averages` must be in [0, 1): [1.0]"),
        ({"averages": 0.5}, "`averages` must be a list of numbers: 0.5"),
        ({"classes": ["a", 1]}, "`classes` must be different numbers, or different texts"),
        ({"classes": ["a", "a"]}, "`classes` must be different numbers, or different texts"),
        ({"label_columns": {}}, "is not the configuration of a model: no 'alphas'"),
    ],
)
def test_configurations_that_are_wrong(tmp_path, changes, reason):
    made = HandmadeModel()
    made.config |= changes
    text = load_error(made.write(tmp_path))
    assert text.startswith(f"'{tmp_path}/config.json' ") and reason in text


@pytest.mark.parametrize("content", ["", "{", "[]", "3", "{}", "[" * 100_000, "\xff\x00"])
def test_configurations_that_are_none(tmp_path, content):
    HandmadeModel().write(tmp_path)
    (tmp_path / "config.json").write_text(content, encoding="latin-1")
    assert "config.json' is not the configuration of a model: " in load_error(tmp_path)


def test_weights_that_are_of_another_model(tmp_path):
    def write(name, values):
        made = HandmadeModel(features=2)
        made.tensors[name] = values
        if values is None:
            del made.tensors[name]
        return load_error(made.write(tmp_path)).partition(" is not of the model of config.json: ")[
            2
        ]

    good = HandmadeModel(features=2).tensors
    for name in good:
        assert write(name, None) == f"it has no tensor {name}"
    name = "temporal.log_rate"
    assert write(name, good[name].T.copy()) == f"{name} must have the shape (5, 4): (4, 5)"
    assert write(name, good[name].astype(np.float64)) == f"{name} must be float32: torch.float64"
    assert write(name, good[name] * np.nan) == f"{name} must be finite"
    assert write("more", good[name]) == "it has a tensor that the model does not: 'more'"
    name = "features.deviation"
    assert write(name, good[name] * 0) == "features.deviation must be positive"


def test_a_configuration_alone_takes_no_memory_and_no_time(tmp_path):
    made = HandmadeModel()
    made.config |= {"layers": 2**31 - 1}
    assert "it has no tensor classifier.linear2147483646.weight" in load_error(made.write(tmp_path))
    made.config |= {"layers": 2, "channels": 2**31 - 1, "embedding": 2**31 - 1}
    assert "temporal.log_rate must have the shape (2147483647, 4)" in load_error(
        made.write(tmp_path)
    )


def test_weights_that_are_damaged(tmp_path):
    file = HandmadeModel().write(tmp_path) / "model.safetensors"
    whole = file.read_bytes()
    for size in [0, 5, 8, 100, len(whole) // 2, len(whole) - 1]:
        file.write_bytes(whole[:size])
        assert f"'{file}' cannot be read: " in load_error(tmp_path)
    random = np.random.default_rng(4)
    for _ in range(300):
        damaged = bytearray(whole)
        damaged[random.integers(0, 700)] = random.integers(0, 256)
        file.write_bytes(damaged)
        try:
            load_model(tmp_path)
        except coden.RunError as error:
            assert str(error).isprintable()


def test_files_that_are_missing(tmp_path):
    folder = HandmadeModel().write(tmp_path / "model")
    (folder / "config.json").rename(folder / "other")
    assert load_error(folder) == f"'{folder}' is not a model: it has no config.json"
    run = HandmadeRun(tmp_path / "run")
    run.add([1], [[1, 2, 3]])
    loaded = coden.load(run.commit())
    with pytest.raises(coden.RunError, match="run' has no model: coden train writes it$"):
        loaded.model()
