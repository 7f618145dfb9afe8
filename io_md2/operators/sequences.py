"""The sequences of an imported model: a list in which a click plays one, and arrows that step through them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import CollectionProperty, IntProperty, StringProperty

from ...io_blender import reports, versions
from ...io_blender.operators import play
from ...io_blender.operators.row_list import RowList
from ...io_blender.reports import printable
from ...io_blender.scene.shape_keys import shape_keys
from ...io_common.counting import counted
from ..format import FRAMES_PER_SECOND, FrameSequence, find_sequences
from ..records import FRAME_RATE, StoredModel, load_model

if TYPE_CHECKING:
    from bpy.types import Action, Context, Object

    from ...io_blender.operators.blender_mixins import OperatorResult


def stored_model(obj: Object | None) -> StoredModel | None:
    """The model that a mesh object was imported from; None if it was not."""
    return load_model(obj.data) if obj is not None and obj.type == "MESH" else None


def playable_sequences(model: StoredModel | None) -> list[FrameSequence]:
    """The sequences of a model that has shape keys."""
    return find_sequences(model.frame_names) if model is not None and model.key_names else []


def active_object(context: Context) -> Object | None:
    """The object of the panel, else the active one."""
    return getattr(context, "object", None) or context.view_layer.objects.active


def _played_index(context: Context, model: StoredModel, found: list[FrameSequence]) -> int:
    """The sequence whose range is that of the scene; -1 if there is none."""
    first = context.scene.frame_start - model.frame_start
    last = context.scene.frame_end - model.frame_start
    ranges = [(sequence.first, sequence.last) for sequence in found]
    return ranges.index((first, last)) if (first, last) in ranges else -1


def _plays_all(action: Action, model: StoredModel) -> bool:
    """Whether an action of shape keys plays every frame of a model at its place."""
    # The stubs say that a range is a Vector, which has no iterator there.
    in_scene: Any = action
    last = model.frame_start + len(model.frame_names) - 1
    start, end = in_scene.frame_range
    paths = {curve.data_path for curve in versions.action_fcurves(action, "KEY")}
    names = {f'key_blocks["{bpy.utils.escape_identifier(name)}"].value' for name in model.key_names[1:]}
    return (start, end) == (model.frame_start, last) and ("eval_time" in paths or names <= paths)


def _show_all_frames(obj: Object, model: StoredModel) -> bool:
    """Makes an action that plays all frames the active one of the shape keys; whether there is one."""
    keys = shape_keys(obj)
    if keys is None:
        return False
    data = keys.animation_data or keys.animation_data_create()
    active = data.action
    if active is not None and _plays_all(active, model):
        return True
    # That of the model has its name or begins with it.
    others = sorted(bpy.data.actions, key=lambda action: not action.name.startswith(obj.data.name))
    found = next((action for action in others if _plays_all(action, model)), None)
    if found is None:
        return False
    versions.assign_action(data, found, "KEY")
    return True


def _play(operator: Any, context: Context, obj: Object, index: int) -> OperatorResult:
    """Sets the rate and range of the scene to those of a sequence, and shows its first frame."""
    model = stored_model(obj)
    found = playable_sequences(model)
    if model is None or not 0 <= index < len(found):
        reports.report_message(operator, "ERROR", f"{obj.name} has no such sequence")
        return {"CANCELLED"}
    sequence = found[index]
    if not _show_all_frames(obj, model):
        reports.report_message(
            operator,
            "WARNING",
            f"no action plays all frames of {obj.name} in their order, so this may not be {sequence.name}",
        )
    start, end = model.frame_start + sequence.first, model.frame_start + sequence.last
    play.set_timing(operator, context, start, end, FRAME_RATE.read(obj.data) or FRAMES_PER_SECOND)
    context.scene.frame_set(start)
    return {"FINISHED"}


class OBJECT_OT_md2_play_sequence(bpy.types.Operator):
    """Set the frame rate and range of the scene to those of a sequence of the active MD2 model"""

    bl_idname = "object.md2_play_sequence"
    bl_label = "Play Sequence (MD2)"
    bl_options = {"REGISTER", "UNDO"}

    if TYPE_CHECKING:
        sequence: str
        index: int
    else:
        sequence: StringProperty(
            name="Sequence", description="Name of the sequence, such as run", options={"SKIP_SAVE"}
        )
        index: IntProperty(
            name="Index",
            description="Which of the model's sequences, from 0, if no name is given",
            default=0,
            min=0,
            options={"SKIP_SAVE"},
        )

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Whether the active object is a mesh."""
        obj = active_object(context)
        return obj is not None and obj.type == "MESH"

    def execute(self, context: Context) -> OperatorResult:
        """Plays it."""
        obj = active_object(context)
        assert obj is not None
        if not self.sequence:
            return _play(self, context, obj, self.index)
        found = playable_sequences(stored_model(obj))
        names = [printable(sequence.name) for sequence in found]
        if self.sequence not in names:
            reports.report_message(self, "ERROR", f"{obj.name} has no sequence {self.sequence!r}")
            return {"CANCELLED"}
        return _play(self, context, obj, names.index(self.sequence))


class OBJECT_OT_md2_step_sequence(bpy.types.Operator):
    """Play the next or previous sequence of the active MD2 model"""

    bl_idname = "object.md2_step_sequence"
    bl_label = "Step Through Sequences (MD2)"
    bl_options = {"REGISTER", "UNDO"}

    if TYPE_CHECKING:
        step: int
    else:
        step: IntProperty(
            name="Step",
            description="How many sequences to go forward; backward if negative",
            default=1,
            min=-10_000,
            max=10_000,
        )

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Whether the active object is a mesh."""
        obj = active_object(context)
        return obj is not None and obj.type == "MESH"

    def execute(self, context: Context) -> OperatorResult:
        """Steps; after the last sequence comes the first."""
        obj = active_object(context)
        model = stored_model(obj)
        found = playable_sequences(model)
        if obj is None or model is None or not found:
            reports.report_message(self, "ERROR", "The object has no sequences: select an imported MD2 model")
            return {"CANCELLED"}
        before = _played_index(context, model, found)
        if before < 0 and self.step < 0:
            before = 0
        return _play(self, context, obj, (before + self.step) % len(found))


class IO_MD2_PG_sequence(bpy.types.PropertyGroup):
    """A sequence of the active model."""

    if TYPE_CHECKING:
        name: str
        first: int
        frame_count: int
    else:
        name: StringProperty(name="Name", description="Name of the sequence")
        first: IntProperty(name="First Frame", description="First frame in the file, counted from 0")
        frame_count: IntProperty(name="Frames", description="Number of frames")


class IO_MD2_UL_sequences(RowList, bpy.types.UIList):
    """The sequences of a model."""

    def draw_row(self, layout: Any, item: Any, index: int) -> None:
        """Draws one sequence."""
        del index
        row = layout.row(align=True)
        row.label(text=item.name or "(no name)", icon="ACTION")
        numbers = row.row()
        numbers.alignment = "RIGHT"
        numbers.label(text=f"{item.first} to {item.first + item.frame_count - 1}")


def draw(layout: Any, context: Context, model: StoredModel) -> None:
    """Draws the list and the arrows."""
    found = playable_sequences(model)
    if not found:
        layout.label(text="Imported without shape keys", icon="INFO")
        return
    manager: Any = context.window_manager
    # The window manager may be changed while a panel is drawn.
    _fill(manager, found)
    layout.template_list(
        "IO_MD2_UL_sequences",
        "",
        manager,
        "md2_sequences",
        manager,
        "md2_active_sequence",
        rows=4,
    )
    index = _played_index(context, model, found)
    label = f"{index + 1} of {len(found)}" if index >= 0 else counted(len(found), "sequences")
    step = OBJECT_OT_md2_step_sequence.bl_idname
    play.draw_buttons(layout, step, step, label)


def _fill(manager: Any, found: list[FrameSequence]) -> None:
    rows = [(printable(sequence.name), sequence.first, sequence.frame_count) for sequence in found]
    if rows == [(item.name, item.first, item.frame_count) for item in manager.md2_sequences]:
        return
    manager.md2_sequences.clear()
    for name, first, count in rows:
        item = manager.md2_sequences.add()
        item.name, item.first, item.frame_count = name, first, count


def _index(manager: Any) -> int:
    """The index of the sequence that plays; -1 if there is none."""
    del manager
    model = stored_model(active_object(bpy.context))
    return _played_index(bpy.context, model, playable_sequences(model)) if model is not None else -1


def _click(manager: Any, index: int) -> None:
    """Plays the sequence that was clicked in the list."""
    del manager
    if index >= 0 and OBJECT_OT_md2_play_sequence.poll(bpy.context):
        operators: Any = bpy.ops.object
        operators.md2_play_sequence("EXEC_DEFAULT", True, index=index)


CLASSES = (
    IO_MD2_PG_sequence,
    OBJECT_OT_md2_play_sequence,
    OBJECT_OT_md2_step_sequence,
    IO_MD2_UL_sequences,
)

PROPERTIES: tuple[tuple[Any, str, Any], ...] = (
    (
        bpy.types.WindowManager,
        "md2_sequences",
        CollectionProperty(type=IO_MD2_PG_sequence, options={"SKIP_SAVE"}),
    ),
    (
        bpy.types.WindowManager,
        "md2_active_sequence",
        IntProperty(
            name="Active Sequence",
            description="Index of the sequence that plays among those of the active model. Setting it plays one",
            get=_index,
            set=_click,
            options={"SKIP_SAVE"},
        ),
    ),
)
