"""What panels are made of: their places, lists of rows with check boxes, a filter and a player."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

import bpy
from bpy.types import Context

from ...io_common.texts import counted
from .. import reports, state
from ..options import option
from ..records import has_record
from . import documentation

if TYPE_CHECKING:
    from bpy.stub_internal.rna_enums import OperatorReturnItems

    Operator = bpy.types.Operator
    Panel = bpy.types.Panel
    UIList = bpy.types.UIList
else:
    # A mixin must not inherit from a Blender class at run time.
    Operator = Panel = UIList = object

OperatorResult: TypeAlias = "set[OperatorReturnItems]"

_CHARACTER_WIDTH = 7  # pixels
_CHECKS = (
    ("ALL", "All", "Check everything that is shown in the list"),
    ("NONE", "None", "Uncheck everything that is shown in the list"),
    ("INVERT", "Invert", "Check what is not checked, and the reverse"),
)


def fail(operator: Any, text: str) -> OperatorResult:
    """Reports an error; the result of an operator that does nothing."""
    reports.report_message(operator, "ERROR", text)
    return {"CANCELLED"}


def operator_of(
    module: str, family: str, verb: str, label: str, description: str, *bases: type, **members: Any
) -> type[bpy.types.Operator]:
    """The class of an operator of a family, of which some bases have all but the identifiers."""
    members |= {"__doc__": description, "bl_idname": f"{module}.{family}_{verb}"}
    members["bl_label"] = f"{label} ({family.upper()})"
    return type(f"{module.upper()}_OT_{family}_{verb}", (*bases, bpy.types.Operator), members)


class PropertiesPanel(Panel):
    """A panel in the Properties editor, of an object's data by default, without its identifiers."""

    bl_space_type = "PROPERTIES"
    bl_region_type = "WINDOW"
    bl_context = "data"


class TabPanel(Panel):
    """A panel in the tab *id Tech* of the 3D viewport's sidebar, without its identifiers."""

    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "id Tech"
    bl_order = 1


class ImportedPanel(PropertiesPanel):
    """A panel of an object that was imported, without its identifiers."""

    kind: str  # the type of the object
    group: str  # the name of what the family stores

    @classmethod
    def poll(cls, context: Context) -> bool:
        obj = context.object
        return obj is not None and obj.type == cls.kind and has_record(obj.data, cls.group)


def split_layout(panel: Any) -> Any:
    """The layout of a panel, with labels beside the values."""
    panel.layout.use_property_split = True
    panel.layout.use_property_decorate = False
    return panel.layout


def draw_panel(layout: Any, identifier: str, label: str, operator: bpy.types.Operator, *names: str) -> Any:
    """Draws a panel, closed at first, which Blender remembers by `identifier`; returns its body, None if closed."""
    header, body = layout.panel(identifier, default_closed=True)
    header.label(text=label)
    if body:
        draw_options(body, operator, *names)
    return body


def draw_wide(layout: Any, operator: bpy.types.Operator, name: str) -> None:
    """Draws an option whose label is too long for a column of its own: over the whole width."""
    row = layout.row()
    row.use_property_split = False
    row.prop(operator, name)


def draw_right(layout: Any, text: str) -> None:
    """Draws a text at the right end of a row."""
    row = layout.row()
    row.alignment = "RIGHT"
    row.label(text=text)


def draw_options(layout: Any, operator: bpy.types.Operator, *names: str) -> None:
    """Draws options, one below the other."""
    for name in names:
        layout.prop(operator, name)


def panel_layout(operator: bpy.types.Operator) -> Any:
    """An operator's layout, set up as in Blender's own importers and exporters."""
    layout = split_layout(operator)
    documentation.draw_button(layout, documentation.page_of(operator.bl_idname))
    return layout


class RowList(UIList):
    """A list, without its identifier; the class that is registered draws its rows."""

    def draw_item(
        self,
        context: Context,
        layout: Any,
        data: Any,
        item: Any,
        icon: Any,
        active_data: Any,
        active_property: Any,
        index: int | None = 0,
        flt_flag: int | None = 0,
    ) -> None:
        self.draw_row(layout, item, index or 0)

    def draw_row(self, layout: Any, item: Any, index: int) -> None:
        raise NotImplementedError


class FilteredList(RowList):
    """A list whose filter is a property of its owner, which operators follow too."""

    def is_shown(self, data: Any, item: Any) -> bool:
        """Whether a row passes the filter of the owner of the list."""
        raise NotImplementedError

    def filter_items(self, context: Context, data: Any, attribute: str) -> Any:
        return [self.bitflag_filter_item if self.is_shown(data, item) else 0 for item in getattr(data, attribute)], []

    def draw_filter(self, context: Context, layout: Any) -> None:
        pass


class NamedList(RowList):
    """A list that Blender filters by name; the class that is registered leaves out other rows as well."""

    def shown(self, context: Context, rows: Any) -> set[Any]:
        """The rows that are not left out whatever their names are."""
        raise NotImplementedError

    def filter_items(self, context: Context, data: Any, attribute: str) -> Any:
        rows, flag = getattr(data, attribute), self.bitflag_filter_item
        flags = bpy.types.UI_UL_list.filter_items_by_name(self.filter_name, flag, rows, "name") or [flag] * len(rows)
        shown = self.shown(context, rows)
        return [flag if row in shown else 0 for flag, row in zip(flags, rows, strict=True)], []


def check_boxes_option(name: str, shown: Callable[[Any], list[Any]]) -> Any:
    """Buttons that check all rows of a list, none, or those that are not checked."""
    # It has an update function, as an operator cannot change the options of another one in both the file
    # browser and a dialog.

    def update(owner: Any, context: Context) -> None:
        pressed = getattr(owner, name)
        if not pressed:
            return
        for row in shown(owner):
            row.is_checked = "ALL" in pressed or ("INVERT" in pressed and not row.is_checked)
        setattr(owner, name, set())

    return option(
        set(),
        "Check Boxes",
        "Check or uncheck what the list shows",
        items=_CHECKS,
        options={"ENUM_FLAG", "HIDDEN", "SKIP_SAVE"},
        update=update,
    )


def draw_choice(layout: Any, kind: str, owner: Any, names: tuple[str, str, str], shown: int, **options: Any) -> Any:
    """Draws a list below buttons; `names` are the properties for buttons, rows and active row."""
    column = layout.column()
    column.use_property_split = False
    buttons = column.row(align=True)
    for identifier, _label, _description in _CHECKS:
        buttons.prop_enum(owner, names[0], identifier)
    column.template_list(kind, "", owner, names[1], owner, names[2], rows=shown, **options)
    return column


def set_timing(
    operator: Any, context: Context, start: float, end: float, rate: float | None, *, is_closed_loop: bool = False
) -> None:
    """Sets the frame rate and range of the scene; reports a warning if Blender cannot play the rate."""
    report = reports.Report()
    if rate is not None:
        state.set_frame_rate(context.scene, rate, report)
    first, last = math.floor(start), math.ceil(end)
    state.set_frame_range(context.scene, first, last, is_closed_loop=is_closed_loop)
    reports.report_message(operator, "WARNING", *report.warnings)


def step_option(what: str) -> Any:
    """The property `step` of an operator that plays the next animation."""
    return option(1, "Step", f"How many {what} to go forward; backward if negative", min=-10_000, max=10_000)


def stepped(index: int, step: int, count: int) -> int:
    """The index of the animation some steps on; from none (-1), a step forward leads to the first."""
    return (max(index, 0 if step < 0 else -1) + step) % count


def draw_player(layout: Any, operator: str, index: int, count: int, what: str) -> None:
    """Draws arrows that step through animations (-1 for none), and the button that plays the scene."""
    row = layout.row(align=True)
    row.operator(operator, text="", icon="TRIA_LEFT").step = -1
    label = f"{index + 1} of {count}" if index >= 0 else counted(count, what)
    screen = bpy.context.screen
    is_playing = screen is not None and screen.is_animation_playing
    row.operator("screen.animation_play", text=label, icon="PAUSE" if is_playing else "PLAY")
    row.operator(operator, text="", icon="TRIA_RIGHT").step = 1


def wrapped(context: Context, text: str, *, least: int = 20, indent: int = 0) -> list[str]:
    """The lines of a text that fit into the region that is drawn; they have at least so many characters."""
    width = context.region.width if context.region is not None else 400
    return textwrap.wrap(text, max(least, width // _CHARACTER_WIDTH - indent))
