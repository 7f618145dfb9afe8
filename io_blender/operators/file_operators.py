"""What the import and export operators of files share: the chosen files, and the run."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import CollectionProperty
from bpy.types import Context, Event

from ...io_common import names
from ...io_common.family import family_of, family_of_file
from .. import reports, state, versions
from ..options import Settings, option, properties
from . import preferences
from .job_operator import JobOperator, NoFileError, Outcome
from .panel_parts import Operator, OperatorResult
from .shared_options import ExportTransform, GameChoice, ImportTransform

if TYPE_CHECKING:

    class ExportHelper(Operator):
        """Chooses one file to write."""

        filename_ext: str

        def invoke(self, context: Context, event: Event) -> OperatorResult: ...

    class ImportHelper(Operator):
        """Chooses the files to read."""

        def invoke_popup(self, context: Context) -> OperatorResult: ...

else:
    from bpy_extras.io_utils import ExportHelper, ImportHelper


@properties
class ImportFiles(JobOperator, ImportTransform, ImportHelper):
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

    def load(self, context: Context, paths: list[Path]) -> reports.Job[reports.ImportResult]:
        raise NotImplementedError

    def job(self, context: Context) -> reports.Job[Outcome]:
        paths = self.paths()
        # A file with a name of this family may be of another one.
        others = {
            path: family
            for path in paths
            if (named := family_of(preferences.registered, path.suffix)) is not None
            and isinstance(self, named.blender().importer)
            and (family := family_of_file(preferences.registered, path)) not in (named, None)
        }
        result = reports.ImportResult()
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

    def invoke(self, context: Context, event: bpy.types.Event) -> OperatorResult:
        self.set_default_scale()
        return self.invoke_popup(context)

    def paths(self) -> list[Path]:
        """The files to import. Raises NoFileError if none was selected, or one is not a regular file."""
        folder = Path(bpy.path.abspath(self.directory))
        paths = [folder / file.name for file in self.files if file.name]
        paths = paths or [_file_path(bpy.path.abspath(self.filepath))]
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


@properties
class ExportFile(JobOperator, ExportTransform, ExportHelper):
    """An operator that exports one file, and possibly others next to it."""

    verb = "Exported"

    filepath: str = option(
        "", "File Path", "The file to write", maxlen=1024, subtype="FILE_PATH", options=versions.PATH_OPTIONS
    )

    def save(self, context: Context, path: Path) -> reports.Job[reports.ExportResult]:
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


def show_imported(context: Context, result: reports.ImportResult) -> None:
    """Frames new objects in the 3D viewports; the summary says how to see their textures and bones."""
    if result.objects:
        state.show_selected(context)
        spaces = [area.spaces.active for _, area in state.viewport_areas(context)]
        result.report.hints += state.viewing_hints(spaces, result.objects)


def chosen_path(context: Context, operator: Any) -> Path:
    """The file that an export would write: of the file browser, the operator, or beside the .blend."""
    path = Path(bpy.path.abspath(operator.filepath or "//untitled"))
    params = getattr(context.space_data, "params", None)
    folder = os.fsdecode(getattr(params, "directory", "") or str(path.parent))
    name = getattr(params, "filename", "") or path.name
    return Path(bpy.path.ensure_ext(str(Path(folder) / name), operator.filename_ext))


def _file_path(path: str) -> Path:
    """Raises NoFileError if the path is empty or that of a folder; the file need not exist."""
    if os.path.basename(path) in ("", ".", "..") or os.path.isdir(path):
        raise NoFileError(f"{path}: this is a folder, select a file in it" if path else "no file selected")
    return Path(path)
