"""Verification of an animation imported onto an existing armature: joints and meshes compared with the file. It is
played only if something is known by which the armature may not follow."""

from __future__ import annotations

import numpy as np
from bpy.types import Action, Context, Depsgraph, Object

from ....io_common.skeletal import quaternions as quat
from ....io_common.skeletal.model import ROOT, Floats
from ....io_common.skeletal.playback import distinct_frames
from ....io_common.skeletal.scales import scaled_poses
from ....io_common.skeletal.skeleton import Match, poses
from ....io_common.skeletal.skinning import skin, vertex_weights
from ... import versions
from ...clips.clip import Clip, Source
from ...clips.playing import Player
from ...records import NONE
from ...reports import Report, listing
from ...scene import mesh_data
from ...scene.time_dependence import is_animated
from ...verification import POSITION_TOLERANCE, Differences, Verify, amount, diagonal, frames_to_verify, longest
from ..records import load_mesh, load_vertices
from ..rig import Motion, Rig

_SCALE_TOLERANCE = 1e-4

_Pose = tuple[Floats, Floats, Floats]
"""The joints of a file on a frame: positions (J, 3), orientations (J, 4) and scales (J,)."""


def verify_import(context: Context, armature: Object, action: Action, motion: Motion, report: Report) -> None:
    """Warns if joints or meshes differ from the motion of an action on some of its frames."""
    rig, animation, match, scales = motion.rig, motion.animation, motion.match, motion.scales
    is_transferred = motion.is_transferred
    if not animation.has_hierarchy or not match.joints:
        return
    causes = _causes(armature, rig, match, is_transferred=is_transferred)
    if not causes and not _is_moved_otherwise(armature):
        return
    meshes = [obj for obj in context.view_layer.objects if obj.type == "MESH" and obj.find_armature() == armature]
    positions, orientations = poses(animation) if scales is None else scaled_poses(animation, scales)
    chosen = frames_to_verify(animation.frame_count, Verify.SOME)
    chosen = distinct_frames(animation.parents, positions, orientations, chosen)
    factors = np.ones(positions.shape[:2]) if scales is None else scales.values
    # If the bones are as in the file, edits of a mesh are intended, and only the bones are compared. A transferred
    # animation is that of the bones as they are.
    compares_meshes = not rig.is_unmoved.all() and not is_transferred
    size = max(_size(armature, meshes, rig), 1e-9)
    found = Differences()
    # The pose must include the new action before it is saved.
    context.view_layer.update()
    slot = versions.slots_for(action, "OBJECT")[0]
    clip = Clip(Source.ACTIONS, action.name, action.frame_start, action.frame_end, action, slot)
    with Player(context, [armature], [clip], meshes) as player:
        player.play(clip)
        versions.play(armature.animation_data, action, slot)
        for index in chosen:
            frame = action.frame_start + index
            graph = player.evaluate(frame)
            pose = positions[index], orientations[index], factors[index]
            distance = _bone_distance(armature, rig, match, pose, graph, heads_only=compares_meshes)
            for obj in meshes if compares_meshes else ():
                distance = max(distance, _mesh_distance(obj, armature, rig, match, pose, graph))
            found.note(action, "POSITION", distance, f"on frame {frame:g}", allowed=POSITION_TOLERANCE * size)
    for difference in found.values():
        report.warn(
            f"{'joints' if is_transferred else 'joints or vertices'} are up to {amount(difference.distance, size)} off "
            f"from the {'transferred motion' if is_transferred else 'file'} {difference.where}. "
            f"Likely cause: {'; '.join(causes) or 'unknown'}",
            action.name,
        )


def _causes(armature: Object, rig: Rig, match: Match, *, is_transferred: bool) -> list[str]:
    bones = [armature.pose.bones[name] for name in rig.bone_names]
    moved, parents = set(match.bones), rig.joints.parents
    found = {
        "Blender ignores the location of connected bones": [bone.name for bone in bones if bone.bone.use_connect],
        "bones are scaled in the pose": [
            bone.name for bone in bones if max(abs(size - 1.0) for size in bone.scale) > _SCALE_TOLERANCE
        ],
        "constraints": [bone.name for bone in bones if any(not one.mute for one in bone.constraints)],
        "Inherit Rotation or Local Location is off": [
            bone.name for bone in bones if not (bone.bone.use_inherit_rotation and bone.bone.use_local_location)
        ],
        "the rest position of bones differs from the file (Animation Between Skeletons allows for that)": [
            bones[bone].name for bone in np.flatnonzero(~rig.is_unmoved) if not is_transferred
        ],
        "the animation does not move the parents of bones": [
            bones[bone].name for bone in match.bones if parents[bone] != ROOT and parents[bone] not in moved
        ],
    }
    return [f"{words}: {listing(names, 3)}" for words, names in found.items() if names]


def _is_moved_otherwise(armature: Object) -> bool:
    """Whether drivers, NLA strips or an animation of its data may move an armature too."""
    data = armature.animation_data
    tracks = [track for track in data.nla_tracks if not track.mute or track.is_solo] if data.use_nla else []
    plays_strips = any(not strip.mute for track in tracks for strip in track.strips)
    return data.use_tweak_mode or bool(data.drivers) or plays_strips or is_animated(armature.data)


def _size(armature: Object, meshes: list[Object], rig: Rig) -> float:
    """The diagonal of the box around the meshes at rest, or else around the joints, in armature space."""
    local = np.linalg.inv(mesh_data.world_matrix(armature))
    clouds = [] if any(len(obj.data.vertices) for obj in meshes) else [rig.joints.positions]
    for obj in meshes:
        matrix = local @ mesh_data.world_matrix(obj)
        clouds.append(mesh_data.positions(obj.data) @ matrix[:3, :3].T + matrix[:3, 3])
    return diagonal(np.concatenate(clouds))


def _bone_distance(
    armature: Object, rig: Rig, match: Match, pose: _Pose, graph: Depsgraph, *, heads_only: bool
) -> float:
    """The largest distance between joints, or the ends of bone axes, and their positions by the animation."""
    posed = armature.evaluated_get(graph).pose.bones
    joints, bones = np.array(match.joints), np.array(match.bones)
    matrices = np.array([posed[rig.bone_names[bone]].matrix for bone in match.bones], dtype=np.float64)
    lengths = np.array([posed[rig.bone_names[bone]].length for bone in match.bones])
    ends = np.concatenate([np.zeros((1, 3)), np.zeros((0, 3)) if heads_only else np.eye(3)])
    ends = lengths[:, None, None] * ends
    shown = ends @ matrices[:, :3, :3].swapaxes(1, 2) + matrices[:, None, :3, 3]
    positions, orientations, scales = (values[joints] for values in pose)
    if heads_only:
        return longest(shown[:, 0] - positions)
    # The ends in the space of the joint, which is fixed in its bone.
    offsets, rotations = (values[bones, None] for values in rig.joints_in_bones())
    local = quat.rotate(quat.conjugate(rotations), ends - offsets)
    turned = quat.rotate(orientations[:, None], local * scales[:, None, None])
    return longest(shown - positions[:, None] - turned)


def _mesh_distance(obj: Object, armature: Object, rig: Rig, match: Match, pose: _Pose, graph: Depsgraph) -> float:
    """The largest distance between the vertices of an imported mesh and their positions by the stored weights."""
    stored = load_mesh(obj.data)
    if stored is None or not len(stored.block.weight_joints):
        return 0.0
    block = stored.block
    joint_of_index = dict(zip(rig.indices[match.bones].tolist(), match.joints, strict=True))
    joints = np.array([joint_of_index.get(index, -1) for index in range(int(block.weight_joints.max()) + 1)])
    expected = skin(block, *(values[joints] for values in pose))
    rows = vertex_weights(block)
    is_moved = np.ones(block.vertex_count, dtype=bool)
    is_moved[rows.vertices[joints[block.weight_joints[rows.weights]] < 0]] = False
    posed = obj.evaluated_get(graph)
    vertices, _ = load_vertices(posed.data, stored)
    known = np.flatnonzero(vertices != NONE)
    known = known[is_moved[vertices[known]]]
    local = np.linalg.inv(mesh_data.world_matrix(armature.evaluated_get(graph)))
    shown = mesh_data.world_vertices(posed)[known] @ local[:3, :3].T + local[:3, 3]
    return longest(shown - expected[vertices[known]])
