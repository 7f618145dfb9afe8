"""The fuzzer's seeds are read without an error, so that it starts from valid files."""

from __future__ import annotations

import pytest
from targets import TARGETS


@pytest.mark.parametrize("reader", TARGETS)
def test_seeds_are_read(reader):
    target = TARGETS[reader]
    assert target.seeds
    for seed in target.seeds:
        target.read(seed)
