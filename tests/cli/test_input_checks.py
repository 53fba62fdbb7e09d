"""Inputs that are read without an error and are not what was meant: the program says so."""

import json
import subprocess

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from conftest import PROGRAM

INPUT = 3


def replace(table, name, column):
    return table.set_column(table.schema.get_field_index(name), name, column)


def with_names(table, *columns, blank=""):
    for name in columns:
        names = [f"n{value}{blank}" for value in table[name].to_pylist()]
        table = replace(table, name, pa.array(names))
    return table


@pytest.fixture
def named(inputs):
    """Inputs with ids of text, updates and a split."""
    inputs["edges"] = with_names(inputs["edges"], "src", "dst")
    inputs["features"] = with_names(inputs["features"], "node")
    inputs["labels"] = with_names(inputs["labels"], "node")
    features = inputs["features"]
    inputs["feature_updates"] = features.slice(0, 4).append_column("time", pa.array([9] * 4))
    parts = ["train", "validate", "test"]
    inputs["split"] = pa.table(
        {"node": features["node"], "split": [parts[i % 3] for i in range(50)]}
    )
    return inputs


def notes_of(run, part):
    """What the run has said of one of its parts, as it is kept."""
    tables = json.loads(subprocess.check_output([PROGRAM, "inspect", run, "--format", "json"]))
    return [row["note"] for row in tables["notes"] if row["part"] == part]


BLANK = ["features", "feature_updates", "labels", "split"]


@pytest.mark.parametrize("name", BLANK)
def test_ids_with_a_trailing_blank_are_refused(coden, named, name):
    good = named.flags("--train.split_by", "file")
    assert coden("run", *good).code == 0
    named[name] = with_names(named[name], "node", blank=" ")
    named.run = named.run.parent / "other"
    flags = named.flags("--train.split_by", "file")
    refused = coden("run", *flags)
    assert refused.code == INPUT
    rows = named[name].num_rows
    assert f"none of the {rows} rows names a node of the edge log" in refused.error
    assert f"{name}.parquet', column 'node'" in refused.error
    assert "'nn0 '" in refused.error and "'n" in refused.error
    assert not list(named.run.rglob("part-0.parquet")), "nothing was embedded"
    planned = coden("plan", *flags)
    assert (planned.code, planned.error) == (INPUT, refused.error)
    checked = coden("validate", *flags)
    assert checked.code == INPUT
    assert "names a node of the edge log" in " ".join(checked.stdout.split())


def test_a_split_is_read_before_the_work(coden, named):
    """Ids of another kind, and parts of another name; what does not train reads no split."""
    good = named["split"]
    for column, words in [
        ("node", "none of the 50 rows names a node of the edge log"),
        ("split", "column 'split': must be train, validate or test: '0'"),
    ]:
        numbers = pa.array(range(50)) if column == "node" else pa.array(["0"] * 50)
        named["split"] = replace(good, column, numbers)
        flags = named.flags("--train.split_by", "file")
        for command in ("plan", "run"):
            outcome = coden(command, *flags)
            assert outcome.code == INPUT and words in outcome.error
    assert not list(named.run.rglob("part-0.parquet"))
    assert coden("embed", *flags, "--snapshot.nodes", "labelled").code == 0


def test_every_command_refuses_ids_that_match_nothing(coden, named):
    assert coden("run", *named.flags("--train.split_by", "file")).code == 0
    labels = with_names(named["labels"], "node", blank=" ")
    named["labels"] = labels
    trained = coden("train", *named.flags("--train.split_by", "file"))
    assert (trained.code, "none of the 50 rows" in trained.error) == (INPUT, True)
    named["features"] = with_names(named["features"], "node", blank=" ")
    named.run = named.run.parent / "other"
    for command in ["plan", "schedule", "embed", "run", "validate"]:
        outcome = coden(command, *named.flags("--train.split_by", "file"))
        assert outcome.code == INPUT, command


def test_few_matches_are_a_warning_with_the_percentage(coden, inputs):
    features = inputs["features"]
    more = replace(features, "node", pa.array(np.arange(50) + 1000))
    inputs["features"] = pa.concat_tables([features.slice(0, 20), more.slice(0, 30)])
    outcome = coden("embed", *inputs.flags("--format", "json"))
    assert outcome.code == 0, outcome.stderr
    assert (
        "features: 40.0 % of the rows (20 of 50) name a node of the edge log; the others do "
        "not, such as 1000, 1001" in outcome.stderr
    )
    counts = {row["key"]: row["count"] for row in json.loads(outcome.stdout)["input_counts"]}
    assert (counts["feature_rows"], counts["feature_rows_unmatched"]) == (50, 30)
    assert "40.0 % of the rows" in " ".join(coden("validate", *inputs.flags()).stdout.split())


class Log:
    """A log of several files, embedded again and again."""

    def __init__(self, coden, folder):
        self.coden, self.folder, self.run = coden, folder, folder / "run"
        (folder / "log").mkdir()

    def write(self, name, times, **columns):
        times = np.asarray(times)
        ends = np.arange(len(times))
        table = {"src": ends % 7, "dst": ends % 5 + 7, "time": times, **columns}
        pq.write_table(pa.table(table), self.folder / "log" / f"{name}.parquet")

    def call(self, command, *flags):
        return self.coden(
            command,
            *("--input.edges", self.folder / "log", "--run.directory", self.run),
            *("--input.random_features", "3", *flags),
        )

    def counts(self, *flags, command="embed"):
        outcome = self.call(command, "--format", "json", *flags)
        assert outcome.code == 0, outcome.stderr
        return {row["key"]: row["count"] for row in json.loads(outcome.stdout)["input_counts"]}


@pytest.fixture
def log(coden, tmp_path):
    return Log(coden, tmp_path)


DROP = ["--input.late", "drop"]


def test_late_rows_have_a_way_out(log):
    log.write("a", np.arange(100))
    assert log.call("embed").code == 0
    log.write("b", [50, 60, 70])
    log.write("c", np.arange(100, 150))
    for command in ["embed", "run", "schedule"]:
        refused = log.call(command)
        assert refused.code == INPUT
        assert "file 'b.parquet', column 'time', row 0" in refused.error
        assert "`input.late = drop`" in refused.error
    # A rebuild cannot sort them; the message says what can.
    refused = log.call("embed", "--force")
    assert refused.code == INPUT and "`input.late = drop`" in refused.error
    assert log.counts(*DROP)["rows_late"] == 3
    assert log.counts(*DROP, "--force")["rows_late"] == 3
    (log.folder / "log" / "b.parquet").unlink()
    assert log.counts()["rows_late"] == 0


def test_every_command_drops_late_rows(log):
    times = np.array([*range(100), 40, *range(100, 150)])
    kept = np.arange(len(times)) != 100
    # An edge that no other row has.
    src, dst = np.arange(len(times)) % 7 * kept, np.arange(len(times)) % 5 + 7
    dst[~kept] = 1
    log.write("a", times, src=src, dst=dst)
    labels = pa.table({"node": np.arange(12), "label": np.arange(12) % 2})
    pq.write_table(labels, log.folder / "labels.parquet")
    training = ["--input.labels", log.folder / "labels.parquet", "--train.energy", "true"]
    training += ["--train.label_columns", "2", "--train.label_windows", "0,40"]
    training += ["--train.epochs", "2", "--train.hidden", "4", "--train.split", "0.4/0.2/0.4"]
    for command in ["plan", "schedule", "embed", "run", "validate"]:
        outcome = log.call(command, *DROP, *training)
        assert outcome.code == 0, (command, outcome.stderr)
    # Embedding, label columns, training and energy are those of the log without the row.
    trained, log.run = log.run, log.folder / "sorted"
    log.write("a", times[kept], src=src[kept], dst=dst[kept])
    assert log.counts(*training, command="run")["rows_late"] == 0
    for name in ["predictions.parquet", "metrics.parquet"]:
        assert (trained / name).read_bytes() == (log.run / name).read_bytes(), name
    energy = pq.read_table(trained / "metrics.parquet")["dirichlet_energy"]
    assert energy.null_count == 0 and len(energy) > 1


def test_predict_drops_late_rows(coden, inputs):
    edges = inputs["edges"]
    inputs["edges"] = edges.slice(0, 450)
    assert coden("run", *inputs.flags()).code == 0
    inputs["edges"] = pa.concat_tables([edges.slice(0, 450), edges.slice(30, 20), edges.slice(450)])
    refused = coden("predict", *inputs.flags())
    assert (refused.code, "`input.late = drop`" in refused.error) == (INPUT, True)
    outcome = coden("predict", *inputs.flags(*DROP, "--format", "json"))
    assert outcome.code == 0, outcome.stderr
    answer = json.loads(outcome.stdout)
    counts = {row["key"]: row["count"] for row in answer["input_counts"]}
    assert answer["results"] and (counts["rows_read"], counts["rows_late"]) == (620, 20)


def test_counts_do_not_depend_on_threads_slices_or_batches(log):
    times = [*range(60), 30, 31, *range(60, 120), 3]
    log.write("a", times, src=[1, 1, 2] + [value % 7 for value in range(len(times) - 3)])
    flags = [*DROP, "--graph.events", "insert", "--input.from", "10", "--input.until", "110"]
    flags += ["--partition.times", "80,100"]
    expected = log.counts(*flags)
    assert expected["rows_read"] + expected["rows_before"] + expected["rows_after"] == len(times)
    assert expected["rows_late"] == 2 and expected["rows_unused"] == 9
    manifest = json.loads(max(log.run.glob("_coden/manifest-*.json")).read_text())
    (embed,) = [part for part in manifest["parts"] if part["name"] == "embed"]
    assert embed["counts"] == expected
    assert "rows came late: dropped" in (log.run / "report.html").read_text()
    for more in [["--run.threads", "1"], ["--input.batch_rows", "7"]]:
        assert log.counts(*flags, *more, "--force") == expected
    log.run = log.folder / "sliced"
    assert log.call("schedule", *flags).code == 0
    for columns in ["0:1", "1:3"]:
        assert log.call("embed", *flags, "--embed.columns", columns).code == 0
    assert log.counts(*flags, command="commit") == expected


# Counted by hand, of rows from 5 on and before 40: (time, src, dst, op).
AFTER = [(time, 1, 2, 1) for time in (40, 40, 41, 42, 43, 50)]
DELETIONS = [
    (4, 3, 4, 1),  # before
    (5, 1, 2, 1),
    (6, 2, 1, 1),  # repeated
    (7, 3, 3, 1),  # self loop
    (8, 2, 3, 1),
    (9, 3, 4, -1),  # absent: it was inserted before the first row that is read
    (10, 2, 3, -1),
    (11, 3, 2, -1),  # absent: deleted by the row above
    (12, 2, 3, 1),  # inserted again
    (13, 4, 4, -1),  # self loop
    (14, 1, 4, -1),  # absent
    (15, 1, 2, 1),  # repeated
    (15, 2, 1, 1),  # repeated
    (16, 3, 2, 1),  # repeated
    *AFTER,
]
WINDOW = [
    (3, 1, 2, 1),  # before
    (4, 3, 4, 1),  # before
    (5, 7, 8, 1),
    (5, 1, 2, 1),
    (6, 2, 1, 1),  # repeated; the window of the edge begins anew
    (12, 3, 1, 1),
    (14, 1, 3, 1),  # repeated
    (17, 4, 5, 1),  # 7-8 expired at 15, 1-2 at 16
    (18, 4, 4, 1),  # self loop
    (26, 5, 6, 1),  # 1-3 expired at 24
    (27, 4, 5, 1),  # 4-5 has just expired: inserted, not repeated
    (28, 5, 4, 1),  # repeated
    *AFTER,
]
COUNTED = {
    "deletions": (
        DELETIONS,
        ["--graph.events", "signed", "--graph.lenient", "true"],
        {"rows_read": 13, "rows_before": 1, "self_loops": 2, "repeated_edges": 4}
        | {"absent_deletions": 3, "expired_edges": 0},
    ),
    "window": (
        WINDOW,
        ["--graph.window", "10"],
        {"rows_read": 10, "rows_before": 2, "self_loops": 1, "repeated_edges": 3}
        | {"absent_deletions": 0, "expired_edges": 4},
    ),
}
TEXTS = {
    "rows_read": "rows of the edge log: read",
    "rows_before": "rows before `input.from`: not read",
    "rows_after": "rows from `input.until` on: not read",
    "self_loops": "self loops: dropped (`graph.self_loops` keeps them)",
    "repeated_edges": "rows repeat an edge that is there: ignored",
    "absent_deletions": "deletions of an absent edge: skipped (`graph.lenient`)",
    "expired_edges": "edges expired (`graph.window`)",
}


@pytest.mark.parametrize("case", COUNTED)
def test_counts_are_those_of_a_count_by_hand(log, case):
    rows, flags, expected = COUNTED[case]
    expected = expected | {"rows_after": 6, "rows_late": 0, "rows_unused": 0}
    times, src, dst, op = map(list, zip(*rows, strict=True))
    log.write("a", times, src=src, dst=dst, op=pa.array(op, "int8"))
    flags = [*flags, "--input.from", "5", "--input.until", "40", "--partition.predictions", "3"]
    assert log.counts(*flags) == expected
    manifest = json.loads(max(log.run.glob("_coden/manifest-*.json")).read_text())
    assert [part["counts"] for part in manifest["parts"] if part["counts"]] == [expected]
    page = (log.run / "report.html").read_text()
    for key, text in TEXTS.items():
        assert f'<th scope="row">{text}</th><td>{expected[key]}</td>' in page, key


def test_a_deletion_is_named_by_its_file_and_row(log):
    log.write("a", np.arange(20), op=np.ones(20, "int8"))
    log.write("b", np.arange(20, 26), op=np.array([1, 1, 1, 1, 1, -1], "int8"))
    # 5 to 12 was inserted, 6 to 7 is deleted by row 5 of the second file: 5 % 5 + 7 = 7.
    table = pq.read_table(log.folder / "log" / "b.parquet")
    table = replace(table, "src", pa.array([0, 1, 2, 3, 4, 77]))
    pq.write_table(table, log.folder / "log" / "b.parquet")
    refused = log.call("embed", "--graph.events", "signed", "--input.from", "3")
    assert refused.code == INPUT
    assert "file 'b.parquet', row 5: 77 to 7 at time 25: the row deletes an edge" in refused.error


def test_times_outside_the_log_are_told(log):
    seconds = 1420070400 + np.arange(100) * 86400
    log.write("a", pa.array(seconds * 10**6, pa.timestamp("us")))
    outcome = log.call("embed", "--partition.initial", "1420070400")
    assert outcome.code == 0
    assert (
        "warning: `partition.initial` = 1420070400 lies before the log, so the initial graph is "
        "empty: the log has times from 2015-01-01 00:00:00" in outcome.stderr
    )
    assert "it would lie in the log if it were in seconds" in outcome.stderr
    checked = log.call("validate", "--partition.initial", "1420070400")
    assert checked.code == 0 and "if it were in seconds" in " ".join(checked.stdout.split())


def test_an_initial_graph_after_the_log_is_refused_with_its_times(log):
    log.write("a", pa.array((1420070400 + np.arange(100) * 86400) * 1000, pa.timestamp("ms")))
    refused = log.call("embed", "--partition.initial", str(1425000000 * 10**6))
    assert refused.code == 2
    assert "takes the whole log" in refused.error and "in milliseconds since 1970" in refused.error
    assert "it would lie in the log if it were in microseconds" in refused.error


def test_columns_that_are_not_read_are_named_once(log):
    log.write("a", np.arange(100), weight=np.ones(100), type=["x"] * 100)
    outcome = log.call("embed")
    text = "columns of the edge log that are not read: weight, type"
    assert outcome.code == 0 and outcome.stderr.count(text) == 1


@pytest.mark.parametrize("kind", ["bool", "float64"])
def test_labels_as_pandas_writes_them(coden, inputs, kind):
    labels = inputs["labels"]
    if kind == "bool":
        inputs["labels"] = replace(labels, "label", pc.equal(labels["label"], 1))
    else:
        inputs["labels"] = replace(labels, "label", pc.cast(labels["label"], pa.float64()))
    outcome = coden("run", *inputs.flags("--format", "json"))
    assert outcome.code == 0, outcome.stderr
    counts = {row["key"]: row["count"] for row in json.loads(outcome.stdout)["input_counts"]}
    assert (counts["label_rows"], counts["label_rows_unmatched"]) == (50, 0)


def test_labels_that_look_like_amounts_are_told(coden, inputs):
    random = np.random.default_rng(1)
    nodes = np.repeat(np.arange(50), 10)
    times = np.tile(np.arange(10) * 20, 50)
    values = random.integers(0, 150, 500)
    inputs["labels"] = pa.table({"node": nodes, "label": values, "time": times})
    outcome = coden("run", *inputs.flags())
    text = "the labels look like amounts: 14"
    assert outcome.code == 0 and f" warning: {text}" in outcome.stderr
    assert any(note.startswith(text) for note in notes_of(inputs.run, "train"))
    assert text in (inputs.run / "report.html").read_text()
    assert text in coden("plan", *inputs.flags()).stderr
    checked = coden("validate", *inputs.flags())
    assert "look like amounts" in " ".join(checked.stdout.split())


WINDOWS = ["--train.label_columns", "3", "--train.label_windows", "0,1000000"]


@pytest.mark.parametrize("command", ["run", "train"])
def test_label_windows_in_another_unit_are_told_whenever_they_are_used(coden, inputs, command):
    """Also where the snapshots are there already, and no pass reads the log."""
    assert coden("embed", *inputs.flags()).code == 0
    outcome = coden(command, *inputs.flags(*WINDOWS))
    text = "`train.label_windows` = 1000000 is longer than the log, so no edge expires in it"
    assert outcome.code == 0, outcome.stderr
    assert outcome.stderr.count(f" warning: {text}") == 1 and "another unit?" in outcome.stderr
    assert len([note for note in notes_of(inputs.run, "train") if note.startswith(text)]) == 1
    assert outcome.stderr.index(text) < outcome.stderr.index(" train: ")
    inputs.run = inputs.run.parent / "other"
    whole = coden("run", *inputs.flags(*WINDOWS))
    assert whole.code == 0 and whole.stderr.count(text) == 1
    planned = coden("plan", *inputs.flags(*WINDOWS))
    assert planned.stderr.count(text) == 1
    checked = coden("validate", *inputs.flags(*WINDOWS))
    assert "is longer than the log" in " ".join(checked.stdout.split())
    good = [*WINDOWS[:-1], "0,100"]
    again = coden("train", *inputs.flags(*good))
    assert again.code == 0 and "`train.label_windows`" not in again.stderr
