"""Full and read-only disks, inputs that change: the form of disks.py that CI runs."""

import subprocess
import sys

import disks
import pytest

pytestmark = pytest.mark.skipif(
    not disks.can_mount(), reason="this machine does not let us mount a file system (unshare)"
)


@pytest.mark.parametrize("kind", ["disks", "inputs"])
def test_in_short(kind):
    command = [sys.executable, disks.__file__, "--count", "2", "--seed", "5", "--only", kind]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    expected = {"disks": "exit code 4", "inputs": "exit code 3"}[kind]
    assert expected in done.stdout, done.stdout
