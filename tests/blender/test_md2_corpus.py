"""Real MD2 models through Blender: every frame is shown as the formula says, and an untouched model comes back."""

from __future__ import annotations

import bpy
import pytest
from md2_judge import distance, each_readable_file, expected_vertices, import_model, shown_vertices, size_of

from io_md2.format import read_model

TOLERANCE = 1e-5

pytestmark = pytest.mark.corpus


@pytest.mark.parametrize("name", each_readable_file())
def test_every_frame_is_shown_as_the_formula_says(corpus, name):
    model = read_model(corpus / name)
    expected = expected_vertices(model)
    obj = import_model(corpus / name)
    keys = obj.data.shape_keys.key_blocks
    assert len(keys) == model.num_frames
    limit = TOLERANCE * size_of(expected)
    for frame in range(model.num_frames):
        bpy.context.scene.frame_set(frame)
        assert distance(shown_vertices(obj), expected[frame]) <= limit, f"frame {frame}"
