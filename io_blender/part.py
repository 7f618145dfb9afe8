"""What a family adds to Blender, as its entry gives it: operators, panels, properties, and how files are converted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .options import Scene, Settings
from .reports import ExportResult, ImportResult
from .scene.axes import Conversion

if TYPE_CHECKING:
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
    # Further classes to register, in this order: property groups come before the classes that use them.
    classes: tuple[type, ...] = ()
    properties: tuple[tuple[type, str, Any], ...] = ()  # added to types of Blender: the type, the name and the property
    # The frame rate that an action was imported with; None if this family did not import it.
    action_frame_rate: Callable[[Any], float | None] = lambda action: None
    check: type[Operator] | None = None  # Check for Game, in the tab id Tech
    has_animations: Callable[[Context], bool] = lambda context: False  # of the active model, for that tab
    draw_animations: Callable[[Any, Context], None] = lambda layout, context: None  # the layout is the tab's

    @property
    def operators(self) -> tuple[type[Operator], ...]:
        """The operators in the menus."""
        return (self.importer, *self.exporters)
