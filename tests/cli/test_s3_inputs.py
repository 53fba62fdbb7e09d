"""Inputs in S3, served by moto on this machine."""

import re

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from lake_tables import write_delta, write_iceberg
from pyarrow import fs

INPUT, AGAIN = 3, 6


@pytest.fixture
def store(endpoint):
    """The S3 server with a bucket `lake`."""
    store = fs.S3FileSystem(
        access_key="me",
        secret_key="planted",
        endpoint_override=endpoint,
        scheme="http",
        region="us-east-1",
        allow_bucket_creation=True,
    )
    store.create_dir("lake")
    return store


@pytest.fixture
def lake(store, endpoint, inputs):
    """The log of `inputs` in folders of a bucket, and its features."""
    edges = inputs["edges"]
    tables = {f"edges/part={part}/0.parquet": edges.slice(part * 50, 50) for part in range(12)}
    for name, table in {**tables, "features.parquet": inputs["features"]}.items():
        with store.open_output_stream(f"lake/{name}") as file:
            pq.write_table(table, file)
    return "s3://me:planted@lake", f"?endpoint_override={endpoint}&scheme=http"


def snapshots(run):
    files = sorted((run / "snapshots").rglob("*.parquet"))
    return [pq.read_table(path).to_pydict() for path in files]


def embed(coden, inputs, edges, features, env=None):
    inputs.run = inputs.run.with_name(inputs.run.name + "+")
    flags = ["--input.edges", edges, "--input.features", features]
    outcome = coden("embed", *inputs.flags(*flags), env=env)
    assert outcome.code == 0, outcome.stderr
    assert "planted" not in outcome.stderr + outcome.stdout
    return snapshots(inputs.run)


def test_log_in_a_bucket(coden, inputs, lake, endpoint):
    local = embed(coden, inputs, inputs.path("edges"), inputs.path("features"))
    assert local
    base, options = lake
    for edges in ("edges", "edges/*/0.parquet"):
        uris = [f"{base}/{name}{options}" for name in (edges, "features.parquet")]
        assert embed(coden, inputs, *uris) == local
    env = {
        "AWS_ACCESS_KEY_ID": "me",
        "AWS_SECRET_ACCESS_KEY": "planted",
        "AWS_ENDPOINT_URL": f"http://{endpoint}",
    }
    assert embed(coden, inputs, "s3://lake/edges", "s3://lake/features.parquet", env) == local


def test_what_is_not_there(coden, inputs, lake):
    base, options = lake
    for path in ("none.parquet", "edges/none*"):
        outcome = coden("embed", *inputs.flags("--input.edges", f"{base}/{path}{options}"))
        assert outcome.code == INPUT
        assert "planted" not in outcome.stderr
        assert "s3://***@lake/" in outcome.error


def test_store_that_does_not_answer(coden, inputs):
    uri = "s3://me:planted@lake/edges?endpoint_override=127.0.0.1:1&scheme=http"
    outcome = coden("embed", *inputs.flags("--input.edges", uri))
    assert outcome.code == AGAIN
    assert "planted" not in outcome.stderr
    assert outcome.error.startswith("cannot read 's3://***@lake/edges")


@pytest.mark.parametrize("write, kind", [(write_delta, "a Delta"), (write_iceberg, "an Iceberg")])
def test_tables_in_a_bucket_are_not_read_as_folders_of_files(
    coden, inputs, lake, store, tmp_path, write, kind
):
    edges = inputs["edges"].append_column("part", pa.array([0, 1] * 300))
    table = write(tmp_path / "table", edges, "part")
    root = f"lake/tables/{write.__name__}"
    fs.copy_files(str(table), root, destination_filesystem=store)
    base, options = lake
    file = next(path for path in table.rglob("*.parquet")).relative_to(table)
    for name in ("", file.parent, file, file.parent.parent / "*" / "*.parquet"):
        uri = f"{base}/tables/{write.__name__}/{name}{options}"
        outcome = coden("embed", *inputs.flags("--input.edges", uri))
        assert outcome.code == INPUT
        assert re.search(f"as plain files: 's3://{root}/?' is {kind} table, ", outcome.error)
        assert "planted" not in outcome.stderr


def test_deep_files_of_tables_in_a_bucket_are_refused(coden, inputs, lake, store, tmp_path):
    """Layouts with random folders: `delta.randomizeFilePrefixes`, Iceberg's object storage."""
    base, options = lake
    for write, kind, deep in [
        (write_delta, "a Delta", "aB"),
        (write_iceberg, "an Iceberg", "data/1101/0100/1011/00111010"),
    ]:
        table = write(tmp_path / write.__name__, inputs["edges"])
        root = f"lake/deep/{write.__name__}"
        fs.copy_files(str(table), root, destination_filesystem=store)
        file = next(path for path in table.rglob("*.parquet"))
        target = f"{root}/{deep}/{file.name}"
        fs.copy_files(str(file), target, destination_filesystem=store)
        for name in (deep, f"{deep}/{file.name}", f"{deep}/*.parquet"):
            uri = f"{base}/deep/{write.__name__}/{name}{options}"
            outcome = coden("embed", *inputs.flags("--input.edges", uri))
            assert outcome.code == INPUT
            assert f"as plain files: 's3://{root}' is {kind} table, " in outcome.error
