"""Snapshots put together from the files of a run, by the schedule alone."""

import numpy as np
import pyarrow.parquet as pq


def schedule(run):
    return pq.ParquetFile(run / "schedule.parquet").read()


def snapshot_file(run, number):
    return pq.ParquetFile(run / f"snapshots/snapshot={number:06}/part-0.parquet")


def file_rows(run, number):
    """Node -> numbers as they were written, of the rows that one file holds, in their order."""
    table = snapshot_file(run, number).read()
    if table.num_rows == 0:
        return {}
    if "embedding" in table.column_names:
        lists = table["embedding"].combine_chunks()
        values = lists.flatten().to_numpy(zero_copy_only=False).reshape(len(lists), -1)
    else:
        columns = [name for name in table.column_names if name != "node"]
        assert columns == [f"e{i}" for i in range(len(columns))]
        values = np.stack([table[name].to_numpy() for name in columns], axis=1)
    return dict(zip(table["node"].to_pylist(), values, strict=True))


def whole_snapshot(run, number):
    """Node -> numbers: the rows of the base with the snapshot's own over them."""
    base = schedule(run)["base"][number].as_py()
    return {**file_rows(run, base), **file_rows(run, number)}
