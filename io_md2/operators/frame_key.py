"""The shape key of the current frame of an imported model: a button that selects it, to edit that frame alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy

from ...io_blender import reports
from ...io_blender.scene.shape_keys import shape_keys
from ..records import StoredModel, load_model

if TYPE_CHECKING:
    from bpy.types import Context, Object

    from ...io_blender.operators.blender_mixins import OperatorResult


def key_of_frame(obj: Object, model: StoredModel, frame: int) -> int:
    """The index of the shape key that an imported model shows at a frame of the scene; -1 if it has none there."""
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
        """Whether the active object is a mesh with shape keys."""
        obj = context.view_layer.objects.active
        return obj is not None and obj.type == "MESH" and shape_keys(obj) is not None

    def execute(self, context: Context) -> OperatorResult:
        """Selects it, and warns if it is the first one."""
        obj = context.view_layer.objects.active
        assert obj is not None
        model = load_model(obj.data)
        index = key_of_frame(obj, model, context.scene.frame_current) if model is not None else -1
        if index < 0:
            reports.report_message(
                self, "ERROR", f"{obj.name} has no shape key for frame {context.scene.frame_current}"
            )
            return {"CANCELLED"}
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


def draw(layout: Any, context: Context, obj: Object, model: StoredModel) -> None:
    """Draws the button with the name of the shape key, if the current frame has one."""
    index = key_of_frame(obj, model, context.scene.frame_current)
    keys: Any = shape_keys(obj)
    if index >= 0:
        name = keys.key_blocks[index].name
        layout.operator(
            OBJECT_OT_md2_select_key.bl_idname, text=f"Select Shape Key {name}", icon="SHAPEKEY_DATA"
        )
