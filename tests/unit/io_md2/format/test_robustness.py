"""Reading any bytes returns a model or raises Md2Error; any model survives writing and reading."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from io_idtech.io_md2.format import GlCommands, Md2Error, Model, decompress, format_model, parse_model
from io_idtech.io_md2.format.model import is_in_range

pytest.importorskip("hypothesis", reason="the property tests need hypothesis")
from hypothesis import example, given, settings
from hypothesis import strategies as st

pytestmark = pytest.mark.slow

quick = settings(max_examples=150)

HEADER_NUMBERS = 17
EXTREMES = [0, 1, -1, 3, 4, 40, 67, 68, 255, 0xFFFF, 999_999_999, 2**31 - 1, -(2**31)]

# Names are bytes without NUL, at most as many as their fields hold.
letters = st.characters(min_codepoint=1, max_codepoint=255)
floats = st.floats(width=32, allow_nan=False, allow_infinity=False)


def array(draw, elements, dtype, *shape):
    count = int(np.prod(shape))
    return np.array(draw(st.lists(elements, min_size=count, max_size=count)), dtype).reshape(shape)


def indices(draw, below, *shape):
    return array(draw, st.integers(0, max(below - 1, 0)), np.int32, *shape)


@st.composite
def commands(draw, vertices):
    counts = draw(st.lists(st.integers(-4, 4).filter(bool), max_size=3)) if vertices else []
    corners = sum(map(abs, counts))
    return GlCommands(
        np.array(counts, np.int32),
        array(draw, st.floats(width=32), np.float32, corners, 2),
        indices(draw, vertices, corners),
    )


@st.composite
def models(draw):
    frames, vertices = draw(st.integers(1, 3)), draw(st.integers(0, 4))
    coordinates = draw(st.integers(0, 4))
    triangles = draw(st.integers(0, 3)) if vertices and coordinates else 0
    steps = st.integers(0, 255)
    return Model(
        skin_width=draw(st.integers(0, 2**31 - 1)),
        skin_height=draw(st.integers(0, 2**31 - 1)),
        skins=draw(st.lists(st.text(letters, max_size=64), max_size=3)),
        st=array(draw, st.integers(-(2**15), 2**15 - 1), np.int16, coordinates, 2),
        triangles=indices(draw, vertices, triangles, 3),
        triangle_st=indices(draw, coordinates, triangles, 3),
        scale=array(draw, floats, np.float32, frames, 3),
        translate=array(draw, floats, np.float32, frames, 3),
        frame_names=draw(st.lists(st.text(letters, max_size=16), min_size=frames, max_size=frames)),
        vertices=array(draw, steps, np.uint8, frames, vertices, 3),
        normals=array(draw, steps, np.uint8, frames, vertices),
        gl_commands=draw(commands(vertices)),
    )


def sample() -> bytes:
    rng = np.random.default_rng(8)
    return format_model(
        Model(
            skin_width=32,
            skin_height=32,
            skins=["skin.pcx"],
            st=rng.integers(0, 32, (4, 2)).astype(np.int16),
            triangles=np.array([[0, 1, 2], [2, 1, 3]], np.int32),
            triangle_st=np.array([[0, 1, 2], [2, 1, 3]], np.int32),
            scale=np.ones((2, 3), np.float32),
            translate=np.zeros((2, 3), np.float32),
            frame_names=["stand1", "stand2"],
            vertices=rng.integers(0, 256, (2, 4, 3)).astype(np.uint8),
            normals=rng.integers(0, 162, (2, 4)).astype(np.uint8),
            gl_commands=GlCommands(
                np.array([4], np.int32), np.zeros((4, 2), np.float32), np.array([0, 1, 2, 3], np.int32)
            ),
        )
    )


def try_to_read(data):
    """Reads the bytes; what is read must be fit for use, and must be the same once it was written."""
    try:
        model = parse_model(data)
    except Md2Error as error:
        found, text = error.found, str(error)
    else:
        found = text = None
        assert np.isfinite(decompress(model.vertices, model.scale, model.translate)).all()
        assert parse_model(format_model(model)) == model
    assert text is None or (found is not None and "byte" in text)


@quick
@given(models())
def test_any_model_is_read_as_it_was_written(model):
    if is_in_range(model.scale, model.translate).all():
        assert parse_model(format_model(model)) == model
    else:
        with pytest.raises(Md2Error, match="positions that are not finite"):
            format_model(model)


@quick
@given(st.binary(max_size=300))
@example(b"IDP2")
@example(b"IDP2\x08\0\0")
def test_any_bytes(data):
    try_to_read(data)
    try_to_read(b"IDP2\x08\0\0\0" + data)


@quick
@given(st.lists(st.tuples(st.integers(0, 5000), st.integers(0, 8), st.binary(max_size=6)), min_size=1, max_size=4))
def test_mutated_files(changes):
    data = sample()
    for place, removed, inserted in changes:
        place %= len(data)
        data = data[:place] + inserted + data[place + removed :]
    try_to_read(data)


@quick
@given(st.lists(st.tuples(st.integers(0, HEADER_NUMBERS - 1), st.sampled_from(EXTREMES)), min_size=1, max_size=3))
@example([(6, 999_999_999)])
@example([(10, 0x7FFFFFFF)])
@example([(6, 2**29), (4, 2**31 - 1)])
def test_headers_that_claim_anything(claims):
    data = bytearray(sample())
    for place, number in claims:
        struct.pack_into("<i", data, 4 * place, number)
    try_to_read(bytes(data))


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf"), 3e38, 1e-45])
def test_numbers_that_are_none_or_extreme(number):
    data = bytearray(sample())
    frame = struct.unpack_from("<i", data, 4 * 14)[0]
    for place in range(6):
        changed = data.copy()
        struct.pack_into("<f", changed, frame + 4 * place, number)
        try_to_read(bytes(changed))


@pytest.mark.filterwarnings("error")
def test_signalling_nans_are_refused_without_console_output():
    data = bytearray(sample())
    frame = struct.unpack_from("<i", data, 4 * 14)[0]
    data[frame : frame + 4] = b"\x01\0\x80\x7f"
    with pytest.raises(Md2Error, match="positions that are not finite"):
        parse_model(bytes(data))
