"""Time, memory and bytes read of `coden embed` as a whole and in slices of its columns.

    .venv/bin/python tests/bench/embed_slices.py --folder DIR [--before PROGRAM] [--sets ...]

Every set is scheduled once per program; then its columns are embedded as one, two and four
slices, one after another, and as one `coden embed`. With --before another build of the
program does the same in turn, so that both see the same machine. Repeated; the least time
counts. Prints a table with the ratios, and how much of a slice is neither solving nor
writing. Claims guarded: docs/performance.md, "In slices".
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow.parquet as pq
from taken import Taken, run

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("CODEN_DATA", ROOT.parent / "shared" / "data"))
SLICES = (1, 2, 4)


def cut(columns: int, count: int) -> list[str]:
    edges = [columns * i // count for i in range(count + 1)]
    return [f"{a}:{b}" for a, b in zip(edges, edges[1:], strict=False)]


def solving(folder: Path) -> float:
    return sum(pq.read_table(folder / "work.parquet", columns=["seconds"])["seconds"].to_pylist())


@dataclass
class Row:
    name: str
    columns: int
    flags: list
    best: dict = field(default_factory=dict)  # by program and slices; 0: a whole run
    solved: dict = field(default_factory=dict)  # the same: seconds in the solver

    def measure(self, program: str, binary: Path, folder: Path) -> None:
        run_flags = [*self.flags, "--run.directory", folder]
        for count in (0, *SLICES):
            shutil.rmtree(folder, ignore_errors=True)
            if count == 0:
                taken = run(binary, "embed", *run_flags)
                solved = solving(folder)
            else:
                run(binary, "schedule", *run_flags)
                taken = Taken()
                for part in cut(self.columns, count):
                    taken = taken.then(run(binary, "embed", *run_flags, "--embed.columns", part))
                run(binary, "commit", *run_flags)
                solved = solving(folder)
            known = self.best.get((program, count))
            if known is None or taken.seconds < known.seconds:
                self.best[program, count] = taken
                self.solved[program, count] = solved
        shutil.rmtree(folder, ignore_errors=True)


def sets(folder: Path, names: list[str], program: Path) -> list[Row]:
    rows = []
    for name in names:
        if name == "rmat":
            if not (folder / "rmat/edges.parquet").exists():
                run(
                    program,
                    "generate",
                    "rmat",
                    "--out",
                    folder / "rmat",
                    "--scale",
                    20,
                    "--edges",
                    15_000_000,
                )
            flags = ["--input.edges", folder / "rmat/edges.parquet", "--input.random_features", 32]
            flags += ["--partition.predictions", 3, "--sample.max_per_interval", 2]
            rows.append(Row("R-MAT 1 M nodes, 15 M rows", 32, flags))
        else:
            columns = {"dblp": 128, "git_rust": 64}[name]
            rows.append(Row(name, columns, [ROOT / f"pipelines/{name}.ini"]))
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path, required=True, help="for logs and runs; large")
    parser.add_argument("--program", type=Path, default=ROOT / "build/coden")
    parser.add_argument("--before", type=Path, help="another build, to compare with")
    parser.add_argument("--sets", nargs="+", default=["dblp", "git_rust", "rmat"])
    parser.add_argument("--repetitions", type=int, default=3)
    args = parser.parse_args()
    os.environ.setdefault("CODEN_DATA", str(DATA))
    args.folder.mkdir(parents=True, exist_ok=True)
    programs = {"after": args.program} | ({"before": args.before} if args.before else {})
    rows = sets(args.folder, args.sets, args.program)
    heads = ["set", "slices", "program", "seconds", "CPU s", "peak MB", "read MB", "of one slice"]
    print("| " + " | ".join([*heads, "after / before"]) + " |")
    print("|" + "---|" * (len(heads) + 1))
    for row in rows:
        for _ in range(args.repetitions):
            for program, binary in programs.items():
                row.measure(program, binary, args.folder / "run")
        for count in (0, *SLICES):
            for program in sorted(programs, reverse=True):
                taken = row.best[program, count]
                of_one = taken.seconds / row.best[program, 1].seconds if count else None
                ratio = ""
                if program == "after" and "before" in programs:
                    ratio = f"{taken.seconds / row.best['before', count].seconds:.2f}"
                cells = [row.name, "whole run" if count == 0 else count, program]
                cells += [f"{taken.seconds:.2f}", f"{taken.cpu:.2f}", f"{taken.memory_mb:.0f}"]
                cells += [f"{taken.read_mb:.0f}", "" if of_one is None else f"{of_one:.2f}", ratio]
                print("| " + " | ".join(map(str, cells)) + " |", flush=True)
        outside = 1 - row.solved["after", 1] / row.best["after", 1].seconds
        print(f"{row.name}: {100 * outside:.1f} % of a slice is outside solving", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
