"""The two files of a trained model: config.json, and the weights as safetensors (no pickle)."""

import json
from dataclasses import dataclass
from typing import Any, NamedTuple

from coden.errors import RunError, one_line

FORMAT_VERSION = 3
CONFIG = "config.json"
WEIGHTS = "model.safetensors"
MODELS = ("coden", "coden-s", "coden-r", "coden-a")
GATES = ("channel", "input")
PROTOCOLS = ("shared", "each", "rolling")
# Above every width that can be trained, and small enough that products of two fit in 64 bits.
LARGEST = 2**31 - 1


class ModelFile(NamedTuple):
    name: str
    """How messages call it."""
    content: bytes


@dataclass(frozen=True)
class LabelColumns:
    """Labels of other nodes as inputs, propagated as features are."""

    folds: int
    alphas: tuple[float, ...]
    windows: tuple[float, ...]
    start: int
    """The first of as many channels as there are classes, whose logarithms begin the logits."""


@dataclass(frozen=True)
class ModelConfig:
    """Everything besides the weights that is needed to run the model."""

    model: str
    gate: str
    """How coden-r decides what to forget: by a number per channel, or linear in its input."""
    channels: int
    """Numbers of a node at every snapshot: its embedding, then its label channels."""
    embedding: int
    label_columns: LabelColumns | None
    features: int
    """Numbers of a node that are the same at all times."""
    averages: tuple[float, ...]
    """Poles of the moving averages that the classifier reads."""
    states: int
    hidden: int
    layers: int
    classes: tuple[int, ...] | tuple[str, ...]
    protocol: str
    """`shared`: one model for all times; otherwise the last of a model for every time."""
    prediction: int
    """The last prediction time whose labels the model has learnt from."""
    values: dict[str, Any]
    """The file as it is."""

    @property
    def label_channels(self) -> int:
        return self.channels - self.embedding

    @property
    def first_honest(self) -> int:
        """The first prediction that the model makes without labels of later times.

        A shared model learns from all times and predicts all of them. Otherwise every time has
        had a model of its own, of which the run keeps the last.
        """
        if self.protocol == "shared":
            return 0
        return self.prediction + (1 if self.protocol == "rolling" else 0)

    @property
    def reads_history(self) -> bool:
        """Whether snapshots before the one at a prediction time matter."""
        return self.model != "coden-s" or bool(self.averages)

    @property
    def groups(self) -> list[int]:
        """Widths of the groups of the classifier's inputs, each of which has a norm of its own:
        embedding and label channels after the temporal part, then of every average; features.
        """
        copies = [self.embedding, self.label_channels] * (1 + len(self.averages))
        return [width for width in [*copies, self.features] if width]


def parse_config(file: ModelFile) -> ModelConfig:
    try:
        values = json.loads(file.content)
        version = values["format_version"]
        if version == FORMAT_VERSION:
            return _parse(values)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        reason = f"no {one_line(error)}" if isinstance(error, KeyError) else one_line(error)
        raise RunError(f"'{file.name}' is not the configuration of a model: {reason}") from None
    raise RunError(f"'{file.name}' has a format this version does not know: {version!r}")


def _parse(values: dict[str, Any]) -> ModelConfig:
    config = ModelConfig(
        model=_one_of(values, "model", MODELS),
        gate=_one_of(values, "gate", GATES),
        channels=_count(values, "channels", 0),
        embedding=_count(values, "embedding", 0),
        label_columns=_label_columns(values["label_columns"]),
        features=_count(values, "features", 0),
        averages=_numbers(values, "averages"),
        states=_count(values, "states", 1),
        hidden=_count(values, "hidden", 1),
        layers=_count(values, "layers", 1),
        classes=_classes(values["classes"]),
        protocol=_one_of(values, "protocol", PROTOCOLS),
        prediction=_count(values, "prediction", 0),
        values=values,
    )
    if not all(0 <= pole < 1 for pole in config.averages):
        raise ValueError(f"`averages` must be in [0, 1): {list(config.averages)}")
    labels, expected = config.label_columns, config.embedding
    if labels is not None:
        expected += 2 * len(labels.windows) * len(labels.alphas) * len(config.classes)
    if config.channels != expected:
        rule = "`channels` must be those of embedding and labels"
        raise ValueError(f"{rule}, {expected}: {config.channels}")
    if labels is not None and labels.start + len(config.classes) > config.channels:
        rule = f"`start` must leave a channel for every class among {config.channels}"
        raise ValueError(f"{rule}: {labels.start}")
    if not config.groups:
        raise ValueError("the model reads nothing: `channels` and `features` are 0")
    return config


def _one_of(values: dict[str, Any], key: str, allowed: tuple[str, ...]) -> str:
    value = values[key]
    if value not in allowed:
        raise ValueError(f"`{key}` must be one of {', '.join(allowed)}: {value!r}")
    return str(value)


def _count(values: dict[str, Any], key: str, least: int) -> int:
    value = values[key]
    if type(value) is not int or not least <= value <= LARGEST:
        raise ValueError(f"`{key}` must be a whole number from {least} on: {value!r}")
    return value


def _numbers(values: dict[str, Any], key: str) -> tuple[float, ...]:
    found = values[key]
    if not isinstance(found, list) or not all(type(value) in (int, float) for value in found):
        raise ValueError(f"`{key}` must be a list of numbers: {found!r}")
    return tuple(float(value) for value in found)


def _label_columns(values: Any) -> LabelColumns | None:
    if values is None:
        return None
    alphas, windows = _numbers(values, "alphas"), _numbers(values, "windows")
    return LabelColumns(
        _count(values, "folds", 0), alphas, windows, start=_count(values, "start", 0)
    )


def _classes(values: Any) -> tuple[int, ...] | tuple[str, ...]:
    kinds = {type(value) for value in values} if isinstance(values, list) else set()
    if kinds not in ({int}, {str}) or len(set(values)) < len(values):
        raise ValueError(f"`classes` must be different numbers, or different texts: {values!r}")
    return tuple(values)
