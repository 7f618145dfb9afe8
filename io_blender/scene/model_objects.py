"""The meshes of an export: those of the collection or selection that is asked for, else of one imported model."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ..records import has_record, read_group
from ..reports import listing
from .objects import Scope, collect, nothing_to_export, warn_of_animated_visibility, warn_of_left_out

if TYPE_CHECKING:
    from bpy.types import Context, Object

    from ..reports import Report


# The property groups of meshes. In an MD2 the mesh is the model; those of others hang on it.
_MD2, _MD3 = "md2", "md3"
_GROUPS = (_MD2, _MD3, "md5")


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
    warn_of_left_out(context, scope, report)

    def concerns(obj: Object) -> bool:
        return objects is None or obj in objects

    warn_of_animated_visibility(context, scope, meshes, report, concerns=concerns)
    return meshes


def find_meshes(context: Context, scope: Scope) -> tuple[list[Object], Object | None]:
    """The meshes that are exported, by name, and the imported object that they belong to, if there is one."""
    # If no selection or collection is asked for, and the active object belongs to an imported model, or there is just
    # one, that model is exported. Raises NothingToExportError if there is no collection of the name that is asked for.
    meshes = [obj for obj in collect(context, scope) if obj.type == "MESH"]
    if scope != Scope():
        return meshes, None
    roots = _roots(context)
    imported = {obj: _objects_of(obj, context, roots) for obj in meshes if _is_imported(obj)}
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


def _is_imported(obj: Object) -> bool:
    """Whether a mesh is an imported model or a part of one."""
    return any(has_record(obj.data, group) for group in _GROUPS)
