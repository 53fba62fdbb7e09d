"""Scores are shown with the settings that trained, also after new rows were only embedded."""

import json
import shutil

import pyarrow.parquet as pq
import pytest

FACTS = "coden on embedding; protocol shared; seed 3; split 0.7/0.1/0.2 by seed"
OLDER = "The model predates the latest rows."


@pytest.fixture
def embedded(coden, inputs, tmp_path):
    """A run that was trained with other settings than those of the call that added rows."""
    edges = inputs["edges"]
    inputs["edges"] = None
    folder = tmp_path / "log"
    folder.mkdir()
    pq.write_table(edges.slice(0, 450), folder / "a.parquet")
    flags = inputs.flags("--partition.initial", "30", "--partition.width", "20")
    flags[flags.index("--input.edges") + 1] = folder
    trained = ["--train.protocol", "shared", "--run.seed", "3", "--train.hidden", "4"]
    assert coden("run", *flags, *trained).code == 0
    shutil.copytree(inputs.run, tmp_path / "before")
    pq.write_table(edges.slice(450), folder / "b.parquet")
    for name in ("--input.labels", "--train.epochs"):
        at = flags.index(name)
        del flags[at : at + 2]
    outcome = coden("embed", *flags)
    assert outcome.code == 0 and "added to an earlier run" in outcome.stderr
    return inputs.run


def report(coden, run, *more):
    outcome = coden("report", "--run.directory", run, *more)
    assert outcome.code == 0, outcome.stderr
    return outcome.stdout


def test_results_name_the_settings_of_the_training(coden, embedded, tmp_path):
    before = report(coden, tmp_path / "before").splitlines()
    after = report(coden, embedded).splitlines()
    assert before[1] == after[1] == FACTS
    assert after[2] == OLDER and OLDER not in before
    assert after[3:] == before[2:]
    answer = json.loads(report(coden, embedded, "--format", "json"))
    assert any(row["note"].startswith(OLDER) for row in answer["notes"])
    answer = json.loads(report(coden, tmp_path / "before", "--format", "json"))
    assert not any(OLDER in row["note"] for row in answer["notes"])


def test_the_page_names_them_too(coden, embedded, tmp_path):
    report(coden, embedded)
    page = (embedded / "report.html").read_text()
    assert FACTS in page and OLDER in page
    report(coden, tmp_path / "before")
    page = (tmp_path / "before" / "report.html").read_text()
    assert FACTS in page and OLDER not in page


def test_a_comparison_compares_them(coden, embedded, tmp_path):
    pair = [tmp_path / "before", embedded]
    page = tmp_path / "page.html"
    outcome = coden("report", "--compare", *pair, "--out", page, "--format", "json")
    assert outcome.code == 0, outcome.stderr
    assert "warning" not in outcome.stderr
    tables = json.loads(outcome.stdout)
    for row in tables["runs"]:
        assert (row["protocol"], row["training_runs"]) == ("shared", 1)
    assert tables["settings"] == []
