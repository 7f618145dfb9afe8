"""Mixins and helpers of the import and export operators: files, transform, scope, verification, reporting."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import BoolProperty, CollectionProperty, EnumProperty, FloatProperty, StringProperty

from ...io_common.error_messages import message_for
from .. import reports, state, versions
from ..reports import ImportResult
from ..scene import axes, names
from ..scene.objects import ChosenConversion, NothingToExportError, Scope, axes_of, export_conversion
from ..verification import Verify
from . import documentation, game_option, preferences, rollback
from .blender_mixins import ExportHelper, ImportHelper, Operator, orientation_helper, panel

if TYPE_CHECKING:
    from bpy.types import Context, Object, UILayout

    from .blender_mixins import OperatorResult


class NoFileError(ValueError):
    """The user chose no file, or a path that is not a regular file."""


# The result of an operator's job: the report, and the files that were read or written.
Outcome = tuple[reports.Report, Iterable[Path]]


def _with_axis_tooltips(cls: type) -> type:
    """The class with descriptions of the axes, which `orientation_helper` leaves empty."""
    for name, direction in (("axis_forward", "forward"), ("axis_up", "up")):
        cls.__annotations__[name].keywords["description"] = (
            f"Axis of the file that points {direction} in Blender. Change it if models face the wrong way"
        )
    return cls


@_with_axis_tooltips
@orientation_helper(axis_forward="Y", axis_up="Z")
class Transform(Operator):
    """Scale and axes between the file and the scene."""

    if TYPE_CHECKING:
        axis_forward: str
        axis_up: str
        global_scale: float
        shown_scale: float
        shown_axes: str
    else:
        global_scale: FloatProperty(
            name="Scale",
            description="Scale the model by this factor",
            default=1.0,
            min=1e-6,
            max=1e6,
            soft_min=0.001,
            soft_max=1000.0,
        )
        shown_scale: FloatProperty(
            name="Shown Scale",
            description="The default that the dialog shows as Scale",
            options={"HIDDEN", "SKIP_SAVE"},
        )
        shown_axes: StringProperty(
            name="Shown Axes",
            description="The default that the dialog shows as Forward and Up",
            options={"HIDDEN", "SKIP_SAVE"},
        )

    def default_scale(self) -> float:
        """The default scale in the preferences, or its inverse for an export."""
        raise NotImplementedError

    def set_default_scale(self) -> None:
        """Sets the scale to the default, unless a script or a preset has set it."""
        self.shown_scale = self.default_scale()
        if not self.properties.is_property_set("global_scale"):
            self.global_scale = self.shown_scale

    def has_own_scale(self) -> bool:
        """Whether the user or a script has set a scale other than the default."""
        is_set = self.properties.is_property_set("global_scale")
        return is_set and self.global_scale != self.shown_scale

    def has_own_axes(self) -> bool:
        """Whether the user or a script has set axes other than the default."""
        is_set = any(self.properties.is_property_set(name) for name in ("axis_forward", "axis_up"))
        return is_set and f"{self.axis_forward} {self.axis_up}" != self.shown_axes

    def scale(self) -> float:
        """The scale that the user or a script has set, else the default."""
        is_set = self.properties.is_property_set("global_scale")
        return self.global_scale if is_set else self.default_scale()

    def draw_transform(self, layout: UILayout, prefix: str) -> None:
        """Draws the panel with scale and axes, as in Blender's own importers.

        `prefix` starts the panel's identifier, by which Blender remembers whether it is open.
        """
        header, body = panel(layout, f"{prefix}_transform")
        header.label(text="Transform")
        if not body:
            return
        body.prop(self, "global_scale")
        body.prop(self, "axis_forward")
        body.prop(self, "axis_up")
        for text in self.other_defaults():
            body.label(text=f"Unless changed: {text}", icon="INFO")

    def other_defaults(self) -> list[str]:
        """The defaults that are not what the properties show.

        Collection exporters and scripts run without `invoke`, which sets the default.
        """
        scale = self.scale()
        return [] if scale == self.global_scale else [f"{scale:g} (preferences)"]


class ImportFiles(Transform, ImportHelper):
    """An operator that imports one or several files."""

    if TYPE_CHECKING:
        filepath: str
        files: Any
        directory: str
    else:
        filepath: StringProperty(
            name="File Path",
            description="The file to read",
            maxlen=1024,
            subtype="FILE_PATH",
            options={"HIDDEN", "SKIP_SAVE"} | versions.PATH_OPTIONS,
        )
        files: CollectionProperty(type=bpy.types.OperatorFileListElement, options={"HIDDEN", "SKIP_SAVE"})
        directory: StringProperty(subtype="DIR_PATH", options={"HIDDEN", "SKIP_SAVE"} | versions.PATH_OPTIONS)

    def default_scale(self) -> float:
        """The scale of the preferences."""
        return preferences.default_scale()

    def invoke(self, context: Context, event: bpy.types.Event) -> OperatorResult:
        """Opens the file browser, or for dropped files a dialog with the options."""
        del event
        self.set_default_scale()
        return self.invoke_popup(context)

    def paths(self) -> list[Path]:
        """The files to import. Raises NoFileError if no file was selected, or a path is not a regular file."""
        selected = [file.name for file in self.files if file.name]
        if selected:
            paths = [Path(bpy.path.abspath(self.directory)) / name for name in selected]
        else:
            paths = [_file_path(bpy.path.abspath(self.filepath))]
        for path in paths:
            if path.exists() and not path.is_file():
                # Reading from a pipe or a device may never end.
                raise NoFileError(f"{path}: not a regular file")
        return paths

    def selected_names(self, context: Context) -> list[str]:
        """The names of the files that are selected in the file browser, or were given."""
        names_given = [self.filepath, *(file.name for file in self.files)]
        params = getattr(context.space_data, "params", None)
        if params is None:
            return names_given
        selected = getattr(context, "selected_files", None) or ()
        return [*names_given, params.filename, *(entry.name for entry in selected)]

    def conversion(self) -> axes.Conversion:
        """The conversion from the coordinates of the file to those of the scene."""
        return axes.from_file(self.scale(), self.axis_forward, self.axis_up)


class ExportTransform(Transform):
    """Scale and axes of an export: those of the import, for what was imported, unless they are set."""

    def default_scale(self) -> float:
        """The inverse of the scale of the preferences."""
        return 1.0 / preferences.default_scale()

    def converted_objects(self, context: Context) -> list[Object]:
        """The objects whose import decides on scale and axes, as the options are now."""
        raise NotImplementedError

    def conversion(self) -> ChosenConversion:
        """The conversion from the coordinates of the scene to those of the file, as far as it is set."""
        has_scale, has_axes = self.has_own_scale(), self.has_own_axes()
        scale = self.global_scale if has_scale else self.default_scale()
        forward, up = (self.axis_forward, self.axis_up) if has_axes else ("Y", "Z")
        return ChosenConversion(axes.to_file(scale, forward, up), has_scale, has_axes)

    def own_transform(self) -> dict[str, Any]:
        """The scale and axes that are set, by property."""
        own = {"global_scale": self.global_scale} if self.has_own_scale() else {}
        axis = {"axis_forward": self.axis_forward, "axis_up": self.axis_up} if self.has_own_axes() else {}
        return own | axis

    def _default_transform(self, context: Context) -> tuple[float, str, str] | None:
        """Scale, forward and up of an export that sets none; None if there is no such export."""
        default = ChosenConversion(axes.to_file(self.default_scale(), "Y", "Z"))
        try:
            found = export_conversion(default, self.converted_objects(context), reports.Report())
        except NothingToExportError:
            return None
        return (found.scale, *axes_of(found))

    def set_default_transform(self, context: Context) -> None:
        """Sets scale and axes to the default, unless a script has set them."""
        default = self._default_transform(context)
        if default is None:
            return
        is_set = self.properties.is_property_set
        if not is_set("global_scale"):
            self.global_scale = default[0]
            self.shown_scale = self.global_scale
        if not is_set("axis_forward") and not is_set("axis_up"):
            self.axis_forward, self.axis_up = default[1:]
            self.shown_axes = f"{default[1]} {default[2]}"

    def other_defaults(self) -> list[str]:
        """The defaults that are not what the properties show: the dialog may choose other objects."""
        default = self._default_transform(bpy.context)
        if default is None:
            return []
        scale, forward, up = default
        texts = []
        if not self.has_own_scale() and not math.isclose(scale, self.global_scale, rel_tol=1e-6):
            source = "preferences" if scale == self.default_scale() else "import"
            texts.append(f"{scale:g} ({source})")
        if not self.has_own_axes() and (forward, up) != (self.axis_forward, self.axis_up):
            texts.append(f"Forward {forward}, Up {up} (import)")
        return texts


class ExportFile(ExportTransform, ExportHelper):
    """An operator that exports one file, and possibly others next to it."""

    if TYPE_CHECKING:
        filepath: str
    else:
        filepath: StringProperty(
            name="File Path",
            description="The file to write",
            maxlen=1024,
            subtype="FILE_PATH",
            options=versions.PATH_OPTIONS,
        )

    def default_game(self) -> str | None:
        """The game of the preferences; None for files that are the same for all games."""
        return None

    def default_name(self, context: Context) -> str:
        """The name of the exported object or action, from which the file name is made."""
        raise NotImplementedError

    def invoke(self, context: Context, event: bpy.types.Event) -> OperatorResult:
        """Opens the file browser with the name of what is exported, in the folder of the last export."""
        self.set_default_transform(context)
        default_game = self.default_game()
        if default_game is not None:
            game_option.set_default(self, default_game)
        if not self.properties.is_property_set("filepath"):
            # Blender gives the path of the last export, but does not count it as set.
            last = self.filepath or ("//" if bpy.data.filepath else "")
            folder = Path(os.path.dirname(bpy.path.abspath(last)))
            name = names.for_files(self.default_name(context), "untitled")
            self.filepath = str(folder / f"{name}{self.filename_ext}")
        return super().invoke(context, event)

    def path(self) -> Path:
        """The file to write, with the format's suffix. Raises NoFileError if no file was selected."""
        path = _file_path(bpy.path.abspath(self.filepath))
        return Path(bpy.path.ensure_ext(str(path), self.filename_ext))


class ExportScope(Operator):
    """The options that limit an export to some of the objects."""

    if TYPE_CHECKING:
        use_selection: bool
        use_active_collection: bool
        collection: str
    else:
        use_selection: BoolProperty(
            name="Selected Only",
            description="Export only selected objects. If only an armature is selected, export all its meshes",
            default=False,
        )
        use_active_collection: BoolProperty(
            name="Active Collection",
            description="Export only objects in the active collection",
            default=False,
        )
        collection: StringProperty(
            name="Source Collection",
            description="Export only objects in the collection with this name",
            default="",
            options={"HIDDEN"},
        )

    def scope(self) -> Scope:
        """The scope of the export."""
        return Scope(self.use_selection, self.use_active_collection, self.collection)

    def draw_include(self, layout: UILayout, context: Context, prefix: str) -> None:
        """Draws the panel *Include*, but not for a collection exporter, which exports its collection."""
        if context.space_data is None or context.space_data.type != "FILE_BROWSER":
            return
        header, body = panel(layout, f"{prefix}_include")
        header.label(text="Include")
        if body:
            body.prop(self, "use_selection")
            body.prop(self, "use_active_collection")


class ExportVerify(Operator):
    """The option to compare an export with what Blender shows."""

    if TYPE_CHECKING:
        verify: str
    else:
        verify: EnumProperty(
            name="Verify",
            description="Compare the export with what Blender shows before writing it, and warn about differences",
            items=(
                (
                    Verify.SOME.value,
                    "Some Frames",
                    "Compare the first frame, the last frame and a few in between",
                ),
                (Verify.ALL.value, "All Frames", "Compare every frame"),
                (Verify.NONE.value, "Off", "Do not compare"),
            ),
            default=Verify.SOME.value,
        )

    def verification(self) -> Verify:
        """The frames to verify."""
        return Verify(self.verify)


def show_imported(context: Context, result: ImportResult) -> None:
    """Frames new objects in the 3D viewports, and ends the summary with how to see their textures and bones."""
    if result.objects:
        state.show_selected(context)
        result.report.hints += state.viewing_hints(state.viewports(context), result.objects)


def chosen_path(context: Context, operator: Any) -> Path:
    """The file that an export would write: that of the file browser, else of the operator, else beside the .blend."""
    path = Path(bpy.path.abspath(operator.filepath or "//untitled"))
    params = getattr(context.space_data, "params", None)
    folder = os.fsdecode(getattr(params, "directory", "") or str(path.parent))
    name = getattr(params, "filename", "") or path.name
    return Path(bpy.path.ensure_ext(str(Path(folder) / name), operator.filename_ext))


def draw_textures(layout: UILayout, operator: bpy.types.Operator, prefix: str) -> None:
    """Draws the panel *Materials* with the option to import textures."""
    header, body = panel(layout, f"{prefix}_materials")
    header.label(text="Materials")
    if body:
        body.prop(operator, "use_textures")


def draw_wide(layout: UILayout, operator: bpy.types.Operator, name: str) -> None:
    """Draws an option whose label is too long for a column of its own: over the whole width."""
    row = layout.row()
    row.use_property_split = False
    row.prop(operator, name)


def panel_layout(operator: bpy.types.Operator) -> UILayout:
    """An operator's layout, set up as in Blender's own importers and exporters."""
    layout: Any = operator.layout
    layout.use_property_split = True
    layout.use_property_decorate = False
    documentation.draw_button(layout, documentation.page_of(operator.bl_idname))
    return layout


def run(operator: Any, verb: str, bad_data: type[Exception], job: Callable[[], Outcome]) -> OperatorResult:
    """Runs the job of an operator and reports the result to the user.

    If the job fails, all its changes are undone. Exceptions that are not due to data, files or the user's choices are
    reported as internal errors. `verb` is "Imported" or "Exported". `bad_data` is the exception of the format's readers
    and writers.
    """
    started = time.perf_counter()
    try:
        with rollback.all_or_nothing(bpy.context):
            report, paths = job()
    except Exception as error:
        # Whatever is not expected is reported as an internal error, with its traceback.
        expected = (bad_data, NothingToExportError, NoFileError)
        for text in reports.report_of(error).warnings:
            reports.report_message(operator, "WARNING", text)
        reports.report_message(operator, "ERROR", message_for(error, expected, subject=_subject(operator)))
        return {"CANCELLED"}
    reports.report_result(operator, report, verb, reports.listing([path.name for path in paths], 2), started)
    return {"FINISHED"}


def _file_path(path: str) -> Path:
    """The path of a file, which need not exist. Raises NoFileError if the path is empty or that of a folder."""
    if os.path.basename(path) in ("", ".", "..") or os.path.isdir(path):
        raise NoFileError(f"{path}: this is a folder, select a file in it" if path else "no file selected")
    return Path(path)


def _subject(operator: Any) -> str:
    """The names of an operator's files, for messages."""
    selected = [file.name for file in getattr(operator, "files", ()) if file.name]
    path = getattr(operator, "filepath", "") or getattr(operator, "name", "")
    return reports.listing(selected, 2) or bpy.path.basename(path)
