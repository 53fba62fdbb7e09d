"""Check that includes between the folders of src/ point one way.

    .venv/bin/python tools/check_layers.py

A folder may include those before it in ORDER (src/README.md says what each is). Prints every
include that points the other way; exit code 1 where there is one.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
ORDER = (
    *("base", "settings", "store", "graph"),
    *("read", "partition", "sample", "embed", "snapshot", "state"),
    *("plan", "train", "report", "generate", "import"),
    *("pipeline", "experiment", "cli"),
)
INCLUDE = re.compile(r'#include "(?:coden/)?(\w+)/')


def main():
    rank = {folder: place for place, folder in enumerate(ORDER)}
    wrong = 0
    for base in (ROOT / "src", ROOT / "include/coden"):
        for path in sorted([*base.rglob("*.cc"), *base.rglob("*.h")]):
            folder = path.relative_to(base).parts[0]
            for number, line in enumerate(path.read_text().splitlines(), 1):
                found = INCLUDE.match(line)
                if found and rank.get(found[1], -1) > rank.get(folder, len(ORDER)):
                    shown = path.relative_to(ROOT)
                    print(f"{shown}:{number}: {folder} must not include {found[1]}: {line}")
                    wrong += 1
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
