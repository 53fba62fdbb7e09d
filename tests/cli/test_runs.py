"""Whole runs: what they write, who can read it, and what they do not depend on."""

import fcntl
import json
import os
import signal
import subprocess
import sys
import time

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
import safetensors.numpy
from conftest import DATA, PROGRAM, ROOT, data_hashes, needs_data


def test_every_file_of_a_run(coden, inputs):
    outcome = coden("run", *inputs.flags("--format", "json"))
    assert outcome.code == 0, outcome.stderr
    scores = json.loads(outcome.stdout)["results"]
    assert [row["prediction"] for row in scores] == list(range(1, len(scores) + 1))
    run = inputs.run
    schedule = pq.read_table(run / "schedule.parquet")
    snapshots = sorted(run.glob("snapshots/snapshot=*/part-0.parquet"))
    assert len(snapshots) == schedule.num_rows
    for name in ["metrics.parquet", "predictions.parquet", "metrics.jsonl", "report.html"]:
        assert (run / name).stat().st_size > 0
    manifest = json.loads(max(run.glob("_coden/manifest-*.json")).read_text())
    named = {file["path"] for part in manifest["parts"] for file in part["files"]}
    assert {str(path.relative_to(run)) for path in snapshots} <= named
    assert (run / "_SUCCESS").exists()
    # The saved settings are a pipeline file that repeats the run.
    again = coden("run", run / "_coden" / "settings.ini")
    assert again.code == 0 and again.stderr.count("unchanged, skipped") == 2
    # Nothing but data below snapshots/.
    assert {path.name for path in run.glob("snapshots/**/*") if path.is_file()} == {
        "part-0.parquet"
    }


def test_every_snapshot_has_a_proven_and_audited_error(coden, inputs):
    assert coden("embed", *inputs.flags("--embed.audit", "1")).code == 0
    bounds = pq.read_table(inputs.run / "schedule.parquet").column("error_bound").to_pylist()
    assert all(0 <= bound <= 1e-7 for bound in bounds) and max(bounds) > 0


def test_other_programs_read_the_snapshots(coden, inputs):
    assert coden("embed", *inputs.flags()).code == 0
    folder = inputs.run / "snapshots"
    table = ds.dataset(folder, partitioning="hive").to_table()
    assert set(table.column_names) == {"node", "embedding", "snapshot"}
    (rows,) = duckdb.sql(
        f"select count(*) from read_parquet('{folder}/*/*.parquet', hive_partitioning = true)"
    ).fetchone()
    assert rows == table.num_rows


@pytest.mark.parametrize("layout", ["list", "fixed", "columns"])
def test_layouts_hold_the_same_numbers(coden, inputs, layout, tmp_path):
    flags = inputs.flags("--snapshot.layout", layout)
    assert coden("embed", *flags).code == 0
    snapshot = pq.read_table(
        inputs.run / "snapshots/snapshot=000000/part-0.parquet", partitioning=None
    )
    if layout == "columns":
        numbers = np.stack([snapshot.column(f"e{i}").to_numpy() for i in range(6)], axis=1)
    else:
        numbers = np.array(snapshot.column("embedding").to_pylist(), dtype=np.float32)
    assert numbers.shape == (50, 6)
    reference = tmp_path / "reference"
    assert coden("embed", *inputs.flags("--run.directory", reference)).code == 0
    other = pq.read_table(reference / "snapshots/snapshot=000000/part-0.parquet", partitioning=None)
    assert np.array_equal(
        numbers, np.array(other.column("embedding").to_pylist(), dtype=np.float32)
    )


def test_labelled_nodes_only(coden, inputs):
    inputs["labels"] = inputs["labels"].slice(10, 20)
    assert coden("embed", *inputs.flags("--snapshot.nodes", "labelled")).code == 0
    snapshot = pq.read_table(
        inputs.run / "snapshots/snapshot=000001/part-0.parquet", partitioning=None
    )
    assert snapshot.column("node").to_pylist() == list(range(10, 30))


def test_string_ids_give_the_same_embeddings(coden, inputs, tmp_path):
    assert coden("run", *inputs.flags()).code == 0
    expected = pq.read_table(
        inputs.run / "snapshots/snapshot=000003/part-0.parquet", partitioning=None
    )
    for name, columns in {
        "edges": ["src", "dst"],
        "features": ["node"],
        "labels": ["node"],
    }.items():
        table = inputs[name]
        for column in columns:
            text = pc.binary_join_element_wise("n", pc.cast(table[column], pa.string()), "-")
            table = table.set_column(table.schema.get_field_index(column), column, text)
        inputs[name] = table
    outcome = coden("run", *inputs.flags("--run.directory", tmp_path / "strings"))
    assert outcome.code == 0, outcome.stderr
    strings = pq.read_table(
        tmp_path / "strings/snapshots/snapshot=000003/part-0.parquet", partitioning=None
    )
    assert strings.column("node").to_pylist()[:2] == ["n-0", "n-1"]
    assert strings.column("embedding").equals(expected.column("embedding"))


def test_threads_and_batch_sizes_change_nothing(coden, inputs, tmp_path):
    reference = None
    for threads in [1, 2, 4]:
        for batch_rows in [1, 7, 131072]:
            run = tmp_path / f"run-{threads}-{batch_rows}"
            flags = ["--run.threads", threads, "--input.batch_rows", batch_rows]
            outcome = coden("run", *inputs.flags("--run.directory", run, *flags))
            assert outcome.code == 0, outcome.stderr
            hashes = data_hashes(run)
            reference = reference or hashes
            assert hashes == reference, (threads, batch_rows)


def test_slices_are_columns_of_the_whole(coden, inputs, tmp_path):
    assert coden("embed", *inputs.flags()).code == 0
    name = "snapshots/snapshot=000004/part-0.parquet"
    whole = np.array(pq.read_table(inputs.run / name, partitioning=None)["embedding"].to_pylist())
    flags = inputs.flags("--run.directory", tmp_path / "slice", "--embed.columns", "2:5")
    assert coden("embed", *flags).code == 0
    part = np.array(
        pq.read_table(tmp_path / "slice" / name, partitioning=None)["embedding"].to_pylist()
    )
    assert np.array_equal(part, whole[:, 2:5])


def test_log_in_several_files(coden, inputs, tmp_path):
    assert coden("embed", *inputs.flags()).code == 0
    folder = tmp_path / "log"
    folder.mkdir()
    for part in range(4):
        pq.write_table(inputs["edges"].slice(part * 150, 150), folder / f"part-{part}.parquet")
    names = ["schedule.parquet", "state/nodes.parquet"]
    for path in [folder, folder / "part-*.parquet"]:
        run = tmp_path / f"run-{path.name.replace('*', 'all')}"
        outcome = coden("embed", *inputs.flags("--input.edges", path, "--run.directory", run))
        assert outcome.code == 0, outcome.stderr
        for name in names:
            assert pq.read_table(run / name).equals(pq.read_table(inputs.run / name))


def test_second_run_skips_and_changed_training_keeps_embeddings(coden, inputs):
    flags = inputs.flags()
    assert coden("run", *flags).code == 0
    before = data_hashes(inputs.run / "snapshots")
    again = coden("run", *flags)
    assert again.code == 0
    assert "embedding: settings and inputs are unchanged, skipped" in again.stderr
    assert "training: settings and inputs are unchanged, skipped" in again.stderr
    other = coden("run", *flags, "--train.model", "coden-s")
    assert other.code == 0
    assert "embedding: settings and inputs are unchanged, skipped" in other.stderr
    assert "training: " not in other.stderr
    assert data_hashes(inputs.run / "snapshots") == before


def test_changed_settings_are_refused_until_forced(coden, inputs):
    flags = inputs.flags()
    assert coden("embed", *flags).code == 0
    refused = coden("embed", *flags, "--embed.alpha", "0.3")
    assert refused.code == 7
    assert "--force: embed.alpha" in refused.error
    assert coden("embed", *flags, "--embed.alpha", "0.3", "--force").code == 0


def test_refused_rebuild_leaves_the_run_as_it_was(coden, inputs):
    flags = inputs.flags()
    assert coden("run", *flags).code == 0
    before = data_hashes(inputs.run)
    for refused in [["--run.memory_limit", "1MB"], ["--partition.times", "5"]]:
        assert coden("run", *flags, "--force", *refused).code in (2, 4, 7)
        assert data_hashes(inputs.run) == before
    again = coden("run", *flags)
    assert again.code == 0 and again.stderr.count("unchanged, skipped") == 2


def start_and_signal(inputs, number, *more):
    """Send a signal to an embedding at work; return its exit code and what it said."""
    # A snapshot after every event takes far longer than the wait below.
    events = inputs["edges"]
    inputs["edges"] = pa.concat_tables([events] * 50).sort_by("time")
    flags = inputs.flags("--sample.lambda", "1e-12", "--graph.events", "toggle", *more)
    inputs["edges"] = events
    process = subprocess.Popen([PROGRAM, "embed", *flags], stderr=subprocess.PIPE, text=True)
    for line in process.stderr:
        if " embed: " in line:
            break
    time.sleep(0.5)
    assert process.poll() is None, "the embedding is too short to be interrupted"
    process.send_signal(number)
    _, stderr = process.communicate(timeout=20)
    return process.returncode, stderr


def test_killed_rebuild_is_not_taken_for_the_run_before(coden, inputs):
    flags = inputs.flags()
    assert coden("run", *flags).code == 0
    code, _ = start_and_signal(inputs, signal.SIGKILL, "--force")
    assert code == -signal.SIGKILL
    assert not (inputs.run / "_SUCCESS").exists()
    again = coden("run", *inputs.flags())
    assert again.code == 0 and "skipped" not in again.stderr


def test_sigterm_ends_an_embedding(inputs):
    code, stderr = start_and_signal(inputs, signal.SIGTERM)
    assert code == 143, stderr
    assert "interrupted; run the same command again" in stderr


def test_changed_input_of_the_same_size_is_noticed(coden, inputs):
    table = inputs["features"]
    written = []
    for value in [0.25, 0.5]:
        rows = table.column("x").to_pylist()
        rows[0] = [value] + rows[0][1:]
        sink = pa.BufferOutputStream()
        changed = table.set_column(1, "x", pa.array(rows, table.schema.field("x").type))
        options = {"compression": "none", "use_dictionary": False, "write_statistics": False}
        pq.write_table(changed, sink, **options)
        written.append(sink.getvalue().to_pybytes())
    assert len(written[0]) == len(written[1]) and written[0] != written[1]
    inputs["features"] = written[0]
    assert coden("embed", *inputs.flags()).code == 0
    inputs["features"] = written[1]
    outcome = coden("embed", *inputs.flags())
    assert (outcome.code, "rows of the features are not what they were" in outcome.error) == (
        7,
        True,
    )


def test_two_writers_one_wins(coden, inputs):
    flags = inputs.flags()
    assert coden("embed", *flags).code == 0
    with open(inputs.run / "_coden" / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        outcome = coden("embed", *flags)
        assert outcome.code == 6
        assert "another process is writing" in outcome.error
    assert coden("embed", *flags).code == 0


def test_report_shows_the_settings_that_made_the_run(coden, inputs):
    assert coden("run", *inputs.flags("--train.hidden", "77", "--embed.alpha", "0.5")).code == 0
    outcome = coden("report", "--run.directory", inputs.run)
    assert outcome.code == 0 and "Micro-F1" in outcome.stdout
    report = (inputs.run / "report.html").read_text()
    assert ">77<" in report and ">0.5<" in report


def test_interrupt_ends_with_130_and_the_next_run_succeeds(coden, inputs, tmp_path):
    data = tmp_path / "rmat"
    sizes = ["--scale", "16", "--edges", "600000", "--features", "64"]
    assert coden("generate", "rmat", "--out", data, *sizes).code == 0
    arguments = ["embed", "--input.edges", data / "edges.parquet", "--input.features"]
    arguments += [data / "features.parquet", "--run.directory", tmp_path / "big"]
    arguments += ["--partition.predictions", "40", "--run.commit_interval", "0"]
    process = subprocess.Popen([PROGRAM, *map(str, arguments)], stderr=subprocess.PIPE, text=True)
    while not list((tmp_path / "big").glob("snapshots/*/part-0.parquet")):
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=120)
    assert process.returncode == 130, stderr
    assert not (tmp_path / "big" / "_SUCCESS").exists()
    again = coden(*arguments)
    assert again.code == 0, again.stderr
    assert "going on after" in again.stderr


def test_inspect_says_what_things_are(coden, inputs):
    assert coden("run", *inputs.flags()).code == 0
    snapshot = inputs.run / "snapshots/snapshot=000000/part-0.parquet"
    for path, words in {
        inputs.path("edges"): "600",
        snapshot: "snapshot_time",
        inputs.run: "prediction times",
        inputs.run / "model": "coden",
    }.items():
        outcome = coden("inspect", path)
        assert outcome.code == 0, outcome.stderr
        assert words in outcome.stdout, outcome.stdout
    assert coden("inspect", ROOT / "meson.build").code == 3
    tables = json.loads(coden("inspect", inputs.run, "--format", "json").stdout)
    assert tables["run"]["complete"] and tables["run"]["bytes"] > 0
    assert {row["part"] for row in tables["parts"]} == {"embed", "train"}


def test_help_names_every_setting(coden):
    text = coden("run", "--help-all").stdout
    for line in coden("settings", "--format", "csv").stdout.splitlines()[1:]:
        assert "--" + line.split(",")[0] in text


def test_model_files_are_read_by_others(coden, inputs):
    assert coden("run", *inputs.flags()).code == 0
    weights = safetensors.numpy.load_file(inputs.run / "model" / "model.safetensors")
    config = json.loads((inputs.run / "model" / "config.json").read_text())
    assert weights and config["model"] == "coden"
    assert all(np.isfinite(tensor).all() for tensor in weights.values())


def peak_megabytes(*arguments):
    process = subprocess.Popen([PROGRAM, *map(str, arguments), "--quiet"])
    _, status, usage = os.wait4(process.pid, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    return usage.ru_maxrss / 1000


def test_memory_does_not_grow_with_the_log(coden, tmp_path):
    """A log streams through both passes: what is held is the graph, not the rows."""
    peaks = []
    for rows in [2_000_000, 16_000_000]:
        data = tmp_path / str(rows)
        sizes = ["--scale", "9", "--edges", rows, "--features", "0"]
        assert coden("generate", "rmat", "--out", data, *sizes).code == 0
        flags = ["--input.edges", data / "edges.parquet", "--input.random_features", "4"]
        flags += ["--sample.max_per_interval", "1", "--run.directory", data / "run"]
        peaks.append(peak_megabytes("embed", *flags))
    # The longer log takes 384 MB once decoded.
    assert peaks[1] < peaks[0] + 100, peaks


def test_log_format_json(coden, inputs):
    outcome = coden("embed", *inputs.flags("--log-format", "json"))
    assert outcome.code == 0
    events = [json.loads(line).get("event") for line in outcome.stderr.splitlines()]
    assert events.count("begin") == events.count("end") == 2


def test_plan_says_what_the_run_does(coden, inputs):
    flags = inputs.flags("--format", "json")
    plan = coden("plan", *flags)
    assert plan.code == 0, plan.stderr
    assert not inputs.run.exists()
    predictions = json.loads(plan.stdout)["prediction_times"]
    assert coden("embed", *flags).code == 0
    schedule = pq.read_table(inputs.run / "schedule.parquet")
    assert sum(row["snapshots"] for row in predictions) == schedule.num_rows


@needs_data("dblp")
@pytest.mark.slow
def test_dblp_snapshots_are_within_the_bound(coden, tmp_path):
    run = tmp_path / "dblp"
    flags = ["--run.directory", run, "--sample.max_per_interval", "1"]
    outcome = coden("embed", "pipelines/dblp_paper.ini", *flags)
    assert outcome.code == 0, outcome.stderr
    schedule = pq.read_table(run / "schedule.parquet")
    assert schedule.column("at_prediction").to_pylist().count(True) == 26
    script = [sys.executable, ROOT / "tests/oracle/verify_snapshots.py", run]
    files = [DATA / "dblp/edges.parquet", DATA / "dblp/features.parquet", "--every", "9"]
    subprocess.run([*script, *files], check=True)
