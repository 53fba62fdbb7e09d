"""`input.from` and `input.until`: a run takes a part of the log and reads no more of it."""

import datetime

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

USAGE, INPUT = 2, 3
ROWS, PER_TIME = 400, 4
random = np.random.default_rng(3)
TIME = np.arange(ROWS) // PER_TIME
START = datetime.date(2024, 1, 1)
START_DAYS = (START - datetime.date(1970, 1, 1)).days
LOG = pa.table(
    {"src": random.integers(0, 30, ROWS), "dst": random.integers(0, 30, ROWS), "time": TIME}
)


def log(times):
    return LOG.set_column(2, "time", pa.array(times))


def day(number):
    return START + datetime.timedelta(days=int(number))


@pytest.fixture
def call(coden, tmp_path):
    """Run a command on a log, a table or a path; return the outcome and its snapshots."""
    folders = []

    def on(command, edges, *flags):
        folders.append(tmp_path / f"run-{len(folders)}")
        if isinstance(edges, pa.Table):
            path = tmp_path / f"edges-{len(folders)}.parquet"
            pq.write_table(edges, path, row_group_size=50)
            edges = path
        outcome = coden(
            *(command, "--run.directory", folders[-1], "--input.edges", edges),
            *("--input.random_features", "3", *flags),
        )
        files = sorted((folders[-1] / "snapshots").rglob("*.parquet"))
        values = {path.parent.name + path.name: pq.read_table(path).to_pydict() for path in files}
        return outcome, values

    return on


def check_part(call, edges, plain, begin, end, *flags):
    """Embedding `edges` with `flags` is embedding the times [begin, end) of the log."""
    outcome, snapshots = call("embed", edges, *flags)
    assert outcome.code == 0, outcome.stderr
    rows = (end - begin) * PER_TIME
    told = {
        "rows before `input.from`: not read": begin * PER_TIME,
        "rows from `input.until` on: not read": ROWS - end * PER_TIME,
    }
    for text, count in told.items():
        assert (f"note: {count} {text}\n" in outcome.stderr) == (count > 0)
    expected, of_part = call("embed", plain.slice(begin * PER_TIME, rows))
    assert expected.code == 0 and "not read" not in expected.stderr
    assert snapshots == of_part and snapshots


@pytest.mark.parametrize("begin, end", [(0, 40), (30, 71), (12, 100), (90, 100)])
def test_part_of_a_file(call, begin, end):
    limits = ["--input.from", str(begin)] if begin else []
    limits += ["--input.until", str(end)] if end < 100 else []
    check_part(call, LOG, LOG, begin, end, *limits)


DAYS = log(START_DAYS + TIME)
SECONDS = (START_DAYS + TIME) * 86400
TIMESTAMPS = {
    "date32": (pa.array(START_DAYS + TIME, pa.int32()).cast(pa.date32()), 1),
    "ms": (pa.array(SECONDS * 1000, pa.timestamp("ms")), 86400 * 1000),
    "us in Berlin": (pa.array(SECONDS * 10**6, pa.timestamp("us", "Europe/Berlin")), 86400 * 10**6),
}


@pytest.mark.parametrize("times, unit", TIMESTAMPS.values(), ids=TIMESTAMPS.keys())
def test_iso_limits(call, times, unit):
    plain = log((START_DAYS + TIME) * unit)
    limits = ["--input.from", day(20).isoformat(), "--input.until", f"{day(60)}T00:00:00Z"]
    check_part(call, log(times), plain, 20, 60, *limits)


def test_int96_has_no_statistics(call, tmp_path):
    path = tmp_path / "int96.parquet"
    table = log(pa.array(SECONDS * 10**9, pa.timestamp("ns")))
    pq.write_table(table, path, use_deprecated_int96_timestamps=True, row_group_size=50)
    limits = ["--input.from", str(day(20)), "--input.until", str(day(60))]
    check_part(call, path, log(SECONDS * 10**9), 20, 60, *limits)


def lake(folder, with_time):
    """One folder per day, whose files have a time column of their own or not."""
    for number in range(100):
        part = DAYS.slice(number * PER_TIME, PER_TIME)
        path = folder / f"time={day(number) if not with_time else number}"
        path.mkdir(parents=True)
        pq.write_table(part if with_time else part.drop_columns(["time"]), path / "0.parquet")
    return sorted(folder.glob("*/*.parquet"))


def spoil(path):
    """Overwrite everything but the footer."""
    content = bytearray(path.read_bytes())
    footer = int.from_bytes(content[-8:-4], "little") + 8
    content[4:-footer] = b"\xff" * (len(content) - footer - 4)
    path.write_bytes(content)


@pytest.mark.parametrize("with_time", [True, False], ids=["own times", "times of folders"])
def test_files_outside_are_not_read(call, tmp_path, with_time):
    begin, end = 30, 60
    for path in lake(tmp_path / "lake", with_time):
        key = path.parent.name.removeprefix("time=")
        number = int(key) if with_time else (datetime.date.fromisoformat(key) - START).days
        if not begin <= number < end:
            spoil(path)
    limits = ["--input.from", str(START_DAYS + begin), "--input.until", str(START_DAYS + end)]
    check_part(call, tmp_path / "lake", DAYS, begin, end, *limits)
    outcome, _ = call("validate", tmp_path / "lake", *limits)
    assert outcome.code == 0, outcome.stdout + outcome.stderr
    outcome, _ = call("embed", tmp_path / "lake")
    assert outcome.code == INPUT and "cannot read" in outcome.error


def test_empty_range(call):
    outcome, _ = call("embed", LOG, "--input.from", "100")
    assert outcome.code == INPUT
    assert outcome.error.endswith("choose other times: the log has 0 to 99")
    outcome, _ = call("validate", LOG, "--input.from", "100")
    assert outcome.code == INPUT


@pytest.mark.parametrize(
    "limits",
    [["--input.from", "2024-01-01"], ["--input.until", "x"], ["--input.from=9", "--input.until=9"]],
)
def test_limits_that_are_refused(call, limits):
    outcome, _ = call("embed", LOG, *limits)
    assert outcome.code == USAGE
    assert "`input." in outcome.error


def test_plan_and_validate_see_the_part(call):
    plan, _ = call("plan", LOG, "--input.from", "25", "--input.until", "50")
    assert plan.code == 0 and "100" in plan.stdout
    # Row 323 breaks a rule inside its row group, where no footer tells.
    spoiled = log(np.where(np.arange(ROWS) == 323, 79, TIME))
    assert call("validate", spoiled)[0].code == INPUT
    outcome, _ = call("validate", spoiled, "--input.until", "50")
    assert outcome.code == 0, outcome.stdout
    assert "rows outside" in outcome.stdout
