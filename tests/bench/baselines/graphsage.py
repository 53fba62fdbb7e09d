"""GraphSAGE on the graph at the prediction time.

Hamilton, Ying and Leskovec, "Inductive Representation Learning on Large Graphs" (NIPS 2017), with
the mean aggregator: a layer is W_self h + W_neighbours mean(h of the neighbours). Simplified:
full batch over all neighbours in place of a sample of them, no unsupervised loss, and rows are
not scaled to length 1 between the layers.
"""

from __future__ import annotations

import torch
from baselines.learning import Options, StaticModel
from baselines.snapshots import Snapshot
from torch import Tensor, nn
from torch.nn.functional import dropout, relu


class GraphSage(StaticModel):
    def __init__(self, num_features: int, num_classes: int, options: Options):
        super().__init__()
        self.first = nn.Linear(2 * num_features, options.hidden)
        self.own = nn.Linear(options.hidden, num_classes)
        self.neighbours = nn.Linear(options.hidden, num_classes, bias=False)
        self.dropout = options.dropout

    def classify(self, snapshot: Snapshot) -> Tensor:
        x = torch.cat([snapshot.x, snapshot.mean_x], 1)
        h = relu(self.first(dropout(x, self.dropout, self.training)))
        h = dropout(h, self.dropout, self.training)
        return self.own(h) + snapshot.mean(self.neighbours(h))
