"""Blender's mixins for file operators, with the types that the stubs of Blender lack."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias, TypeVar

    from bpy.stub_internal.rna_enums import OperatorReturnItems
    from bpy.types import Context, Event, UILayout

    Operator = bpy.types.Operator
    Panel = bpy.types.Panel
    UIList = bpy.types.UIList
    OperatorResult: TypeAlias = set[OperatorReturnItems]
    _Class = TypeVar("_Class")

    class ExportHelper(Operator):
        """Chooses one file to write."""

        filename_ext: str

        def invoke(self, context: Context, event: Event) -> OperatorResult:
            """Opens the file browser."""

    class ImportHelper(Operator):
        """Chooses the files to read."""

        def invoke_popup(self, context: Context) -> OperatorResult:
            """Opens the file browser, or a dialog with the options if the files are known."""

    def orientation_helper(axis_forward: str, axis_up: str) -> Callable[[type[_Class]], type[_Class]]:
        """Adds the properties `axis_forward` and `axis_up` to a class."""

else:
    from bpy_extras.io_utils import ExportHelper, ImportHelper, orientation_helper  # noqa: F401

    # A mixin must not inherit from a Blender class at run time.
    Operator = Panel = UIList = object


def panel(layout: Any, identifier: str) -> tuple[UILayout, UILayout | None]:
    """The header of a panel that users can close, and its body; None for a closed one.

    Blender remembers by `identifier` whether the panel is open.
    """
    return layout.panel(identifier)
