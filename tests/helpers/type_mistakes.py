"""Mistakes that mypy must find in modules that use Blender; never run.

The job `lint` checks this module like those of the extension. A comment that ignores an error which mypy does not find
is an error itself (`warn_unused_ignores`).
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from io_idtech.io_blender import state
from io_idtech.io_blender.operators import preferences
from io_idtech.io_blender.scene import axes
from io_idtech.io_md2.operators import EXPORT_SCENE_OT_md2, IMPORT_SCENE_OT_md2
from io_idtech.io_md5.operators.export_md5 import EXPORT_SCENE_OT_md5mesh

if TYPE_CHECKING:
    from bpy.types import Context, Object


class MisspeltProperties(EXPORT_SCENE_OT_md5mesh):
    """An operator with properties of its own and of its mixins."""

    def read(self) -> None:
        """Reads properties and calls methods that do not exist."""
        print(self.action)  # type: ignore[attr-defined]
        print(self.axis_foward)  # type: ignore[attr-defined]
        print(self.global_scal)  # type: ignore[attr-defined]
        print(self.filename_suffix)  # type: ignore[attr-defined]
        print(self.verfication())  # type: ignore[attr-defined]


def misspelt_options(importer: IMPORT_SCENE_OT_md2, exporter: EXPORT_SCENE_OT_md2) -> None:
    """Reads properties of operators that do not exist."""
    print(importer.use_texture)  # type: ignore[attr-defined]
    print(exporter.frame_name)  # type: ignore[attr-defined]


def misspelt_attributes_of_blender(context: Context, obj: Object) -> None:
    """Uses attributes that Blender's types do not have."""
    print(context.screne)  # type: ignore[attr-defined]
    print(obj.modifers)  # type: ignore[attr-defined]


def wrong_arguments(exporter: EXPORT_SCENE_OT_md2) -> None:
    """Leaves out arguments, or passes too many."""
    axes.to_file(1.0, "X")  # type: ignore[call-arg]
    state.set_frame(1.0)  # type: ignore[call-arg]
    exporter.path(Path())  # type: ignore[call-arg]
    preferences.default_scale(1.0)  # type: ignore[call-arg]


def wrong_operators(exporter: EXPORT_SCENE_OT_md2) -> bool:
    """Combines values of types that do not go together."""
    print(exporter.global_scale + "1")  # type: ignore[operator]
    return exporter.filename_ext == 1  # type: ignore[comparison-overlap]
