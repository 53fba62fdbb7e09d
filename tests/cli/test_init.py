"""`coden init`: the file it writes from the schemas of inputs, and that it runs as it is."""

import configparser
import re

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

USAGE, REJECTED = 2, 3
DAY = 86_400_000_000


class Tables:
    """Inputs of a small run, whatever their columns are called."""

    def __init__(self, folder):
        self.folder = folder
        random = np.random.default_rng(3)
        self.src, self.dst = random.integers(0, 40, 400), random.integers(0, 40, 400)
        self.time = np.sort(random.integers(0, 100, 400))
        self.nodes = np.arange(40)
        self.vectors = pa.array(list(random.normal(size=(40, 4)).astype("float32")))
        self.labels = random.integers(0, 3, 40)

    def write(self, name, **columns):
        path = self.folder / f"{name}.parquet"
        pq.write_table(pa.table(columns), path, row_group_size=100)
        return path


@pytest.fixture
def tables(tmp_path):
    return Tables(tmp_path)


def read(path):
    parser = configparser.ConfigParser(interpolation=None)
    parser.read(path)
    return parser


def check_runs(coden, path):
    """The file passes validate and run as it is; the run is short enough for a test."""
    outcome = coden("validate", path)
    assert outcome.code == 0 and "the inputs are valid" in outcome.stderr, outcome.stdout
    outcome = coden("run", path)
    assert outcome.code == 0, outcome.stderr


NAMINGS = [
    ("src dst time", "node x", "node label", int),
    ("source target timestamp", "id features", "id class", str),
    ("from to ts", "node_id embedding", "node_id y", int),
    ("user_id item_id date", "user_id vector", "user_id category", str),
    ("FromNodeId ToNodeId Date", "Id Feature", "Id Label", int),
]


@pytest.mark.parametrize("edges, features, labels, kind", NAMINGS)
def test_columns_are_found_by_their_names(coden, tables, tmp_path, edges, features, labels, kind):
    def ids(values):
        return pa.array([kind(value) for value in values.tolist()])

    src, dst, time = edges.split()
    node, vector = features.split()
    label = labels.split()[1]
    times = pa.array(tables.time * DAY, pa.timestamp("us"))
    log = tables.write(
        "e", weight=tables.time, **{src: ids(tables.src), dst: ids(tables.dst), time: times}
    )
    x = tables.write("x", **{node: ids(tables.nodes), vector: tables.vectors})
    y = tables.write("y", **{node: ids(tables.nodes), label: ids(tables.labels)})
    out = tmp_path / "my.ini"
    flags = ["--edges", log, "--features", x, "--labels", y, "--directory", tmp_path / "run"]
    outcome = coden("init", *flags, "--out", out, "--train.epochs", "2")
    assert outcome.code == 0 and f"wrote '{out}'" in outcome.stderr, outcome.stderr
    found = dict(read(out)["input"])
    assert [found[key] for key in ["src", "dst", "time"]] == edges.split()
    assert [found[key] for key in ["node", "feature", "label"]] == [node, vector, label]
    text = out.read_text()
    assert "400 rows, sorted by time; times from 1970-01-0" in text
    assert f"Node ids are {'strings' if kind is str else 'whole numbers'}." in text
    assert "labels hold at all times" in text and "not read: weight" in text
    # Users and items are told apart by their ids alone, which a person has to look at.
    assert ("CHECK" in text.split("\n", 1)[1]) == (src == "user_id")
    check_runs(coden, out)
    assert (tmp_path / "run" / "predictions.parquet").exists()


def test_without_out_it_prints(coden, tables, tmp_path):
    log = tables.write("e", src=tables.src, dst=tables.dst, time=tables.time)
    outcome = coden("init", "--edges", log)
    assert outcome.code == 0 and "check" not in outcome.stderr
    out = tmp_path / "p.ini"
    out.write_text(outcome.stdout)
    found = read(out)
    assert found["run"]["directory"] == "runs/my"
    assert found["input"]["random_features"] == "64", "there are no others"
    assert found["partition"]["predictions"] == "10" and "train" not in found
    assert "whole numbers" in outcome.stdout
    out.write_text(outcome.stdout.replace("runs/my", str(tmp_path / "run")))
    check_runs(coden, out)


def test_signed_log_and_timed_labels(coden, tables, tmp_path):
    pairs = list(dict.fromkeys(zip(tables.src.tolist(), tables.dst.tolist(), strict=True)))
    pairs = [pair for pair in pairs if pair[0] < pair[1]]
    src, dst = (pa.array([pair[i] for pair in pairs + pairs[:20]]) for i in (0, 1))
    op = ["insert"] * len(pairs) + ["delete"] * 20
    log = tables.write("e", src=src, dst=dst, time=np.arange(len(op)), op=op)
    x = tables.write("x", node=tables.nodes, x=tables.vectors)
    y = tables.write("y", node=tables.nodes, label=tables.labels, ts=tables.nodes // 8)
    flags = ["--edges", log, "--features", x, "--labels", y, "--directory", tmp_path / "run"]
    out = tmp_path / "p.ini"
    assert coden("init", *flags, "--out", out, "--train.epochs", "2").code == 0
    found = read(out)
    assert found["graph"]["events"] == "signed" and found["input"]["label_time"] == "ts"
    text = out.read_text()
    assert "deletes an edge in 20 of the rows" in text
    assert "A label holds from its `ts` on." in text
    check_runs(coden, out)


def test_op_column_that_says_nothing(coden, tables):
    columns = {"src": tables.src, "dst": tables.dst, "time": tables.time}
    log = tables.write("e", **columns, op=["insert"] * 400)
    outcome = coden("init", "--edges", log)
    assert "events = insert" in outcome.stdout and "is not needed" in outcome.stdout
    log = tables.write("e", **columns, op=["insert"] * 399 + ["create"])
    outcome = coden("init", "--edges", log)
    assert outcome.code == 0 and "events = insert" in outcome.stdout
    assert "row 399" in outcome.stderr and "'create'" in outcome.stderr


@pytest.mark.parametrize("within", [True, False], ids=["in a row group", "between row groups"])
def test_unsorted_log(coden, tables, within):
    time = tables.time.copy()
    if within:
        time[150] = time[149] - 1
    else:
        time[:200] += 1000
    log = tables.write("e", src=tables.src, dst=tables.dst, time=time)
    outcome = coden("init", "--edges", log)
    assert outcome.code == 0
    assert "NOT sorted by time" in outcome.stdout and "# CHECK: The log is not" in outcome.stdout
    assert "check `input.edges`: The log is not sorted by time" in outcome.stderr
    assert 'ORDER BY "time"' in outcome.stderr
    assert ("row 150" if within else "row 200") in outcome.stderr


DUCKDB = re.compile(r"such as in DuckDB: (.*)$", re.MULTILINE)


@pytest.mark.parametrize("place", ["file", "folder", "dated folders", "pattern"])
def test_the_command_that_sorts_a_log_runs(coden, tables, tmp_path, place, monkeypatch):
    duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed")
    tables.folder = folder = tmp_path / "it's uns"
    folder.mkdir()
    time = 'when "it" was'
    falling = {"src": tables.src, "dst": tables.dst, time: tables.time[::-1]}
    log = tables.write("e", **falling)
    if place != "file":
        log = folder / "*.parquet" if place == "pattern" else folder
    if place == "dated folders":
        (folder / "e.parquet").unlink()
        for day in (2, 1):
            tables.folder = folder / f"day={day}"
            tables.folder.mkdir()
            tables.write("e", **{key: column[200:] for key, column in falling.items()})
    outcome = coden("init", "--edges", log, "--input.time", time)
    assert outcome.code == 0, outcome.stderr
    (command,) = DUCKDB.findall(outcome.stderr)
    (comment,) = DUCKDB.findall(re.sub(r"\n# (?!CHECK)", " ", outcome.stdout))
    assert comment.startswith(command)
    monkeypatch.chdir(tmp_path)
    duckdb.sql(command)
    stored = pq.read_table("sorted.parquet")
    rows = tables.time[:200].repeat(2) if place == "dated folders" else tables.time
    assert stored[time].to_pylist() == rows.tolist()
    assert ("day" in stored.column_names) == (place == "dated folders")
    sorted_log = coden("init", "--edges", "sorted.parquet", "--input.time", time, cwd=tmp_path)
    assert sorted_log.code == 0 and ", sorted by time" in sorted_log.stdout


@pytest.mark.parametrize("kind", [pa.bool_(), pa.float64()], ids=str)
def test_labels_of_every_type_that_a_run_takes(coden, tables, tmp_path, kind):
    log = tables.write("e", src=tables.src, dst=tables.dst, time=tables.time)
    x = tables.write("x", node=tables.nodes, x=tables.vectors)
    classes = pa.array(tables.labels % 2).cast(kind)
    y = tables.write("y", node=tables.nodes, label=classes)
    out = tmp_path / "p.ini"
    flags = ["--edges", log, "--features", x, "--labels", y, "--directory", tmp_path / "run"]
    outcome = coden("init", *flags, "--out", out, "--train.epochs", "2")
    assert outcome.code == 0 and "check" not in outcome.stderr
    assert read(out)["input"]["label"] == "label"
    check_runs(coden, out)


def test_what_cannot_be_told_is_left_open(coden, tables, tmp_path):
    days = pa.array(tables.time.astype("int32")).cast(pa.date32())
    log = tables.write("e", a=tables.src, b=tables.dst, moment=days)
    x = tables.write("x", node=tables.nodes, numbers=tables.vectors)
    y = tables.write("y", vertex=tables.nodes, label=tables.labels)
    flags = ["--edges", log, "--features", x, "--labels", y, "--directory", tmp_path / "run"]
    outcome = coden("init", *flags)
    assert outcome.code == 0
    for key in ["src", "dst", "node"]:
        assert f"\n# {key} = \n" in outcome.stdout
        assert f"check `input.{key}`: Cannot tell which column has the " in outcome.stderr
    assert "Columns of a type that fits: a, b" in outcome.stderr
    assert "\ntime = moment\n" in outcome.stdout, "the only date"
    # With flags it can be told.
    y = tables.write("y", node=tables.nodes, label=tables.labels)
    out = tmp_path / "p.ini"
    outcome = coden("init", *flags, "--input.src", "a", "--input.dst", "b", "--out", out)
    assert outcome.code == 0 and "check" not in outcome.stderr
    assert read(out)["input"]["feature"] == "numbers", "the only list"
    assert coden("validate", out).code == 0


def test_inputs_that_do_not_agree(coden, tables):
    log = tables.write("e", src=tables.src, dst=tables.dst, time=tables.time)
    names = [f"n{node}" for node in tables.nodes]
    times = pa.array(tables.nodes, pa.timestamp("s"))
    y = tables.write("y", node=names, label=tables.labels, time=times)
    outcome = coden("init", "--edges", log, "--labels", y)
    assert outcome.code == 0
    assert "node ids must be of the kind that the edge log has" in outcome.stderr
    assert "times must be in the unit that the edge log has" in outcome.stderr


def test_existing_files_stay(coden, tables, tmp_path):
    log = tables.write("e", src=tables.src, dst=tables.dst, time=tables.time)
    out = tmp_path / "p.ini"
    out.write_text("mine")
    outcome = coden("init", "--edges", log, "--out", out)
    assert outcome.code == USAGE and "--force" in outcome.error and out.read_text() == "mine"
    assert coden("init", "--edges", log, "--out", out, "--force").code == 0
    assert read(out)["run"]["directory"] == "runs/p"


def test_wrong_usage(coden, tables, tmp_path):
    log = tables.write("e", src=tables.src, dst=tables.dst, time=tables.time)
    for flags, code, words in [
        ([], USAGE, "give `--edges`"),
        ([log], USAGE, "takes flags alone"),
        (["--edges", log, "--input.edges", log], USAGE, "given twice"),
        (["--edges", log, "--embed.alpha", "2"], USAGE, "`embed.alpha` must be"),
        (["--edges", tmp_path / "no.parquet"], REJECTED, "no such file or directory"),
    ]:
        outcome = coden("init", *flags)
        assert outcome.code == code and words in outcome.error, outcome.stderr
        assert outcome.stdout == ""


def test_names_cannot_add_lines(coden, tables):
    """The name of a column does not become a setting."""
    columns = {"src": tables.src, "dst": tables.dst, "time": tables.time}
    log = tables.write("e", **columns, **{"a\n[run]\nseed = 5\n#": tables.src})
    outcome = coden("init", "--edges", log)
    assert outcome.code == 0 and "\nseed = 5" not in outcome.stdout
