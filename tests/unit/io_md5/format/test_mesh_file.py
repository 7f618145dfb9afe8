"""Mesh files: what is read, what is warned of, what is refused, and what is written."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from md5_parsing import animation_of, assert_reads_alike, assert_warned, last_line, mesh_of, mesh_refused, refused
from md5_samples import ANIMATION, MESH, assert_same_model, edited, line_of

from io_idtech.io_common.skeletal import skinning
from io_idtech.io_md5.format import format_mesh, parse_mesh
from io_idtech.io_md5.format.text.rows import MIN_LINES

# What the samples hold


def test_all_values_of_a_mesh_file_are_read():
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


# The header


@pytest.mark.parametrize("key", ["commandline", "numJoints", "numMeshes"])
def test_header_keys_of_a_mesh_stand_in_any_order(key):
    line = next(row for row in MESH.split("\n") if row.startswith(key))
    without = edited(MESH, line + "\n", "")
    assert_reads_alike(edited(without, "mesh {", line + "\nmesh {"), MESH)
    assert_reads_alike(without + line, MESH)


@pytest.mark.parametrize("key", ["numJoints 3", "numMeshes 1", "\tnumverts 3", "\tnumtris 2", "\tnumweights 4"])
def test_counts_of_a_mesh_may_be_missing(key):
    assert_reads_alike(edited(MESH, key, ""), MESH)


BLOCK = MESH[MESH.index("mesh {") :]


# Meshes


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


def test_biases_are_not_changed():
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


@pytest.mark.parametrize("block", ["mesh {\n}", 'mesh {\nshader ""\nnumverts 0\nnumtris 0\nnumweights 0\n}', "mesh{}"])
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


def test_orientations_slightly_longer_than_1_are_rotations():
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


def mesh_with(comment, rows=3):
    """A model of two meshes, the first with a comment behind its brace and so many vertices."""
    text = MESH.replace("mesh {\n", f"mesh {{\n{comment}", 1)
    if rows > 3:
        lines = "".join(f"\tvert {row} ( 0 0 ) 0 1\n" for row in range(rows))
        text = re.sub(r"\tnumverts 3\n(\tvert.*\n)+", lambda _: f"\tnumverts {rows}\n{lines}", text)
    return parse_mesh((text + MESH[MESH.index("mesh {") :]).encode())


# Names of meshes in comments


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


@pytest.mark.parametrize(
    ("old", "new", "reason", "found", "expected"),
    [
        ('"head"\t1 ', '"head"\t3 ', "the parent does not exist", "3", "-1 to 2"),
        ('"head"\t1 ', '"head"\t-2 ', "the parent does not exist", "-2", "-1 to 2"),
        ('"head"\t1 ', '"head"\t0.5 ', "the parent is not a whole number", "0.5", "a whole number"),
        ('"head"\t1 ', '"head"\t4294967296 ', "the parent does not exist", "4294967296", "-1 to 2"),
        ("tri 1 2 1 0", "tri 1 2 1 3", "the vertex does not exist", "3", "0 to 2"),
        ("tri 1 2 1 0", "tri 1 -1 1 0", "the vertex does not exist", "-1", "0 to 2"),
        ("tri 1 2 1 0", "tri 1 2 1.5 0", "the vertex is not a whole number", "1.5", "a whole number"),
        ("weight 3 2 1", "weight 3 3 1", "the joint does not exist", "3", "0 to 2"),
        ("weight 3 2 1", "weight 3 -1 1", "the joint does not exist", "-1", "0 to 2"),
        ("weight 3 2 1", "weight 3 1e9 1", "the joint does not exist", "1000000000", "0 to 2"),
        (") 3 1\n", ") 4 1\n", "vertex 2 has weights that do not exist", "1 weight from 4 on", "4 weights"),
        (") 3 1\n", ") 3 2\n", "vertex 2 has weights that do not exist", "2 weights from 3 on", "4 weights"),
        (") 3 1\n", ") -1 1\n", "vertex 2 has weights that do not exist", "1 weight from -1 on", "4 weights"),
        (") 3 1\n", ") 3 -1\n", "vertex 2 has weights that do not exist", "-1 weights from 3 on", "4 weights"),
        (
            ") 3 1\n",
            ") 2147483647 2147483647\n",
            "vertex 2 has weights that do not exist",
            "2,147,483,647",
            "4 weights",
        ),
        (") 3 1\n", ") 3 1.5\n", "a weight range is not a whole number", "1.5", "a whole number"),
    ],
)
def test_a_mesh_with_an_index_out_of_range_is_refused(old, new, reason, found, expected):
    line = line_of(MESH, old)
    refused(parse_mesh, edited(MESH, old, new), line, reason=reason, found=found, expected=expected)


def test_a_number_on_a_line_of_its_own_is_named_with_that_line():
    text = edited(MESH, "tri 1 2 1 0", "tri 1\n2\n1\n7")
    refused(parse_mesh, text, line_of(MESH, "tri 1 2 1 0") + 3, reason="the vertex", found="7", expected="0 to 2")


def test_references_of_the_second_mesh_are_to_its_own_tables():
    second = MESH[MESH.index("mesh {") :].replace("tri 1 2 1 0", "tri 1 2 1 3")
    line = last_line(MESH) - 1 + line_of(second, "tri 1 2 1 3")
    refused(parse_mesh, MESH + second, line, reason="the vertex", found="3", expected="0 to 2")


def test_references_to_empty_tables():
    text = MESH[: MESH.index("mesh {")] + 'mesh {\nshader ""\n\ntri 0 0 0 0\n}\n'
    mesh_refused(text, "tri 0", reason="the vertex does not exist", found="0", expected="none")


def sample_model():
    return parse_mesh(MESH.encode())


def test_a_mesh_file_is_laid_out_as_ids_exporter_does():
    assert format_mesh(sample_model()).decode() == MESH


def test_the_name_of_a_mesh_is_written_where_there_is_one():
    model = sample_model()
    model.meshes[0].name = "the box"
    text = format_mesh(model).decode()
    assert '\tname "the box"\n\tshader "models/box/box"\n' in text
    assert parse_mesh(text.encode()).meshes[0].name == "the box"


def test_rows_are_numbered_from_0_whatever_they_were_read_as():
    text = MESH.replace("vert 1", "vert 9").replace("tri 0", "tri 5").replace("weight 3", "weight 0")
    assert format_mesh(parse_mesh(text.encode())).decode() == MESH
