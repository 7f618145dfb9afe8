"""The findings of Check for Game: stored until Blender closes, listed in a panel, selected in the model.

They are stored on the window manager, which exists with and without a window. A check does not change the scene, and
undo does not change the list.
"""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import bmesh
import bpy
import numpy as np
from bpy.props import BoolProperty, CollectionProperty, EnumProperty, IntProperty, StringProperty

from ...io_common.counting import counted
from .. import state
from .animation_list import scope_of_panel
from .blender_mixins import Operator
from .file_operators import ExportTransform, chosen_path
from .row_list import RowList

if TYPE_CHECKING:
    from bpy.types import Context, Event, Object, UILayout

    from .blender_mixins import OperatorResult

VERTICES, FACES, BONES, NOTHING = "VERTICES", "FACES", "BONES", "NOTHING"
_CHARACTER_WIDTH = 7  # pixels
_SHOWN_BEFORE_EXPORT = 6  # findings in the panel of an export
# Properties of a check that are not options of an export, or do not change what is found.
_OWN_OPTIONS = {"rna_type", "game", "is_export", "filepath", "has_mesh", "verify"}
_TRANSFORM = {"global_scale", "axis_forward", "axis_up", "shown_scale", "shown_axes"}


@dataclass(frozen=True)
class Location:
    """The part of the model that a finding is about.

    Attributes:
        obj: the object; None for the model as a whole.
        kind: `VERTICES`, `FACES`, `BONES` or `NOTHING`.
        elements: indices of vertices or faces of the object's mesh, or names of bones.
    """

    obj: Object | None = None
    kind: str = NOTHING
    elements: tuple[int | str, ...] = ()


@dataclass(frozen=True)
class LocatedFinding:
    """A finding and its location.

    Attributes:
        code: the identifier of the rule.
        is_error: whether the game would not load the model.
        text: what is wrong and what to do.
        location: the part of the model that it is about.
    """

    code: str
    is_error: bool
    text: str
    location: Location


class GameCheck(ExportTransform, Operator):
    """An operator that checks what an export with the same options would write."""

    if TYPE_CHECKING:
        is_export: bool
        filepath: str
    else:
        is_export: BoolProperty(
            name="Export",
            description="Check what an export with these options would write. A check that is started elsewhere does "
            "not take the options of the last one",
            default=False,
            options={"HIDDEN", "SKIP_SAVE"},
        )
        filepath: StringProperty(
            name="File Path",
            description="The file that would be written. If empty, a file beside the .blend",
            subtype="FILE_PATH",
            options={"HIDDEN", "SKIP_SAVE"},
        )

    def invoke(self, context: Context, event: Event) -> OperatorResult:
        """Checks. Blender remembers the options of the last check, which only count if an export panel gives them."""
        del event
        if not self.is_export:
            for name in _option_names(self.bl_idname):
                self.properties.property_unset(name)
        return self.execute(context)


def store(
    context: Context, family: str, game: str, findings: Iterable[LocatedFinding], options: str = ""
) -> None:
    """Replaces the stored findings.

    The new ones must have errors first. `family` is the one whose panel lists them, such as "MD5"; `game` is the label
    of the game. `options` is what was checked; see `options_key`.
    """
    manager: Any = context.window_manager
    manager.io_idtech_checked_options = options
    manager.io_idtech_findings.clear()
    for finding in findings:
        item = manager.io_idtech_findings.add()
        item.code, item.is_error, item.text = finding.code, finding.is_error, finding.text
        item.object_name = finding.location.obj.name if finding.location.obj is not None else ""
        item.kind = finding.location.kind
        item.elements = json.dumps(finding.location.elements)
    manager.io_idtech_checked_family, manager.io_idtech_checked_game = family, game
    # Setting it would call the property's update function, which selects a finding.
    manager.property_unset("io_idtech_active_finding")


class IO_IDTECH_PG_finding(bpy.types.PropertyGroup):
    """A problem that keeps a game from loading a model, or from showing it as Blender does."""

    if TYPE_CHECKING:
        code: str
        is_error: bool
        text: str
        object_name: str
        kind: str
        elements: str
    else:
        code: StringProperty(name="Rule", description="Identifier of the rule")
        is_error: BoolProperty(name="Error", description="The game would not load the model")
        text: StringProperty(name="Text", description="What is wrong and what to do")
        object_name: StringProperty(
            name="Object", description="Name of the object; empty for the whole model"
        )
        kind: EnumProperty(
            name="Kind",
            description="Kind of elements to select",
            items=(
                (VERTICES, "Vertices", "Vertices of a mesh"),
                (FACES, "Faces", "Faces of a mesh"),
                (BONES, "Bones", "Bones of an armature"),
                (NOTHING, "Nothing", "The object or the whole model"),
            ),
            default=NOTHING,
        )
        elements: StringProperty(
            name="Elements", description="Indices of vertices or faces, or names of bones, as JSON"
        )


class IO_IDTECH_UL_findings(RowList, bpy.types.UIList):
    """The list of findings."""

    def draw_row(self, layout: Any, item: Any, index: int) -> None:
        """Draws one finding."""
        del index
        layout.label(text=item.text, icon=_icon(item))


class OBJECT_OT_io_idtech_select_finding(bpy.types.Operator):
    """Select the vertices, faces or bones that a finding of Check for Game is about"""

    bl_idname = "object.io_idtech_select_finding"
    bl_label = "Select Finding"
    bl_options = {"REGISTER", "UNDO"}

    if TYPE_CHECKING:
        index: int
    else:
        index: IntProperty(name="Finding", description="Index in the list, from 0", default=0, min=0)

    def execute(self, context: Context) -> OperatorResult:
        """Selects the elements of the finding."""
        manager: Any = context.window_manager
        findings = manager.io_idtech_findings
        if self.index >= len(findings):
            self.report({"ERROR"}, "There is no such finding. Run Check for Game first")
            return {"CANCELLED"}
        item = findings[self.index]
        obj = context.view_layer.objects.get(item.object_name)
        if obj is None:
            self.report({"INFO"}, "This finding is about the whole model")
            return {"CANCELLED"}
        state.switch_to_object_mode(context)
        state.select_only(context, [obj], obj)
        if not obj.visible_get():
            self.report({"WARNING"}, f"{obj.name} is hidden")
            return {"FINISHED"}
        elements = json.loads(item.elements)
        if item.kind == BONES and obj.type == "ARMATURE":
            _select_bones(obj, set(elements))
        elif item.kind in (VERTICES, FACES) and obj.type == "MESH":
            _select_in_mesh(context, obj, item.kind, np.array(elements, dtype=np.int64))
        return {"FINISHED"}


def _select_bones(obj: Object, names: set[str]) -> None:
    """Selects bones in Edit Mode; the first one becomes active."""
    bpy.ops.object.mode_set(mode="EDIT")
    armature: Any = obj.data
    selected = [bone for bone in armature.edit_bones if bone.name in names]
    for bone in armature.edit_bones:
        bone.select = bone.select_head = bone.select_tail = bone.name in names
    armature.edit_bones.active = selected[0] if selected else None


def _select_in_mesh(context: Context, obj: Object, kind: str, elements: np.ndarray) -> None:
    """Selects vertices or faces in Edit Mode; elements that no longer exist are skipped."""
    context.tool_settings.mesh_select_mode = (kind == VERTICES, False, kind == FACES)
    bpy.ops.object.mode_set(mode="EDIT")
    mesh: Any = obj.data
    # Setting the selection of a whole mesh in Object Mode crashes Blender 5.0.
    edited = bmesh.from_edit_mesh(mesh)
    for sequence in (edited.verts, edited.edges, edited.faces):
        for element in sequence:
            element.select = False
    candidates: Any = edited.verts if kind == VERTICES else edited.faces
    candidates.ensure_lookup_table()
    for index in elements.tolist():
        if index < len(candidates):
            candidates[index].select_set(True)
    bmesh.update_edit_mesh(mesh, loop_triangles=False, destructive=False)


def _select_active(manager: Any, context: Context) -> None:
    """Selects the elements of the finding that becomes active in the list."""
    del context
    if manager.io_idtech_active_finding >= 0:
        operators: Any = bpy.ops.object
        operators.io_idtech_select_finding("EXEC_DEFAULT", True, index=manager.io_idtech_active_finding)


def draw(layout: UILayout, context: Context, family: str, operator: str) -> None:
    """Draws the panel of a family: the button of the check, and its findings.

    `operator` is the identifier of the check operator of the family, such as "MD5".
    """
    manager: Any = context.window_manager
    layout.operator_menu_enum(operator, "game", text="Check for Game", icon="CHECKMARK")
    if manager.io_idtech_checked_family != family:
        return
    findings = manager.io_idtech_findings
    if not len(findings):
        layout.label(text=f"{manager.io_idtech_checked_game}: no problems found", icon="CHECKMARK")
        return
    errors = sum(item.is_error for item in findings)
    layout.label(text=_result(manager.io_idtech_checked_game, errors, len(findings)))
    layout.template_list(
        "IO_IDTECH_UL_findings",
        "",
        manager,
        "io_idtech_findings",
        manager,
        "io_idtech_active_finding",
        rows=4,
    )
    if 0 <= manager.io_idtech_active_finding < len(findings):
        width = context.region.width if context.region is not None else 400
        column = layout.column(align=True)
        for line in textwrap.wrap(
            findings[manager.io_idtech_active_finding].text, max(20, width // _CHARACTER_WIDTH)
        ):
            column.label(text=line)


def draw_for_export(
    layout: Any, context: Context, export: Any, operator: str, identifier: str, label: str
) -> Any:
    """Draws a button that lists the problems of a game before a file is written, and what it has found.

    The check takes the options of the export. What it has found is shown until they change. `operator` is the
    identifier of the family's check operator; `identifier` and `label` are those of the game that is exported for.
    Returns the properties of the check that the button runs.
    """
    properties = layout.operator(operator, text="Check for Game", icon="CHECKMARK")
    options = _options(export, operator)
    # A collection exporter exports its collection.
    options["collection"] = scope_of_panel(context, export).collection
    for name, value in options.items():
        setattr(properties, name, value)
    properties.game, properties.is_export = identifier, True
    properties.filepath = str(chosen_path(context, export))
    manager: Any = context.window_manager
    checked = (manager.io_idtech_checked_game, manager.io_idtech_checked_options)
    if checked == (label, _key(options)):
        _draw_findings(layout, context, list(manager.io_idtech_findings))
    return properties


def options_key(check: Any) -> str:
    """What a check operator looks at, to know whether its findings are about an export with the same options."""
    return _key(_options(check, check.bl_idname))


def _key(options: dict[str, Any]) -> str:
    return str(sorted(options.items()))


def _options(operator: Any, check: str) -> dict[str, Any]:
    """The values of an export's or a check's options, except the game.

    `check` is the identifier of the check operator.
    """
    options = {name: getattr(operator, name) for name in _option_names(check) if name not in _TRANSFORM}
    # What is not set is that of the import.
    options |= operator.own_transform()
    return {
        name: value if isinstance(value, str | int | float) else tuple(value)
        for name, value in options.items()
    }


def _option_names(check: str) -> list[str]:
    """The options that a check operator shares with the exports of its family, except the game.

    The identifier may be that in `bpy.ops` or that in `bpy.types`.
    """
    module, _, name = check.replace("_OT_", ".").partition(".")
    module = module.lower()
    properties = getattr(getattr(bpy.ops, module), name).get_rna_type().properties
    return [found.identifier for found in properties if found.identifier not in _OWN_OPTIONS]


def _draw_findings(layout: Any, context: Context, findings: list[Any]) -> None:
    """Draws the first findings, which are errors if there are any, with their whole text."""
    errors = sum(item.is_error for item in findings)
    column = layout.column(align=True)
    column.label(text=_counts(errors, len(findings)) if findings else "No problems found")
    width = context.region.width if context.region is not None else 0
    for item in findings[:_SHOWN_BEFORE_EXPORT]:
        lines = textwrap.wrap(item.text, max(30, width // _CHARACTER_WIDTH - 6))
        for index, line in enumerate(lines):
            column.label(text=line, icon="BLANK1" if index else _icon(item))
    more = len(findings) - _SHOWN_BEFORE_EXPORT
    if more > 0:
        column.label(text=f"and {more} more, in the data properties", icon="BLANK1")


def _icon(item: Any) -> str:
    return "CANCEL" if item.is_error else "ERROR"


def _counts(errors: int, count: int) -> str:
    """How many of the findings are errors and warnings."""
    return f"{counted(errors, 'errors')}, {counted(count - errors, 'warnings')}"


def _result(game: str, errors: int, count: int) -> str:
    """The game, and how many of the findings are errors and warnings."""
    return f"{game}: {_counts(errors, count)}"


def report(operator: Any, game: str, findings: list[LocatedFinding]) -> None:
    """Reports the result of a check in one line, and prints the findings to the console."""
    errors = sum(finding.is_error for finding in findings)
    for finding in findings:
        print(f"{'Error' if finding.is_error else 'Warning'}: {finding.text}")
    operator.report(
        {"INFO"},
        _result(game, errors, len(findings)) if findings else f"{game}: no problems found",
    )


_CLASSES = (IO_IDTECH_PG_finding, IO_IDTECH_UL_findings, OBJECT_OT_io_idtech_select_finding)
_PROPERTIES = ("findings", "active_finding", "checked_family", "checked_game", "checked_options")


def register() -> None:
    """Registers the list of findings, its operator, and the properties that store them."""
    for cls in _CLASSES:
        bpy.utils.register_class(cls)
    manager: Any = bpy.types.WindowManager
    manager.io_idtech_findings = CollectionProperty(type=IO_IDTECH_PG_finding, options={"SKIP_SAVE"})
    manager.io_idtech_active_finding = IntProperty(default=-1, update=_select_active, options={"SKIP_SAVE"})
    manager.io_idtech_checked_family = StringProperty(options={"SKIP_SAVE"})
    manager.io_idtech_checked_game = StringProperty(options={"SKIP_SAVE"})
    manager.io_idtech_checked_options = StringProperty(options={"SKIP_SAVE"})


def unregister() -> None:
    """Unregisters what `register` registered."""
    for name in reversed(_PROPERTIES):
        delattr(bpy.types.WindowManager, f"io_idtech_{name}")
    for cls in reversed(_CLASSES):
        bpy.utils.unregister_class(cls)
