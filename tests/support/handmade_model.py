"""Models with random weights, as folders that the program and the Python package read, and what
they give, written out as loops in double precision."""

import itertools
import json

import numpy as np
from safetensors.numpy import save_file

CLASSES = ["a", "b", "c"]
# Every model with and without each further input of it.
KINDS = [
    ("coden", "channel"),
    ("coden-s", "channel"),
    ("coden-r", "channel"),
    ("coden-r", "input"),
    ("coden-a", "channel"),
]
CASES = [
    dict(model=model, gate=gate, labels=labels, averages=averages, features=features)
    for (model, gate), labels, averages, features in itertools.product(
        KINDS, [False, True], [[], [0.5, 0.98]], [0, 3]
    )
]


def case_name(case):
    inputs = [name for name in ["labels", "averages", "features"] if case[name]]
    return "-".join([case["model"], case["gate"], *inputs])


class HandmadeModel:
    """A model of random weights; change `config` and `tensors`, then `write`."""

    def __init__(
        self,
        model="coden",
        gate="channel",
        labels=False,
        averages=(),
        features=0,
        embedding=5,
        states=4,
        hidden=6,
        layers=2,
        classes=CLASSES,
        seed=1,
    ):
        # Two blocks of shares and evidence; the model starts from the shares of the second.
        columns = {"folds": 2, "alphas": [0.5], "windows": [3, 0]} if labels else None
        channels = embedding + (4 * len(classes) if labels else 0)
        if labels:
            columns["start"] = embedding + 2 * len(classes)
        self.config = {
            "format_version": 3,
            "model": model,
            "gate": gate,
            "channels": channels,
            "embedding": embedding,
            "label_columns": columns,
            "features": features,
            "averages": list(averages),
            "states": states,
            "hidden": hidden,
            "layers": layers,
            "classes": list(classes),
            "protocol": "shared",
            "prediction": 4,
            "run": 0,
            "seed": 1,
            "best_epoch": 3,
            "validate_micro_f1": 0.5,
        }
        self.random = np.random.default_rng(seed)
        self.tensors = {}
        for name, shape in self.shapes().items():
            values = self.random.normal(0, 0.6, shape)
            if name.startswith("classifier.") and len(shape) == 2:
                values /= np.sqrt(shape[1] / 4)
            self.tensors[name] = values.astype(np.float32)
        if features:
            deviation = self.random.uniform(0.5, 2, features)
            self.tensors["features.deviation"] = deviation.astype(np.float32)

    def groups(self):
        """Widths of the inputs that are normalised together."""
        embedding, features = self.config["embedding"], self.config["features"]
        labels = self.config["channels"] - embedding
        copies = [embedding, labels] * (1 + len(self.config["averages"]))
        return [size for size in [*copies, features] if size]

    def shapes(self):
        config = self.config
        channels, states = config["channels"], config["states"]
        temporal = {
            ("coden", "channel"): {
                "log_rate": (channels, states),
                "input": (channels, states),
                "output": (channels, states),
                "step": (channels,),
                "skip": (channels,),
            },
            ("coden-s", "channel"): {},
            ("coden-r", "channel"): {"gate": (channels,)},
            ("coden-r", "input"): {"gate.weight": (channels, channels), "gate.bias": (channels,)},
            ("coden-a", "channel"): {
                "query": (states, channels),
                "key": (states, channels),
                "value": (channels, channels),
                "skip": (channels,),
            },
        }[config["model"], config["gate"]]
        shapes = {f"temporal.{name}": shape for name, shape in temporal.items()}
        for group, size in enumerate(self.groups()):
            shapes[f"classifier.norm{group}.weight"] = (size,)
            shapes[f"classifier.norm{group}.bias"] = (size,)
        width = sum(self.groups())
        widths = [width] + [config["hidden"]] * (config["layers"] - 1) + [len(config["classes"])]
        for layer in range(config["layers"]):
            shapes[f"classifier.linear{layer}.weight"] = (widths[layer + 1], widths[layer])
            shapes[f"classifier.linear{layer}.bias"] = (widths[layer + 1],)
        if config["features"]:
            for name in ["features.mean", "features.deviation"]:
                shapes[name] = (config["features"],)
        return shapes

    def write(self, folder):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "config.json").write_text(json.dumps(self.config))
        save_file(self.tensors, folder / "model.safetensors")
        return folder

    def history(self, nodes=7, snapshots=9):
        """Nodes arrive over time: before, all their channels are zero."""
        channels = self.config["channels"]
        values = self.random.normal(size=(nodes, channels, snapshots)).astype(np.float32)
        for node in range(nodes):
            values[node, :, : node % snapshots] = 0
        values[0, :, snapshots // 2] = 0
        # Label channels are shares and amounts.
        np.abs(values, out=values, where=np.arange(channels)[:, None] >= self.config["embedding"])
        return values

    def feature_rows(self, nodes=7):
        """None where the model reads none."""
        width = self.config["features"]
        return self.random.normal(size=(nodes, width)).astype(np.float32) if width else None

    def logits(self, history, at, features=None):
        """What the model gives, node by node and snapshot by snapshot."""
        weights = {name: values.astype(np.float64) for name, values in self.tensors.items()}
        result = np.empty((len(history), len(at), len(self.config["classes"])))
        for node, k in np.ndindex(result.shape[:2]):
            past = history[node, :, : at[k] + 1].T.astype(np.float64)
            row = [self.temporal(weights, past)]
            for pole in self.config["averages"]:
                average = np.zeros(past.shape[1])
                for rows in past:
                    average = pole * average + (1 - pole) * rows
                row.append(average)
            if features is not None:
                row.append(features[node].astype(np.float64))
            result[node, k] = self.classify(weights, np.concatenate(row))
            if labels := self.config["label_columns"]:
                shares = past[-1][labels["start"] :][: len(self.config["classes"])]
                result[node, k] += np.log(shares + 0.02)
        return result

    def temporal(self, weights, past):
        """y at the last snapshot of `past`, snapshots x channels."""
        weights = {
            name.removeprefix("temporal."): values
            for name, values in weights.items()
            if name.startswith("temporal.")
        }
        match self.config["model"], self.config["gate"]:
            case "coden", _:
                rate = -np.exp(weights["log_rate"])
                decay = np.exp(np.log1p(np.exp(weights["step"]))[:, None] * rate)
                state = np.zeros(rate.shape)
                for rows in past:
                    state = decay * state + (decay - 1) / rate * weights["input"] * rows[:, None]
                return (weights["output"] * state).sum(axis=1) + weights["skip"] * past[-1]
            case "coden-r", gate:
                state = np.zeros(past.shape[1])
                for rows in past:
                    if gate == "channel":
                        value = weights["gate"]
                    else:
                        value = weights["gate.weight"] @ rows + weights["gate.bias"]
                    kept = 1 / (1 + np.exp(value))
                    state = kept * state + (1 - kept) * rows
                return state
            case "coden-a", _:
                query = weights["query"] @ past[-1]
                shares, total = np.zeros(past.shape[1]), 0.0
                for s, rows in enumerate(past):
                    if rows.any() or s == len(past) - 1:
                        share = np.exp(query @ (weights["key"] @ rows) / np.sqrt(len(query)))
                        shares, total = shares + share * rows, total + share
                return weights["value"] @ (shares / total) + weights["skip"] * past[-1]
        return past[-1]

    def classify(self, weights, row):
        parts = []
        for group, part in enumerate(np.split(row, np.cumsum(self.groups())[:-1])):
            norm = f"classifier.norm{group}"
            part = (part - part.mean()) / np.sqrt(part.var() + 1e-5)
            parts.append(part * weights[f"{norm}.weight"] + weights[f"{norm}.bias"])
        row = np.concatenate(parts)
        for layer in range(self.config["layers"]):
            row = np.maximum(row, 0) if layer else row
            linear = f"classifier.linear{layer}"
            row = weights[f"{linear}.weight"] @ row + weights[f"{linear}.bias"]
        return row
