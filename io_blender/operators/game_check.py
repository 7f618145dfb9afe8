"""The findings of Check for Game: stored until Blender closes, listed in a panel, selected in the model.

They are on the window manager, which exists without a window too and is not changed by undo.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import bmesh
import bpy
import numpy as np
from bpy.props import CollectionProperty, IntProperty, StringProperty
from bpy.types import Context, Event, Object

from ...io_common.errors import FormatError, message_for
from ...io_common.family import Family
from ...io_common.texts import counted
from .. import state
from ..options import hidden, option, properties
from ..reports import BONES, FACES, NOTHING, VERTICES, LocatedFinding
from ..scene.objects import NothingToExportError, armature_of
from .animation_list import scope_of_panel
from .file_operators import chosen_path
from .panel_parts import OperatorResult, RowList, draw_options, fail, wrapped
from .preferences import registered
from .shared_options import ExportTransform, GameChoice

_SHOWN_BEFORE_EXPORT = 6  # findings in the panel of an export
# Properties of a check that are not options of an export, or do not change what is found.
_OWN_OPTIONS = {"rna_type", "game", "is_export", "filepath", "has_mesh", "verify"}
_TRANSFORM = {"global_scale", "axis_forward", "axis_up", "shown_scale", "shown_axes"}


@properties
class GameCheck(ExportTransform, GameChoice):
    """An operator that checks what an export with the same options would write."""

    bl_options = {"REGISTER", "UNDO"}

    shown: tuple[str, ...] = ("game",)  # the other options are those of an export
    # A check that is started elsewhere than in the dialog of an export does not take the options of the last one.
    is_export: bool = hidden(False)
    filepath: str = hidden("", description="The file that would be written, else one beside the .blend")

    def find(self, context: Context) -> list[LocatedFinding]:
        """What an export with the options would refuse, or a game shows otherwise, and where; errors first."""
        raise NotImplementedError

    def invoke(self, context: Context, event: Event) -> OperatorResult:
        if not self.is_export:
            for name in _option_names(self.bl_idname):
                self.properties.property_unset(name)
        return self.execute(context)

    def draw(self, context: Context) -> None:
        draw_options(self.layout, self, *self.shown)

    def execute(self, context: Context) -> OperatorResult:
        bad_data = (NothingToExportError, FormatError, *(family.error for family in registered))
        expected: tuple[type[Exception], ...] = (*bad_data, OSError, MemoryError)
        try:
            found = self.find(context)
        except expected as error:
            return fail(self, message_for(error, bad_data))
        game = self.profile().label
        _store(context, self.family.upper(), game, found, _key(_options(self, self.bl_idname)))
        for finding, _ in found:
            print(f"{'Error' if finding.is_error else 'Warning'}: {finding.text}")
        self.report({"INFO"}, f"{game}: {_result([finding for finding, _ in found])}")
        return {"FINISHED"}


def _store(context: Context, family: str, game: str, findings: list[LocatedFinding], options: str) -> None:
    manager: Any = context.window_manager
    manager.io_idtech_checked_options = options
    manager.io_idtech_findings.clear()
    for finding, location in findings:
        item = manager.io_idtech_findings.add()
        item.code, item.is_error, item.text = finding.code, finding.is_error, finding.text
        item.object_name = location.obj.name if location.obj is not None else ""
        item.kind, item.elements = location.kind, json.dumps(location.elements)
    manager.io_idtech_checked_family, manager.io_idtech_checked_game = family, game
    manager.io_idtech_checked_model = _active_model(context)
    # Setting it would call the property's update function, which selects a finding.
    manager.property_unset("io_idtech_active_finding")


@properties
class IO_IDTECH_PG_finding(bpy.types.PropertyGroup):
    """A problem that keeps a game from loading a model, or from showing it as Blender does."""

    code: str = option("", "Rule", "Identifier of the rule")
    is_error: bool = option(False, "Error", "The game would not load the model")
    text: str = option("", "Text", "What is wrong and what to do")
    object_name: str = option("", "Object", "Name of the object; empty for the whole model")
    kind: str = option(NOTHING, "Kind", "Elements to select: VERTICES, FACES or BONES; NOTHING for the object or model")
    elements: str = option("", "Elements", "Indices of vertices or faces, or names of bones, as JSON")


class IO_IDTECH_UL_findings(RowList, bpy.types.UIList):
    """The list of findings."""

    def draw_row(self, layout: Any, item: Any, index: int) -> None:
        layout.label(text=item.text, icon=_icon(item))


@properties
class OBJECT_OT_io_idtech_select_finding(bpy.types.Operator):
    """Select the vertices, faces or bones that a finding of Check for Game is about"""

    bl_idname = "object.io_idtech_select_finding"
    bl_label = "Select Finding"
    bl_options = {"REGISTER", "UNDO"}

    index: int = option(0, "Finding", "Index in the list, from 0", min=0)

    def execute(self, context: Context) -> OperatorResult:
        manager: Any = context.window_manager
        findings = manager.io_idtech_findings
        if self.index >= len(findings):
            return fail(self, "There is no such finding. Run Check for Game first")
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
    bpy.ops.object.mode_set(mode="EDIT")
    armature: Any = obj.data
    selected = [bone for bone in armature.edit_bones if bone.name in names]
    for bone in armature.edit_bones:
        bone.select = bone.select_head = bone.select_tail = bone.name in names
    armature.edit_bones.active = selected[0] if selected else None


def _select_in_mesh(context: Context, obj: Object, kind: str, elements: np.ndarray) -> None:
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
    if manager.io_idtech_active_finding >= 0:
        operators: Any = bpy.ops.object
        operators.io_idtech_select_finding("EXEC_DEFAULT", True, index=manager.io_idtech_active_finding)


def draw(layout: Any, context: Context, families: Iterable[Family]) -> None:
    """Draws the checks of some families, and what the last one of them has found."""
    manager: Any = context.window_manager
    checks = {family.name.upper(): check for family in families if (check := family.blender().check) is not None}
    # What is not MD5 may store some of its values.
    for check in reversed(checks.values()):
        layout.operator_menu_enum(check.bl_idname, "game", text=check.bl_label, icon="CHECKMARK")
    if manager.io_idtech_checked_family not in checks or manager.io_idtech_checked_model != _active_model(context):
        return
    findings = manager.io_idtech_findings
    icon = "NONE" if len(findings) else "CHECKMARK"
    layout.label(text=f"{manager.io_idtech_checked_game}: {_result(findings)}", icon=icon)
    if not len(findings):
        return
    names = ("io_idtech_findings", manager, "io_idtech_active_finding")
    layout.template_list("IO_IDTECH_UL_findings", "", manager, *names, rows=4)
    if 0 <= manager.io_idtech_active_finding < len(findings):
        column = layout.column(align=True)
        for line in wrapped(context, findings[manager.io_idtech_active_finding].text):
            column.label(text=line)


def draw_for_export(layout: Any, context: Context, export: Any, operator: str) -> Any:
    """Draws a button that checks before a file is written, and what it found; returns its properties."""
    # What it has found is shown until the options of the export change. `operator` is the identifier of the check.
    game = export.game_or_default()
    button = layout.operator(operator, text="Check for Game", icon="CHECKMARK")
    options = _options(export, operator)
    # A collection exporter exports its collection.
    options["collection"] = scope_of_panel(context, export).collection
    for name, value in options.items():
        setattr(button, name, value)
    button.game, button.is_export = game, True
    button.filepath = str(chosen_path(context, export))
    manager: Any = context.window_manager
    checked = (manager.io_idtech_checked_game, manager.io_idtech_checked_options, manager.io_idtech_checked_model)
    if checked == (export.profile().label, _key(options), _active_model(context)):
        _draw_findings(layout, context, list(manager.io_idtech_findings))
    return button


def _active_model(context: Context) -> str:
    """The name of the active armature or that of the active mesh; empty if there is none."""
    armature = armature_of(context.view_layer.objects.active)
    return armature.name if armature is not None else ""


def _key(options: dict[str, Any]) -> str:
    return str(sorted(options.items()))


def _options(operator: Any, check: str) -> dict[str, Any]:
    """The values of the options of an export or check, except the game; `check` is an identifier."""
    options = {name: getattr(operator, name) for name in _option_names(check) if name not in _TRANSFORM}
    # What is not set is that of the import.
    options |= operator.chosen_transform()
    return {name: value if isinstance(value, str | int | float) else tuple(value) for name, value in options.items()}


def _option_names(check: str) -> list[str]:
    """The options that a check operator shares with the exports of its family, except the game."""
    # The identifier may be that in `bpy.ops` or that in `bpy.types`.
    module, _, name = check.replace("_OT_", ".").partition(".")
    found = getattr(getattr(bpy.ops, module.lower()), name).get_rna_type().properties
    return [one.identifier for one in found if one.identifier not in _OWN_OPTIONS]


def _draw_findings(layout: Any, context: Context, findings: list[Any]) -> None:
    """Draws the first findings, which are errors if there are any, with their whole text."""
    column = layout.column(align=True)
    column.label(text=_result(findings).capitalize())
    for item in findings[:_SHOWN_BEFORE_EXPORT]:
        for index, line in enumerate(wrapped(context, item.text, least=30, indent=6)):
            column.label(text=line, icon="BLANK1" if index else _icon(item))
    more = len(findings) - _SHOWN_BEFORE_EXPORT
    if more > 0:
        column.label(text=f"and {more} more, in the tab id Tech", icon="BLANK1")


def _icon(item: Any) -> str:
    return "CANCEL" if item.is_error else "ERROR"


def _result(findings: Any) -> str:
    errors = sum(one.is_error for one in findings)
    counts = f"{counted(errors, 'errors')}, {counted(len(findings) - errors, 'warnings')}"
    return counts if len(findings) else "no problems found"


_STORED = {
    "findings": CollectionProperty(type=IO_IDTECH_PG_finding, options={"SKIP_SAVE"}),
    "active_finding": IntProperty(
        name="Finding",
        description="Select what the finding is about",
        default=-1,
        update=_select_active,
        options={"SKIP_SAVE"},
    ),
    **{f"checked_{what}": StringProperty(options={"SKIP_SAVE"}) for what in ("model", "family", "game", "options")},
}
PROPERTIES = tuple((bpy.types.WindowManager, f"io_idtech_{name}", stored) for name, stored in _STORED.items())
