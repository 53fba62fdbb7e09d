"""Give every hostile Parquet file to the program in every role a file can have.

    python tests/faults/hostile.py            everything, about half an hour
    python tests/faults/hostile.py --share 0.1

The files are found by CODEN_HOSTILE. Every call must end within the limits below, with exit
code 3 or 5 and one printable line. A call may succeed where the file is a valid one for its
role, or where the command does not read it: then its result must be that of the run as it was
made.
"""

import argparse
import collections
import dataclasses
import pathlib
import random
import shutil
import sys
import tempfile
import time

import pyarrow as pa
import pyarrow.parquet as pq

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from forked import SCRATCH, Forked  # noqa: E402
from manifests import fit_manifest  # noqa: E402
from whole_run import HOSTILE, WholeRun, data_files  # noqa: E402

MAX_SECONDS = 2.0
MAX_BYTES = 256 << 20
MAX_LETTERS = 650
REFUSALS = {3, 5}

SNAPSHOTS = ["snapshots/snapshot=000000/part-0.parquet", "snapshots/snapshot=000004/part-0.parquet"]
# The Parquet files of a run, with the commands that read them.
READERS = {
    SNAPSHOTS[0]: ["inspect", "train", "report", "predict", "verify"],
    SNAPSHOTS[1]: ["inspect", "train", "inspect-file"],
    "schedule.parquet": ["inspect", "report", "train", "embed", "predict"],
    "work.parquet": ["report", "embed"],
    "predictions.parquet": ["report", "inspect-file"],
    "metrics.parquet": ["inspect", "report", "compare", "run"],
    "forecast.parquet": ["predict", "inspect-file"],
    "state/nodes.parquet": ["embed", "predict", "train"],
    "state/schedule.parquet": ["embed", "predict"],
    "state/history/changes-000000.parquet": ["embed", "predict", "train"],
    "state/window.parquet": ["embed", "predict"],
    "state/columns-0.parquet": ["embed", "predict"],
    "state/labels.parquet": ["predict"],
    "state/labels-w0-a0-columns.parquet": ["predict"],
}
INPUTS = ["edges", "features", "feature_updates", "labels", "split", "validate", "plan"]


@dataclasses.dataclass(frozen=True)
class Case:
    """One file in one role.

    `variant` says, of an input, whose column names the settings have; of a file of a run, whether
    the manifest knows the file that is there in its place.
    """

    file: pathlib.Path
    role: str
    command: str
    variant: str

    def __str__(self):
        return f"{self.file.name} as {self.role}, {self.variant}: {self.command}"


def all_cases():
    cases = []
    for file in sorted((HOSTILE / "parquet").iterdir()):
        for role in INPUTS:
            cases += [Case(file, role, "", variant) for variant in ("usual", "own")]
        cases += [Case(file, "file", f"import-{kind}", "") for kind in ("edges", "jodie", "tgl")]
        cases += [Case(file, "file", "inspect", "")]
        for name, commands in READERS.items():
            cases += [Case(file, name, command, "fitted") for command in commands]
            if name.startswith(("snapshots", "state/history")):
                cases += [Case(file, name, command, "unknown") for command in commands]
    return cases


def own_names(file):
    """Names for the settings after the columns that the file has, and the type of its ids."""
    names, id_type = {}, pa.int64()
    try:
        schema = pq.read_schema(file)
    except (pa.ArrowException, OSError, UnicodeDecodeError):
        return names, id_type
    for field in schema:
        if not field.name.isprintable() or not field.name:
            continue
        if field.type.num_fields == 1:
            names["feature"] = field.name
        elif pa.types.is_integer(field.type) or pa.types.is_string(field.type):
            names["node"] = names["label"] = field.name
            id_type = pa.string() if pa.types.is_string(field.type) else pa.int64()
            if pa.types.is_integer(field.type):
                names["time"] = field.name
    return names, id_type


class Bench:
    """The run that files are put into, and what its commands give when nothing is wrong."""

    def __init__(self, folder, program):
        self.folder = pathlib.Path(folder)
        self.program = program
        self.whole = WholeRun.make(self.folder / "whole", program)
        self.place = self.folder / "place" / "run"
        self.sound = {}

    def run_case(self, case):
        """The problems of a case; and how it ended."""
        if case.role in READERS:
            outcome, excuse = self.run_as_part(case)
        else:
            outcome, excuse = self.run_as_input(case)
        problems = []
        if outcome.code < 0:
            problems.append(f"ended by signal {-outcome.code}")
        elif outcome.code == 0:
            if not excuse:
                problems.append("was taken as valid")
        else:
            # A log that can be read may be none that the settings fit.
            usage = outcome.code == 2 and case.role in ("edges", "plan") and excuse
            if outcome.code not in REFUSALS and not usage:
                problems.append(f"exit code {outcome.code}")
            if outcome.line is None:
                problems.append("not one printable line")
            elif len(outcome.line) > MAX_LETTERS:
                problems.append(f"a line of {len(outcome.line)} letters")
        # On a loaded machine a process waits; what it works is what counts then.
        if min(outcome.seconds, outcome.processor_seconds) > MAX_SECONDS:
            problems.append(f"{outcome.seconds:.1f} s")
        if outcome.peak_bytes > MAX_BYTES:
            problems.append(f"{outcome.peak_bytes >> 20} MB")
        return problems, outcome, excuse

    def run_as_input(self, case):
        shutil.rmtree(self.place, ignore_errors=True)
        if case.role == "file":
            command, _, kind = case.command.partition("-")
            if command == "import":
                out = ["--out", self.folder / "imported"]
                return self.program.call("import", kind, case.file, *out, "--quiet"), ""
            return self.program.call("inspect", case.file), "a footer that can be read"
        names, id_type = own_names(case.file) if case.variant == "own" else ({}, pa.int64())
        outcome = self.program.call(*self.arguments(case, names, id_type))
        return outcome, self.valid_input(case, names)

    def arguments(self, case, names, id_type):
        """A command that reads the file as an input beside others that are right."""
        own = {"node": "node", "feature": "x", "label": "label", "time": "time", **names}
        flags = ["--input.random_features", "2", "--partition.predictions", "2", "--quiet"]
        flags += ["--train.epochs", "1", "--train.hidden", "4", "--run.threads", "1"]
        flags += ["--run.directory", self.place]
        inputs = {"edges": self.companion("edges", id_type, src="src", dst="dst", time="time")}
        match case.role:
            case "edges" | "plan":
                own |= {"src": own["node"], "dst": own["node"]} if names else {}
                inputs["edges"] = case.file
            case "features":
                inputs["features"] = case.file
                flags = flags[2:]
            case "feature_updates":
                time = own["time"]
                inputs["edges"] = self.companion("edges", id_type, src="src", dst="dst", time=time)
                features = {"node": own["node"], "x": own["feature"]}
                inputs["features"] = self.companion("features", id_type, **features)
                inputs["feature_updates"] = case.file
                flags = flags[2:]
            case "labels":
                inputs["labels"] = case.file
            case "split":
                labels = {"node": own["node"], "label": "label"}
                inputs["labels"] = self.companion("labels", id_type, **labels)
                inputs["split"] = case.file
                flags += ["--train.split_by", "file"]
                own["label"] = "label"
            case "validate":
                inputs = dict.fromkeys(
                    ["edges", "features", "feature_updates", "labels"], case.file
                )
                own |= {"src": own["node"], "dst": own["node"]} if names else {}
                flags = ["--quiet"]
        for role, file in inputs.items():
            flags += [f"--input.{role}", file]
        for key, name in own.items():
            if case.role in ("edges", "plan", "validate", "feature_updates") or key != "time":
                flags += [f"--input.{key}", name]
        commands = {"plan": "plan", "validate": "validate", "labels": "run", "split": "run"}
        return [commands.get(case.role, "embed"), *flags]

    def companion(self, kind, id_type, **names):
        """A valid file whose columns have these names."""
        nodes = pa.array(range(30)).cast(id_type)
        columns = {
            "src": nodes,
            "dst": nodes[::-1],
            "time": pa.array(range(30)),
            "node": nodes,
            "x": pa.array([[1.0, float(i)] for i in range(30)], pa.list_(pa.float32())),
            "label": pa.array([f"class {i % 3}" for i in range(30)]),
        }
        path = self.folder / f"{kind}-{id_type}-{abs(hash(tuple(names.values())))}.parquet"
        arrays = [columns[key] for key in names]
        pq.write_table(pa.Table.from_arrays(arrays, names=list(names.values())), path)
        return path

    @staticmethod
    def valid_input(case, names):
        """Why a file is a valid input, where it is one: what is read of it can be read."""
        read = {"labels": ["node", "label"]}.get(case.role, ["node", "time"])
        columns = [names[key] for key in read if key in names]
        if not columns or case.role not in ("edges", "plan", "labels"):
            return ""
        try:
            file = pq.ParquetFile(case.file, page_checksum_verification=True)
            file.read(columns=columns).validate(full=True)
        except (pa.ArrowException, OSError, UnicodeDecodeError):
            return ""
        return "its columns are whole"

    def run_as_part(self, case):
        run = self.whole.copy(self.place)
        shutil.copyfile(case.file, run / case.role)
        if case.variant == "fitted":
            fit_manifest(run, [case.role])
        outcome = self.call(case.command, run, case.role)
        excuse = ""
        if outcome.code == 0 and case.command != "verify":
            found, sound = data_files(run), dict(self.sound_files(case.command, case.role))
            # The file itself may have been left as it is, or kept with an earlier training;
            # nothing else may differ.
            for name in (case.role, f"trainings/coden-1/{case.role}"):
                if name in found and (run / name).read_bytes() == case.file.read_bytes():
                    sound[name] = found[name]
            if found == sound:
                footer = case.command == "inspect-file"
                excuse = "a footer that can be read" if footer else "is not read"
        elif outcome.code == 0 and case.variant == "fitted":
            excuse = "is what the manifest says"
        return outcome, excuse

    def call(self, command, run, name):
        if command == "inspect-file":
            return self.program.call("inspect", run / name)
        return self.program.call(*self.whole.command(command, run))

    def sound_files(self, command, name):
        """What a command leaves when nothing is wrong."""
        if (command, name) not in self.sound:
            run = self.whole.copy(self.place.with_name("sound"))
            outcome = self.call(command, run, name)
            assert outcome.code == 0, outcome.stderr
            self.sound[command, name] = data_files(run)
        return self.sound[command, name]


def run_cases(cases, say=lambda *_: None):
    """Run the cases; what was counted, the problems, and the largest figures."""
    counts = collections.Counter()
    failures = []
    largest = {"seconds": 0.0, "processor seconds": 0.0, "MB": 0, "letters": 0}
    with tempfile.TemporaryDirectory(dir=SCRATCH) as folder, Forked() as program:
        bench = Bench(folder, program)
        for case in cases:
            problems, outcome, excuse = bench.run_case(case)
            counts["calls"] += 1
            said = f": {excuse}" if outcome.code not in REFUSALS else ""
            counts[f"exit code {outcome.code}{said}"] += 1
            largest["seconds"] = max(largest["seconds"], outcome.seconds)
            largest["processor seconds"] = max(
                largest["processor seconds"], outcome.processor_seconds
            )
            largest["MB"] = max(largest["MB"], outcome.peak_bytes >> 20)
            largest["letters"] = max(largest["letters"], len(outcome.line or ""))
            if problems:
                failures.append((str(case), problems, outcome.stderr[-500:]))
                say(case, problems, repr(outcome.stderr[:300]))
    return counts, failures, largest


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--share", type=float, default=1.0, help="of all cases, drawn by the seed")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="cases whose description has this text")
    options = parser.parse_args()
    draw = random.Random(options.seed)
    cases = [case for case in all_cases() if options.only in str(case)]
    cases = [case for case in cases if draw.random() < options.share]
    start = time.monotonic()
    counts, failures, largest = run_cases(cases, print)
    for what, count in [*sorted(counts.items()), *largest.items()]:
        print(f"{what:40} {count:.4g}")
    print(f"{'failures':40} {len(failures)}")
    print(f"{'seconds':40} {time.monotonic() - start:.0f}")
    raise SystemExit(bool(failures))


if __name__ == "__main__":
    main()
