"""Runs on a disk that is full or read-only, and on inputs that change while they are read.

    python tests/faults/disks.py                 20 amounts of free space, every read
    python tests/faults/disks.py --count 4       so many of each, by seed

The disks are small file systems in memory, mounted where only this process and its children see
them. The disk that fills up ends the run with exit code 4 and one line; the commit of before
stays whole, and once there is room the next run ends with the files of an undisturbed one.
A log that shrinks, goes or is replaced in the middle of a run is never read as half of one and
half of the other.
"""

import argparse
import collections
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time

import pyarrow as pa
import pyarrow.parquet as pq
from scenarios import (
    call,
    check_what_is_left,
    coden,
    committed,
    count_calls,
    fault_environment,
    make_scenarios,
)

FAILED, USAGE, INPUT, RESOURCES, CORRUPTION, AGAIN = 1, 2, 3, 4, 5, 6
PAGE = 4096
PLENTY = 64 << 20
SECONDS = 120
INSIDE = "CODEN_TEST_HAS_OWN_MOUNTS"
OWN_MOUNTS = ["unshare", "--mount", "--map-root-user"]


def can_mount():
    try:
        return subprocess.run([*OWN_MOUNTS, "true"], capture_output=True).returncode == 0
    except FileNotFoundError:
        return False


class Disk:
    """A file system in memory, mounted on `folder`."""

    def __init__(self, folder, size=PLENTY):
        self.folder = folder
        folder.mkdir(exist_ok=True)
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "t", folder], check=True)

    def try_change(self, options):
        command = ["mount", "-o", f"remount,{options}", self.folder]
        return subprocess.run(command, capture_output=True).returncode == 0

    def change(self, options):
        assert self.try_change(options), options

    def used(self):
        disk = os.statvfs(self.folder)
        return (disk.f_blocks - disk.f_bfree) * disk.f_frsize

    def __enter__(self):
        return self

    def __exit__(self, *_):
        subprocess.run(["umount", self.folder], check=True)


def fill_when_begun(disk, size):
    """Take all room away but `size` once something has been written, or after a while."""
    before, end = disk.used(), time.monotonic() + 5
    while disk.used() <= before and time.monotonic() < end:
        time.sleep(0.0005)
    # What is used meanwhile may be more: the system then refuses.
    while not disk.try_change(f"size={max(size, disk.used() + PAGE)}"):
        pass


def error_of(outcome, codes, names):
    """The one line of an error, which must name one of these places."""
    what = f"{outcome.code}, {outcome.errors!r}"
    assert outcome.code in codes, f"exit code: {what}"
    line = outcome.errors.removesuffix("\n")
    assert " coden: error: " in line and line.isprintable(), f"one line: {what}"
    assert any(str(name) in line for name in names), f"names no file: {what}"
    return line


def another(table):
    """The same rows but one: the first is there twice in place of the second."""
    return pa.concat_tables([table.slice(0, 1), table.slice(0, 1), table.slice(2)])


class Trials:
    def __init__(self, folder):
        self.folder = folder
        self.scenarios = make_scenarios(folder, nodes=60, sample_lambda=1)
        self.files = {}
        for scenario in self.scenarios:
            scenario.start(folder / "run")
            coden(*scenario.arguments(folder / "run"))
            self.files[scenario.name] = committed(folder / "run")
        shutil.rmtree(folder / "run")

    def next_run(self, scenario, run):
        again = call(*scenario.arguments(run))
        assert again.code == 0, f"the next run fails: {again.errors}"
        assert committed(run) == self.files[scenario.name], "the next run ends differently"

    def full_disk(self, scenario, free, late):
        """Run with `free` bytes of room; the exit code.

        From the start, where the plan of the run may refuse it, or only when the run has begun.
        """
        with Disk(self.folder / "disk") as disk:
            run = disk.folder / "run"
            scenario.start(run)
            size = max(PAGE, disk.used() + free)
            if late:
                fill = threading.Thread(target=fill_when_begun, args=[disk, size])
                fill.start()
            else:
                disk.change(f"size={size}")
            outcome = call(*scenario.arguments(run))
            if late:
                fill.join()
            if outcome.code != 0:
                line = error_of(outcome, {RESOURCES}, [run, disk.folder])
                assert "; free some" in line or "; make room and run" in line, line
                disk.change(f"size={PLENTY}")
                left = check_what_is_left(run, self.files.values())
                assert left == "snapshots" or not scenario.before, "the run of before is gone"
                self.next_run(scenario, run)
            assert committed(run) == self.files[scenario.name]
            return outcome.code

    def room_needed(self, scenario):
        with Disk(self.folder / "disk") as disk:
            scenario.start(disk.folder / "run")
            before = disk.used()
            coden(*scenario.arguments(disk.folder / "run"))
            # Some old and new files are there at the same time.
            return disk.used() - before + 48 * PAGE

    def read_only_disk(self):
        scenario = self.scenarios[1]
        with Disk(self.folder / "disk") as disk:
            run = disk.folder / "run"
            scenario.start(run)
            before = committed(run)
            disk.change("ro")
            for place in (run, disk.folder / "other", disk.folder / "a" / "b"):
                outcome = call(*scenario.arguments(place))
                line = error_of(outcome, {FAILED, USAGE}, [place, disk.folder / "a"])
                assert "Read-only file system" in line, line
            # What only reads works.
            coden("verify", run)
            coden("inspect", run)
            assert committed(run) == before
            disk.change("rw")
            self.next_run(scenario, run)

    def strange_places(self):
        """Where a run cannot be, and where it can."""
        scenario = self.scenarios[0]
        file = self.folder / "file"
        file.write_text("somebody's")
        for place in (file, file / "run"):
            error_of(call(*scenario.arguments(place)), {FAILED, USAGE}, [file])
        assert file.read_text() == "somebody's"
        self.next_run(scenario, self.folder / "new" / "parents" / "run")
        shutil.rmtree(self.folder / "new")

    def start_inputs(self):
        """Copies of the logs, and of each file another version with the same rows but one."""
        logs = self.folder / "logs"
        shutil.rmtree(logs, ignore_errors=True)
        shutil.copytree(self.folder / "data", logs)
        for path in [*logs.rglob("*.parquet")]:
            table = pq.read_table(path)
            pq.write_table(another(table), path.with_name(path.name + ".new"))
        return logs

    def changing_input(self, number, effect):
        """Change a file before the `number`-th read of an input; how that ended."""
        logs, run, report = self.start_inputs(), self.folder / "run", self.folder / "report"
        scenario = self.scenarios[0]
        shutil.rmtree(run, ignore_errors=True)
        report.unlink(missing_ok=True)
        arguments = [
            str(argument).replace(str(self.folder / "data"), str(logs))
            for argument in scenario.arguments(run)
        ]
        fault = fault_environment(f"read:{number}:{effect}", logs, report=report)
        outcome = call(*arguments, environment=fault, timeout=SECONDS)
        if outcome.code != 0:
            error_of(outcome, {FAILED, INPUT, AGAIN}, [logs, "an input changed while it was read"])
            check_what_is_left(run, self.files.values())
            ended = f"exit code {outcome.code}"
        elif committed(run) == self.files[scenario.name]:
            ended = "as before" if report.exists() else "not reached"
        else:
            # It must be the run of the changed files then, not of some mixture.
            changed = self.folder / "changed"
            shutil.rmtree(changed, ignore_errors=True)
            again = call(*[changed if a == str(run) else a for a in arguments])
            assert again.code == 0, f"neither this nor that log: {again.errors}"
            assert committed(changed) == committed(run), "neither this nor that log"
            ended = "as after"
        return ended


def few(choices, count, seed):
    choices = list(choices)
    return random.Random(seed).sample(choices, min(count or len(choices), len(choices)))


def disk_trials(folder, count=None, seed=0):
    """Everything on disks; what was counted."""
    trials, counts = Trials(folder), collections.Counter()
    for scenario in trials.scenarios:
        most = trials.room_needed(scenario)
        sizes = sorted({PAGE * (most * step // 19 // PAGE) for step in range(20)})
        for late in (False, True):
            for free in few(sizes, count, seed):
                code = trials.full_disk(scenario, free, late)
                kind = "fills up" if late else "full disk"
                counts[f"{kind}, {scenario.name}: exit code {code}"] += 1
    trials.read_only_disk()
    trials.strange_places()
    counts["read-only disk, strange places"] += 5
    return counts


def input_trials(folder, count=None, seed=0, say=print):
    """Everything that happens to inputs; what was counted, and what went wrong."""
    trials, counts, problems = Trials(folder), collections.Counter(), []
    reads = count_calls(trials.scenarios[0], folder / "data")["read"]
    (folder / "data" / "calls").unlink()
    for effect in ("shrink", "vanish", "garble", "replace"):
        for number in few(range(1, reads + 1), count, seed):
            try:
                ended = trials.changing_input(number, effect)
            except AssertionError as error:
                ended = "PROBLEM"
                problems.append(f"read {number}, {effect}: {error}")
                say(problems[-1], flush=True)
            counts[f"{effect}: {ended}"] += 1
    return counts, problems


def with_own_mounts(arguments):
    """Call this file again where mounts are its own."""
    command = [*OWN_MOUNTS, sys.executable, __file__, *arguments]
    return subprocess.run(command, env=os.environ | {INSIDE: "1"}).returncode


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--count", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", choices=["disks", "inputs"])
    options = parser.parse_args()
    if INSIDE not in os.environ:
        sys.exit(with_own_mounts(sys.argv[1:]))
    start = time.monotonic()
    counts, problems = collections.Counter(), []
    for kind in [options.only] if options.only else ["disks", "inputs"]:
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            with Disk(folder / "all", size=1 << 30) as disk:
                if kind == "disks":
                    counts += disk_trials(disk.folder, options.count, options.seed)
                else:
                    more, problems = input_trials(disk.folder, options.count, options.seed)
                    counts += more
    for what, count in sorted(counts.items()):
        print(f"{what:40} {count}")
    print(f"{time.monotonic() - start:.0f} seconds")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
