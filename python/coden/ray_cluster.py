"""Calls of the program as tasks of Ray: what was killed is tried again, what was refused is not."""

import collections
import contextlib
import dataclasses
import importlib
import logging
import os
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol

from coden import ray_task
from coden.errors import one_line

HOPELESS = (2, 3, 4, 5, 7)
"""Exit codes that another attempt ends with as well: usage, input, resources, corruption, and a
run made from other inputs or settings."""
LAST_LINES = 12
POLL_SECONDS = 0.1
LONGEST_PAUSE = 30.0
OBJECT_STORE_BYTES = 100_000_000


class Interrupted(Exception):
    """A signal asks to end; what is done stays."""

    def __init__(self, number: int):
        super().__init__("interrupted; run the same command again")
        self.code = 128 + number


class TaskFailed(Exception):
    """A call that no further attempt is made at: the exit code, and why in one line."""

    def __init__(self, code: int, message: str):
        super().__init__(message)
        self.code = code


@dataclasses.dataclass(frozen=True)
class Task:
    name: str
    call: dict[str, Any]
    num_cpus: int
    memory_bytes: int = 0
    is_done: Callable[[], bool] = lambda: False
    """Asked before another attempt: the last one may have died after its work was done."""


@dataclasses.dataclass(frozen=True)
class Outcome:
    stdout: str
    node: str
    seconds: float


class Observer(Protocol):
    """Told how tasks go, in the order in which it happens."""

    def started(self, task: Task, node: str) -> None: ...
    def said(self, task: Task, line: str) -> None: ...
    def finished(self, task: Task, outcome: Outcome) -> None: ...
    def lost(self, task: Task, reason: str, last_lines: Iterable[str], again: bool) -> None: ...
    def draw(self) -> None: ...


@dataclasses.dataclass
class _Attempt:
    task: Task
    number: int
    node: str = ""
    start: float = 0.0
    lines: "collections.deque[str]" = dataclasses.field(
        default_factory=lambda: collections.deque(maxlen=LAST_LINES)
    )
    end: tuple[int, str] | None = None


class Cluster:
    """A Ray that tasks run on. `connect` makes one."""

    def __init__(self, ray: Any, max_attempts: int, signals: list[int]):
        self._ray, self._max_attempts, self._signals = ray, max_attempts, signals
        # Nodes need not have this package.
        ray.cloudpickle.register_pickle_by_value(ray_task)
        # Whether and where to try again is decided here, where it is told as well.
        self._remote = ray.remote(ray_task.run_program)
        self._options = {"num_returns": "streaming", "max_retries": 0}

    def largest(self, resource: str) -> float:
        """How much of CPU or memory the node has that has most of it."""
        nodes = (node["Resources"] for node in self._ray.nodes() if node["Alive"])
        return max((float(resources.get(resource, 0)) for resources in nodes), default=0.0)

    def run(self, tasks: Iterable[Task], observer: Observer) -> list[Outcome]:
        """Run tasks until all are done; the first one that cannot be ends the others.

        A call (`ray_task.run_program`) is the program with a `command`, the name and text of a
        `pipeline` file or None, `arguments` and `environment`, called in `folder`, which has to be
        there if it `needs_folder`; `run` is a run directory in which the call needs a schedule.
        """
        waiting = [(0.0, _Attempt(task, 1)) for task in tasks]
        running: dict[Any, _Attempt] = {}
        outcomes: list[Outcome] = []
        try:
            while waiting or running:
                now = time.monotonic()
                due = [attempt for at, attempt in waiting if at <= now]
                waiting = [(at, attempt) for at, attempt in waiting if at > now]
                for attempt in due:
                    if attempt.number > 1 and attempt.task.is_done():
                        outcomes.append(Outcome("", attempt.node, 0.0))
                        observer.finished(attempt.task, outcomes[-1])
                    else:
                        running[self._start(attempt.task)] = attempt
                for stream in self._ready(running):
                    attempt = running[stream]
                    reason = self._take(stream, attempt, observer)
                    if reason is None:
                        continue
                    del running[stream]
                    if reason == "":
                        assert attempt.end is not None
                        seconds = time.monotonic() - attempt.start
                        outcomes.append(Outcome(attempt.end[1], attempt.node, seconds))
                        observer.finished(attempt.task, outcomes[-1])
                    else:
                        waiting.append(self._again(attempt, reason, observer))
                observer.draw()
                if self._signals:
                    raise Interrupted(self._signals[0])
        finally:
            # The program dies with its worker.
            for stream in running:
                with contextlib.suppress(Exception):
                    self._ray.cancel(stream, force=True)
        return outcomes

    def _start(self, task: Task) -> Any:
        options = {**self._options, "num_cpus": task.num_cpus, "name": task.name}
        if task.memory_bytes:
            options["memory"] = task.memory_bytes
        return self._remote.options(**options).remote(task.call)

    def _ready(self, running: dict[Any, _Attempt]) -> list[Any]:
        if not running:
            time.sleep(POLL_SECONDS)
            return []
        streams = list(running)
        self._ray.wait(streams, num_returns=1, timeout=POLL_SECONDS)
        ready: list[Any] = self._ray.wait(streams, num_returns=len(streams), timeout=0)[0]
        return ready

    def _take(self, stream: Any, attempt: _Attempt, observer: Observer) -> str | None:
        """Take one thing that a task tells: None, or why it ended; empty where it is done."""
        exceptions = self._ray.exceptions
        try:
            told = self._ray.get(next(stream))
        except StopIteration:
            return self._verdict(attempt)
        except exceptions.OutOfMemoryError:
            return "the node ran out of memory"
        except exceptions.WorkerCrashedError:
            return "its worker was killed"
        except exceptions.NodeDiedError:
            return "its node died"
        except (exceptions.RuntimeEnvSetupError, exceptions.TaskUnschedulableError) as error:
            raise TaskFailed(1, f"{attempt.task.name}: {one_line(error)}") from None
        except exceptions.RayError as error:
            return f"{type(error).__name__}: {one_line(error).partition('. ')[0]}"
        match told:
            case ("start", node):
                attempt.node, attempt.start = node, time.monotonic()
                observer.started(attempt.task, node)
            case ("line", line):
                attempt.lines.append(line)
                observer.said(attempt.task, line)
            case ("end", code, stdout):
                attempt.end = (code, stdout)
        return None

    def _verdict(self, attempt: _Attempt) -> str:
        if attempt.end is None:
            return "its worker was lost"
        code = attempt.end[0]
        if code in HOPELESS:
            parts = [line.partition("coden: error: ") for line in attempt.lines]
            errors = [message for _, prefix, message in parts if prefix]
            said = errors[-1] if errors else f"exit code {code}"
            raise TaskFailed(code, f"{attempt.task.name} on {attempt.node}: {said}")
        if code < 0:
            return f"the program was killed by {signal.Signals(-code).name}"
        return f"the program ended with exit code {code}" if code else ""

    def _again(self, attempt: _Attempt, reason: str, observer: Observer) -> tuple[float, _Attempt]:
        where = f" on {attempt.node}" if attempt.node else ""
        again = attempt.number < self._max_attempts
        observer.lost(attempt.task, f"{reason}{where}", attempt.lines, again)
        if not again:
            times = f"{attempt.number} attempts" if attempt.number > 1 else "one attempt"
            raise TaskFailed(1, f"{attempt.task.name} failed in {times}; the last: {reason}{where}")
        pause = min(0.25 * 2.0**attempt.number, LONGEST_PAUSE)
        return time.monotonic() + pause, _Attempt(attempt.task, attempt.number + 1, attempt.node)


@contextlib.contextmanager
def connect(address: str | None, num_cpus: int | None, max_attempts: int) -> Iterator[Cluster]:
    """Join the cluster at `address`, or start a Ray on this machine that ends with us.

    One that the calling program has started already is taken as it is.
    """
    ray = load_ray()
    if ray.is_initialized():
        with _signals_noted() as signals:
            yield Cluster(ray, max_attempts, signals)
        return
    start(address, num_cpus)
    try:
        with _signals_noted() as signals:
            yield Cluster(ray, max_attempts, signals)
    finally:
        ray.shutdown()


def start(address: str | None = None, num_cpus: int | None = None) -> None:
    """Let this process join the cluster at `address`, or start a small Ray on this machine."""
    ray = load_ray()
    options: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
    if address is not None:
        options["address"] = address
    else:
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        # The work is as urgent as this process; Ray would put it behind all others.
        os.environ.setdefault("RAY_worker_niceness", "0")
        options["include_dashboard"] = False
        options["object_store_memory"] = OBJECT_STORE_BYTES
        options["address"] = "local"
        if num_cpus is not None:
            options["num_cpus"] = num_cpus
    logging.getLogger("ray").setLevel(logging.ERROR)
    try:
        ray.init(**options)
    except (ConnectionError, OSError, RuntimeError, ValueError) as error:
        raise TaskFailed(1, f"cannot start or reach Ray: {one_line(error)}") from None


@contextlib.contextmanager
def _signals_noted() -> Iterator[list[int]]:
    """SIGINT and SIGTERM as they come in; inside Ray's functions none of them may raise."""
    noted: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield noted
        return
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(number, lambda number, _: noted.append(number)) for number in numbers]
    try:
        yield noted
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)


def load_ray() -> Any:
    try:
        return importlib.import_module("ray")
    except ModuleNotFoundError:
        raise TaskFailed(2, "Ray is not installed: pip install 'coden[ray]'") from None
