"""What must not happen, whoever made the files: secrets told, paths out of the run followed."""

import base64
import hashlib
import os
import pathlib
import re
import shutil
import stat
import subprocess
import tempfile
import urllib.parse

import forked
import manifests
import pytest
from conftest import PROGRAM, ROOT
from pyarrow import fs

USAGE, INPUT, CORRUPTION, HISTORY = 2, 3, 5, 7
KEY, SECRET = "PLANTEDKEY", "plan/ted+SECRET&word"
ENCODED = urllib.parse.quote(SECRET, safe="")


def forms_of_secret():
    """The secret and its parts, as text, percent-encoded and in base64 at every alignment."""
    texts = [SECRET, ENCODED, ENCODED.lower(), "SECRET", KEY]
    for shift in range(3):
        # Letters that also depend on what stands before and behind are left out.
        coded = base64.b64encode(bytes(shift) + SECRET.encode()).decode()
        texts.append(coded[4:-4])
    return [text.encode() for text in texts]


def assert_no_secret(*places):
    forms = forms_of_secret()
    for place in places:
        if isinstance(place, str):
            contents = {"a stream": place.encode()}
        else:
            files = [path for path in pathlib.Path(place).rglob("*") if path.is_file()]
            contents = {path: path.read_bytes() for path in files}
            contents |= {f"the name {path}": str(path).encode() for path in files}
        for where, content in contents.items():
            for form in forms:
                assert form not in content, f"{form} in {where}"


@pytest.fixture
def tmp_path():
    """Where syncing takes no time, if there is such a place."""
    with tempfile.TemporaryDirectory(dir=forked.SCRATCH) as folder:
        yield pathlib.Path(folder)


@pytest.fixture(scope="module")
def program():
    """The program, forked for every call, which is ten times as fast as to start it."""
    with forked.Forked() as server:
        yield server.call


SMALL = ["--train.epochs", "1", "--train.hidden", "4", "--partition.predictions", "2"]


@pytest.fixture
def bucket(endpoint, tmp_path):
    """A bucket that is reached with the secret in the URI: its filesystem, and a URI by name."""
    options = {"endpoint_override": endpoint, "scheme": "http", "region": "us-east-1"}
    store = fs.S3FileSystem(
        access_key=KEY, secret_key=SECRET, allow_bucket_creation=True, **options
    )
    name = f"b{hashlib.sha256(str(tmp_path).encode()).hexdigest()[:12]}"
    store.create_dir(name)

    def uri(path, place=name):
        return f"s3://{KEY}:{ENCODED}@{place}/{path}?endpoint_override={endpoint}&scheme=http"

    return fs.SubTreeFileSystem(name, store), uri


def test_no_secret_of_inputs_in_a_bucket_is_told(program, bucket, inputs, tmp_path):
    store, uri = bucket
    inputs.flags()
    for name in ("edges", "features", "labels"):
        with store.open_output_stream(f"{name}.parquet") as file:
            file.write(inputs.path(name).read_bytes())
    out = tmp_path / "out"
    out.mkdir()
    pipeline = tmp_path / "secret.ini"
    pipeline.write_text(
        "[input]\n"
        + "".join(
            f"{name} = {uri(name + '.parquet')}\n" for name in ("edges", "features", "labels")
        )
        + f"[run]\ndirectory = {out / 'run'}\n[report]\ntensorboard = true\n"
    )
    calls = [
        (0, ["run", pipeline, *SMALL, "--log-format", "json"]),
        (0, ["run", pipeline, *SMALL]),
        (0, ["plan", pipeline, *SMALL]),
        (0, ["validate", pipeline, *SMALL]),
        (0, ["inspect", uri("edges.parquet")]),
        (0, ["inspect", out / "run", "--format", "json"]),
        (0, ["report", "--compare", out / "run", out / "copy", "--out", out / "compare.html"]),
        (INPUT, ["embed", pipeline, *SMALL, "--input.src", "nosuch"]),
        (INPUT, ["validate", pipeline, *SMALL, "--input.edges", uri("nosuch.parquet")]),
        (INPUT, ["inspect", uri("nosuch.parquet"), "--log-format", "json"]),
        (HISTORY, ["train", pipeline, *SMALL, "--embed.alpha", "0.5"]),
        (None, ["embed", pipeline, *SMALL, "--run.directory", uri("run", "nosuchbucket")]),
        (None, ["report", "--run.directory", uri("nosuch-run")]),
        (None, ["verify", uri("nosuch-run")]),
    ]
    for code, arguments in calls:
        if "--compare" in arguments:
            shutil.copytree(out / "run", out / "copy")
        outcome = program(*arguments)
        assert outcome.code == code or (code is None and outcome.code != 0), outcome.stderr
        assert_no_secret(outcome.stdout, outcome.stderr)
    assert_no_secret(out)
    with pytest.raises(AssertionError):
        assert_no_secret(pipeline.read_text())
    # The settings that were saved still say where the inputs are.
    assert "s3://***@" in (out / "run" / "_coden" / "settings.ini").read_text()


def test_no_secret_of_a_wrong_command_or_file_is_told(tmp_path):
    secret = f"s3://{KEY}:{SECRET}@bucket/x"
    encoded = f"nosuch://{KEY}:{ENCODED}@bucket/x?secret_key={ENCODED}"
    lines = {
        "unknown.ini": f"[input]\nedgez = {secret}\n",
        "wrong.ini": f"[run]\nseed = {secret}\n",
        "broken.ini": f"[input\nedges {secret}\n",
        "section.ini": f"[{secret}]\nedges = 1\n",
        "scheme.ini": f"[input]\nedges = {encoded}\n[run]\ndirectory = {tmp_path / 'r'}\n",
    }
    for name, text in lines.items():
        (tmp_path / name).write_text(text)
    environment = {"AWS_SECRET_ACCESS_KEY": SECRET, "AWS_ACCESS_KEY_ID": KEY}
    log = tmp_path / "log.parquet"
    log.write_bytes(b"PAR1")
    calls = [["embed", tmp_path / name] for name in lines]
    # Nobody is there to be asked.
    nowhere = "endpoint_override=127.0.0.1:1&scheme=http"
    for value in (f"{secret}?{nowhere}", f"{encoded}&{nowhere}"):
        calls += [
            ["embed", "--input.edges", value, "--run.directory", tmp_path / "r"],
            ["embed", "--input.edges", log, "--run.directory", value],
            ["embed", "--input.edgez", value],
            ["embed", "--run.seed", value],
            ["embed", f"--run.seed={value}", "--log-format", "json"],
            ["embed", value],
            [value],
            ["inspect", value],
            ["import", "edges", value, "--out", tmp_path / "r"],
            ["generate", "sbm", "--out", tmp_path / "g", "--nodes", value],
            ["report", "--compare", value, value + "x", "--out", tmp_path / "compare.html"],
            ["experiment", value, tmp_path / "wrong.ini"],
        ]
    with forked.Forked(environment) as server:
        for arguments in calls:
            outcome = server.call(*arguments)
            assert outcome.code > 0, (arguments, outcome.stderr)
            assert_no_secret(outcome.stdout, outcome.stderr)
    for path in lines:
        (tmp_path / path).unlink()
    assert_no_secret(tmp_path)


def contents(folder):
    """Every file below a folder, with what it holds and when it was changed."""
    return {
        path: (path.read_bytes(), path.stat().st_mtime_ns) if path.is_file() else None
        for path in sorted(pathlib.Path(folder).rglob("*"))
    }


@pytest.fixture(scope="module")
def made(program):
    """A finished run, with the flags that made it but for its folder."""
    with tempfile.TemporaryDirectory(dir=forked.SCRATCH) as folder:
        yield make_run(program, pathlib.Path(folder))


def make_run(program, folder):
    program("generate", "sbm", "--out", folder, "--nodes", "40", "--steps", "6", "--quiet")
    flags = [*SMALL, "--quiet"]
    for name in ("edges", "features", "labels"):
        flags += [f"--input.{name}", folder / f"{name}.parquet"]
    assert program("run", *flags, "--run.directory", folder / "run").code == 0
    return folder / "run", flags


NAMES = {
    "parent": "../victim.parquet",
    "inner parent": "state/../../victim.parquet",
    "absolute": "{victim}",
    "dot": "./state/nodes.parquet",
    "empty step": "state//nodes.parquet",
    "folder": "state/",
    "nothing": "",
    "NUL": "state/nodes.parquet\0x",
    "backslash": "..\\victim.parquet",
}


@pytest.mark.parametrize("what", NAMES)
@pytest.mark.parametrize("key", ["path", "staged"])
def test_manifests_that_name_other_places_are_refused(program, made, tmp_path, what, key):
    run, flags = made
    run = pathlib.Path(shutil.copytree(run, tmp_path / "run"))
    victim = tmp_path / "victim.parquet"
    shutil.copy2(run / "schedule.parquet", victim)
    manifest = manifests.read_manifest(run)
    record = manifests.records(manifest)[0]
    record[key] = NAMES[what].format(victim=victim)
    manifests.write_manifest(run, manifest)
    before = contents(tmp_path)
    for arguments in (["verify", run], ["embed", *flags, "--run.directory", run]):
        outcome = program(*arguments)
        assert outcome.code == CORRUPTION, (arguments, outcome.stderr)
        assert outcome.line
    before.pop(run / "_coden" / "lock", None)
    after = contents(tmp_path)
    after.pop(run / "_coden" / "lock", None)
    assert {k: v for k, v in after.items() if v} == {k: v for k, v in before.items() if v}


LINKS = ["snapshots", "snapshots/snapshot=000000", "state", "model", "_coden/stage"]
LINKS += ["schedule.parquet", "predictions.parquet", "_coden/lock", "state/history"]
LINKS += ["state/history/changes-000000.parquet"]
LINKS += ["model/model.safetensors", "report.html", "_coden"]


@pytest.mark.parametrize("name", LINKS)
def test_links_out_of_a_run_are_not_followed(program, made, tmp_path, name):
    run, flags = made
    run = pathlib.Path(shutil.copytree(run, tmp_path / "run"))
    outside = tmp_path / "outside" / pathlib.Path(name).name
    outside.parent.mkdir()
    if (run / name).exists():
        shutil.move(run / name, outside)
    else:
        outside.mkdir()
        (outside / "keep").write_text("of somebody else")
    (run / name).symlink_to(outside)
    before = contents(outside.parent)
    for arguments in (
        ["verify", run],
        ["inspect", run],
        ["train", *flags, "--run.directory", run, "--train.epochs", "2"],
        ["report", "--run.directory", run, "--quiet"],
        ["embed", *flags, "--run.directory", run, "--embed.alpha", "0.3", "--force"],
    ):
        outcome = program(*arguments)
        assert outcome.code in (0, USAGE, INPUT, CORRUPTION, HISTORY), (arguments, outcome.stderr)
        assert contents(outside.parent) == before, f"{arguments[0]} changed what a link leads to"
    committed = name in manifests.committed_names(made[0]) or name in (
        "snapshots",
        "state",
        "model",
    )
    if committed:
        # Once forced, the run has files of its own in the place of the link, or was refused.
        fresh = tmp_path / "again"
        shutil.copytree(made[0], fresh)
        if (fresh / name).is_dir():
            shutil.rmtree(fresh / name)
        else:
            (fresh / name).unlink()
        (fresh / name).symlink_to(outside)
        assert program("verify", fresh).code == CORRUPTION


def test_what_is_written_is_not_for_everybody_to_change(made, tmp_path):
    """With no mask at all; temporary files are checked where they are made."""
    _, flags = made
    run = tmp_path / "run"
    done = subprocess.run(
        [PROGRAM, "run", *map(str, flags), "--run.directory", run, "--report.tensorboard", "true"],
        preexec_fn=lambda: os.umask(0),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    open_to_all = [path for path in [run, *run.rglob("*")] if path.stat().st_mode & stat.S_IWOTH]
    assert open_to_all == []


SCANNED = {
    "src": (
        ("*.cc", "*.h"),
        r"\b(std::)?system\s*\(|\bpopen\s*\(|\bexec[lv]p\s*\(|\bexecl\s*\(|/bin/sh|\btmpnam\s*\("
        r"|\bmktemp\s*\(|\bgets\s*\(|\bsprintf\s*\(|\bstrcpy\s*\(|torch::(jit::)?load|pickle_load",
    ),
    "python": (
        ("*.py",),
        r"\bpickle\b(?!\))|(?<!safetensors\.)torch\.load\s*\(|(?<!\.)\beval\s*\(|(?<!\.)\bexec\s*\("
        r"|shell\s*=\s*True|os\.system|\bsubprocess\b|yaml\.load|allow_pickle\s*=\s*True",
    ),
}


@pytest.mark.parametrize("folder", SCANNED)
def test_no_shell_and_nothing_that_runs_what_it_reads(folder):
    patterns, forbidden = SCANNED[folder]
    for pattern in patterns:
        for path in (ROOT / folder).rglob(pattern):
            for number, line in enumerate(path.read_text().splitlines(), 1):
                found = re.search(forbidden, line)
                if folder == "python" and "no pickle" in line:
                    continue
                # A task of Ray is a call of the program, by its arguments.
                if path.name == "ray_task.py" and found and found.group() == "subprocess":
                    continue
                assert not found, f"{path}:{number}: {line.strip()}"
