"""The model compiler's search for strips and fans, in linear time."""

from __future__ import annotations

import numpy as np
import pytest
from md2_compiler import Arrays, slow_greedy_length
from md2_meshes import MESHES

from io_idtech.io_md2.format.glcommands import greedy_primitives


@pytest.fixture(params=MESHES, name="mesh")
def _mesh(request: pytest.FixtureRequest) -> Arrays:
    return MESHES[request.param]


def test_the_fast_search_gives_the_same_result_as_the_slow_one(mesh: Arrays) -> None:
    corners = mesh[0].astype(np.int64) * (int(mesh[1].max()) + 1) + mesh[1]
    counts, numbers = greedy_primitives(corners)
    assert len(numbers) == sum(map(abs, counts))
    assert 1 + len(counts) + 3 * len(numbers) == slow_greedy_length(mesh)
