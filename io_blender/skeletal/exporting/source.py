"""The source of an export: an armature and its meshes; and what moves objects: armatures that deform them, bones or
objects that are their parents, and constraints."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, cast

import bpy
from bpy.types import ArmatureModifier, Constraint, Context, Object

from ...reports import Report, listing
from ...scene.objects import NothingToExportError, Scope, collect, nothing_to_export, warn_of_left_out, why_left_out
from ...scene.time_dependence import is_animated, is_property_animated
from ..options import AUTOMATIC, MERGE, SEPARATE, ModelProperties
from ..records import CONVERSION, MESH_INDEX

# Constraints that make an object follow a bone.
FOLLOWING_CONSTRAINTS = {"CHILD_OF", "COPY_TRANSFORMS", "COPY_LOCATION", "ARMATURE"}
_DEFORMING = {
    "CLOTH", "CORRECTIVE_SMOOTH", "CURVE", "HOOK", "LAPLACIANDEFORM", "LATTICE", "MESH_CACHE", "MESH_DEFORM",
    "MESH_SEQUENCE_CACHE", "SHRINKWRAP", "SOFT_BODY", "SURFACE_DEFORM",
}  # fmt: skip


@dataclass(eq=False)
class Source:
    """The armature of an export, None for meshes without, and its meshes, as ordered in the file."""

    armature: Object | None
    meshes: list[Object]
    # Without an armature, the objects that become joints, parents first.
    joint_objects: list[Object] = field(default_factory=list)
    # Armatures that hang on bones of the armature, and are part of the model, carriers first.
    attached: list[Object] = field(default_factory=list)

    @property
    def armatures(self) -> list[Object]:
        """The armature and those that hang on it."""
        return [] if self.armature is None else [self.armature, *self.attached]

    @property
    def objects(self) -> list[Object]:
        """The armatures and the meshes."""
        return [*self.armatures, *self.meshes]


def find_source(context: Context, scope: Scope, report: Report, options: ModelProperties) -> Source:
    """The armature and the meshes that it moves, or without an armature the objects that move."""
    # With *Fit Weights*, also meshes that nothing but modifiers or vertex parents moves.
    objects = collect(context, scope)
    meshes = [obj for obj in objects if obj.type == "MESH"]
    owners = {obj: armatures_of(obj) for obj in objects if obj.type != "ARMATURE"}
    moving = [owner for obj in meshes for owner in owners[obj][:1]]
    armatures = list(dict.fromkeys([*(obj for obj in objects if obj.type == "ARMATURE"), *moving]))
    if not armatures and not meshes:
        raise nothing_to_export(context, scope, {"ARMATURE": "armature", "MESH": "mesh"})
    choice = options.attached_armatures
    # Armatures without meshes, such as those of controls, are no part of a model unless the user says so.
    others = [one for one in armatures if one in moving or not meshes or choice == MERGE]
    armature = _choose(context, armatures, others, choice)
    if armature is None:
        meshes = sorted(meshes, key=file_order)
        joint_objects = find_joint_objects(meshes) if options.objects_as_joints else []
        if not joint_objects:
            report.warn("there is no armature to export: everything is bound to one joint named origin")
        return Source(None, meshes, joint_objects)
    source = Source(armature, [], [], find_attached(armature, others, choice))
    ranks = {one: rank for rank, one in enumerate(source.armatures)}
    rank_of = {obj: min((ranks[one] for one in found if one in ranks), default=-1) for obj, found in owners.items()}
    exported_meshes = [obj for obj in meshes if rank_of[obj] >= 0]
    if scope.use_selection and not exported_meshes:
        # If only the armature is selected, its meshes are exported too.
        exported_meshes = [obj for obj in collect(context, Scope()) if obj.type == "MESH" and _is_moved_by(source, obj)]
    if options.fit_weights:
        exported_meshes += [obj for obj in meshes if not owners[obj] and is_moved_by_other_means(obj)]
    source.meshes = sorted(exported_meshes, key=lambda obj: (rank_of.get(obj, 0), file_order(obj)))
    return source


def _is_moved_by(source: Source, obj: Object) -> bool:
    return not set(source.armatures).isdisjoint(armatures_of(obj))


def _warn_of_others(source: Source, meshes: list[Object], report: Report) -> None:
    """Warns about meshes that the armatures do not move, or not alone."""
    unmoved: list[str] = []
    of_others: dict[Object, list[str]] = {}
    exported = source.armatures
    name = exported[0].name
    owners = {obj: armatures_of(obj) for obj in meshes}
    for obj, found in owners.items():
        if obj not in source.meshes and set(exported).isdisjoint(found):
            names = of_others.setdefault(found[0], []) if found else unmoved
            names.append(obj.name)
    for other, names in of_others.items():
        is_attached = bool(carrying_bones(other, exported[0]))
        report.warn(
            f"not exported, because {other.name} moves it, not {name}: {listing(names)}"
            + (". To export both as one model, set Attached Armatures to Merge" if is_attached else "")
        )
    can_fit = any(is_moved_by_other_means(obj) for obj in meshes if not owners[obj])
    if unmoved:
        # Something else may still move it with the armature, such as a Surface Deform modifier or a lattice.
        report.warn(
            f"not exported, because no Armature modifier, parent or constraint attaches it to {name}: "
            f"{listing(unmoved)}" + (". Fit Weights exports what modifiers or vertex parents move" if can_fit else "")
        )
    for obj in source.meshes:
        others = [other.name for other in armatures_of(obj) if other not in exported]
        if others:
            report.warn(f"also moved by {listing(others)}, which is not exported", obj.name)


def find_model(context: Context, scope: Scope, report: Report, options: ModelProperties) -> Source:
    """The same with meshes, and warnings of what is left out or hidden; NothingToExportError without meshes."""
    source = find_source(context, scope, report, options)
    require_meshes(context, scope, source)
    if source.armature is not None:
        _warn_of_others(source, [obj for obj in collect(context, scope) if obj.type == "MESH"], report)

    def is_own(obj: Object) -> bool:
        return source.armature is None or _is_moved_by(source, obj)

    warn_of_left_out(context, scope, source.meshes, report, concerns=is_own)
    return source


def why_without_meshes(context: Context, scope: Scope, source: Source) -> list[str]:
    """Why none of the meshes that an armature moves is exported; empty if one is, or if it moves none."""
    if source.armature is None or source.meshes:
        return []
    moved = [obj for obj in context.scene.objects if obj.type == "MESH" and _is_moved_by(source, obj)]
    return why_left_out(context, scope, moved)


def require_meshes(context: Context, scope: Scope, source: Source) -> None:
    """Raises NothingToExportError if all meshes of a source are left out; it names them and tells why."""
    reasons = why_without_meshes(context, scope, source)
    if reasons:
        raise NothingToExportError(f"there is no mesh to export; {'; '.join(reasons)}")


def file_order(obj: Object) -> tuple[int, str]:
    """A sort key: imported meshes in the order of the file, then new ones by name."""
    index = MESH_INDEX.read(obj.data)
    return (1 << 31) if index is None else index, obj.name


def _choose(context: Context, armatures: list[Object], others: list[Object], choice: str) -> Object | None:
    """The only armature, or of several the active one, or what carries it or all others."""
    if len(armatures) <= 1:
        return armatures[0] if armatures else None
    active = context.view_layer.objects.active
    if active is not None and active.type != "ARMATURE":
        active = next(iter(armatures_of(active)), None)
    attached = {one: find_attached(one, others, choice) for one in armatures}
    if active in armatures:
        carriers = [one for one in armatures if active in attached[one]]
        return max(carriers, key=lambda one: len(attached[one]), default=active)
    for one, found in attached.items():
        if len(found) == len(armatures) - 1:
            return one
    names_of = listing([obj.name for obj in armatures])
    raise NothingToExportError(
        f"several armatures: {names_of}. A file holds one: make one active, or select what to export"
    )


def is_deformed(obj: Object, armature: Object) -> bool:
    """Whether an armature deforms an object, as its parent or by a modifier, enabled or not."""
    if obj.parent == armature and obj.parent_type == "ARMATURE":
        return True
    return any(modifier.object == armature and modifier.use_vertex_groups for modifier in armature_modifiers(obj))


def armature_modifiers(obj: Object) -> list[ArmatureModifier]:
    """The Armature modifiers of an object, enabled or not."""
    return [cast("ArmatureModifier", modifier) for modifier in obj.modifiers if modifier.type == "ARMATURE"]


def parent_bone_of(obj: Object, armature: Object) -> str | None:
    """The bone that an object follows, by a parent or constraint of itself or of an ancestor."""
    return next(iter(bones_followed(obj, armature)), None)


def bones_followed(obj: Object, armature: Object) -> list[str]:
    """All such bones, the one that moves it most directly first."""
    found = [bone for target, bone in _followed(obj) if target == armature]
    return [bone for bone in dict.fromkeys(found) if bone in armature.data.bones]


def parents_of(obj: Object) -> list[Object]:
    """The parents of an object, the nearest first; damaged files may have cycles."""
    parents: list[Object] = []
    while obj.parent is not None and obj.parent not in parents:
        obj = obj.parent
        parents.append(obj)
    return parents


def armatures_of(obj: Object) -> list[Object]:
    """The armatures that move an object: those of modifiers first, then of constraints and parents."""
    found = [*(modifier.object for modifier in armature_modifiers(obj)), *(target for target, _ in _followed(obj))]
    return list(dict.fromkeys(target for target in found if target is not None and target.type == "ARMATURE"))


def _followed(obj: Object) -> list[tuple[Object | None, str]]:
    """What an object and its ancestors follow by constraints, now or on other frames, and parents, with the bones."""
    found: list[tuple[Object | None, str]] = []
    for ancestor in (obj, *parents_of(obj)):
        for constraint in ancestor.constraints:
            if constraint.type in FOLLOWING_CONSTRAINTS and has_effect(ancestor, constraint):
                found += targets_of_constraint(constraint)
        if ancestor.parent is not None:
            found.append((ancestor.parent, ancestor.parent_bone if ancestor.parent_type == "BONE" else ""))
            if ancestor.parent.type == "ARMATURE":
                # What moves that armature, such as the horse of a rider, is part of its own motion.
                break
    return found


def has_effect(obj: Object, constraint: Constraint) -> bool:
    """Whether a constraint has any effect, now or on other frames."""
    if not constraint.mute and constraint.influence > 0.0:
        return True
    path = f'constraints["{bpy.utils.escape_identifier(constraint.name)}"]'
    return is_property_animated(obj, *(f"{path}.{name}" for name in ("influence", "mute", "enabled")))


def targets_of_constraint(constraint: Constraint) -> list[tuple[Object | None, str]]:
    """The objects and bones that a constraint names."""
    # The stubs have targets only in the classes of the single types.
    holders: list[Any] = [constraint, *getattr(constraint, "targets", ())]
    return [(one.target, getattr(one, "subtarget", "")) for one in holders if hasattr(one, "target")]


def warn_of_missing_targets(armature: Object, report: Report) -> None:
    """Warns of constraints to missing bones: Blender shows their effect until it evaluates the rig anew."""
    for bone in armature.pose.bones:
        for constraint in bone.constraints:
            if constraint.enabled and any(
                target is not None and target.pose is not None and name and name not in target.pose.bones
                for target, name in targets_of_constraint(constraint)
            ):
                report.warn(
                    "the target bone of the constraint does not exist, so what Blender shows may change with its next "
                    "update: choose another bone or remove the constraint",
                    f"{bone.name} ({constraint.name})",
                )


def is_moved_by_other_means(obj: Object) -> bool:
    """Whether modifiers other than Armature, or vertices of another object, may move a mesh with an armature."""
    return obj.parent_type in ("VERTEX", "VERTEX_3") or any(
        modifier.type in _DEFORMING and modifier.show_viewport for modifier in obj.modifiers
    )


def find_attached(armature: Object, others: list[Object], choice: str) -> list[Object]:
    """The armatures that hang on bones of another, directly or not, and become part of its model, carriers first."""
    # `choice` is that of *Attached Armatures*. Raises NothingToExportError if two follow each other.
    if choice == SEPARATE:
        return []
    result = [armature]
    for carrier in result:
        result += [
            other
            for other in others
            if other not in result
            and (choice != AUTOMATIC or CONVERSION.read(other.data) is None)
            and carrying_bones(other, carrier)
        ]
    for other in result[1:]:
        if bones_followed(armature, other):
            raise NothingToExportError(
                f"{armature.name} and {other.name} follow bones of each other: remove one of the constraints, or set "
                "Attached Armatures to Separate"
            )
    return result[1:]


def carrying_bones(armature: Object, carrier: Object) -> list[str]:
    """The bones of another armature that an armature follows, as an object or with its root bones."""
    # Blender makes the pose of a new armature with its first update.
    poses = armature.pose.bones if armature.pose is not None else ()
    targets = [
        target
        for bone in poses
        if bone.parent is None
        for constraint in bone.constraints
        if constraint.type in FOLLOWING_CONSTRAINTS and not constraint.mute and constraint.influence
        for target in targets_of_constraint(constraint)
    ]
    of_roots = [bone for target, bone in targets if target == carrier and bone in carrier.data.bones]
    return list(dict.fromkeys([*bones_followed(armature, carrier), *of_roots]))


def find_joint_objects(meshes: list[Object]) -> list[Object]:
    """The objects that become joints: those that move meshes, and parents of others; none if none moves."""
    chains = [[obj, *parents_of(obj)] for obj in meshes]
    objects = list(dict.fromkeys(obj for chain in chains for obj in reversed(chain)))
    moving = [obj for obj in objects if is_animated(obj) or any(not constraint.mute for constraint in obj.constraints)]
    if not moving:
        return []
    parents = {obj.parent for obj in objects}
    return [obj for obj in objects if obj in moving or obj in parents]


def joint_object_of(obj: Object, joint_objects: list[Object]) -> int:
    """The index of the object that becomes the joint of another: itself or its nearest ancestor; -1 for none."""
    chain = [obj, *parents_of(obj)]
    return next((joint_objects.index(one) for one in chain if one in joint_objects), -1)
