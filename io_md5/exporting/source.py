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
from ..records import MESH_INDEX
from .binding import armatures_of, is_moved_by_other_means
from .hierarchy import find_joint_objects

if TYPE_CHECKING:
    from bpy.types import Context, Object


@dataclass(eq=False)
class Source:
    """The armature of an export, None for meshes without, and its meshes, as ordered in the file."""

    armature: Object | None
    meshes: list[Object]
    # Without an armature, the objects that become joints, parents first.
    joint_objects: list[Object] = field(default_factory=list)

    @property
    def objects(self) -> list[Object]:
        """The armature and its meshes."""
        return self.meshes if self.armature is None else [self.armature, *self.meshes]


def find_source(
    context: Context,
    scope: Scope,
    report: Report,
    *,
    objects_as_joints: bool = True,
    fit_weights: bool = False,
) -> Source:
    """The armature and the meshes that it moves, or without an armature the objects that move."""
    # With `fit_weights`, also meshes that nothing but modifiers or vertex parents moves.
    objects = collect(context, scope)
    meshes = [obj for obj in objects if obj.type == "MESH"]
    owners = {obj: armatures_of(obj) for obj in objects if obj.type != "ARMATURE"}
    armatures = [obj for obj in objects if obj.type == "ARMATURE"]
    armatures += [owner for obj in meshes for owner in owners[obj][:1]]
    armatures = list(dict.fromkeys(armatures))
    if not armatures and not meshes:
        raise nothing_to_export(context, scope, {"ARMATURE": "armature", "MESH": "mesh"})
    armature = _choose(context, armatures)
    if armature is None:
        meshes = sorted(meshes, key=file_order)
        joint_objects = find_joint_objects(meshes) if objects_as_joints else []
        if not joint_objects:
            report.warn("there is no armature to export: everything is bound to one joint named origin")
        return Source(None, meshes, joint_objects)
    own_meshes = [obj for obj in meshes if armature in owners[obj]]
    if scope.use_selection and not own_meshes:
        # If only the armature is selected, its meshes are exported too.
        own_meshes = [
            obj for obj in collect(context, Scope()) if obj.type == "MESH" and armature in armatures_of(obj)
        ]
    if fit_weights:
        own_meshes += [obj for obj in meshes if not owners[obj] and is_moved_by_other_means(obj)]
    _warn_of_others(armature, own_meshes, owners, report)
    return Source(armature, sorted(own_meshes, key=file_order))


def _warn_of_others(
    armature: Object, own_meshes: list[Object], owners: dict[Object, list[Object]], report: Report
) -> None:
    """Warns about meshes that the armature does not move, or not alone, and about other objects."""
    unmoved: list[str] = []
    of_others: dict[str, list[str]] = {}
    for obj, found in owners.items():
        if obj.type == "MESH" and obj not in own_meshes and armature not in found:
            names = of_others.setdefault(found[0].name, []) if found else unmoved
            names.append(obj.name)
    for other, names in of_others.items():
        report.warn(f"not exported, because {other} moves it, not {armature.name}: {listing(names)}")
    can_fit = any(is_moved_by_other_means(obj) for obj in owners if obj.type == "MESH" and not owners[obj])
    if unmoved:
        # Something else may still move it with the armature, such as a Surface Deform modifier or a lattice.
        report.warn(
            "not exported, because no Armature modifier, parent or constraint attaches it to "
            f"{armature.name}: {listing(unmoved)}"
            + (". Fit Weights exports what modifiers or vertex parents move" if can_fit else "")
        )
    for obj in own_meshes:
        others = [other.name for other in armatures_of(obj) if other != armature]
        if others:
            report.warn(f"also moved by {listing(others)}, which is not exported", obj.name)


def why_without_meshes(context: Context, scope: Scope, source: Source) -> list[str]:
    """Why none of the meshes that an armature moves is exported; empty if one is, or if it moves none."""
    if source.armature is None or source.meshes:
        return []
    objects = context.scene.objects
    own = [obj for obj in objects if obj.type == "MESH" and source.armature in armatures_of(obj)]
    return why_left_out(context, scope, own)


def require_meshes(context: Context, scope: Scope, source: Source) -> None:
    """Raises NothingToExportError if all meshes of a source are left out; it names them and tells why."""
    reasons = why_without_meshes(context, scope, source)
    if reasons:
        raise NothingToExportError(f"there is no mesh to export; {'; '.join(reasons)}")


def warn_of_hidden(context: Context, scope: Scope, source: Source, report: Report) -> None:
    """Warns about meshes of a source that are shown on some frames only."""

    def is_own(obj: Object) -> bool:
        return source.armature is None or source.armature in armatures_of(obj)

    warn_of_animated_visibility(context, scope, source.meshes, report, concerns=is_own)


def file_order(obj: Object) -> tuple[int, str]:
    """A sort key: imported meshes in the order of the file, then new ones by name."""
    index = MESH_INDEX.read(obj.data)
    return (1 << 31) if index is None else index, obj.name


def _choose(context: Context, armatures: list[Object]) -> Object | None:
    """The only armature, or the active one of several."""
    if len(armatures) <= 1:
        return armatures[0] if armatures else None
    active = context.view_layer.objects.active
    if active is not None and active.type != "ARMATURE":
        active = next(iter(armatures_of(active)), None)
    if active in armatures:
        return active
    names_of = listing([obj.name for obj in armatures])
    raise NothingToExportError(
        f"several armatures: {names_of}. An MD5 file holds one: make one active, or select what to export"
    )
