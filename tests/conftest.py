"""Skips what this environment cannot run, and says why."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest
from paths import CORPUS

HAS_BLENDER = find_spec("bpy") is not None

if not HAS_BLENDER:
    collect_ignore = ["promises"]


@pytest.fixture(scope="session")
def corpus() -> Path:
    """The folder of real files."""
    if not CORPUS.is_dir():
        pytest.skip(f"no real files at {CORPUS} (IO_IDTECH_CORPUS names another place)")
    return CORPUS
