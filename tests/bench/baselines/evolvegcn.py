"""EvolveGCN-O: a GCN whose weights a GRU takes from one prediction time to the next.

Pareja et al., "EvolveGCN: Evolving Graph Convolutional Networks for Dynamic Graphs" (AAAI 2020),
variant O: the weights of a layer are state and input of a GRU cell, column by column, one step
for each prediction time up to t_k; the convolution at t_k uses those of t_k. Simplified: biases
of the gates are shared by the columns; the bias of a layer does not evolve; dropout as in our
GCN. The paper's link between layers, where the second reads a history of the first's output, is
not in variant O.
"""

from __future__ import annotations

import math

import torch
from baselines.learning import Options, SnapshotModel, nodes_below
from baselines.snapshots import Snapshot
from torch import Tensor, nn
from torch.nn.functional import dropout, linear, relu


class EvolvingWeight(nn.Module):
    def __init__(self, num_inputs: int, num_outputs: int):
        super().__init__()
        bound = math.sqrt(6 / (num_inputs + num_outputs))
        self.start = nn.Parameter(torch.empty(num_outputs, num_inputs).uniform_(-bound, bound))
        self.gru = nn.GRUCell(num_inputs, num_inputs)

    def next(self, weight: Tensor) -> Tensor:
        return self.gru(weight, weight)


class EvolveGcn(SnapshotModel):
    def __init__(self, num_features: int, num_classes: int, options: Options):
        super().__init__()
        self.first = EvolvingWeight(num_features, options.hidden)
        self.second = EvolvingWeight(options.hidden, num_classes)
        self.first_bias = nn.Parameter(torch.zeros(options.hidden))
        self.second_bias = nn.Parameter(torch.zeros(num_classes))
        self.dropout = options.dropout

    def classify(self, snapshot: Snapshot, first: Tensor, second: Tensor) -> Tensor:
        x = dropout(snapshot.normalised_x, self.dropout, self.training)
        h = dropout(relu(linear(x, first, self.first_bias)), self.dropout, self.training)
        return snapshot.normalised(linear(h, second)) + self.second_bias

    def forward(self, snapshots, wanted, nodes):
        first, second = self.first.start, self.second.start
        logits = []
        for k in range(wanted[-1] + 1):
            first, second = self.first.next(first), self.second.next(second)
            if k in wanted:
                here = nodes_below(nodes, snapshots[k].num_nodes)
                logits.append(self.classify(snapshots[k], first, second)[here])
        return logits
