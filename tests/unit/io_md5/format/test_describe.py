"""What is in an MD5 file, in numbers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from md5_game_models import camera, model
from md5_samples import ANIMATION, CAMERA, MESH
from paths import SAMPLES

from io_idtech.io_md5.format import (
    Camera,
    Md5Error,
    describe,
    parse_animation,
    parse_camera,
    parse_mesh,
    read_mesh,
    rest_pose,
    write_animation,
    write_camera,
    write_mesh,
)

OCTOPUS = SAMPLES / "models" / "octopus"


def test_info_of_a_mesh_has_its_joints_meshes_and_box():
    facts = describe(OCTOPUS / "octopus.md5mesh").facts
    model = read_mesh(OCTOPUS / "octopus.md5mesh")
    assert facts["kind"] == "md5mesh"
    assert facts["joints"] == len(model.joints.names)
    assert facts["roots"] == ["origin"]
    assert [mesh["shader"] for mesh in facts["meshes"]] == [mesh.shader for mesh in model.meshes]
    assert facts["vertices"] == sum(mesh["vertices"] for mesh in facts["meshes"]) == model.vertex_count
    assert all(low < high for low, high in zip(*facts["box"], strict=True))


def test_info_of_an_animation_has_its_frames_and_duration():
    facts = describe(OCTOPUS / "swim.md5anim").facts
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
    facts = describe(tmp_path / "shot.md5camera").facts
    assert (facts["frames"], facts["seconds"], facts["cuts"]) == (4, 2.0, [2])
    assert facts["fields_of_view"] == [50.0, 90.0]


@pytest.mark.parametrize(
    ("text", "read", "suffix"),
    [(MESH, parse_mesh, ".md5mesh"), (ANIMATION, parse_animation, ".md5anim"), (CAMERA, parse_camera, ".md5camera")],
)
def test_models_and_paths_are_described_alike(tmp_path, text, read, suffix):
    path = tmp_path / f"file{suffix}"
    path.write_text(text)
    assert describe(path).facts == describe(read(text.encode())).facts
    assert describe(str(path)).lines == describe(read(text.encode())).lines


def test_a_file_of_another_kind_is_not_described(tmp_path):
    (tmp_path / "file.md2").write_bytes(b"IDP2")
    with pytest.raises(Md5Error, match=r"file\.md2"):
        describe(tmp_path / "file.md2")


def test_camera_paths_are_checked_for_a_game():
    path = camera(cut_groups=["pos ( 1 2 3 ) rot ( 0 90 0 )"])
    (finding,) = describe(path, "DOOM3").facts["findings"]
    assert (finding["code"], finding["is_error"]) == ("cut_groups", True)
    (warning,) = describe(path, "ANY").facts["findings"]
    assert (warning["code"], warning["is_error"]) == ("cut_groups", False)


def test_a_mesh_is_checked_in_the_poses_of_the_animation_beside_it(tmp_path):
    subject = model(joints=2, vertices=3, weights=6)
    subject.joints.parents[1] = 0
    part = subject.meshes[0]
    part.weight_starts[:], part.weight_counts[:] = (0, 2, 4), 2
    part.weight_joints[:], part.weight_biases[:] = (0, 1, 0, 1, 0, 1), 0.5
    write_mesh(subject, tmp_path / "a.md5mesh")
    told = {}
    for distance in (0.0, 1000.0):
        moved = replace(subject.joints, positions=np.array([[0.0, 0.0, 0.0], [distance, 0.0, 0.0]]))
        write_animation(rest_pose(moved, np.zeros((2, 3))), tmp_path / "a.md5anim")
        texts = [finding["text"] for finding in describe(tmp_path / "a.md5mesh", "QUAKE").facts["findings"]]
        (told[distance],) = [text for text in texts if "units in Ironwail" in text]
    assert told[0.0] != told[1000.0]
