"""The panels *MD2* in the Properties editor, and the properties that they edit, which scripts can use too."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import FloatProperty, IntVectorProperty

from ...io_blender import reports
from ...io_blender.operators import find_images, sequence_player
from ...io_blender.operators.panel_parts import ImportedPanel, fail
from ...io_blender.operators.sequence_player import PlayedModel, PlayedSequence, Player, draw_sequences
from ...io_blender.scene.shape_keys import shape_keys
from ...io_common.textures.config_files import MaterialImages
from ...io_common.textures.search import Search
from ..format import FRAMES_PER_SECOND, find_sequences
from ..options import TEXTURE_RULES
from ..records import (
    CHOSEN_SKIN_SIZE,
    FRAME_RATE,
    GROUP,
    MAX_RATE,
    MAX_SKIN_SIZE,
    SKINS,
    StoredModel,
    load_model,
    load_skin_size,
)

if TYPE_CHECKING:
    from bpy.types import Context, Material, Object

    from ...io_blender.operators.panel_parts import OperatorResult


def _find(search: Search, model: Path, material: Material, name: str) -> MaterialImages:
    return search.model(model, [name]).skins()[0]


def _played_model(obj: Object | None) -> PlayedModel | None:
    model = load_model(obj.data) if obj is not None and obj.type == "MESH" else None
    if obj is None or model is None or not model.key_names:
        return None
    rate = FRAME_RATE.read(obj.data) or FRAMES_PER_SECOND
    found = find_sequences(model.frame_names)
    return PlayedModel(model, [obj], [PlayedSequence(one.name, one.first, one.last, rate) for one in found])


PLAYER = Player("md2", _played_model)


def key_of_frame(obj: Object, model: StoredModel, frame: int) -> int:
    """The index of the shape key that an imported model shows at a frame of the scene, or -1."""
    keys = shape_keys(obj)
    index = frame - model.frame_start
    if keys is None or not 0 <= index < len(model.key_names):
        return -1
    return int(keys.key_blocks.find(model.key_names[index]))


class OBJECT_OT_md2_select_key(bpy.types.Operator):
    """Select the shape key of the current frame, so that an edit in Edit Mode changes this frame only"""

    bl_idname = "object.md2_select_key"
    bl_label = "Select Shape Key of Frame (MD2)"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        obj = context.view_layer.objects.active
        return obj is not None and obj.type == "MESH" and shape_keys(obj) is not None

    def execute(self, context: Context) -> OperatorResult:
        obj = context.view_layer.objects.active
        assert obj is not None
        model = load_model(obj.data)
        index = key_of_frame(obj, model, context.scene.frame_current) if model is not None else -1
        if index < 0:
            return fail(self, f"{obj.name} has no shape key for frame {context.scene.frame_current}")
        obj.active_shape_key_index = index
        keys: Any = shape_keys(obj)
        if index == 0 and keys.use_relative:
            reports.report_message(
                self,
                "WARNING",
                f"{keys.key_blocks[0].name} is the basis: an edit of it changes all frames. To change this frame "
                "alone, import with Shape Keys: Absolute",
            )
        return {"FINISHED"}


class DATA_PT_md2(ImportedPanel, bpy.types.Panel):
    """The sequences and the skin of an imported model."""

    bl_label = "MD2"
    kind, group = "MESH", GROUP

    def draw_object(self, context: Context, obj: Any) -> None:
        layout: Any = self.layout
        model = load_model(obj.data)
        if model is None:
            layout.label(text="The stored data is damaged: it is not used", icon="ERROR")
        else:
            draw_sequences(layout, context, PLAYER, obj)
            index = key_of_frame(obj, model, context.scene.frame_current)
            if index >= 0 and index != obj.active_shape_key_index:
                active = obj.data.shape_keys.key_blocks[obj.active_shape_key_index].name
                layout.label(text=f"Edit Mode edits {active}, not this frame", icon="ERROR")
                text = f"Select Shape Key {obj.data.shape_keys.key_blocks[index].name}"
                layout.operator(OBJECT_OT_md2_select_key.bl_idname, text=text, icon="SHAPEKEY_DATA")
        column = layout.column()
        column.use_property_split = True
        column.use_property_decorate = False
        column.prop(obj.data, "md2_frame_rate")
        column.prop(obj.data, "md2_skin_size")
        find_images.draw_names(column, obj.data, SKINS)


def _skin_size(mesh: Any) -> tuple[int, int]:
    """The size that the user has set, else that of the file; zeros if there is neither."""
    chosen = load_skin_size(mesh)
    if chosen is not None:
        return chosen
    model = load_model(mesh)
    return model.skin_size if model is not None else (0, 0)


def _set_skin_size(mesh: Any, size: tuple[int, int]) -> None:
    """Stores a size that differs from that of the file; zeros and the size of the file remove it."""
    model = load_model(mesh)
    differs = all(size) and (model is None or tuple(size) != model.skin_size)
    CHOSEN_SKIN_SIZE.write(mesh, size if differs else None)


PROPERTIES: tuple[tuple[Any, str, Any], ...] = (
    *sequence_player.properties_of(PLAYER),
    (
        bpy.types.Material,
        "md2_skin",
        find_images.name_property(
            SKINS, "Skin", "Name of the material in MD2 files: the path of an image. Empty: the name of the material"
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
            get=lambda mesh: FRAME_RATE.read(mesh) or FRAMES_PER_SECOND,
            # Blender takes functions, but no methods.
            set=lambda mesh, rate: FRAME_RATE.write(mesh, rate),
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
    *sequence_player.classes_of(PLAYER),
    *find_images.classes_of(
        SKINS, TEXTURE_RULES, _find, "Search the image of the skin again, and rebuild the material's nodes"
    ),
    OBJECT_OT_md2_select_key,
    DATA_PT_md2,
)
