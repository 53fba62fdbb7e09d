"""Event files for TensorBoard, read back with its own package."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

loader = pytest.importorskip("tensorboard.backend.event_processing.event_file_loader")


def scalars(folder):
    """By tag: (step, value, wall time) in the order of the file."""
    (path,) = folder.iterdir()
    found = {}
    for event in loader.LegacyEventFileLoader(str(path)).Load():
        for value in event.summary.value:
            point = (event.step, value.simple_value, event.wall_time)
            found.setdefault(value.tag, []).append(point)
    return found


def steps(points):
    return [step for step, _, _ in points]


def numbers(points):
    return [value for _, value, _ in points]


def test_epochs_and_metrics_are_there_with_their_numbers(coden, inputs):
    times = pa.array([0] * 50)  # with times, so that a node has a last known label
    inputs["labels"] = inputs["labels"].append_column("time", times)
    flags = inputs.flags("--train.runs", "2", "--train.hidden", "8", "--partition.predictions", "3")
    flags += ["--train.protocol", "shared"]  # one curve a run
    assert coden("run", *flags).code == 0
    assert not (inputs.run / "tensorboard").exists()
    assert coden("report", *flags, "--report.tensorboard", "true").code == 0
    lines = [json.loads(line) for line in (inputs.run / "metrics.jsonl").read_text().splitlines()]
    metrics = pq.read_table(inputs.run / "metrics.parquet").to_pylist()
    for run in range(2):
        found = scalars(inputs.run / "tensorboard" / f"run-{run}")
        epochs = [line for line in lines if line["run"] == run and "epoch" in line]
        for tag, key in (("train/loss", "loss"), ("validate/micro_f1", "validate_micro_f1")):
            assert steps(found[tag]) == [1, 2]
            assert numbers(found[tag]) == pytest.approx([line[key] for line in epochs])
        tests = [row for row in metrics if row["run"] == run]
        assert steps(found["test/micro_f1"]) == [row["prediction"] for row in tests]
        scores = [row["micro_f1"] for row in tests]
        assert numbers(found["test/micro_f1"]) == pytest.approx(scores)
        for control in ("majority", "propagation", "last_label"):
            points = found[f"test/{control}_micro_f1"]
            assert steps(points) == [row["prediction"] for row in tests]
            known = [row[f"{control}_micro_f1"] for row in tests]
            assert numbers(points) == pytest.approx(known)
        assert numbers(found["test/gain"]) == pytest.approx([row["gain"] for row in tests])
        assert "test/dirichlet_energy" not in found  # it was not measured
        times = [point[2] for point in found["train/loss"]]
        apart = epochs[1]["seconds"]
        assert times[1] - times[0] == pytest.approx(apart, abs=1e-3)
    assert coden("verify", inputs.run).code == 0


def test_a_new_training_takes_the_place_of_the_old_one(coden, inputs):
    flags = inputs.flags("--report.tensorboard", "true", "--train.hidden", "8")
    assert coden("run", *flags, "--train.runs", "2").code == 0
    assert coden("run", *flags, "--train.runs", "1").code == 0
    assert [path.name for path in (inputs.run / "tensorboard").iterdir()] == ["run-0"]
