"""What the fuzzer begins with is read without an error, so that it searches where files are good."""

from __future__ import annotations

import pytest
from targets import TARGETS


@pytest.mark.parametrize("reader", TARGETS)
def test_seeds_are_read(reader):
    target = TARGETS[reader]
    assert target.seeds
    for seed in target.seeds:
        target.read(seed)
