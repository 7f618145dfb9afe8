"""Verification of an animation that was imported onto an existing armature: joints and meshes compared with the file.

They differ if bones are connected (Blender ignores their location), scaled, have constraints, or have another rest
pose or size than in the file.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...io_blender import versions
from ...io_blender.records import NONE
from ...io_blender.reports import Report, listing
from ...io_blender.scene import evaluated, mesh_data
from ...io_blender.verify_option import Verify, frames_to_verify
from ..exporting.clips import Clip, PlaybackMode
from ..exporting.distinct_poses import distinct_frames
from ..exporting.player import playback
from ..exporting.pose_curves import poses_from_curves
from ..exporting.verification import POSITION_TOLERANCE
from ..exporting.weight_table import WeightTable
from ..format import Animation
from ..format import quaternions as quat
from ..format.model import Floats
from ..format.scale_file import ScaleTable, scaled_poses
from ..format.skeleton import Match, poses
from ..records import load_mesh, load_vertices
from .rig import Rig

_SCALE_TOLERANCE = 1e-4

if TYPE_CHECKING:
    from bpy.types import Action, Context, Depsgraph, Object


def verify_import(
    context: Context,
    armature: Object,
    rig: Rig,
    action: Action,
    animation: Animation,
    match: Match,
    scales: ScaleTable | None,
    report: Report,
) -> None:
    """Warns if joints or meshes differ from the animation, on some of its frames.

    `armature` is one that existed before the import; `animation` is in its coordinates. Without `scales`, they are 1.
    """
    if not animation.has_hierarchy or not match.joints:
        return
    meshes = [
        obj for obj in context.view_layer.objects if obj.type == "MESH" and obj.find_armature() == armature
    ]
    positions, orientations = poses(animation) if scales is None else scaled_poses(animation, scales)
    chosen = frames_to_verify(animation.frame_count, Verify.SOME)
    chosen = distinct_frames(animation.parents, positions, orientations, chosen)
    positions, orientations = positions[chosen], orientations[chosen]
    factors = np.ones(positions.shape[:2]) if scales is None else scales.values[chosen]
    # If the bones are as in the file, edits of a mesh are intended, and only the bones are compared.
    compares_meshes = not rig.is_unmoved.all()
    worst, worst_frame = 0.0, 0.0
    start = action.frame_start
    slots = versions.slots_for(action, "OBJECT")
    clip = Clip(
        action.name, PlaybackMode.ACTIVE, start, action.frame_end, animation.frame_rate, action, slots[0]
    )
    size = _size(armature, meshes, rig)
    joints = positions, orientations, factors
    if not compares_meshes and _curves_agree(armature, rig, match, clip, chosen, joints, size):
        return
    # The pose must include the new action before it is saved.
    context.view_layer.update()
    with playback(context, armature, meshes, [clip]) as player:
        player.play(clip)
        versions.play(armature.animation_data, action, slots[0])
        for row, index in enumerate(chosen):
            graph = player.evaluate(start + index)
            pose = _FilePose(positions[row], orientations[row], factors[row])
            distance = _head_distance(armature, rig, match, pose, graph)
            if compares_meshes:
                for obj in meshes:
                    distance = max(distance, _mesh_distance(obj, armature, rig, match, pose, graph))
            else:
                distance = max(distance, _bone_distance(armature, rig, match, pose, graph))
            if distance > worst:
                worst, worst_frame = distance, start + index
    if worst > POSITION_TOLERANCE * size:
        causes = "; ".join(_causes(armature, rig)) or "unknown"
        report.warn(
            f"joints or vertices are up to {worst:.4g} units ({worst / size:.2%} of the model's size) off from the "
            f"file on frame {worst_frame:g}. Likely cause: {causes}",
            action.name,
        )


def _curves_agree(
    armature: Object,
    rig: Rig,
    match: Match,
    clip: Clip,
    chosen: list[int],
    joints: tuple[Floats, Floats, Floats],
    size: float,
) -> bool:
    """Whether F-curves alone move the bones, and as in the file: then Blender need not evaluate the action.

    `chosen` has the F frames of the file to compare; `joints` are positions (F, J, 3), orientations (F, J, 4) and
    scales (F, J) by the file. `size` is that of the model, for the tolerance.
    """
    if armature.animation_data.use_tweak_mode:
        return False
    found = poses_from_curves(
        armature, rig, clip, clip.start + np.array(chosen, dtype=np.float64), with_scales=True
    )
    if found is None:
        return False
    lengths = np.array([armature.data.bones[rig.bone_names[bone]].length for bone in match.bones])
    ends = lengths[:, None, None] * np.concatenate([np.zeros((1, 3)), np.eye(3)])
    own, expected = (
        positions[..., None, :] + quat.rotate(orientations[..., None, :], ends * scales[..., None, None])
        for positions, orientations, scales in (
            (part[:, match.bones] for part in found),
            (part[:, match.joints] for part in joints),
        )
    )
    return bool(np.linalg.norm(own - expected, axis=-1).max() <= POSITION_TOLERANCE * size)


def _size(armature: Object, meshes: list[Object], rig: Rig) -> float:
    """The diagonal of the box around the meshes at rest, or around the joints if there are none, in armature space."""
    local = np.linalg.inv(evaluated.world_matrix(armature))
    clouds = [] if any(len(obj.data.vertices) for obj in meshes) else [rig.joints.positions]
    for obj in meshes:
        matrix = local @ evaluated.world_matrix(obj)
        clouds.append(mesh_data.positions(obj.data) @ matrix[:3, :3].T + matrix[:3, 3])
    return max(float(np.linalg.norm(np.ptp(np.concatenate(clouds), axis=0))), 1e-9)


@dataclass(frozen=True, eq=False)
class _FilePose:
    """The joints of a file on a frame: positions (J, 3), orientations (J, 4) and scales (J,)."""

    positions: Floats
    orientations: Floats
    scales: Floats


def _head_distance(armature: Object, rig: Rig, match: Match, pose: _FilePose, graph: Depsgraph) -> float:
    """The largest distance between bone heads and their joints, in armature space."""
    posed = armature.evaluated_get(graph).pose.bones
    heads = np.empty(3 * len(posed), dtype=np.float32)
    posed.foreach_get("head", heads)
    order = [posed.find(rig.bone_names[bone]) for bone in match.bones]
    offsets = heads.reshape(-1, 3)[order] - pose.positions[match.joints]
    return float(np.linalg.norm(offsets, axis=1).max(initial=0.0))


def _bone_distance(armature: Object, rig: Rig, match: Match, pose: _FilePose, graph: Depsgraph) -> float:
    """The largest distance between the ends of bone axes and their positions by the animation."""
    posed = armature.evaluated_get(graph).pose.bones
    worst = 0.0
    for joint, bone in zip(match.joints, match.bones, strict=True):
        pose_bone = posed[rig.bone_names[bone]]
        ends = np.array([[0.0, 0.0, 0.0], *(pose_bone.length * np.eye(3))])
        matrix = np.array(pose_bone.matrix)
        own = ends @ matrix[:3, :3].T + matrix[:3, 3]
        # The ends in the space of the joint, which is fixed in its bone.
        rest = rig.rest_positions[bone] + quat.rotate(rig.rest_orientations[bone], ends)
        local = quat.rotate(quat.conjugate(rig.joints.orientations[bone]), rest - rig.joints.positions[bone])
        expected = pose.positions[joint] + quat.rotate(pose.orientations[joint], local * pose.scales[joint])
        worst = max(worst, float(np.linalg.norm(own - expected, axis=1).max()))
    return worst


def _mesh_distance(
    obj: Object, armature: Object, rig: Rig, match: Match, pose: _FilePose, graph: Depsgraph
) -> float:
    """The largest distance between the vertices of an imported mesh and their positions by the stored weights."""
    stored = load_mesh(obj.data)
    posed = obj.evaluated_get(graph)
    if stored is None or not len(stored.joints):
        return 0.0
    joint_of_index = {
        int(rig.indices[bone]): joint for joint, bone in zip(match.joints, match.bones, strict=True)
    }
    table = [joint_of_index.get(index, -1) for index in range(int(stored.joints.max()) + 1)]
    joints = np.array(table)[stored.joints]
    offsets = stored.positions * pose.scales[joints][:, None]
    points = pose.positions[joints] + quat.rotate(pose.orientations[joints], offsets)
    weights = WeightTable(stored.starts, stored.counts, joints.astype(np.int32), stored.biases, points)
    expected = weights.positions
    everything = np.arange(len(stored.counts))
    is_moved = np.ones(len(stored.counts), dtype=bool)
    is_moved[np.repeat(everything, stored.counts)[weights.joints[weights.rows(everything)] < 0]] = False
    vertices, _ = load_vertices(posed.data, stored)
    known = np.flatnonzero(vertices != NONE)
    known = known[is_moved[vertices[known]]]
    local = np.linalg.inv(evaluated.world_matrix(armature.evaluated_get(graph)))
    vertices_now = evaluated.world_vertices(posed)[known] @ local[:3, :3].T + local[:3, 3]
    return float(np.linalg.norm(vertices_now - expected[vertices[known]], axis=1).max(initial=0.0))


def _causes(armature: Object, rig: Rig) -> list[str]:
    """Reasons why an armature may not follow an animation."""
    bones = armature.pose.bones
    found = []
    connected = [bone.name for bone in bones if bone.bone.use_connect]
    if connected:
        found.append(f"Blender ignores the location of connected bones: {listing(connected, 3)}")
    scaled = [bone.name for bone in bones if max(abs(size - 1.0) for size in bone.scale) > _SCALE_TOLERANCE]
    if scaled:
        found.append(f"bones are scaled in the pose: {listing(scaled, 3)}")
    constrained = [bone.name for bone in bones if any(not constraint.mute for constraint in bone.constraints)]
    if constrained:
        found.append(f"constraints: {listing(constrained, 3)}")
    special = [
        bone.name for bone in bones if not (bone.bone.use_inherit_rotation and bone.bone.use_local_location)
    ]
    if special:
        found.append(f"Inherit Rotation or Local Location is off: {listing(special, 3)}")
    moved = [rig.bone_names[bone] for bone in np.flatnonzero(~rig.is_unmoved)]
    if moved:
        found.append(f"the rest position of bones differs from the file: {listing(moved, 3)}")
    return found
