"""What the dataclasses of MD5 files count."""

from __future__ import annotations

from md5_samples import ANIMATION, CAMERA, MESH

from io_idtech.io_md5.format import parse_animation, parse_camera, parse_mesh


def test_joints_and_vertices_are_counted():
    model = parse_mesh(MESH.encode())
    assert len(model.joints) == 3
    assert [mesh.vertex_count for mesh in model.meshes] == [3]
    assert model.vertex_count == 3
    model.meshes *= 2
    assert model.vertex_count == 6


def test_frames_are_counted():
    animation = parse_animation(ANIMATION.encode())
    assert animation.frame_count == len(animation.frames) == 3


def test_entries_of_a_camera_are_counted():
    camera = parse_camera(CAMERA.encode())
    assert camera.entry_count == len(camera.positions) == len(camera.fields_of_view)
