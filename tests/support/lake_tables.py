"""Tables of Delta Lake and Iceberg, with files that the table has removed but not deleted."""

import pyarrow.parquet as pq
import pytest


def write_delta(folder, table, partition=None):
    """Write `table`, then overwrite it with the same rows; return the folder of the table.

    The files of the first time are no longer part of the table, but stay in its folder.
    """
    deltalake = pytest.importorskip("deltalake", reason="deltalake is not installed")
    by = [partition] if partition else None
    deltalake.write_deltalake(folder, table, partition_by=by)
    deltalake.write_deltalake(folder, table, partition_by=by, mode="overwrite")
    assert deltalake.DeltaTable(folder).to_pyarrow_table().num_rows == table.num_rows
    check_removed_files_are_there(folder, table)
    return folder


def write_iceberg(warehouse, table, partition=None):
    """The same for Iceberg, in a catalog of its own."""
    pytest.importorskip("pyiceberg", reason="pyiceberg is not installed")
    from pyiceberg.catalog.sql import SqlCatalog
    from pyiceberg.transforms import IdentityTransform

    warehouse.mkdir()
    catalog = SqlCatalog(
        "lake", uri=f"sqlite:///{warehouse}/catalog.db", warehouse=f"file://{warehouse}"
    )
    catalog.create_namespace("logs")
    iceberg = catalog.create_table("logs.mine", schema=table.schema)
    if partition:
        with iceberg.update_spec() as spec:
            spec.add_field(partition, IdentityTransform(), partition)
    iceberg.append(table)
    iceberg.overwrite(table)
    assert iceberg.scan().to_arrow().num_rows == table.num_rows
    folder = warehouse / "logs" / "mine"
    check_removed_files_are_there(folder, table)
    return folder


def check_removed_files_are_there(folder, table):
    files = [path for path in folder.rglob("*.parquet") if "_delta_log" not in path.parts]
    assert sum(pq.read_metadata(path).num_rows for path in files) == 2 * table.num_rows
