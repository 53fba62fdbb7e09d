"""A new training takes the place of the one before, and the one before is kept."""

import shutil

import coden as package
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

CORRUPTION = 5
SMALL = ["--train.hidden", "4", "--train.protocol", "shared"]


@pytest.fixture
def data(tmp_path):
    random = np.random.default_rng(3)
    tables = {}
    for part, name in enumerate("abc"):
        src, dst = random.integers(0, 40, (2, 400))
        times = 20 * part + np.sort(random.integers(0, 20, 400))
        tables[name] = pa.table({"src": src, "dst": dst, "time": times})
    return tables


@pytest.fixture
def case(coden, inputs, data, tmp_path):
    """A run of part a of a log, and how to call commands on it."""
    inputs["edges"] = None
    folder = tmp_path / "edges"
    folder.mkdir()

    class Kept:
        run = inputs.run

        def grow(self, name):
            pq.write_table(data[name], folder / f"{name}.parquet")

        def call(self, command, *more, code=0):
            flags = inputs.flags("--partition.initial", "5", "--partition.width", "5")
            flags[flags.index("--input.edges") + 1] = folder
            waits = ["--partition.unfinished", "wait", "--sample.max_per_interval", "1"]
            outcome = coden(command, *flags, *waits, *SMALL, *more)
            assert outcome.code == code, outcome.stderr
            return outcome

        def names(self):
            return sorted(path.name for path in self.run.glob("trainings/*"))

        def files(self, training=""):
            folder = self.run / training
            names = ["predictions.parquet", "metrics.parquet", "metrics.jsonl"]
            names += ["model/config.json", "model/model.safetensors", "model/settings.ini"]
            return {name: (folder / name).read_bytes() for name in names}

    made = Kept()
    made.grow("a")
    made.call("run")
    return made


def test_another_training_keeps_the_one_before(coden, case):
    first = case.files()
    page = (case.run / "report.html").read_bytes()
    said = case.call("train", "--train.model", "coden-s").stderr
    assert f"the earlier training is kept in '{case.run}/trainings/coden-1/'" in said
    second = case.files()
    assert second["model/config.json"] != first["model/config.json"]
    assert case.files("trainings/coden-1") == first
    assert (case.run / "trainings/coden-1/report.html").read_bytes() == page
    assert "model = coden-s" in second["model/settings.ini"].decode()
    case.call("run", "--train.hidden", "5")
    assert case.names() == ["coden-1", "coden-s-2"]
    assert case.files("trainings/coden-1") == first
    assert case.files("trainings/coden-s-2") == second
    assert "unchanged, skipped" in case.call("run", "--train.hidden", "5").stderr
    assert coden("verify", case.run).code == 0
    inspected = coden("inspect", case.run).stdout
    assert "Earlier trainings" in inspected and "coden-s-2" in inspected
    trainings = package.load(case.run).trainings
    assert list(trainings) == ["coden-1", "coden-s-2"]
    assert trainings["coden-1"].predictions.equals(
        pq.read_table(case.run / "trainings/coden-1/predictions.parquet")
    )
    with open(case.run / "trainings/coden-1/model/config.json", "a") as file:
        file.write(" ")
    verified = coden("verify", case.run)
    assert verified.code == CORRUPTION and "trainings/coden-1/model/config.json" in verified.stderr


def test_a_forecast_is_kept_with_its_model(case):
    case.grow("b")
    case.call("predict")
    forecast = (case.run / "forecast.parquet").read_bytes()
    said = case.call("run").stderr
    assert "trainings/coden-1/', with its forecast" in said
    assert not (case.run / "forecast.parquet").exists()
    assert (case.run / "trainings/coden-1/forecast.parquet").read_bytes() == forecast
    assert package.load(case.run).trainings["coden-1"].forecast.num_rows > 0


def test_a_repeated_training_replaces_the_one_before(case):
    case.grow("b")
    case.call("predict")
    forecast = (case.run / "forecast.parquet").read_bytes()
    said = case.call("train", "--force").stderr
    assert "earlier training" in said, "it has learnt from more rows"
    case.grow("c")
    case.call("predict")
    later = (case.run / "forecast.parquet").read_bytes()
    case.call("embed")
    first = case.files()
    case.call("run")
    assert case.names() == ["coden-1", "coden-2"] and first == case.files("trainings/coden-2")
    assert (case.run / "trainings/coden-1/forecast.parquet").read_bytes() == forecast
    assert (case.run / "trainings/coden-2/forecast.parquet").read_bytes() == later
    # The same rows, settings and labels: no third one.
    assert "earlier training" not in case.call("train", "--force").stderr
    assert case.names() == ["coden-1", "coden-2"]


def test_a_rebuild_that_repeats_the_training_leaves_one(case):
    before = case.files()
    said = case.call("run", "--force").stderr
    assert "the new training repeats 'coden-1', which is not kept twice" in said
    assert case.names() == []
    assert {**case.files(), "metrics.jsonl": b""} == {**before, "metrics.jsonl": b""}


def test_a_rebuild_keeps_the_training(coden, case):
    first = case.files()
    said = case.call("embed", "--force", "--embed.alpha", "0.3").stderr
    assert f"the earlier training is kept in '{case.run}/trainings/coden-1/'" in said
    assert case.files("trainings/coden-1") == first
    assert not (case.run / "predictions.parquet").exists()
    case.call("run", "--embed.alpha", "0.3")
    assert case.names() == ["coden-1"]
    assert coden("verify", case.run).code == 0


def test_a_training_that_the_user_removed_is_forgotten(coden, case):
    case.call("train", "--train.model", "coden-s")
    shutil.rmtree(case.run / "trainings/coden-1")
    assert coden("verify", case.run).code == CORRUPTION
    said = case.call("run", "--train.model", "coden-s").stderr
    assert "the earlier training 'coden-1' has been removed" in said
    assert coden("verify", case.run).code == 0
    # Its number is not given again while another folder has it.
    (case.run / "trainings/mine-7").mkdir(parents=True)
    (case.run / "trainings/mine-7/notes.txt").write_text("mine")
    case.call("train")
    assert case.names() == ["coden-s-8", "mine-7"]


def test_what_is_damaged_is_not_kept(coden, case):
    with open(case.run / "predictions.parquet", "ab") as file:
        file.write(b"x")
    refused = case.call("train", "--train.model", "coden-s", code=CORRUPTION).error
    assert "the earlier training is damaged; `--force`" in refused and not case.names()
    said = case.call("train", "--train.model", "coden-s", "--force").stderr
    assert "damaged files of it are not: predictions.parquet" in said
    assert not (case.run / "trainings/coden-1/predictions.parquet").exists()
    assert (case.run / "trainings/coden-1/metrics.parquet").exists()
    assert coden("verify", case.run).code == 0
