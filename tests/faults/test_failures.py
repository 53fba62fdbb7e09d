"""Calls that fail: the form of failures.py that CI runs."""

import failures
import pytest

# Two of every function and kind.
FAULTS = 30
# Interrupted and failing calls that once ended in another way: a sync was not repeated, an
# exception left a function that may throw none, an error named no file, a folder that could not
# be looked at was said to be none, the files of a slice were removed when its record was there.
ONCE_WRONG = [f"{name}:fsync:{n}:EINTR" for name in ("embed", "train") for n in (1, 2)]
ONCE_WRONG += [f"embed:allocate:{n}:ENOMEM" for n in (1, 2, 3)]
ONCE_WRONG += [f"embed:open:{n}:EIO" for n in (1, 2, 3)]
ONCE_WRONG += [f"append:stat:{n}:EIO" for n in range(1, 11)]
ONCE_WRONG += [f"slice:fsync:{n}:{effect}" for n in (8, 9) for effect in ("EIO", "ENOSPC")]


@pytest.fixture(scope="module")
def outcome():
    return failures.fail_calls(FAULTS, seed=7)


def test_every_failure_is_a_clear_error_or_harmless(outcome):
    counts, problems = outcome
    assert not problems, problems
    assert sum(counts.values()) == FAULTS


def test_calls_that_once_went_wrong():
    counts, problems = failures.fail_calls(only=ONCE_WRONG)
    assert not problems, problems
    assert not any(ended == "not reached" for _, _, ended in counts), counts


def test_failures_were_met(outcome):
    """A test that fails no call passes as well."""
    counts, _ = outcome
    reached = {function for function, _, ended in counts if ended != "not reached"}
    assert len(reached) >= len(failures.FAILURES) - 1, reached
    assert any(ended == f"exit code {failures.RESOURCES}" for _, _, ended in counts)
