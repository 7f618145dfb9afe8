"""The panels *MD5, IQM* in the Properties editor and the sidebar of the dope sheet, and the properties that they edit.
Scripts can use the properties too; where nothing is stored, they have the value that an export would use."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
from bpy.props import FloatProperty, IntProperty, StringProperty
from bpy.types import Action, Context, Object

from ....io_common.texts import counted
from ... import versions
from ...clips.actions import active_action, bone_slot, own_animations
from ...operators import find_images, panel_parts
from ...options import option, properties
from ...records import has_record
from ...reports import printable
from ...scene.objects import armature_of
from ..exporting.clips import action_range
from ..records import ACTION_RATE, GROUP, JOINT_INDEX, JOINT_NAME, MESH_INDEX, MESH_NAME, SHADERS


def armature_in(context: Context) -> Object | None:
    """The active armature, or that of the active mesh."""
    return armature_of(getattr(context, "object", None) or context.view_layer.objects.active)


def frames_of(action: Action, context: Context) -> tuple[float, float]:
    """The frames that an export writes of an action: those of the slot that moves the armature."""
    armature = armature_in(context)
    return action_range(action, bone_slot(action, armature)[1] if armature is not None else None)


def _play(operator: Any, context: Context, armature: Object, action: Action) -> panel_parts.OperatorResult:
    if armature.library is not None:
        return panel_parts.fail(operator, f"{armature.name} is linked from another .blend file: make it local")
    does_move, slot = bone_slot(action, armature)
    if not does_move:
        return panel_parts.fail(operator, f"{action.name} moves no bone of {armature.name}")
    data = armature.animation_data or armature.animation_data_create()
    versions.play(data, action, slot)
    start, end = action_range(action, slot)
    rate = ACTION_RATE.read(action)
    is_loop = action.use_cyclic and action.use_frame_range
    is_closed = is_loop and _repeats_first(action, slot, start, end)
    panel_parts.set_timing(operator, context, start, end, rate, is_closed_loop=is_closed)
    return {"FINISHED"}


def _repeats_first(action: Action, slot: Any, start: float, end: float) -> bool:
    """Whether the last frame of a loop shows the first again; those of IQM files often end one step before it."""
    curves = list(versions.fcurves_of_slot(action, slot))
    ends = [[curve.evaluate(frame) for curve in curves] for frame in (end - 1.0, end, start, start + 1.0)]
    # A quaternion and its negative are one rotation.
    before, seam, after = np.linalg.norm(np.diff(np.abs(ends), axis=0), axis=1).tolist()
    return bool(2.0 * seam <= max(before, after))


def _has_armature(cls: type, context: Context) -> bool:
    return armature_in(context) is not None


@properties
class OBJECT_OT_md5_play_animation(bpy.types.Operator):
    """Make an action and its slot active on the armature, and set the frame rate and range of the scene to its own"""

    bl_idname = "object.md5_play_animation"
    bl_label = "Play Animation (MD5)"
    bl_options = {"REGISTER", "UNDO"}

    action: str = option("", "Action", "Name of the action", options={"SKIP_SAVE"})
    poll: Any = classmethod(_has_armature)

    def execute(self, context: Context) -> panel_parts.OperatorResult:
        armature = armature_in(context)
        action = bpy.data.actions.get(self.action)
        if armature is None or action is None:
            return panel_parts.fail(self, f"There is no action {self.action!r}")
        return _play(self, context, armature, action)


@properties
class OBJECT_OT_md5_step_animation(bpy.types.Operator):
    """Make the next or previous animation of the active armature the active one"""

    bl_idname = "object.md5_step_animation"
    bl_label = "Step Through Animations (MD5)"
    bl_options = {"REGISTER", "UNDO"}

    step: int = panel_parts.step_option("animations")
    poll: Any = classmethod(_has_armature)

    def execute(self, context: Context) -> panel_parts.OperatorResult:
        armature = armature_in(context)
        found = own_animations(armature) if armature is not None else []
        if armature is None or not found:
            return panel_parts.fail(self, "The armature has no animations: import some first")
        active = active_action(armature)
        index = found.index(active) if active in found else -1
        return _play(self, context, armature, found[panel_parts.stepped(index, self.step, len(found))])


class IO_MD5_UL_animations(panel_parts.NamedList, bpy.types.UIList):
    """The animations of an armature."""

    def draw_row(self, layout: Any, item: Any, index: int) -> None:
        row = layout.row(align=True)
        row.prop(item, "name", text="", emboss=False, icon="FILE_REFRESH" if item.use_cyclic else "ACTION")
        start, end = frames_of(item, bpy.context)
        rate = ACTION_RATE.read(item)
        panel_parts.draw_right(row, f"{round(end - start) + 1}" + (f" @ {rate:g}" if rate else ""))

    def shown(self, context: Context, rows: Any) -> set[Any]:
        armature = armature_in(context)
        return set(own_animations(armature)) if armature is not None else set()


def has_animations(context: Context) -> bool:
    """Whether the active object has or is an imported armature, or one with an imported action."""
    armature = armature_in(context)
    return armature is not None and (has_record(armature.data, GROUP) or has_record(active_action(armature), GROUP))


def draw_animations(layout: Any, context: Context) -> None:
    """Draws the animations of the active armature, and the buttons that play them."""
    armature = armature_in(context)
    found = own_animations(armature) if armature is not None else []
    if not found:
        layout.label(text="No animations imported", icon="INFO")
        return
    active = ("actions", context.window_manager, "md5_active_animation")
    layout.template_list("IO_MD5_UL_animations", "", bpy.data, *active, rows=4)
    action = active_action(armature)
    index = found.index(action) if action in found else -1
    panel_parts.draw_player(layout, OBJECT_OT_md5_step_animation.bl_idname, index, len(found), "animations")


def _index(manager: Any) -> int:
    """The index of the active action of the active armature among all actions; -1 if there is none."""
    action = active_action(armature_in(bpy.context))
    return bpy.data.actions.find(action.name) if action is not None else -1


def _click(manager: Any, index: int) -> None:
    if 0 <= index < len(bpy.data.actions):
        operators: Any = bpy.ops.object
        operators.md5_play_animation("EXEC_DEFAULT", True, action=bpy.data.actions[index].name)


class SkeletalPanel(panel_parts.ImportedPanel):
    """A panel of what a skeletal model was imported from."""

    bl_label = "MD5, IQM"
    group = GROUP


class DATA_PT_md5_armature(SkeletalPanel, bpy.types.Panel):
    """The frame rate of the active animation of an armature."""

    @classmethod
    def poll(cls, context: Context) -> bool:
        obj = context.object
        is_armature = obj is not None and obj.type == "ARMATURE"
        return is_armature and active_action(obj) is not None and has_animations(context)

    def draw(self, context: Context) -> None:
        action: Any = active_action(context.object)
        panel_parts.split_layout(self).prop(action, "md5_frame_rate")


class DATA_PT_md5_mesh(SkeletalPanel, bpy.types.Panel):
    """The shaders of an imported mesh."""

    kind = "MESH"

    def draw(self, context: Context) -> None:
        obj: Any = context.object
        layout = panel_parts.split_layout(self)
        index = MESH_INDEX.read(obj.data)
        name = printable(MESH_NAME.read(obj.data) or "")
        if index is not None:
            layout.label(text=f"Mesh {index} of the file{f', {name}' if name else ''}")
        find_images.draw_names(layout, obj.data, SHADERS)


class BONE_PT_md5(panel_parts.PropertiesPanel, bpy.types.Panel):
    """The joint of an imported bone."""

    bl_label = "MD5, IQM"
    bl_context = "bone"

    @classmethod
    def poll(cls, context: Context) -> bool:
        if context.bone is None or context.object is None:
            return False
        return has_record(context.bone, GROUP) or has_record(context.object.data, GROUP)

    def draw(self, context: Context) -> None:
        layout = panel_parts.split_layout(self)
        layout.prop(context.bone, "md5_joint_name")
        layout.prop(context.bone, "md5_joint_index")


class DOPESHEET_PT_md5_action(bpy.types.Panel):
    """The frame rate of an imported action; Blender's Properties editor has no tab for actions."""

    bl_label = "MD5, IQM"
    bl_space_type = "DOPESHEET_EDITOR"
    bl_region_type = "UI"
    bl_category = "Action"

    @classmethod
    def poll(cls, context: Context) -> bool:
        return has_record(_active_action(context), GROUP)

    def draw(self, context: Context) -> None:
        layout = panel_parts.split_layout(self)
        action: Any = _active_action(context)
        layout.prop(action, "md5_frame_rate")
        start, end = frames_of(action, context)
        cyclic = ", cyclic" if action.use_cyclic else ""
        layout.label(text=counted(round(end - start) + 1, "frames") + cyclic)


def _active_action(context: Context) -> Any:
    return getattr(context, "active_action", None) or active_action(armature_in(context))


def _set_joint_name(bone: Any, name: str) -> None:
    JOINT_NAME.change(bone, name if name != bone.name else "", bone.name)


def rate_property(stored: Any, files: str) -> Any:
    """The property of a stored frame rate; None stands for the rate of the scene."""
    return FloatProperty(
        name="Frame Rate",
        description=f"Frames per second in {files} files; 0 for the frame rate of the scene",
        min=0.0,
        max=1e4,
        soft_max=120.0,
        get=lambda data: stored.read(data) or 0.0,
        set=lambda data, rate: stored.write(data, rate or None),
    )


_DECLARED: dict[tuple[Any, str], Any] = {
    (bpy.types.WindowManager, "md5_active_animation"): IntProperty(
        name="Active Animation",
        description="Click an animation to play it: its action, frame range and frame rate become those of the "
        "scene. In scripts the index of the action among all actions",
        get=_index,
        set=_click,
        options={"SKIP_SAVE"},
    ),
    (bpy.types.Material, "md5_shader"): find_images.name_property(
        SHADERS, "Shader", "Name of the material in MD5 and IQM files. Empty: the name of the material"
    ),
    (bpy.types.Action, "md5_frame_rate"): rate_property(ACTION_RATE, "MD5 and IQM"),
    (bpy.types.Bone, "md5_joint_name"): StringProperty(
        name="Joint",
        description="Name of the joint in MD5 and IQM files. Empty: the name of the bone",
        get=lambda bone: printable(JOINT_NAME.current(bone, bone.name)),
        set=_set_joint_name,
    ),
    (bpy.types.Bone, "md5_joint_index"): IntProperty(
        name="Index",
        description="Index of the joint in MD5 and IQM files, counted from 0. -1: after its parent",
        min=-1,
        max=65_535,
        get=lambda bone: -1 if (index := JOINT_INDEX.read(bone)) is None else index,
        set=lambda bone, index: JOINT_INDEX.write(bone, index if index >= 0 else None),
    ),
}
PROPERTIES = tuple((*place, declared) for place, declared in _DECLARED.items())
