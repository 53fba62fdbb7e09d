"""Bad inputs end with one clear line and the right exit code, and leave nothing behind."""

import json
import pathlib
import shutil
import subprocess

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

USAGE, INPUT, RESOURCES, CORRUPTION = 2, 3, 4, 5


def replace(table, name, column):
    return table.set_column(table.schema.get_field_index(name), name, column)


def with_value(table, name, row, value):
    values = table.column(name).to_pylist()
    values[row] = value
    return replace(table, name, pa.array(values, table.schema.field(name).type))


def vectors(table, change):
    rows = [list(row) for row in table.column("x").to_pylist()]
    change(rows)
    return replace(table, "x", pa.array(rows, pa.list_(pa.float32())))


def set_entry(row, entry, value):
    return lambda rows: rows[row].__setitem__(entry, value)


def parquet_bytes(table):
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink)
    return sink.getvalue().to_pybytes()


# name of the case: (input to spoil, how, words that the error must say)
SPOILED = {
    "not parquet": ("edges", lambda t: b"src,dst,time\n1,2,3\n", "edges.parquet"),
    "truncated file": ("edges", lambda t: parquet_bytes(t)[:-40], "edges.parquet"),
    "cut in the middle": ("edges", lambda t: parquet_bytes(t)[:500], "edges.parquet"),
    "missing column": (
        "edges",
        lambda t: t.drop(["dst"]),
        "'dst': there is no such column; set `input.dst`",
    ),
    "no rows": ("edges", lambda t: t.slice(0, 0), "has no rows"),
    "null node": ("edges", lambda t: with_value(t, "src", 7, None), "'src', row 7: a null"),
    "null time": ("edges", lambda t: with_value(t, "time", 9, None), "'time', row 9: a null"),
    "negative time": ("edges", lambda t: with_value(t, "time", 0, -4), "row 0: a time must not be"),
    "falling time": (
        "edges",
        lambda t: with_value(t, "time", 30, 0),
        "row 30: times must not fall",
    ),
    "time of text": (
        "edges",
        lambda t: replace(t, "time", pc.cast(t["time"], pa.string())),
        "a time must be a whole number or a timestamp",
    ),
    "node of floats": (
        "edges",
        lambda t: replace(t, "src", pc.cast(t["src"], pa.float64())),
        "node ids must be whole numbers or strings",
    ),
    "two kinds of nodes": (
        "edges",
        lambda t: replace(t, "dst", pc.cast(t["dst"], pa.string())),
        "must be of one kind",
    ),
    "not a number": ("features", lambda t: vectors(t, set_entry(3, 2, np.nan)), "row 3: a feature"),
    "infinite": ("features", lambda t: vectors(t, set_entry(4, 0, np.inf)), "must be finite"),
    "null in a vector": ("features", lambda t: vectors(t, set_entry(5, 1, None)), "row 5"),
    "uneven vectors": (
        "features",
        lambda t: vectors(t, lambda r: r[6].pop()),
        "row 6: every vector",
    ),
    "node twice": (
        "features",
        lambda t: with_value(t, "node", 8, 2),
        "row 8: a node must not have two rows",
    ),
    "features of text": (
        "features",
        lambda t: replace(t, "x", pa.array(["a"] * len(t))),
        "must be a list of numbers",
    ),
    "other kind of ids": (
        "features",
        lambda t: replace(t, "node", pc.cast(t["node"], pa.string())),
        "of the kind that the edge log has",
    ),
    "label twice": (
        "labels",
        lambda t: with_value(t, "node", 1, 0),
        "row 1: a node must not have two labels",
    ),
    "label of fractions": (
        "labels",
        lambda t: replace(t, "label", pc.add(pc.cast(t["label"], pa.float64()), 0.5)),
        "row 0: a label must be a class",
    ),
    "labels of strangers": (
        "labels",
        lambda t: replace(t, "node", pa.array(np.arange(len(t)) + 1000)),
        "label",
    ),
    "one class": ("labels", lambda t: replace(t, "label", pa.array([1] * len(t))), "class"),
}


@pytest.mark.parametrize("name", SPOILED)
def test_spoiled_input_is_rejected(coden, inputs, name):
    which, spoil, words = SPOILED[name]
    inputs[which] = spoil(inputs[which])
    outcome = coden("run", *inputs.flags())
    assert outcome.code == INPUT, outcome.stderr
    assert words in outcome.error
    assert outcome.stdout == ""
    assert not (inputs.run / "_SUCCESS").exists()


def test_missing_file(coden, inputs):
    outcome = coden("run", *inputs.flags("--input.edges", "nowhere.parquet"))
    assert (outcome.code, "no such file" in outcome.error) == (INPUT, True)


def test_pattern_without_match(coden, inputs, tmp_path):
    outcome = coden("run", *inputs.flags("--input.edges", tmp_path / "none-*.parquet"))
    assert (outcome.code, "no file matches" in outcome.error) == (INPUT, True)


def test_empty_directory(coden, inputs, tmp_path):
    (tmp_path / "empty").mkdir()
    outcome = coden("run", *inputs.flags("--input.edges", tmp_path / "empty"))
    assert (outcome.code, "holds no .parquet file" in outcome.error) == (INPUT, True)


def test_unknown_operation(coden, inputs):
    edges = inputs["edges"]
    inputs["edges"] = edges.append_column("op", pa.array([1] * 599 + [3], pa.int8()))
    outcome = coden("run", *inputs.flags("--graph.events", "signed"))
    assert outcome.code == INPUT
    assert "row 599: an op must be 1 or insert, -1 or delete: '3'" in outcome.error


def test_deletion_of_an_absent_edge(coden, inputs):
    edges = inputs["edges"].slice(0, 3)
    inputs["edges"] = edges.append_column("op", pa.array([-1, 1, 1], pa.int8()))
    flags = inputs.flags("--graph.events", "signed", "--partition.initial", "0.0")
    outcome = coden("embed", *flags)
    assert outcome.code == INPUT
    assert "row 0" in outcome.error and "graph.lenient" in outcome.error
    lenient = coden("embed", *flags, "--graph.lenient", "true")
    assert lenient.code == 0, lenient.stderr
    assert "1 deletions of an absent edge: skipped" in lenient.stderr


def test_feature_update_of_another_width(coden, inputs, tmp_path):
    update = pa.table({"node": [1], "time": [5], "x": pa.array([[1.0]], pa.list_(pa.float32()))})
    pq.write_table(update, tmp_path / "updates.parquet")
    outcome = coden("run", *inputs.flags("--input.feature_updates", tmp_path / "updates.parquet"))
    assert (outcome.code, "length of the features" in outcome.error) == (INPUT, True)


@pytest.mark.parametrize(
    "flags, words",
    [
        (["--embed.alpha", "1.5"], "`embed.alpha` must be a number in [0.001, 1): '1.5'"),
        (["--embed.aplha", "0.5"], "the nearest is `--embed.alpha`"),
        (["--graph.events", "flip"], "insert, toggle or signed"),
        (["--embed.columns", "0:99"], "within the 6 feature columns"),
        (["--graph.directed", "true", "--embed.propagation", "average"], "undirected"),
        (["--partition.initial", "1000"], "takes the whole log"),
        (["--input.features", ""], "there are no features"),
        (["--run.directory", ""], "set `run.directory`"),
    ],
)
def test_wrong_usage(coden, inputs, flags, words):
    outcome = coden("run", *inputs.flags(*flags))
    assert outcome.code == USAGE, outcome.stderr
    assert words in outcome.error


def test_pipeline_file_errors_name_the_file(coden, tmp_path):
    assert coden("run", tmp_path / "none.ini").code == USAGE
    pipeline = tmp_path / "pipeline.ini"
    pipeline.write_text("[embed]\nalfa = 0.1\n")
    outcome = coden("run", pipeline)
    assert outcome.code == USAGE
    assert "pipeline.ini" in outcome.error and "`embed.alpha`" in outcome.error
    pipeline.write_text("[input]\nedges = ${NOT_SET_ANYWHERE}/edges.parquet\n")
    assert "NOT_SET_ANYWHERE is not set" in coden("run", pipeline).error


def test_directory_with_other_files_is_left_alone(coden, inputs, tmp_path):
    inputs.run.mkdir()
    (inputs.run / "thesis.txt").write_text("mine")
    outcome = coden("run", *inputs.flags())
    assert (outcome.code, "not a run's" in outcome.error) == (USAGE, True)
    assert (inputs.run / "thesis.txt").read_text() == "mine"


def test_unwritable_directory(coden, inputs):
    outcome = coden("run", *inputs.flags("--run.directory", "/proc/coden-run"))
    assert outcome.code == 1
    assert "/proc/coden-run" in outcome.error


def test_memory_limit(coden, inputs):
    outcome = coden("run", *inputs.flags("--run.memory_limit", "1MB"))
    assert (outcome.code, "`run.memory_limit`: 1 MB" in outcome.error) == (RESOURCES, True)


def test_full_disk(coden, inputs, tmp_path):
    small = tmp_path / "small"
    small.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(small)]
    if subprocess.run(mount, capture_output=True).returncode != 0:
        pytest.skip("cannot mount a small tmpfs here")
    try:
        outcome = coden("run", *inputs.flags("--run.directory", small / "run"))
        assert outcome.code == RESOURCES, outcome.stderr
        assert str(small) in outcome.error or "free" in outcome.error
    finally:
        subprocess.run(["umount", str(small)], check=True)


def test_damaged_snapshot_is_corruption(coden, inputs):
    flags = inputs.flags()
    assert coden("embed", *flags).code == 0
    snapshot = sorted(pathlib.Path(inputs.run).glob("snapshots/*/part-0.parquet"))[-1]
    content = bytearray(snapshot.read_bytes())
    content[len(content) // 3] ^= 0x10
    snapshot.write_bytes(content)
    outcome = coden("train", *flags)
    assert outcome.code == CORRUPTION, outcome.stderr
    assert "part-0.parquet" in outcome.error


def test_damaged_manifest_is_corruption_until_forced(coden, inputs):
    flags = inputs.flags()
    assert coden("embed", *flags).code == 0
    manifest = max(inputs.run.glob("_coden/manifest-*.json"))
    manifest.write_text(manifest.read_text()[:-30])
    outcome = coden("embed", *flags)
    assert (outcome.code, "--force" in outcome.error) == (CORRUPTION, True)
    assert coden("embed", *flags, "--force").code == 0
    assert coden("embed", *flags).code == 0


def test_credentials_are_masked(coden, inputs):
    outcome = coden("run", *inputs.flags("--input.edges", "nosuch://key:planted@host/e.parquet"))
    assert outcome.code == USAGE
    assert "planted" not in outcome.stderr + outcome.stdout


def test_largest_ids_are_fine(coden, inputs):
    edges = inputs["edges"]
    largest = 2**63 - 1
    inputs["edges"] = with_value(with_value(edges, "src", 0, largest), "dst", 1, -largest)
    outcome = coden("embed", *inputs.flags())
    assert outcome.code == 0, outcome.stderr
    nodes = pq.read_table(inputs.run / "state" / "nodes.parquet").column("node").to_pylist()
    assert largest in nodes and -largest in nodes
    shutil.rmtree(inputs.run)


def test_validate_lists_every_problem(coden, inputs):
    inputs["edges"] = with_value(with_value(inputs["edges"], "src", 7, None), "time", 30, 0)
    inputs["features"] = vectors(inputs["features"], set_entry(3, 2, np.nan))
    inputs["labels"] = inputs["labels"].drop(["label"])
    outcome = coden("validate", *inputs.flags("--format", "json"))
    assert outcome.code == INPUT
    assert outcome.error.endswith(": 4")
    found = {(row["input"], row["column"], row["first_row"]) for row in json.loads(outcome.stdout)}
    assert {
        ("edges", "src", 7),
        ("edges", "time", 30),
        ("features", "x", 3),
        ("labels", "label", None),
    } <= found


def test_validate_of_good_inputs(coden, inputs):
    outcome = coden("validate", *inputs.flags())
    assert (outcome.code, outcome.stdout) == (0, ""), outcome.stderr
    assert "the inputs are valid" in outcome.stderr


def test_labels_of_another_time_unit_are_refused(coden, inputs):
    """Read as they stand, days would all lie before the first millisecond: a look ahead."""
    labels = inputs["labels"]
    inputs["labels"] = labels.append_column("time", pa.array([3] * len(labels), pa.date32()))
    for command in ["run", "validate"]:
        outcome = coden(command, *inputs.flags())
        assert outcome.code == INPUT
        text = outcome.error + outcome.stdout
        assert "unit that the edge log has" in " ".join(text.split())


@pytest.mark.parametrize("nodes", ["all", "labelled"])
def test_labels_of_another_kind_of_ids_are_refused_at_once(coden, inputs, nodes):
    labels = inputs["labels"]
    inputs["labels"] = replace(labels, "node", pc.cast(labels["node"], pa.string()))
    outcome = coden("run", *inputs.flags("--snapshot.nodes", nodes))
    assert (outcome.code, "of the kind that the edge log has" in outcome.error) == (INPUT, True)
    assert "schedule:" not in outcome.stderr


def test_missing_snapshot_is_corruption(coden, inputs):
    flags = inputs.flags()
    assert coden("embed", *flags).code == 0
    shutil.rmtree(inputs.run / "snapshots" / "snapshot=000002")
    outcome = coden("embed", *flags)
    assert outcome.code == CORRUPTION
    assert "snapshot=000002" in outcome.error and "--force" in outcome.error
    assert coden("embed", *flags, "--force").code == 0


def test_system_errors_say_their_reason(coden, inputs, tmp_path):
    (tmp_path / "file").write_text("")
    outcome = coden("run", *inputs.flags("--run.directory", tmp_path / "file" / "run"))
    assert outcome.code == 1
    assert "Not a directory" in outcome.error


def test_label_times_by_another_name(coden, inputs):
    labels = inputs["labels"]
    inputs["labels"] = labels.append_column("since", pa.array([10**6] * len(labels)))
    outcome = coden("run", *inputs.flags())
    assert outcome.code == 0
    assert "set `input.label_time` if one of these is it: since" in outcome.stderr
    late = coden("run", *inputs.flags("--input.label_time", "since"))
    assert (late.code, "no label is valid" in late.error) == (INPUT, True)
    missing = coden("run", *inputs.flags("--input.label_time", "from"))
    assert (missing.code, "set `input.label_time`" in missing.error) == (INPUT, True)


def test_training_does_not_rebuild_snapshots(coden, inputs):
    flags = inputs.flags()
    assert coden("embed", *flags).code == 0
    outcome = coden("train", *flags, "--embed.alpha", "0.3", "--force")
    assert (outcome.code, "`coden run --force` for all else: embed.alpha" in outcome.error) == (
        7,
        True,
    )
