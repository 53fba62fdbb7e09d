"""GRU over GCN: a GCN for every snapshot, a GRU over what it says of a node.

After Zhao et al., "T-GCN: A Temporal Graph Convolutional Network for Traffic Prediction" (IEEE
T-ITS 2020): two layers of graph convolution with the same weights at all prediction times up to
t_k, then a GRU over them and a linear classifier. Simplified: the convolutions come before the
gates, not inside them; a node's sequence begins with the first prediction time that it is there;
dropout as in our GCN.
"""

from __future__ import annotations

import torch
from baselines.learning import Options, SnapshotModel, nodes_below
from baselines.snapshots import Snapshot
from torch import nn
from torch.nn.functional import dropout, pad, relu


class GruGcn(SnapshotModel):
    def __init__(self, num_features: int, num_classes: int, options: Options):
        super().__init__()
        hidden = options.hidden
        self.first = nn.Linear(num_features, hidden)
        self.second = nn.Linear(hidden, hidden)
        self.gru = nn.GRUCell(hidden, hidden)
        self.classifier = nn.Linear(hidden, num_classes)
        self.dropout = options.dropout

    def convolve(self, snapshot: Snapshot) -> torch.Tensor:
        x = dropout(snapshot.normalised_x, self.dropout, self.training)
        h = dropout(relu(self.first(x)), self.dropout, self.training)
        return relu(snapshot.normalised(self.second(h)))

    def forward(self, snapshots, wanted, nodes):
        state = self.first.weight.new_zeros(0, self.gru.hidden_size)
        logits = []
        for k in range(wanted[-1] + 1):
            here = nodes_below(nodes, snapshots[k].num_nodes)
            state = pad(state, (0, 0, 0, len(here) - len(state)))
            state = self.gru(self.convolve(snapshots[k])[here], state)
            if k in wanted:
                logits.append(self.classifier(dropout(state, self.dropout, self.training)))
        return logits
