"""The controls of the program against those that are written out here with scipy."""

import json
import pathlib
import subprocess

import controls
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from training_run import PROGRAM

NUM_NODES, NUM_CLASSES = 1200, 20


def write_log(folder: pathlib.Path, homophily: float, timed: bool) -> None:
    """A log of skewed classes: a share of the edges stays within a class; features are noise."""
    random = np.random.default_rng(4)
    shares = 1.0 / np.arange(1, NUM_CLASSES + 1)
    labels = random.choice(NUM_CLASSES, NUM_NODES, p=shares / shares.sum())
    src, dst = random.integers(0, NUM_NODES, (2, 4000))
    members = [np.flatnonzero(labels == label) for label in range(NUM_CLASSES)]
    for edge in np.flatnonzero(random.random(len(src)) < homophily):
        dst[edge] = random.choice(members[labels[src[edge]]])
    edges = pa.table({"src": src, "dst": dst, "time": np.arange(4000)})
    pq.write_table(edges, folder / "e.parquet")
    features = random.standard_normal((NUM_NODES, 8)).astype(np.float32)
    nodes = np.arange(NUM_NODES)
    pq.write_table(pa.table({"node": nodes, "x": list(features)}), folder / "x.parquet")
    table = {"node": nodes, "label": labels}
    if timed:  # every third has another label first
        first = random.integers(0, 3000, NUM_NODES)
        moves = nodes[::3]
        table = {
            "node": np.concatenate([nodes, moves]),
            "label": np.concatenate([labels, random.integers(0, NUM_CLASSES, len(moves))]),
            "time": np.concatenate([first, random.integers(0, first[moves] + 1)]),
        }
        table["time"][: len(nodes)][moves] += 1
    pq.write_table(pa.table(table), folder / "y.parquet")


def run(folder: pathlib.Path, *flags: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [PROGRAM, "run", "--input.edges", folder / "e.parquet"]
        + ["--input.features", folder / "x.parquet", "--input.labels", folder / "y.parquet"]
        + ["--run.directory", folder / "run", "--partition.predictions", "3"]
        + ["--graph.directed", "false", "--train.hidden", "16", *flags],
        capture_output=True,
        text=True,
        check=True,
    )


@pytest.mark.parametrize("timed", [False, True], ids=["labels", "timed labels"])
def test_scores_of_the_controls_are_those_of_scipy(tmp_path, timed):
    write_log(tmp_path, homophily=0.7, timed=timed)
    run(tmp_path, "--train.epochs", "2", "--train.runs", "2")
    metrics = pq.read_table(tmp_path / "run/metrics.parquet")
    pairs = controls.Pairs.of(pq.read_table(tmp_path / "run/predictions.parquet"))
    majority = pairs.micro_f1(controls.majority(pairs))
    propagation = pairs.micro_f1(controls.propagation(pairs, tmp_path / "e.parquet"))
    assert propagation.mean() > majority.mean() + 0.05
    for name, expected in (("majority", majority), ("propagation", propagation)):
        found = metrics[f"{name}_micro_f1"].to_numpy().reshape(expected.shape)
        np.testing.assert_allclose(found, expected, atol=0.005)  # ties may fall either way
    found = metrics["last_label_micro_f1"]
    assert (found.null_count == len(found)) != timed
    if timed:
        labels = pq.read_table(tmp_path / "y.parquet")
        last = pairs.micro_f1(controls.last_label(pairs, labels, start=1999))
        np.testing.assert_allclose(found.to_numpy().reshape(last.shape), last, atol=1e-12)
        assert (last.mean(axis=0) > majority.mean(axis=0) + 0.05).all()  # the first time too


def test_a_model_that_learns_nothing_is_named(tmp_path):
    write_log(tmp_path, homophily=0.02, timed=False)
    outcome = run(tmp_path, "--train.epochs", "5", "--format", "json")
    assert "warning: the model is not better than " in outcome.stderr
    assert "the majority class (" in outcome.stderr
    assert "the model is not better than" in (tmp_path / "run/report.html").read_text()
    rows = json.loads(outcome.stdout)["results"]
    assert all({"majority_micro_f1", "propagation_micro_f1", "gain"} <= row.keys() for row in rows)
