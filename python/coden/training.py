"""What a training has left: predictions, metrics, forecast and model."""

import functools
from typing import TYPE_CHECKING

import pyarrow as pa

from coden.errors import RunError
from coden.manifest import CommittedFile, read_checked, read_parquet
from coden.model_files import CONFIG, WEIGHTS, ModelFile
from coden.storage import Storage

if TYPE_CHECKING:
    from coden.model import Model

MODEL_FOLDER = "model"


class Training:
    """The results of one training of a run. Each file is read when it is first asked for."""

    def __init__(
        self,
        storage: Storage,
        files: dict[str, CommittedFile],
        settings: dict[str, str],
        folder: str = "",
    ):
        """`folder` is where an earlier training is kept; it ends with a slash."""
        self._storage, self._files, self._settings = storage, files, settings
        self._folder = folder

    @property
    def settings(self) -> dict[str, str]:
        """The settings of the training, by `section.key`."""
        return dict(self._settings)

    @functools.cached_property
    def predictions(self) -> pa.Table | None:
        """One row per labelled node and prediction time; None before training."""
        return self._table("predictions.parquet")

    @functools.cached_property
    def metrics(self) -> pa.Table | None:
        """One row per training run and prediction time; None before training."""
        return self._table("metrics.parquet")

    @functools.cached_property
    def forecast(self) -> pa.Table | None:
        """What `coden predict` has said of times after the training; None before it."""
        return self._table("forecast.parquet")

    def model(self) -> "Model":
        """The trained model, as a module of PyTorch; needs torch and safetensors."""
        from coden.model import read_model

        return read_model(self._model_file(CONFIG), self._model_file(WEIGHTS))

    def __repr__(self) -> str:
        return f"<coden.Training '{self._storage.path(self._folder)}'>"

    def _model_file(self, name: str) -> ModelFile:
        path = f"{self._folder}{MODEL_FOLDER}/{name}"
        file = self._files.get(path)
        if file is None:
            raise RunError(f"'{self._storage.name}' has no model: coden train writes it")
        return ModelFile(self._storage.path(path), read_checked(self._storage, file).to_pybytes())

    def _table(self, name: str) -> pa.Table | None:
        file = self._files.get(self._folder + name)
        return None if file is None else read_parquet(self._storage, file)
