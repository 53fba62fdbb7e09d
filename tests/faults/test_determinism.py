"""A short form of determinism.py, on a graph made on the spot."""

import determinism


def test_threads_and_passes(tmp_path):
    data = tmp_path / "data"
    determinism.coden(
        "generate", "sbm", "--out", data, "--nodes", "16000", "--steps", "3", "--features", "64"
    )
    flags = ["--input.edges", data / "edges.parquet", "--input.labels", data / "labels.parquet"]
    flags += ["--input.features", data / "features.parquet", "--partition.initial", "2"]
    flags += ["--partition.width", "1", *determinism.TRAINING]
    counts = determinism.compare(flags, threads=(1, 8), passes=(1, 2), repeats=1)
    assert counts["runs"] == 4
