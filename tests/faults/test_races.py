"""Two writers on one run: the form of races.py that CI runs."""

import races


def test_fifty_races():
    assert races.race(50)["races"] == 50
