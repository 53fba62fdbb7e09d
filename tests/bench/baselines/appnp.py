"""APPNP: a classifier on the features, whose output is propagated by personalised PageRank.

Gasteiger, Bojchevski and Guennemann, "Predict then Propagate: Graph Neural Networks meet
Personalized PageRank" (ICLR 2019): an MLP of two layers, then Z = (1 - alpha) S Z + alpha H ten
times with the operator of GCN. Alpha is 0.2, as in coden. Simplified: no dropout on the operator,
and weights of both layers decay alike.
"""

from __future__ import annotations

from baselines.learning import Options, StaticModel
from baselines.snapshots import Operator, Snapshot
from torch import Tensor, nn

ALPHA = 0.2
STEPS = 10


def propagate(operator: Operator, h: Tensor) -> Tensor:
    z = h
    for _ in range(STEPS):
        z = (1 - ALPHA) * operator(z) + ALPHA * h
    return z


class Appnp(StaticModel):
    def __init__(self, num_features: int, num_classes: int, options: Options):
        super().__init__()
        self.classifier = nn.Sequential(
            nn.Dropout(options.dropout),
            nn.Linear(num_features, options.hidden),
            nn.ReLU(),
            nn.Dropout(options.dropout),
            nn.Linear(options.hidden, num_classes),
        )

    def classify(self, snapshot: Snapshot) -> Tensor:
        return propagate(snapshot.normalised, self.classifier(snapshot.x))
