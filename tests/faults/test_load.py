"""A short form of load.py: the plan, the passes and the early stop on a small graph."""

import load


def test_a_slice_stays_under_its_limit(tmp_path):
    planned, peak = load.load(tmp_path, scale=16, edges=400_000, columns=48, say=lambda *_: None)
    assert peak <= planned
