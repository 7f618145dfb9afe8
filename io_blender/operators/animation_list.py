"""The list of animations of an object: what is stored on it, the operators, and how exporters draw it."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import bpy
from bpy.props import CollectionProperty, PointerProperty
from bpy.types import Context, Object, Scene, UILayout

from ...io_common.texts import counted, matches
from ..clips.clip import PROPERTY, AnimationList, Source, animation_list, can_store, is_stored, store_rows
from ..options import choice_option, option, properties
from ..scene.objects import Scope
from .panel_parts import FilteredList, Operator, OperatorResult, fail

_SOURCES = (
    (Source.ACTIONS.value, "Actions", "The actions that move the armature, each with its slot"),
    (Source.STRIPS.value, "NLA Strips", "The strips of the NLA tracks, each played alone, muted or not"),
    (
        Source.MARKERS.value,
        "Markers",
        "The ranges of the timeline from each marker to the frame before the next, as the scene plays. "
        "The last one goes on to the end of the scene",
    ),
    (Source.SCENE.value, "Scene", "The frame range of the scene as it plays"),
)
_CURRENT = "CURRENT"
_ROWS = 6
LINE_LENGTH = 38  # characters of a message that fit into a line of the file browser

_DETAILS_WIDTH = 4.4  # Blender's units: a number has about half of one


@dataclass(frozen=True)
class Shown:
    """What the panel shows of a row: a file, or a sequence, which has no suffix."""

    frames: int
    rate: float | None
    name: str
    suffix: str = ""
    is_replaced: bool = False
    foreign: str = ""  # whose else it is
    has_slots: bool = False  # whether other rows are slots of the same action


# What the rows of the list that is being drawn show, by index: Blender calls `draw_item` while a panel is drawn.
_shown: dict[int, Shown] = {}


def _update_rows(stored: Any, context: Context) -> None:
    """Lists what another source has, so that the panel shows its rows."""
    if context.scene is not None:
        update(stored.id_data, context.scene)


@properties
class IO_IDTECH_PG_animation_row(bpy.types.PropertyGroup):
    """An animation of a list, and what the user decided about it."""

    name: str = option("", "Name", "Name of the action, NLA strip, marker or scene")
    source: str = option(Source.ACTIONS.value, "Source", "What the animation is made of", items=_SOURCES)
    action: Any = PointerProperty(name="Action", description="The action, which may be renamed", type=bpy.types.Action)
    slot: str = option("", "Slot", "Name of the slot of the action")
    occurrence: int = option(0, "Occurrence", "How many markers of the same name are before this one", min=0)
    is_checked: bool = option(True, "Export", "Export this animation")
    export_name: str = option("", "Name", "Name of the file or sequence. If empty, made of the prefix and the pattern")


@properties
class IO_IDTECH_PG_animation_list(bpy.types.PropertyGroup):
    """The animations that an object is exported with, and their names."""

    source: str = option(
        Source.ACTIONS.value, "Source", "What the animations are made of", items=_SOURCES, update=_update_rows
    )
    pattern: str = option(
        "",
        "Pattern",
        "Names of files or sequences, with {action}, {object}, {strip}, {marker}, {slot} and {scene}. "
        "If empty, the name of the action, strip, marker or scene",
    )
    prefix: str = option("", "Prefix", "Put before each name that the pattern makes")
    name_filter: str = option(
        "",
        "Filter",
        "Show only animations with this in their names; * and ? stand for any letters. "
        "Animations that are not shown are exported if they are checked",
        options={"TEXTEDIT_UPDATE"},
    )
    rows: Any = CollectionProperty(name="Rows", description="The animations", type=IO_IDTECH_PG_animation_row)
    active_row: int = option(0, "Active Row", "Index of the selected animation", min=0)


class IO_IDTECH_UL_animations(FilteredList, bpy.types.UIList):
    """The list of animations."""

    def draw_row(self, layout: Any, item: Any, index: int) -> None:
        row = layout.row(align=True)
        row.use_property_split = False
        row.prop(item, "is_checked", text="")
        shown = _shown.get(index)
        columns = row.row(align=True)
        columns.active = item.is_checked
        if shown is None:
            columns.label(text=f"{item.name}: no longer there", icon="ERROR")
            return
        name = f"{item.name} ({item.slot})" if shown.has_slots else item.name
        if shown.foreign:
            columns.label(text=f"{name}: {shown.foreign}")
            return
        columns.label(text=name if shown.name == item.name else f"{name} → {shown.name}")
        details = columns.row(align=True)
        details.ui_units_x = _DETAILS_WIDTH
        details.alignment = "RIGHT"
        details.label(text=str(shown.frames) if shown.rate is None else f"{shown.frames} @ {shown.rate:.4g}")
        details.label(text="", icon="FILE_REFRESH" if shown.is_replaced else "BLANK1")

    def is_shown(self, data: Any, item: Any) -> bool:
        return item.source == data.source and matches(item.name, data.name_filter)


@properties
class _ListOperator(Operator):
    bl_options = {"REGISTER", "UNDO"}

    owner: str = option(
        "",
        "Object",
        "Name of the object with the list; the active armature, or the armature of the active mesh, if empty",
        options={"SKIP_SAVE"},
    )

    def change(self, stored: Any, found: AnimationList) -> str:
        """Changes the stored list, whose rows were brought up to date; returns what to report."""
        raise NotImplementedError

    def execute(self, context: Context) -> OperatorResult:
        owner = context.scene.objects.get(self.owner) if self.owner else context.view_layer.objects.active
        if owner is None:
            what = f"there is no object {self.owner!r} in the scene" if self.owner else "nothing is active"
            return fail(self, f"{what}: select an armature or a mesh")
        if not self.owner and owner.type == "MESH":
            owner = owner.find_armature() or owner
        if not can_store(owner):
            return fail(self, f"{owner.name} is linked from another file: make it local first")
        store_rows(animation_list(owner, context.scene))
        text = self.change(getattr(owner, PROPERTY), animation_list(owner, context.scene))
        self.report({"INFO"}, text)
        return {"FINISHED"}


@properties
class OBJECT_OT_io_idtech_list_animations(_ListOperator, bpy.types.Operator):
    """Update the list after animations were added, renamed or removed"""

    bl_idname = "object.io_idtech_list_animations"
    bl_label = "Update List of Animations"

    source: str = option(
        _CURRENT,
        "Source",
        "What the animations are made of",
        items=((_CURRENT, "Keep Source", "The source that the list has"), *_SOURCES),
        options={"SKIP_SAVE"},
    )

    def change(self, stored: Any, found: AnimationList) -> str:
        if self.source == _CURRENT:
            return _summary(found)
        stored.source = self.source
        return _summary(animation_list(found.owner, found.scene))


@properties
class OBJECT_OT_io_idtech_check_animations(_ListOperator, bpy.types.Operator):
    """Choose which of the listed animations are exported"""

    bl_idname = "object.io_idtech_check_animations"
    bl_label = "Check Animations"

    action: str = choice_option(
        "Action",
        "What to do with the animations that match the filter",
        ALL=("All", "Check all animations that match the filter, except those of other models"),
        NONE=("None", "Uncheck all animations that match the filter"),
        INVERT=("Invert", "Check those that are not checked, and uncheck the others"),
    )
    name_filter: str = option(
        "",
        "Filter",
        "Only animations with this in their names; * and ? stand for any letters. If not set, the filter of the list",
        options={"SKIP_SAVE"},
    )

    def change(self, stored: Any, found: AnimationList) -> str:
        is_set = self.properties.is_property_set("name_filter")
        name_filter = self.name_filter if is_set else stored.name_filter
        for row in found.rows:
            is_own = self.action == "NONE" or not row.animation.foreign
            if is_own and matches(row.animation.name, name_filter):
                row.item.is_checked = not row.is_checked if self.action == "INVERT" else self.action == "ALL"
        return _summary(animation_list(found.owner, found.scene))


@properties
class OBJECT_OT_io_idtech_move_animation(_ListOperator, bpy.types.Operator):
    """Move the selected animation in the list. The frames of an MD2 file follow this order"""

    bl_idname = "object.io_idtech_move_animation"
    bl_label = "Move Animation"

    direction: str = choice_option(
        "Direction", "Where to move it", UP=("Up", "Towards the first"), DOWN=("Down", "Towards the last")
    )
    index: int = option(
        -1, "Row", "Index of the animation in the list, from 0; -1 for the selected one", min=-1, options={"SKIP_SAVE"}
    )

    def change(self, stored: Any, found: AnimationList) -> str:
        index = self.index if self.index >= 0 else stored.active_row
        if index >= len(found.rows):
            return "There is no such animation in the list"
        # Actions of other owners stay last.
        is_foreign = bool(found.rows[index].animation.foreign)
        shown = [
            position
            for position, row in enumerate(found.rows)
            if position == index
            or (bool(row.animation.foreign) == is_foreign and matches(row.animation.name, stored.name_filter))
        ]
        place = shown.index(index) + (-1 if self.direction == "UP" else 1)
        if not 0 <= place < len(shown):
            return f"{found.rows[index].animation.name} is already {'first' if place < 0 else 'last'}"
        stored.rows.move(index, shown[place])
        stored.active_row = shown[place]
        return f"{found.rows[index].animation.name} is number {shown[place] + 1} now"


def scope_of_panel(context: Context, operator: Any) -> Scope:
    """The scope of an export, or of its properties; that of a collection exporter is its collection."""
    name = operator.collection
    space = context.space_data
    if not name and space is not None and space.type == "PROPERTIES" and context.collection is not None:
        name = context.collection.name
    return Scope(operator.use_selection, operator.use_active_collection, name)


def update(owner: Object | None, scene: Scene) -> None:
    """Stores the rows of an object's list, so that the panel can show them, unless the object is linked."""
    if owner is not None and can_store(owner) and not is_stored(found := animation_list(owner, scene)):
        store_rows(found)


def draw(layout: UILayout, found: AnimationList, rows: Sequence[Shown]) -> None:
    """Draws the list of an object. `rows` holds what to show of each row of the list, in its order."""
    owner = found.owner
    stored: Any = getattr(owner, PROPERTY)
    column: Any = layout.column()
    column.prop(stored, "source")
    if not can_store(owner):
        column.label(text="Linked: the list is that of its file", icon="LINKED")
    elif not is_stored(found):
        entry = column.operator(OBJECT_OT_io_idtech_list_animations.bl_idname, text="Update List", icon="FILE_REFRESH")
        entry.owner = owner.name
    column.prop(stored, "name_filter", text="", icon="VIEWZOOM")
    _draw_buttons(column.row(align=True), owner)
    _shown.clear()
    positions = {item.as_pointer(): index for index, item in enumerate(stored.rows)}
    actions = Counter(row.animation.action for row in found.rows)
    for row, shown in zip(found.rows, rows, strict=True):
        if row.item is not None:
            _shown[positions[row.item.as_pointer()]] = replace(
                shown,
                foreign=row.animation.foreign,
                has_slots=row.animation.action is not None and actions[row.animation.action] > 1,
            )
    column.template_list("IO_IDTECH_UL_animations", "", stored, "rows", stored, "active_row", rows=_ROWS)
    column = layout.column()
    if stored.active_row in _shown:
        item, active = stored.rows[stored.active_row], _shown[stored.active_row]
        if active.has_slots:
            column.label(text=f"Slot: {item.slot}")
        rate = "" if active.rate is None else f" at {active.rate:g} fps"
        column.label(text=counted(active.frames, "frames") + rate)
        if active.foreign:
            column.label(text=f"Not {owner.name}'s: {active.foreign}", icon="UNLINKED")
        kind = "Replaces" if active.is_replaced else "File:" if active.suffix else "Sequence"
        icon = "FILE_REFRESH" if active.is_replaced else "NONE"
        column.label(text=f"{kind} {active.name}{active.suffix}", icon=icon)
        column.prop(item, "export_name")
    column.prop(stored, "prefix")
    column.prop(stored, "pattern")


_MOST_PROBLEMS = 12


def draw_problems(layout: UILayout, heading: str, problems: Sequence[str]) -> None:
    """Draws what keeps an export from being written, in lines that fit into the file browser."""
    if len(problems) > _MOST_PROBLEMS:
        problems = [*problems[:_MOST_PROBLEMS], f"and {len(problems) - _MOST_PROBLEMS} more"]
    lines = [heading] if heading and problems else []
    lines += [line for problem in problems for line in textwrap.wrap(problem, LINE_LENGTH)]
    column: Any = layout.column(align=True)
    for number, line in enumerate(lines):
        column.label(text=line, icon="BLANK1" if number else "ERROR")


def _draw_buttons(row: Any, owner: Object) -> None:
    for action, icon in (("ALL", "CHECKBOX_HLT"), ("NONE", "CHECKBOX_DEHLT"), ("INVERT", "ARROW_LEFTRIGHT")):
        entry = row.operator(OBJECT_OT_io_idtech_check_animations.bl_idname, text="", icon=icon)
        entry.action, entry.owner = action, owner.name
    for direction, icon in (("UP", "TRIA_UP"), ("DOWN", "TRIA_DOWN")):
        entry = row.operator(OBJECT_OT_io_idtech_move_animation.bl_idname, text="", icon=icon)
        entry.direction, entry.owner = direction, owner.name
    entry = row.operator(OBJECT_OT_io_idtech_list_animations.bl_idname, text="", icon="FILE_REFRESH")
    entry.owner = owner.name


def _summary(found: AnimationList) -> str:
    return f"{len(found.checked)} of {counted(len(found.rows), 'animations')} checked"


PROPERTIES = ((bpy.types.Object, PROPERTY, PointerProperty(type=IO_IDTECH_PG_animation_list)),)
