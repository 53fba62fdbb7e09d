"""The trained models of the program as modules of PyTorch, with the same outputs.

`coden.load(run).model()` gives the model of a run, `load_model` that of a folder. Needs the
packages torch and safetensors; `to_onnx` also onnx and onnxscript.
"""

import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.fs

from coden.errors import RunError, one_line
from coden.history import label_channels, of_shape, read_history, snapshots_read
from coden.model_files import CONFIG, WEIGHTS, ModelConfig, ModelFile, parse_config
from coden.storage import Storage

try:
    import safetensors.torch
    import torch
    from torch import Tensor, nn
except ImportError as error:
    raise ImportError(
        f"models need torch and safetensors: pip install torch safetensors ({one_line(error)})"
    ) from None

from coden.model_export import export_model, write_onnx
from coden.temporal import lags, make_temporal

if TYPE_CHECKING:
    from coden.run import Run

__all__ = ["Model", "State", "label_channels", "load_model", "read_model"]

# Nodes that are taken through the model at a time: it holds several copies of their history.
CHUNK_NODES = 1024

# Added to shares before the logarithm, as by the program.
SHARE_FLOOR = 0.02


class State(NamedTuple):
    """What a stream of snapshots has left behind, for every node."""

    temporal: Tensor
    averages: Tensor
    """Nodes x poles x channels."""


class Model(nn.Module):
    """A trained model. Its parameters have the names that they have in the file."""

    def __init__(self, config: ModelConfig):
        super().__init__()
        self.config = config
        self.temporal = make_temporal(config)
        self.classifier = Classifier(config)
        if config.features:
            self.features = Standardisation(config.features)
        # It is in no file, so it must not be on the device of what is still to be loaded.
        poles = torch.tensor(config.averages, dtype=torch.float64, device="cpu")
        self.poles: Tensor
        self.register_buffer("poles", poles, persistent=False)

    @property
    def classes(self) -> tuple[int, ...] | tuple[str, ...]:
        """What the logits are of, in their order."""
        return self.config.classes

    def forward(
        self, history: Tensor, at: Tensor | Sequence[int], features: Tensor | None = None
    ) -> Tensor:
        """Logits, nodes x len(at) x classes.

        `history` is nodes x channels x snapshots, as the method `history` makes it; `at` has the
        places in it of the snapshots to predict at; `features`, nodes x features, are as
        `standardise` makes them.
        """
        at = torch.as_tensor(at, dtype=torch.int64, device=history.device)
        if not torch.compiler.is_exporting():
            self._check(history, at, features)
        parts = [self.temporal(history, at)]
        if self.config.averages:
            parts.append(self._averages(history, at))
        if features is not None:
            parts.append(features.unsqueeze(1).expand(-1, at.shape[0], -1))
        logits: Tensor = self.classifier(torch.cat(parts, dim=2))
        return self._from_shares(logits, history.index_select(2, at).transpose(1, 2))

    def start(self, num_nodes: int) -> State:
        """The state of nodes before their first snapshot."""
        rows = self.classifier.example.new_zeros(num_nodes, self.config.channels)
        averages = rows.new_zeros(num_nodes, len(self.config.averages), self.config.channels)
        return State(self.temporal.start(rows), averages)

    def step(
        self, state: State, rows: Tensor, features: Tensor | None = None
    ) -> tuple[State, Tensor]:
        """Take in the next snapshot, nodes x channels: the state after it, and its logits.

        They are what `forward` gives for the snapshots so far.
        """
        self._check(rows.unsqueeze(2), torch.zeros(1, dtype=torch.int64), features)
        temporal, output = self.temporal.advance(state.temporal, rows)
        pole = self.poles.to(rows.dtype).unsqueeze(1)
        averages = pole * state.averages + (1 - pole) * rows.unsqueeze(1)
        parts = [output, averages.flatten(1)] + ([] if features is None else [features])
        logits = self.classifier(torch.cat(parts, dim=1))
        return State(temporal, averages), self._from_shares(logits, rows)

    def standardise(self, features: npt.ArrayLike) -> Tensor:
        """Features as the input of the run has them, nodes x features, as the model reads them."""
        array = np.asarray(features, np.float32)
        width = self.config.features
        if not width or array.ndim != 2 or array.shape[1] != width:
            raise RunError(f"the model reads {width} features of a node: {array.shape}")
        standardised: Tensor = self.features(torch.from_numpy(array))
        return standardised

    def snapshots(self, run: "Run", prediction: int) -> list[int]:
        """Numbers of the snapshots that the model reads for a prediction, counted from 1."""
        return snapshots_read(run, prediction, self.config)

    def history(
        self,
        run: "Run",
        prediction: int,
        nodes: Any = None,
        label_channels: npt.ArrayLike | None = None,
    ) -> Tensor:
        """What the model reads of nodes for a prediction, nodes x channels x snapshots.

        `nodes` are ids: all that are there at the time, unless given. A model with label columns
        needs `label_channels`, nodes x channels x snapshots, as the function of that name makes
        them.
        """
        found = read_history(run, prediction, self.config, nodes, label_channels)
        return torch.from_numpy(found.channels)

    @torch.no_grad()
    def predict(
        self,
        run: "Run",
        prediction: int,
        nodes: Any = None,
        features: npt.ArrayLike | None = None,
        label_channels: npt.ArrayLike | None = None,
        *,
        allow_future: bool = False,
    ) -> pa.Table:
        """Predict the classes of nodes at a prediction time, counted from 1.

        Gives node, predicted, probability and probabilities (in the order of `classes`), row by
        row as `nodes`. `features`, nodes x features, are as the input of the run has them; nodes
        and label channels as for `history`, which is held whole: predict for some nodes at a time
        where it is large.

        A prediction time that the model is from after is refused: the answer would rest on labels
        of later times, and is not what the run has predicted. `allow_future` gives it all the same.
        """
        first = self.config.first_honest
        if prediction < first and not allow_future:
            raise RunError(
                f"the model has learnt from labels up to prediction {self.config.prediction}, so "
                f"what it says of prediction {prediction} knows the future: `run.predictions` has "
                "what was predicted at the time; `allow_future=True` uses the model all the same"
            )
        if self.config.features and features is None:
            width = self.config.features
            raise RunError(f"the model reads {width} features of a node: give them as `features`")
        found = read_history(run, prediction, self.config, nodes, label_channels)
        given = None
        if features is not None:
            shape = (len(found.nodes), self.config.features)
            given = self.standardise(of_shape("features", features, shape))
        history = torch.from_numpy(found.channels)
        at = [history.shape[2] - 1]
        logits = [
            self(history[chunk], at, None if given is None else given[chunk])
            for chunk in _chunks(len(history))
        ]
        scores = torch.cat([*logits, history.new_zeros(0, 1, len(self.classes))]).squeeze(1)
        return self._table(found.nodes, torch.softmax(scores.double(), dim=1).numpy())

    def export(self, snapshots: int | None = None) -> torch.export.ExportedProgram:
        """The model as a program of torch.export; inputs are those of `forward`, `at` a tensor.

        It takes any number of nodes, of prediction times and, unless given, of snapshots. A gate
        that depends on its input (coden-r) needs their number.
        """
        return export_model(self, snapshots)

    def to_onnx(self, path: str | os.PathLike[str], snapshots: int | None = None) -> None:
        """Write the model as one ONNX file; as for `export`, with the output `logits`.

        `coden.config` in its metadata is config.json, with the classes.
        """
        write_onnx(self, path, snapshots)

    def _from_shares(self, logits: Tensor, rows: Tensor) -> Tensor:
        """Add the logarithms of the shares of the classes among the labels that reach a node."""
        labels = self.config.label_columns
        if labels is None:
            return logits
        shares = rows.narrow(-1, labels.start, len(self.classes))
        return logits + torch.log(shares + SHARE_FLOOR)

    def _averages(self, history: Tensor, at: Tensor) -> Tensor:
        """Moving averages (1 - p) sum_(s <= t) p^(t-s) u_s, all channels of one pole p together."""
        lag = lags(history, at)
        pole = self.poles[:, None, None]
        weights = (1 - pole) * torch.pow(pole, lag.clamp(min=0)) * (lag >= 0)
        # [n, C, S] x [S, P k] -> [n, C, P, k] -> [n, k, P C]
        averages = history @ weights.to(history.dtype).flatten(0, 1).T
        split = averages.reshape(*history.shape[:2], len(self.poles), at.shape[0])
        return split.permute(0, 3, 2, 1).flatten(2)

    def _check(self, history: Tensor, at: Tensor, features: Tensor | None) -> None:
        channels, width = self.config.channels, self.config.features
        if history.dim() != 3 or history.shape[1] != channels:
            rule = f"a node has {channels} channels at every snapshot"
            raise ValueError(f"{rule}: history has the shape {tuple(history.shape)}")
        if at.dim() != 1 or ((at < 0) | (at >= history.shape[2])).any():
            raise ValueError(f"`at` must be places of {history.shape[2]} snapshots: {at.tolist()}")
        found = (0, 0) if features is None else tuple(features.shape)
        if found != ((history.shape[0], width) if width else (0, 0)):
            raise ValueError(f"the model reads {width} features of a node: {found}")

    def _table(self, nodes: pa.Array, probabilities: npt.NDArray[np.float64]) -> pa.Table:
        best = probabilities.argmax(axis=1)
        num_classes = len(self.classes)
        lists = pa.FixedSizeListArray.from_arrays(probabilities.reshape(-1), num_classes)
        return pa.table(
            {
                "node": nodes,
                "predicted": pa.array(self.classes).take(pa.array(best)),
                "probability": probabilities[np.arange(len(best)), best],
                "probabilities": lists,
            }
        )


class Classifier(nn.Module):
    """A LayerNorm for every group of inputs, then linear layers with ReLU between them."""

    def __init__(self, config: ModelConfig):
        super().__init__()
        self.layers = config.layers
        self.groups = config.groups
        for group, width in enumerate(self.groups):
            self.add_module(f"norm{group}", nn.LayerNorm(width, eps=1e-5))
        inputs = sum(self.groups)
        widths = [inputs, *[config.hidden] * (config.layers - 1), len(config.classes)]
        for layer in range(config.layers):
            self.add_module(f"linear{layer}", nn.Linear(widths[layer], widths[layer + 1]))

    def forward(self, rows: Tensor) -> Tensor:
        rows = self.normalised(rows)
        for layer in range(self.layers):
            rows = self.get_submodule(f"linear{layer}")(torch.relu(rows) if layer else rows)
        return rows

    def normalised(self, rows: Tensor) -> Tensor:
        parts = rows.split_with_sizes(self.groups, dim=-1)
        return torch.cat(
            [self.get_submodule(f"norm{group}")(part) for group, part in enumerate(parts)], dim=-1
        )

    @property
    def example(self) -> Tensor:
        """A tensor of the type and on the device of all others."""
        weight = self.get_submodule("linear0").weight
        assert isinstance(weight, Tensor)
        return weight


class Standardisation(nn.Module):
    """(x - mean) / deviation, with those of the nodes that the model was trained on."""

    def __init__(self, width: int):
        super().__init__()
        self.mean: Tensor
        self.deviation: Tensor
        self.register_buffer("mean", torch.empty(width))
        self.register_buffer("deviation", torch.empty(width))

    def forward(self, features: Tensor) -> Tensor:
        return (features - self.mean) / self.deviation


def load_model(
    location: str | os.PathLike[str], *, filesystem: pa.fs.FileSystem | None = None
) -> Model:
    """The model in a folder, or at a URI, of config.json and model.safetensors."""
    storage = Storage(location, filesystem)
    files = []
    for name in (CONFIG, WEIGHTS):
        handle = storage.open(name)
        if handle is None:
            raise RunError(f"'{storage.name}' is not a model: it has no {name}")
        with handle:
            files.append(ModelFile(storage.path(name), handle.read()))
    return read_model(*files)


def read_model(config_file: ModelFile, weights_file: ModelFile) -> Model:
    """Nothing is allocated but what the file of the weights holds."""
    config = parse_config(config_file)
    try:
        weights = safetensors.torch.load(weights_file.content)
    except Exception as error:  # its parser and torch raise whatever they meet
        raise RunError(f"'{weights_file.name}' cannot be read: {one_line(error)}") from None
    try:
        _check_layers(config, weights)
        with torch.device("meta"):
            model = Model(config)
        _check_weights(model.state_dict(), weights)
    except ValueError as error:
        raise RunError(
            f"'{weights_file.name}' is not of the model of {CONFIG}: {one_line(error)}"
        ) from None
    model.load_state_dict(weights, assign=True)
    return model.eval()


def _check_layers(config: ModelConfig, weights: dict[str, Tensor]) -> None:
    """As many layers as there are weights for: the number alone may be anything."""
    last = f"classifier.linear{config.layers - 1}.weight"
    if last not in weights:
        raise ValueError(f"it has no tensor {last}")


def _check_weights(expected: dict[str, Any], found: dict[str, Tensor]) -> None:
    for name, tensor in expected.items():
        if name not in found:
            raise ValueError(f"it has no tensor {name}")
        shape, own = tuple(tensor.shape), tuple(found[name].shape)
        if shape != own:
            raise ValueError(f"{name} must have the shape {shape}: {own}")
        if found[name].dtype != torch.float32:
            raise ValueError(f"{name} must be float32: {found[name].dtype}")
        if not found[name].isfinite().all():
            raise ValueError(f"{name} must be finite")
    unknown = min(found.keys() - expected.keys(), default=None)
    if unknown is not None:
        raise ValueError(f"it has a tensor that the model does not: {unknown!r}")
    if "features.deviation" in found and not (found["features.deviation"] > 0).all():
        raise ValueError("features.deviation must be positive")


def _chunks(size: int) -> Iterator[slice]:
    return (slice(first, first + CHUNK_NODES) for first in range(0, size, CHUNK_NODES))
