"""Flat faces and sharp edges: warned of, or split so that the file's normals are those that Blender shades with."""

from __future__ import annotations

import math

import bpy
import md2_compare
import numpy as np
import pytest
from md2_compare import SETTINGS, assert_matches_blender, bench_of, compare, export
from scripted_scenes import cube

from io_idtech.io_md2.format import NORMALS

WARNING = "smooth in the file"
# Parts of it have only a vertex in common, where Blender cannot hold one custom normal for all.
MEETS_IN_POINTS = "actionquake+distrib/baseaq/pak0/players/aqmarine/w_cannon.md2"


def shading(objects, file, number, frame, turn=((1, 0, 0), (0, 1, 0), (0, 0, 1))):
    """How much worse a normal of the file is than the nearest that the format has, at the corner where it is worst."""
    turn = np.array(turn)
    bpy.context.scene.frame_set(frame)
    graph = bpy.context.evaluated_depsgraph_get()
    places, normals = [], []
    for obj in objects:
        evaluated = obj.evaluated_get(graph)
        mesh, world = evaluated.data, evaluated.matrix_world
        to_world = world.to_3x3().inverted().transposed()
        mesh.calc_loop_triangles()
        for triangle in mesh.loop_triangles:
            places.append([turn @ (world @ mesh.vertices[vertex].co) for vertex in triangle.vertices])
            shown = [mesh.corner_normals[loop].vector for loop in triangle.loops]
            normals.append([turn @ (to_world @ normal).normalized() for normal in shown])
    places, normals = np.array(places), np.array(normals)
    table = np.array(NORMALS)
    worst = 0.0
    assert len(file.corners) == len(places)
    for corners in file.corners:
        own = file.vertices[number][corners]
        off = np.linalg.norm(places.mean(axis=1) - own.mean(axis=0), axis=1)
        best = int(off.argmin())
        assert off[best] < 0.3
        for place, index in zip(own, file.normals[number][corners], strict=True):
            corner = int(np.linalg.norm(places[best] - place, axis=1).argmin())
            fits = table @ normals[best][corner]
            worst = max(worst, float(fits.max() - fits[index]))
    return worst


def sphere(smooth=True):
    bpy.ops.mesh.primitive_uv_sphere_add(segments=12, ring_count=6, radius=10.0)
    obj = bpy.context.object
    obj.data.shade_smooth() if smooth else obj.data.shade_flat()
    return obj


def sharpen(obj, every=3):
    for edge in obj.data.edges:
        edge.use_edge_sharp = edge.index % every == 0


def test_flat_faces_are_counted_with_the_largest_angle_and_a_split_gives_each_face_its_normal(tmp_path):
    obj = cube(x=0.0)
    result = compare(tmp_path)
    assert_matches_blender(result)
    (text,) = [text for text in result.warnings if WARNING in text]
    assert text == (
        "cube: 6 faces are flat or have sharp edges, but smooth in the file: normals are off by up to 66 degrees. "
        "Turn on Split at Sharp Edges, which adds vertices"
    )
    assert result.file.vertices.shape[1] == 8
    result = compare(tmp_path, split_sharp=True)
    assert_matches_blender(result)
    assert WARNING not in str(result.warnings)
    assert result.file.vertices.shape[1] == 24
    assert shading([obj], result.file, 0, 0) < 1e-4


@pytest.mark.slow
def test_faces_at_sharp_edges_are_counted_and_only_their_vertices_are_split(tmp_path):
    obj = sphere()
    assert WARNING not in str(compare(tmp_path).warnings)
    ring = {v.index for v in obj.data.vertices if abs(v.co.z) < 0.01}
    for edge in obj.data.edges:
        edge.use_edge_sharp = set(edge.vertices) <= ring
    result = compare(tmp_path)
    assert "Sphere: 24 faces are flat or have sharp edges" in str(result.warnings)
    before = result.file.vertices.shape[1]
    result = compare(tmp_path, split_sharp=True)
    assert result.file.vertices.shape[1] == before + len(ring)
    assert shading([obj], result.file, 0, 0) < 1e-4


def test_edges_that_are_sharp_in_a_plane_are_not_mentioned_and_not_split(tmp_path):
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=4, y_subdivisions=4, size=20.0)
    bpy.context.object.data.shade_flat()
    result = compare(tmp_path)
    assert WARNING not in str(result.warnings)
    assert compare(tmp_path, split_sharp=True).file.vertices.shape == result.file.vertices.shape


def move_keys(obj):
    obj.shape_key_add(name="Basis")
    for name, factor in (("tall", 2.0), ("wide", 0.5)):
        for point in obj.shape_key_add(name=name, from_mix=False).data:
            point.co.z *= factor
            point.co.x *= 3.0 - factor


def smooth_by_angle(obj):
    """Sharp where faces meet at more than 40 degrees, which is elsewhere in each frame."""
    obj.data.shade_smooth()
    group = bpy.data.node_groups.new("By Angle", "GeometryNodeTree")
    group.interface.new_socket("Geometry", in_out="INPUT", socket_type="NodeSocketGeometry")
    group.interface.new_socket("Geometry", in_out="OUTPUT", socket_type="NodeSocketGeometry")
    angle, compare_node, edges = (
        group.nodes.new(name)
        for name in ("GeometryNodeInputMeshEdgeAngle", "FunctionNodeCompare", "GeometryNodeSetShadeSmooth")
    )
    compare_node.inputs["B"].default_value = math.radians(40.0)
    edges.domain = "EDGE"
    flip = group.nodes.new("FunctionNodeBooleanMath")
    flip.operation = "NOT"
    links = group.links
    links.new(angle.outputs[0], compare_node.inputs["A"])
    links.new(compare_node.outputs[0], flip.inputs[0])
    links.new(flip.outputs[0], edges.inputs["Shade Smooth"])
    links.new(group.nodes.new("NodeGroupInput").outputs[0], edges.inputs["Geometry"])
    links.new(edges.outputs[0], group.nodes.new("NodeGroupOutput").inputs[0])
    obj.modifiers.new("By Angle", "NODES").node_group = group


@pytest.mark.slow
@pytest.mark.parametrize("change", [sharpen, smooth_by_angle])
def test_the_split_is_the_same_in_all_frames_and_each_has_its_own_normals(tmp_path, change):
    obj = sphere()
    change(obj)
    move_keys(obj)
    obj.rotation_euler, obj.scale = (0.3, 0.5, 0.7), (1.0, -2.0, 0.5)
    file, warnings = export(tmp_path / "out.md2", frames="SHAPE_KEYS", split_sharp=True)
    assert len(file.frame_names) == 3
    assert [text for text in warnings if "differ from Blender" in text] == []
    for number, key in enumerate(obj.data.shape_keys.key_blocks):
        obj.show_only_shape_key, obj.active_shape_key_index = True, number
        assert shading([obj], file, number, 1) < 2e-3, key.name


def test_frames_of_the_scene_and_several_objects(tmp_path):
    objects = [sphere(smooth=False), cube(x=40.0), sphere()]
    objects[2].location.y = 50.0
    objects[0].rotation_euler.z = 0.0
    objects[0].keyframe_insert("rotation_euler", frame=1)
    objects[0].rotation_euler = (0.4, 1.1, 0.2)
    objects[0].keyframe_insert("rotation_euler", frame=4)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 4
    result = compare(tmp_path, frames=[1, 2, 3, 4], split_sharp=True)
    assert_matches_blender(result)
    for number in range(4):
        assert shading(objects, result.file, number, number + 1) < 1e-3
    quarter = np.array([[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    file, _ = export(tmp_path / "turned.md2", split_sharp=True, axis_forward="X", axis_up="Z")
    assert shading(objects, file, 0, 1, turn=quarter) < 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("custom_normals", [False, True])
@pytest.mark.parametrize("name", ["tube", *md2_compare.REAL, MEETS_IN_POINTS])
@pytest.mark.parametrize("setting", SETTINGS)
def test_of_an_import_that_was_not_edited_nothing_is_said_and_no_byte_changes(tmp_path, name, setting, custom_normals):
    bench_of(tmp_path, name, setting, custom_normals=custom_normals)
    options = SETTINGS[setting][1]
    _, warnings = export(tmp_path / "plain.md2", **options)
    assert WARNING not in str(warnings)
    export(tmp_path / "split.md2", split_sharp=True, **options)
    assert (tmp_path / "plain.md2").read_bytes() == (tmp_path / "split.md2").read_bytes()


@pytest.mark.parametrize("setting", ["plain", "one frame"])
def test_an_import_that_is_made_sharp_is_warned_of_and_split(tmp_path, setting):
    obj = bench_of(tmp_path, "tube", setting).mesh
    sharpen(obj, 5)
    result = compare(tmp_path)
    assert WARNING in str(result.warnings)
    vertices = result.file.vertices.shape[1]
    result = compare(tmp_path, split_sharp=True)
    assert_matches_blender(result)
    assert result.file.vertices.shape[1] > vertices


def test_a_split_beyond_the_vertices_of_a_game_is_an_error_that_changes_nothing(tmp_path):
    bpy.context.scene.frame_end = 1
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=30, y_subdivisions=30, size=20.0)
    obj = bpy.context.object
    for vertex in obj.data.vertices:
        vertex.co.z = math.sin(vertex.index)
    obj.data.shade_flat()
    bpy.ops.export_scene.md2(filepath=str(tmp_path / "out.md2"), game="QUAKE2")
    before = (tmp_path / "out.md2").read_bytes()
    with pytest.raises(RuntimeError, match="vertices"):
        bpy.ops.export_scene.md2(filepath=str(tmp_path / "out.md2"), game="QUAKE2", split_sharp=True)
    assert (tmp_path / "out.md2").read_bytes() == before
