"""Runs that are killed: a short form of kills.py."""

import kills


def test_twenty_kills():
    counts = kills.kill_runs(20, seed=7)
    assert counts["kills"] >= 20 and counts["at a point"] >= 8 and counts["at a time"] >= 8
