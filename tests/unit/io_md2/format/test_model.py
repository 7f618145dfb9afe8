"""MD2 models as values."""

from __future__ import annotations

import numpy as np
import pytest
from md2_samples import make_model, odd_model

from io_idtech.io_md2.format import Md2Error, validate_model
from io_idtech.io_md2.format.model import (
    FRAME_HEADER_SIZE,
    VERTEX_SIZE,
    GlCommands,
    Model,
    first_frame,
    frame_dtype,
    is_in_range,
)


@pytest.mark.parametrize(("vertices", "size"), [(0, None), (3, None), (3, 100)])
def test_a_frame_takes_its_header_and_four_bytes_for_each_vertex(vertices, size):
    assert frame_dtype(vertices, size).itemsize == (size or FRAME_HEADER_SIZE + VERTEX_SIZE * vertices)


def test_a_grid_has_a_place_for_each_step_where_floats_hold_its_last_one():
    largest = np.finfo(np.float32).max
    scale = np.array([[1, largest, np.nan], [0, -1, np.inf]], np.float32)
    translate = np.array([[0, 0, 0], [largest, -largest, 0]], np.float32)
    assert is_in_range(scale, translate).tolist() == [[True, False, False], [True, True, False]]


def test_the_first_frame_alone_is_a_model_of_one_frame():
    model = odd_model()
    first = first_frame(model)
    assert (first.frame_count, first.vertex_count, first.triangle_count) == (
        1,
        model.vertex_count,
        model.triangle_count,
    )
    assert first.frame_names == model.frame_names[:1]
    np.testing.assert_array_equal(first.vertices[0], model.vertices[0])
    assert model.frame_count > 1


def test_a_model_is_equal_to_a_copy_and_to_nothing_else():
    assert make_model() == make_model()
    assert make_model() != make_model(3)
    assert make_model() != "a model"
    assert GlCommands() != 0


def test_integers_are_compared_by_value_and_floats_byte_for_byte():
    model, other = make_model(), make_model()
    other.st = other.st.astype(np.int32)
    assert model == other
    model.translate[0], other.translate[0] = 0.0, -0.0
    assert model != other


def test_lists_are_converted_and_arrays_of_the_right_type_are_shared():
    st = np.array([[0, 0], [63, 0], [0, 63]], np.int16)
    model = Model(
        skins=("one.pcx",),
        st=st,
        triangles=[[0, 1, 2]],
        triangle_st=np.array([[0, 1, 2]], np.uint64),
        scale=[[1, 1, 1]],
        translate=[[0, 0, 0.5]],
        frame_names=("hold",),
        vertices=[[[0, 0, 0], [1, 0, 0], [0, 1, 0]]],
        normals=[[0, 0, 0]],
        gl_commands=GlCommands([], [], []),
    )
    assert model.st is st
    assert (model.skins, model.frame_names) == (["one.pcx"], ["hold"])
    assert (model.triangles.dtype, model.triangle_st.dtype, model.scale.dtype) == (np.int32, np.int32, np.float32)
    assert (model.vertices.dtype, model.normals.dtype) == (np.uint8, np.uint8)
    validate_model(model)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("st", [[0.5, 1.0]]),
        ("triangles", [[0, 1], [2]]),
        ("scale", [["a", "b", "c"]]),
        ("vertices", [[[None, None, None]]]),
        ("translate", [[0, 0], [1]]),
    ],
)
def test_what_cannot_be_converted_is_an_error_that_names_the_attribute(name, value):
    with pytest.raises(Md2Error, match=f"^{name} "):
        Model(**{name: value})


def test_an_empty_model_has_nothing_to_draw():
    model = Model()
    assert (model.frame_count, model.vertex_count, model.triangle_count) == (0, 0, 0)
    assert model.gl_commands.word_count == 1
