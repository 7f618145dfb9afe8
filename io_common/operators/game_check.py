"""Findings of a check for a game: kept for the session, listed in a panel, and shown where they are in the model.

They lie on the window manager, which every session has, with a window or without: the scene is not changed by a
check, and undo leaves the list alone.
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

from ..scene import state

if TYPE_CHECKING:
    from bpy.types import Context, Object, UILayout

VERTICES, FACES, BONES, NOTHING = "VERTICES", "FACES", "BONES", "NOTHING"
_LETTER_WIDTH = 7


@dataclass(frozen=True)
class Place:
    """Where something was found.

    Attributes:
        obj: the object; None for the model as a whole.
        kind: `VERTICES`, `FACES`, `BONES` or `NOTHING`.
        elements: indices of vertices or faces of its mesh, or names of bones.
    """

    obj: Object | None = None
    kind: str = NOTHING
    elements: tuple[int | str, ...] = ()


@dataclass(frozen=True)
class Found:
    """A finding and its place.

    Attributes:
        code: the name of the rule.
        is_error: whether the game would refuse the model.
        text: what is wrong and what to do.
        place: where.
    """

    code: str
    is_error: bool
    text: str
    place: Place


def faces_of_corners(mesh: Any, corners: np.ndarray) -> np.ndarray:
    """The faces of corners of a mesh, rising, each once.

    Args:
        mesh: a mesh data-block.
        corners: indices of corners; negative ones are left out.
    """
    starts = np.empty(len(mesh.polygons), dtype=np.int32)
    mesh.polygons.foreach_get("loop_start", starts)
    return np.unique(np.searchsorted(starts, corners[corners >= 0], side="right") - 1)


def keep(context: Context, family: str, game: str, found: Iterable[Found]) -> None:
    """Keeps findings in place of those that were there.

    Args:
        context: of the session.
        family: whose panel lists them: "MD5" or "MD2".
        game: the label of the game.
        found: the findings, errors first.
    """
    manager: Any = context.window_manager
    manager.io_idtech_findings.clear()
    for finding in found:
        item = manager.io_idtech_findings.add()
        item.code, item.is_error, item.text = finding.code, finding.is_error, finding.text
        item.object_name = finding.place.obj.name if finding.place.obj is not None else ""
        item.kind = finding.place.kind
        item.elements = json.dumps(finding.place.elements)
    manager.io_idtech_checked_family, manager.io_idtech_checked_game = family, game
    # Without its update, which would select the first.
    manager["io_idtech_active_finding"] = -1


class IO_IDTECH_PG_finding(bpy.types.PropertyGroup):
    """Something that a game would not take, or show otherwise than Blender."""

    if TYPE_CHECKING:
        code: str
        is_error: bool
        text: str
        object_name: str
        kind: str
        elements: str
    else:
        code: StringProperty(name="Rule", description="The name of the rule")
        is_error: BoolProperty(name="Error", description="The game would refuse the model")
        text: StringProperty(name="Text", description="What is wrong and what to do")
        object_name: StringProperty(name="Object", description="Where; empty for the model as a whole")
        kind: EnumProperty(
            name="Kind",
            description="What is selected",
            items=(
                (VERTICES, "Vertices", "Vertices of a mesh"),
                (FACES, "Faces", "Faces of a mesh"),
                (BONES, "Bones", "Bones of an armature"),
                (NOTHING, "Nothing", "The object, or the model as a whole"),
            ),
            default=NOTHING,
        )
        elements: StringProperty(
            name="Elements", description="Indices of vertices or faces, or names of bones, as JSON"
        )


class IO_IDTECH_UL_findings(bpy.types.UIList):
    """The list of findings."""

    def draw_item(
        self,
        context: Context,
        layout: Any,
        data: Any,
        item: Any,
        icon: Any,
        active_data: Any,
        active_property: Any,
    ) -> None:
        """Draws one finding."""
        del context, data, icon, active_data, active_property
        layout.label(text=item.text, icon="CANCEL" if item.is_error else "ERROR")


class OBJECT_OT_io_idtech_select_finding(bpy.types.Operator):
    """Select the vertices, faces or bones that a finding of Check for Game is about"""

    bl_idname = "object.io_idtech_select_finding"
    bl_label = "Select Finding"
    bl_options = {"REGISTER", "UNDO"}

    if TYPE_CHECKING:
        index: int
    else:
        index: IntProperty(name="Finding", description="Its number in the list, from 0", default=0, min=0)

    def execute(self, context: Context) -> set[str]:
        """Selects."""
        findings: Any = context.window_manager.io_idtech_findings  # type: ignore[attr-defined]
        if self.index >= len(findings):
            self.report({"ERROR"}, "there is no such finding: use Check for Game first")
            return {"CANCELLED"}
        item = findings[self.index]
        obj = context.view_layer.objects.get(item.object_name)
        if obj is None:
            self.report({"INFO"}, "this is about the model as a whole")
            return {"CANCELLED"}
        state.leave_edit_modes(context)
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
    """Selects bones in Edit Mode; the first of them becomes the active one."""
    bpy.ops.object.mode_set(mode="EDIT")
    armature: Any = obj.data
    chosen = [bone for bone in armature.edit_bones if bone.name in names]
    for bone in armature.edit_bones:
        bone.select = bone.select_head = bone.select_tail = bone.name in names
    armature.edit_bones.active = chosen[0] if chosen else None


def _select_in_mesh(context: Context, obj: Object, kind: str, elements: np.ndarray) -> None:
    """Selects vertices or faces in Edit Mode; what was removed since is passed over."""
    context.tool_settings.mesh_select_mode = (kind == VERTICES, False, kind == FACES)
    bpy.ops.object.mode_set(mode="EDIT")
    mesh: Any = obj.data
    # Setting the flags of a whole mesh in Object Mode crashes Blender 5.0.
    edited = bmesh.from_edit_mesh(mesh)
    for sequence in (edited.verts, edited.edges, edited.faces):
        for element in sequence:
            element.select = False
    chosen: Any = edited.verts if kind == VERTICES else edited.faces
    chosen.ensure_lookup_table()
    for index in elements.tolist():
        if index < len(chosen):
            chosen[index].select_set(True)
    bmesh.update_edit_mesh(mesh, loop_triangles=False, destructive=False)


def _selected(manager: Any, context: Context) -> None:
    """Choosing a finding in the list selects it in the model."""
    del context
    if manager.io_idtech_active_finding >= 0:
        bpy.ops.object.io_idtech_select_finding("EXEC_DEFAULT", True, index=manager.io_idtech_active_finding)


def draw(layout: UILayout, context: Context, family: str, operator: str) -> None:
    """The panel of a format: the button of the check, and what it found.

    Args:
        layout: where to draw.
        context: of the panel.
        family: "MD5" or "MD2".
        operator: the identifier of the check.
    """
    manager: Any = context.window_manager
    layout.operator_menu_enum(operator, "game", text="Check for Game", icon="CHECKMARK")
    if manager.io_idtech_checked_family != family:
        return
    findings = manager.io_idtech_findings
    if not len(findings):
        layout.label(text=f"{manager.io_idtech_checked_game}: nothing to complain of", icon="CHECKMARK")
        return
    errors = sum(item.is_error for item in findings)
    layout.label(text=f"{manager.io_idtech_checked_game}: {errors} errors, {len(findings) - errors} warnings")
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
            findings[manager.io_idtech_active_finding].text, max(20, width // _LETTER_WIDTH)
        ):
            column.label(text=line)


def report(operator: Any, game: str, found: list[Found]) -> None:
    """Tells the user how a check went, in one line; the findings themselves are on the console and in the panel."""
    errors = sum(finding.is_error for finding in found)
    for finding in found:
        print(f"{'Error' if finding.is_error else 'Warning'}: {finding.text}")
    operator.report(
        {"INFO"},
        f"{game}: {errors} errors, {len(found) - errors} warnings"
        if found
        else f"{game}: nothing to complain of",
    )


_CLASSES = (IO_IDTECH_PG_finding, IO_IDTECH_UL_findings, OBJECT_OT_io_idtech_select_finding)
_PROPERTIES = ("findings", "active_finding", "checked_family", "checked_game")


def register() -> None:
    """Registers the list, its operator, and where findings are kept."""
    for cls in _CLASSES:
        bpy.utils.register_class(cls)
    manager: Any = bpy.types.WindowManager
    manager.io_idtech_findings = CollectionProperty(type=IO_IDTECH_PG_finding, options={"SKIP_SAVE"})
    manager.io_idtech_active_finding = IntProperty(default=-1, update=_selected, options={"SKIP_SAVE"})
    manager.io_idtech_checked_family = StringProperty(options={"SKIP_SAVE"})
    manager.io_idtech_checked_game = StringProperty(options={"SKIP_SAVE"})


def unregister() -> None:
    """Takes them back."""
    for name in reversed(_PROPERTIES):
        delattr(bpy.types.WindowManager, f"io_idtech_{name}")
    for cls in reversed(_CLASSES):
        bpy.utils.unregister_class(cls)
