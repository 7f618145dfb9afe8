"""Fixtures for the command line."""

from __future__ import annotations

import shutil
import subprocess

import pytest


@pytest.fixture
def small_disk(tmp_path):
    """A disk of 24 kB, where this process may make one."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=24k", "tmpfs", str(folder)]
    if shutil.which("mount") is None or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("no disk of its own can be mounted here")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)
