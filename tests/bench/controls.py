"""Controls that need no training: the commonest class, the last known label, label propagation.

They and the models are scored on the same pairs of a node and a prediction time, which come
from the predictions of a trained run: its split, its labels, and who is present.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import scipy.sparse as sp

ALPHA = 0.2
TOLERANCE = 1e-7  # mean error per node, as `embed.epsilon`


@dataclass
class Pairs:
    """One row for every training run, labelled node and prediction time."""

    run: np.ndarray
    node: np.ndarray
    time: np.ndarray
    label: np.ndarray
    split: np.ndarray
    present: np.ndarray

    @staticmethod
    def of(predictions: pa.Table) -> Pairs:
        columns = ("run", "node", "time", "label", "split", "present")
        return Pairs(*(predictions[name].to_numpy() for name in columns))

    def same(self, other: Pairs) -> bool:
        return all(np.array_equal(values, vars(other)[name]) for name, values in vars(self).items())

    @property
    def times(self) -> np.ndarray:
        return np.unique(self.time)

    @property
    def num_runs(self) -> int:
        return int(self.run.max()) + 1

    def micro_f1(self, predicted: np.ndarray, absent_too: bool = False) -> np.ndarray:
        """[runs, times] over the test nodes that are present, or over all."""
        counted = self.split == "test"
        if not absent_too:
            counted &= self.present
        times = self.times
        shape = (self.num_runs, len(times))
        cell = self.run[counted] * shape[1] + np.searchsorted(times, self.time[counted])
        right = (predicted == self.label)[counted]
        size = shape[0] * shape[1]
        sums = np.bincount(cell, weights=right, minlength=size)
        return (sums / np.bincount(cell, minlength=size)).reshape(shape)


def commonest(labels: np.ndarray) -> np.generic:
    classes, counts = np.unique(labels, return_counts=True)
    return classes[np.argmax(counts)]


def majority(pairs: Pairs) -> np.ndarray:
    """The commonest class of the training nodes that are present, for every pair."""
    predicted = np.empty_like(pairs.label)
    for run in range(pairs.num_runs):
        for time in pairs.times:
            here = (pairs.run == run) & (pairs.time == time)
            known = here & (pairs.split == "train") & pairs.present
            predicted[here] = commonest(pairs.label[known])
    return predicted


def last_label(pairs: Pairs, labels: pa.Table, start: int) -> np.ndarray:
    """The label that the node had at the prediction time before, and first at `start`.

    Some nodes had none by then: they get the commonest class.
    """
    node, label, since = (labels[name].to_numpy() for name in ("node", "label", "time"))
    order = np.lexsort((since, node))
    predicted = majority(pairs)
    before = start
    for time in pairs.times:
        by_then = order[since[order] <= before]
        known = dict(zip(node[by_then], label[by_then], strict=True))  # the latest remains
        for pair in np.flatnonzero(pairs.time == time):
            predicted[pair] = known.get(pairs.node[pair], predicted[pair])
        before = time
    return predicted


class Log:
    """The graph of a log of insertions, without directions, at any time."""

    def __init__(self, edges: Path, nodes: np.ndarray):
        table = pq.read_table(edges, columns=["src", "dst", "time"])
        src, dst, self.time = (table[name].to_numpy() for name in ("src", "dst", "time"))
        self.ids = np.unique(np.concatenate([src, dst, nodes]))
        self.src, self.dst = np.searchsorted(self.ids, src), np.searchsorted(self.ids, dst)

    def operator(self, time: int) -> sp.csr_matrix:
        """P[v,u] = 1/d(u) over the edges up to `time`, each once."""
        by_then = (self.time <= time) & (self.src != self.dst)
        src, dst = self.src[by_then], self.dst[by_then]
        ends = np.concatenate([src, dst]), np.concatenate([dst, src])
        size = len(self.ids)
        graph = sp.csr_matrix((np.ones(len(ends[0]), np.float64), ends), shape=(size, size))
        graph.data[:] = 1.0  # the constructor adds up repeated edges
        degrees = np.maximum(graph.sum(axis=0).A1, 1.0)
        return (graph @ sp.diags(1.0 / degrees)).tocsr()


def rank(operator: sp.csr_matrix, x: np.ndarray, z: np.ndarray) -> np.ndarray:
    """Iterate z = ALPHA x + (1 - ALPHA) P z from `z` until it is within the tolerance.

    The L1 norm of a column shrinks by 1 - ALPHA with every step, so what is left is at most
    (1 - ALPHA) / ALPHA times the last step.
    """
    scaled, base = operator * (1 - ALPHA), ALPHA * x
    while True:
        last, z = z, scaled @ z + base
        left = np.abs(z - last).sum(axis=0).max() * (1 - ALPHA) / ALPHA
        if left <= TOLERANCE * len(z):
            return z


def propagation(pairs: Pairs, edges: Path) -> np.ndarray:
    """The class of which most comes to a node from the one-hot labels of the training nodes.

    Nothing comes to some nodes: they get the commonest class.
    """
    log = Log(edges, pairs.node)
    place = np.searchsorted(log.ids, pairs.node)
    classes, label = np.unique(pairs.label, return_inverse=True)
    predicted = majority(pairs)
    z = np.zeros((len(log.ids), pairs.num_runs * len(classes)))
    for time in pairs.times:
        here = np.flatnonzero(pairs.time == time)
        known = here[pairs.split[here] == "train"]
        x = np.zeros_like(z)
        x[place[known], pairs.run[known] * len(classes) + label[known]] = 1.0
        z = rank(log.operator(time), x, z)
        mass = z.reshape(len(z), pairs.num_runs, len(classes))[place[here], pairs.run[here]]
        reached = mass.max(axis=1) > 0.0
        predicted[here[reached]] = classes[mass[reached].argmax(axis=1)]
    return predicted
