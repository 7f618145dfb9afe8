"""The tab *id Tech* in the sidebar of the 3D viewport: the active model, drawn by the entries of all families."""

from __future__ import annotations

from itertools import chain
from typing import Any

import bpy
from bpy.types import Context, Material

from ...io_common.family import Family
from ...io_common.texts import counted
from ..materials.library import file_name, missing_images
from ..records import FACTS, WARNINGS, MaterialRecord, has_record, load_warnings, material_records
from ..reports import listing, printable
from . import find_images, game_check, preferences
from .panel_parts import TabPanel, wrapped
from .preferences import registered

_MOST_ROWS = 20


class VIEW3D_PT_io_idtech_animations(TabPanel, bpy.types.Panel):
    """The animations or sequences of the active model."""

    bl_label = "Animations"

    @classmethod
    def poll(cls, context: Context) -> bool:
        return any(family.blender().has_animations(context) for family in registered)

    def draw(self, context: Context) -> None:
        for part in [family.blender() for family in registered]:
            if part.has_animations(context):
                part.draw_animations(self.layout, context)


class _FoundPanel(TabPanel):
    """A panel that is shown if it finds something for the active model."""

    layout: Any

    @classmethod
    def found(cls, context: Context) -> list[Any]:
        raise NotImplementedError

    @classmethod
    def poll(cls, context: Context) -> bool:
        return bool(cls.found(context))


class VIEW3D_PT_io_idtech_skins(_FoundPanel, bpy.types.Panel):
    """The skins of the active mesh: all materials of a format without shaders, else those of a mesh with several."""

    bl_label = "Skins"

    @classmethod
    def found(cls, context: Context) -> list[MaterialRecord]:
        obj = context.object
        mesh: Any = obj.data if obj is not None and obj.type == "MESH" else None
        return [
            record
            for family in registered
            for record in material_records
            if record.group == family.name
            and has_record(mesh, family.name)
            and len(mesh.materials) > int(family.textures.has_shaders)
        ]

    def draw(self, context: Context) -> None:
        for record in self.found(context):
            find_images.draw_names(self.layout.column(align=True), context.object.data, record)


class VIEW3D_PT_io_idtech_images(_FoundPanel, bpy.types.Panel):
    """The materials of the active model whose images were not found."""

    bl_label = "Missing Images"

    @classmethod
    def found(cls, context: Context) -> list[tuple[Material, MaterialRecord, list[str]]]:
        # Most files have none, and then nothing is searched while the viewport is drawn.
        if not any(missing_images(material) for material in bpy.data.materials):
            return []
        found = [(material, missing_images(material)) for material in find_images.model_materials(context)]
        return [(material, *missing) for material, missing in found if missing is not None]

    def draw(self, context: Context) -> None:
        column = self.layout.column(align=True)
        column.operator(preferences.PREFERENCES_OT_io_idtech_game_folder_add.bl_idname, icon="ADD")
        column.operator(find_images.OBJECT_OT_io_idtech_find_all_images.bl_idname, text="Look Up All", icon="VIEWZOOM")
        missing = self.found(context)
        column = self.layout.column(align=True)
        for material, record, names in missing[:_MOST_ROWS]:
            row = column.row(align=True)
            files, own = listing([file_name(name) for name in names], 1), file_name(material.name)
            text = files if files.startswith(own) else f"{own}: {files}"
            row.label(text=printable(text), icon="MATERIAL")
            button = row.row(align=True)
            button.alignment = "RIGHT"
            button.operator(f"material.{record.group}_find_images", text="Look Up").material = material.name
        if len(missing) > _MOST_ROWS:
            column.label(text=f"and {len(missing) - _MOST_ROWS} more")


class VIEW3D_PT_io_idtech_check(TabPanel, bpy.types.Panel):
    """Check for Game, for the family that the active object was imported from, or for all."""

    bl_label = "Check for Game"

    @classmethod
    def poll(cls, context: Context) -> bool:
        return context.object is not None and (context.object.type in ("ARMATURE", "MESH") or bool(_families(context)))

    def draw(self, context: Context) -> None:
        game_check.draw(self.layout, context, _families(context) or registered)


class _ToldPanel(_FoundPanel):
    """What the last import of the active model told, each text once."""

    key: str

    @classmethod
    def found(cls, context: Context) -> list[str]:
        families, owners = _families(context), _owners(context)
        texts = (load_warnings(owner, family.name, cls.key) for owner in owners for family in families)
        return list(dict.fromkeys(chain(*texts)))

    def draw(self, context: Context) -> None:
        texts = self.found(context)
        column = self.layout.column(align=True)
        for text in texts[:_MOST_ROWS]:
            for line in wrapped(context, text):
                column.label(text=line)
            column.separator()
        if len(texts) > _MOST_ROWS:
            column.label(text=f"{len(texts) - _MOST_ROWS} more")


class VIEW3D_PT_io_idtech_warnings(_ToldPanel, bpy.types.Panel):
    """The warnings of the last import."""

    bl_label = "Last Import"
    bl_order = 2
    key = WARNINGS

    def draw(self, context: Context) -> None:
        self.layout.label(text=counted(len(self.found(context)), "warnings"), icon="ERROR")
        _ToldPanel.draw(self, context)


class VIEW3D_PT_io_idtech_facts(_ToldPanel, bpy.types.Panel):
    """What is unusual in the file, about which the user need not do anything."""

    bl_label = "About the File"
    bl_options = {"DEFAULT_CLOSED"}
    bl_order = 3
    key = FACTS


def _owners(context: Context) -> list[Any]:
    """What an import may have stored something on: the data of the active object, and of its armature or meshes."""
    obj = context.object
    if obj is None:
        return []
    if obj.data is None:
        is_imported = any(has_record(obj, family.name) for family in registered)
        return [obj, *(mesh.data for mesh in find_images.model_meshes(context))] if is_imported else []
    armature = obj.find_armature() if obj.type == "MESH" else None
    return [obj.data, *([armature.data] if armature is not None else [])]


def _families(context: Context) -> list[Family]:
    """Those that the active model was imported by."""
    owners = _owners(context)
    return [family for family in registered if any(has_record(owner, family.name) for owner in owners)]
