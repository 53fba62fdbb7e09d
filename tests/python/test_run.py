"""What the Python package gives is what the files hold."""

import re
import weakref

import coden
import coden.run
import coden.storage
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from handmade_run import HandmadeRun, embedding_columns
from small_run import call, embed


@pytest.fixture
def small(tmp_path):
    """Three snapshots of three numbers; node 30 comes with the second, node 10 never again."""
    run = HandmadeRun(tmp_path / "run")
    run.add([20, 10], [[1, 2, 3], [4, 5, 6]])
    run.add([20, 10, 30], [[1, 2, 4], [4, 5, 6], [7, 8, 9]])
    run.add([30, 20], [[7, 8, 8], [1, 1, 1]])
    return run


@pytest.mark.parametrize("ids", ["int", "string"])
@pytest.mark.parametrize("layout", ["list", "fixed", "columns"])
def test_a_run_of_the_program(tmp_path, layout, ids):
    folder = embed(tmp_path, "--snapshot.layout", layout, ids=ids)
    run = coden.load(folder)
    schedule = pq.ParquetFile(folder / "schedule.parquet").read()
    assert run.schedule.equals(schedule)
    assert (run.num_snapshots, run.dim) == (schedule.num_rows, 5)
    assert run.settings["snapshot.layout"] == layout
    assert run.predictions is None and run.metrics is None
    sequence = run.sequence(run.snapshot(run.num_snapshots - 1).nodes)
    assert sequence.embeddings.shape == (*sequence.mask.shape, 5)
    assert 0 < sequence.mask[:, 0].sum() < len(sequence.nodes)
    for number in range(run.num_snapshots):
        file = pq.ParquetFile(folder / f"snapshots/snapshot={number:06}/part-0.parquet").read()
        if layout == "columns":
            rows = [list(row.values())[1:] for row in file.to_pylist()]
        else:
            rows = file["embedding"].to_pylist()
        snapshot = run.snapshot(number)
        assert snapshot.table.equals(file)
        assert snapshot.nodes.to_pylist() == file["node"].to_pylist()
        assert snapshot.embeddings.dtype == np.float32
        assert snapshot.embeddings.tolist() == rows
        assert snapshot.time == schedule["time"][number].as_py()
        by_node = dict(zip(file["node"].to_pylist(), rows, strict=True))
        for node, values, there in zip(
            sequence.nodes.to_pylist(),
            sequence.embeddings[:, number].tolist(),
            sequence.mask[:, number],
            strict=True,
        ):
            assert there == (node in by_node)
            assert values == by_node.get(node, [0] * 5)


def test_at_prediction_is_the_snapshot_taken_there(tmp_path):
    run = coden.load(embed(tmp_path))
    for prediction in [1, 2, 3]:
        row = run.schedule.slice(run.at_prediction(prediction).number, 1).to_pylist()[0]
        assert (row["prediction"], row["at_prediction"]) == (prediction, True)
    with pytest.raises(coden.RunError, match="has no prediction 4: it has 1 to 3$"):
        run.at_prediction(4)


def test_settings_of_a_trained_run_go_by_their_keys(tmp_path):
    folder = embed(tmp_path)
    nodes = np.arange(50) * 7919 % 1009
    pq.write_table(pa.table({"node": nodes, "label": nodes % 3}), tmp_path / "labels.parquet")
    call(
        *[
            "train",
            folder / "_coden" / "settings.ini",
            "--input.labels",
            tmp_path / "labels.parquet",
        ],
        *["--train.model", "coden-s", "--train.epochs", "2", "--run.seed", "5"],
    )
    settings = coden.load(folder).settings
    assert settings["train.model"] == "coden-s" and settings["run.seed"] == "5"
    assert settings["input.random_seed"] == "0" and settings["embed.alpha"] == "0.2"
    assert all(re.fullmatch(r"[a-z]+\.[a-z_]+", key) for key in settings), settings


def test_settings_keep_what_stands_behind_the_first_sign(small):
    settings = coden.load(small.commit()).settings
    assert settings == {"embed.alpha": "0.2", "input.edges": "a = b.parquet", "embed.columns": ""}


@pytest.mark.parametrize("layout", ["list", "fixed"])
def test_lists_are_not_copied(tmp_path, layout):
    run = HandmadeRun(tmp_path, layout=layout)
    run.add([1, 2], [[1, 2, 3], [4, 5, 6]])
    snapshot = coden.load(run.commit()).snapshot(0)
    buffer = snapshot.table["embedding"].chunk(0).values.buffers()[1]
    assert snapshot.embeddings.ctypes.data == buffer.address
    assert not snapshot.embeddings.flags.writeable


@pytest.mark.parametrize("layout", ["list", "fixed", "columns"])
def test_many_row_groups(tmp_path, layout):
    run = HandmadeRun(tmp_path, layout=layout)
    values = np.arange(300, dtype=np.float32).reshape(100, 3)
    run.add(list(range(100)), values, row_group_size=7)
    assert np.array_equal(coden.load(run.commit()).snapshot(0).embeddings, values)


@pytest.mark.parametrize("layout", ["list", "fixed", "columns"])
def test_float16_is_given_as_float32_unless_kept(tmp_path, layout):
    run = HandmadeRun(tmp_path, layout=layout, dtype=np.float16)
    values = np.array([[1.5, 2, 3], [0.1, 5, 6]], np.float16)
    run.add([1, 2], values)
    loaded = coden.load(run.commit())
    for keep, dtype in [(False, np.float32), (True, np.float16)]:
        for found in [
            loaded.snapshot(0, keep_precision=keep).embeddings,
            loaded.sequence([1, 2], keep_precision=keep).embeddings[:, 0],
        ]:
            assert found.dtype == dtype and np.array_equal(found, values.astype(dtype))


def test_sequences_of_chosen_snapshots_and_repeated_nodes(small):
    run = coden.load(small.commit())
    sequence = run.sequence(np.array([30, 99, 20, 30]), snapshots=[2, 0])
    assert sequence.mask.tolist() == [[True, False], [False, False], [True, True], [True, False]]
    assert sequence.embeddings.tolist() == [
        [[7, 8, 8], [0, 0, 0]],
        [[0, 0, 0], [0, 0, 0]],
        [[1, 1, 1], [1, 2, 3]],
        [[7, 8, 8], [0, 0, 0]],
    ]
    assert sequence.snapshots == [2, 0] and sequence.times.tolist() == [120, 100]
    assert np.asarray(sequence) is sequence.embeddings
    assert run.sequence([]).embeddings.shape == (0, 3, 3)
    assert run.sequence([20], snapshots=[]).embeddings.shape == (1, 0, 3)


def test_a_sequence_holds_one_decoded_file(tmp_path, monkeypatch):
    made = HandmadeRun(tmp_path)
    for number in range(12):
        made.add([1, 2], np.zeros((2, 3)), base=number // 3 * 3)
    run = coden.load(made.commit())
    decoded = []

    read_file = coden.run.read_parquet

    def read(storage, file, columns=None):
        if columns is not None:
            return read_file(storage, file, columns)
        assert not any(values() is not None for values in decoded), "held while the next is read"
        values = np.arange(6, dtype=np.float32).reshape(2, 3)
        table = pa.table({"node": [1, 2], **embedding_columns(values)})
        # Arrow takes the array over as it is, so it lives as long as the table or a view of it.
        assert np.shares_memory(table["embedding"].chunk(0).values.to_numpy(), values)
        decoded.append(weakref.ref(values))
        return table

    monkeypatch.setattr(coden.run, "read_parquet", read)
    assert run.sequence([2]).embeddings[0, 11].tolist() == [3, 4, 5]
    # Every file once: a base is not read again for each snapshot that rests on it.
    assert len(decoded) == 12


def test_torch_shares_memory(small):
    pytest.importorskip("torch")
    run = coden.load(small.commit())
    snapshot, sequence = run.snapshot(1), run.sequence([30, 10])
    assert snapshot.torch().data_ptr() == snapshot.embeddings.ctypes.data
    embeddings, mask = sequence.torch()
    assert embeddings.data_ptr() == sequence.embeddings.ctypes.data
    assert mask.data_ptr() == sequence.mask.ctypes.data
    assert embeddings.tolist() == sequence.embeddings.tolist()


def test_runs_by_uri_and_by_file_system(small):
    folder = small.commit()
    below = pa.fs.SubTreeFileSystem(str(folder.parent), pa.fs.LocalFileSystem())
    for run in [
        coden.load(f"file://{folder}"),
        coden.load(f"{folder}/"),
        coden.load("run", filesystem=below),
    ]:
        assert run.snapshot(1).nodes.to_pylist() == [20, 10, 30]


def test_predictions_and_metrics_where_they_are_committed(small):
    table = pa.table({"node": [1], "predicted": [2]})
    small.write("predictions.parquet", table)
    small.commit()
    run = coden.load(small.folder)
    assert run.predictions.equals(table) and run.metrics is None


def test_tables_of_the_training_are_read_once(small, monkeypatch):
    table = pa.table({"node": [1], "predicted": [2]})
    for name in ["predictions", "metrics", "forecast"]:
        small.write(f"{name}.parquet", table)
    small.commit()
    run = coden.load(small.folder)
    for name in ["predictions", "metrics", "forecast"]:
        assert getattr(run, name).equals(table)
        (small.folder / f"{name}.parquet").unlink()
        assert getattr(run, name) is getattr(run, name)


def test_a_forecast_where_it_is_committed(small):
    assert coden.load(small.commit()).forecast is None
    table = pa.table({"node": [1], "predicted": [2]})
    small.write("forecast.parquet", table)
    assert coden.load(small.commit()).forecast.equals(table)


def test_earlier_trainings(small):
    table = pa.table({"node": [1], "predicted": [2]})
    small.write("trainings/coden-1/predictions.parquet", table)
    training = {"name": "trainings/coden-1", "files": list(small.files.values())[-1:]}
    del small.files["trainings/coden-1/predictions.parquet"]
    small.write("predictions.parquet", pa.table({"node": [3], "predicted": [4]}))
    small.commit(trainings=[training | {"parameters": "train.model = coden\n"}])
    run = coden.load(small.folder)
    assert "train.model" not in run.settings
    assert list(run.trainings) == ["coden-1"]
    earlier = run.trainings["coden-1"]
    assert earlier.predictions.equals(table) and earlier.forecast is None
    assert earlier.settings == {"train.model": "coden"}
    assert run.predictions["node"].to_pylist() == [3]
    assert repr(earlier) == f"<coden.Training '{small.folder}/trainings/coden-1/'>"


class Counting:
    """A file system that counts the bytes that are read of each file."""

    def __init__(self, monkeypatch):
        self.read = {}
        look = coden.storage.Storage.open

        def open_counting(storage, name):
            handle = look(storage, name)
            return handle if handle is None else pa.PythonFile(Counted(handle, name, self.read))

        monkeypatch.setattr(coden.storage.Storage, "open", open_counting)


class Counted:
    def __init__(self, handle, name, read):
        self.handle, self.name, self.counts = handle, name, read
        self.closed = False

    def read(self, size=-1):
        content = self.handle.read(size)
        self.counts[self.name] = self.counts.get(self.name, 0) + len(content)
        return content

    def seek(self, *where):
        return self.handle.seek(*where)

    def tell(self):
        return self.handle.tell()

    def size(self):
        return self.handle.size()

    def seekable(self):
        return True

    def readable(self):
        return True

    def writable(self):
        return False

    def close(self):
        self.closed = True
        self.handle.close()


def test_a_file_is_read_once(small, monkeypatch):
    folder = small.commit()
    counted = Counting(monkeypatch)
    coden.load(folder).snapshot(1)
    for name in ["schedule.parquet", small.path(1)]:
        assert counted.read[name] == (folder / name).stat().st_size


def test_the_width_is_read_from_a_footer(tmp_path, monkeypatch):
    made = HandmadeRun(tmp_path)
    made.add(list(range(50_000)), np.random.default_rng(1).random((50_000, 3)))
    folder = made.commit()
    counted = Counting(monkeypatch)
    assert coden.load(folder).dim == 3
    assert counted.read[made.path(0)] < (folder / made.path(0)).stat().st_size / 4


def test_nodes_with_features_alone_are_there_but_not_seen(tmp_path):
    made = HandmadeRun(tmp_path, dim=1)
    made.add([1, 2, 3], [[1], [2], [3]])
    made.add([1, 2, 3], [[1], [2], [3]])
    made.add([1, 2, 3], [[1], [2], [3]])
    made.first_events = {1: 100, 2: 110, 3: None}
    sequence = coden.load(made.commit()).sequence([3, 2, 1, 9])
    assert sequence.mask.tolist() == [[True] * 3, [True] * 3, [True] * 3, [False] * 3]
    assert sequence.seen.tolist() == [
        [False] * 3,
        [False, True, True],
        [True] * 3,
        [False] * 3,
    ]


def test_seen_is_from_the_first_event_on(tmp_path):
    """A run of the program whose features name all nodes: the log says when each comes."""
    features = tmp_path / "features.parquet"
    ids = list(range(1009))
    pq.write_table(pa.table({"node": ids, "x": [[float(i), 1.0] for i in ids]}), features)
    folder = embed(tmp_path, "--input.random_features", "0", "--input.features", features)
    log = pq.read_table(tmp_path / "edges.parquet").to_pydict()
    first = {}
    for end in ["src", "dst"]:
        for node, time in zip(log[end], log["time"], strict=True):
            first[node] = min(time, first.get(node, time))
    sequence = coden.load(folder).sequence(ids)
    assert sequence.mask.all()
    expected = [[first.get(node, np.inf) <= time for time in sequence.times] for node in ids]
    assert sequence.seen.tolist() == expected
    assert 0 < sequence.seen[:, 0].sum() < sequence.seen[:, -1].sum() < len(ids)
