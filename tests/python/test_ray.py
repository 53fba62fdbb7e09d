"""Runs in slices on a Ray of this machine: killed, refused, interrupted, and taken up again.

A script stands in for the program. It writes down every attempt at a slice, lets those end badly
that CODEN_TEST_FATES names, and is the program otherwise.
"""

import collections
import hashlib
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import coden.ray
import pytest
from coden import ray_cluster, ray_progress, slices
from coden.slices import Columns
from small_run import PROGRAM, ROOT, call

ray = pytest.importorskip("ray", reason="Ray is not installed")

STAND_IN = """\
#!/bin/sh
columns=
for argument in "$@"; do
  case $argument in --embed.columns=*) columns=${argument#*=} ;; esac
done
[ -n "$columns" ] || exec "$CODEN_TEST_PROGRAM" "$@"
echo "$columns $$" >>"$CODEN_TEST_ATTEMPTS"
number=$(grep -c "^$columns " "$CODEN_TEST_ATTEMPTS")
echo "attempt $number at $columns" >&2
for fate in $CODEN_TEST_FATES; do
  case $fate in
    $columns@$number=worker) sleep 0.5; kill -9 $PPID; exec sleep 100 ;;
    $columns@$number=program) kill -9 $$ ;;
    $columns@$number=failure) echo "coden: error: the network is gone" >&2; exit 1 ;;
    $columns@$number=refusal) echo "coden: error: no room" >&2; exit 4 ;;
    $columns@$number=patience) exec sleep 100 ;;
    $columns@$number=afterwards) "$CODEN_TEST_PROGRAM" "$@" && kill -9 $PPID; exec sleep 100 ;;
  esac
done
exec "$CODEN_TEST_PROGRAM" "$@"
"""
PIPELINE = """\
[run]
directory = whole        # where nobody says otherwise
[input]
edges = data/edges.parquet
features = ${CODEN_TEST_INPUTS}/features.parquet
labels = data/labels.parquet
[partition]
initial = 3
width = 2
[train]
epochs = 1
hidden = 8
"""
CUT = ["0:2", "2:4", "4:6", "6:8"]


def data_files(run):
    """Hash of every file but those that have times in them, or are cut as the slices are."""
    timed = {"metrics.jsonl", "work.parquet", "report.html", "progress.json"}
    return {
        str(path.relative_to(run)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(run.rglob("*"))
        if path.is_file() and "_coden" not in path.parts and path.name not in timed
        if not path.name.startswith("columns-")
    }


@pytest.fixture(scope="module")
def folder():
    """Inputs, a pipeline, the stand-in, and `whole`, which `coden run` has made."""
    # Ray's sockets need a short path.
    folder = pathlib.Path(tempfile.mkdtemp(prefix="cr", dir="/tmp"))
    before = os.getcwd()
    changed = pytest.MonkeyPatch()
    try:
        os.chdir(folder)
        changed.setenv("RAY_TMPDIR", str(folder))
        changed.setenv("CODEN_TEST_INPUTS", "data")
        changed.setenv("PYTHONPATH", str(ROOT / "python"))
        size = ["--nodes", "60", "--features", "8", "--steps", "8"]
        call("generate", "sbm", "--out", "data", *size, "--quiet")
        (folder / "p.ini").write_text(PIPELINE)
        (folder / "stand-in").write_text(STAND_IN)
        (folder / "stand-in").chmod(0o755)
        call("run", "p.ini", "--quiet")
        yield folder
    finally:
        changed.undo()
        os.chdir(before)
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def shared_ray(folder):
    ray_cluster.start(num_cpus=2)
    yield ray.get_runtime_context().gcs_address
    ray.shutdown()


class Drive:
    """A run directory, and drivers that write to it."""

    def __init__(self, folder, address, capsys, monkeypatch):
        self.run = folder / f"run-{time.monotonic_ns()}"
        self.folder, self.address = folder, address
        self._log = folder / f"{self.run.name}.log"
        self._capsys, self._monkeypatch = capsys, monkeypatch
        self.flags = ["run", "p.ini", "--slices", "4", "--program", "./stand-in"]
        self.flags += ["--run.directory", self.run.name]

    def expect(self, *fates):
        """From here on these attempts end in such ways."""
        self._log.write_text("")
        for name, value in [("PROGRAM", PROGRAM), ("ATTEMPTS", self._log)]:
            self._monkeypatch.setenv(f"CODEN_TEST_{name}", str(value))
        self._monkeypatch.setenv("CODEN_TEST_FATES", " ".join(fates))

    def __call__(self, *more):
        """Drive from this process, with the Ray it has."""
        self.code = coden.ray.main([*self.flags, *more])
        self.stdout, self.stderr = self._capsys.readouterr()
        return self.code

    def start(self):
        """A driver that joins the same Ray from a process of its own."""
        command = [sys.executable, "-m", "coden.ray", *self.flags, "--address", self.address]
        return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    @property
    def attempts(self):
        lines = self._log.read_text().splitlines()
        return dict(sorted(collections.Counter(line.split()[0] for line in lines).items()))

    def pids(self):
        return [int(line.split()[1]) for line in self._log.read_text().splitlines()]

    def is_whole(self):
        assert data_files(self.run) == data_files(self.folder / "whole")
        return not (self.run / "_coden" / "slices").exists() or not slices.finished(str(self.run))


@pytest.fixture
def drive(folder, shared_ray, capsys, monkeypatch):
    drive = Drive(folder, shared_ray, capsys, monkeypatch)
    drive.expect()
    return drive


def wait_until(condition, seconds=60):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def is_gone(pid):
    """Whether a process has ended; nobody may have asked yet how."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().split()[2] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


def test_killed_workers_and_programs_are_made_up_for(drive):
    drive.expect("0:2@1=worker", "4:6@1=worker", "6:8@1=program", "6:8@2=failure")
    assert drive() == 0, drive.stderr
    assert drive.attempts == {"0:2": 2, "2:4": 1, "4:6": 2, "6:8": 3}
    assert drive.is_whole()
    # What a killed worker had started would sleep for long yet.
    wait_until(lambda: all(map(is_gone, drive.pids())), seconds=5)
    for told in [
        "slice 0:2: its worker was killed on ",
        "slice 6:8: the program was killed by SIGKILL on ",
        "slice 6:8: the program ended with exit code 1 on ",
        "  slice 4:6 | attempt 1 at 4:6",
        "  slice 6:8 | coden: error: the network is gone",
        "slice 6:8: done in ",
        "4/4 slices, 0 running, 8/8 columns",
    ]:
        assert told in drive.stderr, drive.stderr
    assert drive.stdout.startswith("Micro-F1") and "worker died" not in drive.stdout

    drive.expect()
    assert drive("--quiet") == 0
    assert drive.attempts == {} and drive.stderr == "" and drive.is_whole()


def test_what_is_finished_is_not_done_again(drive):
    """One slice is there before, cut in another way, and one dies when its work is done."""
    call("schedule", "p.ini", "--run.directory", drive.run.name)
    call("embed", "p.ini", "--run.directory", drive.run.name, "--embed.columns", "1:5")
    drive.expect("6:8@1=afterwards")
    assert drive("--no-train", "--cpus-per-slice", "2") == 0, drive.stderr
    assert drive.attempts == {"0:1": 1, "5:6": 1, "6:8": 1}
    assert "note: 4 of 8 columns are there" in drive.stderr
    assert not (drive.run / "model").exists()
    assert drive("--format", "json") == 0 and drive.stdout.startswith("{")
    assert drive.attempts == {"0:1": 1, "5:6": 1, "6:8": 1} and drive.is_whole()


def test_a_refusal_ends_everything(drive):
    drive.expect("0:2@1=patience", "2:4@1=refusal", "4:6@1=patience", "6:8@1=patience")
    assert drive() == 4
    last = drive.stderr.splitlines()[-1]
    assert last.startswith("coden: error: slice 2:4 on ") and last.endswith(": no room")
    assert drive.attempts["2:4"] == 1
    wait_until(lambda: all(map(is_gone, drive.pids())))
    assert drive("--embed.alpha", "2") == 2
    assert drive.stderr.count("coden: error: ") == 2 and "`embed.alpha`" in drive.stderr


def test_a_slice_that_fails_again_and_again_ends_everything(drive):
    drive.expect("2:4@1=program", "2:4@2=program", "2:4@3=program")
    assert drive("--attempts", "2") == 1
    assert drive.attempts["2:4"] == 2
    last = drive.stderr.splitlines()[-1]
    told = "slice 2:4 failed in 2 attempts; the last: the program was killed by SIGKILL on "
    assert last.startswith("coden: error: " + told)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_a_driver_that_ends_is_taken_up_again(drive, number):
    drive.expect("4:6@1=patience", "6:8@1=patience")
    driver = drive.start()
    waiting = {"0:2": 1, "2:4": 1, "4:6": 1, "6:8": 1}
    wait_until(lambda: drive.attempts == waiting or driver.poll() is not None)
    os.kill(driver.pid, number)
    assert driver.wait(timeout=60) == (130 if number == signal.SIGINT else -9)
    wait_until(lambda: all(map(is_gone, drive.pids())))
    assert slices.finished(str(drive.run)) == [Columns(0, 2), Columns(2, 4)]
    drive.expect()
    assert drive("--quiet") == 0, drive.stderr
    assert drive.attempts == {"4:6": 1, "6:8": 1} and drive.is_whole()


def test_the_program_dies_with_its_worker(folder):
    """Without a Ray that might look after it."""
    program = folder / "patient"
    program.write_text("#!/bin/sh\necho $$ >&2\nexec sleep 100\n")
    program.chmod(0o755)
    described = {"program": str(program), "command": "embed", "pipeline": None, "arguments": []}
    described |= {"environment": {}, "folder": str(folder), "needs_folder": True, "run": None}
    code = "from coden.ray_task import run_program\n"
    code += f"for told in run_program({described!r}): print(told[1], flush=True)"
    command = [sys.executable, "-c", code]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as worker:
        node, pid = worker.stdout.readline(), int(worker.stdout.readline())
        assert node and not is_gone(pid)
        worker.kill()
    wait_until(lambda: is_gone(pid), seconds=5)


def test_what_no_node_has_room_for_does_not_wait(drive):
    assert drive("--cpus-per-slice", "3") == 4
    assert "a slice asks for 3 CPUs, and no node has more than 2" in drive.stderr
    assert drive.attempts == {}


def test_wrong_usage(drive, monkeypatch, capsys):
    for flags, message in [
        (["--program", "./nowhere"], "cannot start the program on node"),
        (["--address", "ray://head:10001"], "`--address` must be"),
        (["--run.directory="], "set `run.directory`"),
        (["--run.directory"], "`--run.directory` must have a value"),
        (
            ["--format", "csv"],
            "CSV holds one table; choose one with --table: stages, input_counts, notes",
        ),
    ]:
        assert drive(*flags) == 2 and message in drive.stderr, drive.stderr
    assert coden.ray.main(["run", "nowhere.ini", "--slices", "2"]) == 2
    assert "cannot open the pipeline file 'nowhere.ini'" in capsys.readouterr().err
    monkeypatch.setitem(sys.modules, "ray", None)
    assert drive() == 2
    assert drive.stderr == "coden: error: Ray is not installed: pip install 'coden[ray]'\n"


def test_the_package_does_without_ray():
    code = "import sys, coden; assert 'ray' not in sys.modules and 'coden.ray' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, env={"PYTHONPATH": ROOT / "python"})


@pytest.mark.parametrize(
    ("there", "left"),
    [
        ([], CUT),
        (["0:2", "4:6"], ["2:4", "6:8"]),
        (["0:8"], []),
        (["1:5"], ["0:1", "5:6", "6:8"]),
        (["3:4", "6:7"], ["2:3", "4:6", "7:8", "0:2"]),
        # The program takes the widest of those that begin first, and none that overlaps it.
        (["0:1", "0:3", "2:6"], ["3:4", "4:6", "6:8"]),
    ],
)
def test_what_is_missing(there, left):
    found = slices.missing(map(Columns.parse, CUT), map(Columns.parse, there))
    assert sorted(map(str, found)) == sorted(left)


def test_settings_are_read_as_the_program_does(folder, monkeypatch):
    monkeypatch.setenv("PLACE", "s3://bucket")
    text = "[run]\nthreads = 3\ndirectory=${PLACE}/run # here\n[input] ; x\nedges = ${LOST}/e\n"
    text += (
        'features = "a #1 ""x""" # y\nlabels = \'${LOST}\'\nsplit = b#c\n; from = 1\nuntil = # 2\n'
    )
    (folder / "other.ini").write_text(text)
    pipeline = coden.ray.Pipeline.read(str(folder / "other.ini"), {})
    assert pipeline["run.directory"] == "s3://bucket/run" and pipeline.threads == 3
    assert pipeline.variables == {"PLACE": "s3://bucket"} and pipeline.is_relative()
    assert pipeline["input.features"] == 'a #1 "x"' and pipeline["input.split"] == "b#c"
    assert (
        pipeline["input.labels"] == "${LOST}"
        and pipeline["input.from"] == pipeline["input.until"] == ""
    )
    flags = {f"input.{name}": "/e" for name in ["edges", "features", "labels", "split"]}
    flags["run.threads"] = "0"
    pipeline = coden.ray.Pipeline.read(str(folder / "other.ini"), flags)
    assert not pipeline.is_relative() and pipeline.threads == 0
    arguments = pipeline.arguments(run_threads="2")
    assert arguments[0] == "--input.edges=/e" and arguments[-1] == "--run.threads=2"


def test_time_left():
    progress = ray_progress.Slices({Columns.parse(cut): 10.0 for cut in CUT}, 8, quiet=True)
    tasks = [ray_cluster.Task(ray_progress.task_name(Columns.parse(cut)), {}, 1) for cut in CUT]
    assert progress.seconds_left() == 40
    progress.started(tasks[0], "node")
    progress.started(tasks[1], "node")
    assert 19 < progress.seconds_left() <= 20
    progress.finished(tasks[0], ray_cluster.Outcome("", "node", 30.0))
    assert 89 < progress.seconds_left() <= 90
    assert ray_progress.duration(59) == "59 s" and ray_progress.duration(7000) == "1 h 57 min"
