"""Graphs at the prediction times, and the operators that graph networks apply to them.

A graph has every edge once, without directions; self loops of the log are dropped. Both operators
are CSR matrices with their transposes beside them, so that the gradient is a product of the same
kind: that of PyTorch converts the matrix at every step.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor


class Product(torch.autograd.Function):
    @staticmethod
    def forward(context, matrix: Tensor, transposed: Tensor, x: Tensor) -> Tensor:
        context.transposed = transposed
        return matrix @ x

    @staticmethod
    def backward(context, gradient: Tensor) -> tuple[None, None, Tensor]:
        return None, None, context.transposed @ gradient.contiguous()


def to_torch(matrix: sp.csr_matrix) -> Tensor:
    parts = (matrix.indptr, matrix.indices)
    indices = (torch.from_numpy(part.astype(np.int64)) for part in parts)
    values = torch.from_numpy(matrix.data.astype(np.float32))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Sparse")  # CSR is beta, and it is not checked
        return torch.sparse_csr_tensor(*indices, values, size=matrix.shape)


@dataclass
class Operator:
    matrix: Tensor
    transposed: Tensor

    @staticmethod
    def of(matrix: sp.csr_matrix) -> Operator:
        return Operator(to_torch(matrix.tocsr()), to_torch(matrix.T.tocsr()))

    def __call__(self, x: Tensor) -> Tensor:
        return Product.apply(self.matrix, self.transposed, x)


@dataclass
class Snapshot:
    adjacency: sp.csr_matrix = field(repr=False)
    x: Tensor = field(repr=False)

    @property
    def num_nodes(self) -> int:
        return len(self.x)

    @cached_property
    def normalised(self) -> Operator:
        """D^(-1/2) (A + I) D^(-1/2), with the degrees of A + I."""
        looped = self.adjacency + sp.eye_array(self.num_nodes, format="csr")
        scale = sp.diags_array(1.0 / np.sqrt(looped.sum(axis=1)))
        return Operator.of(scale @ looped @ scale)

    @cached_property
    def mean(self) -> Operator:
        """D^-1 A: the mean over the neighbours, zero where there are none."""
        degrees = np.maximum(self.adjacency.sum(axis=1), 1.0)
        return Operator.of(sp.diags_array(1.0 / degrees) @ self.adjacency)

    @cached_property
    def normalised_x(self) -> Tensor:
        return self.normalised(self.x)

    @cached_property
    def mean_x(self) -> Tensor:
        return self.mean(self.x)


def make_snapshots(
    src: Tensor, dst: Tensor, num_events: list[int], counts: list[int], x: Tensor
) -> list[Snapshot]:
    """One for each prediction time k, of the first `num_events[k]` events."""
    snapshots = []
    for stop, count in zip(num_events, counts, strict=True):
        ends = src[:stop].numpy(), dst[:stop].numpy()
        rows, columns = np.concatenate(ends), np.concatenate(ends[::-1])
        apart = rows != columns
        values = np.ones(int(apart.sum()))
        shape = (count, count)
        adjacency = sp.csr_array((values, (rows[apart], columns[apart])), shape=shape)
        adjacency.data[:] = 1.0  # the constructor adds up repeated edges
        snapshots.append(Snapshot(adjacency, x[:count]))
    return snapshots
