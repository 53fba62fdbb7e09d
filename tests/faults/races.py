"""Two processes start on one run directory at the same moment: one wins, the other says so.

python tests/faults/races.py --races 50
"""

import argparse
import collections
import pathlib
import shutil
import subprocess
import tempfile

from scenarios import PROGRAM, coden, committed


def race(num_races, writers=2):
    """Hold `num_races` races; what was counted on the way."""
    counts = collections.Counter()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        coden("generate", "rmat", "--out", folder / "data", "--scale", "10", "--features", "8")
        flags = ["--input.edges", folder / "data/edges.parquet", "--run.commit_interval", "0"]
        flags += ["--input.features", folder / "data/features.parquet", "--quiet"]
        coden("embed", *flags, "--run.directory", folder / "alone")
        expected = committed(folder / "alone")
        run = folder / "run"
        command = [PROGRAM, "embed", *map(str, flags), "--run.directory", str(run)]
        while counts["races"] < num_races:
            shutil.rmtree(run, ignore_errors=True)
            processes = [
                subprocess.Popen(
                    command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
                )
                for _ in range(writers)
            ]
            outcomes = [(process.communicate()[1], process.returncode) for process in processes]
            won = [errors for errors, code in outcomes if code == 0]
            lost = [errors for errors, code in outcomes if code != 0]
            assert won, outcomes
            for errors in lost:
                assert "another process is writing to" in errors, errors
                assert len(errors.strip().split("\n")) == 1, errors
            assert all(code in (0, 6) for _, code in outcomes), outcomes
            assert committed(run) == expected
            # Where one came so late that the other had finished, both succeed.
            counts["races" if lost else "too late to meet"] += 1
    return counts


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--races", type=int, default=50)
    for what, count in sorted(race(parser.parse_args().races).items()):
        print(f"{what:24} {count}")


if __name__ == "__main__":
    main()
