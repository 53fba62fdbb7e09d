"""Damage the files of a run at random and see whether anything gives a wrong result in silence.

    python tests/faults/mutations.py --count 10000
    python tests/faults/mutations.py --count 300 --processes     every call a process of its own

Every mutation changes one file of the run (two where they are exchanged). Then `verify` must
find it if a manifest names the file, and each command, as well as the Python package, must
either refuse the run in one line or give exactly what it gives for the run as it was.
"""

import argparse
import collections
import dataclasses
import hashlib
import os
import pathlib
import random
import shutil
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / "python"), str(ROOT / "tests" / "support")]
import coden  # noqa: E402
from forked import SCRATCH, Forked, Started  # noqa: E402
from manifests import committed_places, newest_manifest  # noqa: E402
from whole_run import COMMANDS, WholeRun, data_files  # noqa: E402

REFUSALS = {3, 5}
MAX_LETTERS = 650
# Commands that write nothing but pages about the run: what they print is their result.
READING = ["verify", "inspect", "report", "compare"]
PAGES = {"report": "run/report.html", "compare": "compare.html"}


def flip_bits(content, choose):
    changed = bytearray(content)
    for bit in choose.sample(
        range(8 * len(content)), min(choose.choice([1, 1, 2, 8]), len(content))
    ):
        changed[bit // 8] ^= 1 << (bit % 8)
    return bytes(changed)


def change_byte(content, choose):
    at = choose.randrange(len(content))
    return content[:at] + bytes([choose.randrange(256)]) + content[at + 1 :]


def truncate(content, choose):
    return content[: choose.choice([0, len(content) - 1, choose.randrange(len(content))])]


def zero_block(content, choose):
    size = choose.choice([16, 512, 4096])
    at = choose.randrange(max(1, len(content) // size + 1)) * size
    zeros = bytes(min(size, max(0, len(content) - at)))
    return content[:at] + zeros + content[at + len(zeros) :]


def swap_blocks(content, choose):
    size = choose.choice([8, 64, 512])
    blocks = [content[at : at + size] for at in range(0, len(content), size)]
    one, other = choose.randrange(len(blocks)), choose.randrange(len(blocks))
    blocks[one], blocks[other] = blocks[other], blocks[one]
    return b"".join(blocks)


def append_garbage(content, choose):
    return content + choose.randbytes(choose.choice([1, 8, 100, 4096]))


def repeat_part(content, choose):
    at = choose.randrange(len(content))
    return content[:at] + content[choose.randrange(len(content)) :]


CHANGES = [flip_bits] * 4 + [change_byte] * 2
CHANGES += [truncate, zero_block, swap_blocks, append_garbage, repeat_part]


@dataclasses.dataclass
class Mutation:
    """What was done to which files of a run."""

    kind: str
    names: list

    def __str__(self):
        return f"{self.kind} of {' and '.join(self.names)}"


def mutate(run, kinds, choose):
    """Change one file at random, or exchange two; None where nothing changed."""
    name, other = (choose.choice(choose.choice(kinds)) for _ in range(2))
    path = run / name
    content = path.read_bytes()
    draw = choose.random()
    # Without the newest manifest a run is what it was one commit before, and what no manifest
    # names may be missing.
    if draw < 0.03 and name in committed_places(run):
        path.unlink()
        return Mutation("removal", [name])
    if draw > 0.9:
        if content == (run / other).read_bytes():
            return None
        path.write_bytes((run / other).read_bytes())
        (run / other).write_bytes(content)
        return Mutation("exchange", [name, other])
    change = choose.choice(CHANGES)
    changed = change(content, choose) if content else append_garbage(content, choose)
    if changed == content:
        return None
    path.write_bytes(changed)
    return Mutation(change.__name__, [name])


def stamp_of(status):
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def stamps_of(run):
    """What tells whether a file was touched, by its name."""
    stamps = {}
    for folder, _, names in os.walk(run):
        for name in names:
            path = os.path.join(folder, name)
            stamps[os.path.relpath(path, run)] = stamp_of(os.stat(path))
    return stamps


def all_names(run):
    """The files of a run by kind, so that each kind is as likely as another."""
    kinds = collections.defaultdict(list)
    for path in sorted(run.rglob("*")):
        if path.is_file():
            name = str(path.relative_to(run))
            kind = name.split("/")[0]
            kinds[kind if kind in ("snapshots", "tensorboard") else name].append(name)
    # A manifest decides about all the others.
    manifest = str(newest_manifest(run).relative_to(run))
    return [kinds[kind] for kind in sorted(kinds)] + [[manifest]] * 4


def package_result(run):
    """Everything that the Python package reads of a run."""
    loaded = coden.load(run)
    snapshots = [loaded.snapshot(number) for number in range(loaded.num_snapshots)]
    tables = [loaded.schedule, loaded.predictions, loaded.metrics]
    model = loaded.model()
    return (
        # As texts: a score without nodes is NaN, which equals nothing.
        [str(table.to_pylist()) for table in tables],
        [(snapshot.nodes.to_pylist(), snapshot.embeddings.tolist()) for snapshot in snapshots],
        {name: value.tolist() for name, value in model.state_dict().items()},
        loaded.settings,
    )


class Bench:
    """The run that is damaged, and what its commands give while nothing is wrong."""

    def __init__(self, folder, whole):
        self.program = whole.program
        self.whole = whole
        self.run = pathlib.Path(folder) / "run"
        self.run.parent.mkdir()
        self.kinds = all_names(self.whole.run)
        self.committed = {*committed_places(self.whole.run)}
        self.committed.add(str(newest_manifest(self.whole.run).relative_to(self.whole.run)))
        self.sound = {}
        for command in [*COMMANDS, "package"]:
            self.whole.copy(self.run)
            code, _, self.sound[command] = self.call(command)
            assert code == 0, command
        self.stamps = stamps_of(self.whole.copy(self.run))

    def call(self, command):
        """Exit code, the problem with how it ended, and its result."""
        if command == "package":
            try:
                return 0, "", package_result(self.run)
            except coden.RunError as error:
                return 5, "" if str(error).isprintable() else "not one printable line", None
            except Exception as error:  # noqa: BLE001
                return 1, f"raised {type(error).__name__}: {error}", None
        outcome = self.program.call(*self.whole.command(command, self.run))
        if outcome.code != 0:
            return outcome.code, self.problem(outcome), None
        result = [data_files(self.run)]
        if command in READING:
            result.append(outcome.stdout)
        if command in PAGES:
            result.append((self.run.parent / PAGES[command]).read_bytes())
        return 0, "", result

    @staticmethod
    def problem(outcome):
        if outcome.code not in REFUSALS:
            return f"exit code {outcome.code}: {outcome.stderr[-300:]}"
        if outcome.line is None or len(outcome.line) > MAX_LETTERS:
            return f"not one printable line: {outcome.stderr[-600:]!r}"
        return ""

    def restore(self):
        """Have the run as it was made, by copying the files that were touched."""
        for name, stamp in stamps_of(self.run).items():
            if name not in self.stamps:
                (self.run / name).unlink()
            elif stamp != self.stamps[name]:
                self.copy_back(name)
        for name in self.stamps.keys() - stamps_of(self.run).keys():
            self.copy_back(name)

    def copy_back(self, name):
        target = self.run / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.unlink(missing_ok=True)
        shutil.copy2(self.whole.run / name, target)
        self.stamps[name] = stamp_of(target.stat())

    def equals_sound(self, command, result, damaged):
        """Whether a result is the sound one, but for files that are as they were `damaged`."""
        if command == "package":
            return result == self.sound[command]
        files, *rest = result
        sound_files, *sound_rest = self.sound[command]
        contents = [content for content in damaged.values() if content is not None]
        digests = {hashlib.sha256(content).hexdigest() for content in contents}
        left = {name for name, digest in files.items() if digest in digests}
        left |= {name for name, content in damaged.items() if content is None and name not in files}
        return (
            rest == sound_rest
            and {
                name
                for name in files.keys() | sound_files.keys()
                if files.get(name) != sound_files.get(name)
            }
            <= left
        )

    def check(self, mutation, commands):
        """What is wrong after a mutation, and how the commands ended."""
        problems, codes = [], {}
        damaged = {name: self.content(name) for name in mutation.names}
        before = {
            name: (self.run / name).read_bytes() for name in damaged if damaged[name] is not None
        }
        for number, command in enumerate(commands):
            if number > 0:
                self.restore()
                for name in mutation.names:
                    if name in before:
                        (self.run / name).write_bytes(before[name])
                    else:
                        (self.run / name).unlink(missing_ok=True)
            code, problem, result = self.call(command)
            codes[command] = code
            if problem:
                problems.append(f"{command}: {problem}")
            if code == 0:
                if not self.equals_sound(command, result, damaged):
                    problems.append(f"{command}: a silently different result")
            if command == "verify" and code == 0 and self.committed & set(mutation.names):
                problems.append("verify: did not find it")
        return problems, codes

    def content(self, name):
        path = self.run / name
        return path.read_bytes() if path.is_file() else None


def mutate_runs(count, seed=0, program=None, commands_each=1, say=lambda *_: None):
    """Damage a run `count` times; what was counted, and what went wrong."""
    choose = random.Random(seed)
    counts, failures = collections.Counter(), []
    with tempfile.TemporaryDirectory(dir=SCRATCH) as folder, program or Forked() as program:
        whole = WholeRun.make(f"{folder}/whole", program)
        benches = [Bench(f"{folder}/done", whole)]
        benches.append(Bench(f"{folder}/training", whole.with_training()))
        others = [*COMMANDS[1:], "package"]
        while counts["mutations"] < count:
            bench = benches[choose.random() < 0.2]
            bench.restore()
            mutation = mutate(bench.run, bench.kinds, choose)
            if mutation is None:
                continue
            commands = ["verify", *choose.sample(others, commands_each)]
            problems, codes = bench.check(mutation, commands)
            counts["mutations"] += 1
            counts[f"  {mutation.kind}"] += 1
            for command, code in codes.items():
                counts["calls"] += 1
                counts[f"  {command} refused" if code else f"  {command} gave the same"] += 1
            if problems:
                counts["failures"] += 1
                failures.append((str(mutation), problems))
                say(counts["mutations"], mutation, problems)
    return counts, failures


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--count", type=int, default=10000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--commands", type=int, default=1, help="beside verify, after each")
    parser.add_argument("--processes", action="store_true", help="start every call anew")
    options = parser.parse_args()
    start = time.monotonic()
    program = Started() if options.processes else Forked()
    counts, failures = mutate_runs(
        options.count,
        options.seed,
        program,
        options.commands,
        lambda *what: print(*what, flush=True),
    )
    for what, number in sorted(counts.items()):
        print(f"{what:32} {number}")
    print(f"{'failures':32} {len(failures)}")
    print(f"{'seconds':32} {time.monotonic() - start:.0f}")
    raise SystemExit(bool(failures))


if __name__ == "__main__":
    main()
