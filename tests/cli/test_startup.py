"""The program starts without LibTorch, which only training loads."""

import os
import pathlib
import re
import shutil
import subprocess

import pytest
from conftest import PROGRAM

MODULE = PROGRAM.with_name("coden_train.so")


def loaded_libraries(*arguments):
    """The files that the dynamic linker opened while the program ran."""
    done = subprocess.run(
        [PROGRAM, *map(str, arguments)],
        env={**os.environ, "LD_DEBUG": "files"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        check=True,
    )
    return set(re.findall(r"file=(\S+?)(?:\.so\S*)? \[\d+\];\s+generating link map", done.stderr))


def test_version_loads_no_libtorch():
    loaded = loaded_libraries("--version")
    assert not [name for name in loaded if "torch" in name]


def test_only_training_loads_libtorch(inputs):
    if not MODULE.exists():
        pytest.skip("this build has no training stage")
    flags = inputs.flags()
    embedded = loaded_libraries("embed", *flags)
    assert any("libarrow" in name for name in embedded)
    assert not [name for name in embedded if "torch" in name or "coden_train" in name]
    trained = loaded_libraries("train", *flags)
    assert [name for name in trained if "libtorch_cpu" in name]


def test_without_the_module_everything_else_works(inputs, tmp_path):
    program = tmp_path / "bin" / "coden"
    program.parent.mkdir()
    shutil.copy(PROGRAM, program)
    flags = inputs.flags()
    subprocess.run([program, "embed", *flags], check=True, capture_output=True)
    done = subprocess.run([program, "train", *flags], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "built without training" in done.stderr
    assert pathlib.Path(inputs.run, "snapshots").exists()


def test_a_module_that_cannot_be_loaded_is_one_line(inputs, tmp_path):
    program = tmp_path / "bin" / "coden"
    program.parent.mkdir()
    shutil.copy(PROGRAM, program)
    program.with_name(MODULE.name).write_bytes(b"not a library")
    done = subprocess.run(
        [program, "run", *inputs.flags()], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    errors = [line for line in done.stderr.splitlines() if "error: " in line]
    assert len(errors) == 1 and "training needs LibTorch, which cannot be loaded" in errors[0]
