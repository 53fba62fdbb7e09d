"""Embedding in several passes, where the columns do not fit in memory at once."""

import json
import subprocess

import pytest
from conftest import PROGRAM, data_hashes


def rmat_flags(coden, tmp_path, *sizes):
    """Generate a graph with 48 feature columns; the flags that take it as input."""
    data = tmp_path / "rmat"
    assert coden("generate", "rmat", "--out", data, *sizes, "--features", "48").code == 0
    edges, features = data / "edges.parquet", data / "features.parquet"
    return ["--input.edges", edges, "--input.features", features]


@pytest.fixture
def tight(coden, tmp_path):
    """Flags of an embedding of 48 columns, and a limit that does not hold them at once."""
    flags = rmat_flags(coden, tmp_path, "--scale", "12", "--edges", "30000")
    flags += ["--partition.predictions", "4", "--embed.epsilon", "1e-4"]
    needs = plan_needs(coden, flags)
    assert needs["passes"] == 1
    # 16 columns take half a megabyte, so a megabyte less is too little for all of them and
    # enough for some.
    return flags, limit_below(needs)


def plan_needs(coden, flags):
    plan = coden("plan", *flags, "--format", "json")
    assert plan.code == 0, plan.stderr
    return json.loads(plan.stdout)["needs"]


def limit_below(needs):
    """A limit that is just too small for all columns at once."""
    return f"{-(-needs['memory_bytes'] // 1_000_000) - 1}MB"


def test_a_memory_limit_takes_more_passes_and_changes_nothing(coden, tight, tmp_path):
    flags, limit = tight
    limited = [*flags, "--run.memory_limit", limit]
    needs = plan_needs(coden, limited)
    assert needs["passes"] in (2, 3)
    assert needs["columns_per_pass"] in (16, 32)
    assert needs["memory_bytes"] <= int(limit.removesuffix("MB")) * 1_000_000
    assert needs["temporary_disk_bytes"] > 0
    whole, passes = tmp_path / "whole", tmp_path / "passes"
    assert coden("embed", *flags, "--run.directory", whole).code == 0
    outcome = coden("embed", *limited, "--run.directory", passes)
    assert outcome.code == 0, outcome.stderr
    last = needs["passes"]
    assert f"embed {last}/{last}: done" in outcome.stderr
    assert data_hashes(passes) == data_hashes(whole)
    assert not list((passes / "_coden/stage").iterdir())


def test_a_killed_run_keeps_the_slices_it_has_finished(coden, tight, tmp_path):
    flags, limit = tight
    run = tmp_path / "killed"
    arguments = ["embed", *flags, "--run.memory_limit", limit, "--run.directory", run]
    process = subprocess.Popen([PROGRAM, *map(str, arguments)], stderr=subprocess.PIPE, text=True)
    for line in process.stderr:
        if " embed 2/" in line:
            break
    process.kill()
    process.communicate(timeout=20)
    assert len(list(run.glob("_coden/slices/*/*.json"))) == 1
    again = coden("embed", *flags, "--run.memory_limit", limit, "--run.directory", run)
    assert again.code == 0, again.stderr
    assert "embed 1/" not in again.stderr and "embed 2/" in again.stderr
    assert not (run / "_coden/slices").exists()
    assert not list((run / "_coden/stage").iterdir())


@pytest.mark.slow
def test_passes_cut_large_snapshots_alike(coden, tmp_path):
    """A snapshot that leaves the embedding in several batches has the same bytes, too."""
    flags = rmat_flags(coden, tmp_path, "--scale", "18", "--edges", "400000")
    flags += ["--partition.predictions", "1", "--embed.epsilon", "1e-2"]
    flags += ["--sample.max_per_interval", "1"]
    hashes = []
    limit = limit_below(plan_needs(coden, flags))
    for name, memory in {"whole": "0", "passes": limit}.items():
        run = ["--run.directory", tmp_path / name, "--run.memory_limit", memory]
        outcome = coden("embed", *flags, *run)
        assert outcome.code == 0, outcome.stderr
        hashes.append(data_hashes(tmp_path / name))
    assert "embed 2/2: done" in outcome.stderr
    assert hashes[0] == hashes[1]
