"""Fixtures for edits."""

from __future__ import annotations

import bpy
import pytest


@pytest.fixture
def on_each_frame():
    """A function that has another one called on each frame, as add-ons do for secondary motion."""
    handlers = bpy.app.handlers.frame_change_post
    before = list(handlers)
    yield handlers.append
    handlers[:] = before
