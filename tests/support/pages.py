"""The pages of the documentation: their code, their command lines and what these call."""

import functools
import os
import pathlib
import re
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted(ROOT.glob("docs/*.md")), ROOT / "python" / "README.md"]
FLAG = re.compile(r"(?<![\w-])--([a-z][\w.-]*)")
COMMAND = re.compile(
    r"(?:\.venv/bin/)?(?:(?:build/)?coden|bash|python3?|torchrun|pip|ninja|meson|tensorboard"
    r"|build/tests/\S+|(?:tests|tools|examples)/\S+\.(?:sh|py)) "
)


def parts(page):
    """The code of a page as (language, text): fenced and indented blocks, and inline code."""
    text = page.read_text()
    found = []

    def take(match):
        found.append((match[1].split(" ")[0], match[2]))
        return ""

    text = re.sub(r"^```([^\n]*)\n(.*?)^```$", take, text, flags=re.DOTALL | re.MULTILINE)
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


def command_lines(page):
    """Lines that call a program, without comments and without what a listing says beside them.

    A fenced block without a language is output.
    """
    for language, text in parts(page):
        if language not in ("inline", "indented", "sh", "bash"):
            continue
        lines = [text] if language == "inline" else text.replace("\\\n", " ").splitlines()
        for line in lines:
            line = " ".join(re.split(r"(?:^|\s)# | {3,}(?=\w)", line)[0].split())
            if COMMAND.match(line):
                yield language, line.removeprefix(".venv/bin/")


def called(line):
    """What a line calls, as pairs of a program or script and its arguments."""
    words = shlex.split(line)
    if words[0] == "torchrun":
        at = words.index("coden") if "coden" in words else len(words)
        yield "torchrun", words[1:at]
        words = words[at:]
    if not words:
        return
    if words[0] in ("bash", "python", "python3") and len(words) > 1:
        words = words[1:]
    name = "coden" if words[0] == "build/coden" else words[0]
    if name == "-m":
        name, words = f"-m {words[1]}", words[1:]
    yield name, words[1:]


def flags_in(words):
    return FLAG.findall(" ".join(words))


def script_named(name):
    """The script that a page calls by its path or its name alone; None where there is none."""
    if not name.endswith((".py", ".sh")):
        return None
    if (ROOT / name).is_file():
        return ROOT / name
    found = [
        path for top in ("tests", "tools", "examples") for path in ROOT.glob(f"{top}/**/{name}")
    ]
    return found[0] if len(found) == 1 else None


@functools.cache
def flags_of(program):
    """The flags in the help text of a script or a program that is not coden."""
    script = script_named(program)
    command = [pathlib.Path(sys.executable).parent / program]
    if program.startswith("-m "):
        command = [sys.executable, *program.split()]
        command += ["run"] if program == "-m coden.ray" else []
    elif script:
        command = ["bash" if script.suffix == ".sh" else sys.executable, script]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python")}
    done = subprocess.run(
        [*command, "--help"], capture_output=True, text=True, env=environment, cwd=ROOT, timeout=60
    )
    assert done.returncode == 0, f"{program} --help: {done.stderr}"
    return {"help", *FLAG.findall(done.stdout)}
