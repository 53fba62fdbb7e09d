"""The data sets of the accuracy table: when is predicted, and the windows of label columns."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
from training_run import Settings, input_settings

SETS = ["dblp", "git_postgres", "brain", "patent_small"]

# The features of dblp know the years up to 20: only later ones are honest to predict.
PARTITIONS: dict[str, Settings] = {"dblp": {"partition.initial": 21, "partition.width": 1}}
INITIAL, PREDICTIONS = 0.5, 8
USUAL_PARTITION: Settings = {"partition.initial": INITIAL, "partition.predictions": PREDICTIONS}

# In prediction intervals, which are years in dblp; brain has only twelve times in all.
WINDOW_INTERVALS = [1, 2, 3, 5]
WINDOWS = {"dblp": [0, *WINDOW_INTERVALS], "brain": [0, 1, 2, 3]}


def windows(data: Path, name: str) -> list[int]:
    """How long an edge carries labels, side by side; 0 is for ever."""
    if name in WINDOWS:
        return WINDOWS[name]
    times = pq.read_table(data / name / "edges.parquet", columns=["time"])["time"].to_numpy()
    interval = (times[-1] - times[int(len(times) * INITIAL)]) / PREDICTIONS
    return [0, *(round(count * interval) for count in WINDOW_INTERVALS)]


def set_settings(data: Path, name: str) -> Settings:
    return {
        **input_settings(data, name),
        "graph.events": "insert",
        "graph.directed": "false",
        **PARTITIONS.get(name, USUAL_PARTITION),
        "sample.max_per_interval": 2,
        "snapshot.nodes": "labelled",
    }
