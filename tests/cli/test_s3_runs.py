"""Whole runs in an object store: everything that a local run does, by one writer."""

import pathlib
import subprocess
import time

import pyarrow.dataset as ds
import pytest
from conftest import PROGRAM, ROOT, data_hashes
from pyarrow import fs

SECRET = "planted-secret"


@pytest.fixture
def bucket(endpoint, tmp_path):
    """An empty bucket: its filesystem, and what to put before and behind a name in it."""
    store = fs.S3FileSystem(
        access_key="me",
        secret_key=SECRET,
        endpoint_override=endpoint,
        scheme="http",
        region="us-east-1",
        allow_bucket_creation=True,
    )
    name = f"b{abs(hash(tmp_path)) % 10**9}"
    store.create_dir(name)
    before = f"s3://me:{SECRET}@{name}/"
    return fs.SubTreeFileSystem(name, store), before, f"?endpoint_override={endpoint}&scheme=http"


def upload(store, folder, to):
    for path in folder.iterdir():
        with store.open_output_stream(f"{to}/{path.name}") as file:
            file.write(path.read_bytes())


def download(store, name, to):
    fs.copy_files(
        name, str(to), source_filesystem=store, destination_filesystem=fs.LocalFileSystem()
    )


def assert_no_secret(folder, *texts):
    for text in texts:
        assert SECRET not in text
    for path in pathlib.Path(folder).rglob("*"):
        assert not path.is_file() or SECRET.encode() not in path.read_bytes(), path


def test_quickstart_in_a_bucket(coden, bucket, tmp_path):
    store, before, behind = bucket
    data = tmp_path / "data"
    assert coden("generate", "sbm", "--out", data).code == 0
    upload(store, data, "data")
    short = ["--train.epochs", "3", "--train.runs", "1"]

    def run(command, place, *flags):
        inputs = []
        for name in ("edges", "features", "labels"):
            inputs += [f"--input.{name}", place(f"data/{name}.parquet")]
        arguments = [command, ROOT / "pipelines/quickstart.ini", *inputs, *short, *flags]
        return coden(*arguments, "--run.directory", place("run"))

    def away(name):
        return f"{before}{name}{behind}"

    local = run("run", lambda name: tmp_path / name)
    assert local.code == 0, local.stderr
    remote = run("run", away)
    assert remote.code == 0, remote.stderr
    assert remote.stdout == local.stdout
    download(store, "run", tmp_path / "copy")
    assert data_hashes(tmp_path / "copy") == data_hashes(tmp_path / "run")
    again = run("run", away)
    assert again.stderr.count("unchanged, skipped") == 2

    verified = coden("verify", away("run"))
    assert verified.code == 0, verified.stderr
    inspected = coden("inspect", away("run"))
    assert inspected.code == 0 and "snapshots" in inspected.stdout
    reported = run("report", away)
    assert reported.code == 0 and reported.stdout == local.stdout
    outcomes = [remote, again, verified, inspected, reported]
    assert_no_secret(tmp_path / "copy", *[o.stdout + o.stderr for o in outcomes])

    rows = ds.dataset("run/snapshots", filesystem=store, partitioning="hive").count_rows()
    assert rows == ds.dataset(tmp_path / "run/snapshots").count_rows()


def test_a_killed_run_in_a_bucket_goes_on(coden, bucket, inputs, tmp_path):
    store, before, behind = bucket
    directory = f"{before}run{behind}"
    flags = inputs.flags("--run.commit_interval", "0", "--sample.lambda", "0.005")
    assert coden("embed", *flags).code == 0
    flags[flags.index("--run.directory") + 1] = directory
    for delay in (0.6, 1.0, 1.5):
        process = subprocess.Popen(
            [PROGRAM, "embed", *map(str, flags)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        time.sleep(delay)
        process.kill()
        process.wait()
        if any(
            "manifest" in info.path
            for info in store.get_file_info(
                fs.FileSelector("run/_coden", allow_not_found=True, recursive=True)
            )
        ):
            assert coden("verify", directory).code == 0
    assert coden("embed", *flags).code == 0
    download(store, "run", tmp_path / "copy")
    assert data_hashes(tmp_path / "copy") == data_hashes(inputs.run)


def test_a_bucket_that_is_not_there(coden, bucket, inputs):
    _, before, behind = bucket
    flags = inputs.flags()
    flags[flags.index("--run.directory") + 1] = before.rsplit("@", 1)[0] + "@nosuch/run" + behind
    outcome = coden("embed", *flags)
    assert outcome.code in (1, 2) and SECRET not in outcome.stderr
    assert len(outcome.stderr.strip().split("\n")) == 1
