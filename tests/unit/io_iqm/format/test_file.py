"""IQM files without Blender: reading, writing, and damaged files."""

from __future__ import annotations

import struct
from dataclasses import replace

import iqm_samples
import iqm_specification as specification
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from io_idtech.io_iqm.format import (
    FORMATS,
    ArrayType,
    FrameRange,
    Iqm,
    IqmError,
    VertexArray,
    animations_alone,
    describe,
    format_iqm,
    parse_iqm,
    read_iqm,
    validate_iqm,
    write_iqm,
)

FIELDS = {name: 16 + 4 * index for index, name in enumerate(specification.HEADER)}


@pytest.fixture
def iqm() -> Iqm:
    return iqm_samples.iqm()


def patched(data: bytes, **values: int) -> bytes:
    result = bytearray(data)
    for name, value in values.items():
        struct.pack_into("<I", result, FIELDS[name], value)
    return bytes(result)


def field(data: bytes, name: str) -> int:
    return struct.unpack_from("<I", data, FIELDS[name])[0]


def test_a_file_is_read_as_the_specification_says(iqm):
    data = format_iqm(iqm)
    found, expected = parse_iqm(data), specification.read(data)
    assert found.joint_names == [joint[0] for joint in expected.joints]
    assert found.joint_parents.tolist() == [joint[1] for joint in expected.joints]
    assert np.array_equal(found.joint_channels, np.array([joint[2] for joint in expected.joints], np.float32))
    assert np.allclose(found.channels(), expected.frames, atol=1e-9)
    for array in found.arrays:
        assert np.array_equal(array.values, expected.arrays[array.name or array.type])
    assert np.array_equal(found.triangles, expected.triangles)
    assert np.array_equal(found.adjacency, expected.adjacency)
    assert np.array_equal(found.bounds, np.array(expected.bounds, np.float32))
    ranges = [(one.name, one.first_frame, one.frame_count, one.frame_rate, one.flags) for one in found.animations]
    assert ranges == expected.anims
    for one, other in zip(found.meshes, expected.meshes, strict=True):
        sizes = ((one.first_vertex, one.vertex_count), (one.first_triangle, one.triangle_count))
        assert (one.name, one.material, *sizes) == other


def test_what_is_written_is_read_as_equal_contents(iqm, tmp_path):
    write_iqm(iqm, tmp_path / "a.iqm")
    assert read_iqm(tmp_path / "a.iqm") == iqm
    alone = animations_alone(iqm)
    assert parse_iqm(format_iqm(alone)) == alone
    assert parse_iqm(format_iqm(Iqm())) == Iqm()


@settings(max_examples=60)
@given(st.data())
@pytest.mark.slow
def test_arrays_of_any_component_type_survive(data):
    count = data.draw(st.integers(1, 5))
    arrays = []
    for kind in data.draw(st.lists(st.integers(2, 16), max_size=4)):
        dtype = data.draw(st.sampled_from(FORMATS))
        size = data.draw(st.integers(1, 5))
        raw = data.draw(st.binary(min_size=count * size * dtype.itemsize, max_size=count * size * dtype.itemsize))
        values = np.frombuffer(raw, dtype).reshape(count, size)
        if kind != ArrayType.BLEND_WEIGHTS or np.isfinite(values).all():
            name = data.draw(st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=9))
            arrays.append(VertexArray(kind, values, data.draw(st.integers(0, 2**32 - 1)), name if kind == 16 else ""))
    made = Iqm(arrays=arrays, comment=data.draw(st.binary(max_size=9)), flags=data.draw(st.integers(0, 2**32 - 1)))
    try:
        written = format_iqm(made)
    except IqmError:  # weights beyond 32 bits
        return
    assert parse_iqm(written) == made


@pytest.mark.parametrize("kind", [bytes, bytearray, lambda data: memoryview(bytearray(data))])
def test_the_contents_own_their_arrays_whatever_they_are_read_from(iqm, kind):
    data = kind(format_iqm(iqm))
    parsed, expected = parse_iqm(data), parse_iqm(bytes(data))
    if not isinstance(data, bytes):
        data[:] = bytes(len(data))
    assert parsed == expected
    parsed.triangles[0] = 0
    assert bytes(data) in (format_iqm(iqm), bytes(len(data)))


def test_all_bytes_of_unchanged_contents_are_preserved_on_request():
    data = iqm_samples.odd_bytes()
    iqm = parse_iqm(data, preserve=True)
    assert format_iqm(iqm) == data
    assert format_iqm(replace(iqm, preserved=None)) != data
    iqm.arrays[0].values[0, 0] += 1
    assert parse_iqm(format_iqm(iqm)) == iqm
    assert iqm.preserved == data


def test_texts_that_extensions_refer_to_stay_where_they_were(iqm):
    data = format_iqm(replace(iqm, text=b"\0an event\0"))
    found = parse_iqm(data)
    assert found.text.startswith(b"\0an event\0")
    assert format_iqm(found) == data


@pytest.mark.parametrize(("field_name", "value"), [("version", 1), ("version", 3)])
def test_other_versions_are_named_and_refused(iqm, field_name, value):
    with pytest.raises(IqmError, match=r"version") as caught:
        parse_iqm(patched(format_iqm(iqm), **{field_name: value}))
    assert (caught.value.offset, caught.value.found, caught.value.expected) == (16, str(value), "2")


def test_a_file_that_is_cut_off_anywhere_is_refused(iqm):
    data = format_iqm(iqm)
    for size in range(0, len(data), 13):
        with pytest.raises(IqmError):
            parse_iqm(data[:size], "cut.iqm")


@pytest.mark.parametrize("value", [1, 10**6, 2**31, 2**32 - 1])
def test_counts_and_offsets_outside_of_the_file_are_refused(iqm, value):
    data = format_iqm(iqm)
    optional = ("ofs_adjacency", "ofs_bounds")
    for name in FIELDS:
        if name in ("version", "filesize", "flags") or (value == 1 and name.startswith(("num_", *optional))):
            continue
        with pytest.raises(IqmError) as caught:
            parse_iqm(patched(data, **{name: value}))
        assert caught.value.offset is not None
        assert caught.value.found
        assert caught.value.expected


def test_sections_that_overlap_are_refused(iqm):
    data = format_iqm(iqm)
    with pytest.raises(IqmError, match="overlaps"):
        parse_iqm(patched(data, ofs_triangles=field(data, "ofs_adjacency")))


def test_a_list_of_extensions_that_returns_to_itself_is_refused(iqm):
    data = bytearray(format_iqm(iqm))
    first = field(data, "ofs_extensions")
    struct.pack_into("<I", data, first + 12, first)
    with pytest.raises(IqmError, match="returns to itself") as caught:
        parse_iqm(patched(data, num_extensions=2**32 - 1))
    assert caught.value.offset == first


def test_frames_that_take_no_bytes_have_a_limit(iqm):
    plain = replace(iqm, frames=np.zeros((3, 0), np.uint16), bounds=np.zeros((0, 8)), pose_masks=np.zeros(4, np.int32))
    plain.animations = [FrameRange("a", 0, 3, 24.0)]
    data = format_iqm(plain)
    with pytest.raises(IqmError, match="too many poses"):
        parse_iqm(patched(data, num_frames=2**31 - 1))


@pytest.mark.parametrize(
    ("section", "place", "layout", "value", "reason"),
    [
        ("ofs_triangles", 4 * 7, "<I", 99, "a vertex that does not exist"),
        ("ofs_triangles", 4 * 7, "<i", -1, "a vertex that does not exist"),
        ("ofs_joints", 48 * 2 + 4, "<i", 9, "a parent does not exist"),
        ("ofs_joints", 48 * 1 + 4, "<i", 2, "its own ancestor"),
        ("ofs_joints", 48 * 2 + 12, "<f", np.nan, "not finite"),
        ("ofs_poses", 88 * 2 + 8, "<f", np.inf, "not finite"),
        ("ofs_poses", 88 * 2 + 48, "<f", -np.inf, "not finite"),
        ("ofs_poses", 88 * 1 + 4, "<I", 1 << 10, "unknown bits"),
        ("ofs_meshes", 24 * 1 + 8, "<I", 55, "vertices that do not exist"),
        ("ofs_meshes", 24 * 1 + 20, "<I", 2**32 - 1, "triangles that do not exist"),
        ("ofs_anims", 20 * 1 + 8, "<I", 99, "frames that do not exist"),
        ("ofs_anims", 20 * 1 + 12, "<f", np.nan, "frame rate"),
    ],
)
def test_a_bad_value_is_named_with_its_place(iqm, section, place, layout, value, reason):
    data = bytearray(format_iqm(iqm))
    at = field(data, section) + place
    struct.pack_into(layout, data, at, value)
    with pytest.raises(IqmError, match=reason) as caught:
        parse_iqm(bytes(data), "bad.iqm")
    assert caught.value.offset in range(at - 20, at + 1)
    assert caught.value.path == "bad.iqm"


@pytest.mark.parametrize(
    ("array", "place", "layout", "value", "reason"),
    [
        (0, 4 * 5, "<f", np.nan, "not finite"),
        (4, 4 * 3, "<B", 200, "vertex 3 has a weight of a joint that does not exist"),
    ],
)
def test_a_bad_value_of_a_vertex_is_refused_with_its_place(iqm, array, place, layout, value, reason):
    data = bytearray(format_iqm(iqm))
    at = struct.unpack_from("<I", data, field(data, "ofs_vertexarrays") + 20 * array + 16)[0] + place
    struct.pack_into(layout, data, at, value)
    with pytest.raises(IqmError, match=reason) as caught:
        parse_iqm(bytes(data))
    assert (caught.value.offset, caught.value.found) == (at, str(value))


def test_other_numbers_that_are_not_finite_are_warned_of(iqm):
    iqm.array(ArrayType.NORMAL)[0] = np.nan
    iqm.bounds[0] = np.inf
    assert parse_iqm(format_iqm(iqm)).warnings == [
        "some values of the array NORMAL are not finite",
        "some bounds are not finite",
    ]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"joint_names": ["a"]}, "joint_parents has the wrong shape"),
        ({"joint_names": ["a\0", "b", "c", "d"]}, "a name cannot be written"),
        ({"joint_names": ["\ud800", "b", "c", "d"]}, "half a character"),
        ({"flags": -1}, "flags do not fit"),
        ({"adjacency": np.zeros((1, 3), np.int32)}, "adjacency"),
        ({"arrays": [VertexArray(0, np.zeros((3, 3), bool))]}, "a type that files cannot hold"),
    ],
)
def test_what_no_file_can_hold_is_named(iqm, change, words):
    with pytest.raises(IqmError, match=words):
        validate_iqm(replace(iqm, **change))


def test_names_that_are_not_utf_8_come_back(iqm):
    iqm.joint_names[1] = b"arm\xff".decode("utf-8", "surrogateescape")
    data = format_iqm(iqm)
    assert b"arm\xff\0" in data
    assert parse_iqm(data).joint_names == iqm.joint_names


def test_a_description_has_meshes_animations_and_findings(iqm):
    found = describe(format_iqm(iqm), "QUAKE3", "arm.iqm")
    assert found.facts["kind"] == "iqm"
    assert [one["name"] for one in found.facts["animations"]] == ["walk", "grow"]
    assert [one["material"] for one in found.facts["meshes"]] == ["models/body", "models/belt"]
    assert found.facts["arrays"][0] == "POSITION"
    assert [finding["code"] for finding in found.facts["findings"]] == ["array_wide"]
    assert "animation 'grow': 7 frames at 24, loops" in found.lines
