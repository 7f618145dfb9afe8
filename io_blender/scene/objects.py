"""The objects of an export: which ones, why others are left out, and the scale and axes of their import."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np
import numpy.typing as npt
from bpy.types import Context, Depsgraph, Object

from ..records import ConversionField, has_record, read_group
from ..reports import Report, listing
from .axes import Conversion
from .time_dependence import is_property_animated

_SHAPES = {"CURVE", "SURFACE", "META", "FONT"}  # the types of objects that Blender can convert to meshes

# Modifiers that make instances.
_MAKERS = {"NODES", "PARTICLE_SYSTEM"}
_INSTANCES_LEFT_OUT = "its instances are left out: make them real, or add a Realize Instances node"

_MIN_SCALE = 0.9e-6
_ROTATION_TOLERANCE = 1e-4

_SCALE_TOLERANCE = 1e-4  # scales of operators have 32 bits, and users shorten them: 39.37

# The property groups of meshes. In an MD2 the mesh is the model; those of others hang on it.
_MD2, _MD3 = "md2", "md3"
_GROUPS = (_MD2, _MD3, "md5")


def armature_of(obj: Object | None) -> Object | None:
    """An object if it is an armature, else the one that moves it."""
    return obj.find_armature() if obj is not None and obj.type != "ARMATURE" else obj


class NothingToExportError(ValueError):
    """What the user chose contains nothing that can be exported."""


@dataclass(frozen=True)
class Scope:
    """Which objects are exported."""

    use_selection: bool = False  # only selected ones
    use_active_collection: bool = False  # only those of the active collection and the collections in it
    collection: str = ""  # only those of the collection with this name, and the collections in it


def collect(context: Context, scope: Scope) -> list[Object]:
    """The visible objects in scope, sorted by name. Raises NothingToExportError without the collection."""
    view_layer = context.view_layer
    objects = [obj for obj in _candidates(context, scope) if _is_shown(obj, context)]
    if scope.use_selection:
        objects = [obj for obj in objects if obj.select_get(view_layer=view_layer)]
    return sorted(objects, key=lambda obj: obj.name)


def _candidates(context: Context, scope: Scope) -> list[Object]:
    """The objects in scope, hidden ones too."""
    if scope.collection:
        found = bpy.data.collections.get(scope.collection)
        if found is None and scope.collection == context.scene.collection.name:
            found = context.scene.collection
        if found is None:
            raise NothingToExportError(f"there is no collection {scope.collection!r}: choose one that is in this file")
        return list(found.all_objects)
    if scope.use_active_collection:
        return list(context.view_layer.active_layer_collection.collection.all_objects)
    return list(context.scene.objects)


def _is_present(obj: Object, context: Context) -> bool:
    # Not by name: a linked object may have the same.
    return obj in set(context.view_layer.objects)


def _is_shown(obj: Object, context: Context) -> bool:
    return obj.visible_get(view_layer=context.view_layer) and not _is_hidden_instancer(obj)


def warn_of_left_out(
    context: Context, scope: Scope, exported: list[Object], report: Report, *, concerns: Callable[[Object], bool]
) -> None:
    """Warns of what is shown but not exported: texts, bevelled curves, instances, and meshes on some frames."""
    # Of hidden meshes whose visibility is animated, only those of which `concerns` is true.
    objects = collect(context, scope)
    candidates = () if scope.use_selection else _candidates(context, scope)
    for obj in objects:
        if _instances_any(obj, ("MESH",)):
            report.warn(_INSTANCES_LEFT_OUT, obj.name)
    for obj in candidates:
        if _is_hidden_instancer(obj) and obj.visible_get(view_layer=context.view_layer):
            report.warn(_INSTANCES_LEFT_OUT, obj.name)
    graph = context.evaluated_depsgraph_get()
    shapes = [obj.name for obj in objects if obj.type in _SHAPES and _has_faces(obj.evaluated_get(graph))]
    if shapes:
        report.warn(f"not exported, because only meshes can be: convert {listing(shapes)} to meshes")
    for obj in exported:
        if is_property_animated(obj, "hide_viewport"):
            report.warn("its visibility is animated, but a game shows it on all frames", obj.name)
    for obj in candidates:
        # Few objects have it, so it is asked first.
        is_animated = obj.type == "MESH" and is_property_animated(obj, "hide_viewport")
        if is_animated and obj not in exported and _is_present(obj, context) and concerns(obj):
            report.warn("not exported, because it is hidden on the current frame; its visibility is animated", obj.name)


def _has_faces(evaluated: Object) -> bool:
    try:
        return len(evaluated.to_mesh().polygons) > 0
    finally:
        evaluated.to_mesh_clear()


def nothing_to_export(context: Context, scope: Scope, kinds: dict[str, str]) -> NothingToExportError:
    """The error that there are no objects of some types, with what is left out, and the remedy."""
    what = " and ".join(f"no {name}" for name in kinds.values())
    candidates = _candidates(context, scope)
    instances = [obj for obj in candidates if _is_shown(obj, context) and _instances_any(obj, kinds)]
    reasons = why_left_out(context, scope, [obj for obj in candidates if obj.type in kinds])
    for obj in instances[:3]:
        reasons.append(
            f"{obj.name}: an instance of the collection {obj.instance_collection.name}. Use Object > Apply > Make "
            "Instances Real, or export from the scene or file that the collection is in"
        )
    return NothingToExportError(f"there is {what} to export" + "".join(f"; {reason}" for reason in reasons))


def why_left_out(context: Context, scope: Scope, objects: Iterable[Object]) -> list[str]:
    """Why objects are not exported, and how to change that: one reason for all that share it."""
    candidates = set(_candidates(context, scope))
    names: dict[str, list[str]] = {}
    for obj in objects:
        if obj not in candidates:
            reason = "not in the collection that is exported. Move it there, or export another collection"
        elif not _is_present(obj, context):
            reason = "not in the view layer. Tick its collection in the Outliner"
        elif not _is_shown(obj, context):
            reason = "hidden. Show it in the Outliner (eye and screen icons)"
        else:
            reason = "not selected. Select what is to be exported"
        names.setdefault(reason, []).append(obj.name)
    return [f"{listing(found, 3)}: {reason}" for reason, found in names.items()]


def warn_of_instances(obj: Object, graph: Depsgraph, report: Report) -> None:
    """Warns of instances that an object, the original one, shows on the frame that is evaluated."""
    makes_instances = obj.instance_type != "NONE" or any(
        modifier.type in _MAKERS and modifier.show_viewport for modifier in obj.modifiers
    )
    if makes_instances and any(
        instance.is_instance and instance.parent is not None and instance.parent.original == obj
        for instance in graph.object_instances
    ):
        report.warn(_INSTANCES_LEFT_OUT, obj.name)


def _is_hidden_instancer(obj: Object) -> bool:
    """Whether only the instances or particles of an object are shown, and not the object itself."""
    makes_instances = obj.instance_type != "NONE" or len(obj.particle_systems) > 0
    return obj.type == "MESH" and makes_instances and not obj.show_instancer_for_viewport


def _instances_any(obj: Object, kinds: Collection[str]) -> bool:
    """Whether an object shows a collection with objects of some types."""
    collection = obj.instance_collection if obj.instance_type == "COLLECTION" else None
    if collection is None:
        return False
    return any(other.type in kinds or _instances_any(other, kinds) for other in collection.all_objects)


def mesh_objects(
    context: Context, scope: Scope, report: Report, is_wanted: Callable[[Object], bool] = lambda _: False
) -> list[Object]:
    """The meshes of a model, by name, with warnings of others; raises NothingToExportError if none."""
    # `is_wanted` tells which objects besides meshes are warned of if they are not part of the model.
    meshes, model = find_meshes(context, scope)
    if not meshes:
        raise nothing_to_export(context, scope, {"MESH": "mesh"})
    objects = None
    if model is not None:
        objects = _objects_of(model, context, _roots(context))
        left_out = [obj for obj in collect(context, scope) if obj not in objects and obj not in meshes]
        others = [obj for obj in left_out if obj.type == "MESH" or is_wanted(obj)]
        if others:
            names = listing([obj.name for obj in others])
            report.warn(
                f"not exported, as not part of {model.name}: {names}. To export them, parent them to {model.name}, "
                "move them into its collection, or use Selected Only",
                is_important=True,
            )
    warn_of_left_out(context, scope, meshes, report, concerns=lambda obj: objects is None or obj in objects)
    return meshes


def find_meshes(context: Context, scope: Scope) -> tuple[list[Object], Object | None]:
    """The meshes that are exported, by name, and the imported object that they belong to, if there is one."""
    # If no selection or collection is asked for, and the active object belongs to an imported model, or there is just
    # one, that model is exported. Raises NothingToExportError if there is no collection of the name that is asked for.
    meshes = [obj for obj in collect(context, scope) if obj.type == "MESH"]
    if scope != Scope():
        return meshes, None
    roots = _roots(context)
    imported = {
        obj: _objects_of(obj, context, roots) for obj in meshes if any(has_record(obj.data, group) for group in _GROUPS)
    }
    active = context.view_layer.objects.active
    # An imported object is in the model of another one if it was put there.
    chosen = [obj for obj in imported if obj == active] or [
        obj for obj, objects in imported.items() if active in objects or imported.keys() <= objects
    ]
    if not chosen:
        return meshes, None
    model = chosen[0]
    members = [obj for obj in meshes if obj in imported[model]]
    if has_record(model.data, _MD2):
        return members, model
    # A surface that was parented to an armature is in the collection of the model.
    files = sorted((obj for obj in imported[model] if _is_file(obj)), key=lambda obj: obj.name)
    root = roots[model]
    return members, root if _is_file(root) else next(iter(files), root)


def rig_of(obj: Object) -> Object | None:
    """The armature that moves an object: that of its modifier, else the nearest that it hangs on without an empty."""
    rig, above = obj.find_armature(), obj.parent
    while rig is None and above is not None and above.type != "EMPTY":
        rig, above = above if above.type == "ARMATURE" else None, above.parent
    return rig


def objects_hanging_on(model: Object, context: Context) -> list[Object]:
    """The objects that belong to an imported model, by name."""
    return sorted(_objects_of(model, context, _roots(context)), key=lambda obj: obj.name)


def _objects_of(model: Object, context: Context, roots: dict[Object, Object]) -> set[Object]:
    """What parents and armatures connect to an object, or is in one of its collections but the scene's."""
    root = roots.get(model, model)
    result = {obj for obj, other in roots.items() if other == root}
    for collection in model.users_collection:
        if collection != context.scene.collection:
            result.update(collection.all_objects)
    return result | {armature for obj in result if (armature := obj.find_armature()) is not None}


def _roots(context: Context) -> dict[Object, Object]:
    """What each object of the scene hangs on by parents and armatures: itself, if on nothing."""
    return {obj: _root(obj) for obj in context.scene.objects}


def _is_file(obj: Object) -> bool:
    """Whether an MD3 was imported as what hangs on an object."""
    return "file" in read_group(obj, _MD3)


def _root(obj: Object) -> Object:
    chain: list[Object] = []
    above: Object | None = obj
    # An armature may move surfaces of several models.
    while above is not None:
        if _is_file(above):
            return above
        above = above.parent
    above = obj
    # An armature may hang on its own mesh.
    while above is not None and above not in chain:
        chain.append(above)
        if _is_file(above):
            # It may hang on a tag of another model.
            break
        above = above.find_armature() or above.parent
    return chain[-1]


@dataclass(frozen=True, eq=False)
class ChosenConversion:
    """The scale and axes of an export, as far as the user has set them."""

    conversion: Conversion  # what the user has set, else the default
    has_scale: bool = False  # whether the scale is set
    has_axes: bool = False  # whether the axes are set


def conversion_of(obj: Object) -> Conversion | None:
    """The scale and axes that an object, else its armature, was imported with; None if they are unknown."""
    for owner in (obj, obj.find_armature()):
        # Of a model that is an empty, the object itself has them.
        data: Any = (owner.data or owner) if owner is not None else None
        # Each family has a property group of its own.
        for key in data.keys() if data is not None else ():
            found = ConversionField(key).read(data)
            if found is not None:
                return found
    return None


def export_conversion(choice: Conversion | ChosenConversion, objects: Iterable[Object], report: Report) -> Conversion:
    """The conversion to the file, as set or of the imports. Raises NothingToExportError if these differ."""
    if isinstance(choice, Conversion):
        return choice
    known = [(obj, conversion) for obj in objects if (conversion := conversion_of(obj)) is not None]
    if not known:
        return choice.conversion
    obj, first = known[0]
    scales = [f"{other.name} with {conversion.scale:.4g}" for other, conversion in known]
    if not choice.has_scale and not all(_is_one(found.scale / first.scale) for _, found in known):
        raise NothingToExportError(
            f"the models were imported with different scales: {listing(scales, 10)}. Export one at a time, or set Scale"
        )
    turned = [other.name for other, found in known if not _has_axes(found, first.rotation)]
    if not choice.has_axes and turned:
        raise NothingToExportError(
            f"the models were imported with other axes than {obj.name}: {listing(turned, 10)}. Export one at a time, "
            "or set Forward and Up"
        )
    back, given = first.inverse(), choice.conversion
    result = Conversion(
        given.scale if choice.has_scale else back.scale, given.rotation if choice.has_axes else back.rotation
    )
    _warn_of_change(obj, back, result, report)
    return result


def _warn_of_change(obj: Object, back: Conversion, result: Conversion, report: Report) -> None:
    """Warns if a conversion does not lead back to the file that an object was imported from."""
    parts, remedies = [], []
    # The object may have been scaled to make up for it.
    size = max(result.scale / back.scale * obj.matrix_world.median_scale, _MIN_SCALE)
    if not _is_one(result.scale / back.scale) and not _is_one(size):
        parts.append(f"is {size:.3g} times as large as" if size > 1.0 else f"is {1.0 / size:.3g} times smaller than")
        remedies.append(f"Scale to {back.scale:.6g}")
    if not _has_axes(result, back.rotation):
        parts.append("is turned against")
        remedies.append(f"the axes to those of the import ({' and '.join(axes_of(back))})")
    if parts:
        report.warn(
            f"the export {' and '.join(parts)} the imported file, because of the options: set "
            f"{' and '.join(remedies)} to get it as it was",
            obj.name,
            is_important=True,
        )


def axes_of(conversion: Conversion) -> tuple[str, str]:
    """The axes of the file that point forward and up in Blender, of a conversion to the file."""
    forward, up = (
        ("-" if column.sum() < 0.0 else "") + "XYZ"[int(np.abs(column).argmax())]
        for column in conversion.rotation.T[1:]
    )
    return forward, up


def _is_one(ratio: float) -> bool:
    return abs(ratio - 1.0) <= _SCALE_TOLERANCE


def _has_axes(conversion: Conversion, rotation: npt.NDArray[np.float64]) -> bool:
    return bool(np.allclose(conversion.rotation, rotation, atol=_ROTATION_TOLERANCE))
