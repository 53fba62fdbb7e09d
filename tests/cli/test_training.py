"""Training through the program: protocols, splits, label columns, and going on after a kill."""

import json
import pathlib
import signal
import subprocess

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from conftest import PROGRAM, ROOT, data_hashes, wait_for_commits

USAGE, INPUT = 2, 3
SMALL = ["--train.hidden", "16", "--train.batch", "16", "--partition.predictions", "4"]
LABELS = [
    *["--train.label_columns", "3", "--train.label_alphas", "0.2,0.5"],
    *["--train.label_windows", "0,40"],
]


def results(run):
    """What training has made, byte by byte; the seconds of an epoch differ."""
    hashes = {name: h for name, h in data_hashes(run).items() if not name.startswith("state")}
    for name in ("model/model.safetensors", "model/config.json"):
        hashes[name] = (run / name).read_bytes()
    log = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    hashes["metrics.jsonl"] = [{**line, "seconds": 0} for line in log]
    return hashes


@pytest.mark.parametrize(
    "flags",
    [
        [],
        ["--train.model", "coden-a", "--train.protocol", "each", *LABELS],
        ["--train.model", "coden-r", "--train.protocol", "rolling", "--train.averages", "0.5"],
        ["--train.model", "coden-s", "--train.inputs", "embedding, features", *LABELS],
    ],
    ids=["coden", "coden-a", "coden-r", "coden-s"],
)
def test_training_from_memory_and_from_files_is_the_same(coden, inputs, tmp_path, flags):
    assert coden("run", *inputs.flags(*SMALL, *flags)).code == 0
    memory = results(inputs.run)
    inputs.run = tmp_path / "files"
    assert coden("embed", *inputs.flags(*SMALL)).code == 0
    assert coden("train", *inputs.flags(*SMALL, *flags)).code == 0
    assert results(inputs.run) == memory


@pytest.mark.parametrize("protocol", ["shared", "each"])
def test_a_killed_training_goes_on_with_the_same_result(coden, inputs, tmp_path, protocol):
    flags = inputs.flags(
        *SMALL, *LABELS, "--train.epochs", "25", "--train.runs", "2", "--train.patience", "0",
        "--train.protocol", protocol,
    )  # fmt: skip
    assert coden("run", *flags).code == 0
    whole = results(inputs.run)
    inputs.run = tmp_path / "killed"
    flags = [str(inputs.run) if flags[i - 1] == "--run.directory" else f
             for i, f in enumerate(flags)]  # fmt: skip
    assert coden("embed", *flags).code == 0
    kills = 0
    for wanted in (5, 25):  # in the first run and in the second, or in later lessons
        process = subprocess.Popen(
            [PROGRAM, "train", *flags, "--run.commit_interval", "0"],
            stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL, cwd=ROOT,
        )  # fmt: skip
        kills += wait_for_commits(process, inputs.run, wanted)
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert kills == 2
    assert coden("verify", inputs.run).code == 0
    done = coden("train", *flags, "--resume")
    assert done.code == 0 and "training: going on after" in done.stderr
    assert results(inputs.run) == whole
    assert not (inputs.run / "state/training.safetensors").exists()


def test_nothing_to_resume_is_said(coden, inputs):
    outcome = coden("run", *inputs.flags("--resume"))
    assert outcome.code == INPUT
    assert outcome.error.startswith("there is no interrupted training with these settings in '")


def test_a_rolling_model_does_not_predict_the_first_time(coden, inputs):
    assert coden("run", *inputs.flags(*SMALL, "--train.protocol", "rolling")).code == 0
    assert pq.read_table(inputs.run / "metrics.parquet")["prediction"].to_pylist() == [2, 3, 4]
    predictions = pq.read_table(inputs.run / "predictions.parquet")
    assert set(predictions["prediction"].to_pylist()) == {2, 3, 4}
    config = json.loads((inputs.run / "model/config.json").read_text())
    assert config["prediction"] == 3


def test_a_split_file_says_who_is_who(coden, inputs, tmp_path):
    parts = np.array(["train", "validate", "test", "train"])
    split = pa.table({"node": np.arange(2, 50), "split": parts[np.arange(2, 50) % 4]})
    pq.write_table(split, tmp_path / "split.parquet")
    flags = ["--train.split_by", "file", "--input.split", str(tmp_path / "split.parquet")]
    outcome = coden("run", *inputs.flags(*SMALL, *flags))
    assert outcome.code == 0
    assert "labelled nodes that `input.split` does not name are left out: 2" in outcome.stderr
    predictions = pq.read_table(inputs.run / "predictions.parquet")
    for node, part in zip(
        predictions["node"].to_pylist(), predictions["split"].to_pylist(), strict=True
    ):
        assert part == ("unused" if node < 2 else parts[node % 4])
    metrics = pq.read_table(inputs.run / "metrics.parquet")
    assert max(metrics["test_nodes"].to_pylist()) <= 12

    # Another split trains anew; one with a wrong name is refused.
    wrong = split.set_column(1, "split", pa.array(["tset"] * split.num_rows))
    pq.write_table(wrong, tmp_path / "split.parquet")
    outcome = coden("train", *inputs.flags(*SMALL, *flags))
    assert outcome.code == INPUT
    assert "column 'split': must be train, validate or test: 'tset'" in outcome.error
    outcome = coden("run", *inputs.flags(*SMALL, *flags[:2]))
    assert outcome.code == USAGE and "`input.split` go together" in outcome.error


def test_a_split_by_time_tests_on_late_nodes(coden, inputs):
    assert coden("run", *inputs.flags(*SMALL, "--train.split_by", "time")).code == 0
    nodes = pq.read_table(inputs.run / "state/nodes.parquet")
    first = dict(zip(nodes["node"].to_pylist(), nodes["first_event"].to_pylist(), strict=True))
    predictions = pq.read_table(inputs.run / "predictions.parquet")
    by_part = {"train": [], "validate": [], "test": []}
    for node, part in zip(
        predictions["node"].to_pylist(), predictions["split"].to_pylist(), strict=True
    ):
        by_part[part].append(first[node])
    assert max(by_part["train"]) <= min(by_part["validate"])
    assert max(by_part["validate"]) <= min(by_part["test"])


def test_labels_as_they_come(coden, inputs):
    """Strings, a class that only one node has, labels that change, nodes without any."""
    labels = [f"class {i % 3}" if i != 17 else "only 17" for i in range(40)] + ["class 0"]
    inputs["labels"] = pa.table(
        {"node": [*range(40), 5], "label": labels, "time": [0] * 20 + [120] * 20 + [150]}
    )
    outcome = coden("run", *inputs.flags(*SMALL, *LABELS))
    assert outcome.code == 0, outcome.stderr
    predictions = pq.read_table(inputs.run / "predictions.parquet").to_pylist()
    of_5 = {row["time"]: row["label"] for row in predictions if row["node"] == 5}
    assert {time: label for time, label in of_5.items() if time < 150} == {
        time: "class 2" for time in of_5 if time < 150
    }
    assert {label for time, label in of_5.items() if time >= 150} == {"class 0"}
    assert all(row["time"] >= 120 for row in predictions if row["node"] == 30)
    split = {row["node"]: row["split"] for row in predictions}
    unseen = "classes of test nodes that no training node has" in outcome.stderr
    assert unseen == (split[17] == "test")


def test_one_class_is_refused(coden, inputs):
    inputs["labels"] = pa.table({"node": np.arange(50), "label": np.full(50, 7)})
    outcome = coden("run", *inputs.flags(*SMALL))
    assert outcome.code == INPUT and "training needs two classes or more" in outcome.error


def test_label_columns_see_no_label_of_their_own_node(coden, inputs, tmp_path):
    """Labels of test nodes change nothing but what they are compared with."""
    flags = [*SMALL, *LABELS, "--train.model", "coden-s", "--train.inputs", "none"]
    assert coden("run", *inputs.flags(*flags)).code == 0
    before = pq.read_table(inputs.run / "predictions.parquet").to_pylist()
    test = {row["node"] for row in before if row["split"] == "test"}
    labels = inputs["labels"].to_pydict()
    changed = [
        (label + 1) % 3 if node in test else label
        for node, label in zip(labels["node"], labels["label"], strict=True)
    ]
    inputs["labels"] = pa.table({"node": labels["node"], "label": changed})
    inputs.run = tmp_path / "other"
    assert coden("run", *inputs.flags(*flags)).code == 0
    after = pq.read_table(inputs.run / "predictions.parquet").to_pylist()
    for row, other in zip(before, after, strict=True):
        assert (row["predicted"], row["probability"]) == (other["predicted"], other["probability"])


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--train.label_columns", "1"], "needs two folds or more"),
        (["--train.inputs", "none"], "the model has nothing to read"),
        (["--train.inputs", "features, features"], "`train.inputs`"),
        (["--train.averages", "0.5,1"], "`train.averages`"),
        (["--graph.events", "toggle", *LABELS], "needs `graph.events = insert`"),
        (["--train.label_alphas", "0.5"], "set `train.label_columns`"),
        (["--train.gate", "input"], "is for `train.model = coden-r`"),
        (["--train.inputs", "features", "--train.averages", "0.5"], "features alone have none"),
        (["--input.split", "s.parquet"], "`train.split_by = file` and `input.split` go together"),
        (["--force", "--resume"], "give one of them"),
    ],
)
def test_settings_that_make_no_sense_are_refused(coden, inputs, flags, said):
    outcome = coden("run", *inputs.flags(*flags))
    assert outcome.code == USAGE and said in outcome.error
    assert not pathlib.Path(inputs.run, "snapshots").exists()


def test_every_epoch_has_a_line(coden, inputs):
    outcome = coden("run", *inputs.flags(*SMALL, "--train.protocol", "shared"))
    lines = [line for line in outcome.stderr.splitlines() if line.startswith("train: ")]
    assert [line for line in lines if ", validation " in line and " left" in line] == lines[1:3]
