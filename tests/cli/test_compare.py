"""`coden report --compare`: finished runs side by side."""

import json

import pytest

USAGE = 2


@pytest.fixture
def runs(coden, inputs, tmp_path):
    """Two embeddings of one log that differ in one setting."""
    made = []
    for name, bound in [("wide", "2"), ("narrow", "0.5")]:
        made.append(tmp_path / name)
        flags = inputs.flags("--run.directory", made[-1], "--sample.lambda", bound, "--quiet")
        directory = flags.index("--run.directory")  # that of the fixture, which is given first
        del flags[directory : directory + 2]
        outcome = coden("embed", *flags, "--partition.predictions", "4")
        assert outcome.code == 0, outcome.stderr
    return made


def test_tables_and_page(coden, runs, tmp_path):
    page = tmp_path / "page.html"
    outcome = coden("report", "--compare", *runs, "--out", page, "--format", "json")
    assert outcome.code == 0, outcome.stderr
    assert f"comparison: {page}" in outcome.stderr
    tables = json.loads(outcome.stdout)
    wide, narrow = tables["runs"]
    assert (wide["run"], narrow["run"]) == ("wide", "narrow")
    assert 0 < wide["snapshots"] < narrow["snapshots"]
    assert wide["micro_f1"] is None and wide["model"] is None
    assert tables["settings"] == [{"key": "sample.lambda", "wide": "2", "narrow": "0.5"}]
    assert {row["stage"] for row in tables["stages"]} >= {"read", "embed", "snapshot"}
    html = page.read_text()
    assert "2 runs compared" in html and "sample.lambda" in html
    assert not list(tmp_path.glob("*.part"))
    before = page.read_bytes()
    assert coden("report", "--compare", *runs, "--out", page, "--quiet").code == 0
    assert page.read_bytes() == before


def test_runs_that_cannot_be_compared_are_a_warning(coden, inputs, tmp_path):
    made = {}
    for name, protocol in [("each", "each"), ("again", "each"), ("shared", "shared")]:
        made[name] = inputs.run = tmp_path / name
        flags = ["--train.protocol", protocol, "--train.hidden", "4", "--quiet"]
        outcome = coden("run", *inputs.flags(*flags, "--partition.predictions", "3"))
        assert outcome.code == 0, outcome.stderr
    page = tmp_path / "page.html"
    text = (
        "the runs have different protocols (`train.protocol`), so their scores cannot be "
        "compared: `shared` learns from later times than it predicts"
    )
    for other, warnings in [("again", []), ("shared", [text])]:
        pair = [made["each"], made[other]]
        outcome = coden("report", "--compare", *pair, "--out", page, "--format", "json")
        assert outcome.code == 0, outcome.stderr
        said = [line.partition(" warning: ")[2] for line in outcome.stderr.splitlines()]
        assert [line for line in said if line] == warnings
        assert (text in page.read_text()) == bool(warnings)
        first, second = json.loads(outcome.stdout)["runs"]
        assert (first["protocol"], second["protocol"]) == ("each", other.replace("again", "each"))
        for row in (first, second):
            assert row["model"] == "coden" and row["control"] and row["training_runs"] == 1
            gain = row["micro_f1"] - row["control_micro_f1"]
            assert row["gain"] == pytest.approx(gain)


@pytest.mark.parametrize("flags", [[], ["--out", "mine.txt"]], ids=["default", "named"])
def test_a_file_of_the_user_is_not_replaced(coden, runs, tmp_path, flags):
    page = tmp_path / (flags[1] if flags else "compare.html")
    page.write_text("<p>of the user</p>")
    outcome = coden("report", "--compare", *runs, *flags, cwd=tmp_path)
    assert outcome.code == USAGE and outcome.stdout == ""
    assert outcome.error.startswith(f"'{page.name}' is not a page of this program and is kept")
    assert page.read_text() == "<p>of the user</p>"
    page.unlink()
    for _ in range(2):
        assert coden("report", "--compare", *runs, *flags, cwd=tmp_path).code == 0
    assert "2 runs compared" in page.read_text()


def test_runs_of_one_name_are_told_apart_by_their_paths(coden, runs, tmp_path):
    other = tmp_path / "other" / "wide"
    other.parent.mkdir()
    runs[1].rename(other)
    page = tmp_path / "page.html"
    outcome = coden("report", "--compare", runs[0], other, "--out", page, "--format", "json")
    names = [row["run"] for row in json.loads(outcome.stdout)["runs"]]
    assert names == [str(runs[0]), str(other)]


@pytest.mark.parametrize(
    "words, error",
    [
        (["--compare", "{0}"], "`report --compare` needs two or more run directories"),
        (["--compare", "{0}", "{0}"], "a run cannot be compared with itself: '{0}'"),
        (
            ["--compare", "{0}", "{1}", "--sample.lambda", "1"],
            "`report --compare` reads the settings of the runs and takes none: `--sample.lambda`",
        ),
        (["--out", "x"], "`--out` goes with `report --compare`"),
    ],
)
def test_wrong_usage(coden, runs, words, error):
    outcome = coden("report", *(word.format(*runs) for word in words))
    assert outcome.code == 2
    assert outcome.error == error.format(*runs)


def test_a_folder_without_a_run(coden, runs):
    outcome = coden("report", "--compare", runs[0], f"{runs[0]}/none")
    assert outcome.code == 3
    assert outcome.error == f"there is no run in '{runs[0]}/none'; make it with `coden run` first"


def test_a_page_that_cannot_be_written(coden, runs, tmp_path):
    outcome = coden("report", "--compare", *runs, "--out", tmp_path / "none" / "page.html")
    assert outcome.code == 1 and "page.html" in outcome.error
