"""Run engine_driver, our side of the comparison, and read what it prints and writes."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from graphs import Scenario
from solvers import Cost


@dataclass
class OurRun:
    steps: list[Cost]  # graph update and solve, start first
    raw: dict


class Driver:
    def __init__(self, build: Path, work: Path):
        self.program = build / "tests" / "engine_driver"
        self.work = work
        if not self.program.exists():
            sys.exit(f"{self.program} is missing: ninja -C {build} tests/engine_driver")

    def call(self, mode: str, *words: object) -> dict:
        command = [str(self.program), mode, *map(str, words)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(done.stderr.strip() or f"{' '.join(command)} failed")
        return json.loads(done.stdout)

    def path(self, scenario: Scenario) -> Path:
        return scenario.write(self.work)

    def solve(
        self,
        scenario: Scenario,
        epsilon: float,
        mode: str = "batches",
        threads: int = 1,
        limit: int = 0,
        save: bool = False,
    ) -> OurRun:
        words = ["--epsilon", epsilon, "--threads", threads, "--limit", limit]
        if save:
            words += ["--out", self.work / "h"]
        raw = self.call(mode, self.path(scenario), *words)
        costs = [
            Cost(step["apply_wall"] + step["update_wall"], step["apply_cpu"] + step["update_cpu"])
            for step in raw["steps"]
        ]
        return OurRun(costs, raw)

    def saved(self, scenario: Scenario, which: str) -> np.ndarray:
        """H after the `start` or after the `last` step of the last run with `save`."""
        path = self.work / f"h.{which}"
        return np.fromfile(path, dtype="<f4").reshape(scenario.num_nodes, scenario.num_columns)
