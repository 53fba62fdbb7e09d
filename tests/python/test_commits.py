"""A run is what its newest manifest names, also while somebody writes to it."""

import os
import shutil
import sys

import coden
import coden.storage
import coden.verification
import pytest
from handmade_run import HandmadeRun
from small_run import embed


@pytest.fixture
def made(tmp_path):
    run = HandmadeRun(tmp_path / "run", dim=1)
    run.add([1, 2], [[1], [2]])
    run.commit()
    return run


def raises(*words):
    return pytest.raises(coden.RunError, match=".*".join(words))


def test_the_highest_number_counts(made):
    made.add([1], [[5]])
    assert coden.load(made.folder).num_snapshots == 1
    made.commits = 1_000_000 - 2
    made.commit()
    (made.folder / "_coden" / "manifest-tmp.json").write_text("{")
    assert coden.load(made.folder).num_snapshots == 2


def test_what_no_manifest_names_is_not_there(made):
    made.add([1], [[5]])
    del made.files[made.path(1)]
    made.commit()
    with raises("snapshot=000001/part-0.parquet' is not committed"):
        coden.load(made.folder).snapshot(1)


def test_files_of_an_unfinished_commit_are_read_where_they_lie(made):
    made.add([7], [[5]])
    staged = "_coden/stage/9/part-0.parquet"
    (made.folder / staged).parent.mkdir(parents=True)
    made.files[made.path(1)]["staged"] = staged
    made.commit()
    where = made.folder / made.path(1)
    shutil.copy(where, made.folder / staged)
    run = coden.load(made.folder)
    assert run.snapshot(1).nodes.to_pylist() == [7]
    where.write_bytes(b"of the commit before")
    assert run.snapshot(1).nodes.to_pylist() == [7]
    where.unlink()
    assert run.snapshot(1).nodes.to_pylist() == [7]
    (made.folder / staged).unlink()
    with raises("part-0.parquet' is missing: it is damaged, or the run has been rewritten"):
        run.snapshot(1)


def test_a_file_that_moves_while_it_is_looked_for(made, monkeypatch):
    staged = "_coden/stage/part-0.parquet"
    made.files[made.path(0)]["staged"] = staged
    made.publish()
    run = coden.load(made.folder)
    (made.folder / "_coden" / "stage").mkdir()
    os.rename(made.folder / made.path(0), made.folder / staged)
    look = coden.storage.Storage.open

    def look_and_move(storage, name):
        found = look(storage, name)
        if name == made.path(0) and found is None:
            os.rename(made.folder / staged, made.folder / made.path(0))
        return found

    monkeypatch.setattr(coden.storage.Storage, "open", look_and_move)
    assert run.snapshot(0).nodes.to_pylist() == [1, 2]


def test_manifests_are_pruned_while_they_are_listed(made, monkeypatch):
    look = coden.storage.Storage.list

    def prune_behind(storage, folder):
        names = look(storage, folder)
        if made.commits < 3:
            old = made.manifest()
            made.publish()
            old.unlink()
        return names

    monkeypatch.setattr(coden.storage.Storage, "list", prune_behind)
    assert coden.load(made.folder).num_snapshots == 1


def test_manifests_that_always_vanish(made, monkeypatch):
    gone = ["manifest-000077.json"]
    monkeypatch.setattr(coden.storage.Storage, "list", lambda storage, folder: gone)
    with raises("is being written: its manifests vanish"):
        coden.load(made.folder)


def test_a_commit_between_manifest_and_schedule(made, monkeypatch):
    look = coden.storage.Storage.open

    def commit_before(storage, name):
        if name == "schedule.parquet" and made.commits == 1:
            made.add([1], [[5]])
            made.add([1], [[6]])
            made.commit()
        return look(storage, name)

    monkeypatch.setattr(coden.storage.Storage, "open", commit_before)
    assert coden.load(made.folder).num_snapshots == 3


def test_a_run_in_progress_shows_what_is_committed(made):
    before = coden.load(made.folder)
    made.add([1], [[5]])
    made.commit()
    assert before.snapshot(0).embeddings.tolist() == [[1], [2]]
    with raises("has no snapshot 1: it has 0 to 0$"):
        before.snapshot(1)
    assert coden.load(made.folder).snapshot(1).embeddings.tolist() == [[5]]


def test_verify_finds_what_was_changed(tmp_path):
    pytest.importorskip("xxhash")
    folder = embed(tmp_path)
    run = coden.load(folder)
    result = run.verify()
    assert result.ok and result.checksums and result.files == run.num_snapshots + 7
    assert str(result) == f"{result.files} files are as committed, by size and xxh3"
    victim = folder / "snapshots/snapshot=000001/part-0.parquet"
    data = bytearray(victim.read_bytes())
    data[len(data) // 2] ^= 1
    victim.write_bytes(data)
    (folder / "state/nodes.parquet").unlink()
    result = run.verify()
    assert not result.ok and len(result.problems) == 2
    assert any("000001/part-0.parquet' is damaged: its xxh3 is not" in p for p in result.problems)
    assert any("nodes.parquet' is missing" in problem for problem in result.problems)
    assert str(result).startswith(f"2 of {result.files} files are not as committed")


def test_verify_without_xxhash_compares_sizes_and_says_so(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "xxhash", None)
    folder = embed(tmp_path)
    run = coden.load(folder)
    assert run.verify().ok and not run.verify().checksums
    assert str(run.verify()).endswith("by size alone (xxhash is not installed)")
    with open(folder / "schedule.parquet", "ab") as file:
        file.write(b"x")
    assert "schedule.parquet' has" in run.verify().problems[0]


def test_a_commit_while_files_are_verified(made, monkeypatch):
    run = coden.load(made.folder)
    look = coden.storage.Storage.open

    def commit_before(storage, name):
        if name == "schedule.parquet" and made.commits == 1:
            made.add([1], [[5]])
            made.add([1], [[6]])
            made.commit()
        return look(storage, name)

    monkeypatch.setattr(coden.storage.Storage, "open", commit_before)
    result = run.verify()
    assert result.ok and result.files == 5


def test_verify_takes_the_newest_manifest(made):
    run = coden.load(made.folder)
    made.add([1], [[5]])
    made.commit()
    assert run.verify().files == 4
