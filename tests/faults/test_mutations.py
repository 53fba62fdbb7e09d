"""Damaged runs: a short form of mutations.py."""

import mutations


def test_two_hundred_mutations():
    counts, failures = mutations.mutate_runs(200, seed=7)
    assert failures == []
    assert counts["mutations"] == 200 and counts["  verify refused"] > 100
