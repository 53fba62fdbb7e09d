"""What goes wrong is said in one line: what and where."""

import coden
import numpy as np
import pyarrow as pa
import pyarrow.fs
import pytest
from handmade_run import HandmadeRun


@pytest.fixture
def made(tmp_path):
    run = HandmadeRun(tmp_path / "run", dim=2)
    run.add([1, 2], [[1, 2], [3, 4]])
    run.commit()
    return run


def error(call, *arguments, **more):
    with pytest.raises(coden.RunError) as caught:
        call(*arguments, **more)
    text = str(caught.value)
    assert text.isprintable() and "\n" not in text
    return text


def test_no_run(tmp_path):
    assert (
        error(coden.load, tmp_path) == f"'{tmp_path}' is not a run: it has no manifest in _coden/"
    )
    assert "is not a run" in error(coden.load, tmp_path / "missing")
    (tmp_path / "file").write_text("x")
    assert str(tmp_path / "file") in error(coden.load, tmp_path / "file")


@pytest.mark.parametrize("user", ["key:secret", "key:se/secret", "secret"])
def test_secrets_of_a_uri_are_not_said(user):
    text = error(coden.load, f"nowhere://{user}@bucket/run?token=secret")
    assert text.startswith("'nowhere://***@bucket/run' cannot be opened") and "secret" not in text


def test_damaged_manifests(made):
    for content in ["{", "[]", '{"format_version": 5}', '{"format_version": 5, "parts": [{}]}']:
        made.manifest().write_text(content)
        assert f"the manifest '{made.manifest()}' is damaged" in error(coden.load, made.folder)
    made.publish()
    manifest = made.manifest()
    manifest.write_text(manifest.read_text().replace("0.1.0", "0.2.0"))
    assert "it lacks the right checksum of itself" in error(coden.load, made.folder)
    made.publish(number=7)
    assert "is the text of another manifest: 7" in error(coden.load, made.folder)
    made.publish(format_version=1)
    assert "has a format this version does not know: 1" in error(coden.load, made.folder)


@pytest.mark.parametrize("path", ["../other/schedule.parquet", "/etc/passwd", "a/../../b"])
@pytest.mark.parametrize("key", ["path", "staged"])
def test_paths_stay_below_the_run(made, path, key):
    made.files["schedule.parquet"][key] = path
    made.publish()
    assert "path leaves the run" in error(coden.load, made.folder)


@pytest.mark.parametrize(
    "name", ["schedule.parquet", "_coden", "_coden/manifest-000001.json", "snapshots"]
)
@pytest.mark.parametrize("below", [False, True], ids=["path", "file system"])
def test_links_inside_a_run_are_refused(made, tmp_path, name, below):
    elsewhere = tmp_path / "elsewhere"
    (made.folder / name).rename(elsewhere)
    (made.folder / name).symlink_to(elsewhere)
    system = pa.fs.SubTreeFileSystem(str(tmp_path), pa.fs.LocalFileSystem()) if below else None
    place = "run" if below else made.folder
    read = error(lambda: coden.load(place, filesystem=system).snapshot(0))
    assert read.startswith(f"'{place}/{name}' is a symbolic link; a run has its files in its own")


def test_a_link_to_a_run_is_followed(made, tmp_path):
    (tmp_path / "link").symlink_to(made.folder)
    assert coden.load(tmp_path / "link").snapshot(0).nodes.to_pylist() == [1, 2]


def test_a_link_is_not_verified(made, tmp_path):
    run = coden.load(made.folder)
    (made.folder / made.path(0)).rename(tmp_path / "file")
    (made.folder / made.path(0)).symlink_to(tmp_path / "file")
    (problem,) = run.verify().problems
    assert "is a symbolic link" in problem


def test_a_run_without_snapshots(made):
    del made.files["schedule.parquet"]
    made.publish()
    assert "has no snapshots: coden embed writes them" in error(coden.load, made.folder)


def test_a_schedule_that_is_none(made):
    made.commit(["snapshot", "time", "at_prediction"])
    assert "schedule.parquet' is not a schedule: no column prediction" in error(
        coden.load, made.folder
    )


@pytest.mark.parametrize("whole", [True, False], ids=["xxhash", "pages"])
def test_damaged_files_are_noticed(made, whole, monkeypatch):
    values = np.random.default_rng(3).random((1000, 2))
    options = {"compression": "none", "use_dictionary": False, "write_page_checksum": True}
    made.add(list(range(1000)), values, **options)
    made.commit()
    run = coden.load(made.folder)
    if not whole:
        monkeypatch.setattr(coden.checksums, "hasher", lambda: None)
    how = "is damaged" if whole else "cannot be read"
    path = made.folder / made.path(1)
    data = bytearray(path.read_bytes())
    for damage, reason in [
        (data[:-5], f"has {len(data) - 5} bytes instead of {len(data)}"),
        (b"\x00\n" * (len(data) // 2) + data[: len(data) % 2], how),
        (flipped(data, data.index(values[500].astype(np.float32).tobytes())), how),
    ]:
        path.write_bytes(damage)
        assert f"'{path}' {reason}" in error(run.snapshot, 1)


def flipped(data, place):
    """One bit is another; without checksums of pages, a reader gives another number."""
    return data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        ({"x": [1]}, "no column node"),
        ({"node": [1], "x": [1]}, "neither a column embedding nor columns e0 to e1"),
        ({"node": [1], "embedding": [1.0]}, "embedding must be a list, not double"),
        ({"node": [1], "embedding": [["a", "b"]]}, "must be float32 or float16, not string"),
        (
            {"node": [1, 2], "embedding": pa.array([[1], [1, 2]], pa.list_(pa.float32()))},
            "an embedding does not have 2 values",
        ),
        (
            {"node": [1], "embedding": pa.array([None], pa.list_(pa.float32(), 2))},
            "an embedding does not have 2 values",
        ),
        (
            {"node": [1], "embedding": pa.array([[1, 2, 3]], pa.list_(pa.float32(), 3))},
            "an embedding does not have 2 values",
        ),
        ({"node": [1], "e0": [1], "e1": [2]}, "must be float32 or float16, not int64"),
    ],
)
def test_files_that_are_not_snapshots(made, columns, reason):
    made.add([1], [[5, 6]])
    made.write(made.path(1), pa.table(columns))
    made.commit()
    run = coden.load(made.folder)
    for read in [run.snapshot, lambda number: run.sequence([1], [number])]:
        text = error(read, 1)
        assert f"'{made.folder / made.path(1)}' is not a snapshot: " in text and reason in text
    assert run.dim == 2


def test_a_first_file_that_is_not_a_snapshot(made):
    made.write(made.path(0), pa.table({"node": [1], "embedding": [[1.0, 2.0]]}))
    made.commit()
    run = coden.load(made.folder)
    assert "is not a snapshot: " in error(lambda: run.dim)


def test_ids_of_another_kind(made):
    run = coden.load(made.folder)
    assert error(run.sequence, ["1"]) == "ids of this run are int64, not string"
    assert "ids of this run are int64" in error(run.sequence, [1, "a"])
    assert "ids of this run are int64" in error(run.sequence, np.array([2**63], np.uint64))
    assert "ids of this run are int64, not double" in error(run.sequence, [1.0])
    assert "ids of this run are int64" in error(run.sequence, 5)
