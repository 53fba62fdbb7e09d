"""Snapshots that hold only the rows that changed are put together with those they rest on."""

import coden
import numpy as np
import pytest
from handmade_run import HandmadeRun


def check(run, number, expected):
    """The snapshot and the sequence over all nodes hold `expected`, node -> values, in order."""
    snapshot = run.snapshot(number)
    assert snapshot.nodes.to_pylist() == list(expected)
    assert snapshot.embeddings.tolist() == list(expected.values())
    assert snapshot.table["node"].to_pylist() == list(expected)
    nodes = sorted(expected) + (["absent"] if isinstance(next(iter(expected)), str) else [-1])
    sequence = run.sequence(nodes, [number])
    assert sequence.mask[:, 0].tolist() == [True] * len(expected) + [False]
    assert sequence.embeddings[:-1, 0].tolist() == [expected[node] for node in sorted(expected)]


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize("layout", ["list", "fixed", "columns"])
@pytest.mark.parametrize("ids", [[50, 40, 30, 20, 10], ["e", "d", "c", "b", "a"]])
def test_changed_rows_lie_over_those_of_the_base(tmp_path, layout, dtype, ids):
    e, d, c, b, a = ids
    made = HandmadeRun(tmp_path, dim=2, layout=layout, dtype=dtype)
    made.add([e, d, c], [[1, 1], [2, 2], [3, 3]], row_group_size=2)
    made.add([d], [[2, 9]], base=0)
    made.add([c, b, a, e], [[3, 8], [4, 4], [5, 5], [1, 8]], base=0)
    made.add([d, e], [[0, 1], [0, 2]])
    made.add([], [], base=3)
    run = coden.load(made.commit())
    check(run, 0, {e: [1, 1], d: [2, 2], c: [3, 3]})
    check(run, 1, {e: [1, 1], d: [2, 9], c: [3, 3]})
    check(run, 2, {e: [1, 8], d: [2, 2], c: [3, 8], b: [4, 4], a: [5, 5]})
    check(run, 3, {d: [0, 1], e: [0, 2]})
    check(run, 4, {d: [0, 1], e: [0, 2]})
    whole = run.sequence(ids)
    for number in range(5):
        alone = run.sequence(ids, [number])
        assert np.array_equal(whole.embeddings[:, number], alone.embeddings[:, 0])
        assert np.array_equal(whole.mask[:, number], alone.mask[:, 0])


def test_a_schedule_without_bases_has_whole_snapshots(tmp_path):
    made = HandmadeRun(tmp_path, dim=1)
    made.add([1, 2], [[1], [2]])
    made.add([2], [[5]])
    run = coden.load(made.commit(["snapshot", "prediction", "at_prediction", "time"]))
    check(run, 1, {2: [5]})


@pytest.mark.parametrize("base", [1, 7])
def test_a_base_must_be_whole_and_there(tmp_path, base):
    made = HandmadeRun(tmp_path, dim=1)
    made.add([1], [[1]])
    made.add([1], [[2]], base=0)
    made.add([1], [[3]], base=base)
    run = coden.load(made.commit())
    for read in [run.snapshot, lambda number: run.sequence([1], [number])]:
        with pytest.raises(coden.RunError, match=f"base of snapshot 2 .* whole snapshot: {base}$"):
            read(2)
