"""Other programs read the snapshots of a run as they are, and get the same numbers."""

import functools
import shutil

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from small_run import call, embed
from table import (
    LAYOUTS,
    PAGE,
    PRECISIONS,
    READERS,
    SAME,
    WITHOUT_SNAPSHOT,
    expected,
    page,
    refusal,
    snippet,
)
from whole_snapshots import schedule, whole_snapshot


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Run of a layout, a precision and a kind of ids; made once."""

    @functools.cache
    def make(layout, precision, ids):
        folder = tmp_path_factory.mktemp(f"{layout}-{precision}-{ids}")
        return embed(folder, "--snapshot.layout", layout, *PRECISIONS[precision], ids=ids)

    return make


def as_arrow(table):
    """Whatever a reader gives, as an Arrow table."""
    if isinstance(table, pa.Table):
        return table
    if hasattr(table, "to_arrow"):
        return table.to_arrow()
    return pa.Table.from_pandas(table, preserve_index=False)


def rows(table, snapshot=None):
    """Every row as (snapshot, node, values...), sorted; the values exactly, as Python floats."""
    table = as_arrow(table)
    names = [name for name in table.column_names if name not in ("node", "snapshot")]
    if names == ["embedding"]:
        values = [list(map(float, row)) for row in table["embedding"].to_pylist()]
    else:
        assert names == [f"e{i}" for i in range(len(names))]
        columns = [table[name].to_numpy().astype(np.float64) for name in names]
        values = np.stack(columns, axis=1).tolist()
    if "snapshot" in table.column_names:
        numbers = list(map(int, table["snapshot"].to_pylist()))
    else:
        numbers = [snapshot] * table.num_rows
    nodes = table["node"].to_pylist()
    return sorted((k, n, *v) for k, n, v in zip(numbers, nodes, values, strict=True))


def rows_file_by_file(run):
    found = []
    for path in sorted(run.glob("snapshots/*/part-0.parquet")):
        number = int(path.parent.name.removeprefix("snapshot="))
        found += rows(pq.ParquetFile(path).read(), number)
    return sorted(found)


def read(reader, run, tmp_path):
    """Run the lines of the page; they leave their result in `table`."""
    warehouse = tmp_path / "warehouse"
    warehouse.mkdir()
    names = {"run": str(run), "warehouse": str(warehouse)}
    exec(compile(snippet(reader), f"{PAGE.name}: {reader}", "exec"), names)
    return names["table"]


def outcome(reader, run, tmp_path):
    """The cell of the table for this run."""
    truth = rows_file_by_file(run)
    assert len({row[0] for row in truth}) >= 3 and len(truth[0]) == 2 + 5
    try:
        table = read(reader, run, tmp_path)
    except Exception as error:
        return refusal(error)
    if "snapshot" in as_arrow(table).column_names:
        assert rows(table) == truth
        return SAME
    assert sorted(row[1:] for row in rows(table)) == sorted(row[1:] for row in truth)
    return WITHOUT_SNAPSHOT


def import_packages(reader):
    for package in READERS[reader]:
        pytest.importorskip(package)


@pytest.mark.parametrize("ids", ["int", "string"])
@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("reader", READERS)
def test_reader_gives_what_the_table_says(runs, reader, layout, precision, ids, tmp_path):
    import_packages(reader)
    run = tmp_path / "run"
    shutil.copytree(runs(layout, precision, ids), run)
    assert outcome(reader, run, tmp_path) == expected(reader, layout, precision)


@pytest.mark.parametrize("ids", ["int", "string"])
@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_deltas_are_put_together_by_duckdb(layout, precision, ids, tmp_path):
    import_packages("DuckDB")
    # A threshold, so that a log this small has rows that stay.
    deltas = ["--snapshot.mode", "delta", "--snapshot.threshold", "0.1"]
    flags = ["--snapshot.layout", layout, *PRECISIONS[precision], *deltas]
    run = embed(tmp_path, *flags, ids=ids)
    truth = [
        (number, node, *map(float, values))
        for number in range(schedule(run).num_rows)
        for node, values in whole_snapshot(run, number).items()
    ]
    assert len(truth) > len(rows_file_by_file(run))
    assert rows(read("Deltas in DuckDB", run, tmp_path)) == sorted(truth)


def test_a_delta_log_disturbs_no_other_reader(tmp_path):
    import_packages("Delta Lake")
    run = embed(tmp_path)
    (tmp_path / "delta").mkdir()
    read("Delta Lake", run, tmp_path / "delta")
    for reader in ["pyarrow", "DuckDB", "Polars", "pandas"]:
        import_packages(reader)
        (tmp_path / reader).mkdir()
        assert outcome(reader, run, tmp_path / reader) == SAME
    again = call("embed", run / "_coden" / "settings.ini")
    assert "embedding: settings and inputs are unchanged, skipped" in again.stderr


def test_the_page_shows_the_table():
    assert PAGE.read_text() == page(), "python tests/interop/table.py rewrites it"
