"""Kill runs with SIGKILL, at named points of a commit and at random times; look at what is left.

    python tests/faults/kills.py --kills 200

After every kill `coden verify` must pass, and whoever reads snapshots/ must find files that an
uninterrupted run has, whole. The run that is then taken up again must end with the same data
files as the uninterrupted one, byte for byte.
"""

import argparse
import collections
import dataclasses
import pathlib
import random
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
)

FUNCTIONS = ["write", "fsync", "link", "rename", "remove", "mkdir"]


@dataclasses.dataclass
class Reference:
    """What an uninterrupted run of a scenario leaves, takes and calls."""

    files: dict
    seconds: float
    calls: dict

    @staticmethod
    def of(scenario, folder):
        run = folder / "reference"
        scenario.start(run)
        start = time.monotonic()
        coden(*scenario.arguments(run))
        seconds = time.monotonic() - start
        return Reference(committed(run), seconds, count_calls(scenario, folder))


def is_killed(arguments, folder, point=None, limit=None):
    """Run the program with a kill at a point or after some seconds; whether that came first."""
    environment = fault_environment(point, folder) if point else None
    outcome = call(*arguments, environment=environment, timeout=limit)
    assert outcome.code in (0, -9), outcome.errors
    return outcome.code == -9


def kill_runs(num_kills, seed=0, say=lambda *_: None):
    """Kill `num_kills` times; what was counted on the way."""
    choose = random.Random(seed)
    counts = collections.Counter()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        scenarios = make_scenarios(folder)
        references = {s.name: Reference.of(s, folder) for s in scenarios}
        wholes = [reference.files for reference in references.values()]
        run = folder / "run"
        while counts["kills"] < num_kills:
            scenario = scenarios[counts["runs"] % len(scenarios)]
            reference = references[scenario.name]
            scenario.start(run)
            # Up to three kills before the run is let through.
            for _ in range(choose.randint(1, 3)):
                if counts["at a point"] <= counts["at a time"]:
                    function = choose.choice(FUNCTIONS)
                    number = choose.randint(1, max(1, reference.calls[function]))
                    side = choose.choice(["kill-before", "kill-after"])
                    point, limit, kind = f"{function}:{number}:{side}", None, "at a point"
                else:
                    point, limit, kind = None, choose.uniform(0, reference.seconds), "at a time"
                if not is_killed(scenario.arguments(run), folder, point, limit):
                    break
                counts["kills"] += 1
                counts[kind] += 1
                counts["left " + check_what_is_left(run, wholes)] += 1
            coden(*scenario.arguments(run))
            assert committed(run) == reference.files, f"{scenario.name} ends differently"
            coden("verify", run)
            counts["runs"] += 1
            say(dict(counts))
    return counts


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    start = time.monotonic()
    counts = kill_runs(options.kills, options.seed)
    for what, count in sorted(counts.items()):
        print(f"{what:24} {count}")
    print(f"{'seconds':24} {time.monotonic() - start:.0f}")


if __name__ == "__main__":
    main()
