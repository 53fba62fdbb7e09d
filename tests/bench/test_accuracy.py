"""The accuracy table works on a small set, and its controls are right."""

import json
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from controls import ALPHA, Log, Pairs, majority, propagation
from training_run import DATA, PROGRAM, ROOT

NODES = 40
TIMES = (4, 9)


@pytest.fixture
def edges(tmp_path):
    """A log with repeated edges, both directions and loops; ids are sparse."""
    random = np.random.default_rng(4)
    src, dst = random.integers(0, NODES, (2, 60))
    loops = np.arange(0, NODES, 2)
    src, dst = (
        np.concatenate([ends, loops, *4 * [others[:10]]])
        for ends, others in ((src, dst), (dst, src))
    )
    time = random.integers(0, 11, len(src))
    order = np.argsort(time)
    path = tmp_path / "edges.parquet"
    columns = {"src": 7 * src, "dst": 7 * dst, "time": time}
    pq.write_table(pa.table({name: values[order] for name, values in columns.items()}), path)
    return path


@pytest.fixture
def pairs():
    random = np.random.default_rng(3)
    rows = []
    for run in range(2):
        split = random.choice(["train", "validate", "test"], NODES, p=[0.3, 0.2, 0.5])
        for node in range(NODES):
            for time in TIMES:
                present = bool(random.random() < 0.8)
                rows.append((run, 7 * node, time, 5 * (node % 3), split[node], present))
    return Pairs(*(np.array(column) for column in zip(*rows, strict=True)))


def dense_operator(log, time):
    graph = np.zeros((NODES, NODES))
    for src, dst, when in zip(*(log[name].to_pylist() for name in log.column_names), strict=True):
        if when <= time and src != dst:
            graph[src // 7, dst // 7] = graph[dst // 7, src // 7] = 1.0
    return graph / np.maximum(graph.sum(axis=0), 1.0)


def dense_propagation(operator, pairs, run, time):
    """[nodes, classes] by solving the equations."""
    x = np.zeros((NODES, 3))
    for i in range(len(pairs.run)):
        if (pairs.run[i], pairs.time[i], pairs.split[i]) == (run, time, "train"):
            x[pairs.node[i] // 7, pairs.label[i] // 5] = 1.0
    return ALPHA * np.linalg.solve(np.eye(NODES) - (1 - ALPHA) * operator, x)


def test_graph_has_every_edge_once(edges, pairs):
    table, log = pq.read_table(edges), Log(edges, pairs.node)
    for time in TIMES:
        assert np.allclose(log.operator(time).toarray(), dense_operator(table, time))


def test_propagation_is_the_solution(edges, pairs):
    predicted, usual = propagation(pairs, edges), majority(pairs)
    log = pq.read_table(edges)
    num_reached = 0
    for run in range(2):
        for time in TIMES:
            z = dense_propagation(dense_operator(log, time), pairs, run, time)
            here = np.flatnonzero((pairs.run == run) & (pairs.time == time))
            for i in here:
                mass = z[pairs.node[i] // 7]
                reached = mass.max() > 1e-12
                num_reached += reached
                assert predicted[i] == (5 * mass.argmax() if reached else usual[i])
    assert 0 < num_reached < len(predicted)


def test_scores_count_present_test_nodes(pairs):
    predicted = majority(pairs)
    for absent_too in (False, True):
        scores = pairs.micro_f1(predicted, absent_too)
        for run in range(2):
            for column, time in enumerate(TIMES):
                right = [
                    predicted[i] == pairs.label[i]
                    for i in range(len(predicted))
                    if (pairs.run[i], pairs.time[i], pairs.split[i]) == (run, time, "test")
                    and (pairs.present[i] or absent_too)
                ]
                assert scores[run, column] == pytest.approx(np.mean(right))


@pytest.mark.skipif(
    not (DATA / "patent_small/edges.parquet").exists(), reason="patent_small is not there"
)
@pytest.mark.skipif(not PROGRAM.exists(), reason=f"{PROGRAM} is not there")
def test_table_of_a_small_set(tmp_path):
    def table(*rows):
        command = [sys.executable, ROOT / "tests/bench/accuracy.py", "--quick", "--seeds", "1"]
        command += ["--epochs", "1", "--sets", "patent_small", "--data", DATA, "--out", tmp_path]
        done = subprocess.run([*command, "--rows", *rows], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return (tmp_path / "accuracy-patent_small.md").read_text()

    names = "propagation", "labels-coden-s"
    text = table(*names)
    assert "| label propagation " in text and "| coden-s, label columns - label prop" in text
    paths = [tmp_path / f"patent_small/each-{name}.json" for name in names]
    for path in paths:
        scores = np.array(json.loads(path.read_text())["micro_f1"])
        assert scores.shape == (1, 8)
        assert 0.4 < scores.min() <= scores.max() < 0.95
    times = [path.stat().st_mtime_ns for path in paths]
    assert "majority class" in table("majority", *names)
    assert times == [path.stat().st_mtime_ns for path in paths], "finished rows are kept"
