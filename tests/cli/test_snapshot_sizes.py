"""Snapshots in float16, and snapshots that hold only the rows that moved."""

import json
import signal
import subprocess
import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from conftest import data_hashes
from small_run import PROGRAM
from whole_snapshots import file_rows, schedule, snapshot_file, whole_snapshot

# Few edges in many small steps, so that most rows of a snapshot are those of the one before.
STEPS = ["--partition.predictions", "20", "--sample.max_per_interval", "1"]
DELTA = ["--snapshot.mode", "delta"]
HALF = ["--snapshot.precision", "float16"]


@pytest.fixture
def calm(inputs):
    """A log of pairs that know each other only: an edge moves two rows out of sixty."""
    random = np.random.default_rng(8)
    first = 2 * random.integers(0, 30, 200)
    inputs["edges"] = pa.table({"src": first, "dst": first + 1, "time": np.arange(200) // 2})
    values = random.normal(size=(60, 6)).astype("float32")
    inputs["features"] = pa.table(
        {"node": np.arange(60), "x": pa.array(list(values)).cast(pa.list_(pa.float32()))}
    )
    return inputs


def embed(coden, inputs, run, *flags):
    outcome = coden("embed", *inputs.flags("--run.directory", run, *flags))
    assert outcome.code == 0, outcome.stderr
    return schedule(run)


def expect_same_snapshots(one, other):
    count = schedule(one).num_rows
    assert schedule(other).num_rows == count > 10
    for number in range(count):
        mine, theirs = whole_snapshot(one, number), whole_snapshot(other, number)
        assert mine.keys() == theirs.keys(), number
        assert all(np.array_equal(mine[node], theirs[node]) for node in mine), number


def files_of(run, name="snapshots"):
    return {path: size for path, size in data_hashes(run).items() if path.startswith(name)}


@pytest.mark.parametrize("layout", ["list", "fixed", "columns"])
def test_float16_is_the_nearest_and_its_loss_is_in_the_bound(coden, inputs, layout, tmp_path):
    flags = ["--snapshot.layout", layout]
    exact = embed(coden, inputs, tmp_path / "exact", *flags)
    half = embed(coden, inputs, tmp_path / "half", *flags, *HALF)
    for number in range(exact.num_rows):
        numbers = np.array(list(file_rows(tmp_path / "exact", number).values()))
        rounded = np.array(list(file_rows(tmp_path / "half", number).values()))
        assert (numbers.dtype, rounded.dtype) == (np.float32, np.float16)
        assert np.array_equal(rounded, numbers.astype(np.float16))
        lost = np.abs(numbers.astype(np.float64) - rounded).sum(axis=0).max() / len(numbers)
        bounds = [table["error_bound"][number].as_py() for table in (exact, half)]
        assert lost > 1e-6 and bounds[1] == pytest.approx(bounds[0] + lost, rel=1e-9)


def test_numbers_above_float16_are_refused(coden, inputs):
    values = np.ones((50, 6), "float32")
    values[7, 3] = 1e7
    column = pa.array(list(values)).cast(pa.list_(pa.float32()))
    inputs["features"] = inputs["features"].set_column(1, "x", column)
    outcome = coden("embed", *inputs.flags(*HALF))
    assert outcome.code == 3
    assert "float16 holds numbers up to 65504; set `snapshot.precision = float32`: at " in (
        outcome.error
    )
    assert "snapshot 0 node " in outcome.error
    assert coden("embed", *inputs.flags("--force")).code == 0


@pytest.mark.parametrize("more", [[], HALF, ["--snapshot.nodes", "labelled"]])
@pytest.mark.parametrize("layout", ["list", "fixed", "columns"])
def test_deltas_put_together_are_the_full_snapshots(coden, calm, layout, more, tmp_path):
    calm["labels"] = calm["labels"].slice(10, 30)
    flags = [*STEPS, "--snapshot.layout", layout, *more]
    full = embed(coden, calm, tmp_path / "full", *flags)
    delta = embed(coden, calm, tmp_path / "delta", *flags, *DELTA)
    expect_same_snapshots(tmp_path / "delta", tmp_path / "full")
    assert delta["error_bound"].equals(full["error_bound"])
    numbers = list(range(full.num_rows))
    assert full["base"].to_pylist() == numbers
    bases = delta["base"].to_pylist()
    assert 1 < len(set(bases)) < len(numbers) / 2
    for number, base in enumerate(bases):
        files = [snapshot_file(tmp_path / run, number).metadata for run in ("full", "delta")]
        assert files[1].metadata[b"coden.base"] == str(base).encode()
        assert number - base < 16
        if number == base:
            assert files[1].num_rows == files[0].num_rows
        else:
            assert 2 * files[1].num_rows <= files[0].num_rows


def test_full_every_so_many(coden, calm, tmp_path):
    run = embed(coden, calm, tmp_path / "run", *STEPS, *DELTA, "--snapshot.full_every", "3")
    bases = run["base"].to_pylist()
    assert all(number - base < 3 for number, base in enumerate(bases))
    assert any(number - base == 2 for number, base in enumerate(bases))


def test_a_threshold_leaves_out_what_moved_little_and_says_so(coden, calm, tmp_path):
    # Pairs that meet and part move by all sorts of distances.
    flags = [*STEPS, "--graph.events", "toggle"]
    full = embed(coden, calm, tmp_path / "full", *flags)
    exact = embed(coden, calm, tmp_path / "exact", *flags, *DELTA)
    coarse = embed(coden, calm, tmp_path / "coarse", *flags, *DELTA, "--snapshot.threshold", "0.8")
    off = 0.0
    for number in range(full.num_rows):
        true, seen = (whole_snapshot(tmp_path / run, number) for run in ("full", "coarse"))
        assert true.keys() == seen.keys()
        moved = np.abs([np.subtract(true[node], seen[node], dtype=np.float64) for node in true])
        assert moved.max() <= 0.8
        bounds = [table["error_bound"][number].as_py() for table in (full, coarse)]
        added = moved.sum(axis=0).max() / len(true)
        assert bounds[1] == pytest.approx(bounds[0] + added, rel=1e-6)
        off = max(off, moved.max())
    assert off > 0.2
    assert exact["error_bound"].equals(full["error_bound"])


@pytest.mark.parametrize("more", [[], [*HALF, "--snapshot.threshold", "0.01"]])
def test_a_killed_run_goes_on_with_the_same_files(coden, calm, more, tmp_path):
    events = pa.concat_tables([calm["edges"]] * 3)
    times = pa.array(np.arange(events.num_rows) // 2)
    calm["edges"] = events.set_column(2, "time", times)
    flags = ["--graph.events", "toggle", "--partition.predictions", "50", *DELTA, *more]
    flags += [
        "--run.commit_interval",
        "0",
        "--snapshot.full_every",
        "7",
        "--sample.max_per_interval",
        "1",
    ]
    whole = tmp_path / "whole"
    bases = embed(coden, calm, whole, *flags)["base"].to_pylist()
    assert any(number != base for number, base in enumerate(bases))
    cut = tmp_path / "cut"
    arguments = ["embed", *calm.flags("--run.directory", cut, *flags)]
    stops, stopped_within = 0, 0
    for _ in range(4):
        process = subprocess.Popen([PROGRAM, *map(str, arguments)], stderr=subprocess.DEVNULL)
        before = committed(cut)
        while process.poll() is None and committed(cut) < before + 9 + 3 * stops:
            time.sleep(0.002)
        process.send_signal(signal.SIGKILL)
        process.wait()
        done = committed(cut)
        if done == len(bases):
            break
        stops += 1
        # The last one committed is not full: the next run has to read its base.
        stopped_within += bases[done - 1] != done - 1
    assert stops > 1 and stopped_within > 0
    assert coden(*arguments).code == 0
    for name in ["snapshots", "schedule.parquet"]:
        assert files_of(cut, name) == files_of(whole, name)


def committed(run):
    """How many snapshots the newest manifest names, also of a run that is being written."""
    while True:
        try:
            manifest = json.loads(max(run.glob("_coden/manifest-*.json")).read_text())
            break
        except FileNotFoundError:  # two commits later, the file is removed
            continue
        except ValueError:
            return 0
    files = [file["path"] for part in manifest["parts"] for file in part["files"]]
    return sum(path.startswith("snapshots/") for path in files)


def test_rows_added_to_the_log_lie_over_the_last_full_snapshot(coden, calm, tmp_path):
    events = calm["edges"]
    flags = ["--partition.width", "5", "--partition.initial", "20"]
    runs = {}
    for mode in ["full", "delta"]:
        calm["edges"] = events.slice(0, 120)
        more = [*flags, "--snapshot.mode", mode, "--snapshot.full_every", "100"]
        before = embed(coden, calm, tmp_path / mode, *more).num_rows
        calm["edges"] = events
        runs[mode] = embed(coden, calm, tmp_path / mode, *more)
        assert runs[mode].num_rows > before
    expect_same_snapshots(tmp_path / "delta", tmp_path / "full")
    bases = runs["delta"]["base"].to_pylist()
    assert any(base < before for base in bases[before:])


def test_passes_change_no_delta(coden, tmp_path):
    data = tmp_path / "rmat"
    sizes = ["--scale", "12", "--edges", "30000", "--features", "48"]
    assert coden("generate", "rmat", "--out", data, *sizes).code == 0
    flags = ["--input.edges", data / "edges.parquet"]
    flags += ["--input.features", data / "features.parquet"]
    flags += ["--partition.initial", "0.9", "--partition.predictions", "12"]
    flags += ["--embed.epsilon", "1e-4", *DELTA, *HALF, "--snapshot.threshold", "1e-3"]
    plan = coden("plan", *flags, "--format", "json")
    needs = json.loads(plan.stdout)["needs"]
    assert needs["disk_is_upper_bound"]
    limit = f"{-(-needs['memory_bytes'] // 1_000_000) - 1}MB"
    for name, memory in {"whole": "0", "passes": limit}.items():
        run = ["--run.directory", tmp_path / name, "--run.memory_limit", memory]
        outcome = coden("embed", *flags, *run)
        assert outcome.code == 0, outcome.stderr
    assert "embed 2/" in outcome.stderr
    for name in ["snapshots", "schedule.parquet"]:
        assert files_of(tmp_path / "passes", name) == files_of(tmp_path / "whole", name)
    bases = pq.read_table(tmp_path / "whole/schedule.parquet")["base"].to_pylist()
    assert len(set(bases)) < len(bases)


def test_training_reads_deltas_and_float16(coden, calm, tmp_path):
    found = {}
    for name, more in {"full": [], "delta": DELTA, "half": [*HALF, *DELTA]}.items():
        run = tmp_path / name
        outcome = coden("run", *calm.flags("--run.directory", run, *STEPS, *more))
        if "built without training" in outcome.stderr:
            pytest.skip("the program was built without training")
        assert outcome.code == 0, outcome.stderr
        found[name] = pq.read_table(run / "predictions.parquet")
    assert found["delta"].equals(found["full"])
    assert found["half"].num_rows == found["full"].num_rows
