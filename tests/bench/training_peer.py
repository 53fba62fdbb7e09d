"""The same training in PyTorch, on the snapshots of a run; prints its figures as JSON.

    python tests/bench/training_peer.py RUN --model coden|coden-s [--epochs 3]

What somebody would write who has the snapshots and knows PyTorch well: histories of the
labelled nodes in one array that is allocated once, a mini-batch by one index_select, the
kernel form of the state-space model as one batched product, only pairs that count in the
classifier, the fused optimizer, all cores. Split, labels and pairs are those of the one training
run there. Call it with OMP_WAIT_POLICY=PASSIVE: threads that spin are slow where the machine has
other work, and no quicker where it has none.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, pad, softplus
from training_run import peak_memory

BATCH = 1024
HIDDEN = 512
STATES = 16
RATE = 1e-3
DROPOUT = 0.5


def read(path: Path, columns: list[str], categories: tuple[str, ...] = ()) -> pa.Table:
    """One file, without what the datasets of pyarrow hold besides."""
    return pq.ParquetFile(path, read_dictionary=categories).read(columns).combine_chunks()


class Task:
    """Labels and pairs of training and validation nodes, and what a model reads of them."""

    def __init__(self, run: Path, history: bool):
        self.read_pairs(run)
        schedule = pq.read_table(run / "schedule.parquet").to_pylist()
        self.at = [i for i, point in enumerate(schedule) if point["at_prediction"]]
        held = range(self.at[-1] + 1) if history else self.at
        self.inputs = self.read_snapshots(run, held, snapshots_last=history)

    def read_pairs(self, run: Path) -> None:
        columns = ["node", "prediction", "label", "split", "present"]
        table = read(run / "predictions.parquet", columns, categories=("split",))
        node, prediction, label = (table[name].to_numpy() for name in columns[:3])
        self.nodes, row = np.unique(node, return_inverse=True)
        times, column = np.unique(prediction, return_inverse=True)
        shape = len(self.nodes), len(times)
        classes, code = np.unique(label, return_inverse=True)
        self.num_classes = len(classes)
        labels, counts = np.zeros(shape, np.int64), np.zeros(shape, bool)
        labels[row, column] = code
        counts[row, column] = table["present"].to_numpy()
        parts = table["split"].chunk(0)
        names = parts.dictionary.to_pylist()
        split = np.empty(len(self.nodes), np.int32)
        split[row] = parts.indices.to_numpy()
        self.labels, self.counts = torch.from_numpy(labels), torch.from_numpy(counts)
        self.train, self.validate = (
            torch.from_numpy(np.flatnonzero((split == names.index(part)) & counts.any(axis=1)))
            for part in ("train", "validate")
        )

    def read_snapshots(self, run: Path, snapshots, snapshots_last: bool) -> Tensor:
        """[nodes, channels, snapshots], or [nodes, snapshots, channels]; rows of length 1."""
        held = None
        for i, snapshot in enumerate(snapshots):
            path = run / f"snapshots/snapshot={snapshot:06d}/part-0.parquet"
            table = read(path, ["node", "embedding"])
            node = table["node"].to_numpy()
            rows = table["embedding"].chunk(0).flatten().to_numpy().reshape(len(node), -1)
            place = np.minimum(np.searchsorted(self.nodes, node), len(self.nodes) - 1)
            known = self.nodes[place] == node
            rows = rows[known]
            length = np.linalg.norm(rows, axis=1, keepdims=True)
            rows /= np.where(length > 0.0, length, 1.0)
            if held is None:
                shape = [len(self.nodes), rows.shape[1]]
                shape.insert(2 if snapshots_last else 1, len(snapshots))
                held = np.zeros(shape, np.float32)
            if snapshots_last:
                held[place[known], :, i] = rows
            else:
                held[place[known], i] = rows
        return torch.from_numpy(held)

    def num_pairs(self, nodes: Tensor) -> int:
        return int(self.counts[nodes].sum())


class DiagonalSsm(nn.Module):
    """y = sum_i C M + D h with M <- exp(Delta A) M + expm1(Delta A) / A B h, as a kernel."""

    def __init__(self, channels: int, at: list[int]):
        super().__init__()
        rates = torch.arange(1, STATES + 1, dtype=torch.float32)
        self.log_rate = nn.Parameter(rates.log().repeat(channels, 1))
        self.input = nn.Parameter(torch.ones(channels, STATES))
        self.output = nn.Parameter(torch.zeros(channels, STATES))
        step = 1e-3 * torch.exp(torch.rand(channels) * math.log(0.5 / 1e-3))
        self.step = nn.Parameter(torch.log(torch.expm1(step)))
        self.skip = nn.Parameter(torch.ones(channels))
        self.at = at
        self.register_buffer("lags", torch.arange(at[-1] + 1, dtype=torch.float32))

    def matrix(self) -> Tensor:
        """[channels, snapshots, times]: what a snapshot adds to a prediction time."""
        rate = -torch.exp(self.log_rate)
        log_decay = softplus(self.step).unsqueeze(1) * rate
        weight = self.output * torch.expm1(log_decay) / rate * self.input
        decays = torch.exp(log_decay.unsqueeze(2) * self.lags)
        kernel = torch.bmm(weight.unsqueeze(1), decays).squeeze(1)
        kernel = torch.cat([kernel[:, :1] + self.skip.unsqueeze(1), kernel[:, 1:]], 1)
        count = len(self.lags)
        shifted = pad(kernel.flip(1), (0, count))
        return torch.stack([shifted[:, count - 1 - s : 2 * count - 1 - s] for s in self.at], 2)

    def forward(self, history: Tensor, pairs: Tensor) -> Tensor:
        y = torch.bmm(history.transpose(0, 1), self.matrix())
        return y.flatten(1).t().index_select(0, pairs)


class Model(nn.Module):
    def __init__(self, task: Task, temporal: bool):
        super().__init__()
        self.task = task
        channels = task.inputs.shape[1 if temporal else 2]
        self.temporal = DiagonalSsm(channels, task.at) if temporal else None
        self.classifier = nn.Sequential(
            nn.LayerNorm(channels),
            nn.Linear(channels, HIDDEN),
            nn.ReLU(),
            nn.Dropout(DROPOUT),
            nn.Linear(HIDDEN, task.num_classes),
        )

    def forward(self, nodes: Tensor) -> tuple[Tensor, Tensor]:
        """Logits and labels of the pairs of these nodes that count."""
        counts = self.task.counts.index_select(0, nodes).flatten()
        pairs = counts.nonzero().squeeze(1)
        labels = self.task.labels.index_select(0, nodes).flatten().index_select(0, pairs)
        if self.temporal is None:
            times = self.task.counts.shape[1]
            every = nodes[pairs // times] * times + pairs % times
            rows = self.task.inputs.flatten(0, 1).index_select(0, every)
        else:
            rows = self.temporal(self.task.inputs.index_select(0, nodes), pairs)
        return self.classifier(rows), labels


def train_epoch(model: Model, optimizer: torch.optim.Optimizer) -> float:
    model.train()
    nodes = model.task.train
    total, count = 0.0, 0
    for batch in nodes[torch.randperm(len(nodes))].split(BATCH):
        logits, labels = model(batch)
        loss = cross_entropy(logits, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(labels)
        count += len(labels)
    return total / count


@torch.no_grad()
def micro_f1(model: Model, nodes: Tensor) -> float:
    model.eval()
    right, count = 0, 0
    for batch in nodes.split(BATCH):
        logits, labels = model(batch)
        right += int((logits.argmax(1) == labels).sum())
        count += len(labels)
    return right / count


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("run", type=Path)
    parser.add_argument("--model", choices=["coden", "coden-s"], required=True)
    parser.add_argument("--epochs", type=int, default=3)
    options = parser.parse_args()
    torch.set_num_threads(os.cpu_count())
    torch.manual_seed(0)
    temporal = options.model == "coden"
    task = Task(options.run, history=temporal)
    model = Model(task, temporal)
    kernel = list(model.temporal.parameters()) if temporal else []
    others = [p for p in model.parameters() if not any(p is one for one in kernel)]
    groups = [{"params": others}] + ([{"params": kernel, "lr": 10 * RATE}] if kernel else [])
    optimizer = torch.optim.Adam(groups, lr=RATE, fused=True)
    epochs = []
    for _ in range(options.epochs):
        start = time.perf_counter()
        loss = train_epoch(model, optimizer)
        score = micro_f1(model, task.validate)
        seconds = time.perf_counter() - start
        epochs.append({"loss": loss, "validate_micro_f1": score, "seconds": seconds})
    figures = {
        "epochs": epochs,
        "peak": peak_memory(),
        "nodes": len(task.nodes),
        "snapshots": task.inputs.shape[2 if temporal else 1],
        "train_pairs": task.num_pairs(task.train),
        "validate_pairs": task.num_pairs(task.validate),
    }
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
