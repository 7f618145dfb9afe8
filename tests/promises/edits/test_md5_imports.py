"""Animations that are imported onto an edited armature: joints and meshes are where the file says, or a warning says
how far off they are."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import armature_edits
import bpy
import evaluated_meshes
import md5_compare
import md5_reader
import md5_scenes
import numpy as np
import pytest
import workbench
from mathutils import Matrix, Vector
from workbench import Bench

from io_idtech.io_md5.format import encode_local_poses, local_poses, read_mesh, write_animation

pytestmark = pytest.mark.slow

# Of the model's size.
LIMIT = 1e-4


def edit_bones(change: Callable) -> Callable[[Bench], None]:
    """An edit that does something to the edit bones."""

    def run(bench: Bench) -> None:
        with workbench.mode(bench.armature, "EDIT"):
            change(bench.armature.data.edit_bones)

    return run


def _connected(bones) -> None:
    for bone in bones:
        if bone.parent and len(bone.parent.children) == 1:
            bone.parent.tail = bone.head
            bone.use_connect = True


def _connected_moving(bones) -> None:
    bone = bones["leg.L"]
    bone.use_connect = True


def _scaled(bones) -> None:
    for bone in bones:
        bone.matrix = Matrix.Scale(1.0, 4) @ bone.matrix
        bone.head, bone.tail = 2.0 * bone.head, 2.0 * bone.tail


def _turned(bones) -> None:
    for bone in bones:
        bone.roll += 0.9


def _moved(bones) -> None:
    bones["head"].head += Vector((1.0, 2.0, 0.5))
    bones["head"].tail += Vector((1.0, 2.0, 0.5))


def _longer(bones) -> None:
    for bone in bones:
        bone.tail = bone.head + 3.0 * (bone.tail - bone.head)


def _reposed(bench: Bench) -> None:
    armature_edits.EDITS["apply the pose as rest pose with the meshes"](bench)


def _rest_only(bench: Bench) -> None:
    armature_edits.EDITS["apply the pose as rest pose"](bench)


def _pose_scale(bench: Bench) -> None:
    bench.armature.pose.bones["spine"].scale = (1.5, 1.5, 1.5)


def _pose_scale_alone(bench: Bench) -> None:
    for bone in bench.armature.data.bones:
        bone.inherit_scale = "NONE"
    _pose_scale(bench)


def _inherit(bench: Bench) -> None:
    bench.armature.data.bones["spine"].use_inherit_rotation = False


def _no_local_location(bench: Bench) -> None:
    for bone in bench.armature.data.bones:
        bone.use_local_location = False


def _constraint(bench: Bench) -> None:
    limit = bench.armature.pose.bones["spine"].constraints.new("LIMIT_ROTATION")
    limit.use_limit_x, limit.owner_space = True, "LOCAL"


def _locked(bench: Bench) -> None:
    for bone in bench.armature.pose.bones:
        bone.lock_location = (True, True, True)


def _object(bench: Bench) -> None:
    bench.armature.matrix_world = Matrix.Translation((1, 2, 3)) @ Matrix.Rotation(0.6, 4, "Z")


def _object_scale(bench: Bench) -> None:
    bench.armature.scale = (2.0, 2.0, 2.0)


def _missing(bones) -> None:
    bones.remove(bones["spine"])


def _reparented(bones) -> None:
    bones["head"].parent = bones["hips"]


def _nothing(bench: Bench) -> None:
    """As imported."""


ARMATURES: dict[str, Callable[[Bench], None]] = {
    "as imported": _nothing,
    "connected bones": edit_bones(_connected),
    "a connected bone that moves": edit_bones(_connected_moving),
    "scaled bones": edit_bones(_scaled),
    "scale applied": armature_edits.EDITS["scale applied with meshes"],
    "scale applied without meshes": armature_edits.EDITS["scale applied"],
    "turned bones": edit_bones(_turned),
    "a moved bone": edit_bones(_moved),
    "longer bones": edit_bones(_longer),
    "pose applied as rest pose": _rest_only,
    "pose applied as rest pose with the meshes": _reposed,
    "a scaled pose": _pose_scale,
    "a scaled pose that no bone inherits": _pose_scale_alone,
    "no inherited rotation": _inherit,
    "no local locations": _no_local_location,
    "a constraint": _constraint,
    "locked locations": _locked,
    "moved object": _object,
    "scaled object": _object_scale,
    "a missing bone": edit_bones(_missing),
    "a bone with another parent": edit_bones(_reparented),
}
# Nothing that an animation goes by was changed.
EXACT = {"as imported", "longer bones", "turned bones", "locked locations", "moved object"}
# What is not moved at all is named instead.
NAMED = {"a missing bone", "a bone with another parent"}


def _import(path: Path) -> list[str]:
    return md5_compare.call(bpy.ops.import_scene.md5, filepath=str(path))


def _joints_off(bench: Bench, clip: md5_reader.Clip, frame: int) -> float:
    """How far the heads of bones are from the joints of the file, in the space of the armature."""
    graph = bpy.context.evaluated_depsgraph_get()
    pose = bench.armature.evaluated_get(graph).pose.bones
    return max(
        float(np.linalg.norm(np.array(pose[name].head) - clip.positions[frame, joint]))
        for joint, name in enumerate(clip.names)
        if name in pose
    )


def _mesh_off(bench: Bench, model: md5_reader.Model, clip: md5_reader.Clip, frame: int) -> float:
    """How far the vertices of meshes that were imported unmerged are from those of the file."""
    graph = bpy.context.evaluated_depsgraph_get()
    worst = 0.0
    order = [clip.names.index(name) for name in model.names]
    back = np.array(bench.armature.matrix_world.inverted())
    for obj in bench.meshes:
        block = next(one for one in model.blocks if one.shader == obj.data.materials[0].name)
        expected = block.vertices(clip.positions[frame][order], clip.turns[frame][order])
        evaluated = obj.evaluated_get(graph)
        matrix = back @ np.array(evaluated.matrix_world)
        seen = np.array([vertex.co for vertex in evaluated.data.vertices]) @ matrix[:3, :3].T + matrix[:3, 3]
        worst = max(worst, float(np.linalg.norm(seen - expected, axis=1).max()))
    return worst


def _worst(bench: Bench, folder: Path) -> tuple[float, float]:
    """The greatest distances of joints and of vertices over all frames, relative to the model's size."""
    model = md5_reader.read_model(folder / "sample.md5mesh")
    clip = md5_reader.read_clip(folder / "walk.md5anim")
    size = float(np.linalg.norm(np.ptp(np.concatenate([
        block.vertices(model.positions, model.turns) for block in model.blocks
    ]), axis=0)))  # fmt: skip
    joints = vertices = 0.0
    for frame in range(len(clip.positions)):
        bpy.context.scene.frame_set(frame)
        joints = max(joints, _joints_off(bench, clip, frame) / size)
        vertices = max(vertices, _mesh_off(bench, model, clip, frame) / size)
    return joints, vertices


@pytest.mark.parametrize("direction", ["CHILD", "JOINT"])
@pytest.mark.parametrize("kind", ARMATURES)
def test_an_animation_on_an_edited_armature_matches_the_file_or_gives_a_warning(tmp_path, kind, direction):
    path = workbench.write_sample(tmp_path)
    bench = workbench.load([path], merge_vertices=False, bone_direction=direction)
    ARMATURES[kind](bench)
    workbench.activate(bench.armature)
    warnings = _import(tmp_path / "walk.md5anim")
    joints, vertices = _worst(bench, tmp_path)
    told = [text for text in warnings if kind in NAMED or re.search(r"\boff\b.*\d|\d.*\boff\b", text)]
    if kind in EXACT:
        assert max(joints, vertices) <= LIMIT, (joints, vertices)
        assert warnings == []
    elif max(joints, vertices) > LIMIT:
        assert told, (joints, vertices, warnings)


@pytest.mark.parametrize("kind", ["a connected bone that moves", "scaled bones", "a moved bone", "scale applied"])
def test_the_warning_of_an_import_tells_how_far_off_it_is(tmp_path, kind):
    path = workbench.write_sample(tmp_path)
    bench = workbench.load([path], merge_vertices=False)
    ARMATURES[kind](bench)
    workbench.activate(bench.armature)
    warnings = _import(tmp_path / "walk.md5anim")
    worst = max(_worst(bench, tmp_path))
    if worst <= LIMIT:
        assert warnings == []
        return
    text = " ".join(warnings)
    shares = [float(number) / 100.0 for number in re.findall(r"([\d.]+)\s?%", text)]
    assert any(0.3 * worst <= share <= 3.0 * worst for share in shares), (worst, warnings)


def test_a_location_on_a_few_frames_that_connected_bones_lose_is_told(tmp_path):
    path = workbench.write_sample(tmp_path)
    bench = workbench.load([path])
    edit_bones(_connected)(bench)
    joints = read_mesh(path).joints
    still = md5_scenes.animation(joints, frames=100, moving=())
    positions, orientations = local_poses(still)
    positions[53:56, joints.names.index("head")] *= 1.5
    hop = encode_local_poses(
        joints.names, joints.parents, positions, orientations, frame_rate=24.0, bounds=still.bounds
    )
    write_animation(hop, tmp_path / "hop.md5anim")
    workbench.activate(bench.armature)
    (warning,) = _import(tmp_path / "hop.md5anim")
    assert re.search(r"off from the file on frame 5[345]\b.*connected", warning), warning


@pytest.mark.parametrize("kind", sorted(set(ARMATURES) - {"a missing bone"}))
def test_animations_imported_onto_an_edited_armature_are_exported_as_evaluated(tmp_path, kind):
    path = workbench.write_sample(tmp_path)
    bench = workbench.load([path])
    ARMATURES[kind](bench)
    workbench.activate(bench.armature)
    with md5_compare.silence():
        _import(tmp_path / "walk.md5anim")
    bpy.context.scene.frame_set(0)
    (tmp_path / "out").mkdir()
    assert evaluated_meshes.meshes_of(bench.armature)
    result = md5_compare.export_and_compare(tmp_path / "out", bench.armature, actions="ACTIVE")
    md5_compare.assert_matches_blender(result)
