"""The sequences of an imported model with frames of vertices: a list and operators that play them, for each family."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import bpy
from bpy.props import CollectionProperty, IntProperty

from ....io_common.frames import FrameSequence
from ... import versions
from ...operators.panel_parts import Operator, RowList, draw_player, fail, set_timing, step_option, stepped
from ...options import option, properties
from ...records import SourceFrames
from ...reports import listing, printable, report_message
from ..shape_keys import shape_keys, value_path

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bpy.types import Action, Context, Object, Scene

    from ...operators.panel_parts import OperatorResult


class Playable(Protocol):
    """What has sequences to play."""

    @property
    def sequences(self) -> Sequence[FrameSequence]:
        """The rows of the list."""

    def played(self, scene: Scene) -> list[int]:
        """Which of the sequences the scene plays."""

    def show(self, operator: Any, context: Context, index: int) -> tuple[float, int, int]:
        """Plays a sequence; returns the frame rate, the first and the last frame for the scene."""


@dataclass(frozen=True)
class PlayedModel:
    """A model that was imported with shape keys."""

    frames: SourceFrames
    meshes: list[Object]  # with these frames
    sequences: Sequence[FrameSequence]
    frame_rates: Sequence[float]  # of each sequence

    def span(self, index: int) -> tuple[int, int]:
        """The frames of a sequence in the scene."""
        start, sequence = self.frames.frame_start, self.sequences[index]
        return start + sequence.first, start + sequence.last

    def played(self, scene: Scene) -> list[int]:
        """The sequence whose range is that of the scene."""
        span = (scene.frame_start, scene.frame_end)
        return [index for index in range(len(self.sequences)) if self.span(index) == span][:1]

    def show(self, operator: Any, context: Context, index: int) -> tuple[float, int, int]:
        """Plays the action of all frames, of which the scene then has the range of a sequence."""
        is_shown = [_show_all_frames(mesh, self.frames) for mesh in self.meshes]
        if not all(is_shown):
            name = self.sequences[index].name
            text = f"no action plays all frames of {listing([mesh.name for mesh in self.meshes])} in their order, "
            report_message(operator, "WARNING", f"{text}so this may not be {name}")
        return (self.frame_rates[index], *self.span(index))


def played_index(model: Playable, scene: Scene) -> int:
    """The first sequence that plays, or -1."""
    return next(iter(model.played(scene)), -1)


@dataclass(frozen=True)
class SequencePlayer:
    """How a family plays its models."""

    family: str
    find: Callable[[Object | None], Playable | None]
    """The model that an object is or belongs to."""
    draw_further: Callable[[Any, Context, Object], None] = lambda layout, context, obj: None
    """Draws what a family has below the list."""

    def has_sequences(self, context: Context) -> bool:
        """Whether the active object belongs to a model that was imported with shape keys."""
        return self.find(active_object(context)) is not None

    def draw(self, layout: Any, context: Context) -> None:
        """Draws the sequences of the active model, and the buttons that play them."""
        obj = active_object(context)
        model = self.find(obj)
        if obj is None or model is None:
            return
        manager: Any = context.window_manager
        # The window manager may be changed while a panel is drawn.
        _fill(getattr(manager, f"{self.family}_sequences"), model.sequences, set(model.played(context.scene)))
        names = (f"{self.family}_sequences", manager, f"{self.family}_active_sequence")
        layout.template_list(f"IO_{self.family.upper()}_UL_sequences", "", manager, *names, rows=4)
        step = f"object.{self.family}_step_sequence"
        draw_player(layout, step, played_index(model, context.scene), len(model.sequences), "sequences")
        self.draw_further(layout, context, obj)


def active_object(context: Context) -> Object | None:
    """The object of the panel, else the active one."""
    return getattr(context, "object", None) or context.view_layer.objects.active


def _plays_all(action: Action, model: SourceFrames) -> bool:
    """Whether an action of shape keys plays every frame of a model at its place."""
    last = model.frame_start + len(model.frame_names) - 1
    paths = {curve.data_path for curve in versions.action_fcurves(action, "KEY")}
    is_whole = "eval_time" in paths or {value_path(name) for name in model.key_names[1:]} <= paths
    return versions.action_range(action) == (model.frame_start, last) and is_whole


def _show_all_frames(obj: Object, model: SourceFrames) -> bool:
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


class _PlayerOperator(Operator):
    player: SequencePlayer

    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        obj = active_object(context)
        return obj is not None and (obj.type == "MESH" or cls.player.find(obj) is not None)

    def play(self, context: Context, obj: Object, index: int) -> OperatorResult:
        model = self.player.find(obj)
        if model is None or not 0 <= index < len(model.sequences):
            return fail(self, f"{obj.name} has no such sequence")
        rate, first, last = model.show(self, context, index)
        set_timing(self, context, first, last, rate)
        context.scene.frame_set(first)
        return {"FINISHED"}


@properties
class PlaySequence(_PlayerOperator):
    """The operator that plays a sequence, without its identifiers."""

    sequence: str = option("", "Sequence", "Name of the sequence, such as run", options={"SKIP_SAVE"})
    index: int = option(
        0, "Index", "Which of the model's sequences, from 0, if no name is given", min=0, options={"SKIP_SAVE"}
    )

    def execute(self, context: Context) -> OperatorResult:
        obj = active_object(context)
        assert obj is not None
        if not self.sequence:
            return self.play(context, obj, self.index)
        model = self.player.find(obj)
        names = [printable(sequence.name) for sequence in model.sequences] if model is not None else []
        if self.sequence not in names:
            return fail(self, f"{obj.name} has no sequence {self.sequence!r}")
        return self.play(context, obj, names.index(self.sequence))


@properties
class StepSequence(_PlayerOperator):
    """The operator that plays the next or previous sequence, without its identifiers."""

    step: int = step_option("sequences")

    def execute(self, context: Context) -> OperatorResult:
        obj = active_object(context)
        model = self.player.find(obj)
        if obj is None or model is None:
            return fail(self, f"The object has no sequences: select an imported {self.player.family.upper()} model")
        return self.play(context, obj, stepped(played_index(model, context.scene), self.step, len(model.sequences)))


@properties
class SequenceRow(bpy.types.PropertyGroup):
    """A sequence of the active model."""

    name: str = option("", "Name", "Name of the sequence")
    first: int = option(0, "First Frame", "First frame in the file, counted from 0")
    frame_count: int = option(0, "Frames", "Number of frames")
    is_played: bool = option(False, "Played", "Whether the scene plays it")


class SequenceList(RowList):
    """The sequences of a model, without its identifiers."""

    def draw_row(self, layout: Any, item: Any, index: int) -> None:
        row = layout.row(align=True)
        row.label(text=item.name or "(no name)", icon="PLAY" if item.is_played else "ACTION")
        numbers = row.row()
        numbers.alignment = "RIGHT"
        numbers.label(text=f"{item.first} to {item.first + item.frame_count - 1}")


def _fill(items: Any, found: Sequence[FrameSequence], played: set[int]) -> None:
    rows = [(printable(one.name), one.first, one.frame_count, index in played) for index, one in enumerate(found)]
    if rows == [(item.name, item.first, item.frame_count, item.is_played) for item in items]:
        return
    items.clear()
    for row in rows:
        item = items.add()
        item.name, item.first, item.frame_count, item.is_played = row


def properties_of(player: SequencePlayer) -> tuple[tuple[Any, str, Any], ...]:
    """The properties of the window manager that the list of a family needs."""

    def active_index(manager: Any) -> int:
        model = player.find(active_object(bpy.context))
        return played_index(model, bpy.context.scene) if model is not None else -1

    def click(manager: Any, index: int) -> None:
        operators: Any = bpy.ops.object
        play = getattr(operators, f"{player.family}_play_sequence")
        if index >= 0 and play.poll():
            play("EXEC_DEFAULT", True, index=index)

    return (
        (
            bpy.types.WindowManager,
            f"{player.family}_sequences",
            CollectionProperty(type=SequenceRow, options={"SKIP_SAVE"}),
        ),
        (
            bpy.types.WindowManager,
            f"{player.family}_active_sequence",
            IntProperty(
                name="Active Sequence",
                description="Click a sequence to play it: its frame range and frame rate become those of the scene. In "
                "scripts the index of the sequence",
                get=active_index,
                set=click,
                options={"SKIP_SAVE"},
            ),
        ),
    )


def classes_of(player: SequencePlayer) -> tuple[type, ...]:
    """The operators of a family, and the list."""
    family, label = player.family, player.family.upper()
    play = {
        "__doc__": f"Set the frame rate and range of the scene to those of a sequence of the active {label} model",
        "bl_idname": f"object.{family}_play_sequence",
        "bl_label": f"Play Sequence ({label})",
        "player": player,
    }
    step = {
        "__doc__": f"Play the next or previous sequence of the active {label} model",
        "bl_idname": f"object.{family}_step_sequence",
        "bl_label": f"Step Through Sequences ({label})",
        "player": player,
    }
    return (
        type(f"OBJECT_OT_{family}_play_sequence", (PlaySequence, bpy.types.Operator), play),
        type(f"OBJECT_OT_{family}_step_sequence", (StepSequence, bpy.types.Operator), step),
        type(f"IO_{label}_UL_sequences", (SequenceList, bpy.types.UIList), {"__doc__": SequenceList.__doc__}),
    )


CLASSES = (SequenceRow,)
PROPERTIES: tuple[Any, ...] = ()
