"""What each program makes of the snapshots of a run, for every layout: the expected cells.

.venv/bin/python tests/interop/table.py     writes them into docs/interop.md

test_readers.py runs the lines of that page and fails when a cell is no longer what it says.
"""

import pathlib
import re

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "interop.md"
BEGIN, END = "<!-- written by tests/interop/table.py -->\n", "<!-- end -->"

# Title of the section in the page -> the packages that its lines need.
READERS = {
    "pyarrow": ["pyarrow"],
    "DuckDB": ["duckdb"],
    "Polars": ["polars"],
    "pandas": ["pandas"],
    "Delta Lake": ["deltalake"],
    "Iceberg": ["pyiceberg", "sqlalchemy"],
    "Iceberg by snapshot": ["pyiceberg", "sqlalchemy"],
}
LAYOUTS = ["list", "fixed", "columns"]
# Precision of the values -> the flags that ask for it.
PRECISIONS = {"float32": [], "float16": ["--snapshot.precision", "float16"]}

SAME = "same numbers"
WITHOUT_SNAPSHOT = "same numbers, no column `snapshot`"
# (reader, precision) or (reader, layout, precision) -> the cell, where it is not "same numbers".
EXCEPTIONS = {
    ("Iceberg", "float32"): WITHOUT_SNAPSHOT,
    ("Iceberg", "float16"): WITHOUT_SNAPSHOT,
    ("Delta Lake", "float16"): "refused: Delta Lake has no float16",
}
# What a refusal says -> the reason in the cell.
REASONS = {"Invalid data type for Delta Lake: Float16": "Delta Lake has no float16"}


def expected(reader, layout, precision):
    whole_row = EXCEPTIONS.get((reader, precision), SAME)
    return EXCEPTIONS.get((reader, layout, precision), whole_row)


def refusal(error):
    """The cell for an exception of a reader."""
    text = str(error)
    reasons = [reason for words, reason in REASONS.items() if words in text]
    return "refused: " + (reasons[0] if reasons else text.splitlines()[0])


def snippet(reader):
    """The lines of Python that the page shows for a reader."""
    section = PAGE.read_text().split(f"\n## {reader}\n")[1]
    return re.search(r"```python\n(.*?)```", section, re.DOTALL)[1]


def markdown():
    columns = [
        (layout, precision, layout if precision == "float32" else f"{layout}, {precision}")
        for precision in PRECISIONS
        for layout in LAYOUTS
    ]
    lines = ["| | " + " | ".join(f"`{title}`" for _, _, title in columns) + " |"]
    lines.append("|---" * (len(columns) + 1) + "|")
    for reader in READERS:
        anchor = reader.lower().replace(" ", "-")
        cells = [expected(reader, layout, precision) for layout, precision, _ in columns]
        lines.append(f"| [{reader}](#{anchor}) | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def page():
    """The page with the table of now."""
    before, rest = PAGE.read_text().split(BEGIN)
    return before + BEGIN + markdown() + END + rest.split(END)[1]


if __name__ == "__main__":
    PAGE.write_text(page())
