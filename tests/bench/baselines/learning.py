"""Train a model of snapshots on the training nodes, by validation nodes, at each prediction time.

`each`: a model per time, which sees the snapshots up to t_k and the loss at t_k alone, and begins
with the weights of the time before. `shared`: one model, with the mean loss over all times; its
output at t_k depends on snapshots up to t_k only, but its weights have seen the later ones. In
both the weights of the epoch with the best validation score are kept.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from baselines.snapshots import Snapshot
from baselines.task import Task
from torch import Tensor, nn
from torch.nn.functional import cross_entropy


@dataclass(frozen=True)
class Options:
    regime: str = "each"
    scaling: str = "column"  # of the features
    hidden: int = 256
    rate: float = 1e-2
    dropout: float = 0.2
    weight_decay: float = 0.0
    epochs: int = 100
    warm_epochs: int = 25  # at the prediction times after the first
    patience: int = 40  # epochs without a better validation score


class SnapshotModel(nn.Module):
    """Takes the snapshots in order of time and classifies nodes at some of them."""

    def forward(
        self, snapshots: Sequence[Snapshot], wanted: Sequence[int], nodes: Tensor
    ) -> list[Tensor]:
        """Logits at each wanted snapshot, which ascend, of the nodes that are there.

        `nodes` ascend, so those at a snapshot are the first so many. What is returned for a
        snapshot depends on it and earlier ones only.
        """
        raise NotImplementedError


class StaticModel(SnapshotModel):
    """Knows the graph at the prediction time and nothing of earlier ones."""

    def classify(self, snapshot: Snapshot) -> Tensor:
        raise NotImplementedError

    def forward(self, snapshots, wanted, nodes):
        return [
            self.classify(snapshots[k])[nodes_below(nodes, snapshots[k].num_nodes)] for k in wanted
        ]


def nodes_below(nodes: Tensor, count: int) -> Tensor:
    return nodes[: int(torch.searchsorted(nodes, count))]


@dataclass
class Outcome:
    codes: list[Tensor] = field(default_factory=list)  # by time, of every node there
    validation: list[float] = field(default_factory=list)  # by time
    losses: list[list[float]] = field(default_factory=list)  # of the epochs of each training
    seconds: float = 0.0


class Best:
    """The weights of the best epoch so far."""

    def __init__(self, model: nn.Module, patience: int):
        self.model, self.patience = model, patience
        self.score, self.age, self.weights = -1.0, 0, None

    def enough(self, score: float) -> bool:
        """Note the score of the weights as they are; true where it is time to stop."""
        self.age += 1
        if score > self.score:
            self.score, self.age = score, 0
            self.weights = copy.deepcopy(self.model.state_dict())
        return self.age >= self.patience

    def restore(self) -> None:
        self.model.load_state_dict(self.weights)


def fit(
    model: SnapshotModel, task: Task, wanted: Sequence[int], options: Options, epochs: int
) -> list[float]:
    """Returns the losses of the epochs; the model has its best weights then."""
    snapshots = task.snapshots[: wanted[-1] + 1]
    train, validate = (task.nodes_at(part, wanted[-1]) for part in ("train", "validate"))
    labels = [task.labels[task.nodes_at("train", k)] for k in wanted]
    optimizer = torch.optim.Adam(
        model.parameters(), lr=options.rate, weight_decay=options.weight_decay
    )
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, epochs)
    best, losses = Best(model, options.patience), []
    for _ in range(epochs):
        model.train()
        logits = model(snapshots, wanted, train)
        parts = [cross_entropy(one, label) for one, label in zip(logits, labels, strict=True)]
        loss = torch.stack(parts).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
        assert losses[-1] == losses[-1], "the loss is not a number"
        if best.enough(sum(scores(model, task, wanted, validate)) / len(wanted)):
            break
    best.restore()
    return losses


@torch.no_grad()
def scores(
    model: SnapshotModel, task: Task, wanted: Sequence[int], validate: Tensor
) -> list[float]:
    model.eval()
    logits = model(task.snapshots[: wanted[-1] + 1], wanted, validate)
    return [task.accuracy("validate", k, one) for k, one in zip(wanted, logits, strict=True)]


@torch.no_grad()
def classes_of(model: SnapshotModel, task: Task, wanted: Sequence[int]) -> list[Tensor]:
    model.eval()
    every = torch.arange(task.counts[wanted[-1]])
    logits = model(task.snapshots[: wanted[-1] + 1], wanted, every)
    return [one.argmax(1) for one in logits]


def learn(model: SnapshotModel, task: Task, options: Options) -> Outcome:
    start = time.perf_counter()
    outcome = Outcome()
    times = range(len(task.times))
    lessons = [list(times)] if options.regime == "shared" else [[k] for k in times]
    for i, wanted in enumerate(lessons):
        epochs = options.warm_epochs if i else options.epochs
        outcome.losses.append(fit(model, task, wanted, options, epochs))
        validate = task.nodes_at("validate", wanted[-1])
        outcome.validation += scores(model, task, wanted, validate)
        outcome.codes += classes_of(model, task, wanted)
    outcome.seconds = time.perf_counter() - start
    return outcome
