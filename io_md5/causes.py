"""Why an exported mesh may move otherwise than in Blender: what joints and weights cannot express."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..io_common.reports import listing
from ..io_common.scene import evaluated
from .binding import armatures_of, carrying_bone, is_deformed
from .export_skeleton import Skeleton, nearest_rotations
from .vertex_groups import LEAST_SUM

if TYPE_CHECKING:
    from bpy.types import Depsgraph, Modifier, Object

_SCALE_TOLERANCE = 1e-3
_MOST_CAUSES = 3


def likely_causes(obj: Object, skeleton: Skeleton, graph: Depsgraph) -> list[str]:
    """What is likely to make an object differ on the frame that is evaluated, the likeliest first."""
    armature = skeleton.armature
    if armature is None:
        return ["without an armature nothing moves in the game"]
    found = [
        *_of_modifiers(obj, armature),
        *_of_object(obj, skeleton, armature, graph),
        *_of_bones(obj, armature, graph),
        *_of_transforms(skeleton, armature, graph),
        *_of_weights(obj, armature, graph),
    ]
    return list(dict.fromkeys(found))[:_MOST_CAUSES]


def _of_modifiers(obj: Object, armature: Object) -> list[str]:
    own = [modifier for modifier in obj.modifiers if modifier.type == "ARMATURE"]
    found = []
    for modifier in own:
        if modifier.object != armature:
            continue
        if not modifier.show_viewport:
            found.append(f"the modifier {modifier.name} is disabled in the viewport")
        if modifier.use_deform_preserve_volume:
            found.append(f"Preserve Volume is on in the modifier {modifier.name}")
        if modifier.vertex_group:
            found.append(f"the vertex group {modifier.vertex_group} limits the modifier {modifier.name}")
        if modifier.use_bone_envelopes:
            found.append(f"Bone Envelopes are on in the modifier {modifier.name}")
    mine = [index for index, modifier in enumerate(obj.modifiers) if modifier.type == "ARMATURE"]
    if len([modifier for modifier in own if modifier.object == armature]) > 1:
        found.append(f"several Armature modifiers follow {armature.name}")
    if mine:
        later = [modifier.name for modifier in list(obj.modifiers)[mine[0] + 1 :] if _is_shown(modifier)]
        if later:
            found.append(f"modifiers after the Armature: {listing(later)}")
    nodes = [modifier.name for modifier in obj.modifiers if modifier.type == "NODES" and _is_shown(modifier)]
    if nodes:
        found.append(f"what Geometry Nodes add moves by itself: {listing(nodes)}")
    return found


def _is_shown(modifier: Modifier) -> bool:
    return modifier.show_viewport and modifier.type != "ARMATURE"


def _follows(obj: Object, armature: Object) -> bool:
    """Whether an object is a descendant of the armature, or shares its parent."""
    parents = set()
    link = obj.parent
    while link is not None and link not in parents:
        parents.add(link)
        link = link.parent
    return armature in parents or (armature.parent is not None and armature.parent in parents)


def _of_object(obj: Object, skeleton: Skeleton, armature: Object, graph: Depsgraph) -> list[str]:
    found = []
    bone = carrying_bone(obj, armature)
    if bone is not None and is_deformed(obj, armature):
        found.append(f"the object hangs on the bone {bone} and is deformed as well")
    data = obj.animation_data
    if data is not None and (data.action is not None or data.nla_tracks or data.drivers):
        found.append("the object or one of its modifiers is animated")
    if any(not constraint.mute for constraint in obj.constraints):
        found.append("the object has constraints")
    keys = obj.data.shape_keys
    if keys is not None and keys.animation_data is not None:
        found.append("shape keys are animated")
    if not is_deformed(obj, armature) and bone is None:
        found.append(
            f"no bone of {armature.name} moves the object: add an Armature modifier or parent it to a bone"
        )
    world = evaluated.world_matrix(armature.evaluated_get(graph))
    if not np.allclose(world, skeleton.world, atol=_SCALE_TOLERANCE) and not _follows(obj, armature):
        found.append(f"the object {armature.name} moves, and the mesh is not parented to it")
    others = [other.name for other in armatures_of(obj) if other != armature]
    if others:
        found.append(f"several armatures: {listing(others)} moves it too")
    return found


def _of_bones(obj: Object, armature: Object, graph: Depsgraph) -> list[str]:
    posed = armature.evaluated_get(graph).pose.bones
    matrices = np.empty((len(posed), 4, 4), dtype=np.float32)
    if not len(posed):
        return []
    posed.foreach_get("matrix", matrices.ravel())
    lengths = np.linalg.norm(matrices[:, :3, :3], axis=2)
    scaled = np.abs(lengths - 1.0).max(axis=1) > _SCALE_TOLERANCE
    names = [bone.name for bone, is_scaled in zip(posed, scaled.tolist(), strict=True) if is_scaled]
    found = []
    stretched = [
        bone.name for bone in armature.pose.bones
        if any(constraint.type == "STRETCH_TO" and not constraint.mute for constraint in bone.constraints)
    ]  # fmt: skip
    ik_stretched = [bone.name for bone in armature.pose.bones if bone.ik_stretch > 0.0]
    if names and stretched:
        found.append(f"Stretch To scales bones: {listing(stretched, 3)}")
    if names and ik_stretched:
        found.append(f"IK stretch scales bones: {listing(ik_stretched, 3)}")
    if names:
        found.append(f"bones are scaled, which joints cannot be: {listing(names, 3)}")
    groups = {group.name for group in obj.vertex_groups}
    bendy = [bone.name for bone in armature.data.bones if bone.bbone_segments > 1 and bone.name in groups]
    if bendy:
        found.append(f"B-Bones bend: {listing(bendy, 3)}")
    enveloped = [
        bone.name for bone in armature.data.bones if bone.use_envelope_multiply and bone.name in groups
    ]
    if enveloped:
        found.append(f"envelopes multiply the weights of bones: {listing(enveloped, 3)}")
    return found


def _of_transforms(skeleton: Skeleton, armature: Object, graph: Depsgraph) -> list[str]:
    world = evaluated.world_matrix(armature.evaluated_get(graph))
    if nearest_rotations(world[:3, :3])[1]:
        return [f"{armature.name} or its parent is scaled unevenly: apply the scale"]
    sizes = [np.linalg.norm(matrix[:3, :3], axis=0).max() for matrix in (world, skeleton.world)]
    if abs(sizes[0] - sizes[1]) > _SCALE_TOLERANCE * sizes[1]:
        return [f"the scale of {armature.name} is animated, which joints cannot follow"]
    return []


def _of_weights(obj: Object, armature: Object, graph: Depsgraph) -> list[str]:
    if not is_deformed(obj, armature):
        return []
    posed = obj.evaluated_get(graph)
    bones = armature.data.bones
    deforms = np.array(
        [group.name in bones and bones[group.name].use_deform for group in posed.vertex_groups] + [False]
    )
    vertices, groups, weights = evaluated.vertex_group_weights(posed.data)
    moving = deforms[np.minimum(groups, len(deforms) - 1)]
    sums = np.bincount(vertices[moving], weights[moving], minlength=len(posed.data.vertices))
    if (sums <= LEAST_SUM).any():
        return ["unweighted vertices do not move in Blender"]
    return []
