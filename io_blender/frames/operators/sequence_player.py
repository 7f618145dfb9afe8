"""The sequences of an imported model with frames of vertices: a list and operators that play them, for each family."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import bpy
from bpy.props import CollectionProperty, IntProperty
from bpy.types import Action, Context, Object, Scene

from ....io_common.frames import FrameSequence
from ... import versions
from ...operators import panel_parts
from ...options import option, properties
from ...records import SourceFrames
from ...reports import listing, printable, report_message
from ..shape_keys import shape_keys, value_path


@dataclass(frozen=True)
class Playable:
    """A model with sequences."""

    sequences: Sequence[FrameSequence]
    played: Callable[[Scene], list[int]]  # which of them the scene plays
    # Plays one, with the operator that reports problems; returns the frame rate and the frames for the scene.
    show: Callable[[Any, Context, int], tuple[float, int, int]]

    def played_index(self, scene: Scene) -> int:
        """The first sequence that plays, or -1."""
        return next(iter(self.played(scene)), -1)


def playable_keys(
    source: SourceFrames, meshes: Sequence[Object], sequences: Sequence[FrameSequence], rates: Sequence[float]
) -> Playable:
    """A model that was imported with shape keys, on some meshes; each sequence has a frame rate."""
    spans = [(source.frame_start + one.first, source.frame_start + one.last) for one in sequences]

    def played(scene: Scene) -> list[int]:
        span = (scene.frame_start, scene.frame_end)
        return [spans.index(span)] if span in spans else []

    def show(operator: Any, context: Context, index: int) -> tuple[float, int, int]:
        # The action of all frames plays, of which the scene then has the range of the sequence.
        is_shown = [_show_all_frames(mesh, source) for mesh in meshes]
        if not all(is_shown):
            text = f"no action plays all frames of {listing([mesh.name for mesh in meshes])} in their order, so this "
            report_message(operator, "WARNING", f"{text}may not be {sequences[index].name}")
        return rates[index], *spans[index]

    return Playable(sequences, played, show)


@dataclass(frozen=True)
class SequencePlayer:
    """How a family plays its models."""

    family: str
    find: Callable[[Object | None], Playable | None]  # the model that an object is or belongs to
    # Draws what a family has below the list.
    draw_further: Callable[[Any, Context, Object], None] = lambda layout, context, obj: None

    def has_sequences(self, context: Context) -> bool:
        """Whether the active object belongs to a model that was imported with shape keys."""
        return self.find(active_object(context)) is not None

    def draw(self, layout: Any, context: Context) -> None:
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
        panel_parts.draw_player(layout, step, model.played_index(context.scene), len(model.sequences), "sequences")
        self.draw_further(layout, context, obj)


def active_object(context: Context) -> Object | None:
    """The object of the panel, else the active one."""
    return getattr(context, "object", None) or context.view_layer.objects.active


def _plays_all(action: Action | None, source: SourceFrames) -> bool:
    """Whether an action of shape keys plays every frame of a model at its place."""
    if action is None:
        return False
    last = source.frame_start + len(source.frame_names) - 1
    paths = {curve.data_path for curve in versions.action_fcurves(action, "KEY")}
    is_whole = "eval_time" in paths or {value_path(name) for name in source.key_names[1:]} <= paths
    return versions.action_range(action) == (source.frame_start, last) and is_whole


def _show_all_frames(obj: Object, source: SourceFrames) -> bool:
    """Makes an action that plays all frames the active one of the shape keys; whether there is one."""
    keys = shape_keys(obj)
    if keys is None:
        return False
    data = keys.animation_data or keys.animation_data_create()
    # That of the model has its name or begins with it.
    others = sorted(bpy.data.actions, key=lambda action: not action.name.startswith(obj.data.name))
    found = next((action for action in (data.action, *others) if _plays_all(action, source)), None)
    if found not in (None, data.action):
        versions.assign_action(data, found, "KEY")
    return found is not None


class _PlayerOperator(panel_parts.Operator):
    player: SequencePlayer

    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        obj = active_object(context)
        return obj is not None and (obj.type == "MESH" or cls.player.find(obj) is not None)

    def chosen(self, model: Playable, scene: Scene) -> int:
        """The index of the sequence to play; -1 if there is no such sequence."""
        raise NotImplementedError

    def execute(self, context: Context) -> panel_parts.OperatorResult:
        model = self.player.find(active_object(context))
        if model is None:
            return panel_parts.fail(
                self, f"The object has no sequences: select an imported {self.player.family.upper()} model"
            )
        index = self.chosen(model, context.scene)
        if not 0 <= index < len(model.sequences):
            return panel_parts.fail(self, "The object has no such sequence")
        rate, first, last = model.show(self, context, index)
        panel_parts.set_timing(self, context, first, last, rate)
        context.scene.frame_set(first)
        return {"FINISHED"}


@properties
class PlaySequence(_PlayerOperator):
    """The operator that plays a sequence, without its identifiers."""

    sequence: str = option("", "Sequence", "Name of the sequence, such as run", options={"SKIP_SAVE"})
    index: int = option(
        0, "Index", "Which of the model's sequences, from 0, if no name is given", min=0, options={"SKIP_SAVE"}
    )

    def chosen(self, model: Playable, scene: Scene) -> int:
        names = [printable(sequence.name) for sequence in model.sequences]
        if not self.sequence:
            return self.index
        return names.index(self.sequence) if self.sequence in names else -1


@properties
class StepSequence(_PlayerOperator):
    """The operator that plays the next or previous sequence, without its identifiers."""

    step: int = panel_parts.step_option("sequences")

    def chosen(self, model: Playable, scene: Scene) -> int:
        return panel_parts.stepped(model.played_index(scene), self.step, len(model.sequences))


@properties
class SequenceRow(bpy.types.PropertyGroup):
    """A sequence in the list of an imported model."""

    name: str = option("", "Name", "Name of the sequence")
    first: int = option(0, "First Frame", "First frame in the file, counted from 0")
    frame_count: int = option(0, "Frames", "Number of frames")
    is_played: bool = option(False, "Played", "Whether the scene plays it")


class SequenceList(panel_parts.RowList):
    """The sequences of a model, without its identifiers."""

    def draw_row(self, layout: Any, item: Any, index: int) -> None:
        row = layout.row(align=True)
        row.label(text=item.name or "(no name)", icon="PLAY" if item.is_played else "ACTION")
        panel_parts.draw_right(row, f"{item.first} to {item.first + item.frame_count - 1}")


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
        return model.played_index(bpy.context.scene) if model is not None else -1

    def click(manager: Any, index: int) -> None:
        operators: Any = bpy.ops.object
        play = getattr(operators, f"{player.family}_play_sequence")
        if index >= 0 and play.poll():
            play("EXEC_DEFAULT", True, index=index)

    active = IntProperty(
        name="Active Sequence",
        description="Click a sequence to play it: its frame range and frame rate become those of the scene. In scripts "
        "the index of the sequence",
        get=active_index,
        set=click,
        options={"SKIP_SAVE"},
    )
    rows = CollectionProperty(type=SequenceRow, options={"SKIP_SAVE"})
    manager = bpy.types.WindowManager
    return (manager, f"{player.family}_sequences", rows), (manager, f"{player.family}_active_sequence", active)


def classes_of(player: SequencePlayer) -> tuple[type, ...]:
    """The operators of a family, and the list."""
    family, label = player.family, player.family.upper()
    what = f"Set the frame rate and range of the scene to those of a sequence of the active {label} model"
    step = f"Play the next or previous sequence of the active {label} model"
    return (
        panel_parts.operator_of("object", family, "play_sequence", "Play Sequence", what, PlaySequence, player=player),
        panel_parts.operator_of(
            "object", family, "step_sequence", "Step Through Sequences", step, StepSequence, player=player
        ),
        type(f"IO_{label}_UL_sequences", (SequenceList, bpy.types.UIList), {"__doc__": SequenceList.__doc__}),
    )
