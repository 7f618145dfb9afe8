"""Reading any bytes returns a model or raises Md5Error; any model survives writing and reading."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from md5_samples import (
    ANIMATION,
    CAMERA,
    MESH,
    OLD_ANIMATION,
    OLD_MESH,
    assert_same_animation,
    assert_same_model,
    negative_w,
    random_parents,
)

from io_idtech.io_common.skeletal import skeleton, skinning
from io_idtech.io_common.skeletal.quaternions import normalise
from io_idtech.io_md5.format import (
    Animation,
    Camera,
    Joints,
    Md5Error,
    Mesh,
    Model,
    format_animation,
    format_camera,
    format_mesh,
    parse_animation,
    parse_camera,
    parse_mesh,
)
from io_idtech.io_md5.format.text.camera_file import timeline
from io_idtech.io_md5.format.text.scanner import Scan

pytestmark = pytest.mark.slow

pytest.importorskip("hypothesis", reason="the property tests need hypothesis")

SAMPLES = [MESH, ANIMATION, CAMERA, OLD_MESH, OLD_ANIMATION]

quick = settings(max_examples=150)


def read_or_refuse(read, data):
    """What is read, or nothing where the bytes are refused with place and reason; any other exception fails."""
    try:
        return read(data)
    except Md5Error as error:
        lines, line, reason = data.count(b"\n") + 1, error.line, error.reason
    assert reason
    assert 1 <= line <= lines
    return None


def try_to_read(data):
    """Reads the bytes both ways; what is read must also be fit for use and for writing."""
    model = read_or_refuse(parse_mesh, data)
    if model is not None:
        for mesh in model.meshes:
            vertices = skinning.skin(mesh, model.joints.positions, model.joints.orientations)
            assert np.isfinite(vertices).all()
        write_what_was_read(model, format_mesh, parse_mesh)
    animation = read_or_refuse(parse_animation, data)
    if animation is not None:
        positions, _ = skeleton.local_poses(animation)
        assert positions.shape == (animation.frame_count, len(animation.names), 3)
        assert animation.frame_rate > 0
        write_what_was_read(animation, format_animation, parse_animation)
    camera = read_or_refuse(parse_camera, data)
    if camera is not None:
        entries, _ = timeline(camera.cuts, camera.entry_count)
        assert entries.min() >= 0
        assert entries.max() < camera.entry_count
        write_what_was_read(camera, format_camera, parse_camera)


def write_what_was_read(result, write, read):
    try:
        data = write(result)
    except Md5Error as error:
        if "\\x00" not in str(error):  # a NUL is the only thing that is read and cannot be written
            raise
    else:
        read(data)


tokens = st.sampled_from(
    [
        b"MD5Version 10\n", b"commandline", b"numJoints", b"numMeshes", b"joints", b"mesh", b"shader", b"numverts",
        b"vert", b"tri", b"weight", b"numFrames", b"frameRate", b"numAnimatedComponents", b"hierarchy", b"bounds",
        b"baseframe", b"frame", b"bone", b"channel", b"name", b"cuts", b"camera", b"keys", b"bindpos",
        b"bindmat", b"parent", b"joint", b"attribute",
        b"{", b"}", b"(", b")", b'"', b'"a"', b'""', b"//", b"/*", b"*/", b"/",
        b"\\", b"\n", b"\r\n",
        b"\0", b"\x01", b"\xef", b"0", b"1", b"-1", b"2147483648", b"1e9", b"1e400", b"0.5", b"nan", b"-nan(ind)",
        b"1.#IND", b".", b"-", b"+", b"e", b"n",
    ]
)  # fmt: skip


# Reading


@quick
@given(st.binary(max_size=200))
@example(b'"')
@example(b"{" * 20)
@example(b"joints")
@example(b"commandline")
@example(b"\x01")
def test_any_bytes(data):
    try_to_read(data)


@quick
@given(st.lists(tokens, max_size=60), st.sampled_from([b" ", b"\n", b""]))
def test_any_tokens(words, between):
    try_to_read(b"MD5Version 10 " + between.join(words))


@quick
@given(
    st.sampled_from(SAMPLES),
    st.lists(
        st.tuples(st.integers(0, 2000), st.integers(0, 12), st.one_of(tokens, st.binary(max_size=3), st.just(b""))),
        min_size=1,
        max_size=4,
    ),
)
def test_mutated_files(sample, changes):
    data = sample.encode()
    for place, removed, inserted in changes:
        place %= len(data)
        data = data[:place] + inserted + data[place + removed :]
    try_to_read(data)


@quick
@given(
    st.sampled_from(SAMPLES),
    st.integers(0, 500),
    st.sampled_from(
        [
            "-1",
            "0",
            "1",
            "5",
            "63",
            "64",
            "1.5",
            "1e9",
            "-1e9",
            "2147483647",
            "-2147483648",
            "4294967296",
            "1e39",
            "nan",
            "x",
            "{",
            "}",
            '"x"',
            '"',
            "//",
            "/*",
        ]
    ),
)
def test_files_with_one_token_replaced(sample, place, token):
    words = sample.replace("\t", " ").split(" ")
    words[place % len(words)] = token
    try_to_read(" ".join(words).encode())


@quick
@given(st.sampled_from([MESH, ANIMATION, CAMERA]), st.integers(0, 100), st.integers(0, 100), st.integers(0, 4))
def test_files_with_lines_lost_repeated_or_moved(sample, source, target, count):
    lines = sample.split("\n")
    source, target = source % len(lines), target % len(lines)
    moved = lines[source : source + count]
    try_to_read("\n".join(lines[:target] + moved + lines[target:]).encode())
    del lines[source : source + count]
    try_to_read("\n".join(lines).encode())
    try_to_read("\n".join(lines[:target] + moved + lines[target:]).encode())


@quick
@given(st.lists(st.text(alphabet="0123456789+-.eE#xnaif", min_size=1, max_size=6), min_size=1, max_size=4))
@example(["1.5.5", "-"])
@example(["1-1", "1"])
def test_bulk_and_single_reading_give_the_same_numbers(words):
    """Alone, words are converted in bulk; beside a `1.#IND` one by one. Both agree on what is a number."""

    def numbers_of(data):
        try:
            return Scan(data).numbers.tolist()
        except Md5Error:
            return None

    text = " ".join(words).encode()
    fast, slow = numbers_of(text + b" }"), numbers_of(b"1.#IND " + text + b" }")
    assert fast == (slow and slow[1:])
    if fast is not None:
        plain = [word for word in words if word[0] in "0123456789+-." or word.lower() in ("nan", "inf")]
        assert len(fast) == len(plain)


# Everything but what ends a string; of the surrogates those that stand for single bytes (never two that make a letter).
letters = st.characters(blacklist_characters='"\r\n\0', blacklist_categories=["Cs"])

names = st.one_of(st.text(letters, max_size=12), st.text(letters, max_size=5).map(lambda name: f"{name}\udcff\udc80"))

numbers = st.one_of(
    st.integers(-(10**14), 10**14).map(lambda digits: digits / 10**10),
    st.floats(min_value=-1e6, max_value=1e6).map(lambda value: float(f"{value:.10f}")),
    st.sampled_from([0.0, 1e-10, -1e-10, 3e38, -3e38, 2.0**24 + 1, 1e20, 0.5, 1.0]),
)


def arrays(draw, *shape):
    count = int(np.prod(shape))
    return np.array(draw(st.lists(numbers, min_size=count, max_size=count)), dtype=np.float64).reshape(shape)


def indices(draw, count, *shape):
    total = int(np.prod(shape))
    values = draw(st.lists(st.integers(0, max(count - 1, 0)), min_size=total, max_size=total))
    return np.array(values, dtype=np.int32).reshape(shape)


@st.composite
def hierarchies(draw, count):
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    return random_parents(rng, count, roots=draw(st.integers(1, 3)), shuffle=draw(st.booleans()))


@st.composite
def meshes(draw, joints):
    vertices, triangles = draw(st.integers(0, 4)), draw(st.integers(0, 3))
    weights = draw(st.integers(0, 5)) if joints else 0
    starts = indices(draw, weights, vertices) if weights else np.zeros(vertices, dtype=np.int32)
    counts = np.minimum(indices(draw, 4, vertices), weights - starts).astype(np.int32)
    return Mesh(
        shader=draw(names),
        uvs=arrays(draw, vertices, 2),
        weight_starts=starts,
        weight_counts=counts,
        triangles=indices(draw, vertices, triangles if vertices else 0, 3),
        weight_joints=indices(draw, joints, weights),
        weight_biases=arrays(draw, weights),
        weight_positions=arrays(draw, weights, 3),
        name=draw(names),
    )


@st.composite
def models(draw):
    joints = draw(st.integers(0, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    return Model(
        Joints(
            names=draw(st.lists(names, min_size=joints, max_size=joints)),
            parents=draw(hierarchies(joints)),
            positions=arrays(draw, joints, 3),
            orientations=negative_w(normalise(rng.normal(size=(joints, 4)))),
        ),
        draw(st.lists(meshes(joints), max_size=3)),
        draw(names),
    )


@st.composite
def animations(draw):
    joints, frames = draw(st.integers(0, 4)), draw(st.integers(1, 3))
    flags = indices(draw, 64, joints)
    widths = np.array([int(flag).bit_count() for flag in flags], dtype=np.int64)
    starts = np.where(flags != 0, np.cumsum(widths) - widths, 0).astype(np.int32)
    return Animation(
        names=draw(st.lists(names, min_size=joints, max_size=joints)),
        parents=draw(hierarchies(joints)),
        flags=flags,
        starts=starts,
        bounds=arrays(draw, frames, 2, 3),
        base_positions=arrays(draw, joints, 3),
        base_orientations=arrays(draw, joints, 3),
        frames=arrays(draw, frames, int(widths.sum()) + draw(st.integers(0, 2))),
        frame_rate=draw(st.sampled_from([1.0, 24.0, 29.97, 60.0, 1e6])),
        commandline=draw(names),
    )


@st.composite
def cameras(draw):
    entries = draw(st.integers(1, 5))
    cuts = draw(st.lists(st.integers(0, entries - 1), max_size=4))
    groups = draw(st.lists(st.sampled_from(["", "pos ( 1 -2 .5 )", "pos ( ) rotA ( 1e3 )"]), min_size=len(cuts),
                           max_size=len(cuts)))  # fmt: skip
    return Camera(
        cuts=np.array(cuts, dtype=np.int32),
        positions=arrays(draw, entries, 3),
        orientations=arrays(draw, entries, 3),
        fields_of_view=arrays(draw, entries),
        frame_rate=draw(st.sampled_from([1.0, 24.0, 29.97, 60.0])),
        cut_groups=groups,
        commandline=draw(names),
    )


# There and back


@quick
@given(models())
def test_any_model_is_read_as_it_was_written(model):
    again = parse_mesh(format_mesh(model))
    assert again.joints.names == model.joints.names
    np.testing.assert_array_equal(again.joints.positions, model.joints.positions)
    # Orientations are rounded to ten digits; all else is exact.
    model.joints.orientations, before = again.joints.orientations, model.joints.orientations
    np.testing.assert_allclose(again.joints.orientations[:, 1:], before[:, 1:], rtol=0, atol=2e-10)
    assert_same_model(again, model)
    assert format_mesh(again) == format_mesh(model)


@quick
@given(animations())
def test_any_animation_is_read_as_it_was_written(animation):
    again = parse_animation(format_animation(animation))
    assert_same_animation(again, animation)
    assert format_animation(again) == format_animation(animation)


@quick
@given(cameras())
def test_any_camera_is_read_as_it_was_written(camera):
    again = parse_camera(format_camera(camera))
    for name in ("cuts", "positions", "orientations", "fields_of_view"):
        np.testing.assert_array_equal(getattr(again, name), getattr(camera, name))
    assert (again.frame_rate, again.commandline) == (camera.frame_rate, camera.commandline)
    assert again.cut_groups == camera.cut_groups
    assert format_camera(again) == format_camera(camera)
