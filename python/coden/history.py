"""What a model reads of a node at every snapshot: numbers as the program scales them."""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from coden.embeddings import Matrix
from coden.errors import RunError
from coden.model_files import ModelConfig

if TYPE_CHECKING:
    from coden.run import Run

# Nodes that are scaled at a time, in double precision.
CHUNK_NODES = 1024

# A sum of propagated labels below this has no shares.
LEAST_MASS = 1e-6


class History(NamedTuple):
    nodes: pa.Array
    channels: npt.NDArray[np.float32]
    """Nodes x channels x snapshots."""


def snapshots_read(run: "Run", prediction: int, config: ModelConfig) -> list[int]:
    """Numbers of the snapshots that a model reads; the last is at the prediction time."""
    return run.snapshots_until(prediction)[0 if config.reads_history else -1 :]


def read_history(
    run: "Run",
    prediction: int,
    config: ModelConfig,
    nodes: Any = None,
    label_channels: npt.ArrayLike | None = None,
) -> History:
    numbers = snapshots_read(run, prediction, config)
    if config.label_channels and label_channels is None:
        raise RunError(
            f"the model reads {config.label_channels} label channels, which are not in the "
            "snapshots: give them as `label_channels`, an array of nodes x channels x snapshots"
        )
    if config.embedding not in (0, run.dim):
        raise RunError(f"the model reads embeddings of {config.embedding}, the run has {run.dim}")
    if nodes is None:
        nodes = run.snapshot(numbers[-1]).nodes
    sequence = run.sequence(nodes, numbers if config.embedding else [])
    shape = (len(sequence.nodes), config.channels, len(numbers))
    channels = np.empty(shape, np.float32)
    for first in range(0, len(channels) if config.embedding else 0, CHUNK_NODES):
        chunk = slice(first, first + CHUNK_NODES)
        rows = unit_rows(sequence.embeddings[chunk])
        channels[chunk, : config.embedding] = rows.transpose(0, 2, 1)
    if config.label_channels:
        channels[:, config.embedding :] = of_shape(
            "label_channels", label_channels, (shape[0], config.label_channels, shape[2])
        )
    return History(sequence.nodes, channels)


def of_shape(
    name: str, values: npt.ArrayLike | None, shape: tuple[int, ...]
) -> npt.NDArray[np.float32]:
    """An argument as an array; one that is not given has no shape."""
    array = np.asarray([] if values is None else values, np.float32)
    if values is None or array.shape != shape:
        found = "none" if values is None else array.shape
        raise RunError(f"`{name}` must be an array of {shape}: {found}")
    return array


def unit_rows(embeddings: Matrix) -> npt.NDArray[np.float32]:
    """Embeddings (the last axis) scaled to L2 length 1; a row of zeros stays one."""
    rows = embeddings.astype(np.float64)
    length = np.sqrt(np.square(rows).sum(axis=-1, keepdims=True))
    if not np.isfinite(length).all():
        raise RunError("an embedding is not finite: the snapshots are damaged")
    np.divide(rows, length, out=rows, where=length > 0)
    return rows.astype(np.float32)


def label_channels(values: npt.ArrayLike) -> npt.NDArray[np.float32]:
    """The label channels of a model, nodes x channels x snapshots.

    From propagated labels, nodes x windows x alphas x classes x snapshots. For every window and
    alpha there are two groups of channels: the share of each class in their sum, which fades out
    below LEAST_MASS, and the evidence for each class, log(1 + 10 value). Values below 0 are what a
    solver leaves over, and count as 0.
    """
    labels = np.maximum(np.asarray(values, np.float64), 0)
    if labels.ndim != 5:
        rule = "propagated labels must be nodes x windows x alphas x classes x snapshots"
        raise ValueError(f"{rule}: {labels.shape}")
    share = labels / np.maximum(labels.sum(axis=3, keepdims=True), LEAST_MASS)
    both = np.concatenate([share, np.log1p(10 * labels)], axis=3)
    nodes, windows, alphas, channels, snapshots = both.shape
    shape = (nodes, windows * alphas * channels, snapshots)
    return both.reshape(shape).astype(np.float32)
