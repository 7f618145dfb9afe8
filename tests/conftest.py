"""Skips what this environment cannot run, and says why."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

import pytest
from paths import CORPUS

HAS_BLENDER = find_spec("bpy") is not None

# Set in the processes among which pytest-xdist divides the tests.
WORKER = os.environ.get("PYTEST_XDIST_WORKER")

if WORKER:
    # Tests look at what is left in the temporary folder: no process may see the files of another. Blender asks for the
    # folder when it is loaded, which is later.
    _folder = tempfile.mkdtemp(prefix=f"io_idtech-{WORKER}-")
    os.environ.update(dict.fromkeys(("TMPDIR", "TEMP", "TMP"), _folder))
    tempfile.tempdir = None

if not HAS_BLENDER:
    collect_ignore = ["promises"]


@pytest.fixture(scope="session")
def corpus() -> Path:
    """The folder of real files."""
    if not CORPUS.is_dir():
        pytest.skip(f"no real files at {CORPUS} (IO_IDTECH_CORPUS names another place)")
    return CORPUS


@pytest.hookimpl(trylast=True)
def pytest_unconfigure() -> None:
    """Ends a process of pytest-xdist without Blender's own exit, which may hang; all results have been sent by then."""
    if WORKER and "bpy" in sys.modules:
        sys.stdout.flush()
        sys.stderr.flush()
        shutil.rmtree(tempfile.gettempdir(), ignore_errors=True)
        os._exit(0)
