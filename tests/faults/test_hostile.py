"""Hostile files: a short form of hostile.py."""

import collections
import random

import hostile
import pytest


@pytest.mark.skipif(
    not (hostile.HOSTILE / "parquet").is_dir(), reason=f"{hostile.HOSTILE} is not there"
)
def test_every_file_in_some_roles():
    cases = collections.defaultdict(list)
    for case in hostile.all_cases():
        cases[case.file].append(case)
    draw = random.Random(11)
    chosen = [case for of_file in cases.values() for case in draw.sample(of_file, 3)]
    counts, failures, _ = hostile.run_cases(chosen)
    assert failures == []
    assert counts["calls"] == 3 * len(cases) and counts["exit code 3"] and counts["exit code 5"]
