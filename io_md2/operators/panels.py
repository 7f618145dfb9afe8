"""The panels *MD2* in the Properties editor, and the properties that they edit.

The properties read and write what an import stores, and scripts can use them too.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import FloatProperty, IntVectorProperty, StringProperty

from ...io_common.materials import source as material_source
from ...io_common.operators import find_images
from ...io_common.operators.warnings_panel import draw_warnings
from ...io_common.reports import printable
from ...io_common.scene import stored_values
from ...io_common.scene.stored_warnings import load_warnings
from ...io_common.textures.material_images import MaterialImages
from ...io_common.textures.search import Search
from ..skins import SKINS
from ..source import load_model
from ..source.settings import (
    GROUP,
    MAX_RATE,
    MAX_SKIN_SIZE,
    load_frame_rate,
    load_own_skin_size,
    store_frame_rate,
    store_own_skin_size,
)
from ..texture_rules import TEXTURE_RULES
from . import frame_key, sequences

if TYPE_CHECKING:
    from bpy.types import Context, Material


def _find(search: Search, model: Path, material: Material, name: str) -> MaterialImages:
    del material
    return search.model(model, [name]).skins()[0]


class MATERIAL_OT_md2_find_images(find_images.FindImages, bpy.types.Operator):
    """Search the image of the skin again, and build the nodes of the material anew"""

    bl_idname = "material.md2_find_images"
    bl_label = "Look Up Images (MD2)"
    bl_options = {"REGISTER", "UNDO"}

    family = SKINS
    rules = TEXTURE_RULES
    find = staticmethod(_find)


def _is_imported(data: Any) -> bool:
    return bool(data is not None and stored_values.read_group(data, GROUP))


class DATA_PT_md2(bpy.types.Panel):
    """The sequences, skin and warnings of an imported model."""

    bl_label = "MD2"
    bl_space_type = "PROPERTIES"
    bl_region_type = "WINDOW"
    bl_context = "data"

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Whether the active object is a mesh that was imported."""
        return (
            context.object is not None and context.object.type == "MESH" and _is_imported(context.object.data)
        )

    def draw(self, context: Context) -> None:
        """Draws the sequences, the frame rate, the skin and the warnings."""
        layout: Any = self.layout
        obj = context.object
        assert obj is not None
        mesh: Any = obj.data
        model = load_model(mesh)
        if model is None:
            layout.label(text="The stored data is damaged: it is not used", icon="ERROR")
        else:
            sequences.draw(layout, context, model)
            frame_key.draw(layout, context, obj, model)
        column = layout.column()
        column.use_property_split = True
        column.use_property_decorate = False
        column.prop(mesh, "md2_frame_rate")
        column.prop(mesh, "md2_skin_size")
        for material in dict.fromkeys(mesh.materials):
            if material is not None:
                find_images.draw_name(column, material, "md2_skin", MATERIAL_OT_md2_find_images.bl_idname)
        draw_warnings(layout, context, "DATA_PT_md2_warnings", load_warnings(mesh, GROUP))


class MATERIAL_PT_md2(find_images.MaterialPanel, bpy.types.Panel):
    """The skin of an imported material."""

    bl_label = "MD2"

    family = SKINS
    group = GROUP
    attribute = "md2_skin"
    button = MATERIAL_OT_md2_find_images.bl_idname


def _skin_size(mesh: Any) -> tuple[int, int]:
    """The size that the user has set, else that of the file; zeros if there is neither."""
    own = load_own_skin_size(mesh)
    if own is not None:
        return own
    model = load_model(mesh)
    return model.skin_size if model is not None else (0, 0)


def _set_skin_size(mesh: Any, size: tuple[int, int]) -> None:
    """Stores a size that differs from that of the file; zeros and the size of the file remove it."""
    model = load_model(mesh)
    is_own = all(size) and (model is None or tuple(size) != model.skin_size)
    store_own_skin_size(mesh, size if is_own else None)


def _set_skin(material: Any, name: str) -> None:
    material_source.change_name(material, SKINS, name)


PROPERTIES: tuple[tuple[Any, str, Any], ...] = (
    *sequences.PROPERTIES,
    (
        bpy.types.Material,
        "md2_skin",
        StringProperty(
            name="Skin",
            description="Name of the material in MD2 files: the path of an image. Empty: the name of the material",
            get=lambda material: printable(find_images.file_name(material, SKINS)),
            set=_set_skin,
        ),
    ),
    (
        bpy.types.Mesh,
        "md2_frame_rate",
        FloatProperty(
            name="Frame Rate",
            description="Frames per second at which the sequences are played. The file has none; Quake II plays 10",
            min=0.01,
            max=MAX_RATE,
            soft_min=1.0,
            soft_max=60.0,
            get=load_frame_rate,
            set=store_frame_rate,
        ),
    ),
    (
        bpy.types.Mesh,
        "md2_skin_size",
        IntVectorProperty(
            name="Skin Size",
            description="Width and height of the skin in pixels, to which exports fit the texture coordinates. "
            "Zeros: the size of the file",
            size=2,
            min=0,
            max=MAX_SKIN_SIZE,
            get=_skin_size,
            set=_set_skin_size,
        ),
    ),
)

CLASSES = (
    *sequences.CLASSES,
    frame_key.OBJECT_OT_md2_select_key,
    MATERIAL_OT_md2_find_images,
    DATA_PT_md2,
    MATERIAL_PT_md2,
)
