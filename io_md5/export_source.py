"""What is exported: an armature, the meshes that it moves, and the clips that it plays."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..io_common.reports import Report, listing
from ..io_common.scene import names
from ..io_common.scene.objects import NothingToExportError, Scope, collect
from .binding import armatures_of
from .clips import Clip, active_clip, all_clips, scene_clip
from .format.suffixes import ANIMATION_SUFFIX
from .source.meshes import read_index

if TYPE_CHECKING:
    from bpy.types import Context, Object

_SURFACES = {"CURVE", "SURFACE", "META", "FONT", "CURVES", "GREASEPENCIL"}


@dataclass(eq=False)
class Source:
    """What is exported.

    Attributes:
        armature: in the original data; None for meshes without.
        meshes: the mesh objects that it moves, in the order of the file.
    """

    armature: Object | None
    meshes: list[Object]


def find_source(context: Context, scope: Scope, report: Report) -> Source:
    """The armature, and the meshes that it moves."""
    objects = collect(context, scope)
    meshes = [obj for obj in objects if obj.type == "MESH"]
    owners = {obj: armatures_of(obj) for obj in objects if obj.type != "ARMATURE"}
    armatures = [obj for obj in objects if obj.type == "ARMATURE"]
    armatures += [owner for obj in meshes for owner in owners[obj][:1]]
    armatures = list(dict.fromkeys(armatures))
    if not armatures and not meshes:
        raise NothingToExportError("there is no armature and no mesh to export")
    armature = _choose(context, armatures)
    if armature is None:
        report.warn("there is no armature: all is bound to one joint named origin")
        return Source(None, sorted(meshes, key=_file_order))
    mine = [obj for obj in meshes if armature in owners[obj]]
    if scope.use_selection and not mine:
        # With the armature alone selected, its meshes are meant.
        mine = [
            obj for obj in collect(context, Scope()) if obj.type == "MESH" and armature in armatures_of(obj)
        ]
    _warn_of_others(armature, mine, owners, report)
    return Source(armature, sorted(mine, key=_file_order))


def _warn_of_others(
    armature: Object, mine: list[Object], owners: dict[Object, list[Object]], report: Report
) -> None:
    """Warns of what the armature does not move, or not alone, and of what is no mesh."""
    unmoved = [obj.name for obj, found in owners.items() if obj.type == "MESH" and armature not in found]
    if unmoved:
        report.warn(f"not moved by {armature.name}: {listing(unmoved)}; left out")
    surfaces = [obj.name for obj, found in owners.items() if obj.type in _SURFACES and armature in found]
    if surfaces:
        report.warn(f"only meshes are exported, convert them first: {listing(surfaces)}; left out")
    for obj in mine:
        others = [other.name for other in armatures_of(obj) if other != armature]
        if others:
            report.warn(f"moved by {listing(others)} as well, which is left out", obj.name)


def _file_order(obj: Object) -> tuple[int, str]:
    """Imported meshes in their old order, new ones after them by name."""
    index = read_index(obj.data)
    return (1 << 31) if index is None else index, obj.name


def _choose(context: Context, armatures: list[Object]) -> Object | None:
    """The one armature, or the active one of several."""
    if len(armatures) <= 1:
        return armatures[0] if armatures else None
    active = context.view_layer.objects.active
    if active is not None and active.type != "ARMATURE":
        active = next(iter(armatures_of(active)), None)
    if active in armatures:
        return active
    names_of = listing([obj.name for obj in armatures])
    raise NothingToExportError(
        f"several armatures: {names_of}; make one active, or select what is to be exported"
    )


def clips_by_file(
    context: Context, armature: Object | None, actions: str, folder: Path, stem: str, report: Report
) -> dict[Path, Clip]:
    """What is to be exported to which file.

    Raises:
        NothingToExportError: there is no such action.
    """
    if actions == "NONE":
        return {}
    if armature is None:
        report.warn("animations are left out: without an armature there is nothing that they could move")
        return {}
    if actions == "SCENE":
        return {folder / f"{stem}{ANIMATION_SUFFIX}": scene_clip(context.scene)}
    is_active = actions == "ACTIVE"
    chosen = [active_clip(armature, context.scene)] if is_active else all_clips(armature, context.scene)
    if not chosen:
        report.warn(f"no action moves bones of {armature.name}: no animations are exported")
    clips: dict[Path, Clip] = {}
    for clip in chosen:
        name = names.for_files(clip.stored.name if clip.stored else clip.name, "animation")
        target = folder / f"{name}{ANIMATION_SUFFIX}"
        number = 1
        # Many file systems take names that differ in case only for one.
        while target.name.lower() in {other.name.lower() for other in clips}:
            number += 1
            target = folder / f"{name}_{number}{ANIMATION_SUFFIX}"
        clips[target] = clip
    return clips
