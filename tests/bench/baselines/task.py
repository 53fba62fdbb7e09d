"""One split of one data set, as every baseline sees it.

Nodes are numbered by their first event, so the nodes that are there at t_k are the first
`counts[k]`, and neither number nor order of them depends on anything after t_k. Split, labels
and prediction times are those of a training run of coden.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import torch
from baselines.snapshots import Snapshot, make_snapshots
from controls import Pairs, commonest
from torch import Tensor


@dataclass
class Log:
    """Events in order of time, by the ids of the file."""

    src: np.ndarray
    dst: np.ndarray
    time: np.ndarray

    @staticmethod
    def read(path: Path) -> Log:
        table = pq.read_table(path, columns=["src", "dst", "time"])
        log = Log(*(table[name].to_numpy() for name in table.column_names))
        order = np.argsort(log.time, kind="stable")
        return Log(log.src[order], log.dst[order], log.time[order])


@dataclass
class Features:
    node: np.ndarray
    x: np.ndarray

    @staticmethod
    def read(path: Path) -> Features:
        table = pq.read_table(path, columns=["node", "x"]).combine_chunks()
        node = table["node"].to_numpy()
        values = table["x"].chunk(0).flatten().to_numpy()
        return Features(node, values.reshape(len(node), -1))

    def rows(self, ids: np.ndarray) -> np.ndarray:
        """Those of `ids`; a node that the file lacks has zeros."""
        order = np.argsort(self.node)
        place = np.minimum(np.searchsorted(self.node[order], ids), len(order) - 1)
        place = order[place]
        return np.where((self.node[place] == ids)[:, None], self.x[place], 0.0).astype(np.float32)


def scaled(x: np.ndarray, how: str, num_known: int) -> np.ndarray:
    """Features `raw`, with rows of length 1 (`row`), or standardised by column (`column`).

    Mean and spread are those of the first `num_known` nodes. Rows of zeros, which are
    nodes without features, stay as they are.
    """
    known = np.abs(x).max(axis=1, keepdims=True) > 0.0
    if how == "row":
        return x / np.where(known, np.linalg.norm(x, axis=1, keepdims=True), 1.0)
    if how == "column":
        rows = x[:num_known][known[:num_known, 0]]
        spread = rows.std(axis=0)
        return np.where(known, (x - rows.mean(axis=0)) / np.where(spread > 0.0, spread, 1.0), 0.0)
    return x


def of_run(pairs: Pairs, run: int) -> Pairs:
    """The pairs of one training run, as the only one."""
    here = pairs.run == run
    one = Pairs(*(values[here] for values in vars(pairs).values()))
    one.run = np.zeros_like(one.run)
    return one


class Task:
    def __init__(self, pairs: Pairs, log: Log, features: Features, scaling: str = "raw"):
        """`pairs` are of one run."""
        self.pairs = pairs
        self.times = pairs.times
        self.ids, first = first_events(log, self.times[-1])
        self.counts = [int(count) for count in np.searchsorted(first, self.times, "right")]
        self.read_pairs()
        by_id = np.argsort(self.ids)
        last = np.searchsorted(log.time, self.times[-1], "right")
        self.src, self.dst = (
            torch.from_numpy(by_id[np.searchsorted(self.ids[by_id], ends[:last])])
            for ends in (log.src, log.dst)
        )
        self.event_times = torch.from_numpy(log.time[:last].astype(np.int64))
        self.num_events = np.searchsorted(log.time, self.times, "right").tolist()
        x = scaled(features.rows(self.ids), scaling, self.counts[0])
        self.x = torch.from_numpy(np.ascontiguousarray(x, np.float32))

    def read_pairs(self) -> None:
        pairs = self.pairs
        by_id = np.argsort(self.ids)
        place = np.minimum(np.searchsorted(self.ids[by_id], pairs.node), len(by_id) - 1)
        place = by_id[place]
        self.column = np.searchsorted(self.times, pairs.time)
        there = (self.ids[place] == pairs.node) & (place < np.array(self.counts)[self.column])
        assert np.array_equal(there, pairs.present), "who is present is not what the log says"
        self.place = np.where(there, place, -1)
        self.classes, code = np.unique(pairs.label, return_inverse=True)
        labels = np.full(len(self.ids), -1)
        labels[place[there]] = code[there]
        assert (labels[place[there]] == code[there]).all(), "labels that change are not handled"
        self.labels = torch.from_numpy(labels)
        self.nodes = {
            part: torch.from_numpy(np.unique(place[there & (pairs.split == part)]))
            for part in ("train", "validate", "test")
        }

    @property
    def num_classes(self) -> int:
        return len(self.classes)

    @cached_property
    def snapshots(self) -> list[Snapshot]:
        return make_snapshots(self.src, self.dst, self.num_events, self.counts, self.x)

    def nodes_at(self, part: str, k: int) -> Tensor:
        """In ascending order, those of a part that are there at t_k."""
        nodes = self.nodes[part]
        return nodes[: int(torch.searchsorted(nodes, self.counts[k]))]

    def accuracy(self, part: str, k: int, logits: Tensor) -> float:
        """`logits` are of `nodes_at(part, k)`."""
        wanted = self.labels[self.nodes_at(part, k)]
        return float((logits.argmax(1) == wanted).float().mean())

    def micro_f1(self, codes: list[Tensor]) -> np.ndarray:
        """By prediction time; `codes[k]` has a class for every node that is there at t_k."""
        known = self.pairs.split == "train"
        predicted = np.full_like(self.pairs.label, commonest(self.pairs.label[known]))
        for k, code in enumerate(codes):
            here = np.flatnonzero((self.column == k) & (self.place >= 0))
            predicted[here] = self.classes[code.numpy()[self.place[here]]]
        return self.pairs.micro_f1(predicted)[0]


def first_events(log: Log, last_time: int) -> tuple[np.ndarray, np.ndarray]:
    """Nodes that have had an event by then and the times of their first, in that order."""
    stop = np.searchsorted(log.time, last_time, "right")
    ends = np.stack([log.src[:stop], log.dst[:stop]], 1).ravel()
    ids, first = np.unique(ends, return_index=True)
    time = log.time[first // 2]
    order = np.lexsort((ids, time))
    return ids[order], time[order]
