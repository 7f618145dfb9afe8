"""What the entry of a family says of its part in Blender."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .options import Scene, Settings
from .reports import ExportResult, ImportResult
from .scene.axes import Conversion

if TYPE_CHECKING:
    from pathlib import Path

    from bpy.types import Context, Operator


@dataclass(frozen=True)
class BlenderPart:
    """What a family adds to Blender."""

    importer: type[Operator]  # for File > Import and for dropped files
    # Each has the `filename_ext` of one kind of file; the first is also the collection exporter.
    exporters: tuple[type[Operator], ...]
    load: Callable[[Context, Path, Settings, Conversion], ImportResult]
    save: Callable[[Context, Path, Settings, Scene], ExportResult]  # the suffix of the path selects the kind of file
    groups: tuple[type, ...] = ()  # property groups that the options of the operators use
    # Others to register: panels, operators, and property groups before the classes that use them.
    classes: tuple[type, ...] = ()
    properties: tuple[tuple[type, str, Any], ...] = ()  # added to types of Blender: the type, the name and the property
    # With which an action was imported; None if this family did not import it.
    action_frame_rate: Callable[[Any], float | None] = lambda action: None
    # For the tab id Tech: Check for Game, and whether the active model has animations, which are drawn into a layout.
    check: type[Operator] | None = None
    has_animations: Callable[[Context], bool] = lambda context: False
    draw_animations: Callable[[Any, Context], None] = lambda layout, context: None

    @property
    def operators(self) -> tuple[type[Operator], ...]:
        """The operators in the menus."""
        return (self.importer, *self.exporters)
