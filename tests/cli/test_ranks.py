"""Training with several processes: the result of one, and what happens when one is lost."""

import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import time

import numpy as np
import pyarrow as pa
import pytest
from conftest import DATA, PROGRAM, ROOT, Outcome, data_hashes, wait_for_commits

USAGE, AGAIN = 2, 6
# Batches of three chunks and of a rest.
SMALL = [
    *["--train.hidden", "32", "--train.batch", "300", "--partition.predictions", "4"],
    *["--train.epochs", "10", "--train.patience", "0", "--run.threads", "1"],
]
LABELS = ["--train.label_columns", "3", "--train.label_alphas", "0.2,0.5"]


@pytest.fixture
def many(inputs):
    """Inputs with more labelled nodes than a chunk has."""
    random = np.random.default_rng(7)
    src, dst = random.integers(0, 700, 4000), random.integers(0, 700, 4000)
    inputs["edges"] = pa.table({"src": src, "dst": dst, "time": np.arange(4000) // 20})
    rows = random.normal(size=(700, 6)).astype("float32")
    inputs["features"] = pa.table(
        {"node": np.arange(700), "x": pa.array(list(rows)).cast(pa.list_(pa.float32()))}
    )
    inputs["labels"] = pa.table({"node": np.arange(700), "label": np.arange(700) % 3})
    return inputs


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def start(size, *arguments, rank_flags=None):
    """The processes of a training, as a launcher starts them."""
    port = str(free_port())
    processes = []
    for rank in range(size):
        env = {
            **os.environ,
            "CODEN_DATA": str(DATA),
            **{"WORLD_SIZE": str(size), "RANK": str(rank)},
            **{"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port},
        }
        flags = rank_flags[rank] if rank_flags else []
        processes.append(
            subprocess.Popen(
                [PROGRAM, *map(str, arguments), *flags],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                cwd=ROOT,
                env=env,
            )  # fmt: skip
        )
    return processes


def outcomes(processes, timeout=60):
    ended = []
    try:
        for process in processes:
            stdout, stderr = process.communicate(timeout=timeout)
            ended.append(Outcome(process.returncode, stdout, stderr))
    finally:
        for process in processes:
            process.kill()
            process.wait()
    return ended


def epochs(run):
    lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    return [line for line in lines if "epoch" in line]


def results(run):
    hashes = {name: h for name, h in data_hashes(run).items() if not name.startswith("state")}
    hashes["model"] = (run / "model/model.safetensors").read_bytes()
    return hashes


@pytest.mark.parametrize("labels", [[], LABELS], ids=["embedding", "labels"])
@pytest.mark.parametrize("model", ["coden", "coden-s"])
def test_two_ranks_learn_what_one_learns(coden, many, model, labels):
    flags = [*SMALL, *labels, "--train.model", model]
    assert coden("embed", *many.flags(*flags)).code == 0
    assert coden("train", *many.flags(*flags)).code == 0
    alone, losses = results(many.run), [line["loss"] for line in epochs(many.run)]
    assert len(losses) == 40  # ten for each of four prediction times
    first, second = outcomes(start(2, "train", *many.flags(*flags, "--force")))
    assert (first.code, second.code) == (0, 0), first.stderr + second.stderr
    assert "Micro-F1" in first.stdout and (second.stdout, second.stderr) == ("", "")
    together = [line["loss"] for line in epochs(many.run)]
    assert np.abs(np.subtract(losses, together)).max() <= 1e-5
    assert results(many.run) == alone, "not only near: the same to the last byte"
    # Nothing has changed: nobody trains, and the other rank is sent home.
    first, second = outcomes(start(2, "train", *many.flags(*flags)))
    assert (first.code, second.code) == (0, 0) and "unchanged, skipped" in first.stderr


def test_torchrun_starts_the_ranks(coden, many):
    assert coden("embed", *many.flags(*SMALL)).code == 0
    launcher = pathlib.Path(sys.executable).with_name("torchrun")
    if not launcher.exists():
        pytest.skip("torchrun is not installed")
    done = subprocess.run(
        [launcher, "--no-python", "--nproc-per-node", "2", "--master-port", str(free_port()),
         PROGRAM, "train", *many.flags(*SMALL, "--train.protocol", "each", "--quiet")],
        capture_output=True, text=True, timeout=120, cwd=ROOT,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("Micro-F1 on test nodes") == 1
    together = results(many.run)
    assert coden("train", *many.flags(*SMALL, "--train.protocol", "each", "--force")).code == 0
    assert results(many.run) == together


@pytest.mark.parametrize("victim", [0, 1])
def test_all_end_when_one_rank_is_killed(coden, many, victim):
    flags = [*SMALL, "--train.epochs", "50"]
    assert coden("embed", *many.flags(*flags)).code == 0
    processes = start(3, "train", *many.flags(*flags, "--run.commit_interval", "0"))
    assert wait_for_commits(processes[0], many.run, 3)
    processes[victim].send_signal(signal.SIGKILL)
    killed = time.monotonic()
    ended = outcomes(processes, timeout=30)
    assert time.monotonic() - killed < 30
    for rank, outcome in enumerate(ended):
        if rank == victim:
            assert outcome.code == -signal.SIGKILL
            continue
        assert outcome.code == AGAIN
        assert outcome.error.startswith("training has stopped because another process of it")
    # The run is whole, and what was saved goes on with another number of ranks.
    assert coden("verify", many.run).code == 0
    resumed = coden("train", *many.flags(*flags, "--resume"))
    assert resumed.code == 0 and "training: going on after" in resumed.stderr
    resumed = results(many.run)
    assert coden("train", *many.flags(*flags, "--force")).code == 0
    assert results(many.run) == resumed


def test_ranks_with_other_runs_or_settings_are_refused(coden, many, tmp_path):
    assert coden("embed", *many.flags(*SMALL)).code == 0
    here = many.run
    many.run = tmp_path / "elsewhere"
    assert coden("embed", *many.flags(*SMALL, "--embed.alpha", "0.3")).code == 0
    many.run = here
    command = ["train", *many.flags(*SMALL)]
    place = command.index("--run.directory")
    elsewhere = [*command[:place], *command[place + 2 :]]
    for shared, rank_flags, said in (
        (
            elsewhere,
            [["--run.directory", str(run)] for run in (here, tmp_path / "elsewhere")],
            "rank 1 finds another run than rank 0",
        ),
        (
            command,
            [[], ["--train.dropout", "0.1"]],
            "rank 1 has other settings or input files than rank 0",
        ),
    ):
        first, second = outcomes(start(2, *shared, rank_flags=rank_flags))
        assert second.code == USAGE and second.error.startswith(said)
        assert first.code == AGAIN and "rank 1 of 2" in first.error
    assert not (here / "metrics.jsonl").exists()


@pytest.mark.parametrize(
    ("env", "said"),
    [
        ({"RANK": ""}, "RANK is not set"),
        ({"RANK": "2"}, "RANK must be a number from 0 to 1"),
        ({"WORLD_SIZE": "two"}, "WORLD_SIZE must be a number"),
        ({"MASTER_PORT": "70000"}, "MASTER_PORT must be a number"),
        ({"MASTER_ADDR": ""}, "MASTER_ADDR is not set"),
    ],
)
def test_a_bad_environment_is_refused(coden, inputs, env, said):
    good = {"WORLD_SIZE": "2", "RANK": "1", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29500"}
    outcome = coden("train", *inputs.flags(), env={**good, **env})
    assert outcome.code == USAGE and said in outcome.error
    assert not inputs.run.exists()


def test_only_training_takes_several_ranks(coden, inputs):
    env = {"WORLD_SIZE": "2", "RANK": "0", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29500"}
    outcome = coden("run", *inputs.flags(), env=env)
    assert outcome.code == USAGE
    assert outcome.error.startswith("only `coden train` works with several processes")
    assert not inputs.run.exists()
