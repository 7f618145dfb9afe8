"""Mixins and helpers of the import and export operators: files, transform, scope, verification, reporting."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import CollectionProperty
from bpy_extras.io_utils import orientation_helper

from ...io_common.errors import message_for
from ...io_common.family import Family, family_of, family_of_file
from .. import reports, state, versions
from ..options import Settings, game_option, hidden, option, properties, property_of, scale_option
from ..reports import ExportResult, ImportResult
from ..scene import axes, names
from ..scene.objects import ChosenConversion, NothingToExportError, Scope, axes_of, export_conversion
from ..verification import Verify
from . import documentation, preferences, rollback
from .panel_parts import Operator, split_layout

if TYPE_CHECKING:
    from bpy.types import Context, Event, Object, UILayout

    from .panel_parts import OperatorResult

    class ExportHelper(Operator):
        """Chooses one file to write."""

        filename_ext: str

        def invoke(self, context: Context, event: Event) -> OperatorResult: ...

    class ImportHelper(Operator):
        """Chooses the files to read."""

        def invoke_popup(self, context: Context) -> OperatorResult: ...

else:
    from bpy_extras.io_utils import ExportHelper, ImportHelper


registered: list[Family] = []
"""The families whose operators are registered."""


class NoFileError(ValueError):
    """The user chose no file, or a path that is not a regular file."""


# The result of an operator's job: the report, and the files that were read or written.
Outcome = tuple[reports.Report, Iterable[Path]]

# A job of an operator that a user started is done in turns, between which the window is drawn and Esc is noticed.
_TURN = 0.1  # seconds
_FIRST_TURN = 0.5


class JobOperator(Operator):
    """An operator with a job that may take long: Esc ends it, and everything is as before."""

    verb: str  # what is done to the files: Imported or Exported
    bad_data: type[Exception]
    """The exception for what cannot be read, or what the game would refuse."""

    def job(self, context: Context) -> reports.Job[Outcome]:
        """The job with the options."""
        raise NotImplementedError

    def execute(self, context: Context) -> OperatorResult:
        self._started = time.perf_counter()
        self._job = rollback.all_or_nothing(context, self.job(context))
        # Only a user can press Esc.
        is_interactive = self.options.is_invoke and not self.options.is_repeat and not bpy.app.background
        result = self._work(context, self._started + _FIRST_TURN if is_interactive else math.inf)
        if result == {"RUNNING_MODAL"}:
            manager = context.window_manager
            self._timer = manager.event_timer_add(_TURN, window=context.window)
            manager.modal_handler_add(self)
        return result

    def modal(self, context: Context, event: Event) -> OperatorResult:
        result: OperatorResult = {"RUNNING_MODAL"}
        if event.type == "ESC":
            self._job.close()
            self.report({"INFO"}, f"{self.bl_label} was canceled: nothing has changed")
            result = {"CANCELLED"}
        elif event.type == "TIMER":
            result = self._work(context, time.perf_counter() + _TURN)
        if result != {"RUNNING_MODAL"}:
            context.window_manager.event_timer_remove(self._timer)
            context.workspace.status_text_set(None)
        return result

    def cancel(self, context: Context) -> None:
        """Blender closes, or opens another file."""
        del context
        if getattr(self, "_job", None) is not None:
            self._job.close()

    def _work(self, context: Context, until: float) -> OperatorResult:
        """Goes on with the job until a time; reports to the user once it ends."""
        try:
            if until == math.inf:
                report, paths = reports.finish(self._job)
            else:
                done = next(self._job)
                while time.perf_counter() < until:
                    done = next(self._job)
                words = f"{self.verb.removesuffix('ed')}ing {_subject(self)}: {done:.0%}   Esc: Cancel"
                context.workspace.status_text_set(words)
                return {"RUNNING_MODAL"}
        except StopIteration as end:
            report, paths = end.value
        except Exception as error:
            # Whatever is not expected is reported as an internal error, with its traceback.
            bad_data = (self.bad_data, *(family.error for family in registered))
            expected = (*bad_data, NothingToExportError, NoFileError)
            for text in reports.report_of(error).warnings:
                reports.report_message(self, "WARNING", text)
            reports.report_message(self, "ERROR", message_for(error, expected, subject=_subject(self)))
            return {"CANCELLED"}
        names = reports.listing([path.name for path in paths], 2)
        reports.report_result(self, report, self.verb, names, self._started)
        return {"FINISHED"}


def _add_axes(cls: type[Any]) -> type[Any]:
    # The stubs do not know that it returns a decorator.
    helper: Any = orientation_helper
    helper(axis_forward="Y", axis_up="Z")(cls)
    # Blender leaves the descriptions empty.
    for name, direction in (("axis_forward", "forward"), ("axis_up", "up")):
        cls.__annotations__[name].keywords["description"] = (
            f"Axis of the file that points {direction} in Blender. Change it if models face the wrong way"
        )
    return cls


@_add_axes
@properties
class Transform(Operator):
    """Scale and axes between the file and the scene."""

    axis_forward: str
    axis_up: str
    global_scale: float = scale_option("Scale", "Scale the model by this factor")
    shown_scale: float = hidden(0.0, name="Shown Scale", description="The default that the dialog shows as Scale")
    shown_axes: str = hidden("", name="Shown Axes", description="The default that the dialog shows as Forward and Up")

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
        """Draws the panel with scale and axes, as in Blender's own importers."""
        body = draw_panel(layout, f"{prefix}_transform", "Transform", self, "global_scale", "axis_forward", "axis_up")
        for text in self.other_defaults() if body else ():
            body.label(text=f"Unless changed: {text}", icon="INFO")

    def other_defaults(self) -> list[str]:
        """Defaults that the properties do not show: collection exporters and scripts run without `invoke`."""
        scale = self.scale()
        return [] if scale == self.global_scale else [f"{scale:g} (preferences)"]


@properties
class ImportFiles(JobOperator, Transform, ImportHelper):
    """An operator that imports one or several files."""

    verb = "Imported"

    filepath: str = option(
        "",
        "File Path",
        "The file to read",
        maxlen=1024,
        subtype="FILE_PATH",
        options={"HIDDEN", "SKIP_SAVE"} | versions.PATH_OPTIONS,
    )
    files: Any = CollectionProperty(type=bpy.types.OperatorFileListElement, options={"HIDDEN", "SKIP_SAVE"})
    directory: str = option("", subtype="DIR_PATH", options={"HIDDEN", "SKIP_SAVE"} | versions.PATH_OPTIONS)

    def load(self, context: Context, paths: list[Path]) -> reports.Job[ImportResult]:
        """Imports files with the options."""
        raise NotImplementedError

    def job(self, context: Context) -> reports.Job[Outcome]:
        paths = self.paths()
        # A file with a name of this family may be of another one.
        others = {
            path: family
            for path in paths
            if (named := family_of(registered, path.suffix)) is not None
            and isinstance(self, named.blender().importer)
            and (family := family_of_file(registered, path)) not in (named, None)
        }
        result = ImportResult()
        # Without any path, an operator has a folder to import from.
        if not others or len(others) < len(paths):
            result = yield from self.load(context, [path for path in paths if path not in others])
        for path, family in others.items():
            settings = Settings(game_folders=tuple(preferences.game_folders()))
            found = family.blender().load(context, path, settings, self.conversion())
            result.objects += found.objects
            result.report.merge(found.report)
            result.report.warn(f"was imported as {family.label}, which it is in spite of its name", path.name)
        show_imported(context, result)
        return result.report, paths

    def default_scale(self) -> float:
        """The scale of the preferences."""
        return preferences.default_scale()

    def invoke(self, context: Context, event: bpy.types.Event) -> OperatorResult:
        del event
        self.set_default_scale()
        return self.invoke_popup(context)

    def paths(self) -> list[Path]:
        """The files to import. Raises NoFileError if none was selected, or one is not a regular file."""
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
        """Scale, forward and up of an export that sets none."""
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


@properties
class ExportFile(JobOperator, ExportTransform, ExportHelper):
    """An operator that exports one file, and possibly others next to it."""

    verb = "Exported"

    filepath: str = option(
        "", "File Path", "The file to write", maxlen=1024, subtype="FILE_PATH", options=versions.PATH_OPTIONS
    )

    def save(self, context: Context, path: Path) -> reports.Job[ExportResult]:
        """Exports to a file with the options."""
        raise NotImplementedError

    def job(self, context: Context) -> reports.Job[Outcome]:
        result = yield from self.save(context, self.path())
        return result.report, result.paths

    def default_name(self, context: Context) -> str:
        """The name of the exported object or action, from which the file name is made."""
        raise NotImplementedError

    def invoke(self, context: Context, event: bpy.types.Event) -> OperatorResult:
        self.set_default_transform(context)
        if isinstance(self, GameChoice):
            self.set_default_game(context)
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


@properties
class ExportScope(Operator):
    """The options that limit an export to some of the objects."""

    use_selection: bool = option(
        False, "Selected Only", "Export only selected objects. If only an armature is selected, export all its meshes"
    )
    use_active_collection: bool = option(False, "Active Collection", "Export only objects in the active collection")
    collection: str = option(
        "", "Source Collection", "Export only objects in the collection with this name", options={"HIDDEN"}
    )

    def scope(self) -> Scope:
        """The scope of the export."""
        return Scope(self.use_selection, self.use_active_collection, self.collection)

    def draw_include(self, layout: UILayout, context: Context, prefix: str) -> None:
        """Draws the panel *Include*, but not for a collection exporter, which exports its collection."""
        if context.space_data is None or context.space_data.type != "FILE_BROWSER":
            return
        draw_panel(layout, f"{prefix}_include", "Include", self, "use_selection", "use_active_collection")


@properties
class ExportVerify(Operator):
    """The option to compare an export with what Blender shows."""

    verify: str = option(
        Verify.SOME.value,
        "Verify",
        "Compare the export with what Blender shows before writing it, and warn about differences",
        items=(
            (Verify.SOME.value, "Some Frames", "Compare the first frame, the last frame and a few in between"),
            (Verify.ALL.value, "All Frames", "Compare every frame"),
            (Verify.NONE.value, "Off", "Do not compare"),
        ),
    )

    def verification(self) -> Verify:
        """The frames to verify."""
        return Verify(self.verify)


ValuesOfGame = Callable[[Any, "Context"], dict[str, Any]]
"""A function that gives the values of options that the game of an operator, or of its properties, needs, by name."""


def game_mixin(profiles: Mapping[Any, Any], values_of_game: ValuesOfGame) -> type:
    """A mixin with the option *Game*, to be the first base: presets set the game before what it decides."""

    def fill_in(operator: Any, context: Context) -> None:
        # A script has no dialog that shows them.
        if context.space_data is not None:
            for name, value in values_of_game(operator, context).items():
                setattr(operator, name, value)

    declared: Any = game_option(profiles, update=fill_in)
    return type("Game", (), {"__annotations__": {"game": property_of(declared)}, "values_of_game": values_of_game})


class GameChoice(Operator):
    """The option to choose a game; each family declares `game` with its profiles."""

    family: str
    profiles: Mapping[Any, Any]
    game: str

    def values_of_game(self, context: Context) -> dict[str, Any]:
        """The values of options that the game needs, by name."""
        del context
        return {}

    def draw_game(self, layout: UILayout, context: Context) -> None:
        """Draws the game, and which options are not as it needs them."""
        layout.prop(self, "game")
        for name, value in self.values_of_game(context).items():
            declared = self.properties.bl_rna.properties[name]
            current = getattr(self, name)
            if current != value:
                words = (_word(declared, one) for one in (current, value))
                layout.label(text="{}: {} instead of {}".format(declared.name, *words), icon="INFO")

    def game_or_default(self) -> str:
        """The game that the user or a script has set, else that of the preferences."""
        is_set = self.properties.is_property_set("game")
        return str(self.game) if is_set else preferences.game(self.family)

    def profile(self) -> Any:
        """The profile of the game."""
        chosen = self.game_or_default()
        return next(profile for game, profile in self.profiles.items() if game.value == chosen)

    def set_default_game(self, context: Context) -> None:
        """Sets the game to that of the preferences, unless a script has set it, and the options that it decides."""
        is_set = self.properties.is_property_set
        set_before = {name: getattr(self, name) for name in self.values_of_game(context) if is_set(name)}
        self.game = self.game_or_default()
        for name, value in (self.values_of_game(context) | set_before).items():
            setattr(self, name, value)


class ModelExport(ExportTransform, ExportScope, ExportVerify, GameChoice):
    """The options of exports of models, and of checks of what these would write."""

    def shared_options(self) -> dict[str, Any]:
        """The values that exporters of all families take."""
        return {
            "scope": self.scope(),
            "conversion": self.conversion(),
            "verify": self.verification(),
            "game_folders": tuple(preferences.game_folders()),
        }


def show_imported(context: Context, result: ImportResult) -> None:
    """Frames new objects in the 3D viewports; the summary says how to see their textures and bones."""
    if result.objects:
        state.show_selected(context)
        result.report.hints += state.viewing_hints(state.viewports(context), result.objects)


def chosen_path(context: Context, operator: Any) -> Path:
    """The file that an export would write: of the file browser, the operator, or beside the .blend."""
    path = Path(bpy.path.abspath(operator.filepath or "//untitled"))
    params = getattr(context.space_data, "params", None)
    folder = os.fsdecode(getattr(params, "directory", "") or str(path.parent))
    name = getattr(params, "filename", "") or path.name
    return Path(bpy.path.ensure_ext(str(Path(folder) / name), operator.filename_ext))


def draw_panel(layout: Any, identifier: str, label: str, operator: bpy.types.Operator, *names: str) -> Any:
    """Draws a panel, closed at first, which Blender remembers by `identifier`; returns its body, None if closed."""
    header, body = layout.panel(identifier, default_closed=True)
    header.label(text=label)
    for name in names if body else ():
        body.prop(operator, name)
    return body


def _word(declared: Any, value: Any) -> str:
    """The value of a property as the interface shows it."""
    if declared.type == "ENUM":
        return str(declared.enum_items[value].name)
    return ("on" if value else "off") if declared.type == "BOOLEAN" else str(value)


def draw_wide(layout: UILayout, operator: bpy.types.Operator, name: str) -> None:
    """Draws an option whose label is too long for a column of its own: over the whole width."""
    row = layout.row()
    row.use_property_split = False
    row.prop(operator, name)


def panel_layout(operator: bpy.types.Operator) -> UILayout:
    """An operator's layout, set up as in Blender's own importers and exporters."""
    layout = split_layout(operator)
    documentation.draw_button(layout, documentation.page_of(operator.bl_idname))
    return layout


def _file_path(path: str) -> Path:
    """Raises NoFileError if the path is empty or that of a folder; the file need not exist."""
    if os.path.basename(path) in ("", ".", "..") or os.path.isdir(path):
        raise NoFileError(f"{path}: this is a folder, select a file in it" if path else "no file selected")
    return Path(path)


def _subject(operator: Any) -> str:
    """The names of an operator's files, for messages."""
    selected = [file.name for file in getattr(operator, "files", ()) if file.name]
    path = getattr(operator, "filepath", "") or getattr(operator, "name", "")
    return reports.listing(selected, 2) or bpy.path.basename(path)
