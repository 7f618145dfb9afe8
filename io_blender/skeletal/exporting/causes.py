"""Reasons why an exported mesh may move differently than in Blender: features without an equivalent in the format."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import bpy
import numpy as np
from bpy.types import Depsgraph, Object, PoseBone

from ....io_common.skeletal.model import Floats
from ...reports import listing
from ...scene import mesh_data
from ...scene.time_dependence import TIMED_MODIFIERS, has_frame_handlers, is_animated, keeps_shape, references
from .skeleton import Skeleton, nearest_rotations
from .source import armature_modifiers, armatures_of, has_effect, is_deformed, parent_bone_of, parents_of
from .weights import MIN_WEIGHT_SUM

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

    def causes(self) -> Iterator[str]:
        """What may cause a difference, the likeliest first."""
        obj, armature, used, bones = self.obj, self.armature, self.used, self.bones
        yield from (f"the modifier {one.name} is disabled in the viewport" for one in used if not one.show_viewport)
        yield from (
            f"Preserve Volume is on in the modifier {one.name}" for one in used if one.use_deform_preserve_volume
        )
        yield from (
            f"the vertex group {one.vertex_group} limits the modifier {one.name}" for one in used if one.vertex_group
        )
        yield from (f"Bone Envelopes are on in the modifier {one.name}" for one in used if one.use_bone_envelopes)
        if len(used) > 1:
            yield f"several Armature modifiers use {armature.name}"
        yield from _named("modifiers after the Armature", self._later_modifiers())
        others = self._modifiers(lambda one: any(isinstance(value, bpy.types.Object) for value in references(one)))
        yield from _named("modifiers that depend on other objects", others)
        placed = self._modifiers(lambda one: "GLOBAL" in (getattr(one, name, None) for name in _SPACES))
        yield from _named("modifiers that depend on where the object is in the scene", placed)
        timed = self._modifiers(lambda one: one.type in TIMED_MODIFIERS)
        yield from _named("modifiers change the mesh over time", timed)
        yield from _named("Geometry Nodes change the mesh", self._modifiers(lambda one: one.type == "NODES"))
        if self.parent_bone is not None and self.is_deformed:
            yield f"the object is both parented to the bone {self.parent_bone} and deformed by the armature"
        if is_animated(obj):
            yield "the object or one of its modifiers is animated"
        parents = [one.name for one in self.parents if one != armature and is_animated(one)]
        yield from _named("its parents are animated", parents)
        if not np.linalg.norm(mesh_data.world_matrix(self.posed)[:3, :3], axis=0).all():
            yield "the object is scaled to nothing: make its scale other than 0"
        if any(has_effect(obj, one) for one in obj.constraints):
            yield "the object has constraints"
        if obj.data.shape_keys is not None and obj.data.shape_keys.animation_data is not None:
            yield "shape keys are animated"
        if self.parent_bone is None and not used and not self.is_deformed:
            yield f"no bone of {armature.name} moves the object: add an Armature modifier or parent it to a bone"
        if self._moves_without_mesh():
            yield f"the object {armature.name} moves, and the mesh is not parented to it"
        yield from _named("also moved by other armatures", [one.name for one in armatures_of(obj) if one != armature])
        chains = self._scaled_chains()
        scaled = list(dict.fromkeys(bone for chain in chains for bone in chain))
        yield from _named("Stretch To scales bones", [one.name for one in scaled if _is_stretched(one)], 3)
        yield from _named("IK stretch scales bones", [one.name for one in scaled if one.ik_stretch > 0.0], 3)
        unstretched = [
            chain[0].name for chain in chains if not any(_is_stretched(one) or one.ik_stretch > 0.0 for one in chain)
        ]
        yield from _named("bones are scaled, which joints cannot be", unstretched, 3)
        yield from _named("Bendy Bones", [one.name for one in bones if one.bone.bbone_segments > 1], 3)
        enveloped = [one.name for one in bones if one.bone.use_envelope_multiply]
        yield from _named("Envelope Multiply is on for bones", enveloped, 3)
        size, rest = (np.linalg.norm(one[:3, :3], axis=0).max() for one in (self.world, self.skeleton.world))
        if nearest_rotations(self.world[:3, :3])[1]:
            yield f"{armature.name} or its parent is scaled unevenly: apply the scale"
        elif abs(size - rest) > _SCALE_TOLERANCE * rest:
            yield f"the scale of {armature.name} is animated, which joints cannot follow"

    def _modifiers(self, test: Callable[[Any], bool], first: int = 0) -> list[str]:
        """The names of visible modifiers other than Armature that may change the shape, from an index on."""
        return [
            modifier.name
            for modifier in list(self.obj.modifiers)[first:]
            if modifier.show_viewport and modifier.type != "ARMATURE" and not keeps_shape(modifier) and test(modifier)
        ]

    def _later_modifiers(self) -> list[str]:
        """Those after the first that deforms by an armature, which a parent does before all modifiers."""
        indices = [index + 1 for index, modifier in enumerate(self.obj.modifiers) if modifier.type == "ARMATURE"]
        if self.obj.parent == self.armature and self.obj.parent_type == "ARMATURE":
            indices.insert(0, 0)
        return self._modifiers(lambda _: True, indices[0]) if indices else []

    def _moves_without_mesh(self) -> bool:
        """Whether the armature object moves, and the mesh is no descendant of it or of its parent."""
        above = self.armature.parent
        return (
            not np.allclose(self.world, self.skeleton.world, atol=_SCALE_TOLERANCE)
            and self.armature not in self.parents
            and (above is None or above not in self.parents)
        )

    def _scaled_chains(self) -> list[list[PoseBone]]:
        """Each scaled bone that moves vertices, followed by its scaled parents."""
        posed = self.posed_armature.pose.bones
        matrices = mesh_data.read_array(posed, "matrix", 4, 4)
        is_scaled = (np.abs(np.linalg.norm(matrices[:, :3, :3], axis=2) - 1.0) > _SCALE_TOLERANCE).any(axis=1)
        scaled = {bone.name for bone, scales in zip(posed, is_scaled.tolist(), strict=True) if scales}
        return [
            [one for one in (bone, *bone.parent_recursive) if one.name in scaled]
            for bone in self.bones
            if bone.name in scaled
        ]

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


def _named(what: str, names: list[str], most: int = 5) -> list[str]:
    """One sentence about all names; none without any."""
    return [f"{what}: {listing(names, most)}"] if names else []


def has_known_causes(obj: Object, skeleton: Skeleton, armature: Object, graph: Depsgraph) -> bool:
    """Whether settings of objects, bones and modifiers, or the evaluated pose, may cause a difference."""
    return any(True for _ in _Situation(obj, skeleton, armature, graph).causes())


def likely_causes(obj: Object, skeleton: Skeleton, graph: Depsgraph) -> list[str]:
    """The likely causes of a difference on the evaluated frame, the likeliest first."""
    armature = skeleton.armature
    if armature is None:
        return _causes_without_armature(obj, skeleton, graph)
    situation = _Situation(obj, skeleton, armature, graph)
    found = list(situation.causes())
    if situation.has_unweighted_vertices():
        found.append("unweighted vertices do not move in Blender")
    if not found and has_frame_handlers():
        found = ["a script, as of an add-on, moves the object on each frame"]
    return list(dict.fromkeys(found))[:_MAX_CAUSES]


def _causes_without_armature(obj: Object, skeleton: Skeleton, graph: Depsgraph) -> list[str]:
    """The same for an object that moves with objects as joints, or is bound to the origin."""
    chain = {obj, *parents_of(obj)}
    scaled = [
        one
        for one, rest in zip(skeleton.objects, skeleton.object_matrices, strict=True)
        if one in chain and _is_deformed_since(rest, mesh_data.world_matrix(one.evaluated_get(graph)))
    ]
    found, others = split_by_parents(scaled)
    found += _named("objects are scaled over time, which joints cannot be", others, 3)
    if not found or obj.data.shape_keys is not None or obj.modifiers:
        found.append("shape keys or modifiers, which joints cannot show")
    return found


def _is_deformed_since(before: Floats, after: Floats) -> bool:
    """Whether axes got other lengths, or other angles between them."""
    products = [axes.T @ axes for axes in (before[:3, :3], after[:3, :3])]
    return bool(np.abs(products[1] - products[0]).max() > _SCALE_TOLERANCE * products[0].max())


def split_by_parents(deformed: Sequence[Object]) -> tuple[list[str], list[str]]:
    """A sentence about each unevenly scaled parent that keeps its shape, and the objects that none shears."""
    below: dict[Object, list[str]] = {}
    others = []
    for obj in deformed:
        scales = ((one, np.array(one.scale)) for one in parents_of(obj))
        parent = next((one for one, scale in scales if np.ptp(scale) > _SCALE_TOLERANCE * scale.max()), None)
        if parent is None or parent in deformed:
            others.append(obj.name)
        else:
            below.setdefault(parent, []).append(obj.name)
    return [
        f"{parent.name} is scaled unevenly ({', '.join(f'{size:.3g}' for size in np.array(parent.scale))}), "
        f"which shears what turns below it ({listing(names, 3)}): apply its scale"
        for parent, names in below.items()
    ], others


def split_by_constraints(armature: Object, scaled: list[str]) -> tuple[list[str], list[str]]:
    """Scaled bones whose parents are not: those that constraints scale, with the constraint, and others."""
    by_constraints, others = [], []
    chains = _spline_chains(armature)
    for name in scaled:
        bone = armature.pose.bones[name]
        if bone.parent is not None and bone.parent.name in scaled:
            continue
        causes = [one.name for one in bone.constraints if one.type in _SCALING and not one.mute and one.influence > 0.0]
        causes += [constraint for constraint, chain in chains if name in chain]
        if bone.ik_stretch > 0.0:
            causes.append("IK Stretch")
        if causes:
            by_constraints.append(f"{name} ({', '.join(causes)})")
        else:
            others.append(name)
    return by_constraints, others


def _spline_chains(armature: Object) -> list[tuple[str, set[str]]]:
    """The Spline IK constraints that have an effect, each with the bones of its chain."""
    return [
        (one.name, {link.name for link in [bone, *bone.parent_recursive][: one.chain_count]})
        for bone in armature.pose.bones
        for one in bone.constraints
        if one.type == "SPLINE_IK" and not one.mute and one.influence > 0.0
    ]
