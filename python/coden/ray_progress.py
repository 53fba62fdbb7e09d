"""How a run on Ray is told to somebody who watches: one line on a terminal, few lines elsewhere."""

import shutil
import sys
import time
from collections.abc import Iterable
from typing import TextIO

from coden.ray_cluster import Outcome, Task
from coden.slices import Columns


class Step:
    """Passes on what a single call of the program says."""

    def __init__(self, quiet: bool, stream: TextIO | None = None):
        self._quiet, self._stream = quiet, stream or sys.stderr
        self.is_terminal = self._stream.isatty()
        self._drawn = False

    def started(self, task: Task, node: str) -> None:
        pass

    def said(self, task: Task, line: str) -> None:
        self.tell(line)

    def finished(self, task: Task, outcome: Outcome) -> None:
        pass

    def lost(self, task: Task, reason: str, last_lines: Iterable[str], again: bool) -> None:
        self.tell(f"{task.name}: {reason}" + ("; trying again" if again else ""), always=True)

    def draw(self) -> None:
        pass

    def tell(self, line: str, *, always: bool = False) -> None:
        """Write a line above the one that is drawn again and again."""
        if self._quiet and not always:
            return
        self.clear()
        print(line, file=self._stream, flush=True)

    def show(self, line: str) -> None:
        """Draw the line that changes."""
        width = shutil.get_terminal_size().columns
        print("\r\x1b[K" + line[: width - 1], end="", file=self._stream, flush=True)
        self._drawn = True

    def clear(self) -> None:
        if self._drawn:
            print("\r\x1b[K", end="", file=self._stream, flush=True)
            self._drawn = False


class Slices(Step):
    """Counts slices and columns, those of earlier calls among them."""

    def __init__(
        self,
        planned: dict[Columns, float],
        all_columns: int,
        quiet: bool,
        stream: TextIO | None = None,
    ):
        super().__init__(quiet, stream)
        self._planned = planned
        self._all_columns = all_columns
        self._start = time.monotonic()
        self._running: dict[str, float] = {}
        self._done: dict[str, float] = {}
        self._names = {task_name(columns): columns for columns in planned}

    def started(self, task: Task, node: str) -> None:
        self._running[task.name] = time.monotonic()

    def said(self, task: Task, line: str) -> None:
        pass

    def finished(self, task: Task, outcome: Outcome) -> None:
        self._running.pop(task.name, None)
        self._done[task.name] = outcome.seconds
        where = f" on {outcome.node}" if outcome.node else ""
        if not self.is_terminal:
            self.tell(f"{task.name}: done in {outcome.seconds:.1f} s{where}; {self._figures()}")

    def lost(self, task: Task, reason: str, last_lines: Iterable[str], again: bool) -> None:
        self._running.pop(task.name, None)
        super().lost(task, reason, last_lines, again)
        for line in last_lines:
            self.tell(f"  {task.name} | {line}", always=True)

    def draw(self) -> None:
        if self.is_terminal and not self._quiet:
            self.show(f"embed: {self._figures()}")

    def seconds_left(self) -> float:
        """What the plan says of the rest, corrected by what it said of the slices that are done."""
        planned_of_done = sum(self._planned[self._names[name]] for name in self._done)
        factor = sum(self._done.values()) / planned_of_done if planned_of_done > 0 else 1.0
        now = time.monotonic()
        left = 0.0
        longest = 0.0
        for name, columns in self._names.items():
            if name in self._done:
                continue
            seconds = factor * self._planned[columns]
            if name in self._running:
                seconds = max(0.0, seconds - (now - self._running[name]))
            left += seconds
            longest = max(longest, seconds)
        return max(longest, left / max(1, len(self._running)))

    def _figures(self) -> str:
        rest = sum(columns.size for name, columns in self._names.items() if name not in self._done)
        text = f"{len(self._done)}/{len(self._names)} slices, {len(self._running)} running, "
        text += f"{self._all_columns - rest}/{self._all_columns} columns"
        return text + (f", {duration(self.seconds_left())} left" if rest else "")


def task_name(columns: Columns) -> str:
    return f"slice {columns}"


def duration(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60} min"
