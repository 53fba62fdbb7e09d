"""The same small log as many writers would store it: `coden embed` gives the same snapshots."""

import datetime
import decimal
import pathlib

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from lake_tables import write_delta, write_iceberg

ROWS, NODES, WIDTH = 300, 40, 5
INPUT = 3
random = np.random.default_rng(11)
SRC, DST = random.integers(0, NODES, ROWS), random.integers(0, NODES, ROWS)
TIME = np.arange(ROWS) // 4
VECTORS = random.normal(size=(NODES, WIDTH)).astype("float32")
DAY_MS = 86_400_000
LIST = pa.list_(pa.float32())


def log(ids=lambda values: pa.array(values), times=TIME):
    return pa.table({"src": ids(SRC), "dst": ids(DST), "time": times})


def features(ids=lambda values: pa.array(values), lists=LIST):
    rows = [[float(number) for number in vector] for vector in VECTORS]
    return pa.table({"node": ids(np.arange(NODES)), "x": pa.array(rows, lists)})


def texts(values):
    return pa.array([f"n{value}" for value in values])


def snapshots(run):
    """Every snapshot of a run as values, without the name of the type they have."""
    files = sorted((pathlib.Path(run) / "snapshots").rglob("*.parquet"))
    assert files
    return {str(path.relative_to(run)): pq.read_table(path).to_pydict() for path in files}


@pytest.fixture
def embed(coden, tmp_path):
    """Embed a log (a table or a path) and return its snapshots."""
    runs = []

    def stored(name, table, options):
        if not isinstance(table, pa.Table):
            return table
        path = tmp_path / f"{name}-{len(runs)}.parquet"
        pq.write_table(table, path, **options)
        return path

    def call(edges, feature_table=None, *flags, **options):
        runs.append(tmp_path / f"run-{len(runs)}")
        vectors = features() if feature_table is None else feature_table
        outcome = coden(
            *("embed", "--run.directory", runs[-1]),
            *("--input.edges", stored("edges", edges, options)),
            *("--input.features", stored("features", vectors, options)),
            *flags,
        )
        assert outcome.code == 0, outcome.stderr
        return snapshots(runs[-1])

    return call


WHOLE = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]


def decimals(precision, scale, kind=pa.decimal128):
    return lambda values: pa.array(
        [decimal.Decimal(int(v)) for v in values], kind(precision, scale)
    )


ID_COLUMNS = {
    **{name: lambda values, name=name: pa.array(values).cast(name) for name in WHOLE},
    "decimal32": decimals(5, 0, pa.decimal32),
    "decimal64": decimals(18, 0, pa.decimal64),
    "decimal128": decimals(38, 0),
    "decimal128 with scale": decimals(20, 4),
    "decimal256": decimals(60, 0, pa.decimal256),
    "dictionary": lambda values: pa.array(values).dictionary_encode(),
}


@pytest.mark.parametrize("ids", ID_COLUMNS.values(), ids=ID_COLUMNS.keys())
def test_whole_number_ids(embed, ids):
    assert embed(log(ids), features(ids)) == embed(log())


TEXT_COLUMNS = {
    "large_string": lambda values: texts(values).cast(pa.large_string()),
    "string_view": lambda values: texts(values).cast(pa.string_view()),
    "dictionary": lambda values: texts(values).dictionary_encode(),
    "dictionary of large_string": lambda values: (
        texts(values).cast(pa.large_string()).dictionary_encode()
    ),
    "dictionary of int8": lambda values: pa.DictionaryArray.from_arrays(
        pa.array(values, pa.int8()), texts(range(NODES))
    ),
}


@pytest.mark.parametrize("ids", TEXT_COLUMNS.values(), ids=TEXT_COLUMNS.keys())
def test_text_ids(embed, ids):
    assert embed(log(ids), features(ids)) == embed(log(texts), features(texts))


TIME_COLUMNS = {
    **{name: pa.array(TIME).cast(name) for name in WHOLE},
    "decimal": pa.array([decimal.Decimal(int(t)) for t in TIME], pa.decimal128(20, 0)),
    "seconds": pa.array(TIME).cast(pa.timestamp("s")),
    "milliseconds": pa.array(TIME).cast(pa.timestamp("ms")),
    "microseconds in Berlin": pa.array(TIME).cast(pa.timestamp("us", "Europe/Berlin")),
    "nanoseconds in UTC": pa.array(TIME).cast(pa.timestamp("ns", "UTC")),
    "date32": pa.array(TIME).cast(pa.int32()).cast(pa.date32()),
}


@pytest.mark.parametrize("times", TIME_COLUMNS.values(), ids=TIME_COLUMNS.keys())
def test_times(embed, times):
    # Parquet has no seconds: what is read back are milliseconds.
    unit = 1000 if times.type == pa.timestamp("s") else 1
    assert embed(log(times=times)) == embed(log(times=TIME * unit))


def test_date64(embed):
    # Parquet keeps days; the schema that Arrow stores beside them says milliseconds.
    times = log(times=pa.array(TIME * DAY_MS).cast(pa.date64()))
    assert embed(times) == embed(log(times=TIME * DAY_MS))
    assert embed(times, None, store_schema=False) == embed(log())


def test_int96(embed):
    times = pa.array(TIME * 1000, pa.timestamp("ns"))
    spark = {"use_deprecated_int96_timestamps": True, "store_schema": False}
    assert embed(log(times=times), None, **spark) == embed(log(times=TIME * 1000))


WRITERS = {
    "nested names of Spark": {"use_compliant_nested_type": False, "store_schema": False},
    "format 1.0": {"version": "1.0"},
    "pages 2.0": {"data_page_version": "2.0"},
    "page index": {"write_page_index": True, "data_page_size": 64},
    "page checksums": {"write_page_checksum": True},
    "small row groups": {"row_group_size": 7},
    "no statistics": {"write_statistics": False},
    "no dictionaries": {"use_dictionary": False},
    "delta": {"use_dictionary": False, "column_encoding": {"time": "DELTA_BINARY_PACKED"}},
    **{name: {"compression": name} for name in ["snappy", "gzip", "zstd", "lz4", "brotli", "none"]},
}


@pytest.mark.parametrize("options", WRITERS.values(), ids=WRITERS.keys())
def test_ways_to_write(embed, tmp_path, options):
    path = tmp_path / "variant.parquet"
    pq.write_table(log(), path, **options)
    options = {key: value for key, value in options.items() if key != "column_encoding"}
    assert embed(path, None, **options) == embed(log())


LISTS = [
    pa.large_list(pa.float32()),
    pa.list_(pa.float32(), WIDTH),
    pa.list_view(pa.float32()),
    pa.large_list_view(pa.float32()),
    pa.list_(pa.float64()),
]


@pytest.mark.parametrize("lists", LISTS, ids=map(str, LISTS))
def test_feature_lists(embed, lists):
    assert embed(log(), features(lists=lists)) == embed(log())


@pytest.mark.parametrize(
    "ids, where",
    [
        (pa.array([1, 2, 2**63], pa.uint64()), "column 'src', row 2: a whole number must be"),
        (pa.array(["1", "2.5", "3"]).cast(pa.decimal128(5, 1)), "column 'src', row 1: a decimal"),
        (pa.array([1, 10**30, 3], pa.decimal128(38, 0)), "column 'src', row 1: a decimal"),
        (pa.array([1.0, 2.0, 3.0]), "column 'src': node ids must be whole numbers"),
        (pa.array([b"a", b"b", b"c"]), "column 'src': node ids must be whole numbers"),
    ],
)
def test_ids_that_are_refused(coden, inputs, ids, where):
    inputs["edges"] = pa.table({"src": ids, "dst": [1, 2, 3], "time": [1, 2, 3]})
    for command in ("embed", "validate"):
        outcome = coden(command, *inputs.flags())
        assert outcome.code == INPUT
    assert where in coden("embed", *inputs.flags()).error


def test_files_of_several_types(embed, tmp_path):
    table = log()
    folder = tmp_path / "lake"
    folder.mkdir()
    narrow = pa.schema([("src", "int8"), ("dst", "int16"), ("time", "int32")])
    pq.write_table(table.slice(0, 100).cast(narrow), folder / "0.parquet")
    pq.write_table(table.slice(100), folder / "1.parquet")
    wide = pa.table({"src": [2**40], "dst": [2**41], "time": [2**42]})
    pq.write_table(wide, folder / "2.parquet")
    assert embed(folder) == embed(pa.concat_tables([table, wide]))


# Real writers. Each writes `table` to `path`.


def write_pandas(table, path):
    pytest.importorskip("pandas", reason="pandas is not installed")
    table.to_pandas().to_parquet(path)


def write_categories(table, path):
    pytest.importorskip("pandas", reason="pandas is not installed")
    frame = table.to_pandas()
    for name in frame.columns[:-1]:
        frame[name] = frame[name].astype("category")
    frame.to_parquet(path)


def write_polars(table, path):
    polars = pytest.importorskip("polars", reason="polars is not installed")
    polars.from_arrow(table).write_parquet(path)


def write_polars_categories(table, path):
    polars = pytest.importorskip("polars", reason="polars is not installed")
    frame = polars.from_arrow(table)
    ends = [name for name in ("src", "dst", "node") if frame.schema.get(name) == polars.String]
    frame.with_columns(polars.col(ends).cast(polars.Categorical)).write_parquet(path)


def write_duckdb(table, path):
    duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed")
    duckdb.from_arrow(table).write_parquet(str(path))


def write_duckdb_casts(table, path):
    duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed")
    types = {"src": "DECIMAL(18, 0)", "dst": "UBIGINT", "node": "USMALLINT", "time": "TIMESTAMPTZ"}
    if pa.types.is_string(table.field(0).type):
        types = {"time": "TIMESTAMPTZ"}
    columns = [
        (f"make_timestamptz({name})" if name == "time" else f"CAST({name} AS {types[name]})")
        + f" AS {name}"
        if name in types
        else name
        for name in table.column_names
    ]
    stored = duckdb.from_arrow(table).project(", ".join(columns))
    stored.write_parquet(str(path), compression="zstd", row_group_size=100)


WRITE = [
    write_pandas,
    write_categories,
    write_polars,
    write_polars_categories,
    write_duckdb,
    write_duckdb_casts,
]


@pytest.mark.parametrize("ids", [pa.array, texts], ids=["numbers", "texts"])
@pytest.mark.parametrize("write", WRITE)
def test_real_writers(embed, tmp_path, write, ids):
    edges, vectors = tmp_path / "edges.parquet", tmp_path / "features.parquet"
    write(log(ids), edges)
    # A vector is no category.
    write(features(ids), vectors)
    assert embed(edges, vectors) == embed(log(ids), features(ids))


# Folders that are columns.


def hive(folder, table, column, names):
    """Write the rows of every value of `column` to a folder of their own."""
    for value in sorted(set(table[column].to_pylist())):
        part = table.filter(pa.compute.equal(table[column], value)).drop_columns([column])
        path = folder / f"{column}={names(value)}"
        path.mkdir(parents=True)
        for number in range(2):
            half = part.slice(number * (len(part) // 2), len(part) // 2 if number == 0 else None)
            pq.write_table(half, path / f"part-{number}.parquet")
    (folder / "_SUCCESS").write_text("")
    return folder


def test_time_is_a_numbered_folder(embed, tmp_path):
    table = log(times=TIME // 5)
    lake = hive(tmp_path / "lake", table, "time", str)
    assert (lake / "time=9").exists() and (lake / "time=10").exists()
    assert embed(lake) == embed(table)
    assert embed(lake / "*" / "part-*.parquet") == embed(table)


def test_time_is_a_dated_folder(embed, tmp_path):
    days = log(times=18_000 + TIME // 5).rename_columns(["src", "dst", "day"])
    start = datetime.date(1970, 1, 1)
    lake = hive(tmp_path / "lake", days, "day", lambda day: start + datetime.timedelta(days=day))
    assert embed(lake, None, "--input.time", "day") == embed(days, None, "--input.time", "day")


def test_column_of_the_file_wins(embed, tmp_path):
    lake = tmp_path / "lake"
    for number, begin in enumerate(range(0, ROWS, 100)):
        folder = lake / f"time={number}" / "src=7"
        folder.mkdir(parents=True)
        pq.write_table(log().slice(begin, 100), folder / "part.parquet")
    assert embed(lake) == embed(log())


def test_node_ids_in_folders(embed, tmp_path):
    table = log().sort_by([("src", "ascending"), ("time", "ascending")])
    table = table.set_column(2, "time", pa.array(np.arange(ROWS)))
    lake = hive(tmp_path / "lake", table, "src", str)
    assert embed(lake) == embed(table)


def test_folder_without_a_value(coden, inputs, tmp_path):
    lake = tmp_path / "lake"
    for value in ("1", "__HIVE_DEFAULT_PARTITION__"):
        (lake / f"time={value}").mkdir(parents=True)
        pq.write_table(log().drop_columns(["time"]), lake / f"time={value}" / "part.parquet")
    outcome = coden("embed", *inputs.flags("--input.edges", lake))
    assert outcome.code == INPUT
    place = "file 'time=__HIVE_DEFAULT_PARTITION__/part.parquet', column 'time', row 0"
    assert f"{place}: a null is not allowed" in outcome.error


# Tables whose log says which files count.


@pytest.mark.parametrize("partition", [None, "part"], ids=["whole", "partitioned"])
@pytest.mark.parametrize("write, kind", [(write_delta, "a Delta"), (write_iceberg, "an Iceberg")])
def test_tables_are_not_read_as_folders_of_files(coden, inputs, tmp_path, write, kind, partition):
    edges = inputs["edges"]
    parts = pa.array(np.arange(len(edges)) % 2)
    table = write(tmp_path / "lake", edges.append_column("part", parts), partition)
    file = next(path for path in table.rglob("*.parquet"))
    refused = f"'{table}' is {kind} table, and files that the table has removed would be counted"
    for path in {table, file.parent, file, file.parent / "*.parquet"}:
        outcome = coden("embed", *inputs.flags("--input.edges", path))
        assert outcome.code == INPUT
        assert outcome.error.startswith(f"cannot read '{path}' as plain files: {refused}")
        assert ("deltalake.DeltaTable(" if write is write_delta else "pyiceberg") in outcome.error
    if partition or write is write_iceberg:
        return
    for name in ("features", "labels", "feature_updates", "split"):
        flags = inputs.flags(f"--input.{name}", table)
        if name == "split":
            flags += ["--train.split_by", "file"]
        outcome = coden("run", *flags)
        assert outcome.code == INPUT, name
        assert refused in outcome.error


def test_a_delta_table_with_deleted_rows_is_refused(coden, inputs, tmp_path):
    deltalake = pytest.importorskip("deltalake", reason="deltalake is not installed")
    table = tmp_path / "lake"
    edges = inputs["edges"]
    deltalake.write_deltalake(table, edges)
    deltalake.DeltaTable(table).delete("time >= 100")
    left = deltalake.DeltaTable(table).to_pyarrow_table().num_rows
    stored = sum(pq.read_metadata(path).num_rows for path in table.rglob("*.parquet"))
    assert 0 < left < len(edges) < stored, "plain files would count the deleted rows"
    for command in ("embed", "run", "validate", "plan"):
        outcome = coden(command, *inputs.flags("--input.edges", table))
        assert outcome.code == INPUT
        said = " ".join((outcome.stdout + outcome.stderr).split())
        assert f"'{table}' is a Delta table" in said, said
    assert not list(inputs.run.rglob("*.parquet"))
