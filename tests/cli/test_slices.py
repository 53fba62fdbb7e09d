"""A run in slices of columns, as several processes make it."""

import concurrent.futures
import json
import subprocess
import time

import pytest
from conftest import PROGRAM, data_hashes

COLUMNS = 32


@pytest.fixture(scope="module")
def flags(coden, tmp_path_factory):
    data = tmp_path_factory.mktemp("rmat")
    sizes = ["--scale", 12, "--edges", 40000, "--features", COLUMNS]
    assert coden("generate", "rmat", "--out", data, *sizes).code == 0
    return [
        *("--input.edges", data / "edges.parquet"),
        *("--input.features", data / "features.parquet"),
        *("--partition.predictions", 3, "--sample.max_per_interval", 2),
    ]


@pytest.fixture(scope="module")
def whole(coden, flags, tmp_path_factory):
    run = tmp_path_factory.mktemp("whole") / "run"
    assert coden("embed", *flags, "--run.directory", run).code == 0
    return data_hashes(run)


def planned_slices(coden, flags, count):
    plan = coden("plan", *flags, "--slices", count, "--format", "json")
    assert plan.code == 0, plan.stderr
    return json.loads(plan.stdout)["slices"]


@pytest.mark.parametrize("count", [1, 2, 4, 8])
def test_slices_at_once_give_the_files_of_one_run(coden, flags, whole, tmp_path, count):
    flags = [*flags, "--run.directory", tmp_path / "run"]
    assert coden("schedule", *flags).code == 0
    slices = [row["columns"] for row in planned_slices(coden, flags, count)]
    assert len(slices) == count
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        outcomes = pool.map(lambda part: coden("embed", *flags, "--embed.columns", part), slices)
    assert [outcome.code for outcome in outcomes] == [0] * count
    committed = coden("commit", *flags)
    assert committed.code == 0, committed.stderr
    assert data_hashes(tmp_path / "run") == whole
    assert coden("verify", tmp_path / "run").code == 0
    assert not (tmp_path / "run/_coden/slices").exists()
    # What is done stays done.
    assert coden("commit", *flags).code == 0
    assert "unchanged, skipped" in coden("schedule", *flags).stderr


def test_a_killed_slice_is_made_again_and_a_finished_one_is_not(coden, flags, whole, tmp_path):
    run = tmp_path / "run"
    flags = [*flags, "--run.directory", run]
    assert coden("schedule", *flags).code == 0
    one, other = [row["columns"] for row in planned_slices(coden, flags, 2)]
    killed = subprocess.Popen(
        [PROGRAM, "embed", *map(str, flags), "--embed.columns", one], stderr=subprocess.DEVNULL
    )
    while not list(run.glob("_coden/slices/*/*/*/rows.arrows")):
        time.sleep(0.001)
        assert killed.poll() is None, "it was faster than we"
    killed.kill()
    killed.wait()
    refused = coden("commit", *flags)
    assert refused.code == 6 and refused.error.endswith(f": 0:{COLUMNS}")
    assert coden("embed", *flags, "--embed.columns", other).code == 0
    assert "is there already" in coden("embed", *flags, "--embed.columns", other).stderr
    assert coden("commit", *flags).error.endswith(f": {one}")
    assert coden("embed", *flags, "--embed.columns", one).code == 0
    assert coden("commit", *flags).code == 0
    assert data_hashes(run) == whole
    assert not (run / "_coden/slices").exists()


def test_a_slice_takes_only_the_memory_it_may(coden, flags, tmp_path):
    flags = [*flags, "--run.directory", tmp_path / "run"]
    assert coden("schedule", *flags).code == 0
    refused = coden("embed", *flags, "--embed.columns", "0:16", "--run.memory_limit", "100MB")
    assert refused.code == 4 and "of memory" in refused.error


def test_the_plan_adds_up(coden, flags):
    plan = coden("plan", *flags, "--slices", 4, "--format", "json")
    tables = json.loads(plan.stdout)
    steps = {row["step"]: row for row in tables["costs"]}
    assert [row["columns"] for row in tables["slices"]] == ["0:8", "8:16", "16:24", "24:32"]
    reads = sum(row["read_bytes"] for row in tables["slices"])
    assert steps["all, one after another"]["read_bytes"] <= reads + 10e6
    in_turn, at_once = steps["all, one after another"], steps["all, slices at once"]
    assert at_once["seconds"] < in_turn["seconds"]
    assert all(row["memory_bytes"] <= in_turn["memory_bytes"] for row in tables["slices"])


def test_a_log_that_is_elsewhere_can_be_planned(coden):
    size = ["--nodes", 111_000_000, "--edges", 1_600_000_000, "--columns", 128]
    plan = coden("plan", "--slices", 8, *size, "--snapshots", 20)
    assert plan.code == 0 and "0:16" in plan.stdout and "112:128" in plan.stdout
    labelled = ["--labelled", 1_500_000]
    steps = [
        json.loads(coden("plan", "--slices", 8, *size, *more, "--format", "json").stdout)["costs"]
        for more in (["--snapshots", 20], ["--snapshots", 20, *labelled])
    ]
    assert steps[1][-1]["write_bytes"] < steps[0][-1]["write_bytes"] / 5
    assert coden("plan", "--slices", 8, *labelled).code == 2
    refused = coden("plan", "--slices", 8, *size)
    assert refused.code == 2 and "takes all of" in refused.error
    assert coden("plan", "--slices", "none").code == 2


def test_a_slice_needs_no_log(coden, flags, whole, tmp_path):
    """The schedule leaves the history; slices, and whoever makes them, never see the log."""
    run = tmp_path / "run"
    flags = [*flags, "--run.directory", run]
    assert coden("schedule", *flags).code == 0
    elsewhere = [
        tmp_path / "gone.parquet" if str(f).endswith("edges.parquet") else f for f in flags
    ]
    for part in ("0:16", "16:32"):
        sliced = coden("embed", *elsewhere, "--embed.columns", part)
        assert sliced.code == 0, sliced.stderr
    assert coden("commit", *flags).code == 0
    assert data_hashes(run) == whole
