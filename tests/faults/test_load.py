"""A short form of load.py: the plan, the passes and the early stop on a small graph."""

import pathlib
import tempfile

import load
import pytest


def test_a_slice_stays_under_its_limit():
    # Files in memory would count as the memory of the process that writes them.
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        planned, peak, held = load.load(
            pathlib.Path(folder), scale=16, edges=400_000, columns=48, say=lambda *_: None
        )
    assert peak <= planned
    if not held:
        pytest.skip("no memory cgroup can be made here: the limit was not held by the kernel")
