"""Embed on many machines: the slices of a run as tasks of Ray.

    python -m coden.ray run PIPELINE.ini --slices N [--address ADDRESS] [--section.key VALUE]...

Schedule, slices, commit, training: each is a call of the program on some node. Given again, the
command goes on with what is not there yet. docs/scaling.md is the user's side.
"""

import argparse
import contextlib
import dataclasses
import io
import json
import os
import re
import sys
from collections.abc import Sequence
from typing import Any

from coden import slices
from coden.errors import RunError
from coden.ray_cluster import Cluster, Interrupted, Outcome, Task, TaskFailed, connect
from coden.ray_progress import Slices, Step, task_name
from coden.slices import Columns

USAGE = 2
RESOURCES = 4
INTERRUPTED = 130
SENT_VARIABLES = re.compile(r"AWS_|CODEN_|OMP_NUM_THREADS$")
PATHS = (
    *("run.directory", "input.edges", "input.features", "input.feature_updates"),
    *("input.labels", "input.split"),
)
_TABLES = ["stages", "input_counts", "notes"]
_SETTING = re.compile(r"--([a-z_]+\.[a-z_0-9]+)(?:=(.*))?", re.DOTALL)
_VARIABLE = re.compile(r"\$\{([^}]*)\}")
# A line of a pipeline file, and what a comment begins with.
_LINE = re.compile(
    r"""(?P<key>[^#;=][^=]*)=
    (?:[ \t]*(?P<quote>["'])(?P<quoted>(?:(?!(?P=quote)).|(?P=quote){2})*)(?P=quote)(?:[ \t].*)?
    |(?P<plain>.*))""",
    re.VERBOSE,
)
_COMMENT = re.compile(r"[ \t][#;].*")


@dataclasses.dataclass(frozen=True)
class Pipeline:
    """A pipeline file and the settings given beside it, which come first."""

    file: tuple[str, bytes] | None
    flags: dict[str, str]
    variables: dict[str, str]
    """Of the environment, that the file refers to."""
    _values: dict[str, str]

    @staticmethod
    def read(path: str | None, flags: dict[str, str]) -> "Pipeline":
        file = None
        values: dict[str, str] = {}
        literal: set[str] = set()
        if path is not None:
            try:
                with open(path, "rb") as opened:
                    file = (path, opened.read())
            except OSError as error:
                reason = error.strerror or type(error).__name__
                raise TaskFailed(
                    USAGE, f"cannot open the pipeline file '{path}': {reason}"
                ) from None
            values, literal = _ini_values(file[1].decode(errors="replace"))
        names = {
            name
            for key, value in values.items()
            if key not in literal
            for name in _VARIABLE.findall(value)
        }
        variables = {name: os.environ[name] for name in names if name in os.environ}
        for key in values.keys() - literal:
            # One that is not set is for the program to complain about.
            values[key] = _VARIABLE.sub(lambda m: variables.get(m[1], m[0]), values[key])
        return Pipeline(file, flags, variables, {**values, **flags})

    def __getitem__(self, key: str) -> str:
        return self._values.get(key, "")

    @property
    def threads(self) -> int:
        """What is set, and 0 for all cores."""
        text = self["run.threads"]
        return int(text) if text.isdecimal() else 0

    def is_relative(self) -> bool:
        """Whether a path depends on the folder the program is called in."""
        paths = [self[key] for key in PATHS if self[key]]
        return any(not path.startswith("/") and "://" not in path for path in paths)

    def arguments(self, **replaced: str) -> list[str]:
        """The flags, with some of them replaced: `embed_columns` is embed.columns."""
        own = {key.replace("_", ".", 1): value for key, value in replaced.items()}
        return [f"--{key}={value}" for key, value in {**self.flags, **own}.items()]


def _ini_values(text: str) -> tuple[dict[str, str], set[str]]:
    """Every value, and the keys of those in single quotes, which hold no variables.

    What the program would refuse is left for it to refuse.
    """
    values, literal, section = {}, set(), ""
    for line in text.removeprefix("\ufeff").split("\n"):
        line = line.strip(" \t\r")
        if line.startswith("["):
            section = line[1:].partition("]")[0].strip() + "."
        elif (setting := _LINE.fullmatch(line)) is not None:
            key = section + setting["key"].strip()
            quote = setting["quote"]
            if quote is None:
                values[key] = _COMMENT.sub("", setting["plain"]).strip(" \t")
            else:
                values[key] = setting["quoted"].replace(quote * 2, quote)
            if quote == "'":
                literal.add(key)
    return values, literal


class Driver:
    """Takes a run from its schedule to its model, on a cluster."""

    def __init__(self, cluster: Cluster, pipeline: Pipeline, options: argparse.Namespace):
        self._cluster, self._pipeline, self._options = cluster, pipeline, options
        most = max(1, int(cluster.largest("CPU")))
        self._step_cpus = min(pipeline.threads or most, most)
        self._slice_cpus = options.cpus_per_slice or pipeline.threads or 1
        self._run = pipeline["run.directory"]
        self._step = Step(options.quiet)

    def run(self) -> str:
        """Do what is not done yet; returns the results of the last step as text."""
        forced = ["--force"] if self._options.force else []
        self._call("schedule", *forced)
        output = ""
        if not slices.is_complete(self._run):
            self._embed()
            output = self._call("commit", *self._format()).stdout
        if self._pipeline["input.labels"] and not self._options.no_train:
            output = self._call("train", *self._format()).stdout
        return output

    def _embed(self) -> None:
        plan = self._call(
            "plan", "--slices", str(self._options.slices), "--format", "json", "--quiet"
        )
        try:
            planned = json.loads(plan.stdout)["slices"]
            cuts = {Columns.parse(slice["columns"]): slice for slice in planned}
            needs = {
                columns: (float(slice["seconds"]), int(slice["memory_bytes"]))
                for columns, slice in cuts.items()
            }
        except (ValueError, KeyError, TypeError) as error:
            raise TaskFailed(1, f"coden plan has an answer without slices: {error!r}") from None
        there = slices.finished(self._run)
        seconds: dict[Columns, float] = {}
        tasks = []
        for cut, (cut_seconds, memory) in needs.items():
            for piece in slices.missing([cut], there):
                seconds[piece] = cut_seconds * piece.size / cut.size
                tasks.append(self._slice(piece, memory))
        all_columns = sum(columns.size for columns in cuts)
        rest = sum(columns.size for columns in seconds)
        if rest < all_columns:
            self._step.tell(f"note: {all_columns - rest} of {all_columns} columns are there")
        self._check_fits(tasks)
        progress = Slices(seconds, all_columns, self._options.quiet)
        try:
            self._cluster.run(tasks, progress)
        finally:
            progress.clear()

    def _slice(self, columns: Columns, memory_bytes: int) -> Task:
        arguments = self._pipeline.arguments(
            embed_columns=str(columns), run_threads=str(self._slice_cpus)
        )
        return Task(
            task_name(columns),
            self._program("embed", arguments, needs_schedule=True),
            self._slice_cpus,
            memory_bytes,
            is_done=lambda: columns in slices.finished(self._run),
        )

    def _check_fits(self, tasks: list[Task]) -> None:
        """A task that no node has room for would wait for ever."""
        memory = max((task.memory_bytes for task in tasks), default=0)
        for resource, asked, unit in [("memory", memory, 1e6), ("CPU", self._slice_cpus, 1)]:
            most = self._cluster.largest(resource)
            if not tasks or asked <= most:
                continue
            name = "MB of memory" if resource == "memory" else "CPUs"
            line = f"a slice asks for {asked / unit:.0f} {name}, and no node has more than "
            line += f"{most / unit:.0f}"
            if self._options.address is None:
                advice = "take more slices" if resource == "memory" else "ask for fewer"
                raise TaskFailed(RESOURCES, f"{line}; {advice}")
            self._step.tell(f"note: {line}; waiting for one that has", always=True)

    def _call(self, command: str, *arguments: str) -> Outcome:
        threads = str(self._step_cpus)
        flags = [*self._pipeline.arguments(run_threads=threads), *arguments]
        task = Task(f"coden {command}", self._program(command, flags), self._step_cpus)
        return self._cluster.run([task], self._step)[0]

    def _program(
        self, command: str, arguments: list[str], *, needs_schedule: bool = False
    ) -> dict[str, Any]:
        sent = {name: value for name, value in os.environ.items() if SENT_VARIABLES.match(name)}
        return {
            "program": self._options.program,
            "command": command,
            "pipeline": self._pipeline.file,
            "arguments": arguments,
            # Not in Ray's runtime_env, which may get into its logs.
            "environment": {**sent, **self._pipeline.variables},
            "folder": os.getcwd(),
            "needs_folder": self._pipeline.is_relative(),
            "run": self._run if needs_schedule else None,
        }

    def _format(self) -> list[str]:
        table = ["--table", self._options.table] if self._options.table else []
        return ["--format", self._options.format, *table]


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns the exit code, as docs/cli.md has them."""
    try:
        flags, rest = _split(list(sys.argv[1:] if arguments is None else arguments))
        options = _parser().parse_args(rest)
        # Ray prints there what it thinks of dead workers.
        with contextlib.redirect_stdout(io.StringIO()):
            output = _run(flags, options)
    except (TaskFailed, Interrupted) as failure:
        return _complain(failure, failure.code)
    except RunError as error:
        return _complain(error, 1)
    except KeyboardInterrupt:
        return _complain("interrupted; run the same command again", INTERRUPTED)
    print(output, end="", flush=True)
    return 0


def _complain(reason: object, code: int) -> int:
    print(f"coden: error: {reason}", file=sys.stderr)
    return code


def _run(flags: dict[str, str], options: argparse.Namespace) -> str:
    if os.sep in options.program:
        options.program = os.path.abspath(options.program)
    pipeline = Pipeline.read(options.pipeline, flags)
    if not pipeline["run.directory"]:
        raise TaskFailed(USAGE, "there is nowhere to write: set `run.directory`")
    if options.address is not None and options.address.startswith("ray://"):
        raise TaskFailed(USAGE, "`--address` must be a cluster's own, such as auto or HOST:6379")
    if options.format == "csv" and not options.table:
        tables = ", ".join(_TABLES)
        raise TaskFailed(USAGE, f"CSV holds one table; choose one with --table: {tables}")
    with connect(options.address, options.num_cpus, options.attempts) as cluster:
        return Driver(cluster, pipeline, options).run()


def _split(arguments: list[str]) -> tuple[dict[str, str], list[str]]:
    """Settings of the program, and everything else."""
    flags: dict[str, str] = {}
    rest: list[str] = []
    left = iter(arguments)
    for argument in left:
        match = _SETTING.fullmatch(argument)
        if match is None:
            rest.append(argument)
            continue
        value = match[2] if match[2] is not None else next(left, None)
        if value is None:
            raise TaskFailed(USAGE, f"`{argument}` must have a value")
        flags[match[1]] = value
    return flags, rest


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m coden.ray",
        description="Embed in slices on Ray, and train. Every setting of coden is a flag as well.",
        allow_abbrev=False,
    )
    commands = parser.add_subparsers(required=True, metavar="run")
    run = commands.add_parser("run", allow_abbrev=False, help="from the schedule to the model")
    run.add_argument("pipeline", nargs="?", metavar="PIPELINE.ini")
    run.add_argument("--slices", type=_count, required=True, help="tasks to cut the columns into")
    run.add_argument("--address", help="of a cluster; a Ray of its own on this machine without")
    run.add_argument("--num-cpus", type=_count, help="cores for a Ray on this machine")
    run.add_argument("--program", default=os.environ.get("CODEN_PROGRAM", "coden"))
    run.add_argument(
        "--cpus-per-slice", type=_count, help="default: run.threads where it is set, or 1"
    )
    run.add_argument("--attempts", type=_count, default=5, help="at one slice (default: 5)")
    run.add_argument("--no-train", action="store_true", help="end with the snapshots")
    run.add_argument("--force", action="store_true", help="make the schedule anew")
    run.add_argument("--format", choices=["table", "json", "csv"], default="table")
    run.add_argument("--table", choices=_TABLES, help="print only this table; CSV needs it")
    run.add_argument("--quiet", action="store_true", help="say nothing but what goes wrong")
    return parser


def _count(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError(text)
    return number


if __name__ == "__main__":
    sys.exit(main())
