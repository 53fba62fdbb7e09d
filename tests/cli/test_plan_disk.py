"""The plan says how much disk a run will take, within a fifth."""

import json
import pathlib
import subprocess

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from conftest import needs_data

VARIANTS = {
    "default": [],
    "float16": ["--snapshot.precision", "float16"],
    "uncompressed": ["--snapshot.compression", "none"],
    "columns": ["--snapshot.layout", "columns"],
}


def said(coden, *flags):
    plan = coden("plan", *flags, "--format", "json")
    assert plan.code == 0, plan.stderr
    needs = json.loads(plan.stdout)["needs"]
    return needs["disk_is_upper_bound"], needs["disk_bytes"]


def written(coden, run, *flags):
    outcome = coden("embed", *flags, "--run.directory", run)
    assert outcome.code == 0, outcome.stderr
    folders = [pathlib.Path(run) / name for name in ["snapshots", "state"]]
    files = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    return sum(path.stat().st_size for path in files)


def check(coden, run, pipeline, *flags):
    flags = [f"pipelines/{pipeline}.ini", "--sample.max_per_interval", "1", *flags]
    upper_bound, estimate = said(coden, *flags, "--run.directory", run)
    assert not upper_bound
    assert estimate == pytest.approx(written(coden, run, *flags), rel=0.2)


# Named outright: a pipeline file may ask for labelled nodes itself.
ALL, LABELLED = ["--snapshot.nodes", "all"], ["--snapshot.nodes", "labelled"]


@needs_data("git_postgres")
@pytest.mark.parametrize("variant", VARIANTS)
def test_git_postgres(coden, tmp_path, variant):
    check(coden, tmp_path / "run", "git_postgres", *ALL, *VARIANTS[variant])


@needs_data("git_postgres")
def test_labelled_nodes(coden, tmp_path):
    check(coden, tmp_path / "run", "git_postgres", *LABELLED)


@needs_data("patent_small")
@pytest.mark.parametrize("variant", VARIANTS)
def test_patent_small(coden, tmp_path, variant):
    check(coden, tmp_path / "run", "patent_small", *ALL, *VARIANTS[variant])


@needs_data("dblp")
@needs_data("git_rust")
@pytest.mark.slow
@pytest.mark.parametrize("pipeline", ["dblp", "git_rust"])
def test_larger_data(coden, tmp_path, pipeline):
    check(coden, tmp_path / "run", pipeline, *ALL)


@needs_data("git_postgres")
def test_deltas_take_no_more_than_is_said(coden, tmp_path):
    flags = ["pipelines/git_postgres.ini", "--sample.max_per_interval", "1"]
    flags += ["--snapshot.mode", "delta"]
    upper_bound, estimate = said(coden, *flags, "--run.directory", tmp_path / "run")
    assert upper_bound
    assert written(coden, tmp_path / "run", *flags) <= estimate


@pytest.fixture
def small_disk(tmp_path):
    """Mount a file system of so many bytes in memory."""
    place = tmp_path / "disk"
    place.mkdir()

    def mount(size):
        command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", place]
        if subprocess.run(command, capture_output=True).returncode != 0:
            pytest.skip("cannot mount a small tmpfs here")
        return place

    yield mount
    subprocess.run(["umount", place], capture_output=True)


@pytest.fixture
def sparse(tmp_path):
    """A log whose features are almost all zeros, so that its snapshots compress well."""
    random = np.random.default_rng(3)
    src, dst = random.integers(0, 40, 4000), random.integers(0, 40, 4000)
    far = np.arange(40, 3000)
    edges = {"src": [*src, *far[:-1]], "dst": [*dst, *far[1:]], "time": np.arange(4000 + 2959)}
    numbers = np.zeros((3000, 64), dtype="float32")
    numbers[:40] = random.normal(size=(40, 64))
    features = pa.array(list(numbers)).cast(pa.list_(pa.float32()))
    pq.write_table(pa.table(edges), tmp_path / "edges.parquet")
    pq.write_table(pa.table({"node": np.arange(3000), "x": features}), tmp_path / "x.parquet")
    flags = [
        "--input.edges",
        tmp_path / "edges.parquet",
        "--input.features",
        tmp_path / "x.parquet",
    ]
    return [*flags, "--sample.max_per_interval", "1", "--partition.predictions", "20"]


def test_what_fits_on_the_disk_is_not_refused(coden, sparse, small_disk, tmp_path):
    """Though it would not fit if nothing could be compressed."""
    _, estimate = said(coden, *sparse, "--run.directory", tmp_path / "run")
    uncompressed = sum(
        row["num_nodes"] * 64 * 4
        for row in pq.read_table(run_of(coden, tmp_path / "run", *sparse)).to_pylist()
    )
    room = int(1.5 * estimate) + 200_000
    assert room < uncompressed / 2
    run = small_disk(room) / "run"
    assert said(coden, *sparse, "--run.directory", run)[1] == estimate
    assert written(coden, run, *sparse) <= room


def run_of(coden, run, *flags):
    written(coden, run, *flags)
    return run / "schedule.parquet"


def test_plan_and_run_refuse_the_same_disk(coden, sparse, small_disk):
    run = small_disk("64k") / "run"
    plan = coden("plan", *sparse, "--run.directory", run)
    outcome = coden("embed", *sparse, "--run.directory", run)
    assert (plan.code, outcome.code) == (4, 4)
    assert plan.error == f"the run would stop: {outcome.error}"
    assert "on disk; free some" in plan.error and not list(run.glob("snapshots/*"))
