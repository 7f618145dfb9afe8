"""Registration of the families: operators, menu entries, file handlers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, cast

import bpy
from bpy.types import Context, Operator
from bpy_extras.io_utils import poll_file_object_drop

from ...io_common.family import Family
from ..frames.operators import sequence_player
from ..skeletal.operators import import_models, panels, retarget
from . import animation_list, documentation, find_images, game_check, preferences, sidebar

_SHARED: tuple[Any, ...] = (
    preferences,
    documentation,
    game_check,
    animation_list,
    find_images,
    sequence_player,
    sidebar,
    import_models,
    panels,
    retarget,
)
_menus: list[tuple[Any, Callable[[Any, Context], None]]] = []
_handlers: list[type] = []


def register(families: Sequence[Family]) -> None:
    """Registers the families, the preferences, the documentation and the lists."""
    preferences.set_families(families)
    for line in preferences.conflicts():
        print(f"Warning: {line}")
    documentation.register(families)
    for module in _SHARED:
        add(*declared_in(module))
    for family in families:
        _register_family(family)


def unregister(families: Sequence[Family]) -> None:
    """Removes everything that `register` added."""
    while _menus:
        menu, entry = _menus.pop()
        menu.remove(entry)
    while _handlers:
        bpy.utils.unregister_class(_handlers.pop())
    for family in reversed(families):
        remove(_classes(family), family.blender().properties)
    for module in reversed(_SHARED):
        remove(*declared_in(module))
    documentation.unregister()
    preferences.registered.clear()


def declared_in(module: Any) -> tuple[list[type], tuple[tuple[type, str, Any], ...]]:
    """The classes that a module declares for Blender, without mixins, and its properties of types of Blender."""
    classes = [cls for cls in vars(module).values() if isinstance(cls, type) and cls.__module__ == module.__name__]
    return [cls for cls in classes if issubclass(cls, bpy.types.bpy_struct)], getattr(module, "PROPERTIES", ())


def add(classes: Iterable[type], properties: Iterable[tuple[type, str, Any]]) -> None:
    """Registers classes, and adds properties to types of Blender."""
    for cls in classes:
        bpy.utils.register_class(cls)
    for owner, name, prop in properties:
        setattr(owner, name, prop)


def remove(classes: Sequence[Any], properties: Iterable[tuple[type, str, Any]]) -> None:
    """Removes what `add` added, and another add-on may have removed."""
    for owner, name, _ in properties:
        if hasattr(owner, name):
            delattr(owner, name)
    for cls in reversed(classes):
        # It may have been unregistered by another add-on that registered an operator with the same name.
        if cls.is_registered:
            bpy.utils.unregister_class(cls)


def _classes(family: Family) -> tuple[Any, ...]:
    part = family.blender()
    return (*part.groups, *part.operators, *part.classes)


def _register_family(family: Family) -> None:
    part = family.blender()
    add(_classes(family), part.properties)
    handler = _file_handler(family)
    bpy.utils.register_class(handler)
    _handlers.append(handler)
    add_to_menu(bpy.types.TOPBAR_MT_file_import, part.importer, f"{family.label} ({', '.join(family.suffixes)})")
    labels = {kind.suffix: kind.label for kind in family.kinds}
    for exporter in part.exporters:
        suffix: str = cast("Any", exporter).filename_ext
        add_to_menu(bpy.types.TOPBAR_MT_file_export, exporter, f"{labels[suffix]} ({suffix})")


def add_to_menu(menu: Any, operator: type[Operator], text: str) -> None:
    """Adds an entry for an operator to a menu; `unregister` removes it."""

    def entry(self: Any, context: Context) -> None:
        if other := preferences.other_addon(operator):
            self.layout.label(text=f"{text}: replaced by the add-on {other}, disable it", icon="ERROR")
        self.layout.operator(operator.bl_idname, text=text)

    menu.append(entry)
    _menus.append((menu, entry))


def _file_handler(family: Family) -> type:
    """The handler for files dropped onto a window, and for the exporter of collections."""
    # There is one for all kinds of files, so that a model and its animations can be dropped together. The
    # collection exporter takes the first suffix.
    part = family.blender()
    name = f"IO_FH_{family.name}"
    return type(
        name,
        (bpy.types.FileHandler,),
        {
            "__doc__": f"{family.label} files",
            "bl_idname": name,
            "bl_label": family.label,
            "bl_import_operator": part.importer.bl_idname,
            "bl_export_operator": part.exporters[0].bl_idname,
            "bl_file_extensions": ";".join(family.suffixes),
            # True in the 3D viewport and the outliner.
            "poll_drop": classmethod(lambda cls, context: bool(poll_file_object_drop(context))),
        },
    )
