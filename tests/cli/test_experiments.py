"""Suites of experiments: what they measure, what they share, and going on after a kill."""

import json
import pathlib
import shutil
import signal
import subprocess
import time

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from conftest import PROGRAM, ROOT, wait_for_commits

USAGE, INPUT = 2, 3
SMALL = ["--train.hidden", "8", "--train.batch", "16", "--partition.predictions", "3"]
MODELS = ["coden", "coden-s", "coden-r", "coden-a"]


@pytest.fixture
def suite(coden, inputs, tmp_path):
    """Run a suite and return its table; `folder` is where it works."""

    def call(name, *flags, code=0):
        words = inputs.flags(*SMALL, *flags, "--format", "json")
        outcome = coden("experiment", name, *words, "--experiment.directory", call.folder)
        assert outcome.code == code, outcome.stderr
        call.outcome = outcome
        return json.loads(outcome.stdout)[name] if code == 0 else outcome.error

    call.folder = tmp_path / "experiments"
    return call


def cells_of(folder, name):
    return pq.read_table(folder / f"{name}.parquet").to_pylist()


def values(rows, quantity, **where):
    return [
        row["value"]
        for row in rows
        if row["quantity"] == quantity and all(row[key] == value for key, value in where.items())
    ]


def test_cells_share_one_embedding_and_have_their_settings(suite):
    table = suite("ablation", "--train.runs", "2")
    assert [row["model"] for row in table] == MODELS
    assert len(list((suite.folder / "runs").iterdir())) == 1
    rows = cells_of(suite.folder, "ablation")
    assert {row["cell"] for row in rows} == set(MODELS)
    for row in rows:
        settings = dict(row["settings"])
        assert settings["train.model"] == row["cell"]
        assert settings["train.hidden"] == "8"
    for cell in table:
        scores = values(rows, "micro_f1", cell=cell["model"])
        by_run = np.reshape(scores, (2, 3)).mean(axis=1)
        assert cell["micro_f1"] == pytest.approx(by_run.mean())
        assert cell["deviation"] == pytest.approx(by_run.std(ddof=1))
        best = np.reshape(scores, (2, 3)).max(axis=1).mean()
        assert cell["best"] == pytest.approx(best)
        assert values(rows, "train_peak_bytes", cell=cell["model"])[0] > 1e7
    page = (suite.folder / "ablation.html").read_text()
    assert "coden experiment ablation" in page and "coden-r" in page


def test_finished_cells_are_known_to_every_suite(suite):
    suite("ablation")
    run = next((suite.folder / "runs").iterdir())
    before = sorted((path, path.stat().st_mtime_ns) for path in run.rglob("*"))
    energy = suite("energy")
    accuracy = suite("accuracy")
    assert before == sorted((path, path.stat().st_mtime_ns) for path in run.rglob("*"))
    assert [row["model"] for row in energy] == MODELS
    assert len(accuracy) == 1 and "epochs" not in suite.outcome.stderr


def test_csv_is_a_form_of_the_suite_and_not_of_its_cells(coden, inputs, tmp_path):
    flags = inputs.flags(*SMALL, "--report.format", "csv", "--table", "accuracy")
    flags += ["--experiment.directory", tmp_path / "experiments"]
    outcome = coden("experiment", "accuracy", *flags)
    assert outcome.code == 0, outcome.stderr
    assert outcome.stdout.startswith("model,") and len(outcome.stdout.splitlines()) == 2


def test_another_log_is_measured_anew(suite, inputs):
    first = suite("accuracy")
    inputs["labels"] = inputs["labels"].set_column(
        1, "label", [(np.arange(50) // 17).astype("int64")]
    )
    second = suite("accuracy")
    assert first[0]["micro_f1"] != second[0]["micro_f1"]


def ends_within(process, seconds):
    for _ in range(int(seconds / 0.05)):
        try:
            state = pathlib.Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
        except FileNotFoundError:
            return True
        if state == "Z":  # nobody has asked for it yet
            return True
        time.sleep(0.05)
    return False


def test_a_killed_suite_goes_on(coden, suite, inputs, tmp_path):
    flags = ["--train.epochs", "60", "--train.patience", "0", "--run.commit_interval", "0"]
    whole = suite("ablation", *flags)
    suite.folder = tmp_path / "killed"
    words = ["experiment", "ablation", *inputs.flags(*SMALL, *flags)]
    for cell in (2, 3):
        process = subprocess.Popen(
            [PROGRAM, *words, "--experiment.directory", suite.folder],
            stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True, cwd=ROOT,
        )  # fmt: skip
        lines = iter(process.stderr)
        assert any(f"cell {cell} of 4" in line for line in lines)
        assert wait_for_commits(process, suite.folder, 4)
        child = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text()
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stderr.close()
        # The process of the cell must not go on writing.
        assert child and ends_within(child.split()[0], seconds=5)
    assert len(list((suite.folder / "cells").glob("train-*.json"))) == 2
    went_on = suite("ablation", *flags)
    for before, after in zip(whole, went_on, strict=True):
        assert after["micro_f1"] == before["micro_f1"]
    # Their times are of the rest alone, and the table says so.
    assert [row["model"] for row in went_on] == ["coden", "coden-s *", "coden-r *", "coden-a"]


def test_an_interrupt_ends_the_cell_too(suite, inputs):
    words = ["experiment", "accuracy", *inputs.flags(*SMALL, "--train.epochs", "100000")]
    process = subprocess.Popen(
        [PROGRAM, *words, "--train.patience", "0", "--experiment.directory", suite.folder],
        stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True, cwd=ROOT,
    )  # fmt: skip
    for line in process.stderr:
        if "epochs" in line:
            process.terminate()
            break
    assert "interrupted" in process.stderr.read().splitlines()[-1]
    process.stderr.close()
    assert process.wait() == 143


def test_sweeps_vary_one_setting(suite):
    table = suite("lambda", "--experiment.values", "0.05, 1", "--sample.lambda", "0.3")
    assert [row["lambda"] for row in table] == ["0.05", "1"]
    assert table[0]["snapshots"] > table[1]["snapshots"]
    assert len(list((suite.folder / "runs").iterdir())) == 2
    table = suite("states", "--experiment.values", "2,4")
    assert [row["states"] for row in table] == ["2", "4"]
    usual = suite("lambda", "--sample.lambda", "0.4", "--train.epochs", "1")
    assert [row["lambda"] for row in usual] == ["0.1", "0.2", "0.4", "0.8", "1.6"]


class Replay:
    """The edges of a log at the prediction times, by a set and nothing else."""

    def __init__(self, path, events, directed):
        table = pq.read_table(path)
        ops = table["op"].to_pylist() if events == "signed" else [1] * len(table)
        times = table["time"].cast(pa.int64()).to_pylist()
        ends = [table[name].to_pylist() for name in ("src", "dst")]
        self.rows = list(zip(*ends, times, ops, strict=True))
        self.directed = directed

    def at(self, time):
        edges = set()
        for src, dst, when, op in self.rows:
            edge = (src, dst) if self.directed else (min(src, dst), max(src, dst))
            if when > time or src == dst:
                continue
            if op > 0:
                edges.add(edge)
            else:
                edges.remove(edge)
        return edges


def prediction_times(rows, cell):
    times = {r["prediction"]: r["time"] for r in rows if r["cell"] == cell and r["prediction"]}
    return [times[k] for k in sorted(times)]


def as_strings(column):
    return column.cast(pa.string())


def as_stamps(column):
    """Months of nanoseconds apart: more than a double can tell."""
    return pc.multiply(column, 86400 * 10**9).cast(pa.timestamp("ns"))


@pytest.mark.parametrize("kind", ["plain", "directed", "strings", "stamps"])
def test_patterns_are_the_log_in_another_order(suite, inputs, kind):
    edges = inputs["edges"]
    flags = ["--train.epochs", "1"]
    if kind == "directed":
        flags += ["--graph.directed", "true"]
    if kind == "strings":
        for name in ("src", "dst"):
            column = edges.schema.get_field_index(name)
            edges = edges.set_column(column, name, as_strings(edges[name]))
        for table in ("features", "labels"):
            strings = as_strings(inputs[table]["node"])
            inputs[table] = inputs[table].set_column(0, "node", strings)
    if kind == "stamps":
        edges = edges.set_column(2, "time", as_stamps(edges["time"]))
        stamps = pa.array([0] * 50, pa.timestamp("ns"))
        inputs["labels"] = inputs["labels"].append_column("time", stamps)
    inputs["edges"] = edges
    table = suite("patterns", *flags)
    assert [row["pattern"] for row in table] == ["inclined", "declined", "balanced"]
    rows = cells_of(suite.folder, "patterns")
    times = prediction_times(rows, "inclined")
    assert times == prediction_times(rows, "declined") == prediction_times(rows, "balanced")
    original = Replay(inputs.path("edges"), "insert", kind == "directed")
    # `partition.initial` is half of the rows
    start = edges["time"].cast(pa.int64()).to_pylist()[299]
    times = [start, *times]
    graphs = [original.at(t) for t in times]
    declined = Replay(suite.folder / "logs" / "declined.parquet", "signed", kind == "directed")
    assert [declined.at(t) for t in times] == graphs[::-1]
    balanced = Replay(suite.folder / "logs" / "balanced.parquet", "signed", kind == "directed")
    batches = [graphs[k + 1] - graphs[k] for k in range(len(graphs) - 1)]
    for graph in (balanced.at(t) for t in times):
        inside = [batch for batch in batches if batch <= graph]
        assert graph == graphs[0].union(*inside) and len(inside) == len(batches) // 2


@pytest.mark.parametrize("events", ["toggle", "signed"])
def test_a_log_with_deletions_declines_to_its_start(suite, inputs, events):
    edges = inputs["edges"]
    ends = [edges[name].to_pylist() for name in ("src", "dst")]
    pairs = [tuple(sorted(pair)) for pair in zip(*ends, strict=True)]
    graphs, ops, present = [], [], set()
    for src, dst in pairs:
        if src == dst:
            ops.append(1)
        else:
            ops.append(-1 if (src, dst) in present else 1)
            present ^= {(src, dst)}
        graphs.append(set(present))
    inputs["edges"] = edges.append_column("op", pa.array(ops, pa.int8()))
    values = ["--experiment.values", "declined", "--train.epochs", "1"]
    suite("patterns", "--graph.events", events, *values)
    rows = cells_of(suite.folder, "patterns")
    times = prediction_times(rows, "declined")
    ends = [299, *(edges["time"].to_pylist().index(t) + 2 for t in times)]
    declined = Replay(suite.folder / "logs" / "declined.parquet", "signed", False)
    start = edges["time"].to_pylist()[299]
    found = [declined.at(t) for t in (start, *times)]
    assert found == [graphs[end] for end in ends][::-1]


def dense_graph(inputs, nodes, time):
    edges = inputs["edges"].to_pandas()
    edges = edges[(edges.time <= time) & (edges.src != edges.dst)]
    graph = np.zeros((nodes, nodes))
    graph[edges.src, edges.dst] = graph[edges.dst, edges.src] = 1.0
    return graph


def snapshots(folder):
    run = next((folder / "runs").iterdir())
    schedule = pq.read_table(run / "schedule.parquet").to_pylist()
    for point in schedule:
        path = run / "snapshots" / f"snapshot={point['snapshot']:06d}" / "part-0.parquet"
        rows = pq.read_table(path)
        yield point, rows["node"].to_numpy(), np.stack(rows["embedding"].to_numpy())


@pytest.mark.parametrize("propagation", ["mass", "average", "symmetric"])
def test_errors_are_those_of_a_dense_solution(suite, inputs, propagation):
    table = suite("error", "--embed.propagation", propagation, "--embed.epsilon", "1e-4")
    for row in table:
        sure = row["comparison"].startswith("error") or "strict" in row["comparison"]
        assert not sure or row["within"] == row["snapshots"], row
    rows = cells_of(suite.folder, "error")
    # The bound that the sampler goes by is measured once more on the way.
    for point, _, _ in snapshots(suite.folder):
        if point["snapshot"] > 0:
            found = values(rows, "sigma_relative", snapshot=point["snapshot"])[0]
            assert found == pytest.approx(point["sigma"], rel=1e-9)
    x = np.stack(inputs["features"]["x"].to_numpy(zero_copy_only=False)).astype(float)
    before = None
    for point, nodes, h in snapshots(suite.folder):
        if point["events"] % 3:
            continue  # between rows of one time
        graph = dense_graph(inputs, 50, point["time"])
        degrees = np.maximum(graph.sum(axis=0), 1.0)
        power = {"mass": (0, 1), "average": (1, 0), "symmetric": (0.5, 0.5)}[propagation]
        s = graph / degrees[:, None] ** power[0] / degrees[None, :] ** power[1]
        z = 0.2 * np.linalg.solve(np.eye(50) - 0.8 * s, x)
        error = np.abs(h - z[nodes]).sum(axis=0).max()
        found = values(rows, "true_error", snapshot=point["snapshot"])[0]
        assert found == pytest.approx(error, abs=2e-3 * 50 * 1e-4)  # of the budget
        if before is not None and before[0] == point["snapshot"] - 1:
            shift = np.abs(z - before[1]).sum(axis=0).max()
            found = values(rows, "true_shift", snapshot=point["snapshot"])[0]
            assert found == pytest.approx(shift, abs=2e-3 * 50 * 1e-4)
        before = point["snapshot"], z


def test_energy_is_that_of_the_definition(suite, inputs):
    suite("energy", "--experiment.values", "coden-s")
    rows = cells_of(suite.folder, "energy")
    seen = 0
    for point, nodes, h in snapshots(suite.folder):
        if not point["at_prediction"]:
            continue
        # What coden-s knows of a node is its row of the snapshot, as all models read it.
        m = np.zeros((50, h.shape[1]))
        m[nodes] = h / np.maximum(np.linalg.norm(h, axis=1, keepdims=True), 1e-12)
        graph = dense_graph(inputs, 50, point["time"])
        degrees = graph.sum(axis=0)
        scaled = m / np.sqrt(1.0 + degrees)[:, None]
        distances = ((scaled[:, None] - scaled[None]) ** 2).sum(axis=2)
        energy = 0.5 * (graph * distances).sum()
        found = values(rows, "dirichlet_energy", prediction=point["prediction"])[0]
        assert found == pytest.approx(energy, rel=1e-5)
        relative = energy / (m[degrees > 0] ** 2).sum()
        found = values(rows, "relative_energy", prediction=point["prediction"])[0]
        assert found == pytest.approx(relative, rel=1e-5)
        seen += 1
    assert seen == 3


def test_scaling_varies_rows_columns_threads_and_nodes(suite):
    table = suite("scaling", "--run.threads", "2")
    groups = [row["varied"] for row in table]
    assert groups.count("rows") == 4 and groups.count("threads") == 2
    assert groups.count("columns") == 4 and groups.count("nodes of a random graph") == 2
    for row in table:
        if row["varied"] == "rows":
            assert row["rows"] == pytest.approx(row["value"], abs=3)
        assert row["seconds"] > 0 and row["peak_bytes"] > 10e6
    assert not list((suite.folder / "scratch").glob("*"))


def test_refusals(suite, coden):
    assert "nearest is `ablation`" in suite("ablations", code=USAGE)
    assert "train.states" in suite("states", "--train.model", "coden-s", code=USAGE)
    assert "sample.lambda" in suite("lambda", "--experiment.values", "0.1,x", code=USAGE)
    assert "inclined, declined" in suite("patterns", "--experiment.values", "up", code=USAGE)
    for name in ("accuracy", "error", "scaling"):
        assert "experiment.values" in suite(name, "--experiment.values", "1", code=USAGE)
    assert "empty" in suite("lambda", "--experiment.values", "1,,2", code=USAGE)
    assert "twice" in suite("lambda", "--experiment.values", "1, 2,1", code=USAGE)
    assert "--force" in suite("error", "--force", code=USAGE)
    folder = suite.folder
    assert "needs a suite" in coden("experiment").error
    assert "input.labels" in suite("ablation", "--input.labels", "", code=USAGE)
    suite.folder = folder.with_suffix(".txt")
    suite.folder.write_text("a file")
    assert "`experiment.directory` is not a folder" in suite("error", code=USAGE)
    suite.folder = "s3://bucket/x"
    assert "local folder" in suite("error", code=USAGE)


def test_a_cell_that_fails_does_not_take_the_others_with_it(suite, coden, inputs):
    suite("lambda", "--experiment.values", "0.5, 3")
    for path in (suite.folder / "cells").iterdir():
        path.unlink()
    spoilt, _ = sorted((suite.folder / "runs").iterdir())
    shutil.rmtree(spoilt)
    spoilt.write_text("not a run")
    words = inputs.flags(*SMALL, "--experiment.values", "0.5, 3", "--format", "json")
    outcome = coden("experiment", "lambda", *words, "--experiment.directory", suite.folder)
    assert outcome.code == USAGE and "failed: " in outcome.error
    (row,) = json.loads(outcome.stdout)["lambda"]
    assert row["lambda"].removesuffix(" *") in ("0.5", "3")


def test_a_cell_that_fails_says_why(suite):
    error = suite("accuracy", "--train.split", "1, 0, 0", code=USAGE)
    assert "train.split" in error
