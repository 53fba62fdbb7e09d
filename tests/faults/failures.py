"""Let system calls and allocations fail, each once, by position; look at what the program does.

    python tests/faults/failures.py                    every position: hours
    python tests/faults/failures.py --count 200        so many of them, by seed
    python tests/faults/failures.py --only train:read:7:EIO

A failed call ends the run with one line that names the file and with the exit code of its kind,
and leaves the last commit whole; or it was harmless, and the result is that of an undisturbed
run. In both cases the next run ends with the files of an undisturbed one, byte for byte. Short
reads, short writes and interrupted calls are no failures: nobody may notice them.
"""

import argparse
import collections
import dataclasses
import os
import pathlib
import random
import re
import tempfile
import time

from scenarios import (
    call,
    check_what_is_left,
    coden,
    committed,
    count_calls,
    fault_environment,
    make_scenarios,
    make_slice_scenarios,
)

FAILURES = {
    "open": ["EIO", "EMFILE"],
    "read": ["EIO"],
    "write": ["ENOSPC", "EIO"],
    "fsync": ["EIO", "ENOSPC"],
    "link": ["EIO", "ENOSPC"],
    "rename": ["EIO", "ENOSPC"],
    "remove": ["EIO"],
    "mkdir": ["ENOSPC", "EIO"],
    "close": ["EIO"],
    "stat": ["EIO"],
    "list": ["EIO"],
    "allocate": ["ENOMEM"],
}
# What a system may do at any time without anything being wrong.
HARMLESS = {
    "read": ["short", "EINTR"],
    "write": ["short", "EINTR"],
    "fsync": ["EINTR"],
}
KINDS = ("failure", "any-time")
SCENARIOS = ("embed", "append", "train", "retrain", "slice", "commit")
FAILED, INPUT, RESOURCES, CORRUPTION = 1, 3, 4, 5
CODES = {"ENOSPC": {RESOURCES}, "ENOMEM": {RESOURCES}}
ANY_CODE = {FAILED, INPUT, RESOURCES, CORRUPTION}
# Allocations are otherwise those of a system that cannot be counted on to fail.
SYSTEM_POOL = {"ARROW_DEFAULT_MEMORY_POOL": "system"}
SECONDS = 60
# Small allocations (`--allocation 1`) fail in the midst of libraries as well. Arrow's own threads
# let nothing be caught, some of its constructors are noexcept, and a callback that cannot be
# called is waited for: the process then ends, or waits, as if it had been killed. And where
# Parquet cannot finish a column it reports that, not the memory.
LIBRARIES = ("libarrow", "libparquet", "libtorch", "libc10", "libtbb", "libgomp")
SHIM_AND_SYSTEM = ("libfault_at", "libstdc++", "libc.so")
# Where MKL gets no buffer it multiplies with a kernel that needs none and adds in another order:
# the result is as good, and has other bits.
MKL = "mkl_serv_allocate"
HIDDEN_BY_PARQUET = "while previous column had"


@dataclasses.dataclass(frozen=True)
class Fault:
    scenario: str
    function: str
    number: int
    effect: str

    @classmethod
    def of(cls, text):
        scenario, function, number, effect = text.split(":")
        return cls(scenario, function, int(number), effect)

    def __str__(self):
        return f"{self.scenario}:{self.function}:{self.number}:{self.effect}"

    @property
    def harmless(self):
        return self.effect in HARMLESS.get(self.function, [])


def quick_folder():
    """Where fsync costs nothing: what is tested is the order of calls, not the disk."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


class Laboratory:
    """The scenarios with what they leave undisturbed, and the faults that they meet."""

    def __init__(self, folder, functions=tuple(FAILURES), allocation=4096, names=SCENARIOS):
        self.folder = folder
        self.functions = functions
        self.allocation = allocation
        scenarios = make_scenarios(folder, nodes=60, sample_lambda=1)
        scenarios += make_slice_scenarios(folder, sample_lambda=1)
        self.scenarios = {s.name: s for s in scenarios if s.name in names}
        self.files = {}
        self.left_before = {}
        self.calls = {}
        for name, scenario in self.scenarios.items():
            scenario.start(folder / "run")
            self.left_before[name] = check_what_is_left(folder / "run", [committed(folder / "run")])
            coden(*scenario.arguments(folder / "run"))
            scenario.finish(folder / "run")
            self.files[name] = committed(folder / "run")
            self.calls[name] = count_calls(scenario, folder, allocation=allocation)

    def all_faults(self):
        for name, calls in self.calls.items():
            for effects in FAILURES, HARMLESS:
                for function, choice in effects.items():
                    if function not in self.functions:
                        continue
                    for number in range(1, calls[function] + 1):
                        # The kinds of one function take turns.
                        yield Fault(name, function, number, choice[number % len(choice)])

    def sample(self, count, seed):
        """Of every function and kind about as many, at any position."""
        choose = random.Random(seed)
        groups = collections.defaultdict(list)
        for fault in self.all_faults():
            groups[fault.function, fault.harmless].append(fault)
        for group in groups.values():
            choose.shuffle(group)
        turns = [group for group in groups.values() if group]
        choose.shuffle(turns)
        picked = []
        while len(picked) < count and any(turns):
            picked += [group.pop() for group in turns if group]
        return picked[:count]

    def fail(self, fault):
        """Run into one fault; how it ended, as a word for the statistics."""
        scenario = self.scenarios[fault.scenario]
        run, report = self.folder / "run", self.folder / "report"
        scenario.start(run)
        report.unlink(missing_ok=True)
        outcome = call(
            *scenario.arguments(run),
            environment=SYSTEM_POOL
            | fault_environment(
                f"{fault.function}:{fault.number}:{fault.effect}",
                self.folder,
                report=report,
                allocation=self.allocation,
            ),
            timeout=SECONDS,
        )
        if outcome.code == 0 and report.exists() and MKL in report.read_text():
            verified = call("verify", run)
            assert verified.code == 0, verified.errors
            return "another kernel"
        if outcome.code == 0:
            scenario.finish(run)
            assert committed(run) == self.files[fault.scenario], "done, but with other files"
            return "harmless" if report.exists() else "not reached"
        library = self.library_of(report) if fault.function == "allocate" else None
        if library and (outcome.code < 0 or HIDDEN_BY_PARQUET in outcome.errors):
            ended = f"lost in {library}"
        else:
            self.check_error(fault, outcome)
            ended = f"exit code {outcome.code}"
        left = check_what_is_left(run, self.files.values())
        gone = "the run of before is gone"
        assert left in ("snapshots", self.left_before[fault.scenario]) or not scenario.before, gone
        again = call(*scenario.arguments(run))
        assert again.code == 0, f"the next run fails: {again.errors}"
        scenario.finish(run)
        assert committed(run) == self.files[fault.scenario], "the next run ends differently"
        return ended

    @staticmethod
    def library_of(report):
        """The library that asked for the memory; None where it was the program itself."""
        if not report.exists():
            return None
        files = [pathlib.Path(line.split("(")[0]).name for line in report.read_text().splitlines()]
        caller = next((file for file in files if not file.startswith(SHIM_AND_SYSTEM)), "")
        return caller.split(".")[0] if caller.startswith(LIBRARIES) else None

    def check_error(self, fault, outcome):
        what = f"{outcome.code}, {outcome.errors!r}"
        assert outcome.code > 0, f"ended by a signal, or too slow: {what}"
        assert not fault.harmless, f"nobody may notice it: {what}"
        assert outcome.code in CODES.get(fault.effect, ANY_CODE), f"exit code: {what}"
        line = outcome.errors.removesuffix("\n")
        assert " coden: error: " in line and line.isprintable(), f"one line: {what}"
        if fault.function != "allocate":
            assert re.search(rf"'{self.folder}(/[^']+)?'", line), f"names no file: {what}"


def fail_calls(count=None, seed=0, only=(), kinds=KINDS, say=print, **choice):
    """Fail the calls that `only` names, or `count` of them, or all; the statistics, and what went
    wrong."""
    counts, problems = collections.Counter(), []
    with tempfile.TemporaryDirectory(dir=quick_folder()) as name:
        laboratory = Laboratory(pathlib.Path(name), **choice)
        if only:
            faults = [Fault.of(text) for text in only]
        else:
            faults = laboratory.sample(count, seed) if count else list(laboratory.all_faults())
        for fault in faults:
            kind = KINDS[fault.harmless]
            if kind not in kinds:
                continue
            try:
                ended = laboratory.fail(fault)
            except AssertionError as error:
                ended = "PROBLEM"
                text = str(error).replace(name, "FOLDER")
                report = laboratory.folder / "report"
                problems.append((str(fault), text, report.read_text() if report.exists() else ""))
                say(fault, text, flush=True)
            except KeyboardInterrupt:
                say("interrupted: what follows is about the faults so far")
                break
            counts[fault.function, kind, ended] += 1
    return counts, problems


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--count", type=int, help="so many of the positions, not all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", nargs="+", metavar="SCENARIO:FUNCTION:NUMBER:EFFECT")
    parser.add_argument("--functions", nargs="+", default=list(FAILURES), choices=list(FAILURES))
    parser.add_argument("--scenarios", nargs="+", default=SCENARIOS, choices=SCENARIOS)
    parser.add_argument("--kinds", nargs="+", default=KINDS, choices=KINDS)
    parser.add_argument("--allocation", type=int, default=4096, help="fail from this size on")
    parser.add_argument("--stacks", action="store_true", help="say where the problems were")
    options = parser.parse_args()
    start = time.monotonic()
    counts, problems = fail_calls(
        options.count,
        options.seed,
        options.only,
        options.kinds,
        functions=options.functions,
        allocation=options.allocation,
        names=options.scenarios,
    )
    if options.stacks:
        for fault, text, stack in problems:
            print(f"{fault} {text}\n{stack}")
    for (function, kind, ended), count in sorted(counts.items()):
        print(f"{function:10} {kind:10} {ended:14} {count}")
    print(f"{sum(counts.values())} faults, {len(problems)} problems")
    print(f"{time.monotonic() - start:.0f} seconds")


if __name__ == "__main__":
    main()
