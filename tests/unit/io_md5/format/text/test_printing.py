"""How MD5 files are laid out and numbers are printed, and that what is written is read again."""

from __future__ import annotations

import re

import numpy as np
import pytest
from md5_samples import ANIMATION, MESH, assert_same_animation, assert_same_model, random_animation, random_model

from io_idtech.io_md5.format import (
    Joints,
    Md5Error,
    Model,
    format_animation,
    format_mesh,
    parse_animation,
    parse_mesh,
    read_animation,
    read_mesh,
    write_animation,
    write_mesh,
)
from io_idtech.io_md5.format.text.printing import rows


def decimals(values):
    return rows("%f", np.array(values, dtype=np.float64)).split()


def sample_model():
    return parse_mesh(MESH.encode())


def sample_animation():
    return parse_animation(ANIMATION.encode())


# Layout


def test_files_are_written_to_disk(tmp_path):
    write_mesh(sample_model(), tmp_path / "a.md5mesh")
    write_animation(sample_animation(), str(tmp_path / "a.md5anim"))
    assert (tmp_path / "a.md5mesh").read_bytes() == MESH.encode()
    assert (tmp_path / "a.md5anim").read_bytes() == ANIMATION.encode()
    assert_same_model(read_mesh(tmp_path / "a.md5mesh"), sample_model())
    assert_same_animation(read_animation(tmp_path / "a.md5anim"), sample_animation())


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"), (-0.0, "0"), (1.0, "1"), (-1.0, "-1"), (10.0, "10"), (100.5, "100.5"), (-0.25, "-0.25"),
        (0.1, "0.1"), (1 / 3, "0.3333333333"), (2 / 3, "0.6666666667"), (1e-10, "0.0000000001"), (4e-11, "0"),
        (-4e-11, "0"), (-5e-11, "0"), (-6e-11, "-0.0000000001"), (-1e-300, "0"), (1e-5, "0.00001"),
        (1e15, "1000000000000000"), (1e20, "100000000000000000000"), (-123456.0, "-123456"),
        (0.99999999999, "1"), (-0.99999999999, "-1"), (1000000.0000000001, "1000000.0000000001"),
        (3.4028234663852886e38, "340282346638528859811704183484516925440"),
    ],
)  # fmt: skip
def test_numbers_are_the_shortest_plain_decimals_of_ten_digits(value, text):
    assert decimals([value]) == [text]
    assert decimals([7, value, 0.5]) == ["7", text, "0.5"]


def test_an_empty_table_prints_nothing():
    assert decimals([]) == []


def test_numbers_are_written_without_exponents_plus_and_minus_zero(rng):
    values = np.concatenate([rng.normal(size=500) * 10.0 ** rng.integers(-15, 15, size=500), [-0.0, 0.0, -1e-11]])
    for text in decimals(values):
        assert re.fullmatch(r"-?(0|[1-9]\d*)(\.\d{0,9}[1-9])?", text)
        assert text != "-0"
    np.testing.assert_allclose([float(text) for text in decimals(values)], values, rtol=1e-15, atol=5.01e-11)


def test_large_numbers_lose_nothing():
    values = np.array([1234567.1234567891, 16777217.3, 987654321.123456, -4194305.000000001])
    assert [float(text) for text in decimals(values)] == values.tolist()


def test_only_ids_characters_are_written_outside_strings(rng):
    for data in (format_mesh(random_model(rng)), format_animation(random_animation(rng))):
        text = re.sub(rb'"[^"\n]*"|//[^\n]*', b"", data)
        assert re.fullmatch(rb"[A-Za-z0-9 \t\n{}().-]*", text)
        assert b"\r" not in data
        assert data.endswith(b"}\n")
        assert not re.search(rb"\de|nan|inf", text)


def test_counts_are_those_of_what_is_written():
    text = MESH.replace("numJoints 3", "numJoints 9").replace("numMeshes 1", "numMeshes 9")
    assert format_mesh(parse_mesh(text.encode())).decode() == MESH


def test_orientations_are_written_with_a_negative_w():
    model = sample_model()
    model.joints.orientations = -model.joints.orientations * 1.0005
    assert format_mesh(model).decode() == MESH


# There and back


@pytest.mark.parametrize("seed", range(5))
def test_written_files_are_read_again(seed):
    rng = np.random.default_rng(seed)
    model = random_model(rng, joints=1 + seed, meshes=seed, vertices=3 * seed)
    again = parse_mesh(format_mesh(model))
    assert again.warnings == []
    assert_same_model(again, model, atol=5.01e-11)
    animation = random_animation(rng, joints=1 + seed, frames=1 + seed)
    again = parse_animation(format_animation(animation))
    assert again.warnings == []
    assert_same_animation(again, animation, atol=5.01e-11)


@pytest.mark.parametrize("seed", range(5))
def test_read_files_are_written_unchanged(seed):
    rng = np.random.default_rng(seed)
    data = format_mesh(random_model(rng))
    assert format_mesh(parse_mesh(data)) == data
    data = format_animation(random_animation(rng))
    assert format_animation(parse_animation(data)) == data


def test_nothing_is_changed_by_writing(rng):
    model, animation = random_model(rng), random_animation(rng)
    copies = random_model(np.random.default_rng(10)), None
    format_mesh(model)
    assert_same_model(model, copies[0])
    before = animation.frames.copy(), animation.starts.copy()
    format_animation(animation)
    np.testing.assert_array_equal(animation.frames, before[0])
    np.testing.assert_array_equal(animation.starts, before[1])


def test_an_empty_model_and_an_animation_that_moves_nothing():
    nothing = Joints([], np.empty(0, dtype=np.int32), np.empty((0, 3)), np.empty((0, 4)))
    again = parse_mesh(format_mesh(Model(nothing, [])))
    assert (len(again.joints), again.meshes, again.warnings) == (0, [], [])
    animation = random_animation(np.random.default_rng(0), joints=2, frames=3, flags=np.zeros(2, dtype=np.int32))
    again = parse_animation(format_animation(animation))
    assert again.warnings == []
    assert again.frames.shape == (3, 0)
    assert_same_animation(again, animation, atol=5.01e-11)


UNWRITABLE = ['a"b', "a\nb", "a\rb", "a\0b", '"', "\n", "half \ud83d a pair", "\udfff", "\udc22"]


# What cannot be written


@pytest.mark.parametrize("name", UNWRITABLE)
def test_names_that_no_string_can_hold_are_refused(name):
    for change in ("joint", "parent", "shader", "mesh", "commandline"):
        model = sample_model()
        if change == "commandline":
            model.commandline = name
        elif change == "shader":
            model.meshes[0].shader = name
        elif change == "mesh":
            model.meshes[0].name = name
        else:
            model.joints.names[2 if change == "joint" else 0] = name
        with pytest.raises(Md5Error, match="a line break or an invalid character") as caught:
            format_mesh(model)
        assert caught.value.found == repr(name)
    animation = sample_animation()
    animation.names[1] = name
    with pytest.raises(Md5Error, match="a line break or an invalid character"):
        format_animation(animation)
    animation = sample_animation()
    animation.commandline = name
    with pytest.raises(Md5Error, match="a line break or an invalid character"):
        format_animation(animation)


@pytest.mark.parametrize(
    "name", ["", " ", "\\", "// x", "/* x", "{", "\t", "\x7f", "\x85", "\u2028", "a\udc80", "\udcff\udc80", "é"]
)
def test_all_other_names_are_written_and_read_again(name):
    model = sample_model()
    model.joints.names[0] = model.joints.names[2] = model.meshes[0].shader = model.commandline = name
    model.meshes[0].name = name
    again = parse_mesh(format_mesh(model))
    assert_same_model(again, model)
    animation = sample_animation()
    animation.names[0] = animation.commandline = name
    again = parse_animation(format_animation(animation))
    assert_same_animation(again, animation)
    assert again.warnings == []


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e39, -1e300])
def test_numbers_that_the_games_cannot_hold_are_refused(value):
    def model_with(change):
        model = sample_model()
        change(model)
        return model

    def animation_with(field, place):
        animation = sample_animation()
        getattr(animation, field)[place] = value
        return animation

    changes = [
        lambda model: model.joints.positions.__setitem__((1, 2), value),
        lambda model: model.meshes[0].uvs.__setitem__((1, 0), value),
        lambda model: model.meshes[0].weight_biases.__setitem__(3, value),
        lambda model: model.meshes[0].weight_positions.__setitem__((0, 1), value),
    ]
    for change in changes:
        with pytest.raises(Md5Error, match="not finite"):
            format_mesh(model_with(change))
    places = [("bounds", (2, 1, 0)), ("base_positions", (0, 0)), ("base_orientations", (1, 1)), ("frames", (1, 6))]
    for field, place in places:
        with pytest.raises(Md5Error, match="not finite"):
            format_animation(animation_with(field, place))
    animation = sample_animation()
    animation.frame_rate = value
    with pytest.raises(Md5Error, match="not finite"):
        format_animation(animation)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("component", range(4))
def test_orientations_that_are_not_rotations_are_refused(component, value):
    model = sample_model()
    model.joints.orientations[1, component] = value
    with pytest.raises(Md5Error, match="not finite"):
        format_mesh(model)


def test_a_file_is_not_touched_when_the_model_cannot_be_written(tmp_path):
    path = tmp_path / "a.md5mesh"
    path.write_bytes(b"before")
    model = sample_model()
    model.commandline = '"'
    with pytest.raises(Md5Error):
        write_mesh(model, path)
    assert path.read_bytes() == b"before"
