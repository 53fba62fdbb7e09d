"""TGN: a memory for every node that events update, and attention over the last neighbours.

Rossi et al., "Temporal Graph Networks for Deep Learning on Dynamic Graphs" (2020), by TGNMemory
and LastNeighborLoader of torch_geometric. Events are streamed once in order of time, in batches;
the memory is a GRU over the mean of a node's messages in a batch, the embedding one layer of
attention over the ten last neighbours, which reads memory, features and the age of the event.
Simplified: there are no edge features, so a message carries the mean of the features of both
ends; all is trained by the classes of the training nodes of a batch, with no link prediction
before. At t_k attention and classifier are trained further on all training nodes, with the memory
as it is then; the stream goes on from there.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import torch
from baselines.learning import Best, Options, Outcome
from baselines.task import Task
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from torch_geometric.nn import TGNMemory, TransformerConv
from torch_geometric.nn.models.tgn import (
    IdentityMessage,
    LastNeighborLoader,
    MeanAggregator,
    TimeEncoder,
)

TICKS = 10  # of the clock in the shortest interval between prediction times, at most


@dataclass(frozen=True)
class TgnOptions(Options):
    hidden: int = 128
    memory: int = 64
    time_channels: int = 16
    heads: int = 2
    neighbours: int = 10
    batch: int = 2000  # events of a step of the stream, nodes of a step at a prediction time
    passes: int = 1  # over the events before the first prediction time
    epochs: int = 8
    warm_epochs: int = 6
    patience: int = 8
    rate: float = 1e-2


def clock(task: Task) -> Tensor:
    """Times of the events as small whole numbers, by the prediction times and the first event."""
    times = torch.from_numpy(task.times)
    shortest = int(times.diff().min()) if len(times) > 1 else 1
    return (task.event_times - task.event_times[0]) // max(1, shortest // TICKS)


class Tgn(nn.Module):
    """Weights, and where the stream stands."""

    def __init__(self, task: Task, options: TgnOptions):
        super().__init__()
        self.task, self.ticks = task, clock(task)
        num_nodes, num_features = task.x.shape
        self.loader = LastNeighborLoader(num_nodes, options.neighbours)
        sizes = num_features, options.memory, options.time_channels
        # Always in training mode: there it holds back a node's last messages, through which
        # gradients pass. The other mode would update nodes without messages too.
        self.memory = TGNMemory(num_nodes, *sizes, IdentityMessage(*sizes), MeanAggregator())
        self.age = TimeEncoder(options.time_channels)
        self.attention = TransformerConv(
            options.memory + num_features,
            options.hidden // options.heads,
            heads=options.heads,
            dropout=0.1,
            edge_dim=options.time_channels,
        )
        self.classifier = nn.Sequential(
            nn.ReLU(),
            nn.Dropout(options.dropout),
            nn.Linear(options.hidden, options.hidden),
            nn.ReLU(),
            nn.Dropout(options.dropout),
            nn.Linear(options.hidden, task.num_classes),
        )

    def set_training(self, training: bool) -> None:
        self.attention.train(training)
        self.classifier.train(training)

    def restart(self) -> None:
        self.memory.reset_state()
        self.loader.reset_state()

    @torch.no_grad()
    def take(self, start: int, stop: int) -> None:
        """Let the memory and the lists of neighbours know the next events."""
        src, dst = self.task.src[start:stop], self.task.dst[start:stop]
        message = (self.task.x[src] + self.task.x[dst]) / 2
        self.memory.update_state(src, dst, self.ticks[start:stop], message)
        self.loader.insert(src, dst)

    @torch.no_grad()
    def frozen(self, count: int) -> tuple[Tensor, Tensor]:
        """Memory and time of the last event, of the first `count` nodes."""
        return self.memory(torch.arange(count))

    def forward(self, nodes: Tensor, frozen: tuple[Tensor, Tensor] | None = None) -> Tensor:
        every, edges, events = self.loader(nodes)
        if frozen is None:
            memory, last = self.memory(every)
        else:
            memory, last = frozen[0][every], frozen[1][every]
        h = torch.cat([memory, self.task.x[every]], 1)
        age = (last[edges[0]] - self.ticks[events]).to(h.dtype)
        h = self.attention(h, edges, self.age(age))
        return self.classifier(h[torch.searchsorted(every, nodes)])


class Learner:
    def __init__(self, model: Tgn, task: Task, options: TgnOptions):
        self.model, self.task, self.options = model, task, options
        self.optimizer = torch.optim.Adam(
            model.parameters(), lr=options.rate, weight_decay=options.weight_decay
        )
        known = torch.zeros(len(task.ids), dtype=torch.bool)
        known[task.nodes["train"]] = True
        self.known = known

    def step(self, nodes: Tensor, frozen: tuple[Tensor, Tensor] | None = None) -> float:
        loss = cross_entropy(self.model(nodes, frozen), self.task.labels[nodes])
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()

    def stream(self, start: int, stop: int) -> None:
        """Take these events batch by batch, and learn from the training nodes of each."""
        self.model.set_training(True)
        for first in range(start, stop, self.options.batch):
            last = min(first + self.options.batch, stop)
            self.model.take(first, last)
            nodes = torch.cat([self.task.src[first:last], self.task.dst[first:last]]).unique()
            nodes = nodes[self.known[nodes]]
            if len(nodes):
                self.step(nodes)

    def fit(self, k: int, epochs: int) -> tuple[list[float], float]:
        """Losses of the epochs at t_k, and the best validation score."""
        frozen = self.model.frozen(self.task.counts[k])
        nodes = self.task.nodes_at("train", k)
        validate = self.task.nodes_at("validate", k)
        best, losses = Best(Readout(self.model), self.options.patience), []
        for _ in range(epochs):
            self.model.set_training(True)
            batches = nodes[torch.randperm(len(nodes))].split(self.options.batch)
            parts = [self.step(batch.sort().values, frozen) for batch in batches]
            losses.append(sum(parts) / len(parts))
            if best.enough(self.task.accuracy("validate", k, self.logits(validate, frozen))):
                break
        best.restore()
        return losses, best.score

    @torch.no_grad()
    def logits(self, nodes: Tensor, frozen: tuple[Tensor, Tensor]) -> Tensor:
        self.model.set_training(False)
        return torch.cat([self.model(part, frozen) for part in nodes.split(4096)])


class Readout(nn.Module):
    """What is trained at a prediction time: all but the memory."""

    def __init__(self, model: Tgn):
        super().__init__()
        self.attention, self.classifier = model.attention, model.classifier
        self.age = model.age


def learn_tgn(task: Task, options: TgnOptions) -> Outcome:
    """There is no `shared` regime: a stream has its order."""
    before = torch.are_deterministic_algorithms_enabled()
    torch.use_deterministic_algorithms(True)  # LastNeighborLoader writes some places twice
    try:
        return learn_stream(task, options)
    finally:
        torch.use_deterministic_algorithms(before)


def learn_stream(task: Task, options: TgnOptions) -> Outcome:
    start = time.perf_counter()
    learner = Learner(Tgn(task, options), task, options)
    outcome, position = Outcome(), 0
    for k, stop in enumerate(task.num_events):
        for i in range(options.passes if k == 0 else 1):
            if k == 0 and i > 0:
                learner.model.restart()
            learner.stream(position, stop)
        position = stop
        losses, score = learner.fit(k, options.warm_epochs if k else options.epochs)
        every = torch.arange(task.counts[k])
        codes = learner.logits(every, learner.model.frozen(task.counts[k])).argmax(1)
        outcome.codes.append(codes)
        outcome.validation.append(score)
        outcome.losses.append(losses)
    outcome.seconds = time.perf_counter() - start
    return outcome
