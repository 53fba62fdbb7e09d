"""`coden import`: text in, Parquet out; what is expected is worked out by the csv module."""

import bz2
import csv
import datetime
import gzip
import io
import random
import subprocess

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from conftest import PROGRAM, ROOT, rows


def expected(text, delimiter=",", skip=1):
    lines = list(csv.reader(io.StringIO(text), delimiter=delimiter))[skip:]
    return [(int(s), int(d), int(float(t))) for s, d, t, *_ in lines]


SMALL = "src,dst,time,weight\n1,2,3,0.5\n2,3,3,1\n9,1,7,2\n"


def test_a_csv_with_a_header(bring):
    outcome = bring(SMALL)
    assert outcome.code == 0, outcome.stderr
    edges = outcome.files["edges"]
    assert rows(edges) == expected(SMALL)
    described = {
        line["column"]: line["type"]
        for line in csv.DictReader((ROOT / "schemas" / "edge_log.csv").open())
    }
    assert {f.name: str(f.type) for f in edges.schema} == {
        name: described[name] for name in ["src", "dst", "time"]
    }
    (log,) = outcome.tables["log"]
    assert log == {
        "rows": 3, "dropped": 0, "comments": 0, "nodes": 4, "first_time": 3, "last_time": 7,
    }  # fmt: skip
    becomes = {row["name"]: row["becomes"] for row in outcome.tables["columns"]}
    assert becomes == {"src": "src", "dst": "dst", "time": "time", "weight": None}
    assert outcome.tables["files"][0]["rows"] == 3
    assert outcome.tables["dropped"] == []
    assert f"next: coden embed --input.edges {outcome.out}/edges.parquet" in outcome.stderr


@pytest.mark.parametrize(
    "text",
    [
        "# Nodes: 4\n# FromNodeId ToNodeId\n1 2 3\n2   3\t3\n 9 1 7\n",
        "1\t2\t3\r\n2\t3\t3\r\n9\t1\t7\r\n",
        "1;2;3\n2;3;3\n9;1;7",
        "\ufefftime,to,from\n3,2,1\n3,3,2\n7,1,9\n",
        '"1", "2","3.0"\n2,3,3.0\n9,1,7.0\n\n\n',
    ],
)
def test_ways_to_write_the_same_log(bring, text):
    outcome = bring(text)
    assert outcome.code == 0, outcome.stderr
    assert rows(outcome.files["edges"]) == expected(SMALL)


def test_konect_needs_to_be_told_the_time(bring):
    text = "% bip weighted\n1 2 1\t3\n2 3 1\t3\n9 1 1\t7\n"
    assert "cannot tell which column is the time" in bring(text).error
    outcome = bring(text, "--time", "4")
    assert rows(outcome.files["edges"]) == expected(SMALL)
    assert outcome.tables["log"][0]["comments"] == 1


def test_columns_by_name_and_number(bring):
    text = "a,b,c,d\n7,1,9,x\n8,2,9,y\n"
    outcome = bring(text)
    assert outcome.code == 3
    assert outcome.error.endswith("the columns are: a, b, c, d")
    outcome = bring(text, "--src", "b", "--dst", "3", "--time", "a")
    assert rows(outcome.files["edges"]) == [(1, 9, 7), (2, 9, 8)]
    outcome = bring("1 2\n2 3\n", "--time", "row")
    assert rows(outcome.files["edges"]) == [(1, 2, 0), (2, 3, 1)]


def test_compressed_files_are_told_by_their_bytes(bring):
    plain = rows(bring(SMALL).files["edges"])
    zstd = pa.compress(SMALL.encode(), codec="zstd", asbytes=True)
    for data in [gzip.compress(SMALL.encode()), bz2.compress(SMALL.encode()), zstd]:
        assert rows(bring(data, name="anything").files["edges"]) == plain
    # Two gzip files in one, as `cat` makes them.
    halves = SMALL[:20], SMALL[20:]
    joined = b"".join(gzip.compress(half.encode()) for half in halves)
    assert rows(bring(joined, name="e.csv.gz").files["edges"]) == plain
    cut = bring(gzip.compress(SMALL.encode() * 50)[:-20], name="e.csv.gz")
    assert cut.code == 3 and "cannot read" in cut.error
    assert cut.files == {}


def test_standard_input(tmp_path):
    command = [PROGRAM, "import", "edges", "-", "--out", tmp_path]
    done = subprocess.run(command, input=SMALL.encode(), capture_output=True)
    assert done.returncode == 0, done.stderr
    assert rows(pq.read_table(tmp_path / "edges.parquet")) == expected(SMALL)


def test_ids_are_strings_where_the_first_rows_say_so(bring):
    outcome = bring("src,dst,time\n1,ann,1\nbob, ann ,2\n")
    assert rows(outcome.files["edges"]) == [("1", "ann", 1), ("bob", "ann", 2)]
    assert "ids are strings" in outcome.stderr and "'ann'" in outcome.stderr
    outcome = bring(SMALL, "--ids", "string")
    assert rows(outcome.files["edges"])[0] == ("1", "2", 3)
    outcome = bring("src,dst,time\n1,ann,1\n", "--ids", "int")
    assert outcome.code == 3
    assert "line 2, column 'dst': an id must be a whole number" in outcome.error


def test_a_late_string_among_whole_numbers(bring):
    lines = ["src,dst,time"] + [f"{i},{i + 1},{i}" for i in range(300_000)]
    lines[250_000] = "ann,2,249999"
    text = "\n".join(lines)
    outcome = bring(text)
    assert outcome.code == 3
    assert "line 250001, column 'src'" in outcome.error and "--ids string" in outcome.error
    assert outcome.files == {}
    outcome = bring(text, "--on-error", "skip")
    assert outcome.tables["log"][0]["rows"] == 299_999
    (dropped,) = outcome.tables["dropped"]
    assert (dropped["rows"], dropped["first_line"]) == (1, 250_001)
    assert bring(text, "--ids", "string").files["edges"].num_rows == 300_000


def test_times_with_fractions_need_a_scale(bring):
    text = "src,dst,time\n1,2,0.5\n1,3,1.0004\n"
    outcome = bring(text)
    assert outcome.code == 3
    assert "line 2, column 'time'" in outcome.error and "--time-scale" in outcome.error
    outcome = bring(text, "--time-scale", "1000")
    assert rows(outcome.files["edges"]) == [(1, 2, 500), (1, 3, 1000)]


def test_dates_become_utc_timestamps(bring):
    text = (
        "src,dst,date\n1,2,2004-04-15\n1,3,2004-04-15 01:02:03.5\n1,4,2004-04-15T05:00:00+02:00\n"
    )
    outcome = bring(text)
    assert outcome.code == 0, outcome.stderr
    times = outcome.files["edges"]["time"]
    assert times.type == pa.timestamp("us", "UTC")
    utc = datetime.UTC
    assert times.to_pylist() == [
        datetime.datetime(2004, 4, 15, tzinfo=utc),
        datetime.datetime(2004, 4, 15, 1, 2, 3, 500_000, tzinfo=utc),
        datetime.datetime(2004, 4, 15, 3, tzinfo=utc),
    ]
    assert outcome.tables["log"][0]["first_time"].startswith("2004-04-15")
    assert "are dates" in bring(text, "--time-scale", "1000").error


def test_falling_times_are_refused_or_sorted(bring):
    text = "src,dst,time\n1,2,5\n1,3,9\n1,4,7\n1,5,5\n1,6,9\n"
    outcome = bring(text)
    assert outcome.code == 3
    assert outcome.error.endswith(
        "line 4: times must not fall from row to row; `--sort` sorts the rows: 7 after 9"
    )
    outcome = bring(text, "--sort")
    assert rows(outcome.files["edges"]) == sorted(expected(text), key=lambda row: row[2])


def test_sorting_more_than_is_held_in_memory(bring):
    random.seed(1)
    lines = [(i, random.randrange(1000), random.randrange(500)) for i in range(2_000_000)]
    text = "src,dst,time\n" + "".join(f"{s},{d},{t}\n" for s, d, t in lines)
    outcome = bring(text, "--sort")
    assert outcome.code == 0, outcome.stderr
    edges = outcome.files["edges"]
    columns = [edges[name].to_pylist() for name in ["src", "dst", "time"]]
    assert list(zip(*columns, strict=True)) == sorted(lines, key=lambda row: row[2])


BAD = "src,dst,time\n1,2,3\n{}\n5,6,7\n"


@pytest.mark.parametrize(
    "line, message, reason",
    [
        ("4,,5", "column 'dst': a value is missing", "missing value"),
        ("", "a line between rows must not be empty", "empty line"),
        ("4,5", "as many fields as the others, 3, not 2", "wrong number of fields"),
        ("4,5,6,7", "as many fields as the others, 3, not 4", "wrong number of fields"),
        ("4,5,soon", "column 'time': a time must be a number", "time is not a number"),
        ("4,5,-6", "a time must not be negative", "negative time"),
        ('4,"5,6', "a quoted value must end in its line", "quoted value without end"),
    ],
)
def test_bad_rows_are_refused_or_dropped_and_counted(bring, line, message, reason):
    text = BAD.format(line)
    outcome = bring(text)
    assert outcome.code == 3
    assert "e.csv', line 3" in outcome.error and message in outcome.error
    assert "--on-error skip" in outcome.error
    assert outcome.files == {}
    outcome = bring(text, "--on-error", "skip")
    assert outcome.code == 0, outcome.stderr
    assert rows(outcome.files["edges"]) == [(1, 2, 3), (5, 6, 7)]
    assert outcome.tables["log"][0]["dropped"] == 1
    (dropped,) = outcome.tables["dropped"]
    assert (dropped["rows"], dropped["first_line"], dropped["reason"]) == (1, 3, reason)


@pytest.mark.parametrize(
    "data, message",
    [
        (b"", "has no rows"),
        (b"src,dst,time\n", "has no rows"),
        (b"# nothing\n\n", "has no rows"),
        (b"PAR1....", "is a Parquet file"),
        (b"PK\x03\x04...", "is a zip archive"),
        (b"a\0b", "is not text"),
        (b"1\n2\n", "two fields or more"),
        (b"src,dst,time\n\xff,b,1\n", "text must be UTF-8"),
        (b"src,dst,time\nx,,\n", "a value is missing"),
        (b"a,b\n1,2,3\n1,2,3\n", "2 names, 3 fields"),
    ],
)
def test_files_that_are_no_edge_lists(bring, data, message):
    outcome = bring(data)
    assert outcome.code == 3
    assert message in outcome.error


def test_usage(coden, bring, tmp_path):
    assert "edges, jodie or tgl: 'snap'" in coden("import", "snap", "x").error
    assert "takes one file" in coden("import", "edges", "--out", tmp_path).error
    missing = coden("import", "edges", tmp_path / "none.csv", "--out", tmp_path)
    assert missing.code == 3 and "No such file" in missing.error
    assert "does not take `--src`" in coden("import", "tgl", "x", "--src", "a").error
    assert "`out` must be a directory" in coden("import", "edges", "x").error
    assert "`delimiter` must be auto, comma" in bring(SMALL, "--delimiter", "::").error


def test_files_that_are_there_need_force(bring, tmp_path):
    first = bring(SMALL)
    before = (first.out / "edges.parquet").read_bytes()
    again = bring("src,dst,time\n4,5,6\n", out=first.out)
    assert again.code == 2 and "--force" in again.error
    assert (first.out / "edges.parquet").read_bytes() == before
    broken = bring("src,dst,time\n4,5,6\n4,5\n", "--force", out=first.out)
    assert broken.code == 3
    assert (first.out / "edges.parquet").read_bytes() == before
    (first.out / "labels.parquet").write_bytes(before)
    again = bring("src,dst,time\n4,5,6\n", "--force", out=first.out)
    assert rows(again.files["edges"]) == [(4, 5, 6)]
    assert "labels.parquet' is of an earlier import" in again.stderr


def test_ops_and_labels(bring):
    text = "src,dst,time,op,group\n1,2,3,insert,x\n1,2,4,delete,x\n1,3,5,1,y\n"
    outcome = bring(text, "--label", "group")
    assert rows(outcome.files["edges"]) == [(1, 2, 3, 1), (1, 2, 4, -1), (1, 3, 5, 1)]
    assert rows(outcome.files["labels"]) == [(1, "x", 3), (1, "y", 5)]
    assert outcome.tables["dropped"][0]["reason"] == "label that its node has already"
    assert outcome.tables["log"][0]["dropped"] == 0
    assert "--graph.events signed" in outcome.stderr
    outcome = bring(text, "--op", "none")
    assert outcome.files["edges"].column_names == ["src", "dst", "time"]
    assert "an op must be" in bring(text.replace("insert", "maybe")).error


def test_a_generated_log_comes_back(coden, tmp_path):
    coden("generate", "rmat", "--out", tmp_path, "--scale", "12", "--edges", "200000")
    edges = pq.read_table(tmp_path / "edges.parquet")
    pyarrow.csv.write_csv(edges, tmp_path / "edges.csv")
    outcome = coden("import", "edges", tmp_path / "edges.csv", "--out", tmp_path / "back")
    assert outcome.code == 0, outcome.stderr
    assert pq.read_table(tmp_path / "back" / "edges.parquet").equals(edges)


def test_what_it_says_to_do_next_works(coden, bring):
    random.seed(5)
    text = "src,dst,time\n" + "".join(
        f"{random.randrange(30)},{random.randrange(30)},{time}\n" for time in range(400)
    )
    command = bring(text).stderr.splitlines()[-1].partition(" note: next: coden ")[2]
    outcome = coden(*command.split())
    assert outcome.code == 0, outcome.stderr
