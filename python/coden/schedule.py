"""Which snapshots a run has, and whose files make them up."""

from collections.abc import Iterable
from typing import NamedTuple

import pyarrow as pa

from coden.errors import RunError


class Planned(NamedTuple):
    """A row of the schedule."""

    number: int
    base: int
    """The snapshot whose file holds the rows that this one's file leaves out; itself if none."""
    prediction: int
    at_prediction: bool
    time: int


class Schedule:
    def __init__(self, table: pa.Table, name: str):
        """`name` is how messages call the file."""
        self.table, self._name = table, name
        columns = ["snapshot", "snapshot", "prediction", "at_prediction", "time"]
        if "base" in table.column_names:
            columns[1] = "base"
        missing = set(columns) - set(table.column_names)
        if missing:
            raise RunError(f"'{name}' is not a schedule: no column {min(missing)}")
        rows = zip(*(table[column].to_pylist() for column in columns), strict=True)
        self._planned = {row[0]: Planned(*row) for row in rows}
        self._at_prediction = {
            planned.prediction: planned.number
            for planned in self._planned.values()
            if planned.at_prediction
        }

    def __len__(self) -> int:
        return len(self._planned)

    @property
    def numbers(self) -> list[int]:
        return list(self._planned)

    def snapshot(self, number: int) -> Planned:
        planned = self._planned.get(number)
        if planned is None:
            has = _range(self._planned)
            raise RunError(f"'{self._name}' has no snapshot {number!r}: it has {has}")
        base = self._planned.get(planned.base)
        if base is None or base.base != base.number:
            rule = "must be a whole snapshot"
            raise RunError(f"'{self._name}': base of snapshot {number} {rule}: {planned.base}")
        return planned

    def at_prediction(self, prediction: int) -> int:
        """Number of the snapshot taken at a prediction time."""
        number = self._at_prediction.get(prediction)
        if number is None:
            has = _range(self._at_prediction)
            raise RunError(f"'{self._name}' has no prediction {prediction!r}: it has {has}")
        return number


def _range(numbers: Iterable[int]) -> str:
    numbers = list(numbers)
    return f"{min(numbers)} to {max(numbers)}" if numbers else "none"
