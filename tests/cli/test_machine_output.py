"""--format json and csv are for programs: fixed keys, plain numbers, one table at a time."""

import csv
import io
import json
import re
import shutil

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

USAGE = 2
KEY = re.compile(r"[a-z][a-z0-9_]*")


def check_keys(value):
    """Every key of an answer is declared in code, in snake case, and every number is one."""
    if isinstance(value, dict):
        for key, inner in value.items():
            assert KEY.fullmatch(key), key
            # Texts that may look like numbers: a setting, a shape (6 x 16), columns (5-6), notes.
            if key not in ("settings", "shape", "column", "note", "notes"):
                check_keys(inner)
    elif isinstance(value, list):
        for inner in value:
            check_keys(inner)
    elif isinstance(value, str):
        # 600, but also "600 rows", "1.5 MB" and "38 snapshots, 6 columns".
        assert not re.fullmatch(r"[\d,.]+( [A-Za-z%].*)?", value), f"a number as text: {value}"


@pytest.fixture
def ask(coden):
    def call(*arguments, **options):
        outcome = coden(*arguments, "--format", "json", **options)
        assert outcome.code == 0, outcome.stderr
        answer = json.loads(outcome.stdout)
        check_keys(answer)
        return answer

    return call


def test_a_plan_has_numbers(coden, ask, inputs):
    plan = ask("plan", *inputs.flags())
    assert list(plan) == ["prediction_times", "needs"]
    needs = plan["needs"]
    assert needs["rows"] == 600 and needs["nodes"] == 50 and needs["feature_columns"] == 6
    assert needs["snapshots"] == sum(row["snapshots"] for row in plan["prediction_times"])
    for key in ("memory_bytes", "disk_bytes", "temporary_disk_bytes", "passes"):
        assert type(needs[key]) is int, key
    assert needs["disk_is_upper_bound"] is False and needs["memory_bytes"] > 10_000_000
    # People see the same with units.
    table = coden("plan", *inputs.flags()).stdout
    assert re.search(r"^memory +[\d,.]+ MB$", table, re.MULTILINE)
    assert re.search(r"^rows of the log +600$", table, re.MULTILINE)


def test_every_command_answers_programs(ask, inputs, coden, tmp_path):
    assert coden("run", *inputs.flags()).code == 0
    assert ask("report", *inputs.flags())["results"][0]["prediction"] == 1
    assert ask("validate", *inputs.flags()) == []
    assert ask("verify", inputs.run)[0]["damaged"] == 0
    assert ask("predict", *inputs.flags())["results"] == []
    found = ask("inspect", inputs.run)
    assert list(found)[:2] == ["run", "parts"] and found["run"]["complete"] is True
    assert 0.0 <= found["run"]["micro_f1"] <= 1.0
    log = ask("inspect", inputs.path("edges"))["parquet"]
    assert (log["kind"], log["rows"], log["first_time"], log["last_time"]) == (
        "edge log",
        600,
        0,
        199,
    )
    snapshot = ask("inspect", inputs.run / "snapshots/snapshot=000000/part-0.parquet")["parquet"]
    assert snapshot["dim"] == 6 and type(snapshot["snapshot_time"]) is int
    assert set(ask("inspect", inputs.run / "model")) == {"model", "tensors"}
    slices = ask("plan", *inputs.flags("--slices", "2"))
    assert list(slices) == ["slices", "costs"]
    assert all(type(row["memory_bytes"]) is int for row in slices["slices"] + slices["costs"])
    (tmp_path / "e.csv").write_text("src,dst,time\n1,2,30\n2,3,40\n")
    imported = ask("import", "edges", tmp_path / "e.csv", "--out", tmp_path / "out")
    assert list(imported) == ["files", "log", "columns", "dropped"]
    assert (imported["log"][0]["first_time"], imported["log"][0]["last_time"]) == (30, 40)


def test_problems_say_in_words_of_json_what_stops_a_run(coden, inputs):
    features = inputs["features"].to_pylist()
    features[0]["x"] = features[0]["x"][1:]
    inputs["features"] = inputs["features"].from_pylist(features, inputs["features"].schema)
    outcome = coden("validate", *inputs.flags("--format", "json"))
    assert [row["fatal"] for row in json.loads(outcome.stdout)] == [True]
    assert ",true," in coden("validate", *inputs.flags("--format", "csv")).stdout
    assert " yes " in coden("validate", *inputs.flags()).stdout


def test_csv_holds_one_table(coden, ask, inputs, tmp_path):
    flags = inputs.flags()
    (tmp_path / "e.csv").write_text("src,dst,time\n1,2,30\n2,3,40\n")
    for command, names in {
        ("plan", *flags): "prediction_times, needs",
        ("plan", *flags, "--slices", "2"): "slices, costs",
        ("import", "edges", tmp_path / "e.csv", "--out", tmp_path / "out"): "files, log, columns, "
        "dropped",
        ("report", "--compare", "one", "other"): "runs, stages, settings",
        **{
            (command, *flags): "results, stages, input_counts, notes"
            for command in ("run", "train", "predict", "report")
        },
        **{(command, *flags): "stages, input_counts, notes" for command in ("embed", "commit")},
    }.items():
        outcome = coden(*command, "--format", "csv")
        assert (outcome.code, outcome.stdout) == (USAGE, "")
        assert outcome.error == (
            "CSV holds one table, and this command has several; choose one with --table: " + names
        )
        wrong = coden(*command, "--table", "nosuch")
        assert (wrong.code, wrong.stdout) == (USAGE, "")
        assert wrong.error == f"there is no such table; `--table` must be one of {names}: 'nosuch'"
    assert not (tmp_path / "out").exists(), "refused before anything is written"
    assert not inputs.run.exists()
    outcome = coden("plan", *flags, "--format", "csv", "--table", "needs")
    (row,) = csv.DictReader(io.StringIO(outcome.stdout))
    needs = ask("plan", *flags)["needs"]
    assert {key: json.loads(value) for key, value in row.items()} == needs
    assert ask("plan", *flags, "--table", "needs") == needs
    table = coden("plan", *flags, "--table", "prediction_times").stdout
    assert table.startswith("Prediction times\n") and "Needs" not in table
    # The setting is as good as the flag, and a command with one table needs no choice.
    assert coden("plan", *flags, "--report.format", "csv").code == USAGE
    assert coden("validate", *flags, "--format", "csv").code == 0


def test_results_and_counts_are_tables_of_a_run(coden, ask, inputs):
    def read(command, table):
        flags = inputs.flags("--format", "csv", "--table", table)
        outcome = coden(command, *flags)
        assert outcome.code == 0, outcome.stderr
        return list(csv.DictReader(io.StringIO(outcome.stdout)))

    (score, *_) = read("run", "results")
    assert score["prediction"] == "1" and 0.0 <= float(score["micro_f1"]) <= 1.0
    for command in ("run", "embed", "train", "predict", "report"):
        answer = ask(command, *inputs.flags())
        scores = [] if command == "embed" else ["results"]
        assert list(answer) == [*scores, "stages", "input_counts", "notes"]
        for table, rows in answer.items():
            assert ask(command, *inputs.flags("--table", table)) == rows
            assert len(read(command, table)) == len(rows)
        counts = {row["key"]: int(row["count"]) for row in read(command, "input_counts")}
        assert counts == {row["key"]: row["count"] for row in answer["input_counts"]}
        # People see the scores or the stages; what the counts say is a note.
        flags = inputs.flags("--table", [*scores, "stages"][0])
        assert coden(command, *inputs.flags()).stdout == coden(command, *flags).stdout
    table = coden("report", *inputs.flags("--table", "input_counts")).stdout
    assert table.startswith("Input counts\n") and "rows_read" in table


def test_the_gain_is_the_same_everywhere(ask, inputs, coden, tmp_path):
    labels = inputs["labels"]
    inputs["labels"] = labels.append_column("time", pa.array([0] * len(labels)))
    timed = ["--input.label_time", "time", "--train.runs", "2"]
    rows = ask("run", *inputs.flags(*timed))["results"]
    metrics = pq.read_table(inputs.run / "metrics.parquet").to_pylist()
    lines = (inputs.run / "metrics.jsonl").read_text().splitlines()
    lines = [line for line in map(json.loads, lines) if "prediction" in line]
    assert len(lines) == len(metrics) == 2 * len(rows)
    for row in rows:
        found = [one["gain"] for one in metrics if one["prediction"] == row["prediction"]]
        assert sum(found) / 2 == pytest.approx(row["gain"], abs=1e-12)
    names = {"majority": "majority", "label propagation": "propagation", "last label": "last_label"}
    for one, line in zip(metrics, lines, strict=True):
        assert one["micro_f1"] - one[f"{names[one['best_control']]}_micro_f1"] == one["gain"]
        for key in ("run", "prediction", "gain", "best_control"):
            assert line[key] == one[key]
    page = ["--out", tmp_path / "page.html", "--format", "json"]
    shutil.copytree(inputs.run, tmp_path / "other")
    compared = json.loads(
        coden("report", "--compare", inputs.run, tmp_path / "other", *page).stdout
    )
    assert {one["best_control"] for one in metrics} == {compared["runs"][0]["control"]}


STAGES = {
    "read": {"rows": 600, "nodes": 50},
    "partition": {"rows": 600, "prediction_times": 10},
    "sample": {"prediction_times": 10, "snapshots": None},
    "embed": {"snapshots": None, "columns": 6, "slices": 1, "error_bound": None},
    "snapshot": {"snapshots": None, "bytes": None},
    "train": {"labelled_nodes": 50, "prediction_times": 10, "micro_f1": None},
}


def test_stages_have_numbers(ask, inputs, coden):
    embedded = ask("embed", *inputs.flags())["stages"]
    trained = ask("run", *inputs.flags())["stages"]
    assert trained[:-1] == embedded and [row["stage"] for row in trained] == list(STAGES)
    sizes = [path.stat().st_size for path in inputs.run.glob("snapshots/*/*.parquet")]
    for row in trained:
        stage, seconds, peak = row.pop("stage"), row.pop("seconds"), row.pop("peak_bytes")
        assert type(seconds) is float and type(peak) is int and peak > 1_000_000
        known = {key: value for key, value in row.items() if value is not None}
        assert set(known) == set(STAGES[stage])
        for key, expected in STAGES[stage].items():
            real = key in ("error_bound", "micro_f1")
            assert type(known[key]) is (float if real else int), key
            assert expected in (None, known[key]), key
        assert known.get("snapshots", len(sizes)) == len(sizes)
        assert known.get("bytes", sum(sizes)) == sum(sizes)
        assert 0.0 < known.get("error_bound", 1e-9) < 1e-3
        assert 0.0 <= known.get("micro_f1", 0.5) <= 1.0
    # People see the same as text.
    table = coden("report", *inputs.flags("--table", "stages")).stdout
    assert re.search(r"^read +600 rows +50 nodes ", table, re.MULTILINE)


def test_a_run_without_labels_has_no_results(ask, inputs, coden):
    flags = inputs.flags()
    at = flags.index("--input.labels")
    del flags[at : at + 2]
    answer = ask("run", *flags)
    assert list(answer) == ["results", "stages", "input_counts", "notes"]
    assert answer["results"] == [] and len(answer["stages"]) == 5
    for command in ("run", "report"):
        assert coden(command, *flags).stdout.startswith("Stages\n")


def test_inspect_lists_no_defaults(coden, ask, inputs):
    assert coden("run", *inputs.flags("--embed.alpha", "0.3")).code == 0
    changed = {"embed.alpha": "0.3", "train.epochs": "2"}
    settings = {row["setting"]: row["value"] for row in ask("inspect", inputs.run)["settings"]}
    assert settings == changed
    snapshot = ask("inspect", inputs.run / "snapshots/snapshot=000000/part-0.parquet")
    assert {row["setting"] for row in snapshot["settings"]} == {"embed.alpha"}
