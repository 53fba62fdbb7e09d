"""The baselines by name, each with its settings.

Scaling of the features, rate, dropout and regime were chosen on validation nodes, of seed 0 alone
so far; tune.py has the candidates and takes seeds 0 and 1. Sizes were not tuned.
"""

from __future__ import annotations

import dataclasses
import importlib
from dataclasses import dataclass

import torch
from baselines.learning import Options, Outcome, learn
from baselines.task import Task


@dataclass(frozen=True)
class Baseline:
    name: str
    title: str
    module: str
    kind: str  # the class in the module
    settings: dict  # of its options; the rest as their class says

    def options(self, **more: object) -> Options:
        return self.options_class()(**{**self.settings, **more})

    def options_class(self) -> type[Options]:
        if self.name != "tgn":
            return Options
        return importlib.import_module(f"baselines.{self.module}").TgnOptions

    def train(self, task: Task, options: Options, seed: int) -> Outcome:
        torch.manual_seed(seed)
        module = importlib.import_module(f"baselines.{self.module}")
        if self.name == "tgn":
            return module.learn_tgn(task, options)
        model = getattr(module, self.kind)(task.x.shape[1], task.num_classes, options)
        return learn(model, task, options)


BASELINES = [
    Baseline("gcn", "GCN", "gcn", "Gcn", {}),
    Baseline("sage", "GraphSAGE", "graphsage", "GraphSage", {}),
    Baseline("appnp", "APPNP", "appnp", "Appnp", {}),
    Baseline("gru-gcn", "GRU over GCN", "gru_gcn", "GruGcn", {"hidden": 64, "warm_epochs": 12}),
    Baseline("evolvegcn", "EvolveGCN-O", "evolvegcn", "EvolveGcn", {}),
    Baseline("tgn", "TGN", "tgn", "Tgn", {}),
]
BY_NAME = {one.name: one for one in BASELINES}

QUICK = {"epochs": 2, "warm_epochs": 1, "hidden": 16}


def settings_of(options: Options) -> dict[str, object]:
    return dataclasses.asdict(options)
