"""Ids that a caller gives, as an array of the type that the run has."""

from typing import Any

import pyarrow as pa

from coden.errors import RunError, one_line


def node_ids(nodes: Any, node_type: pa.DataType) -> pa.Array:
    """A list, NumPy array, Arrow array or series of ids; never takes text for a number."""
    try:
        ids = nodes.combine_chunks() if isinstance(nodes, pa.ChunkedArray) else pa.array(nodes)
        numbers = pa.types.is_integer(ids.type)
        if len(ids) and numbers != pa.types.is_integer(node_type):
            raise RunError(f"ids of this run are {node_type}, not {ids.type}")
        return ids.cast(node_type)
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise RunError(f"ids of this run are {node_type}: {one_line(error)}") from None
