"""Runs that go on: what is taken up, what is refused, and that nothing is lost on the way."""

import json
import shutil

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from conftest import data_hashes

INPUT, CORRUPTION, HISTORY = 3, 5, 7


@pytest.fixture
def log(inputs, tmp_path):
    """A folder of three files with the log of `inputs`, cut where times rise."""
    folder = tmp_path / "log"
    folder.mkdir()
    edges = inputs["edges"]
    times = edges["time"].to_pylist()
    cuts = [0]
    for share in (0.4, 0.7):
        row = int(len(times) * share)
        cuts.append(next(r for r in range(row, len(times)) if times[r] > times[r - 1]))
    cuts.append(len(times))
    parts = [edges.slice(a, b - a) for a, b in zip(cuts, cuts[1:], strict=False)]
    return folder, dict(zip("abc", parts, strict=True))


def write(folder, parts, names):
    for name in names:
        pq.write_table(parts[name], folder / f"{name}.parquet")


def grown(inputs, folder, *more):
    return inputs.flags("--input.edges", folder, "--partition.predictions", "4", *more)


def test_a_rebuild_reads_the_log_in_the_order_that_it_records(coden, inputs, log):
    folder, parts = log
    write(folder, parts, "b")
    assert coden("embed", *grown(inputs, folder)).code == 0
    write(folder, parts, "a")
    assert coden("embed", *grown(inputs, folder, "--force")).code == 0
    rebuilt = data_hashes(inputs.run)
    manifest = max(inputs.run.glob("_coden/manifest-*.json"))
    recorded = [i["name"] for i in json.loads(manifest.read_text())["parts"][0]["inputs"]]
    assert recorded[:2] == ["a.parquet", "b.parquet"]
    shutil.rmtree(inputs.run)
    assert coden("embed", *grown(inputs, folder)).code == 0
    assert data_hashes(inputs.run) == rebuilt
    write(folder, parts, "c")
    added = coden("embed", *grown(inputs, folder))
    assert added.code == 0 and "added to an earlier run" in added.stderr


def test_a_run_without_its_manifest_is_not_thrown_away(coden, inputs):
    flags = inputs.flags()
    assert coden("embed", *flags).code == 0
    before = data_hashes(inputs.run)
    for manifest in inputs.run.glob("_coden/manifest-*.json"):
        manifest.unlink()
    outcome = coden("embed", *flags)
    assert outcome.code == CORRUPTION and "--force" in outcome.error
    wrong = coden("embed", *inputs.flags("--input.edges", "no/such/file"), "--force")
    assert wrong.code == INPUT
    assert data_hashes(inputs.run) == before
    assert coden("embed", *flags, "--force").code == 0
    check_both_are_there(inputs.run, before)


def check_both_are_there(run, before):
    """The run made anew, and beside it the files that no manifest named."""
    earlier = {f"unnamed-1/{name}": content for name, content in before.items()}
    assert data_hashes(run) == {**before, **earlier}


def test_a_damaged_manifest_is_given_up_only_for_a_new_embedding(coden, inputs):
    flags = inputs.flags()
    assert coden("embed", *flags).code == 0
    before = data_hashes(inputs.run)
    max(inputs.run.glob("_coden/manifest-*.json")).write_text("{")
    for arguments in (["train", *flags, "--force"], ["embed", *flags]):
        assert coden(*arguments).code == CORRUPTION
    assert data_hashes(inputs.run) == before
    assert coden("embed", *flags, "--force").code == 0
    assert coden("verify", inputs.run).code == 0
    check_both_are_there(inputs.run, before)


def test_more_label_files_do_not_pass_for_more_rows(coden, inputs, tmp_path):
    labels = tmp_path / "labels"
    labels.mkdir()
    pq.write_table(inputs["labels"].slice(0, 10), labels / "a.parquet")
    flags = inputs.flags("--input.labels", labels, "--snapshot.nodes", "labelled")
    assert coden("embed", *flags).code == 0
    pq.write_table(inputs["labels"].slice(10), labels / "b.parquet")
    outcome = coden("embed", *flags)
    assert outcome.code == HISTORY and "'b.parquet' of `input.labels`" in outcome.error


def test_changed_feature_updates_are_noticed_before_anything_is_embedded(coden, inputs, tmp_path):
    edges = inputs["edges"]
    node = edges["src"][0].as_py()
    times = pc.unique(edges["time"]).to_pylist()
    width = len(inputs["features"]["x"][0])
    updates = pa.table(
        {
            "node": [node, node],
            "time": [times[1], times[-2]],
            "x": pa.array([[0.5] * width, [0.25] * width], pa.list_(pa.float32())),
        }
    )
    path = tmp_path / "updates.parquet"
    pq.write_table(updates, path)
    flags = inputs.flags("--input.feature_updates", path)
    assert coden("embed", *flags).code == 0
    before = data_hashes(inputs.run)
    changed = updates.set_column(
        2, "x", pa.array([[0.75] * width, [0.25] * width], pa.list_(pa.float32()))
    )
    pq.write_table(changed, path)
    outcome = coden("embed", *flags)
    assert outcome.code == HISTORY and "feature updates up to time" in outcome.error
    assert data_hashes(inputs.run) == before


def test_results_of_an_earlier_training_are_not_shown_for_a_longer_run(coden, inputs, log):
    folder, parts = log
    write(folder, parts, "ab")
    assert "Micro-F1" in coden("run", *grown(inputs, folder)).stdout
    write(folder, parts, "c")
    embedded = coden("embed", *grown(inputs, folder))
    assert embedded.code == 0 and "Micro-F1" not in embedded.stdout
    assert "The model predates the latest rows." in (inputs.run / "report.html").read_text()
    facts = json.loads(coden("inspect", inputs.run, "--format", "json").stdout)["run"]
    assert facts["model_is_older"] is True
    assert "Micro-F1" in coden("run", *grown(inputs, folder)).stdout
    assert "The model predates" not in (inputs.run / "report.html").read_text()


def test_embedding_does_not_need_the_labels(coden, inputs):
    assert coden("embed", *inputs.flags("--input.labels", "not/there/yet.parquet")).code == 0
