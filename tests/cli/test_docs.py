"""What the pages name is there: commands, flags, settings, files. Their command lines run."""

import json
import os
import re
import shlex
import subprocess
import zlib

import pytest
from conftest import PROGRAM, ROOT

PAGES = [ROOT / "README.md", *sorted(ROOT.glob("docs/*.md")), ROOT / "python" / "README.md"]
FILE = re.compile(
    r"(?<![\w/.=:*-])((?:docs|examples|include|pipelines|python|schemas|src|tests|tools)/[\w./*-]*)"
)
FLAG = re.compile(r"(?<![\w-])--([a-z][\w.-]*)")
PREFIX = r"(?:\.venv/bin/|build/)?"
# Flags of torchrun, TensorBoard and GoogleTest that pages speak of, and places for settings.
FOREIGN = {"nnodes", "no-python", "nproc-per-node", "rdzv-backend", "rdzv-endpoint"}
FOREIGN |= {"logdir", "gtest_filter", "section.key", "section.name"}
FILE_ENDINGS = {"csv", "h", "json", "jsonl", "parquet", "py", "safetensors", "sh", "cc"}
SECONDS = 30  # for one command line

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


def parts(page):
    """The code of a page as (language, text): fenced and indented blocks, and inline code."""
    text = page.read_text()
    found = []

    def take(match):
        found.append((match[1].split(" ")[0], match[2]))
        return ""

    text = re.sub(r"^```(.*)\n(.*?)^```$", take, text, flags=re.DOTALL | re.MULTILINE)
    lines, indented = [], []
    for line in [*text.splitlines(), "end"]:
        if line.startswith("    ") or (indented and not line):
            indented.append(line[4:])
            continue
        if indented:
            found.append(("indented", "\n".join(indented)))
        indented = []
        lines.append(line)
    found += [("inline", span) for span in re.findall(r"`([^`]+)`", "\n".join(lines))]
    return found


def command_lines(page, name):
    """Lines that call a program, without comments and without what a listing says beside them."""
    for language, text in parts(page):
        if language in ("python", "ini"):
            continue
        lines = [text] if language == "inline" else text.replace("\\\n", " ").splitlines()
        for line in lines:
            line = " ".join(re.split(r"(?:^|\s)# | {3,}(?=\w)", line)[0].split())
            if re.match(rf"{PREFIX}{name} ", line):
                yield language, line


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
        if language == "ini":
            section = ""
            for line in text.splitlines():
                head = re.fullmatch(r"\[(\w+)\]", line)
                section = head[1] if head else section
                key = re.match(r"(\w+) *=", line)
                if key and f"{section}.{key[1]}" not in settings:
                    yield f"no such setting: {section}.{key[1]}"
        elif language != "python":
            for section, key in name.findall(text):
                if f"{section}.{key}" not in settings and key not in FILE_ENDINGS:
                    yield f"no such setting: {section}.{key}"


def unknown_flags(page, flags, settings):
    for _, line in command_lines(page, "coden"):
        command = line.split()[1]
        if command.startswith("-") or command == "COMMAND":
            continue
        if command not in flags:
            yield f"no such command: {line}"
            continue
        known = flags[command] | FOREIGN
        yield from (f"no flag --{flag}: {line}" for flag in FLAG.findall(line) if flag not in known)
    every = set.union(settings, *flags.values(), FOREIGN)
    sources = [
        *ROOT.glob("tests/**/*.py"),
        *ROOT.glob("python/coden/*.py"),
        *ROOT.glob("t*/**/*.sh"),
    ]
    texts = {path: path.read_text() for path in sources}
    every |= {flag for text in texts.values() for flag in re.findall(r"--([a-z][\w.-]*)", text)}
    for name in ("python", "bash"):
        for _, line in command_lines(page, name):
            script = ROOT / line.split()[1]
            beside = "".join(text for path, text in texts.items() if path.parent == script.parent)
            for flag in FLAG.findall(line) if script in texts else []:
                if f"--{flag}" not in beside:
                    yield f"no flag --{flag}: {line}"
    for language, text in parts(page):
        if language == "inline":
            yield from (f"no flag --{flag}" for flag in FLAG.findall(text) if flag not in every)


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
    if command in ("import", "init"):
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
        for language, line in command_lines(page, "coden")
        if language != "inline" or not names_a_flag_only(line)
    ]
    assert len(lines) > 40
    order = {"schedule": 1, "embed": 2, "commit": 3}
    for words in sorted(
        dict.fromkeys(map(tuple, lines)),
        key=lambda words: order.get(words[0], 4) if "runs/slices" in words else 0,
    ):
        run(folder, list(words))


def test_python_of_the_first_page_runs(folder, monkeypatch):
    monkeypatch.chdir(folder)
    for language, text in parts(ROOT / "README.md"):
        if language == "python":
            exec(compile(text, "README.md", "exec"), {})
