"""Boxes around frames."""

from __future__ import annotations

import numpy as np
import pytest
from md2_samples import make_model, odd_model

from io_idtech.io_md2.format import Md2Error, decompress, frame_bounds, model_bounds


def test_boxes_are_those_of_the_positions_also_of_mirrored_frames():
    model = odd_model()
    assert (model.scale < 0).any()
    positions = decompress(model.vertices, model.scale, model.translate)
    np.testing.assert_array_equal(frame_bounds(model)[:, 0], positions.min(axis=1))
    np.testing.assert_array_equal(frame_bounds(model)[:, 1], positions.max(axis=1))
    np.testing.assert_array_equal(model_bounds(model)[0], positions.min(axis=(0, 1)))
    np.testing.assert_array_equal(model_bounds(model)[1], positions.max(axis=(0, 1)))


def test_a_model_without_vertices_or_frames_has_no_box():
    model = make_model(0)
    with pytest.raises(Md2Error, match="frame_names"):
        model_bounds(model)
    model = make_model()
    model.vertices, model.normals = model.vertices[:, :0], model.normals[:, :0]
    model.triangles, model.triangle_st = model.triangles[:0], model.triangle_st[:0]
    model.gl_commands = type(model.gl_commands)()
    with pytest.raises(Md2Error, match="vertices"):
        model_bounds(model)
