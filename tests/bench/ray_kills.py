#!/usr/bin/env python3
"""Embed an R-MAT log in slices on Ray while workers are killed at random times.

    python tests/bench/ray_kills.py --scale 16 --edges 2000000 --features 32 --slices 8 --kills 6

Runs `coden embed` in one process, then `python -m coden.ray run` on a Ray of this machine
undisturbed, then once more with SIGKILL to workers that are in the middle of a slice, at times
that a seed decides. Prints what each took, how many kills there were and what they hit. Fails
where a data file differs from that of the one process, where `coden verify` complains, or where a
program has outlived its worker.
"""

import argparse
import hashlib
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(os.environ.get("CODEN_PROGRAM", ROOT / "build" / "coden")).absolute()
# Times of the work, and state that is cut as the slices are.
DIFFERING = re.compile(r"(work\.parquet|report\.html|progress\.json|columns-.*)")
SECONDS_TO_DIE = 2.0


def coden(*arguments):
    subprocess.run(
        [PROGRAM, *map(str, arguments), "--quiet"], check=True, stdout=subprocess.DEVNULL
    )


def data_files(run):
    """Hash of every data file, by its name."""
    return {
        str(path.relative_to(run)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(run.rglob("*"))
        if path.is_file() and "_coden" not in path.parts and not DIFFERING.fullmatch(path.name)
    }


def command_of(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return []


def parent_of(pid):
    try:
        return int(pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0


def slices_at_work(run):
    """Processes of the program with a slice of `run`, and the worker of Ray that each has."""
    found = {}
    for name in os.listdir("/proc"):
        if not name.isdecimal():
            continue
        command = command_of(int(name))
        if command[:2] != [os.fsencode(PROGRAM), b"embed"]:
            continue
        if f"--run.directory={run}".encode() not in command:
            continue
        worker = parent_of(int(name))
        if any(word.startswith(b"ray::") for word in command_of(worker)):
            found[int(name)] = worker
    return found


class Driver:
    """`python -m coden.ray` on a Ray of its own."""

    def __init__(self, folder, run, options):
        self.run = run
        self._log = folder / f"{run.name}.log"
        command = [sys.executable, "-m", "coden.ray", "run", *flags(folder)]
        command += ["--run.directory", run, "--program", PROGRAM, "--slices", options.slices]
        command += ["--num-cpus", options.cpus, "--attempts", options.kills + 5]
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "python")}
        self._start = time.monotonic()
        with self._log.open("w") as log:
            self._process = subprocess.Popen(
                list(map(str, command)), env=environment, stdout=subprocess.DEVNULL, stderr=log
            )

    def is_at_work(self):
        return self._process.poll() is None

    def finish(self):
        """Seconds that it took; it must succeed."""
        code = self._process.wait()
        assert code == 0, self._log.read_text()
        return time.monotonic() - self._start

    def seconds_of_slices(self):
        found = re.findall(r"^slice .*: done in ([\d.]+) s", self._log.read_text(), re.MULTILINE)
        return sum(map(float, found))

    def lost(self):
        return len(re.findall(r"^slice .*; trying again$", self._log.read_text(), re.MULTILINE))


def flags(folder):
    more = ["--partition.initial", "0.5", "--partition.predictions", "4"]
    more += ["--sample.max_per_interval", "2"]
    return [
        *["--input.edges", folder / "data" / "edges.parquet"],
        *["--input.features", folder / "data" / "features.parquet", *more],
    ]


def kill_workers(driver, options, mean_pause):
    """Kill the workers of slices at random times until there were enough; what was hit."""
    choose = random.Random(options.seed)
    killed = outlived = 0
    due = None
    while driver.is_at_work():
        time.sleep(0.02)
        at_work = slices_at_work(driver.run)
        if killed == options.kills or not at_work:
            continue
        # The clock runs while slices do.
        due = due or time.monotonic() + choose.expovariate(1 / mean_pause)
        if time.monotonic() < due:
            continue
        due = None
        program, worker = choose.choice(sorted(at_work.items()))
        os.kill(worker, signal.SIGKILL)
        killed += 1
        deadline = time.monotonic() + SECONDS_TO_DIE
        while os.fsencode(PROGRAM) in command_of(program) and time.monotonic() < deadline:
            time.sleep(0.01)
        outlived += os.fsencode(PROGRAM) in command_of(program)
    return killed, outlived


def check_equal(run, whole):
    found, expected = data_files(run), data_files(whole)
    names = found.keys() | expected.keys()
    differing = sorted(name for name in names if found.get(name) != expected.get(name))
    assert not differing, differing[:5]
    coden("verify", run)
    return len(found)


def measure(options, folder):
    figures = {}
    size = ["--scale", options.scale, "--edges", options.edges, "--features", options.features]
    coden("generate", "rmat", "--out", folder / "data", *size, "--seed", options.seed)
    whole = folder / "whole"
    start = time.monotonic()
    threads = ["--run.threads", options.cpus]
    coden("embed", *flags(folder), "--run.directory", whole, *threads)
    figures["seconds, one process"] = time.monotonic() - start
    calm = Driver(folder, folder / "calm", options)
    figures["seconds, slices on Ray"] = calm.finish()
    figures["files compared"] = check_equal(calm.run, whole)
    figures["seconds of all slices"] = calm.seconds_of_slices()
    figures["snapshots"] = len(list(whole.glob("snapshots/*")))
    stormy = Driver(folder, folder / "stormy", options)
    # So that the last kill comes before the end, which kills put off as well.
    at_work = calm.seconds_of_slices() / options.cpus
    pause = options.pause or at_work / (options.kills + 1)
    killed, outlived = kill_workers(stormy, options, pause)
    figures["seconds, with kills"] = stormy.finish()
    figures["workers killed"] = killed
    figures["slices tried again"] = stormy.lost()
    figures["programs that outlived their worker"] = outlived
    figures["files compared"] += check_equal(stormy.run, whole)
    assert outlived == 0
    assert killed == options.kills, f"only {killed} kills before the end: take a larger log"
    return figures


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--scale", type=int, default=16, help="binary logarithm of the nodes")
    parser.add_argument("--edges", type=int, default=2_000_000)
    parser.add_argument("--features", type=int, default=32)
    parser.add_argument("--slices", type=int, default=8)
    parser.add_argument("--cpus", type=int, default=2, help="slices at the same time")
    parser.add_argument("--kills", type=int, default=6)
    parser.add_argument("--pause", type=float, help="mean seconds between kills")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        figures = measure(options, pathlib.Path(name))
    for what, value in figures.items():
        print(f"{what:38} {value:.1f}" if isinstance(value, float) else f"{what:38} {value}")


if __name__ == "__main__":
    main()
