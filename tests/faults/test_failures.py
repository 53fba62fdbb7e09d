"""Calls that fail: the form of failures.py that CI runs."""

import failures
import pytest

# Two of every function and kind.
FAULTS = 30


@pytest.fixture(scope="module")
def outcome():
    return failures.fail_calls(FAULTS, seed=7)


def test_every_failure_is_a_clear_error_or_harmless(outcome):
    counts, problems = outcome
    assert not problems, problems
    assert sum(counts.values()) == FAULTS


def test_failures_were_met(outcome):
    """A test that fails no call passes as well."""
    counts, _ = outcome
    reached = {function for function, _, ended in counts if ended != "not reached"}
    assert len(reached) >= len(failures.FAILURES) - 1, reached
    assert any(ended == f"exit code {failures.RESOURCES}" for _, _, ended in counts)
