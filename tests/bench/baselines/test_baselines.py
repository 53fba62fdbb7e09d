"""Baselines learn, do not see the future and repeat; their operators are what the papers say."""

import dataclasses
import importlib
import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import scipy.sparse as sp  # noqa: E402
from baselines.appnp import ALPHA, STEPS, propagate  # noqa: E402
from baselines.gcn import Gcn  # noqa: E402
from baselines.learning import Options  # noqa: E402
from baselines.models import BASELINES, BY_NAME  # noqa: E402
from baselines.task import Features, Log, Task, scaled  # noqa: E402
from controls import Pairs  # noqa: E402
from training_run import DATA, PROGRAM, ROOT  # noqa: E402

NODES, CLASSES, TIMES = 120, 3, (5, 7, 9)
HAS_PYG = importlib.util.find_spec("torch_geometric") is not None
NEEDS_PYG = pytest.mark.skipif(not HAS_PYG, reason="torch_geometric is not installed")
ALL = [
    pytest.param(one, id=one.name, marks=[NEEDS_PYG] if one.name == "tgn" else [])
    for one in BASELINES
]
OF_SNAPSHOTS = [one for one in BASELINES if one.name != "tgn"]
SMALL = {"hidden": 16, "scaling": "raw", "rate": 1e-2, "dropout": 0.2}
SMALL |= {"epochs": 20, "warm_epochs": 5, "patience": 20}


@pytest.fixture(autouse=True)
def one_thread():
    """More of them only wait for each other where the work is small."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def identity(node):
    """Ids are sparse and not in order of arrival."""
    return 7 * ((np.asarray(node) * 11) % NODES)


def make_log(seed=1):
    """Most edges are within a class; with loops, repeats and both directions."""
    random = np.random.default_rng(seed)
    src = random.integers(0, NODES, 900)
    dst = random.integers(0, NODES // CLASSES, 900) * CLASSES + src % CLASSES
    dst = np.where(random.random(900) < 0.1, random.integers(0, NODES, 900), dst)
    src[:20], dst[:20] = dst[20:40], src[20:40]
    time = np.sort(random.integers(0, 12, 900))
    # Some nodes come late.
    late = (src >= 90) | (dst >= 90)
    keep = ~(late & (time < 7))
    return Log(identity(src[keep]), identity(dst[keep]), time[keep])


def make_task(log, scaling="raw"):
    random = np.random.default_rng(2)
    node = np.arange(NODES)
    split = random.choice(["train", "validate", "test"], NODES, p=[0.5, 0.2, 0.3])
    x = random.normal(size=(NODES, 8)).astype(np.float32)
    x[node, node % CLASSES] += 1.5
    x[::5] = 0.0
    first = np.full(NODES, 99)
    for ends in (log.src, log.dst):
        np.minimum.at(first, np.searchsorted(np.sort(identity(node)), ends), log.time)
    ids = identity(node)
    first = first[np.searchsorted(np.sort(ids), ids)]
    rows = [
        (0, ids[i], time, 10 + i % CLASSES, split[i], bool(first[i] <= time))
        for i in node
        for time in TIMES
    ]
    pairs = Pairs(*(np.array(column) for column in zip(*rows, strict=True)))
    return Task(pairs, log, Features(ids, x), scaling)


def train(baseline, log, seed=3):
    more = {"batch": 100, "memory": 16} if baseline.name == "tgn" else {}
    return baseline.train(make_task(log), baseline.options(**SMALL, **more), seed)


def changed_after(log, time):
    """Other partners for every later event, and fewer of them."""
    later = log.time > time
    random = np.random.default_rng(5)
    dst = np.where(later, identity(random.integers(0, NODES, len(log.dst))), log.dst)
    keep = ~later | (random.random(len(dst)) < 0.7)
    return Log(log.src[keep], dst[keep], log.time[keep])


@pytest.mark.parametrize("baseline", ALL)
def test_learns(baseline):
    log = make_log()
    outcome = train(baseline, log)
    first = outcome.losses[0]
    assert np.mean(first[-3:]) < 0.9 * np.mean(first[:3])
    scores = make_task(log).micro_f1(outcome.codes)
    assert scores.shape == (len(TIMES),)
    assert scores.min() > 0.6, "chance is a third"


@pytest.mark.parametrize("baseline", ALL)
def test_repeats(baseline):
    log = make_log()
    one, again, other = (train(baseline, log, seed) for seed in (3, 3, 4))
    assert one.losses == again.losses and one.validation == again.validation
    assert all(torch.equal(*both) for both in zip(one.codes, again.codes, strict=True))
    assert one.losses != other.losses


@pytest.mark.parametrize("baseline", ALL)
def test_does_not_see_the_future(baseline):
    """Weights included: all of the training up to t_1 is the same."""
    log = make_log()
    baseline = dataclasses.replace(baseline, settings={**baseline.settings, "regime": "each"})
    one, other = train(baseline, log), train(baseline, changed_after(log, TIMES[1]))
    for k in range(2):
        assert one.losses[k] == other.losses[k] and one.validation[k] == other.validation[k]
        assert torch.equal(one.codes[k], other.codes[k])
    assert one.losses[2] != other.losses[2], "the change is large enough to be seen"


@pytest.mark.parametrize("baseline", OF_SNAPSHOTS, ids=lambda one: one.name)
def test_output_depends_on_earlier_snapshots_only(baseline):
    """Given the weights, for all times in one pass."""
    options = baseline.options(**SMALL)
    logits = []
    for log in (make_log(), changed_after(make_log(), TIMES[1])):
        torch.manual_seed(6)
        task = make_task(log)
        module = importlib.import_module(f"baselines.{baseline.module}")
        model = getattr(module, baseline.kind)(task.x.shape[1], CLASSES, options).eval()
        every = torch.arange(task.counts[-1])
        together = model(task.snapshots, range(len(TIMES)), every)
        logits.append(together)
        alone = model(task.snapshots[:2], [1], every[: task.counts[1]])[0]
        assert torch.allclose(alone, together[1], atol=1e-6)
    assert all(torch.equal(logits[0][k], logits[1][k]) for k in range(2))
    assert not torch.equal(logits[0][2], logits[1][2]), "the change is large enough to be seen"


def dense_adjacency(task, log, time):
    place = {int(node): i for i, node in enumerate(task.ids)}
    count = task.counts[TIMES.index(time)]
    graph = sp.dok_array((count, count))
    for src, dst, when in zip(log.src, log.dst, log.time, strict=True):
        if when <= time and src != dst:
            graph[place[int(src)], place[int(dst)]] = graph[place[int(dst)], place[int(src)]] = 1.0
    return graph.toarray()


@pytest.mark.parametrize("k", range(len(TIMES)))
def test_operators_are_those_of_scipy(k):
    log = make_log()
    task = make_task(log)
    graph = dense_adjacency(task, log, TIMES[k])
    looped = graph + np.eye(len(graph))
    # The normalised Laplacian of scipy is I - D^(-1/2) A D^(-1/2); it drops loops of its input,
    # so D of the looped graph is put in by hand.
    laplacian = sp.csgraph.laplacian(graph)
    degrees = np.diag(laplacian) + 1
    want = looped / np.sqrt(np.outer(degrees, degrees))
    snapshot = task.snapshots[k]
    x = snapshot.x
    assert torch.allclose(snapshot.normalised(x), torch.from_numpy(want).float() @ x, atol=1e-5)
    rows = np.maximum(graph.sum(axis=1, keepdims=True), 1.0)
    want_mean = torch.from_numpy(graph / rows).float()
    assert torch.allclose(snapshot.mean(x), want_mean @ x, atol=1e-5)

    # APPNP: a finite sum of powers, and near the solution of the equations.
    h, power, total = x.double().numpy(), x.double().numpy(), 0.0
    for step in range(STEPS):
        total = total + ALPHA * (1 - ALPHA) ** step * power
        power = want @ power
    total = total + (1 - ALPHA) ** STEPS * power
    z = propagate(snapshot.normalised, x).numpy()
    assert np.allclose(z, total, atol=1e-4)
    exact = ALPHA * np.linalg.solve(np.eye(len(want)) - (1 - ALPHA) * want, h)
    assert np.abs(z - exact).max() < (1 - ALPHA) ** STEPS * 4 * np.abs(h).max()

    # Gradients, of an operator that is not symmetric.
    inputs = x.clone().requires_grad_()
    weights = torch.from_numpy(np.random.default_rng(8).normal(size=x.shape)).float()
    (snapshot.mean(inputs) * weights).sum().backward()
    assert torch.allclose(inputs.grad, want_mean.T @ weights, atol=1e-5)


@NEEDS_PYG
def test_gcn_is_that_of_torch_geometric():
    from torch_geometric.nn import GCNConv

    task = make_task(make_log())
    snapshot = task.snapshots[-1]
    ours = Gcn(8, CLASSES, Options(hidden=16)).eval()
    first, second = GCNConv(8, 16), GCNConv(16, CLASSES)
    first.lin.weight, first.bias = ours.first.weight, ours.first.bias
    second.lin.weight, second.bias = ours.second.weight, ours.bias
    edges = torch.from_numpy(np.vstack(snapshot.adjacency.nonzero())).long()
    theirs = second(first(snapshot.x, edges).relu(), edges)
    assert torch.allclose(ours.classify(snapshot), theirs, atol=1e-5)


def test_task_is_that_of_the_pairs():
    log = make_log()
    task = make_task(log)
    present = [int(task.pairs.present[task.pairs.time == time].sum()) for time in TIMES]
    assert task.counts == present and present[0] < present[1]
    perfect = [task.labels[:count] for count in task.counts]
    assert (task.micro_f1(perfect) == 1.0).all()
    wrong = [(labels + 1) % CLASSES for labels in perfect]
    assert (task.micro_f1(wrong) == 0.0).all()
    assert sum(len(nodes) for nodes in task.nodes.values()) == task.counts[-1]
    for k, count in enumerate(task.counts):
        assert task.snapshots[k].num_nodes == count
        assert (task.nodes_at("train", k) < count).all()


def test_scaling_leaves_empty_rows():
    x = np.array([[3.0, 4.0], [0.0, 0.0], [1.0, 0.0], [9.0, 9.0]])
    assert np.allclose(scaled(x, "row", 3)[:3], [[0.6, 0.8], [0, 0], [1, 0]])
    columns = scaled(x, "column", 3)
    assert np.allclose(columns[:3], [[1, 1], [0, 0], [-1, -1]])
    assert np.allclose(columns[3], [7, 3.5]), "scaled as those that are known"


@pytest.mark.skipif(
    not (DATA / "patent_small/edges.parquet").exists(), reason="patent_small is not there"
)
@pytest.mark.skipif(not PROGRAM.exists(), reason=f"{PROGRAM} is not there")
def test_table_of_a_small_set(tmp_path):
    def table(*models):
        command = [sys.executable, ROOT / "tests/bench/baselines/run.py", "--quick"]
        command += ["--set", "patent_small", "--data", DATA, "--out", tmp_path, "--models"]
        done = subprocess.run([*command, *models], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert (tmp_path / "baselines-patent_small.md").read_text() in done.stdout
        return done.stdout

    models = ["gcn", "coden-s"]
    text = table(*models)
    assert "| GCN " in text and "| coden-s " in text
    paths = [tmp_path / "patent_small" / name for name in ("gcn-seed2.json", "ours-coden-s.json")]
    scores = [
        json.loads(paths[0].read_text())["figures"]["micro_f1"],
        json.loads(paths[1].read_text())["micro_f1"][0],
    ]
    assert all(len(one) == 8 and 0.2 < min(one) <= max(one) < 0.95 for one in scores)
    times = [path.stat().st_mtime_ns for path in paths]
    assert "| APPNP " in table(*models, "appnp")
    assert times == [path.stat().st_mtime_ns for path in paths], "finished rows are kept"


def test_names_are_unique():
    assert len(BY_NAME) == len(BASELINES)
