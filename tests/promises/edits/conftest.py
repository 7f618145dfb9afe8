"""Fixtures for edits."""

from __future__ import annotations

import zlib

import bpy
import pytest

# A test with more cases than this is a product of edits and settings, of which a part is run.
_MOST_CASES = 20


def pytest_collection_modifyitems(config, items):
    """Runs each edit and each setting at least once, unless tests are named; `hunt.py` draws from all combinations."""
    if any("::" in argument for argument in config.args):
        return
    products = {}
    for item in items:
        if hasattr(item, "callspec") and len(item.callspec.params) > 1 and "edits" in item.module.__name__:
            products.setdefault(item.function, []).append(item)
    left_out = set()
    for cases in products.values():
        if len(cases) > _MOST_CASES:
            seen = set()
            for item in sorted(cases, key=lambda item: zlib.crc32(item.name.encode())):
                values = [(name, repr(value)) for name, value in item.callspec.params.items()]
                if seen.issuperset(values):
                    left_out.add(item)
                seen.update(values)
    if left_out:
        config.hook.pytest_deselected(items=[item for item in items if item in left_out])
        items[:] = [item for item in items if item not in left_out]


@pytest.fixture
def on_each_frame():
    """A function that has another one called on each frame, as add-ons do for secondary motion."""
    handlers = bpy.app.handlers.frame_change_post
    before = list(handlers)
    yield handlers.append
    handlers[:] = before
