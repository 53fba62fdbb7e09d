"""Embeddings of a table as one matrix, whatever `snapshot.layout` and precision they have."""

import re
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

Matrix = npt.NDArray[Any]


def stored_dtype(schema: pa.Schema) -> npt.DTypeLike:
    """float32 or float16, as the files have it."""
    field = schema.field("embedding" if "embedding" in schema.names else "e0").type
    value_type = field.field(0).type if field.num_fields else field
    return np.float16 if pa.types.is_float16(value_type) else np.float32


def embedding_matrix(table: pa.Table, dim: int, dtype: npt.DTypeLike) -> Matrix:
    """Rows x dim.

    Shares memory with the table, and cannot be written to, where layout (`list` or `fixed`),
    dtype and chunks (one) allow. Raises ValueError where the table is not that of a snapshot.
    """
    if "embedding" in table.column_names:
        parts = [_of_lists(chunk, dim) for chunk in table["embedding"].chunks]
        matrix = parts[0] if len(parts) == 1 else np.concatenate(parts or [_empty(dim)])
    else:
        matrix = _of_columns(table, dim)
    return matrix.astype(dtype, copy=False)


def one_chunk(column: pa.ChunkedArray) -> pa.Array:
    """The column as one array; copied only where it is in several."""
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def _of_lists(column: pa.Array, dim: int) -> Matrix:
    if not (pa.types.is_list(column.type) or pa.types.is_fixed_size_list(column.type)):
        raise ValueError(f"embedding must be a list, not {column.type}")
    _require_float(column.type.value_type)
    if pa.types.is_fixed_size_list(column.type):
        even = column.type.list_size == dim
    else:
        lengths = pc.min_max(pc.list_value_length(column))
        even = len(column) == 0 or lengths["min"].as_py() == lengths["max"].as_py() == dim
    if column.null_count or not even:
        raise ValueError(f"an embedding does not have {dim} values")
    # flatten, unlike values, knows of a slice.
    matrix: Matrix = column.flatten().to_numpy(zero_copy_only=True).reshape(len(column), dim)
    return matrix


def _of_columns(table: pa.Table, dim: int) -> Matrix:
    names = [name for name in table.column_names if re.fullmatch(r"e\d+", name)]
    if names != [f"e{i}" for i in range(dim)]:
        raise ValueError(f"there is neither a column embedding nor columns e0 to e{dim - 1}")
    for name in names:
        _require_float(table.schema.field(name).type)
    matrix = np.empty((table.num_rows, dim), table.schema.field("e0").type.to_pandas_dtype())
    for i, name in enumerate(names):
        matrix[:, i] = table[name].to_numpy()
    return matrix


def _empty(dim: int) -> Matrix:
    return np.empty((0, dim), np.float32)


def _require_float(value_type: pa.DataType) -> None:
    if not (pa.types.is_float32(value_type) or pa.types.is_float16(value_type)):
        raise ValueError(f"embeddings must be float32 or float16, not {value_type}")
