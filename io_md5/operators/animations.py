"""The animations of an armature: a list in which a click makes one active, and arrows that step through them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import IntProperty, StringProperty

from ...io_blender import reports, versions
from ...io_blender.clips.actions import ActionFinder, bone_slot, moves_bones
from ...io_blender.operators import play
from ...io_blender.operators.row_list import RowList
from ...io_common.counting import counted
from ..exporting.clips import action_range
from ..records import ACTION_RATE

if TYPE_CHECKING:
    from bpy.types import Action, Context, Object

    from ...io_blender.operators.blender_mixins import OperatorResult


def armature_in(context: Context) -> Object | None:
    """The active armature, or that of the active mesh."""
    active = getattr(context, "object", None) or context.view_layer.objects.active
    if active is not None and active.type == "MESH":
        active = active.find_armature()
    return active if active is not None and active.type == "ARMATURE" else None


def animations_of(armature: Object) -> list[Action]:
    """An armature's own actions that move bones, by name."""
    finder = ActionFinder(armature)
    return [action for action in bpy.data.actions if finder.owns(action) and moves_bones(action, armature)]


def active_action(armature: Object) -> Action | None:
    """The action that is assigned to an armature."""
    data = armature.animation_data
    return data.action if data is not None else None


def frames_of(action: Action, context: Context) -> tuple[float, float]:
    """The frames that an export writes of an action: those of the slot that moves the armature in the context."""
    armature = armature_in(context)
    return action_range(action, bone_slot(action, armature)[1] if armature is not None else None)


def _play(operator: Any, context: Context, armature: Object, action: Action) -> OperatorResult:
    """Makes an action active, with its slot, and sets the rate and range of the scene."""
    if armature.library is not None:
        reports.report_message(
            operator, "ERROR", f"{armature.name} is linked from another .blend file: make it local"
        )
        return {"CANCELLED"}
    does_move, slot = bone_slot(action, armature)
    if not does_move:
        reports.report_message(operator, "ERROR", f"{action.name} moves no bone of {armature.name}")
        return {"CANCELLED"}
    data = armature.animation_data or armature.animation_data_create()
    if data.use_tweak_mode:
        # The active action cannot be changed while that of a strip is tweaked.
        data.use_tweak_mode = False
    versions.play(data, action, slot)
    start, end = action_range(action, slot)
    rate = ACTION_RATE.read(action)
    play.set_timing(
        operator, context, start, end, rate, is_closed_loop=action.use_cyclic and action.use_frame_range
    )
    return {"FINISHED"}


class OBJECT_OT_md5_play_animation(bpy.types.Operator):
    """Make an action and its slot active on the armature, and set the frame rate and range of the scene to its own"""

    bl_idname = "object.md5_play_animation"
    bl_label = "Play Animation (MD5)"
    bl_options = {"REGISTER", "UNDO"}

    if TYPE_CHECKING:
        action: str
    else:
        action: StringProperty(name="Action", description="Name of the action", options={"SKIP_SAVE"})

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Whether there is an armature."""
        return armature_in(context) is not None

    def execute(self, context: Context) -> OperatorResult:
        """Makes it active."""
        armature = armature_in(context)
        action = bpy.data.actions.get(self.action)
        if armature is None or action is None:
            reports.report_message(self, "ERROR", f"There is no action {self.action!r}")
            return {"CANCELLED"}
        return _play(self, context, armature, action)


class OBJECT_OT_md5_step_animation(bpy.types.Operator):
    """Make the next or previous animation of the active armature the active one"""

    bl_idname = "object.md5_step_animation"
    bl_label = "Step Through Animations (MD5)"
    bl_options = {"REGISTER", "UNDO"}

    if TYPE_CHECKING:
        step: int
    else:
        step: IntProperty(
            name="Step",
            description="How many animations to go forward; backward if negative",
            default=1,
            min=-10_000,
            max=10_000,
        )

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Whether there is an armature."""
        return armature_in(context) is not None

    def execute(self, context: Context) -> OperatorResult:
        """Steps; after the last animation comes the first."""
        armature = armature_in(context)
        found = animations_of(armature) if armature is not None else []
        if armature is None or not found:
            reports.report_message(self, "ERROR", "The armature has no animations: import some first")
            return {"CANCELLED"}
        active = active_action(armature)
        # Without an active one, a step forward leads to the first.
        before = found.index(active) if active in found else -1 if self.step > 0 else 0
        index = before + self.step
        return _play(self, context, armature, found[index % len(found)])


class IO_MD5_UL_animations(RowList, bpy.types.UIList):
    """The animations of an armature."""

    def draw_row(self, layout: Any, item: Any, index: int) -> None:
        """Draws one animation."""
        del index
        row = layout.row(align=True)
        row.prop(item, "name", text="", emboss=False, icon="FILE_REFRESH" if item.use_cyclic else "ACTION")
        numbers = row.row()
        numbers.alignment = "RIGHT"
        start, end = frames_of(item, bpy.context)
        rate = ACTION_RATE.read(item)
        numbers.label(text=f"{round(end - start) + 1}" + (f" @ {rate:g}" if rate else ""))

    def filter_items(self, context: Context, data: Any, attribute: str) -> Any:
        """The flags of the actions: shown are those of the armature whose names match."""
        actions = getattr(data, attribute)
        armature = armature_in(context)
        shown = bpy.types.UI_UL_list.filter_items_by_name(
            self.filter_name, self.bitflag_filter_item, actions, "name"
        ) or [self.bitflag_filter_item] * len(actions)
        own = set(animations_of(armature)) if armature is not None else set()
        return [flag if action in own else 0 for flag, action in zip(shown, actions, strict=True)], []


def draw(layout: Any, context: Context, armature: Object) -> None:
    """Draws the list and the arrows."""
    found = animations_of(armature)
    if not found:
        layout.label(text="No animations. Import .md5anim files", icon="INFO")
        return
    layout.template_list(
        "IO_MD5_UL_animations",
        "",
        bpy.data,
        "actions",
        context.window_manager,
        "md5_active_animation",
        rows=4,
    )
    active = active_action(armature)
    label = counted(len(found), "animations")
    if active in found:
        label = f"{found.index(active) + 1} of {len(found)}"
    step = OBJECT_OT_md5_step_animation.bl_idname
    play.draw_buttons(layout, step, step, label)


def _index(manager: Any) -> int:
    """The index of the active action of the active armature among all actions; -1 if there is none."""
    del manager
    armature = armature_in(bpy.context)
    action = active_action(armature) if armature is not None else None
    return bpy.data.actions.find(action.name) if action is not None else -1


def _click(manager: Any, index: int) -> None:
    """Makes the action that was clicked in the list the active one."""
    del manager
    if 0 <= index < len(bpy.data.actions):
        operators: Any = bpy.ops.object
        operators.md5_play_animation("EXEC_DEFAULT", True, action=bpy.data.actions[index].name)


CLASSES = (OBJECT_OT_md5_play_animation, OBJECT_OT_md5_step_animation, IO_MD5_UL_animations)

PROPERTIES = (
    (
        bpy.types.WindowManager,
        "md5_active_animation",
        IntProperty(
            name="Active Animation",
            description="Index of the active armature's action among all actions. Setting it makes an action active",
            get=_index,
            set=_click,
            options={"SKIP_SAVE"},
        ),
    ),
)
