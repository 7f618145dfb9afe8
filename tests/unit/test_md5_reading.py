"""What a good reader of MD5 text accepts: everything that real files do, with warnings where it is off."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from md5_samples import (
    ANIMATION,
    MESH,
    OLD_ANIMATION,
    OLD_MESH,
    assert_same_animation,
    assert_same_model,
    edited,
    line_of,
)

from io_md5.format import (
    format_mesh,
    parse_animation,
    parse_mesh,
    read_animation,
    read_mesh,
    skinning,
)
from io_md5.format.text.rows import MIN_LINES


def mesh_of(text):
    return parse_mesh(text.encode() if isinstance(text, str) else text, "box.md5mesh")


def animation_of(text):
    return parse_animation(text.encode() if isinstance(text, str) else text, "walk.md5anim")


def assert_warned(result, *words):
    """Exactly one warning, holding all the words."""
    assert len(result.warnings) == 1, result.warnings
    for word in words:
        assert word in result.warnings[0]


def assert_reads_alike(text, sample):
    """The text is read without a warning as what the sample is."""
    if sample is MESH:
        result = mesh_of(text)
        assert_same_model(result, mesh_of(sample))
    else:
        result = animation_of(text)
        assert_same_animation(result, animation_of(sample))
    assert result.warnings == []


both = pytest.mark.parametrize("sample", [MESH, ANIMATION], ids=["mesh", "animation"])


# What the samples hold


def test_a_mesh_file_is_read_as_it_stands():
    model = mesh_of(MESH)
    assert model.warnings == []
    assert model.commandline == "mesh models/box.mb -dest box.md5mesh"
    joints = model.joints
    assert joints.names == ["origin", "hips", "head"]
    assert joints.parents.tolist() == [-1, 0, 1]
    assert joints.parents.dtype == np.int32
    assert joints.positions.tolist() == [[0, 0, 0], [0, 1.5, 24], [-2.25, 0, 64]]
    np.testing.assert_allclose(joints.orientations[0], [-0.5, -0.5, -0.5, -0.5])
    np.testing.assert_allclose(joints.orientations[2], [-math.sqrt(1 - 0.14), 0.1, -0.2, 0.3])
    (mesh,) = model.meshes
    assert (mesh.shader, mesh.name) == ("models/box/box", "")
    assert mesh.uvs.tolist() == [[0, 0], [0.25, 1], [0.5, -0.125]]
    assert mesh.weight_starts.tolist() == [0, 1, 3]
    assert mesh.weight_counts.tolist() == [1, 2, 1]
    assert mesh.triangles.tolist() == [[0, 1, 2], [2, 1, 0]]
    assert mesh.weight_joints.tolist() == [0, 1, 2, 2]
    assert mesh.weight_biases.tolist() == [1, 0.75, 0.25, 1]
    assert mesh.weight_positions.tolist() == [[1, 2, 3], [-4.5, 0, 6], [7, 8, 9.0625], [0, 0, -10]]
    assert model.vertex_count == mesh.vertex_count == 3


def test_an_animation_file_is_read_as_it_stands():
    animation = animation_of(ANIMATION)
    assert animation.warnings == []
    assert animation.commandline == "anim models/box.mb -dest walk.md5anim"
    assert animation.names == ["origin", "hips", "head"]
    assert animation.parents.tolist() == [-1, 0, 1]
    assert animation.flags.tolist() == [0, 7, 60]
    assert animation.starts.tolist() == [0, 0, 3]
    assert animation.bounds.shape == (3, 2, 3)
    assert animation.bounds[2].tolist() == [[-1, -2.5, -3], [4, 5, 6.25]]
    assert animation.base_positions.tolist() == [[0, 0, 0], [0, 1.5, 24], [1, 2, 40]]
    assert animation.base_orientations[2].tolist() == [0.1, -0.2, 0.3]
    assert animation.frames.shape == (3, 7)
    assert animation.frames[1].tolist() == [0, 1.75, 25, 41, 0.125, -0.2, 0.3]
    assert animation.frame_rate == 24
    assert animation.frame_count == 3
    assert animation.has_hierarchy


def test_files_are_read_from_disk(tmp_path):
    (tmp_path / "bòx.md5mesh").write_bytes(MESH.encode())
    (tmp_path / "wàlk.md5anim").write_bytes(ANIMATION.encode())
    assert_same_model(read_mesh(tmp_path / "bòx.md5mesh"), mesh_of(MESH))
    assert_same_model(read_mesh(str(tmp_path / "bòx.md5mesh")), mesh_of(MESH))
    assert_same_animation(read_animation(tmp_path / "wàlk.md5anim"), animation_of(ANIMATION))


def test_a_file_that_is_not_there_is_an_os_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        read_mesh(tmp_path / "none.md5mesh")
    with pytest.raises(FileNotFoundError):
        read_animation(tmp_path / "none.md5anim")


# Text


@both
@pytest.mark.parametrize("end", ["\r\n", "\r\r\n", "\n\n"], ids=["CRLF", "CRCRLF", "blank lines"])
def test_line_ends_do_not_matter(sample, end):
    assert_reads_alike(sample.replace("\n", end), sample)


def test_carriage_returns_alone_end_lines_and_comments():
    assert_reads_alike(MESH.replace("\n", "\r"), MESH)


@both
@pytest.mark.parametrize("blank", [" ", "\t", "  \t ", "\x0b", "\x00", "\x01", "\x1f"])
def test_any_byte_up_to_the_space_separates(sample, blank):
    head, _, rest = sample.partition("\n\n")
    assert_reads_alike(head + "\n" + rest.replace("\t", blank), sample)


@both
def test_bytes_from_0x80_outside_strings_are_white_space(sample):
    data = sample.encode()
    assert_reads_alike(b"\xef\xbb\xbf" + data, sample)
    assert_reads_alike(data.replace(b"{", b"\xa0{\xff").replace(b"\t", b"\x80"), sample)


@both
@pytest.mark.parametrize(
    "comment", ["/* a */", "/**/", "/* a\n\nb */", "/* // */", '/* " */', "/* } { 1 x */", "/***/"]
)
def test_comments_stand_between_any_two_tokens(sample, comment):
    lines = []
    for line in sample.split("\n"):
        code = line.split("//")[0]
        if '"' in code:
            before, string, after = code.split('"')[:3]
            code = before.replace(" ", comment) + f'"{string}"' + after.replace(" ", comment)
        else:
            code = code.replace(" ", comment)
        lines.append(comment + code + comment)
    assert_reads_alike("\n".join(lines), sample)


@both
@pytest.mark.parametrize("comment", ["//", "// a", "///* a", '// "a', "// } mesh { 1 x", "//\\"])
def test_comments_end_with_the_line(sample, comment):
    assert_reads_alike(sample.replace("\n", f" {comment}\n"), sample)
    assert_reads_alike(sample.replace("\n", f"\n{comment}\n"), sample)


def test_comments_need_no_space_around_them():
    assert_reads_alike(
        MESH.replace("numverts 3", "numverts/**/3//x").replace("vert 0 (", "vert/*0*/0/**/("), MESH
    )


def test_a_comment_does_not_glue_tokens():
    model = mesh_of(edited(MESH, "weight 0 0 1 (", "weight 0/**/0/**/1("))
    assert_same_model(model, mesh_of(MESH))


@both
@pytest.mark.parametrize(
    "tail",
    [
        b"\0" * 5,
        b"\0\0garbage\0",
        b"\x1a",
        b"// the end",
        b"/* the end",
        b"/* the end */",
        b"  \n\n",
        b"\xff\xfe",
    ],
)
def test_what_follows_the_last_brace_does_not_matter(sample, tail):
    data = sample.encode() + tail
    result = mesh_of(data) if sample is MESH else animation_of(data)
    assert len(result.warnings) <= 1
    same, assert_same = (
        (mesh_of, assert_same_model) if sample is MESH else (animation_of, assert_same_animation)
    )
    assert_same(result, same(sample))


@both
@pytest.mark.parametrize(
    "tail", ["}", "0 1 2 }", "-- exported by --", "1.2.3", '"left', "frame", "mesh", "3dsmax {"]
)
def test_left_over_text_after_the_last_brace_is_at_most_a_warning(sample, tail):
    text = sample + tail
    result = mesh_of(text) if sample is MESH else animation_of(text)
    assert len(result.warnings) <= 1
    if result.warnings:
        assert f"line {text.count(chr(10)) + 1} " in result.warnings[0]
    same, assert_same = (
        (mesh_of, assert_same_model) if sample is MESH else (animation_of, assert_same_animation)
    )
    assert_same(result, same(sample))


@both
def test_no_newline_at_the_end(sample):
    assert_reads_alike(sample.rstrip(), sample)


@both
def test_everything_on_one_line(sample):
    lines = [
        line if '"' in line and "//" in line.split('"')[1] else line.split("//")[0]
        for line in sample.split("\n")
    ]
    assert_reads_alike(" ".join(lines), sample)


@both
def test_parentheses_only_separate(sample):
    name = "commandline"
    text = "\n".join(
        line if name in line else line.split("//")[0].replace("(", " ").replace(")", " ")
        for line in sample.split("\n")
    )
    assert_reads_alike(text, sample)
    assert_reads_alike(sample.replace("( ", "(").replace(" )", ")"), sample)


@both
def test_keys_in_another_letter_case(sample):
    text = sample
    for key in ("MD5Version", "commandline", "numJoints", "joints {", "mesh {", "shader", "numverts", "vert ", "tri ",
                "weight ", "numFrames", "frameRate", "hierarchy", "bounds", "baseframe", "frame "):  # fmt: skip
        text = text.replace(f"\n{key}", f"\n{key.upper()}").replace(f"\t{key}", f"\t{key.title()}")
    assert text != sample
    assert_reads_alike(text.replace("MD5Version", "md5version"), sample)


def test_letter_case_may_change_from_line_to_line():
    assert_reads_alike(edited(MESH, "vert 1", "Vert 1").replace("weight 2", "WEIGHT 2"), MESH)
    assert_reads_alike(edited(ANIMATION, "frame 1", "Frame 1"), ANIMATION)


# Strings

STRANGE_NAMES = [
    "f:\\data\\bob\\new.tga",
    "\\\\server\\share\\x",
    "ends with \\",
    "http://host/a",
    "a // b",
    "a /* b",
    "a */ b",
    "{ } ( )",
    "}",
    "mesh {",
    " ",
    "a  b\tc",
    "1.5",
    "-1",
    "nan",
    "inf",
    "numverts",
    "Größe",
    "骨",
    "\N{BONE}",
    "x" * 300,
    "it's",
    "%s %d {0}",
]


@pytest.mark.parametrize("name", STRANGE_NAMES)
def test_strings_hold_anything_but_quotes_and_line_ends(name):
    text = MESH.replace('"models/box/box"', f'"{name}"').replace('"hips"', f'"{name}"')
    text = text.replace("mesh models/box.mb -dest box.md5mesh", name)
    model = mesh_of(text)
    assert model.warnings == []
    assert model.joints.names == ["origin", name, "head"]
    assert model.meshes[0].shader == name
    assert model.commandline == name
    assert model.joints.positions.tolist() == mesh_of(MESH).joints.positions.tolist()
    animation = animation_of(edited(ANIMATION, '"hips"', f'"{name}"'))
    assert animation.names == ["origin", name, "head"]
    assert animation.warnings == []


def test_strings_that_are_no_utf8_keep_their_bytes():
    model = mesh_of(MESH.encode().replace(b'"hips"', b'"h\xfcfte"'))
    assert model.joints.names[1].encode("utf-8", "surrogateescape") == b"h\xfcfte"


def test_names_need_no_quotes():
    text = MESH.replace('"origin"', "origin").replace('"hips"', "hips").replace('"head"', "head")
    assert_reads_alike(edited(text, '"models/box/box"', "models/box/box"), MESH)
    text = ANIMATION.replace('"origin"', "origin").replace('"hips"', "hips").replace('"head"', "head")
    assert_reads_alike(text, ANIMATION)


@pytest.mark.parametrize("length", [1, 8, 9, 16, 17, 40])
def test_words_of_any_length_are_kept_apart_from_numbers(length):
    names = [letter * length for letter in "ABC"]
    text = MESH
    for name, new in zip(("origin", "hips", "head"), names, strict=True):
        text = text.replace(f'"{name}"', new)
    assert mesh_of(text).joints.names == names
    assert mesh_of(text).warnings == []


def test_words_that_begin_alike_are_told_apart():
    text = (
        MESH.replace('"origin"', "upperarm_left")
        .replace('"hips"', "upperarm_right")
        .replace('"head"', "upperarm")
    )
    assert mesh_of(text).joints.names == ["upperarm_left", "upperarm_right", "upperarm"]


# Numbers


@pytest.mark.parametrize(
    ("token", "value"),
    [
        ("1.5", 1.5), ("+1.5", 1.5), ("-1.5", -1.5), (".5", 0.5), ("-.5", -0.5), ("+.5", 0.5), ("5.", 5), ("05", 5),
        ("1E-5", 1e-5), ("1e-05", 1e-5), ("1e+5", 1e5), ("1.e2", 100), (".5E1", 5), ("-0", 0), ("-0.000000", 0),
        ("0.1000000000000000055511151231257827", 0.1), ("1e-320", 1e-320), ("1e-400", 0), ("3.4e38", 3.4e38),
        ("123456789012345678901234567890", 123456789012345678901234567890.0),
    ],
)  # fmt: skip
def test_numbers_in_any_plain_writing(token, value):
    model = mesh_of(edited(MESH, "7 8 9.0625", f"7 {token} 9.0625"))
    assert model.meshes[0].weight_positions[2].tolist() == [7, value, 9.0625]
    assert model.warnings == []
    animation = animation_of(edited(ANIMATION, "0 1.75 25", f"0 {token} 25"))
    assert animation.frames[1, :3].tolist() == [0, value, 25]
    assert animation.warnings == []


@pytest.mark.parametrize(
    "token",
    [
        "nan", "NaN", "NAN", "-nan", "+nan", "inf", "-inf", "+inf", "INF", "Infinity", "-infinity", "1.#IND", "-1.#IND",
        "1.#QNAN", "-1.#IND00", "1.#INF", "-1.#INF000", "1.#J", "1e999", "-1e999", "1e39", "nan(ind)", "-nan(ind)",
        "nan(snan)", "-NaN(0x7)",
    ],
)  # fmt: skip
def test_numbers_that_are_none_are_0_and_a_warning(token):
    text = edited(MESH, "7 8 9.0625", f"7 {token} 9.0625")
    model = mesh_of(text)
    assert model.meshes[0].weight_positions[2].tolist() == [7, 0, 9.0625]
    assert_warned(model, "1 numbers are not finite", f"line {line_of(text, '9.0625')}")
    text = edited(ANIMATION, "0 1.75 25", f"0 {token} 25")
    animation = animation_of(text)
    assert animation.frames[1, :3].tolist() == [0, 0, 25]
    assert_warned(animation, "1 numbers are not finite", f"line {line_of(text, ' 25')}")


def test_many_numbers_that_are_none_are_one_warning():
    text = MESH.replace("( 7 8 9.0625 )", "( nan -1.#IND inf )").replace("( 0 0 -10 )", "( nan nan nan )")
    assert_warned(mesh_of(text), "6 numbers", f"line {line_of(text, '-1.#IND')}")


# The header


@both
def test_an_unknown_version_is_read_as_10(sample):
    text = edited(sample, "MD5Version 10", "MD5Version 11")
    result = mesh_of(text) if sample is MESH else animation_of(text)
    assert_warned(result, "version 11")


@both
def test_a_missing_version_is_a_warning(sample):
    text = edited(sample, "MD5Version 10\n", "")
    result = mesh_of(text) if sample is MESH else animation_of(text)
    assert_warned(result, "MD5Version")


@both
@pytest.mark.parametrize("line", ["", "commandline", "commandline //", 'commandline ""'])
def test_the_command_line_may_be_missing(sample, line):
    old = next(row for row in sample.split("\n") if row.startswith("commandline"))
    text = edited(sample, old, line)
    result = mesh_of(text) if sample is MESH else animation_of(text)
    assert result.commandline == ""
    assert result.warnings == []


@pytest.mark.parametrize("key", ["commandline", "numJoints", "numMeshes"])
def test_header_keys_of_a_mesh_stand_in_any_order(key):
    line = next(row for row in MESH.split("\n") if row.startswith(key))
    without = edited(MESH, line + "\n", "")
    assert_reads_alike(edited(without, "mesh {", line + "\nmesh {"), MESH)
    assert_reads_alike(without + line, MESH)


@pytest.mark.parametrize(
    ("sample", "old", "new", "words"),
    [
        (MESH, "numJoints 3", "numJoints 2", ("2 joints", "3")),
        (MESH, "numMeshes 1", "numMeshes 20", ("20 meshes", "1")),
        (MESH, "numMeshes 1", "numMeshes 0", ("0 meshes", "1")),
        (MESH, "numverts 3", "numverts 1", ("1 vertices", "3")),
        (MESH, "numtris 2", "numtris 4", ("4 triangles", "2")),
        (MESH, "numweights 4", "numweights 5", ("5 weights", "4")),
        (ANIMATION, "numFrames 3", "numFrames 103", ("103 frames", "3")),
        (ANIMATION, "numJoints 3", "numJoints 4", ("4 joints", "3")),
        (ANIMATION, "numAnimatedComponents 7", "numAnimatedComponents 18", ("18 components", "7")),
    ],
)
def test_declared_counts_are_hints(sample, old, new, words):
    text = edited(sample, old, new)
    result = mesh_of(text) if sample is MESH else animation_of(text)
    assert_warned(result, *words)
    same, assert_same = (
        (mesh_of, assert_same_model) if sample is MESH else (animation_of, assert_same_animation)
    )
    assert_same(result, same(sample))


@pytest.mark.parametrize(
    "key", ["numJoints 3", "numMeshes 1", "\tnumverts 3", "\tnumtris 2", "\tnumweights 4"]
)
def test_counts_of_a_mesh_may_be_missing(key):
    assert_reads_alike(edited(MESH, key, ""), MESH)


@pytest.mark.parametrize("key", ["numFrames 3", "numJoints 3", "numAnimatedComponents 7"])
def test_counts_of_an_animation_may_be_missing(key):
    assert_reads_alike(edited(ANIMATION, key, ""), ANIMATION)


# Meshes

BLOCK = MESH[MESH.index("mesh {") :]


def test_meshes_may_stand_before_the_joints():
    head, joints = MESH[: MESH.index("joints {")], MESH[MESH.index("joints {") : MESH.index("mesh {")]
    assert_reads_alike(head + BLOCK + joints, MESH)


def test_the_parts_of_a_mesh_stand_in_any_order():
    parts = BLOCK.removeprefix("mesh {\n").removesuffix("}\n").strip("\n").split("\n\n")
    assert len(parts) == 4
    head = MESH[: MESH.index("mesh {")]
    assert_reads_alike(head + "mesh {\n" + "\n".join(reversed(parts)) + "\n}\n", MESH)


def test_rows_may_be_interleaved():
    text = edited(MESH, "\tvert 2", "\ttri 0 0 1 2\n\tvert 2")
    text = edited(text, "numtris 2\n\ttri 0 0 1 2\n", "numtris 2\n")
    text = edited(text, "\tweight 1", "\tweight 1 1 0.75 ( -4.5 0 6 )\n\tnumweights 4\n\t#")
    text = edited(text, "\t# 1 0.75 ( -4.5 0 6 )\n", "")
    text = edited(text, "\tnumweights 4\n\tweight 0", "\tweight 0")
    assert_reads_alike(text, MESH)


def test_several_meshes_may_share_a_shader():
    second = BLOCK.replace("weight 0 0 1 ( 1 2 3 )", "weight 0 0 1 ( 5 5 5 )")
    model = mesh_of(edited(MESH, "numMeshes 1", "numMeshes 2") + second)
    assert model.warnings == []
    assert [mesh.shader for mesh in model.meshes] == ["models/box/box"] * 2
    assert model.meshes[1].weight_positions[0].tolist() == [5, 5, 5]
    assert model.vertex_count == 6


def test_there_may_be_no_mesh():
    model = mesh_of(edited(MESH, BLOCK, "").replace("numMeshes 1", "numMeshes 0"))
    assert model.meshes == []
    assert model.warnings == []
    assert model.vertex_count == 0


@pytest.mark.parametrize("line", ["", "\tshader", "\tshader //", '\tshader ""', "\tshader numverts 3"])
def test_the_shader_may_be_missing_or_empty(line):
    text = edited(MESH, '\tshader "models/box/box"', line)
    if line.endswith("numverts 3"):
        text = text.replace("\n\tnumverts 3", "")
    model = mesh_of(text)
    assert model.warnings == []
    assert model.meshes[0].shader == ""
    assert model.meshes[0].vertex_count == 3


def test_a_shader_that_looks_like_a_key_is_a_name():
    assert mesh_of(edited(MESH, '"models/box/box"', '"numverts"')).meshes[0].shader == "numverts"


def test_a_mesh_may_have_a_name():
    model = mesh_of(edited(MESH, "\tshader", '\tname "the box"\n\tshader'))
    assert model.meshes[0].name == "the box"
    assert model.meshes[0].shader == "models/box/box"
    assert model.warnings == []


@pytest.mark.parametrize("kind", ["vert", "tri", "weight"])
def test_the_index_of_a_row_is_ignored_but_for_a_warning(kind):
    text = edited(MESH, f"\t{kind} 1 ", f"\t{kind} 4294967297 ")
    model = mesh_of(text)
    assert_warned(model, "not numbered in order")
    assert_same_model(model, mesh_of(MESH))


def test_vertices_may_share_weights():
    text = edited(MESH, "vert 2 ( 0.5 -0.125 ) 3 1", "vert 2 ( 0.5 -0.125 ) 1 2")
    model = mesh_of(text)
    assert model.warnings == []
    assert model.meshes[0].weight_starts.tolist() == [0, 1, 1]
    places = skinning.skin(model.meshes[0], model.joints.positions, model.joints.orientations)
    np.testing.assert_array_equal(places[1], places[2])


def test_biases_are_kept_as_they_stand():
    text = edited(MESH, "weight 1 1 0.75", "weight 1 1 0").replace("weight 0 0 1 ", "weight 0 0 0.5 ")
    model = mesh_of(text)
    assert model.meshes[0].weight_biases.tolist() == [0.5, 0, 0.25, 1]
    assert model.warnings == []


def test_vertices_without_weights_are_a_warning():
    model = mesh_of(MESH.replace(") 0 1\n", ") 0 0\n").replace(") 3 1\n", ") 4 0\n"))
    assert_warned(model, "2 vertices", "no weight")


def test_degenerate_duplicate_triangles_and_unused_vertices_are_kept():
    text = edited(MESH, "tri 0 0 1 2", "tri 0 0 0 1").replace("tri 1 2 1 0", "tri 1 0 0 1")
    model = mesh_of(text)
    assert model.meshes[0].triangles.tolist() == [[0, 0, 1], [0, 0, 1]]
    assert model.meshes[0].vertex_count == 3
    assert model.warnings == []


@pytest.mark.parametrize(
    "block", ["mesh {\n}", 'mesh {\nshader ""\nnumverts 0\nnumtris 0\nnumweights 0\n}', "mesh{}"]
)
def test_a_mesh_may_be_empty(block):
    model = mesh_of(edited(MESH, "numMeshes 1", "numMeshes 2") + block)
    assert model.warnings == []
    empty = model.meshes[1]
    assert (empty.uvs.shape, empty.triangles.shape, empty.weight_positions.shape) == ((0, 2), (0, 3), (0, 3))
    assert (empty.weight_starts.shape, empty.weight_joints.shape) == ((0,), (0,))


def test_a_mesh_may_have_vertices_and_no_triangles():
    text = edited(MESH, "\tnumtris 2\n\ttri 0 0 1 2\n\ttri 1 2 1 0\n", "\tnumtris 0\n")
    assert mesh_of(text).meshes[0].triangles.shape == (0, 3)
    assert mesh_of(text).warnings == []


def test_unknown_keys_of_a_mesh_are_named_once_each():
    text = edited(MESH, "\tnumtris", "\tcolour 0 1 1 1\n\tcolour 1 1 1 1\n\tflags 3\n\tnumtris")
    model = mesh_of(text)
    assert_same_model(model, mesh_of(MESH))
    assert len(model.warnings) == 2
    assert "'colour'" in model.warnings[0]
    assert f"line {line_of(text, 'colour 0')}" in model.warnings[0]
    assert "'flags'" in model.warnings[1]


# Joints


def test_orientations_a_little_over_1_are_rotations_all_the_same():
    model = mesh_of(edited(MESH, "( 0.1 -0.2 0.3 )", "( 0.600001 0 0.800001 )"))
    np.testing.assert_allclose(model.joints.orientations[2], [0, 0.6, 0, 0.8], atol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(model.joints.orientations, axis=1), 1.0, atol=1e-15)
    assert model.warnings == []


def test_there_may_be_several_roots():
    assert mesh_of(edited(MESH, '"hips"\t0 ', '"hips"\t-1 ')).joints.parents.tolist() == [-1, -1, 1]
    assert animation_of(edited(ANIMATION, '"hips"\t0 ', '"hips"\t-1 ')).parents.tolist() == [-1, -1, 1]


def test_a_joint_before_its_parent_is_a_warning():
    text = edited(edited(MESH, '"hips"\t0 ', '"hips"\t2 '), '"head"\t1 ', '"head"\t0 ')
    assert_warned(mesh_of(text), "'hips'", "before its parent")
    assert mesh_of(text).joints.parents.tolist() == [-1, 2, 0]
    text = edited(edited(ANIMATION, '"hips"\t0 ', '"hips"\t2 '), '"head"\t1 ', '"head"\t0 ')
    assert_warned(animation_of(text), "'hips'", "before its parent")


def test_a_name_that_occurs_twice_is_a_warning():
    assert_warned(mesh_of(edited(MESH, '"head"', '"hips"')), "'hips'", "more than once")
    assert_warned(animation_of(edited(ANIMATION, '"head"', '"hips"')), "'hips'", "more than once")


def test_an_empty_skeleton_is_read():
    model = mesh_of('MD5Version 10\ncommandline ""\nnumJoints 0\nnumMeshes 0\njoints {\n}\n')
    assert len(model.joints) == 0
    assert model.joints.orientations.shape == (0, 4)
    assert model.warnings == []


# Animations


def test_the_blocks_of_an_animation_stand_in_any_order():
    start = ANIMATION.index("hierarchy {")
    blocks = ANIMATION[start:].strip("\n").split("\n\n")
    assert len(blocks) == 6
    order = [blocks[index] for index in (3, 4, 5, 2, 1, 0)]
    assert_reads_alike(ANIMATION[:start] + "\n".join(order), ANIMATION)
    order = [blocks[index] for index in (3, 0, 4, 1, 5, 2)]
    assert_reads_alike(
        "MD5Version 10\n" + "\n".join(order) + ANIMATION[len("MD5Version 10") : start], ANIMATION
    )


@pytest.mark.parametrize("numbers", [(8, 9, 10), (98, 98, 98), (2, 1, 0), (0, 1, 1)])
def test_the_order_of_frames_counts_and_not_their_numbers(numbers):
    text = ANIMATION
    for old, new in zip((2, 1, 0), reversed(numbers), strict=True):
        text = text.replace(f"frame {old} {{", f"frame #{new} {{")
    animation = animation_of(text.replace("#", ""))
    assert_warned(animation, "frames", "not numbered in order")
    assert_same_animation(animation, animation_of(ANIMATION))


def test_frames_without_numbers_are_read():
    animation = animation_of(ANIMATION.replace("frame 1 {", "frame {"))
    assert_same_animation(animation, animation_of(ANIMATION))


def test_frames_of_different_size_keep_what_joints_use():
    animation = animation_of(edited(ANIMATION, "0.125 -0.2 0.3", "0.125 -0.2 0.3 9 9"))
    assert_warned(animation, "differ")
    assert_same_animation(animation, animation_of(ANIMATION))


def test_components_that_no_joint_uses_are_kept():
    text = edited(ANIMATION, "numAnimatedComponents 7", "numAnimatedComponents 8")
    for end in ("40 0.1 -0.2 0.3", "0.125 -0.2 0.3", "0.15 -0.25 0.35"):
        text = text.replace(f"{end}\n", f"{end} 9\n")
    animation = animation_of(text)
    assert animation.frames.shape == (3, 8)
    assert animation.frames[:, 7].tolist() == [9, 9, 9]
    assert animation.warnings == []


@pytest.mark.parametrize("start", [0, -1, 7, 1000000, 2147483647])
def test_the_start_of_a_joint_that_does_not_move_is_no_matter(start):
    animation = animation_of(edited(ANIMATION, '"origin"\t-1 0 0', f'"origin"\t-1 0 {start}'))
    assert_same_animation(animation, animation_of(ANIMATION))
    assert animation.warnings == []


def test_an_animation_may_move_nothing():
    text = (
        ANIMATION.replace("0 7 0", "0 0 0").replace("1 60 3", "1 0 0").replace("Components 7", "Components 0")
    )
    head = text[: text.index("frame 0")]
    animation = animation_of(head + "frame 0 {\n}\nframe 1 {\n}\nframe 2 {\n}\n")
    assert animation.frames.shape == (3, 0)
    assert animation.warnings == []


def test_flags_beyond_the_six_components_are_a_warning():
    animation = animation_of(edited(ANIMATION, "0 7 0", "0 71 0"))
    assert animation.flags.tolist() == [0, 7, 60]
    assert_warned(animation, "flags")


@pytest.mark.parametrize("rate", ["60", "48", "29.97", "1"])
def test_other_frame_rates_are_kept(rate):
    animation = animation_of(edited(ANIMATION, "frameRate 24", f"frameRate {rate}"))
    assert animation.frame_rate == float(rate)
    assert animation.warnings == []


@pytest.mark.parametrize("line", ["", "frameRate 0", "frameRate -24"])
def test_without_a_usable_frame_rate_24_is_assumed(line):
    animation = animation_of(edited(ANIMATION, "frameRate 24", line))
    assert animation.frame_rate == 24
    assert_warned(animation, "frame rate", "24")


def test_all_zero_bounds_are_kept():
    text = ANIMATION
    for row in ("( -1 -2 -3 ) ( 4 5 6 )", "( -1.5 -2 -3 ) ( 4 5 6 )", "( -1 -2.5 -3 ) ( 4 5 6.25 )"):
        text = edited(text, row, "( 0 0 0 ) ( 0 0 0 )")
    animation = animation_of(text)
    assert animation.bounds.shape == (3, 2, 3)
    assert not animation.bounds.any()
    assert animation.warnings == []


@pytest.mark.parametrize("extra", [-1, 1])
def test_one_bounds_too_many_or_too_few_is_a_warning(extra):
    row = "\t( -1 -2 -3 ) ( 4 5 6 )\n"
    animation = animation_of(edited(ANIMATION, row, row * (1 + extra)))
    assert len(animation.bounds) == 3 + extra
    assert animation.frame_count == 3
    assert_warned(animation, f"{3 + extra} frames", "instead of 3")


def test_bounds_may_be_missing():
    start, end = ANIMATION.index("bounds {"), ANIMATION.index("baseframe {")
    animation = animation_of(ANIMATION[:start] + ANIMATION[end:])
    assert animation.bounds.shape == (0, 2, 3)
    assert_warned(animation, "bounds")


def test_half_a_box_of_bounds_is_a_warning():
    animation = animation_of(edited(ANIMATION, "( -1 -2.5 -3 ) ( 4 5 6.25 )", "( -1 -2.5 -3 )"))
    assert len(animation.bounds) == 2
    assert_warned(animation, "bounds")


def test_a_base_frame_that_holds_more_is_a_warning():
    animation = animation_of(
        edited(ANIMATION, "( 1 2 40 ) ( 0.1 -0.2 0.3 )", "( 1 2 40 ) ( 0.1 -0.2 0.3 ) ( 1 2 3 )")
    )
    assert_warned(animation, "base frame")
    assert_same_animation(animation, animation_of(ANIMATION))


def test_a_base_frame_that_nothing_uses_may_be_missing():
    text = """MD5Version 10 commandline "" numFrames 1 numJoints 1 frameRate 24 numAnimatedComponents 6
        hierarchy { "origin" -1 63 0 } bounds { ( 0 0 0 ) ( 1 1 1 ) } frame 0 { 1 2 3 0.1 0.2 0.3 }"""
    animation = animation_of(text)
    assert_warned(animation, "no base frame")
    assert animation.base_positions.tolist() == [[0, 0, 0]]


def test_a_second_block_of_a_kind_is_left_alone():
    animation = animation_of(ANIMATION + 'hierarchy {\n"other" -1 0 0\n}\n')
    assert animation.names == ["origin", "hips", "head"]
    assert_warned(animation, f"line {ANIMATION.count(chr(10)) + 1} ")


# The layout from before Doom 3 was finished


def test_bones_of_the_old_layout_are_joints():
    model = mesh_of(OLD_MESH)
    assert model.warnings == []
    assert model.joints.names == ["root", "tip"]
    assert model.joints.parents.tolist() == [-1, 0]
    assert model.joints.positions.tolist() == [[1, 2, 3], [1, 2, 13]]
    assert (model.joints.orientations[:, 0] <= 0).all()
    assert model.meshes[0].shader == "data\\box.tga"
    assert model.meshes[0].uvs.tolist() == [[0, 0], [0.25, 1], [0.5, 0.5]]


def test_the_rows_of_an_old_matrix_are_the_axes_of_the_bone():
    model = mesh_of(OLD_MESH)
    places = skinning.skin(model.meshes[0], model.joints.positions, model.joints.orientations)
    # One unit along x of the root goes along +y of the model, one along y along -x.
    np.testing.assert_allclose(places, [[1, 3, 3], [0, 2, 3], [1, 2, 14]], atol=1e-12)


def test_bones_may_stand_before_their_parents():
    first, second = OLD_MESH.index("bone 0"), OLD_MESH.index("bone 1")
    end = OLD_MESH.index("mesh 0")
    model = mesh_of(OLD_MESH[:first] + OLD_MESH[second:end] + OLD_MESH[first:second] + OLD_MESH[end:])
    assert model.joints.names == ["tip", "root"]
    assert model.joints.parents.tolist() == [1, -1]
    assert_warned(model, "before its parent")


def test_channels_of_the_old_layout_are_frames():
    animation = animation_of(OLD_ANIMATION)
    assert animation.warnings == []
    assert not animation.has_hierarchy
    assert animation.names == ["root", "tip"]
    assert animation.parents.tolist() == [-1, -1]
    assert animation.flags.tolist() == [63, 63]
    assert animation.starts.tolist() == [0, 6]
    assert animation.frame_rate == 30
    assert animation.frames.shape == (3, 12)
    assert animation.frames[:, 0].tolist() == [1, 2, 3]


def test_the_last_key_of_a_short_channel_stays():
    animation = animation_of(OLD_ANIMATION)
    assert animation.frames[:, 8].tolist() == [10, 10, 10]
    half = math.sqrt(0.5)
    # A yaw of 90 degrees about +z, written with a negative w.
    np.testing.assert_allclose(
        animation.frames[:, 3:6], [[0, 0, 0], [0, 0, -half], [0, 0, -half]], atol=1e-12
    )


def test_a_wrong_number_of_keys_in_a_channel_is_a_warning():
    animation = animation_of(edited(OLD_ANIMATION, "keys 2\n\t\t0 90", "keys 3\n\t\t0 90"))
    assert_warned(animation, "3 keys", "'yaw'", "2")


def test_a_channel_without_usable_frame_rate_gets_24():
    animation = animation_of(OLD_ANIMATION.replace("framerate 30", "framerate 0"))
    assert animation.frame_rate == 24
    assert_warned(animation, "frame rate")


# Names of meshes in comments


def mesh_with(comment, rows=3):
    """A model of two meshes, the first with a comment behind its brace and so many vertices."""
    text = MESH.replace("mesh {\n", f"mesh {{\n{comment}", 1)
    if rows > 3:
        lines = "".join(f"\tvert {row} ( 0 0 ) 0 1\n" for row in range(rows))
        text = re.sub(r"\tnumverts 3\n(\tvert.*\n)+", lambda _: f"\tnumverts {rows}\n{lines}", text)
    return parse_mesh((text + MESH[MESH.index("mesh {") :]).encode())


@pytest.mark.parametrize("rows", [3, 2 * MIN_LINES])
@pytest.mark.parametrize(
    ("comment", "name"),
    [
        ("\t// meshes: body\n", "body"),
        ("\t//meshes:two words \t\r\n", "two words"),
        ('\tshader "x" // meshes: late\n', "late"),
        ("\t// meshes: first\n\t// meshes: second\n", "second"),
        ("\t// mesh: body\n", ""),
        ("\t/* // meshes: body */\n", ""),
        ('\tshader "a // meshes: body"\n', ""),
    ],
)
def test_the_name_in_the_comment_of_a_mesh_is_read(rows, comment, name):
    model = mesh_with(comment, rows)
    assert [mesh.comment_name for mesh in model.meshes] == [name, ""]
    assert model.meshes[0].vertex_count == rows


def test_the_name_in_the_comment_of_a_mesh_comes_back_behind_its_brace():
    model = mesh_with("\t// meshes: body of the imp\n")
    text = format_mesh(model).decode()
    assert text.count("mesh {\n\t// meshes: body of the imp\n\tshader") == 1
    assert text.count("// meshes:") == 1
    assert parse_mesh(text.encode()).meshes[0].comment_name == "body of the imp"


def test_a_name_with_line_ends_stays_on_the_line_of_its_comment():
    model = mesh_with("")
    model.meshes[0].comment_name = "a\nshader\r}\t\udcff"
    assert parse_mesh(format_mesh(model)).meshes[0].comment_name == "a_shader_}_\udcff"
