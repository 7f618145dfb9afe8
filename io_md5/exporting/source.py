"""The source of an export: an armature and its meshes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ...io_blender.reports import Report, listing
from ...io_blender.scene.objects import (
    NothingToExportError,
    Scope,
    collect,
    nothing_to_export,
    warn_of_animated_visibility,
    why_left_out,
)
from ..options import MERGE, ModelProperties
from ..records import MESH_INDEX
from .binding import armatures_of, is_moved_by_other_means
from .hierarchy import carrying_bones, find_attached, find_joint_objects

if TYPE_CHECKING:
    from bpy.types import Context, Object


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


def find_source(context: Context, scope: Scope, report: Report, options: ModelProperties | None = None) -> Source:
    """The armature and the meshes that it moves, or without an armature the objects that move."""
    # With *Fit Weights*, also meshes that nothing but modifiers or vertex parents moves.
    options = options or ModelProperties()
    objects = collect(context, scope)
    meshes = [obj for obj in objects if obj.type == "MESH"]
    owners = {obj: armatures_of(obj) for obj in objects if obj.type != "ARMATURE"}
    armatures = [obj for obj in objects if obj.type == "ARMATURE"]
    armatures += [owner for obj in meshes for owner in owners[obj][:1]]
    armatures = list(dict.fromkeys(armatures))
    if not armatures and not meshes:
        raise nothing_to_export(context, scope, {"ARMATURE": "armature", "MESH": "mesh"})
    choice = options.attached_armatures
    moving = {owner for obj in meshes for owner in owners[obj][:1]}
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
    _warn_of_others(source, exported_meshes, owners, report)
    source.meshes = sorted(exported_meshes, key=lambda obj: (rank_of.get(obj, 0), file_order(obj)))
    return source


def _is_moved_by(source: Source, obj: Object) -> bool:
    return not set(source.armatures).isdisjoint(armatures_of(obj))


def _warn_of_others(
    source: Source, exported_meshes: list[Object], owners: dict[Object, list[Object]], report: Report
) -> None:
    """Warns about meshes that the armatures do not move, or not alone, and about other objects."""
    unmoved: list[str] = []
    of_others: dict[Object, list[str]] = {}
    exported = source.armatures
    name = exported[0].name
    for obj, found in owners.items():
        if obj.type == "MESH" and obj not in exported_meshes and set(exported).isdisjoint(found):
            names = of_others.setdefault(found[0], []) if found else unmoved
            names.append(obj.name)
    for other, names in of_others.items():
        is_attached = bool(carrying_bones(other, exported[0]))
        report.warn(
            f"not exported, because {other.name} moves it, not {name}: {listing(names)}"
            + (". To export both as one model, set Attached Armatures to Merge" if is_attached else "")
        )
    can_fit = any(is_moved_by_other_means(obj) for obj in owners if obj.type == "MESH" and not owners[obj])
    if unmoved:
        # Something else may still move it with the armature, such as a Surface Deform modifier or a lattice.
        report.warn(
            f"not exported, because no Armature modifier, parent or constraint attaches it to {name}: "
            f"{listing(unmoved)}" + (". Fit Weights exports what modifiers or vertex parents move" if can_fit else "")
        )
    for obj in exported_meshes:
        others = [other.name for other in armatures_of(obj) if other not in exported]
        if others:
            report.warn(f"also moved by {listing(others)}, which is not exported", obj.name)


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


def warn_of_hidden(context: Context, scope: Scope, source: Source, report: Report) -> None:
    """Warns about meshes of a source that are shown on some frames only."""

    def is_own(obj: Object) -> bool:
        return source.armature is None or _is_moved_by(source, obj)

    warn_of_animated_visibility(context, scope, source.meshes, report, concerns=is_own)


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
        f"several armatures: {names_of}. An MD5 file holds one: make one active, or select what to export"
    )
