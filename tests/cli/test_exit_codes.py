"""What a scheduler can tell from the exit code: docs/cli.md."""

import contextlib
import fcntl
import json
import socket

import pyarrow as pa
import pytest

INPUT, AGAIN, HISTORY = 3, 6, 7


def maker(command):
    """The command that makes what `command` needs."""
    return "run" if command == "predict" else "embed"


@contextlib.contextmanager
def locked(run):
    with open(run / "_coden" / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@pytest.fixture
def nowhere():
    """The port of a server that is not there."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield taken.getsockname()[1]


@pytest.mark.parametrize("command", ["run", "embed", "schedule", "commit", "train", "predict"])
def test_a_lock_that_is_held_is_6(coden, inputs, command):
    assert coden(maker(command), *inputs.flags()).code == 0
    with locked(inputs.run):
        outcome = coden(command, *inputs.flags())
    assert outcome.code == AGAIN and "another process is writing to" in outcome.error


@pytest.mark.parametrize("command", ["run", "verify", "report"])
def test_a_store_out_of_reach_is_6(coden, inputs, nowhere, command):
    place = "s3://key:word@bucket/{}?endpoint_override=127.0.0.1:{}&scheme=http"
    run = place.format("run", nowhere)
    arguments = {
        "run": inputs.flags("--input.edges", place.format("e.parquet", nowhere)),
        "verify": [run],
        "report": ["--run.directory", run],
    }
    outcome = coden(command, *arguments[command], "--log-format", "json")
    error = json.loads(outcome.stderr.splitlines()[-1])
    assert outcome.code == error["exit_code"] == AGAIN, outcome.stderr
    assert "word" not in outcome.stderr


def changed_log(inputs):
    edges = inputs["edges"]
    inputs["edges"] = edges.set_column(0, "src", pa.array([7, *edges["src"].to_pylist()[1:]]))


def changed_feature(inputs):
    features = inputs["features"]
    values = features["x"].to_pylist()
    values[3] = [value + 1 for value in values[3]]
    inputs["features"] = features.set_column(1, "x", pa.array(values, features["x"].type))


def other_ids(inputs):
    for name, columns in {
        "edges": ["src", "dst"],
        "features": ["node"],
        "labels": ["node"],
    }.items():
        for column in columns:
            table = inputs[name]
            at = table.schema.get_field_index(column)
            inputs[name] = table.set_column(at, column, table[column].cast(pa.string()))


@pytest.mark.parametrize(
    "change, command, flags",
    [
        (changed_log, "run", []),
        (changed_log, "embed", []),
        (changed_log, "train", []),
        (changed_feature, "embed", []),
        (changed_feature, "predict", []),
        (other_ids, "embed", []),
        (None, "run", ["--embed.alpha", "0.3"]),
        (None, "embed", ["--sample.lambda", "3"]),
        (None, "train", ["--embed.alpha", "0.3"]),
        (None, "predict", ["--embed.alpha", "0.3"]),
        (None, "commit", ["--embed.alpha", "0.3"]),
        (None, "schedule", ["--embed.alpha", "0.3"]),
    ],
)
def test_other_inputs_or_settings_are_7(coden, inputs, change, command, flags):
    assert coden(maker(command), *inputs.flags()).code == 0
    if change:
        change(inputs)
    outcome = coden(command, *inputs.flags(*flags))
    assert outcome.code == HISTORY, outcome.stderr
    assert "--force" in outcome.error


@pytest.mark.parametrize("there", [False, True])
def test_no_run_here_is_3(coden, inputs, tmp_path, there):
    run = tmp_path / "none"
    if there:
        run.mkdir()
    flags = inputs.flags("--run.directory", run)
    wanted = {"train": "embedding", "predict": "trained model", "commit": "schedule"}
    calls = {
        **{name: [name, *flags] for name in wanted},
        "report": ["report", "--run.directory", run],
        "compare": ["report", "--compare", run, tmp_path / "other"],
        "verify": ["verify", run],
    }
    for name, words in calls.items():
        outcome = coden(*words)
        assert outcome.code == INPUT, (name, outcome.stderr)
        what = wanted.get(name, "run")
        assert outcome.error.startswith(f"there is no {what} in '{run}'; make it with `coden ")
    assert coden("inspect", run).code == INPUT
    assert list(tmp_path.rglob("none/*")) == [] and run.exists() == there


def test_a_missing_result_of_a_run_is_3(coden, inputs):
    assert coden("schedule", *inputs.flags()).code == 0
    assert coden("train", *inputs.flags()).code == INPUT
    assert coden("predict", *inputs.flags()).code == INPUT
    # The slices are for other processes, which may not have finished.
    assert coden("commit", *inputs.flags()).code == AGAIN


def test_the_page_lists_every_code(coden):
    codes = coden("--help").stdout.partition("Exit codes:")[2].replace("\n", " ")
    assert [part.split()[0] for part in codes.split(", ")][:8] == [str(code) for code in range(8)]
