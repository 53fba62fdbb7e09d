"""Help, flags and the log on standard error: the same in every command."""

import json
import re
import subprocess
import time

import pyarrow as pa
import pytest
from conftest import PROGRAM, ROOT

USAGE = 2
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
# What each command needs besides flags, to be taken as far as its flags.
COMMANDS = {
    "init": [],
    "run": [],
    "plan": [],
    "validate": [],
    "embed": [],
    "schedule": [],
    "commit": [],
    "train": [],
    "predict": [],
    "report": [],
    "experiment": ["accuracy"],
    "generate": ["sbm"],
    "verify": ["run"],
    "import": ["edges", "e.csv"],
    "inspect": ["run"],
    "settings": [],
}
# Without results, or with one table.
NO_TABLE = {"init", "validate", "schedule", "generate", "verify", "settings"}


def sections(text):
    """Sections of settings that a help text lists."""
    return set(re.findall(r"^  --(\w+)\.\w+", text, re.MULTILINE))


def test_short_flags_work_everywhere(coden):
    general, version = coden("--help"), coden("--version")
    assert general.code == version.code == 0 and general.stderr == version.stderr == ""
    assert coden("-h") == general and coden("help") == general and coden("-q", "-h") == general
    assert coden("-V") == version and re.fullmatch(r"coden \S+\n", version.stdout)
    for name, words in COMMANDS.items():
        assert f"\n  {name} " in general.stdout
        help_text = coden(name, "--help")
        assert help_text.code == 0 and help_text.stdout.startswith(f"Usage: coden {name} ")
        assert coden(name, "-h") == coden(name, *words, "-h") == help_text
        assert coden("-h", name) == coden("help", name) == help_text
        assert coden(name, "-V") == version
    listed = coden("settings", "-q")
    assert listed.code == 0 and listed == coden("-q", "settings") == coden("settings")


@pytest.mark.parametrize("name", COMMANDS)
def test_help_lists_the_settings_that_a_command_uses(coden, name):
    used, every = (sections(coden(name, flag).stdout) for flag in ("--help", "--help-all"))
    if name in ("generate", "verify", "import", "inspect", "settings"):
        assert used == every == set()
        return
    assert every == sections(coden("settings").stdout) and "run" in used
    trains = name in ("init", "run", "plan", "train", "experiment")
    assert ("train" in used) == (trains or name == "validate")
    assert ("experiment" in used) == (name == "experiment")
    assert ("embed" in used) == (name not in ("validate", "report"))
    assert ("partition" in used) == (name != "report")


def test_validate_lists_the_settings_of_the_training_that_it_checks(coden):
    text = coden("validate", "--help").stdout
    used = set(re.findall(r"^  --train\.(\w+)", text, re.MULTILINE))
    assert used == {"split_by", "label_columns", "label_windows"}
    assert "Those that are not listed here are accepted and have no effect." in text


def test_flags_are_refused_where_they_mean_nothing(coden):
    commands = re.findall(r"^  ([a-z]+) ", coden("--help").stdout, re.MULTILINE)
    helps = {name: coden(name, "--help").stdout for name in commands}
    for flag, value, expected in [
        (
            "force",
            [],
            {"init", "run", "embed", "schedule", "train", "predict", "generate", "import"},
        ),
        ("resume", [], {"run", "train"}),
        ("format", ["json"], set(COMMANDS) - {"init", "schedule"}),
        ("table", ["needs"], set(COMMANDS) - NO_TABLE),
        ("compare", [], {"report"}),
        ("slices", ["4"], {"plan"}),
        ("seed", ["4"], {"generate"}),
    ]:
        takers = [
            name for name in commands if re.search(rf"^  --{flag}\b(?!\.)", helps[name], re.M)
        ]
        assert {name for name in takers if name in COMMANDS} == expected, flag
        for name in set(COMMANDS) - expected:
            outcome = coden(name, *COMMANDS[name], f"--{flag}", *value)
            assert outcome.code == USAGE and outcome.stdout == ""
            refusal = f"`coden {name}` does not take `--{flag}`; these commands do: "
            assert outcome.error.partition("; the setting is ")[0] == refusal + ", ".join(takers)
    assert coden("embed", "--seed", "1").error.endswith("; the setting is `--run.seed`")
    refused = coden("verify", "run", "--run.directory", "run")
    assert (
        refused.code == USAGE and "`coden verify` does not take `--run.directory`" in refused.error
    )


@pytest.mark.parametrize(
    "command, flag, nearest",
    [
        ("run", "--epsilon", "--embed.epsilon"),
        ("run", "--sample.epsilon", "--embed.epsilon"),
        ("run", "--alhpa", "--embed.alpha"),
        ("run", "--forse", "--force"),
        ("embed", "--quite", "--quiet"),
        ("train", "--train.epoch", "--train.epochs"),
        ("verify", "--hepl", "--help"),
    ],
)
def test_an_unknown_flag_names_the_nearest(coden, command, flag, nearest):
    outcome = coden(command, flag, "1")
    assert outcome.code == USAGE
    assert outcome.error == f"unknown flag `{flag}`; the nearest is `{nearest}`"


def test_flags_of_a_command_follow_its_name(coden):
    outcome = coden("--force", "run")
    assert outcome.code == USAGE and "`--force`" in outcome.error
    assert coden("--log-format", "json", "settings").code == 0
    for words in ([], ["-q"]):
        outcome = coden(*words)
        assert outcome.code == USAGE and outcome.stdout == ""
        assert outcome.error == "give a command; `coden --help` lists them"


@pytest.mark.parametrize(
    "arguments",
    [
        ["rnu"],
        ["run", "--nosuch", "1"],
        ["run", "--epsilon"],
        ["run", "--embed.alpha"],
        ["run", "--embed.alpha", "2"],
        ["run", "none.ini"],
        ["verify"],
        ["verify", "--force"],
        ["--force", "run"],
        ["settings", "--format", "yaml"],
    ],
)
def test_usage_errors_have_the_form_of_the_log(coden, arguments):
    for flags in (["--log-format", "json"], ["--log-format=json"]):
        for words in ([*flags, *arguments], [*arguments[:1], *flags, *arguments[1:]]):
            if arguments[0] == "--force" and words[0] == "--force":
                continue
            outcome = coden(*words)
            assert outcome.code == USAGE and outcome.stdout == ""
            (line,) = outcome.stderr.splitlines()
            error = json.loads(line)
            assert list(error) == ["time", "level", "exit_code", "message"]
            assert TIME.fullmatch(error["time"])
            assert (error["level"], error["exit_code"]) == ("error", USAGE)
    assert error["message"] == coden(*arguments).error


def test_log_lines_have_time_and_level(coden, inputs):
    outcome = coden("run", *inputs.flags("--log-format", "json"))
    assert outcome.code == 0, outcome.stderr
    lines = [json.loads(line) for line in outcome.stderr.splitlines()]
    assert {line["event"] for line in lines} >= {"begin", "end"}
    for line in lines:
        assert list(line)[:2] == ["time", "level"] and line["level"] in ("info", "warning")
        assert TIME.fullmatch(line["time"])
    failed = coden("run", *inputs.flags("--log-format", "json", "--input.src", "nosuch"))
    error = json.loads(failed.stderr.splitlines()[-1])
    assert (error["level"], error["exit_code"]) == ("error", failed.code) == ("error", 3)
    plain = coden("run", *inputs.flags("--input.labels", ""))
    assert plain.code == 0 and "note: " in plain.stderr
    assert all(TIME.match(line) and line[20] == " " for line in plain.stderr.splitlines())


def test_warnings_have_a_level_of_their_own(coden, inputs):
    """What is probably not meant: dropped rows, ids that hardly match, times in another unit."""
    edges = inputs["edges"]
    late = edges.set_column(2, "time", pa.array([9, *range(599)]))
    inputs["edges"] = late.set_column(0, "src", pa.array([1, 1, *edges["src"].to_pylist()[2:]]))
    inputs["edges"] = inputs["edges"].set_column(
        1, "dst", pa.array([2, 1, *edges["dst"].to_pylist()[2:]])
    )
    nodes = pa.array([*range(20), *range(1000, 1030)])
    inputs["labels"] = inputs["labels"].set_column(0, "node", nodes)
    flags = ["--input.late", "drop", "--graph.window", "1000000", "--train.inputs", "features"]
    outcome = coden("run", *inputs.flags(*flags, "--log-format", "json"))
    assert outcome.code == 0, outcome.stderr
    lines = [json.loads(line) for line in outcome.stderr.splitlines()]
    warnings = "\n".join(line["message"] for line in lines if line["level"] == "warning")
    for words in [
        "rows came late: dropped",
        "self loops: dropped",
        "`graph.window` = 1000000 is longer than the log",
        "labels: 40.0 % of the rows (20 of 50) name a node",
    ]:
        assert words in warnings
    notes = [line for line in lines if line.get("event") == "note" and line["level"] == "info"]
    assert any("report: " in line["message"] for line in notes)
    assert all(line["event"] == "note" for line in lines if line["level"] == "warning")
    inputs.run = inputs.run.parent / "text"
    plain = coden("run", *inputs.flags(*flags))
    told = [line[21:] for line in plain.stderr.splitlines() if line[21:].startswith("warning: ")]
    assert "\n".join(line.removeprefix("warning: ") for line in told) == warnings
    inputs.run = inputs.run.parent / "quiet"
    assert coden("run", *inputs.flags(*flags, "--quiet")).stderr == ""


@pytest.mark.parametrize("log", ["text", "json"])
def test_a_stage_is_a_line_every_few_seconds_and_one_when_it_ends(coden, inputs, log):
    flags = ["--train.epochs", "300", "--train.patience", "0", "--train.hidden", "8"]
    start = time.monotonic()
    outcome = coden("run", *inputs.flags(*flags, "--train.protocol", "shared", "--log-format", log))
    assert outcome.code == 0, outcome.stderr
    allowed = 2 + (time.monotonic() - start) / 5
    lines = outcome.stderr.splitlines()
    if log == "json":
        of_training = [line for line in map(json.loads, lines) if line.get("step") == "train"]
        assert of_training[0]["event"] == "begin" and of_training[-1]["event"] == "end"
    else:
        of_training = [line for line in lines if line[20:].startswith(" train: ")]
        assert "300 epochs" in of_training[0] and "done in" in of_training[-1]
    assert 2 <= len(of_training) <= allowed


def test_an_epoch_is_shown_with_its_loss_after_a_few_seconds(coden, inputs):
    flags = inputs.flags("--train.protocol", "shared", "--train.epochs", "1000000")
    flags += ["--train.patience", "0"]
    process = subprocess.Popen(
        [PROGRAM, "run", *flags], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
    )
    lines = iter(process.stderr)
    assert any(" train: 1,000,000 epochs" in line for line in lines)
    start = time.monotonic()
    line = next(lines)
    assert " train: " in line and "loss " in line and ", validation " in line
    assert time.monotonic() - start > 4
    process.kill()
    process.communicate()


SCRIPTS = [
    "examples/from_csv.sh",
    "examples/quickstart.sh",
    "tests/fuzz/run.sh",
    "tests/property/run.sh",
    "tests/reliability.sh",
    "tests/run.sh",
    "tests/sanitize.sh",
    "tools/build.sh",
    "tools/check.sh",
    "tools/setup.sh",
]


@pytest.mark.parametrize("script", SCRIPTS)
def test_scripts_have_help_and_refuse_unknown_arguments(script):
    def call(argument):
        words = ["bash", ROOT / script, argument]
        return subprocess.run(words, capture_output=True, text=True, timeout=10, cwd="/")

    for flag in ("-h", "--help"):
        done = call(flag)
        assert (done.returncode, done.stderr) == (0, "") and f"{script} --help" in done.stdout
    # The first argument of that one is a folder.
    words = ["--nosuch"] if script == "tests/reliability.sh" else ["--nosuch", "nosuch"]
    for word in words:
        done = call(word)
        assert (done.returncode, done.stdout) == (USAGE, "") and f"'{word}'" in done.stderr
