"""A face of four corners of which three are on a line, as after subdividing an edge of a triangle."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from scripted_scenes import rig, tube

from io_idtech.io_common.skeletal.skinning import skin
from io_idtech.io_md2.format import decompress, read_model
from io_idtech.io_md5.format import read_mesh


def subdivided(obj):
    """Triangles of whose edges every seventh has a vertex in its middle."""
    bpy.context.view_layer.objects.active = obj
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="SELECT")
    bpy.ops.mesh.quads_convert_to_tris()
    bpy.ops.mesh.select_mode(type="EDGE")
    bpy.ops.mesh.select_all(action="DESELECT")
    bpy.ops.object.mode_set(mode="OBJECT")
    for edge in obj.data.edges:
        edge.select = edge.index % 7 == 0
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.subdivide(quadcorner="STRAIGHT_CUT", ngon=True)
    bpy.ops.object.mode_set(mode="OBJECT")
    assert sum(len(polygon.vertices) == 4 for polygon in obj.data.polygons) > 4


def areas(vertices, triangles):
    a, b, c = np.moveaxis(vertices[triangles], 1, 0)
    return np.linalg.norm(np.cross(b - a, c - a), axis=1)


@pytest.mark.parametrize("mirrored", [False, True])
def test_it_is_split_into_two_triangles_with_area_in_both_formats(tmp_path, mirrored):
    armature = rig()
    obj = tube(armature)
    if mirrored:
        armature.scale.x = -1.0
    subdivided(obj)
    obj.data.calc_loop_triangles()
    corners = np.array([triangle.vertices for triangle in obj.data.loop_triangles])
    places = np.array([vertex.co for vertex in obj.data.vertices])
    # Blender makes lines of some of them.
    assert areas(places, corners).min() < 1e-5
    armature.data.pose_position = "REST"
    bpy.ops.export_scene.md5mesh(filepath=str(tmp_path / "out.md5mesh"))
    model = read_mesh(tmp_path / "out.md5mesh")
    (mesh,) = model.meshes
    assert len(mesh.triangles) == len(corners)
    found = areas(skin(mesh, model.joints.positions, model.joints.orientations), mesh.triangles)
    assert found.min() > 0.02
    bpy.ops.export_scene.md2(filepath=str(tmp_path / "out.md2"), frames="SCENE", frame_start=1, frame_end=1)
    md2 = read_model(tmp_path / "out.md2")
    assert len(md2.triangles) == len(corners)
    assert areas(decompress(md2.vertices, md2.scale, md2.translate)[0], md2.triangles).min() > 0.02
