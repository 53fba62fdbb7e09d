"""What the tests of the program share: how to call it, and small inputs made on the spot."""

import dataclasses
import hashlib
import itertools
import json
import os
import pathlib
import re
import socket
import subprocess
import sys
import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = pathlib.Path(os.environ.get("CODEN_DATA", ROOT.parent / "shared" / "data"))
# Sanitizers and copies of a build have a program of their own.
PROGRAM = pathlib.Path(os.environ.get("CODEN_PROGRAM", ROOT / "build" / "coden"))


def data_hashes(run):
    """Hash of every data file of a run, by its name.

    The state of columns is cut by passes, and what the work took differs.
    """
    files = sorted(pathlib.Path(run).rglob("*.parquet"))
    files = [path for path in files if not path.name.startswith(("columns-", "work."))]
    assert files
    return {
        str(path.relative_to(run)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files
    }


@dataclasses.dataclass
class Outcome:
    code: int
    stdout: str
    stderr: str

    @property
    def error(self):
        """The one error line; a second one, or none, is a failure of the program."""
        prefix = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ coden: error: ")
        lines = [line for line in self.stderr.splitlines() if prefix.match(line)]
        assert len(lines) == 1 and self.stderr.endswith(lines[0] + "\n"), self.stderr
        assert lines[0].isprintable()
        return prefix.sub("", lines[0])


@pytest.fixture(scope="session")
def coden():
    def call(*arguments, timeout=600, env=None, cwd=ROOT):
        done = subprocess.run(
            [PROGRAM, *map(str, arguments)],
            capture_output=True,
            text=True,
            timeout=timeout,
            cwd=cwd,
            env={**os.environ, "CODEN_DATA": str(DATA), **(env or {})},
        )
        return Outcome(done.returncode, done.stdout, done.stderr)

    return call


def num_commits(folder):
    """The number of the newest manifest of each run in the folder, added up."""
    newest = {}
    # Unlike rglob, os.walk passes over folders that the run removes meanwhile.
    for parent, _, files in os.walk(folder):
        if os.path.basename(parent) != "_coden":
            continue
        for name in files:
            if number := re.fullmatch(r"manifest-(\d+)\.json", name):
                newest[parent] = max(int(number[1]), newest.get(parent, 0))
    return sum(newest.values())


def wait_for_commits(process, folder, count):
    """Wait until there are so many commits more; False where the process ends before."""
    wanted = num_commits(folder) + count
    while num_commits(folder) < wanted:
        if process.poll() is not None:
            return False
        time.sleep(0.002)
    return process.poll() is None


def needs_data(name):
    return pytest.mark.skipif(
        not (DATA / name / "edges.parquet").exists(), reason=f"{DATA / name} is not there"
    )


@pytest.fixture
def inputs(tmp_path):
    """A small valid log with features and labels; tests spoil one thing at a time."""
    random = np.random.default_rng(5)
    src, dst = random.integers(0, 50, 600), random.integers(0, 50, 600)
    tables = {
        "edges": pa.table({"src": src, "dst": dst, "time": np.arange(600) // 3}),
        "features": pa.table(
            {
                "node": np.arange(50),
                "x": pa.array(list(random.normal(size=(50, 6)).astype("float32"))).cast(
                    pa.list_(pa.float32())
                ),
            }
        ),
        "labels": pa.table({"node": np.arange(50), "label": np.arange(50) % 3}),
    }

    class Inputs:
        run = tmp_path / "run"

        def __getitem__(self, name):
            return tables[name]

        def __setitem__(self, name, table):
            tables[name] = table

        def path(self, name):
            return tmp_path / f"{name}.parquet"

        def flags(self, *more):
            flags = []
            for name, table in tables.items():
                if isinstance(table, bytes):
                    self.path(name).write_bytes(table)
                elif table is not None:
                    pq.write_table(table, self.path(name))
                flags += [f"--input.{name}", str(self.path(name))]
            flags += ["--run.directory", str(self.run), "--train.epochs", "2"]
            return flags + list(more)

    return Inputs()


@pytest.fixture
def bring(coden, tmp_path):
    """Import `text` and return the outcome, with the tables that were written."""
    numbers = itertools.count()

    def call(text, *flags, kind="edges", name="e.csv", out=None):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        folder = out or tmp_path / f"out{next(numbers)}"
        outcome = coden("import", kind, path, "--out", folder, "--format", "json", *flags)
        outcome.out = folder
        outcome.files = {f.stem: pq.read_table(f) for f in folder.glob("*.parquet")}
        assert not list(folder.glob(".*")), "nothing temporary stays"
        if outcome.code == 0:
            outcome.tables = json.loads(outcome.stdout)
        return outcome

    return call


def rows(table):
    return [tuple(row.values()) for row in table.to_pylist()]


@pytest.fixture(scope="module")
def endpoint():
    """An S3 server on this machine."""
    pytest.importorskip("moto", reason="moto is not installed")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(300):
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                break
            except OSError:
                time.sleep(0.1)
        yield f"127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait()
