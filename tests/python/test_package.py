"""The package is typed, can be built, and its page says what is so."""

import json
import pathlib
import re
import shutil
import subprocess
import sys
import zipfile

import coden
import pytest
import xxhash
from handmade_model import HandmadeModel
from handmade_run import write_sealed
from small_run import ROOT, embed

PACKAGE = ROOT / "python"
README = (PACKAGE / "README.md").read_text()


def blocks(kind):
    found = re.findall(rf"^```{kind}\n(.*?)^```", README, re.DOTALL | re.MULTILINE)
    assert found
    return "\n".join(found)


@pytest.fixture
def page(tmp_path, monkeypatch):
    """What the names of the page are after its lines have run."""
    folder = embed(tmp_path)
    (tmp_path / "runs").mkdir()
    folder.rename(tmp_path / "runs" / "my")
    monkeypatch.chdir(tmp_path)
    names = {}
    exec(compile(blocks("python"), "README.md", "exec"), names)
    return names


def test_the_page_can_be_run(page):
    assert page["last"].prediction == 3 and len(page["nearest"]) == 5
    assert page["sequence"].embeddings.shape == (10, page["run"].num_snapshots, 5)
    assert page["every_second"].mask.any(axis=1).all()


def test_the_page_can_be_run_with_torch(page):
    pytest.importorskip("torch")
    exec(compile(blocks("python torch"), "README.md", "exec"), page)
    assert page["embeddings"].shape == page["sequence"].embeddings.shape


def commit_model(run):
    """Let the newest manifest name a model with random weights."""
    HandmadeModel().write(run / "model")
    manifest = max((run / "_coden").glob("manifest-*.json"))
    content = json.loads(manifest.read_text())
    for file in (run / "model").iterdir():
        data = file.read_bytes()
        digest = xxhash.xxh3_64(data).hexdigest()
        entry = {"path": f"model/{file.name}", "size": len(data), "xxh3": digest}
        content["parts"][0]["files"].append(entry)
    write_sealed(manifest, content)


def test_the_page_can_be_run_with_a_model(page, tmp_path):
    for package in ["torch", "safetensors", "onnxscript"]:
        pytest.importorskip(package)
    commit_model(tmp_path / "runs" / "my")
    page["run"] = coden.load("runs/my")
    exec(compile(blocks("python model"), "README.md", "exec"), page)
    assert (tmp_path / "model.onnx").stat().st_size > 1000
    assert page["table"].num_rows == len(page["last"].nodes) and page["some"].num_rows == 2
    by_history = page["model"](page["history"], [page["history"].shape[2] - 1])[:, 0]
    assert (page["logits"] - by_history).abs().max() < 1e-5


def test_mypy_strict(tmp_path):
    pytest.importorskip("mypy")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", f"--cache-dir={tmp_path}"],
        cwd=PACKAGE,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_wheel_has_every_module(tmp_path):
    setuptools = pytest.importorskip("setuptools")
    if int(setuptools.__version__.split(".")[0]) < 77:
        pytest.skip(f"setuptools {setuptools.__version__} is older than 77")
    ignored = shutil.ignore_patterns("__pycache__")
    copy = shutil.copytree(PACKAGE, tmp_path / "package", ignore=ignored)
    build = "import sys, setuptools.build_meta as b; print(b.build_wheel(sys.argv[1]))"
    done = subprocess.run(
        [sys.executable, "-c", build, tmp_path], cwd=copy, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    (wheel,) = tmp_path.glob("coden-*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    modules = {f"coden/{path.name}" for path in (PACKAGE / "coden").glob("*.py")}
    assert modules | {"coden/py.typed"} <= names


def test_one_version():
    number = re.search(r"^  version: '(.*)'", (ROOT / "meson.build").read_text(), re.MULTILINE)[1]
    assert coden.__version__ == number
    assert f'version = "{number}"' in (PACKAGE / "pyproject.toml").read_text()
    assert pathlib.Path(coden.__file__).parent == PACKAGE / "coden"
