"""Files that others put into the folder of a run stay: tables, notes and models of the user."""

import filecmp
import json
import shutil

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from small_run import PROGRAM, subprocess
from table import snippet

NODES = 40
USAGE, CORRUPTION = 2, 5


class Case:
    """A trained run whose log grows, with files of the user in its folder."""

    def __init__(self, folder):
        self.folder, self.run = folder, folder / "run"
        (folder / "edges").mkdir()
        self.grow(0)
        random = np.random.default_rng(1)
        labels = pa.table({"node": range(NODES), "label": random.integers(0, 2, NODES)})
        pq.write_table(labels, folder / "labels.parquet")

    def grow(self, part):
        """Add 20 units of time to the log."""
        random = np.random.default_rng(part)
        src, dst = random.integers(0, NODES, (2, 400))
        times = 20 * part + np.sort(random.integers(0, 20, 400))
        table = pa.table({"src": src, "dst": dst, "time": times})
        pq.write_table(table, self.folder / f"edges/part-{part}.parquet")

    def call(self, command, *more, code=0):
        flags = [
            *["--input.edges", self.folder / "edges", "--input.random_features", "4"],
            *["--input.labels", self.folder / "labels.parquet", "--run.directory", self.run],
            *["--partition.initial", "5", "--partition.width", "5", "--sample.max_per_interval"],
            *["1", "--partition.unfinished", "wait", "--train.protocol", "shared"],
            *["--train.epochs", "1", "--train.hidden", "4"],
        ]
        arguments = [PROGRAM, command, *map(str, flags), *more]
        done = subprocess.run(arguments, capture_output=True, text=True)
        assert done.returncode == code, done.stderr
        return done.stderr

    def plant(self, names):
        for name in names:
            (self.run / name).parent.mkdir(parents=True, exist_ok=True)
            (self.run / name).write_text(f"of the user: {name}")

    def user_files(self):
        """What is in the folder of the run and the program has not written."""
        manifest = json.loads(max(self.run.glob("_coden/manifest-*.json")).read_text())
        named = {file["path"] for part in manifest["parts"] for file in part["files"]}
        named |= {"_SUCCESS", "report.html", "tensorboard/run-0/events.out.tfevents.coden"}
        return {
            name: path.read_bytes()
            for path in sorted(self.run.rglob("*"))
            if path.is_file()
            if (name := str(path.relative_to(self.run))) not in named
            if not name.startswith("_coden/")
        }


PLANTED = [
    "model/my.onnx",
    "notes.txt",
    "snapshots/notes.txt",
    "snapshots/snapshot=000001/notes.txt",
    "state/mine.parquet",
    "tensorboard/baseline/events.out.tfevents.coden",
    "tensorboard/mine/events.out.tfevents.other",
    "tensorboard/run-0/copy/events.out.tfevents.coden",
    "tensorboard/run-0-before/events.out.tfevents.coden",
    "trainings/mine/metrics.parquet",
]


def test_every_command_leaves_the_files_of_the_user(tmp_path):
    pytest.importorskip("deltalake")
    pytest.importorskip("pyiceberg")
    case = Case(tmp_path)
    case.call("run")
    (tmp_path / "warehouse").mkdir()
    names = {"run": str(case.run), "warehouse": str(tmp_path / "warehouse")}
    for reader in ["Delta Lake", "Iceberg"]:
        exec(compile(snippet(reader), reader, "exec"), names)
    case.plant(PLANTED)
    before = case.user_files()
    assert {*before} > {*PLANTED} and any("_delta_log" in name for name in before)

    def check(command, *more):
        said = case.call(command, *more)
        assert case.user_files() == before, command
        return said

    assert "skipped" in check("run")
    case.grow(1)
    assert "added to an earlier run" in check("predict")
    assert "the earlier training is kept in" in check("run", "--report.tensorboard", "true")
    case.grow(2)
    check("embed")
    check("train", "--train.model", "coden-s")
    said = check("run", "--force")
    assert "may describe the earlier snapshots" in said and "/_delta_log/" in said
    assert "earlier snapshots" not in check("run")


def test_a_file_with_the_name_of_one_of_the_run_is_not_replaced(tmp_path):
    case = Case(tmp_path)
    case.call("embed")
    case.plant(["predictions.parquet"])
    for command in [["run"], ["train"], ["embed"], ["run", "--force"]]:
        said = case.call(*command, code=USAGE)
        assert "predictions.parquet' is not a file of this run, but has the name of one" in said
        assert "predictions.parquet" in case.user_files()
    (case.run / "predictions.parquet").unlink()
    case.call("run")


@pytest.mark.parametrize("command", ["run", "embed", "train"])
def test_a_rebuild_keeps_what_took_the_place_of_a_file_of_the_run(tmp_path, command):
    case = Case(tmp_path)
    case.call("run")
    (case.run / "predictions.parquet").write_text("of the user")
    said = case.call("run", code=CORRUPTION)
    assert "predictions.parquet" in said and "--force" in said
    said = case.call(command, "--force")
    kept = case.run / "unnamed-1" / "predictions.parquet"
    assert f"are kept in '{kept.parent}'" in said
    assert kept.read_text() == "of the user" and len([*kept.parent.rglob("*")]) == 1
    assert case.call("run").count("unnamed") == 0


def test_a_damaged_manifest_costs_no_file(tmp_path):
    """Nothing tells the files of such a run from those of the user: all of them are kept."""
    case = Case(tmp_path)
    case.call("run")
    outputs = ["predictions.parquet", "metrics.parquet", "model/model.safetensors"]
    trained = {name: (case.run / name).read_bytes() for name in outputs}
    max(case.run.glob("_coden/manifest-*.json")).write_text("{")
    said = case.call("embed", "--force")
    assert f"files that no manifest names are kept in '{case.run}/unnamed-1'" in said
    for name, content in trained.items():
        assert (case.run / "unnamed-1" / name).read_bytes() == content
        assert not (case.run / name).exists()
    assert len(list(case.run.glob("unnamed-1/snapshots/*/part-0.parquet"))) > 2
    manifest = json.loads(max(case.run.glob("_coden/manifest-*.json")).read_text())
    assert "unnamed-1" in " ".join(manifest["parts"][0]["notes"])
    # A file of the user with the name of one of the run, and then the same accident.
    case.plant(["metrics.parquet"])
    max(case.run.glob("_coden/manifest-*.json")).write_text("{")
    before = case.run.parent / "earlier"
    shutil.copytree(case.run / "unnamed-1", before)
    case.call("run", "--force")
    kept = case.run / "unnamed-2" / "metrics.parquet"
    assert kept.read_text() == "of the user: metrics.parquet"
    assert (case.run / "metrics.parquet").read_bytes() == trained["metrics.parquet"]
    assert not filecmp.dircmp(before, case.run / "unnamed-1").diff_files
    case.call("run")


def test_a_report_of_the_user_is_not_replaced(tmp_path):
    case = Case(tmp_path)
    case.call("embed", "--report.html", "false")
    case.plant(["report.html"])
    said = case.call("run")
    assert "report.html' is not a report of this program and is kept" in said
    assert (case.run / "report.html").read_text() == "of the user: report.html"
    (case.run / "report.html").unlink()
    case.call("report")
    page = (case.run / "report.html").read_text()
    case.call("report")
    assert (case.run / "report.html").read_text() == page
