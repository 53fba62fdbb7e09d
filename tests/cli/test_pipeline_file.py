"""Pipeline files: what a line may say, what is refused and where, and what a run records."""

import json

import pytest

USAGE = 2
NUMBERS = ["--partition.predictions", "2", "--train.runs", "1", "--quiet"]


@pytest.fixture
def pipeline(tmp_path):
    def write(text, newline="\n"):
        path = tmp_path / "p.ini"
        path.write_bytes(text.replace("\n", newline).encode())
        return path

    return write


@pytest.fixture
def sections(inputs):
    """The inputs as text of a pipeline file."""
    inputs.flags()
    paths = "".join(f"{name} = {inputs.path(name)}\n" for name in ["edges", "features", "labels"])
    return f"[run]\ndirectory = {inputs.run}\n[input]\n{paths}[train]\nepochs = 2\n"


@pytest.mark.parametrize(
    "text, line, words",
    [
        ("[run]\nseed = 1\nseed = 2\n", 3, "`run.seed` is set twice, first in line 2"),
        ("[run]\nseed = 1\n[input]\n[run]\nseed = 1", 5, "`run.seed` is set twice"),
        ("[run]\ndirectory = 'runs/x\n", 2, "must end with it"),
        ("[run]\n\ndirectory\n", 3, "`[section]` or `name = value`"),
        ("[]\n", 1, "a section must have a name"),
        (
            "# a\nepsilon = 0.1\n",
            2,
            "above the first section; put it below its own, as in `[embed]`",
        ),
        ("[embd]\n", 1, "unknown section `[embd]`; the nearest is `[embed]`"),
        ("[run]\n[embed]\nalfa = 0.1\n", 3, "the nearest is `embed.alpha`"),
        ("[input]\nepsilon = 0.1\n", 2, "the nearest is `embed.epsilon`"),
        ("[embed]\n\nalpha = 2\n", 3, "`embed.alpha` must be a number"),
        ("[input]\nedges = ${NOT_SET}/e\n", 2, "NOT_SET is not set"),
        ("[input]\nedges = ${NOT_SET\n", 2, "`${` must end with `}`"),
        ("[INPUT]\nedges = e\n", 1, "unknown section `[INPUT]`; the nearest is `[input]`"),
        ("[input]\nEdges = e\n", 2, "the nearest is `input.edges`"),
        ("[partition]\npredictions = 3\nwidth = 4\n", 2, "set only one of `partition.pred"),
        ("[run]\n[input]\nrandom_features = 3\nfeatures = x\n", 4, "`input.random_features`"),
        ("[graph]\nevents = toggle\nwindow = 3\n", 3, "`graph.window` needs `graph.events"),
        ("[train]\n\nlabel_columns = 1\n", 3, "`train.label_columns` needs two folds"),
        ("[run]\n[snapshot]\nnodes = labelled\n", 3, "`snapshot.nodes = labelled` needs"),
    ],
)
def test_errors_name_file_line_and_nearest(coden, pipeline, text, line, words):
    path = pipeline(text)
    for newline in ["\n", "\r\n"]:
        outcome = coden("validate", pipeline(text, newline))
        assert outcome.code == USAGE
        assert outcome.error.startswith(f"'{path}', line {line}: "), outcome.error
        assert words in outcome.error


@pytest.mark.parametrize("command", ["plan", "run", "embed"])
def test_an_error_found_in_the_log_names_the_line_of_its_setting(
    coden, pipeline, sections, command
):
    path = pipeline(sections + "[input]\nfrom = yesterday\n")
    line = sections.count("\n") + 2
    outcome = coden(command, path)
    assert outcome.code == USAGE
    assert outcome.error.startswith(f"'{path}', line {line}: `input.from` must be a whole number")
    # A flag is not in the file, whatever the file says.
    outcome = coden(command, path, "--input.from", "today")
    assert outcome.code == USAGE and outcome.error.startswith("`input.from` must be a whole")
    outcome = coden(command, path, "--input.from", "", "--partition.width", "1.5")
    assert outcome.code == USAGE and outcome.error.startswith("`partition.width` must be")


def test_a_problem_of_a_setting_names_its_line(coden, pipeline, sections):
    path = pipeline(sections + "[input]\nfrom = yesterday\nsrc = source\n")
    line = sections.count("\n") + 2
    for more in ([], ["--input.from", ""]):
        outcome = coden("validate", path, *more, "--format", "json")
        assert outcome.code == 3
        rules = [problem["rule"] for problem in json.loads(outcome.stdout)]
        place = f"'{path}', line {line + 1}: "
        assert f"{place}there is no such column; set `input.src` to one of: src, dst, time" in rules
        wrong = [rule.startswith(f"'{path}', line {line}: `input.from` must be") for rule in rules]
        assert any(wrong) == (not more)


def test_a_place_is_that_of_the_setting_from_the_file(coden, pipeline):
    path = pipeline("[run]\nseed = 1\n[partition]\nwidth = 4\n")
    outcome = coden("validate", path, "--partition.predictions", "3")
    assert outcome.code == USAGE
    assert outcome.error.startswith(f"'{path}', line 4: set only one of `partition.predictions`")
    outcome = coden("experiment", "accuracy", path, "--partition.predictions", "3")
    assert outcome.error.startswith(f"'{path}', line 4: set only one of `partition.predictions`")
    outcome = coden("validate", path, "--partition.width", "0", "--train.label_columns", "1")
    assert outcome.error.startswith("`train.label_columns` needs")


def test_a_folder_is_no_pipeline_file(coden, tmp_path):
    outcome = coden("validate", tmp_path)
    assert outcome.code == USAGE and "cannot read the pipeline file" in outcome.error


def test_flag_without_section_suggests_the_setting(coden):
    assert "`--embed.epsilon`" in coden("embed", "--epsilon", "1").error


def test_comment_signs_in_values(coden, inputs, pipeline, tmp_path):
    """`#` inside a path belongs to it; a comment needs a blank before it."""
    inputs.flags()
    features = inputs.path("features")
    folder = tmp_path / "c# x;y"
    folder.mkdir()
    inputs.path("edges").rename(folder / "e.parquet")
    text = (
        f"\ufeff[run]  # where\ndirectory = {tmp_path}/x ; comment\n\n"
        f"[input]\nedges = \"{folder}/e.parquet\"  # the log\nfeatures = '{features}'"
    )
    assert coden("embed", pipeline(text, "\r\n"), *NUMBERS).code == 0
    assert (tmp_path / "x" / "_SUCCESS").exists()
    saved = (tmp_path / "x" / "_coden" / "settings.ini").read_text()
    assert f"edges = {folder}/e.parquet\n" in saved, "no blank is before the signs"
    (tmp_path / "c# x;y").rename(tmp_path / "c #1")
    text = f"[run]\ndirectory = {tmp_path}/y\n[input]\nedges = {tmp_path}/c #1/e.parquet\n"
    assert coden("embed", pipeline(text)).code == 3, "without quotes the value ends"
    text = f"[run]\ndirectory = {tmp_path}/y\n[input]\nedges = '{tmp_path}/c #1/e.parquet'\n"
    text += "random_features = 3\n"
    assert coden("embed", pipeline(text), *NUMBERS).code == 0
    saved = tmp_path / "y" / "_coden" / "settings.ini"
    assert f'edges = "{tmp_path}/c #1/e.parquet"\n' in saved.read_text()
    again = coden("embed", saved)
    assert again.code == 0 and "skipped" in again.stderr


def test_single_quotes_keep_variables(coden, inputs, pipeline, tmp_path):
    inputs.flags()
    inputs.path("edges").rename(tmp_path / "${HOME}.parquet")
    base = f"[run]\ndirectory = {inputs.run}\n[input]\nrandom_features = 2\nedges = "
    assert coden("embed", pipeline(base + f'"{tmp_path}/${{HOME}}.parquet"')).code == 3
    assert coden("embed", pipeline(base + f"'{tmp_path}/${{HOME}}.parquet'"), *NUMBERS).code == 0
    assert coden("embed", inputs.run / "_coden" / "settings.ini").code == 0


def test_settings_print_a_pipeline_file(coden, pipeline, sections):
    text = coden("settings", "--format", "ini").stdout
    assert "\n[embed]\n" in text and "\nalpha = 0.2\n" in text
    path = pipeline(text)
    rows = json.loads(coden("settings", "--format", "json").stdout)
    assert all(row["default"] == "" or f" = {row['default']}\n" in text for row in rows)
    # Every line is taken; without a log there is nothing to validate.
    outcome = coden("validate", path)
    assert outcome.code == 3 and "there is no edge log" in outcome.stdout


def test_random_features_keep_to_their_own_seed(coden, inputs):
    """One embedding serves trainings with many seeds."""
    inputs["features"] = None
    flags = ["--input.edges", inputs.path("edges"), "--input.labels", inputs.path("labels")]
    inputs.flags()
    flags += ["--run.directory", inputs.run, "--input.random_features", "4"]
    flags += ["--train.epochs", "2", *NUMBERS]
    assert coden("embed", *flags).code == 0
    for seed in ["5", "6"]:
        outcome = coden("train", *flags, "--run.seed", seed)
        assert outcome.code == 0, outcome.stderr
    other = coden("train", *flags, "--input.random_seed", "1")
    assert other.code != 0 and "input.random_seed" in other.error


def test_a_run_records_every_setting_by_its_key(coden, pipeline, sections, inputs):
    path = pipeline(sections)
    assert coden("run", path, *NUMBERS, "--train.model", "coden-s", "--run.seed", "3").code == 0
    newest = sorted((inputs.run / "_coden").glob("manifest-*.json"))[-1]
    recorded = {}
    for part in json.loads(newest.read_text())["parts"]:
        for line in part["parameters"].splitlines():
            key, _, value = line.partition(" = ")
            recorded[key] = value
    known = {row["key"] for row in json.loads(coden("settings", "--format", "json").stdout)}
    assert set(recorded) <= known
    assert recorded["train.model"] == "coden-s" and recorded["run.seed"] == "3"
    assert recorded["embed.alpha"] == "0.2" and recorded["input.label"] == "label"
    # Those that are not the default, and no others.
    tables = json.loads(coden("inspect", inputs.run, "--format", "json").stdout)
    shown = next(rows for rows in tables.values() if rows and "setting" in list(rows)[0])
    assert {row["setting"]: row["value"] for row in shown} == {
        "partition.predictions": "2",
        "run.seed": "3",
        "train.epochs": "2",
        "train.model": "coden-s",
    }
