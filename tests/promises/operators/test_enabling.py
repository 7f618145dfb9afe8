"""Enabling, disabling and enabling again through Blender's preferences."""

from __future__ import annotations

from types import SimpleNamespace

import bpy
import md5_scenes
import pytest
from enabled_families import FAMILIES

OURS = (*(family.name for family in FAMILIES), "idtech")


def is_ours(name: str) -> bool:
    return any(word in name.lower() for word in OURS)


def traces() -> dict[str, list[str]]:
    """Everything in Blender that bears a name of the extension or runs its code."""
    kinds = {
        "operators": bpy.types.Operator,
        "panels": bpy.types.Panel,
        "handlers": bpy.types.FileHandler,
        "menus": bpy.types.Menu,
        "groups": bpy.types.PropertyGroup,
    }
    found: dict[str, list[str]] = {
        kind: sorted(cls.__name__ for cls in base.__subclasses__() if getattr(cls, "is_registered", False))
        for kind, base in kinds.items()
    }
    found = {kind: [name for name in names if is_ours(name)] for kind, names in found.items()}
    found["operators"] += [
        f"{module}.{name}"
        for module in ("import_scene", "export_scene", "preferences")
        for name in dir(getattr(bpy.ops, module))
        if is_ours(name)
    ]
    found["callbacks"] = [
        function.__module__
        for menu in (bpy.types.TOPBAR_MT_file_import, bpy.types.TOPBAR_MT_file_export)
        for function in menu._dyn_ui_initialize()
        if is_ours(function.__module__)
    ]
    for name in dir(bpy.app.handlers):
        functions = getattr(bpy.app.handlers, name)
        if isinstance(functions, list):
            found["callbacks"] += [f.__module__ for f in functions if is_ours(getattr(f, "__module__", ""))]
    configuration = bpy.context.window_manager.keyconfigs.addon
    found["keymaps"] = [
        item.idname
        for keymap in (configuration.keymaps if configuration else ())
        for item in keymap.keymap_items
        if is_ours(item.idname)
    ]
    found["preferences"] = [addon.module for addon in bpy.context.preferences.addons if is_ours(addon.module)]
    return found


@pytest.fixture
def module(extension):
    """The extension's name among the add-ons; it is enabled again afterwards, whatever happens."""
    yield extension.__name__
    if extension.__name__ not in bpy.context.preferences.addons:
        bpy.ops.preferences.addon_enable(module=extension.__name__)


def test_disabling_unregisters_everything_and_enabling_registers_it_again(module):
    before = traces()
    for place in ("operators", "handlers", "callbacks", "preferences"):
        assert before[place], f"no {place} are found in the first place"
    for _ in range(2):
        bpy.ops.preferences.addon_disable(module=module)
        assert {place: names for place, names in traces().items() if names} == {}
        bpy.ops.preferences.addon_enable(module=module)
        assert traces() == before


def test_after_enabling_again_a_model_is_imported(module, tmp_path):
    bpy.ops.preferences.addon_disable(module=module)
    with pytest.raises(AttributeError):
        bpy.ops.import_scene.md5(filepath=str(md5_scenes.write(tmp_path)))
    bpy.ops.preferences.addon_enable(module=module)
    bpy.ops.import_scene.md5(filepath=str(md5_scenes.write(tmp_path)))
    assert any(obj.type == "ARMATURE" for obj in bpy.data.objects)


def test_the_menu_names_an_add_on_that_has_replaced_an_operator_since(module):
    def labels() -> list[str]:
        drawn: list[str] = []
        layout = SimpleNamespace(operator=lambda *_, **__: None, label=lambda text, icon: drawn.append(text))
        for entry in bpy.types.TOPBAR_MT_file_import._dyn_ui_initialize():
            if is_ours(entry.__module__):
                entry(SimpleNamespace(layout=layout), bpy.context)
        return drawn

    assert labels() == []
    attributes = {"__module__": "io_other", "bl_idname": "import_scene.md2", "bl_label": "Another Importer"}
    other = type("IMPORT_SCENE_OT_md2", (bpy.types.Operator,), attributes)
    bpy.utils.register_class(other)
    try:
        assert [label.partition(": ")[2] for label in labels()] == ["replaced by the add-on io_other, disable it"]
    finally:
        bpy.utils.unregister_class(other)
        bpy.ops.preferences.addon_disable(module=module)
        bpy.ops.preferences.addon_enable(module=module)
    assert labels() == []
