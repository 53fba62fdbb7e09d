"""GCN on the graph at the prediction time.

Kipf and Welling, "Semi-Supervised Classification with Graph Convolutional Networks" (ICLR 2017):
two layers of D^(-1/2) (A + I) D^(-1/2) H W over the undirected graph, full batch. Simplified: the
input's dropout comes after its propagation, which then is computed once for a snapshot, and there
is none on what the second layer propagates besides that of its input.
"""

from __future__ import annotations

from baselines.learning import Options, StaticModel
from baselines.snapshots import Snapshot
from torch import Tensor, nn
from torch.nn.functional import dropout, relu


class Gcn(StaticModel):
    def __init__(self, num_features: int, num_classes: int, options: Options):
        super().__init__()
        self.first = nn.Linear(num_features, options.hidden)
        self.second = nn.Linear(options.hidden, num_classes, bias=False)
        self.bias = nn.Parameter(self.second.weight.new_zeros(num_classes))
        self.dropout = options.dropout

    def classify(self, snapshot: Snapshot) -> Tensor:
        x = dropout(snapshot.normalised_x, self.dropout, self.training)
        h = dropout(relu(self.first(x)), self.dropout, self.training)
        return snapshot.normalised(self.second(h)) + self.bias
