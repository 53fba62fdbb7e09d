"""One snapshot: the embeddings of every node that is there at one time."""

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from coden.embeddings import Matrix, one_chunk

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True, eq=False, repr=False)
class Snapshot:
    number: int
    time: int
    """In the unit of the log's time column."""
    prediction: int
    """Prediction interval it lies in, from 1; 0 is the initial graph."""
    table: pa.Table
    nodes: pa.Array
    """The user's ids, row by row."""
    embeddings: Matrix
    """len(nodes) x dim, row by row as `nodes`; may share the memory of `table`: do not write."""

    def torch(self) -> "torch.Tensor":
        """The embeddings as a tensor that shares their memory."""
        return shared_tensor(self.embeddings)

    def __repr__(self) -> str:
        rows, dim = self.embeddings.shape
        return f"<coden.Snapshot {self.number}: time {self.time}, {rows} nodes x {dim}>"


def laid_over(base: pa.Table, own: pa.Table) -> pa.Table:
    """The rows of `base`, replaced by those of `own` with the same node; new nodes behind."""
    replaced = one_chunk(pc.index_in(base["node"], value_set=own["node"])).fill_null(-1).to_numpy()
    over_base = np.where(replaced < 0, np.arange(base.num_rows), base.num_rows + replaced)
    new = pc.invert(pc.is_in(own["node"], value_set=base["node"])).to_numpy()
    rows = np.concatenate([over_base, base.num_rows + np.flatnonzero(new)])
    return pa.concat_tables([base, own]).take(pa.array(rows))


def shared_tensor(array: Matrix) -> "torch.Tensor":
    import torch

    with warnings.catch_warnings():
        # Arrow's memory is not to be written to, which torch cannot express.
        warnings.filterwarnings("ignore", message=".*not writable.*")
        return torch.from_numpy(array)
