"""Reasons why an exported mesh may move differently than in Blender: features without an equivalent in the format."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np

from ...io_blender.reports import listing
from ...io_blender.scene import mesh_data
from ...io_blender.scene.time_dependence import has_frame_handlers, is_animated, is_timed, keeps_shape, references
from .binding import armature_modifiers, armatures_of, has_effect, is_deformed, parent_bone_of, parents_of
from .skeleton import Skeleton, nearest_rotations
from .weights import MIN_WEIGHT_SUM

if TYPE_CHECKING:
    from bpy.types import Depsgraph, Object, PoseBone

_SCALE_TOLERANCE = 1e-3
_MAX_CAUSES = 3

# Constraints that can scale a bone.
_SCALING = {
    "ACTION", "ARMATURE", "CHILD_OF", "COPY_SCALE", "COPY_TRANSFORMS", "LIMIT_SCALE", "MAINTAIN_VOLUME",
    "STRETCH_TO", "TRANSFORM",
}  # fmt: skip

# Properties of modifiers that are GLOBAL if the result depends on where the object is in the scene.
_SPACES = ("mask_tex_mapping", "space", "texture_coords")


class _Situation:
    """An object on the evaluated frame, with what may move it otherwise than its bones."""

    def __init__(self, obj: Object, skeleton: Skeleton, armature: Object, graph: Depsgraph) -> None:
        self.obj, self.skeleton, self.armature = obj, skeleton, armature
        self.posed, self.posed_armature = obj.evaluated_get(graph), armature.evaluated_get(graph)
        self.parents = parents_of(obj)
        self.parent_bone = parent_bone_of(obj, armature)
        self.is_deformed = is_deformed(obj, armature)
        self.used = [modifier for modifier in armature_modifiers(obj) if modifier.object == armature]
        self.world = mesh_data.world_matrix(self.posed_armature)
        groups = {group.name for group in obj.vertex_groups} | {self.parent_bone}
        self.bones = [bone for bone in armature.pose.bones if bone.name in groups]

    def modifiers(self, test: Callable[[Any], bool], first: int = 0) -> list[str]:
        """The names of visible modifiers other than Armature that may change the shape, from an index on."""
        return [
            modifier.name
            for modifier in list(self.obj.modifiers)[first:]
            if modifier.show_viewport and modifier.type != "ARMATURE" and not keeps_shape(modifier) and test(modifier)
        ]

    def later_modifiers(self) -> list[str]:
        """Those after the first that deforms by an armature, which a parent does before all modifiers."""
        indices = [index + 1 for index, modifier in enumerate(self.obj.modifiers) if modifier.type == "ARMATURE"]
        if self.obj.parent == self.armature and self.obj.parent_type == "ARMATURE":
            indices.insert(0, 0)
        return self.modifiers(lambda _: True, indices[0]) if indices else []

    def moves_without_mesh(self) -> bool:
        """Whether the armature object moves, and the mesh is no descendant of it or of its parent."""
        above = self.armature.parent
        return (
            not np.allclose(self.world, self.skeleton.world, atol=_SCALE_TOLERANCE)
            and self.armature not in self.parents
            and (above is None or above not in self.parents)
        )

    @cached_property
    def scaled_chains(self) -> list[list[PoseBone]]:
        """Each scaled bone that moves vertices, followed by its scaled parents."""
        posed = self.posed_armature.pose.bones
        matrices = np.empty((len(posed), 4, 4), dtype=np.float32)
        if len(posed):
            posed.foreach_get("matrix", matrices.ravel())
        is_scaled = (np.abs(np.linalg.norm(matrices[:, :3, :3], axis=2) - 1.0) > _SCALE_TOLERANCE).any(axis=1)
        scaled = {bone.name for bone, scales in zip(posed, is_scaled.tolist(), strict=True) if scales}
        return [
            [one for one in (bone, *bone.parent_recursive) if one.name in scaled]
            for bone in self.bones
            if bone.name in scaled
        ]

    def scaled_by(self, test: Callable[[PoseBone], bool]) -> list[str]:
        """The names of scaled bones that move vertices, or of their scaled parents, that pass a test."""
        bones = dict.fromkeys(bone for chain in self.scaled_chains for bone in chain)
        return [bone.name for bone in bones if test(bone)]

    def scaled_otherwise(self) -> list[str]:
        """The names of scaled bones that move vertices and that neither they nor their parents stretch."""
        return [chain[0].name for chain in self.scaled_chains if not any(map(_is_stretched_in_any_way, chain))]

    def is_scaled_unevenly(self) -> bool:
        return bool(nearest_rotations(self.world[:3, :3])[1])

    def has_animated_scale(self) -> bool:
        """Whether the armature object has another size than in the bind pose."""
        size, rest = (np.linalg.norm(one[:3, :3], axis=0).max() for one in (self.world, self.skeleton.world))
        return not self.is_scaled_unevenly() and abs(size - rest) > _SCALE_TOLERANCE * rest

    def has_unweighted_vertices(self) -> bool:
        if not self.is_deformed:
            return False
        bones, groups = self.armature.data.bones, self.posed.vertex_groups
        deforms = np.array([group.name in bones and bones[group.name].use_deform for group in groups] + [False])
        vertices, numbers, weights = mesh_data.vertex_group_weights(self.posed.data)
        moving = deforms[np.minimum(numbers, len(deforms) - 1)]
        sums = np.bincount(vertices[moving], weights[moving], minlength=len(self.posed.data.vertices))
        return bool((sums <= MIN_WEIGHT_SUM).any())


def _is_stretched(bone: PoseBone) -> bool:
    return any(one.type == "STRETCH_TO" and not one.mute for one in bone.constraints)


def _is_stretched_in_any_way(bone: PoseBone) -> bool:
    return _is_stretched(bone) or bone.ik_stretch > 0.0


def _has_animated_keys(obj: Object) -> bool:
    keys = obj.data.shape_keys
    return keys is not None and keys.animation_data is not None


_Test = Callable[[_Situation], "Iterable[str] | bool"]

# What may cause a difference: a test, which may give names, and the words. The names are listed up to a number; if it
# is 0, there is a sentence for each.
_KNOWN: tuple[tuple[_Test, str, int], ...] = (
    (
        lambda it: [one.name for one in it.used if not one.show_viewport],
        "the modifier {} is disabled in the viewport", 0,
    ),
    (
        lambda it: [one.name for one in it.used if one.use_deform_preserve_volume],
        "Preserve Volume is on in the modifier {}", 0,
    ),
    (
        lambda it: [f"{one.vertex_group} limits the modifier {one.name}" for one in it.used if one.vertex_group],
        "the vertex group {}", 0,
    ),
    (
        lambda it: [one.name for one in it.used if one.use_bone_envelopes],
        "Bone Envelopes are on in the modifier {}", 0,
    ),
    (lambda it: [it.armature.name] if len(it.used) > 1 else [], "several Armature modifiers use {}", 1),
    (lambda it: it.later_modifiers(), "modifiers after the Armature: {}", 5),
    (
        lambda it: it.modifiers(lambda one: any(isinstance(value, bpy.types.Object) for value in references(one))),
        "modifiers that depend on other objects: {}", 5,
    ),
    (
        lambda it: it.modifiers(lambda one: "GLOBAL" in (getattr(one, name, None) for name in _SPACES)),
        "modifiers that depend on where the object is in the scene: {}", 5,
    ),
    (lambda it: it.modifiers(is_timed), "modifiers change the mesh over time: {}", 5),
    (lambda it: it.modifiers(lambda one: one.type == "NODES"), "Geometry Nodes change the mesh: {}", 5),
    (
        lambda it: [it.parent_bone] if it.parent_bone is not None and it.is_deformed else [],
        "the object is both parented to the bone {} and deformed by the armature", 1,
    ),
    (lambda it: is_animated(it.obj), "the object or one of its modifiers is animated", 1),
    (
        lambda it: [one.name for one in it.parents if one != it.armature and is_animated(one)],
        "its parents are animated: {}", 5,
    ),
    (
        lambda it: not np.linalg.norm(mesh_data.world_matrix(it.posed)[:3, :3], axis=0).all(),
        "the object is scaled to nothing: make its scale other than 0", 1,
    ),
    (
        lambda it: any(has_effect(it.obj, one) for one in it.obj.constraints),
        "the object has constraints", 1,
    ),
    (lambda it: _has_animated_keys(it.obj), "shape keys are animated", 1),
    (
        lambda it: [] if it.parent_bone is not None or it.used or it.is_deformed else [it.armature.name],
        "no bone of {} moves the object: add an Armature modifier or parent it to a bone", 1,
    ),
    (
        lambda it: [it.armature.name] if it.moves_without_mesh() else [],
        "the object {} moves, and the mesh is not parented to it", 1,
    ),
    (
        lambda it: [other.name for other in armatures_of(it.obj) if other != it.armature],
        "also moved by other armatures: {}", 5,
    ),
    (lambda it: it.scaled_by(_is_stretched), "Stretch To scales bones: {}", 3),
    (lambda it: it.scaled_by(lambda bone: bone.ik_stretch > 0.0), "IK stretch scales bones: {}", 3),
    (lambda it: it.scaled_otherwise(), "bones are scaled, which joints cannot be: {}", 3),
    (lambda it: [one.name for one in it.bones if one.bone.bbone_segments > 1], "Bendy Bones: {}", 3),
    (
        lambda it: [one.name for one in it.bones if one.bone.use_envelope_multiply],
        "Envelope Multiply is on for bones: {}", 3,
    ),
    (
        lambda it: [it.armature.name] if it.is_scaled_unevenly() else [],
        "{} or its parent is scaled unevenly: apply the scale", 1,
    ),
    (
        lambda it: [it.armature.name] if it.has_animated_scale() else [],
        "the scale of {} is animated, which joints cannot follow", 1,
    ),
)  # fmt: skip


def known_causes(obj: Object, skeleton: Skeleton, armature: Object, graph: Depsgraph) -> list[str]:
    """What may cause a difference by the settings of objects, bones and modifiers, and the evaluated pose."""
    situation = _Situation(obj, skeleton, armature, graph)
    causes: list[str] = []
    for test, words, most in _KNOWN:
        found = test(situation)
        names = ([""] if found else []) if isinstance(found, bool) else list(found)
        if most and names:
            names = [listing(names, most)]
        causes += [words.format(name) for name in names]
    return causes


def likely_causes(obj: Object, skeleton: Skeleton, graph: Depsgraph) -> list[str]:
    """The likely causes of a difference on the evaluated frame, the likeliest first."""
    armature = skeleton.armature
    if armature is None:
        return ["shape keys or modifiers, which joints cannot show"]
    found = known_causes(obj, skeleton, armature, graph)
    if _Situation(obj, skeleton, armature, graph).has_unweighted_vertices():
        found.append("unweighted vertices do not move in Blender")
    if not found and has_frame_handlers():
        found = ["a script, as of an add-on, moves the object on each frame"]
    return list(dict.fromkeys(found))[:_MAX_CAUSES]


def split_by_constraints(armature: Object, scaled: list[str]) -> tuple[list[str], list[str]]:
    """Scaled bones whose parents are not: those that constraints scale, with the constraint, and others."""
    by_constraints, others = [], []
    for name in scaled:
        bone = armature.pose.bones[name]
        if bone.parent is not None and bone.parent.name in scaled:
            continue
        causes = [one.name for one in bone.constraints if one.type in _SCALING and not one.mute and one.influence > 0.0]
        if bone.ik_stretch > 0.0:
            causes.append("IK Stretch")
        if causes:
            by_constraints.append(f"{name} ({', '.join(causes)})")
        else:
            others.append(name)
    return by_constraints, others
