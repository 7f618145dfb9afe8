"""One validation: what it accepts can be written and read again, what it refuses is named by its attribute."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest
from md2_samples import make_model

from io_idtech.io_md2.format import (
    GlCommands,
    Md2Error,
    Model,
    check_model,
    describe,
    drawn_triangles,
    format_model,
    frame_bounds,
    parse_model,
    validate_model,
)

pytest.importorskip("hypothesis", reason="the property tests need hypothesis")
from hypothesis import given, settings
from hypothesis import strategies as st

quick = settings(max_examples=400)

ATTRIBUTES = [
    "skin_width",
    "skin_height",
    "skins",
    "st",
    "triangles",
    "triangle_st",
    "scale",
    "translate",
    "frame_names",
    "vertices",
    "normals",
]
COMMANDS = ["counts", "st", "vertices"]

numbers = st.sampled_from([0, 1, 2, 3, 4, -1, 255, 256, 32767, 32768, 65535, 65536, 2**31, np.nan, np.inf, 0.5, 1e38])
values = st.one_of(
    st.none(),
    st.integers(-(2**40), 2**40),
    st.text(max_size=20),
    st.lists(st.text(max_size=20), max_size=3),
    st.lists(st.lists(numbers, min_size=3, max_size=3), max_size=3),
    st.lists(st.lists(numbers, min_size=2, max_size=2), max_size=4),
    st.lists(numbers, max_size=4),
    st.just(np.zeros((2, 4, 3), np.int64)),
    st.just(np.zeros((2, 3), np.float64)),
    st.just(np.zeros((2, 4), bool)),
    st.just({"a": 1}),
)


@quick
@given(
    st.dictionaries(st.sampled_from(ATTRIBUTES), values, max_size=2),
    st.dictionaries(st.sampled_from(COMMANDS), values, max_size=1),
    st.dictionaries(
        st.sampled_from(["st", "triangles", "triangle_st", "scale", "translate", "vertices", "normals"]),
        st.tuples(st.integers(0, 100), numbers),
        max_size=2,
    ),
    st.booleans(),
)
@pytest.mark.slow
def test_what_can_be_written_can_be_read_and_all_else_is_an_error_of_the_format(
    replaced, commands, changed, constructs
) -> None:
    """Models with attributes of wrong types, shapes and values, given on construction or assigned later."""
    model = make_model()
    for name, (place, value) in changed.items():
        array = getattr(model, name).astype(np.float32 if name in ("scale", "translate") else np.int64)
        is_float = array.dtype == np.float32
        array.reshape(-1)[place % array.size] = value if is_float else np.clip(np.nan_to_num(value), 0, 2**40)
        setattr(model, name, array)
    try:
        if constructs:
            kept = {name: getattr(model, name) for name in ATTRIBUTES}
            gl = {name: getattr(model.gl_commands, name) for name in COMMANDS}
            model = Model(**(kept | replaced), gl_commands=GlCommands(**(gl | commands)))
        else:
            for name, value in replaced.items():
                setattr(model, name, value)
            for name, value in commands.items():
                setattr(model.gl_commands, name, value)
        data = format_model(model)
    except Md2Error as error:
        assert any(error.reason.startswith(name) for name in (*ATTRIBUTES, "gl_commands"))  # noqa: PT017
        if isinstance(model, Model):
            _fails_everywhere_or_is_found(model)
        return
    assert parse_model(data) == model
    assert not [finding for finding in check_model(model) if finding.code == "invalid_model"]


def _fails_everywhere_or_is_found(model: Model) -> None:
    """Checks, descriptions and boxes of a model that cannot be written raise nothing but Md2Error."""
    check_model(model)
    for function in (describe, frame_bounds, lambda model: drawn_triangles(model.gl_commands)):
        with contextlib.suppress(Md2Error):
            function(model)


@quick
@pytest.mark.slow
@given(st.sampled_from(ATTRIBUTES), values)
def test_a_model_that_cannot_be_written_has_an_error_in_its_check(name, value) -> None:
    model = make_model()
    setattr(model, name, value)
    try:
        validate_model(model)
    except Md2Error:
        assert any(finding.is_error for finding in check_model(model))
    else:
        assert parse_model(format_model(model)) == model
