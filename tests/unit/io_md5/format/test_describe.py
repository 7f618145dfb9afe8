"""What is in an MD5 file, in numbers."""

from __future__ import annotations

import numpy as np
from paths import SAMPLES

from io_md5.format import Camera, read_mesh, write_camera
from io_md5.format.describe import describe_animation, describe_camera, describe_mesh

OCTOPUS = SAMPLES / "models" / "octopus"


def test_info_of_a_mesh_has_its_joints_meshes_and_box():
    facts = describe_mesh(OCTOPUS / "octopus.md5mesh").facts
    model = read_mesh(OCTOPUS / "octopus.md5mesh")
    assert facts["kind"] == "md5mesh"
    assert facts["joints"] == len(model.joints.names)
    assert facts["roots"] == ["origin"]
    assert [mesh["shader"] for mesh in facts["meshes"]] == [mesh.shader for mesh in model.meshes]
    assert facts["vertices"] == sum(mesh["vertices"] for mesh in facts["meshes"]) == model.vertex_count
    assert all(low < high for low, high in zip(*facts["box"], strict=True))


def test_info_of_an_animation_has_its_frames_and_duration():
    facts = describe_animation(OCTOPUS / "swim.md5anim").facts
    assert (facts["kind"], facts["frames"], facts["frame_rate"]) == ("md5anim", 49, 24.0)
    assert facts["seconds"] == 49 / 24
    assert 0 < facts["moving_joints"] <= facts["joints"] == 59


def test_info_of_a_camera_has_its_playing_time_and_cuts(tmp_path):
    # Five entries with one cut are four frames.
    camera = Camera(
        cuts=np.array([2], np.int32),
        positions=np.zeros((5, 3)),
        orientations=np.zeros((5, 3)),
        fields_of_view=np.array([90.0, 80, 70, 60, 50]),
        frame_rate=2.0,
    )
    write_camera(camera, tmp_path / "shot.md5camera")
    facts = describe_camera(tmp_path / "shot.md5camera").facts
    assert (facts["frames"], facts["seconds"], facts["cuts"]) == (4, 2.0, [2])
    assert facts["fields_of_view"] == [50.0, 90.0]
