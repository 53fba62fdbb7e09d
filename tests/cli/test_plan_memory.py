"""The plan says how much memory a run takes: never less, and at most a quarter more.

With `graph.window` it may be half more: what a window holds is known, but not how much of it
has one edge.
"""

import json
import math

import pytest
from conftest import needs_data

MEGABYTE = 1_000_000
EPOCHS = ["--train.epochs", "2"]


def planned(coden, *flags, code=0, what="memory_bytes"):
    """MB that the plan says: by default those of the process at its peak."""
    plan = coden("plan", *flags, "--format", "json")
    assert plan.code == code, plan.stderr
    return math.ceil(json.loads(plan.stdout)["needs"][what] / MEGABYTE)


def taken(coden, command, run, *flags):
    """MB that the process has held at most, as its manifest says."""
    outcome = coden(command, *flags, "--run.directory", run)
    assert outcome.code == 0, outcome.stderr
    manifest = json.loads(max(run.glob("_coden/manifest-*.json")).read_text())
    figures = [figure for part in manifest["parts"] for figure in part["figures"]]
    return max(figure["peak_bytes"] for figure in figures) / MEGABYTE


def check(coden, run, *flags, most=1.25):
    said = planned(coden, *flags)
    took = taken(coden, "run", run, *flags)
    print(f"planned {said} MB, took {took:.0f} MB")
    assert said / most <= took <= said


@pytest.fixture(scope="session")
def sbm(coden, tmp_path_factory):
    """A small graph with labels, and histories that are the most of what its training takes."""
    data = tmp_path_factory.mktemp("sbm")
    sizes = ["--nodes", "6000", "--steps", "20", "--features", "48"]
    assert coden("generate", "sbm", "--out", data, *sizes).code == 0
    flags = [
        x for n in ("edges", "features", "labels") for x in (f"--input.{n}", data / f"{n}.parquet")
    ]
    return [
        *flags,
        "--graph.events",
        "signed",
        "--partition.initial",
        "5",
        "--partition.width",
        "5",
        *EPOCHS,
    ]


VARIANTS = {
    "default": [],
    "label columns": ["--train.label_columns", "5", "--train.label_alphas", "0.1,0.3"],
    "current snapshot": ["--train.model", "coden-s"],
    "limited": ["--run.memory_limit", "2GB"],
    "deltas": ["--snapshot.mode", "delta"],
}


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_run_takes_what_is_planned(coden, sbm, tmp_path, variant):
    check(coden, tmp_path / "run", *sbm, *VARIANTS[variant])


@needs_data("school")
@pytest.mark.parametrize("columns", ["0", "5"])
def test_school_takes_what_is_planned(coden, tmp_path, columns):
    flags = ["pipelines/school.ini", *EPOCHS, "--train.label_columns", columns]
    check(coden, tmp_path / "run", *flags)


LABELS = ["--train.label_columns", "5"]
REAL = {
    "patent_small": [],
    "patent_small, shared": ["--train.protocol", "shared"],
    "patent_small, one thread": ["--run.threads", "1"],
    "patent_small, small model": ["--train.hidden", "64"],
    "patent_small, limited, three runs": ["--run.memory_limit", "1GB", "--train.runs", "3"],
    "bitalpha": [],
    "bitotc": [],
    "school, shared": ["--train.protocol", "shared"],
    "school, rolling, label columns": ["--train.protocol", "rolling", *LABELS],
    "school, three runs": ["--train.runs", "3"],
}


@pytest.mark.parametrize(
    "case", [pytest.param(case, marks=needs_data(case.split(",")[0])) for case in REAL]
)
def test_real_data_take_what_is_planned(coden, tmp_path, case):
    pipeline = f"pipelines/{case.split(',')[0]}.ini"
    check(coden, tmp_path / "run", pipeline, *EPOCHS, *REAL[case])


@needs_data("git_postgres")
@pytest.mark.slow
@pytest.mark.parametrize("columns", ["0", "5"])
def test_git_postgres_takes_what_is_planned(coden, tmp_path, columns):
    flags = ["pipelines/git_postgres.ini", *EPOCHS, "--train.label_columns", columns]
    check(coden, tmp_path / "run", *flags)


def test_a_window_counts_what_is_pending_at_once(coden, tmp_path):
    """The initial graph has half of the rows, but its window only a tenth."""
    log = ["--scale", "17", "--edges", "1500000"]
    assert coden("generate", "rmat", "--out", tmp_path, *log).code == 0
    flags = ["--input.edges", tmp_path / "edges.parquet", "--input.random_features", "4"]
    check(coden, tmp_path / "run", *flags, "--graph.window", "10", most=1.5)


@needs_data("patent_small")
@pytest.mark.parametrize("runs", [1, 3])
def test_a_run_stays_below_a_limit_just_above_its_plan(coden, tmp_path, runs):
    flags = ["pipelines/patent_small.ini", *EPOCHS, "--train.runs", runs]
    said = planned(coden, *flags, "--run.memory_limit", "1000GB")
    flags += ["--run.memory_limit", f"{said + 1}MB"]
    assert planned(coden, *flags) <= said + 1
    assert planned(coden, *flags, what="temporary_disk_bytes") == 0
    assert taken(coden, "run", tmp_path / "run", *flags) <= said + 1
    # Further down label propagation is taken in parts, then the histories go to a file,
    # of which the plan says how large it is.
    limit, temporary = said, 0
    while temporary == 0:
        limit -= 10
        flags[-1] = f"{limit}MB"
        assert planned(coden, *flags) <= limit
        temporary = planned(coden, *flags, what="temporary_disk_bytes")
    histories = 12_214 * 128 * 11 * 4
    assert temporary == math.ceil(histories / MEGABYTE)
    assert taken(coden, "run", tmp_path / "low", *flags) <= limit


def test_plan_and_run_stop_at_the_same_limit(coden, sbm, tmp_path):
    said = planned(coden, *sbm, "--run.memory_limit", "1000GB")
    # Histories in a file, where they do not fit.
    low = [*sbm, "--run.memory_limit", f"{said - 30}MB"]
    assert planned(coden, *low) <= said - 30
    assert taken(coden, "run", tmp_path / "run", *low) <= said - 30
    # Enough for the embedding, too little for the training after it.
    limit = planned(coden, *sbm, "--run.memory_limit", "1000GB", what="embedding_memory_bytes") + 1
    low = [*sbm, "--run.memory_limit", f"{limit}MB", "--run.directory", tmp_path / "refused"]
    assert planned(coden, *low, code=4) > limit
    plan, refused = coden("plan", *low), coden("run", *low)
    assert (plan.code, refused.code) == (4, 4)
    assert plan.error == f"the run would stop: {refused.error}"
    for part in ["training needs about", " MB of memory", "raise `run.memory_limit`"]:
        assert part in plan.error
    # It stops before the embedding, not after it.
    assert not list((tmp_path / "refused").glob("snapshots/*"))
    assert coden("embed", *low).code == 0
