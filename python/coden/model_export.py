"""A model for programs without this package: torch.export and ONNX."""

import contextlib
import json
import logging
import os
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING

import torch
from torch import Tensor
from torch.export import Dim

from coden.errors import RunError

if TYPE_CHECKING:
    from coden.model import Model


def export_model(model: "Model", snapshots: int | None) -> torch.export.ExportedProgram:
    if snapshots is None and not model.temporal.any_snapshots:
        raise RunError(
            "a gate that depends on its input is exported for one number of snapshots: give it as "
            "`snapshots`"
        )
    if snapshots is not None and snapshots < 1:
        raise RunError(f"`snapshots` must be 1 or more: {snapshots}")
    axes = _free_axes(model, snapshots)
    dims = {name: Dim(name) for named in axes.values() for name in named.values()}
    shapes = {
        name: {axis: dims[free] for axis, free in named.items()} for name, named in axes.items()
    }
    with torch.no_grad():
        return torch.export.export(model, _example(model, snapshots), dynamic_shapes=shapes)


def write_onnx(model: "Model", path: str | os.PathLike[str], snapshots: int | None) -> None:
    try:
        import onnxscript  # noqa: F401
    except ImportError:
        reason = "ONNX files need onnx and onnxscript: pip install onnx onnxscript"
        raise ImportError(reason) from None
    axes = _free_axes(model, snapshots)
    exported = export_model(model, snapshots)
    with _quiet():
        program = torch.onnx.export(
            exported,
            input_names=list(axes),
            output_names=["logits"],
            dynamic_shapes=axes,
            dynamo=True,
            verbose=False,
        )
    assert program is not None
    program.model.metadata_props["coden.config"] = json.dumps(model.config.values)
    program.save(os.fspath(path), external_data=False)


def _free_axes(model: "Model", snapshots: int | None) -> dict[str, dict[int, str]]:
    """Names of the sizes that may vary, by input and axis."""
    axes = {"history": {0: "nodes"}, "at": {0: "predictions"}}
    if snapshots is None:
        axes["history"][2] = "snapshots"
    if model.config.features:
        axes["features"] = {0: "nodes"}
    return axes


def _example(model: "Model", snapshots: int | None) -> tuple[Tensor, ...]:
    """Inputs to trace, of sizes that cannot be taken for a 0 or 1 that holds always."""
    weight = model.classifier.example
    num_nodes, length = 5, 7 if snapshots is None else snapshots
    history = weight.new_zeros(num_nodes, model.config.channels, length)
    at = torch.zeros(3, dtype=torch.int64, device=weight.device)
    if not model.config.features:
        return history, at
    return history, at, weight.new_zeros(num_nodes, model.config.features)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """The exporter tells of its own insides, and of packages that it would also know."""
    logger = logging.getLogger("torch.onnx")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(level)
