"""The plan says how much disk a run will take, within a fifth."""

import json
import pathlib

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
