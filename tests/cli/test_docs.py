"""What the pages name is there: commands, flags, settings, files. Their command lines run."""

import json
import os
import re
import shlex
import subprocess
import zlib

import pytest
from conftest import PROGRAM, ROOT
from pages import FLAG, PAGES, called, command_lines, flags_in, flags_of, parts, script_named

FILE = re.compile(
    r"(?<![\w/.=:*-])((?:docs|examples|include|pipelines|python|schemas|src|tests|tools)/[\w./*-]*)"
)
# Flags of TensorBoard and GoogleTest that pages speak of, and places for settings.
FOREIGN = {"logdir", "gtest_filter", "section.key", "section.name"}
FILE_ENDINGS = {
    *("cc", "csv", "h", "html", "ini", "json", "jsonl", "parquet", "py", "safetensors", "sh", "so"),
}
# `embed.alpha`, `--embed.alpha` or `embed.alpha = 0.2` in running text, and what has other names of
# this form: a placeholder, objects of Python, keys of a file's metadata and tensors of a model.
NAME = re.compile(r"(?:--)?([a-z]\w*)\.([a-z]\w*)(?: ?=.*)?")
OTHERS = {"section", "coden", "torch", "model", "label_columns"}
SECONDS = 120  # for one command line, also on a busy machine

HOURS = "hours of benchmark"
EXTERNAL = "a program of others, on files that a test has written"
# Command lines that no test here runs, by how they begin: the test that does the same, or why none
# can. All others are lines of coden and run on small data.
NOT_RUN = {
    "bash examples/quickstart.sh": "tests/cli/test_examples.py::test_history_beats_the_snapshot",
    "bash tests/run.sh": "it runs this test",
    "bash tools/build.sh": "it builds the program before any test",
    "bash tests/reliability.sh": "hours; its steps are listed below",
    "bash tests/sanitize.sh": "builds the program and runs these tests with sanitizers",
    "bash tests/fuzz/run.sh": "builds with Clang; tests/fuzz/replay.cc replays its inputs",
    "bash tests/property/run.sh": "tests/property/run_property_test.cc: the same with fewer cases",
    "build/tests/test_property": "tests/property/run_property_test.cc: the same with fewer cases",
    "ninja -C build": "it builds the program before any test",
    "pip install": EXTERNAL,
    "tensorboard --logdir": "tests/cli/test_tensorboard.py::test_epochs_and_metrics_are_there",
    "meson test": "it runs the unit tests",
    "python -m pytest": "it runs such tests",
    "python -m coden.ray": "tests/python/test_ray.py::test_killed_workers_and_programs",
    "torchrun --no-python": "tests/cli/test_ranks.py::test_torchrun_starts_the_ranks",
    "python tests/bench/accuracy.py": "tests/bench/test_accuracy.py::test_table_of_a_small_set",
    "python tests/bench/baselines/run.py": (
        "tests/bench/baselines/test_baselines.py::test_table_of_a_small_set"
    ),
    "python tests/bench/cost.py": HOURS,
    "python tests/bench/embed_slices.py": HOURS,
    "python tests/bench/out_of_core.py": HOURS,
    "python tests/bench/paper_protocol.py": HOURS,
    "python tests/bench/peers.py": "tests/run.sh calls its short form",
    "python tests/bench/results.py": HOURS,
    "python tests/bench/scaling.py": HOURS,
    "python tests/bench/training.py": HOURS,
    "tests/bench/iterations.py": HOURS,
    "python tests/faults/determinism.py": "tests/faults/test_determinism.py::test_threads_and",
    "python tests/faults/disks.py": "tests/faults/test_disks.py::test_in_short",
    "python tests/faults/failures.py": "tests/faults/test_failures.py::test_every_failure",
    "python tests/faults/hostile.py": "tests/faults/test_hostile.py::test_every_file_in_some_roles",
    "python tests/faults/kills.py": "tests/faults/test_kills.py::test_twenty_kills",
    "python tests/faults/load.py": "tests/faults/test_load.py::test_a_slice_stays_under_its_limit",
    "python tests/faults/mutations.py": "tests/faults/test_mutations.py::test_two_hundred",
    "python tests/faults/races.py": "tests/faults/test_races.py::test_fifty_races",
    "python tests/faults/toxic_s3.py": "tests/faults/test_toxic_s3.py::test_what_passes_is_not",
}

SMALL = """
[run]
directory = runs/my
[input]
edges = data/edges.parquet
features = data/features.parquet
labels = data/labels.parquet
[graph]
events = signed
[partition]
initial = 0.5
predictions = 13
[train]
epochs = 1
hidden = 4
runs = 1
"""


@pytest.fixture(scope="session")
def flags(coden):
    """The flags of every command."""
    commands = coden("--help").stdout.partition("Flags")[0]
    found = {}
    for name in re.findall(r"^  ([a-z]+) ", commands, re.MULTILINE):
        outcome = coden(name, "--help-all")
        assert outcome.code == 0, outcome.stderr
        listed = r"^ +(?:-\w, )?--([a-z][\w.-]*)"
        found[name] = set(re.findall(listed, outcome.stdout, re.MULTILINE))
    assert len(found) > 10
    return found


@pytest.fixture(scope="session")
def settings(coden):
    return {one["key"] for one in json.loads(coden("settings", "--format", "json").stdout)}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_what_a_page_names_is_there(page, flags, settings):
    problems = [
        *missing_files(page),
        *unknown_settings(page, settings),
        *unknown_flags(page, flags, settings),
    ]
    assert not problems, "\n".join(problems)


def missing_files(page):
    text = page.read_text()
    for name in FILE.findall(text):
        name = name.rstrip(".-")
        # The target of a build has the name of its source.
        if not any(
            any(ROOT.glob(pattern)) for pattern in (name.rstrip("/"), f"tests/**/{name[6:]}.cc")
        ):
            yield f"no such file: {name}"
    for target, anchor in re.findall(r"\]\(([^)#:]*)#?([^)]*)\)", text):
        if ":" in anchor:
            continue
        path = page.parent / target if target else page
        if not path.exists():
            yield f"a link leads nowhere: {target}"
        elif anchor:
            heads = re.findall(r"^#+ (.*)$", path.read_text(), re.MULTILINE)
            slugs = [re.sub(r"[^\w -]", "", head.lower()).replace(" ", "-") for head in heads]
            if anchor not in slugs:
                yield f"{target} has no such heading: {anchor}"


def unknown_settings(page, settings):
    sections = {key.partition(".")[0] for key in settings}
    name = re.compile(rf"(?<![\w./-])({'|'.join(sections)})\.([a-z][a-z0-9_]*)(?![\w(*])")
    for language, text in parts(page):
        if language == "ini" or (language == "indented" and re.search(r"^\[\w+\]", text, re.M)):
            section = ""
            for line in text.splitlines():
                head = re.match(r"\[(\w+)\]\s*([#;].*)?$", line)
                section = head[1] if head else section
                key = re.match(r"\s*(\w+) *=", line)
                if head and section not in sections:
                    yield f"no such section: {section}"
                if key and f"{section}.{key[1]}" not in settings:
                    yield f"no such setting: {section}.{key[1]}"
        elif language != "python":
            for section, key in name.findall(text):
                if f"{section}.{key}" not in settings and key not in FILE_ENDINGS:
                    yield f"no such setting: {section}.{key}"
        # A name in running text is a setting unless it is a file or one of OTHERS.
        found = NAME.fullmatch(text) if language == "inline" else None
        if found and found[1] not in sections | OTHERS and found[2] not in FILE_ENDINGS:
            yield f"no such section: {found[1]}.{found[2]}"
        head = re.fullmatch(r"\[([a-z]+)\]", text) if language == "inline" else None
        if head and head[1] not in sections | OTHERS:
            yield f"no such section: {head[1]}"


@pytest.mark.parametrize(
    "text, problems",
    [
        ("    [embed]\n    alpha = 0.2\n    alhpa = 0.3\n", ["no such setting: embed.alhpa"]),
        (
            "    [embdd]\n    alpha = 0.2\n",
            ["no such section: embdd", "no such setting: embdd.alpha"],
        ),
        ("```ini\n[embed]   # comment\n  epsilonn = 1\n```\n", ["no such setting: embed.epsilonn"]),
        ("Set `embdd.alpha` to `embed.alpha`.", ["no such section: embdd.alpha"]),
        ("Set `--embdd.alpha` or `embdd.alpha = 0.2`.", ["no such section: embdd.alpha"] * 2),
        ("The section `[embdd]`, not `[embed]`.", ["no such section: embdd"]),
        ("Set `embed.alhpa`.", ["no such setting: embed.alhpa"]),
        ("    [run]\n    directory = runs/my\n\nor `edges.parquet`, `run.directory = a`.", []),
        ("    coden run p.ini\n    [1, 2]\n    x = 3\n", []),
    ],
)
def test_a_wrong_setting_of_a_page_is_found(settings, tmp_path, text, problems):
    page = tmp_path / "page.md"
    page.write_text(text)
    assert list(unknown_settings(page, settings)) == problems


def flags_that(program, words, flags, settings):
    """The flags that a call may have; None where nothing tells."""
    if program == "coden":
        return flags[words[0]] | FOREIGN if words[0] in flags else None
    if program == "-m coden.ray":
        return flags_of(program) | settings
    if program == "torchrun" or script_named(program):
        return flags_of(program)
    return FOREIGN


def unknown_flags(page, flags, settings):
    known = set.union(settings, *flags.values(), FOREIGN)
    for _, line in command_lines(page):
        for program, words in called(line):
            if program == "coden" and not words[0].startswith("-") and words[0] != "COMMAND":
                if words[0] not in flags:
                    yield f"no such command: {line}"
            taken = flags_that(program, words, flags, settings)
            known |= taken or set()
            if taken is not None:
                yield from (f"no flag --{f}: {line}" for f in flags_in(words) if f not in taken)
    # In running text: `peers.py --quick`, or a flag alone of a script that the page names.
    spoken = [text for language, text in parts(page) if language == "inline" and text.strip()]
    for script in filter(None, (script_named(text.split()[0]) for text in spoken)):
        if "argparse" in script.read_text():
            known |= flags_of(str(script.relative_to(ROOT)))
    for text in filter(FLAG.search, spoken):
        script = script_named(text.split()[0])
        taken = flags_of(str(script.relative_to(ROOT))) if script else known
        yield from (f"no flag --{f}: {text}" for f in FLAG.findall(text) if f not in taken)


@pytest.fixture(scope="module")
def folder(coden, tmp_path_factory):
    """Where command lines run: a small log, its pipeline file and a finished run."""
    folder = tmp_path_factory.mktemp("pages")
    flags = ["--nodes", "80", "--steps", "24", "--features", "6"]
    assert coden("generate", "sbm", "--out", folder / "data", *flags).code == 0
    (folder / "small.ini").write_text(SMALL)
    (folder / "e.csv").write_text("src,dst,time\n1,2,3\n2,3,4\n")
    (folder / "jodie.csv").write_text("user_id,item_id,timestamp,state_label,f\n0,0,0.0,0,0.5\n")
    (folder / "tgl").mkdir()
    (folder / "tgl" / "edges.csv").write_text(",src,dst,time,ext_roll\n0,1,2,3,0\n")
    (folder / "bin").mkdir()
    (folder / "bin" / "coden").symlink_to(PROGRAM.resolve())
    for directory in ("runs/my", "runs/other"):
        run(folder, ["run", "small.ini", "--run.directory", directory])
    return folder


def run(folder, words):
    environment = {**os.environ, "PATH": f"{folder / 'bin'}:{os.environ['PATH']}"}
    done = subprocess.run(
        ["coden", *words], cwd=folder, env=environment, capture_output=True, text=True,
        timeout=SECONDS,
    )  # fmt: skip
    assert done.returncode == 0, f"coden {shlex.join(words)}\n{done.stderr}"


def for_small_data(line):
    """The arguments of a command line, with names of ours in the place of those of the page."""
    line = re.sub(r"\[[^\]]*VALUE\]\.\.\.|\[[A-Z]\.\.\.\]|\[FLAG\]\.\.\.", "", line)
    line = re.sub(r"\bA:B\b", "0:6", line)
    line = re.sub(r"--out \S+", "--out made", line).replace("--train.runs 3", "--train.runs 1")
    words = [word.strip("[]").partition("|")[0] for word in shlex.split(line)][1:]
    command = words[0]
    given = {
        "SUITE": ["accuracy"],
        "PATH": ["runs/my"],
        "RUN": ["runs/my"],
        "RUN...": ["runs/other"],
        "FILE": ["jodie.csv" if "jodie" in words else "e.csv"],
        "FILE.csv": ["e.csv"],
        "FOLDER": ["tgl"],
        "LOG": ["data/edges.parquet"],
        "A": ["runs/my"],
        "B": ["runs/other"],
        "N": ["2"],
        "COMMAND": ["embed"],
        "e.parquet": ["data/edges.parquet"],
        "x.parquet": ["data/features.parquet"],
        "out": ["runs/out"],
    }
    found = []
    for word in words:
        if re.fullmatch(r"\d+:\d+", word):
            word = "0:6"  # all columns there are
        found += ["small.ini"] if word.endswith(".ini") else given.get(word, [word])
    if command in ("schedule", "commit") or "--embed.columns" in found:
        found += ["--run.directory", "runs/slices"]
    elif command in ("run", "embed", "train") and any("." in word for word in found[2:]):
        # A run that is there was made with other settings.
        found += ["--run.directory", f"runs/{zlib.crc32(line.encode())}"]
    if command == "init":
        found = ["made.ini" if word == "made" else word for word in found]
    if command in ("import", "init", "generate") and "--force" not in found:
        found += ["--force"]
    if command in ("import", "generate") and "--out" not in found and "--help" not in found:
        found += ["--out", "made"]
    takes_file = command not in ("init", "import", "generate", "verify", "inspect", "settings")
    says_inputs = {"small.ini", "--compare", "--input.edges"} & set(found)
    return found + (["small.ini"] if takes_file and not says_inputs else [])


def names_a_flag_only(line):
    """Whether a line in running text stands for a command, or a flag of it, and says no more."""
    words = line.split()
    return len(words) == 2 or words[-1] in ("--compare", "--slices")


def test_command_lines_run(folder):
    lines = [
        for_small_data(line)
        for page in PAGES
        for language, line in command_lines(page)
        if [program for program, _ in called(line)] == ["coden"]
        if language != "inline" or not names_a_flag_only(line)
    ]
    assert len(lines) > 50
    order = {"schedule": 1, "embed": 2, "commit": 3}
    for words in sorted(
        dict.fromkeys(map(tuple, lines)),
        key=lambda words: order.get(words[0], 4) if "runs/slices" in words else 0,
    ):
        run(folder, list(words))


def test_every_other_command_line_is_listed():
    """A line that no test runs is in the list above, which names nothing that is not there."""
    used = set()
    for page in PAGES:
        for _, line in command_lines(page):
            if [program for program, _ in called(line)] == ["coden"]:
                continue
            found = [begin for begin in NOT_RUN if f"{line} ".startswith(f"{begin} ")]
            assert found, f"{page.name}: run this line in a test, or list it: {line}"
            used.update(found)
    assert used == set(NOT_RUN), "no page has these lines any more"
    for reason in NOT_RUN.values():
        path, _, test = reason.partition("::")
        if path.startswith("tests/"):
            text = (ROOT / re.split(r"[: ]", path)[0]).read_text()
            assert f"def {test}" in text if test else text


def test_python_of_the_first_page_runs(folder, monkeypatch):
    monkeypatch.chdir(folder)
    for language, text in parts(ROOT / "README.md"):
        if language == "python":
            exec(compile(text, "README.md", "exec"), {})
