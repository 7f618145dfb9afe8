"""Reasons why an exported mesh may move differently than in Blender: features without an equivalent in the format."""

from __future__ import annotations

from typing import TYPE_CHECKING

import bpy
import numpy as np

from ...io_blender.reports import listing
from ...io_blender.scene import mesh_data
from ...io_blender.scene.time_dependence import (
    has_frame_handlers,
    is_animated,
    is_timed,
    keeps_shape,
    references,
)
from .binding import armature_modifiers, armatures_of, has_effect, is_deformed, parent_bone_of, parents_of
from .skeleton import Skeleton, nearest_rotations
from .vertex_groups import MIN_WEIGHT_SUM

if TYPE_CHECKING:
    from bpy.types import Depsgraph, Modifier, Object

_SCALE_TOLERANCE = 1e-3
_MAX_CAUSES = 3

# Constraints that can scale a bone.
_SCALING = {
    "ACTION", "ARMATURE", "CHILD_OF", "COPY_SCALE", "COPY_TRANSFORMS", "LIMIT_SCALE", "MAINTAIN_VOLUME",
    "STRETCH_TO", "TRANSFORM",
}  # fmt: skip

# Properties of modifiers that are GLOBAL if the result depends on where the object is in the scene.
_SPACES = ("mask_tex_mapping", "space", "texture_coords")


def likely_causes(obj: Object, skeleton: Skeleton, graph: Depsgraph) -> list[str]:
    """The likely causes of a difference on the evaluated frame, the likeliest first."""
    armature = skeleton.armature
    if armature is None:
        return ["there is no armature, so nothing moves in the game"]
    found = [*known_causes(obj, skeleton, armature, graph), *_weight_causes(obj, armature, graph)]
    if not found and has_frame_handlers():
        found = ["a script, as of an add-on, moves the object on each frame"]
    return list(dict.fromkeys(found))[:_MAX_CAUSES]


def known_causes(obj: Object, skeleton: Skeleton, armature: Object, graph: Depsgraph) -> list[str]:
    """What may cause a difference by the settings of objects, bones and modifiers, and the evaluated pose."""
    return [
        *_modifier_causes(obj, armature),
        *_object_causes(obj, skeleton, armature, graph),
        *_bone_causes(obj, armature, graph),
        *_transform_causes(skeleton, armature, graph),
    ]


def _modifier_causes(obj: Object, armature: Object) -> list[str]:
    used = [modifier for modifier in armature_modifiers(obj) if modifier.object == armature]
    found = []
    for modifier in used:
        if not modifier.show_viewport:
            found.append(f"the modifier {modifier.name} is disabled in the viewport")
        if modifier.use_deform_preserve_volume:
            found.append(f"Preserve Volume is on in the modifier {modifier.name}")
        if modifier.vertex_group:
            found.append(f"the vertex group {modifier.vertex_group} limits the modifier {modifier.name}")
        if modifier.use_bone_envelopes:
            found.append(f"Bone Envelopes are on in the modifier {modifier.name}")
    indices = [index for index, modifier in enumerate(obj.modifiers) if modifier.type == "ARMATURE"]
    if len(used) > 1:
        found.append(f"several Armature modifiers use {armature.name}")
    if obj.parent == armature and obj.parent_type == "ARMATURE":
        # Such a parent deforms the object before its modifiers.
        indices.insert(0, -1)
    if indices:
        later = [modifier.name for modifier in list(obj.modifiers)[indices[0] + 1 :] if _is_visible(modifier)]
        if later:
            found.append(f"modifiers after the Armature: {listing(later)}")
    others = [
        modifier.name
        for modifier in obj.modifiers
        if _is_visible(modifier)
        and any(isinstance(value, bpy.types.Object) for value in references(modifier))
    ]
    if others:
        found.append(f"modifiers that depend on other objects: {listing(others)}")
    in_scene = [
        modifier.name
        for modifier in obj.modifiers
        if _is_visible(modifier) and "GLOBAL" in (getattr(modifier, name, None) for name in _SPACES)
    ]
    if in_scene:
        found.append(f"modifiers that depend on where the object is in the scene: {listing(in_scene)}")
    nodes = [
        modifier.name for modifier in obj.modifiers if modifier.type == "NODES" and _is_visible(modifier)
    ]
    timed = [modifier.name for modifier in obj.modifiers if _is_visible(modifier) and is_timed(modifier)]
    if timed:
        found.append(f"modifiers change the mesh over time: {listing(timed)}")
    if nodes:
        found.append(f"Geometry Nodes change the mesh: {listing(nodes)}")
    return found


def _is_visible(modifier: Modifier) -> bool:
    return modifier.show_viewport and modifier.type != "ARMATURE" and not keeps_shape(modifier)


def _shares_parents(obj: Object, armature: Object) -> bool:
    """Whether an object is a descendant of the armature, or shares its parent."""
    parents = parents_of(obj)
    return armature in parents or (armature.parent is not None and armature.parent in parents)


def _object_causes(obj: Object, skeleton: Skeleton, armature: Object, graph: Depsgraph) -> list[str]:
    found = []
    bone = parent_bone_of(obj, armature)
    if bone is not None and is_deformed(obj, armature):
        found.append(f"the object is both parented to the bone {bone} and deformed by the armature")
    if is_animated(obj):
        found.append("the object or one of its modifiers is animated")
    moving = [parent.name for parent in parents_of(obj) if parent != armature and is_animated(parent)]
    if moving:
        found.append(f"its parents are animated: {listing(moving)}")
    if not np.linalg.norm(mesh_data.world_matrix(obj.evaluated_get(graph))[:3, :3], axis=0).all():
        found.append("the object is scaled to nothing: make its scale other than 0")
    if any(has_effect(obj, constraint) for constraint in obj.constraints):
        found.append("the object has constraints")
    keys = obj.data.shape_keys
    if keys is not None and keys.animation_data is not None:
        found.append("shape keys are animated")
    has_modifier = any(modifier.object == armature for modifier in armature_modifiers(obj))
    if bone is None and not has_modifier and not is_deformed(obj, armature):
        found.append(
            f"no bone of {armature.name} moves the object: add an Armature modifier or parent it to a bone"
        )
    world = mesh_data.world_matrix(armature.evaluated_get(graph))
    if not np.allclose(world, skeleton.world, atol=_SCALE_TOLERANCE) and not _shares_parents(obj, armature):
        found.append(f"the object {armature.name} moves, and the mesh is not parented to it")
    others = [other.name for other in armatures_of(obj) if other != armature]
    if others:
        found.append(f"also moved by other armatures: {listing(others)}")
    return found


def _bone_causes(obj: Object, armature: Object, graph: Depsgraph) -> list[str]:
    posed = armature.evaluated_get(graph).pose.bones
    matrices = np.empty((len(posed), 4, 4), dtype=np.float32)
    if not len(posed):
        return []
    posed.foreach_get("matrix", matrices.ravel())
    lengths = np.linalg.norm(matrices[:, :3, :3], axis=2)
    scaled = np.abs(lengths - 1.0).max(axis=1) > _SCALE_TOLERANCE
    names = {bone.name for bone, is_scaled in zip(posed, scaled.tolist(), strict=True) if is_scaled}
    groups = {group.name for group in obj.vertex_groups} | {parent_bone_of(obj, armature)}
    found = _scale_causes(armature, names, groups)
    bendy = [bone.name for bone in armature.data.bones if bone.bbone_segments > 1 and bone.name in groups]
    if bendy:
        found.append(f"Bendy Bones: {listing(bendy, 3)}")
    enveloped = [
        bone.name for bone in armature.data.bones if bone.use_envelope_multiply and bone.name in groups
    ]
    if enveloped:
        found.append(f"Envelope Multiply is on for bones: {listing(enveloped, 3)}")
    return found


def _scale_causes(armature: Object, scaled: set[str], groups: set[str | None]) -> list[str]:
    """Why bones that move vertices are scaled: by their own constraints or those of their parents, or otherwise."""
    chains = [
        [one for one in (bone, *bone.parent_recursive) if one.name in scaled]
        for bone in armature.pose.bones
        if bone.name in scaled and bone.name in groups
    ]
    bones = dict.fromkeys(one for chain in chains for one in chain)
    stretched = [
        bone.name for bone in bones
        if any(constraint.type == "STRETCH_TO" and not constraint.mute for constraint in bone.constraints)
    ]  # fmt: skip
    ik_stretched = [bone.name for bone in bones if bone.ik_stretch > 0.0]
    sources = {*stretched, *ik_stretched}
    others = [chain[0].name for chain in chains if sources.isdisjoint(one.name for one in chain)]
    found = []
    if stretched:
        found.append(f"Stretch To scales bones: {listing(stretched, 3)}")
    if ik_stretched:
        found.append(f"IK stretch scales bones: {listing(ik_stretched, 3)}")
    if others:
        found.append(f"bones are scaled, which joints cannot be: {listing(others, 3)}")
    return found


def split_by_constraints(armature: Object, scaled: list[str]) -> tuple[list[str], list[str]]:
    """The scaled bones whose parents are not: those that constraints scale, with the constraint, and the others."""
    by_constraints, others = [], []
    for name in scaled:
        bone = armature.pose.bones[name]
        if bone.parent is not None and bone.parent.name in scaled:
            continue
        causes = [
            one.name
            for one in bone.constraints
            if one.type in _SCALING and not one.mute and one.influence > 0.0
        ]
        if bone.ik_stretch > 0.0:
            causes.append("IK Stretch")
        if causes:
            by_constraints.append(f"{name} ({', '.join(causes)})")
        else:
            others.append(name)
    return by_constraints, others


def _transform_causes(skeleton: Skeleton, armature: Object, graph: Depsgraph) -> list[str]:
    world = mesh_data.world_matrix(armature.evaluated_get(graph))
    if nearest_rotations(world[:3, :3])[1]:
        return [f"{armature.name} or its parent is scaled unevenly: apply the scale"]
    sizes = [np.linalg.norm(matrix[:3, :3], axis=0).max() for matrix in (world, skeleton.world)]
    if abs(sizes[0] - sizes[1]) > _SCALE_TOLERANCE * sizes[1]:
        return [f"the scale of {armature.name} is animated, which joints cannot follow"]
    return []


def _weight_causes(obj: Object, armature: Object, graph: Depsgraph) -> list[str]:
    if not is_deformed(obj, armature):
        return []
    posed = obj.evaluated_get(graph)
    bones = armature.data.bones
    deforms = np.array(
        [group.name in bones and bones[group.name].use_deform for group in posed.vertex_groups] + [False]
    )
    vertices, groups, weights = mesh_data.vertex_group_weights(posed.data)
    moving = deforms[np.minimum(groups, len(deforms) - 1)]
    sums = np.bincount(vertices[moving], weights[moving], minlength=len(posed.data.vertices))
    if (sums <= MIN_WEIGHT_SUM).any():
        return ["unweighted vertices do not move in Blender"]
    return []
