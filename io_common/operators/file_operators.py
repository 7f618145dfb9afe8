"""What the operators that read and write files have in common: files, scale and axes, scope, and how a run ends."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import BoolProperty, CollectionProperty, EnumProperty, FloatProperty, StringProperty
from bpy_extras.io_utils import ExportHelper, ImportHelper, orientation_helper

from .. import error_messages, reports
from ..scene import axes, names, versions
from ..scene.objects import NothingToExportError, Scope
from ..verification import Verify
from . import game_option, preferences, rollback

if TYPE_CHECKING:
    from bpy.types import Context, UILayout


if TYPE_CHECKING:
    _Operator = bpy.types.Operator
else:
    # Blender's classes cannot be the base of what is no class of Blender.
    _Operator = object


class NoFileError(ValueError):
    """What the user chose is no file."""


# What a run gives: what is to be told, and the files that it was about.
Outcome = tuple[reports.Report, Iterable[Path]]


@orientation_helper(axis_forward="Y", axis_up="Z")
class Transform(_Operator):
    """Scale and axes between the file and the scene."""

    if TYPE_CHECKING:
        global_scale: float
        scale_of_preferences: float
    else:
        global_scale: FloatProperty(
            name="Scale",
            description="Factor of all lengths",
            default=1.0,
            min=1e-6,
            max=1e6,
            soft_min=0.001,
            soft_max=1000.0,
        )
        scale_of_preferences: FloatProperty(options={"HIDDEN", "SKIP_SAVE"})

    def default_scale(self) -> float:
        """The scale of the add-on's preferences, in the direction of this operator."""
        raise NotImplementedError

    def offer_default_scale(self) -> None:
        """Shows the scale of the preferences, to be changed by the user."""
        self.scale_of_preferences = self.default_scale()
        if not self.properties.is_property_set("global_scale"):
            self.global_scale = self.scale_of_preferences

    def has_own_scale(self) -> bool:
        """Whether the user, or a script, gave a scale, rather than leaving it to the preferences."""
        given = self.properties.is_property_set("global_scale")
        return given and self.global_scale != self.scale_of_preferences

    def scale(self) -> float:
        """The scale that counts: the one that was given, else that of the preferences."""
        given = self.properties.is_property_set("global_scale")
        return self.global_scale if given else self.default_scale()

    def draw_transform(self, layout: UILayout, prefix: str) -> None:
        """The panel of scale and axes, as in Blender's own importers.

        Args:
            layout: where to draw.
            prefix: makes the panel's name one of its own, so that it remembers whether it is open.
        """
        header, body = layout.panel(f"{prefix}_transform")
        header.label(text="Transform")
        if not body:
            return
        body.prop(self, "global_scale")
        if self.scale() != self.global_scale:  # type: ignore[comparison-overlap]
            # A collection's exporter is not asked before it runs.
            body.label(text=f"Left alone, it is {self.scale():g}: see the preferences", icon="INFO")
        body.prop(self, "axis_forward")
        body.prop(self, "axis_up")


class ImportFiles(Transform, ImportHelper):
    """An operator that reads one file, or several at once."""

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

    def invoke(self, context: Context, event: bpy.types.Event) -> set[str]:
        """Asks in the file browser, or, for files that were dropped, only for the options."""
        del event
        self.offer_default_scale()
        return self.invoke_popup(context)  # type: ignore[return-value] # the stubs lack what it returns

    def paths(self) -> list[Path]:
        """The files that were chosen.

        Raises:
            NoFileError: there is none.
        """
        chosen = [file.name for file in self.files if file.name]
        if chosen:
            paths = [Path(bpy.path.abspath(self.directory)) / name for name in chosen]
        else:
            paths = [_file(bpy.path.abspath(self.filepath))]
        for path in paths:
            if path.exists() and not path.is_file():
                # To read from a pipe or a device may be without end.
                raise NoFileError(f"{path}: this is no file")
        return paths

    def conversion(self) -> axes.Conversion:
        """From the coordinates of the file into those of the scene."""
        return axes.importing(self.scale(), self.axis_forward, self.axis_up)


class ExportFile(Transform, ExportHelper):
    """An operator that writes a file, and possibly others beside it."""

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

    def default_scale(self) -> float:
        """What takes back the scale of the preferences."""
        return 1.0 / preferences.default_scale()

    def default_game(self) -> str | None:
        """The game of the preferences; None for files that all games read alike."""
        return None

    def default_name(self, context: Context) -> str:
        """What the file is named after: the object, or the action, that is to be exported."""
        raise NotImplementedError

    def invoke(self, context: Context, event: bpy.types.Event) -> set[str]:
        """Asks in the file browser, with a name that fits."""
        self.offer_default_scale()
        default_game = self.default_game()
        if default_game is not None:
            game_option.offer(self, default_game)
        if not self.filepath:
            folder = Path(bpy.path.abspath("//")) if bpy.data.filepath else Path()
            name = names.for_files(self.default_name(context), "untitled")
            self.filepath = str(folder / f"{name}{self.filename_ext}")
        return super().invoke(context, event)  # type: ignore[return-value] # the stubs lack what it returns

    def path(self) -> Path:
        """The file that was chosen, with the format's ending.

        Raises:
            NoFileError: there is none.
        """
        path = _file(bpy.path.abspath(self.filepath))
        return Path(bpy.path.ensure_ext(str(path), self.filename_ext))

    def conversion(self) -> axes.Conversion:
        """From the coordinates of the scene into those of the file."""
        return axes.exporting(self.scale(), self.axis_forward, self.axis_up)


class ExportScope(_Operator):
    """Which objects an export is about."""

    if TYPE_CHECKING:
        use_selection: bool
        use_active_collection: bool
        collection: str
    else:
        use_selection: BoolProperty(
            name="Selected Only",
            description="Export the selected objects. With an armature alone selected, all its meshes are meant",
            default=False,
        )
        use_active_collection: BoolProperty(
            name="Active Collection",
            description="Export only what is in the active collection",
            default=False,
        )
        collection: StringProperty(
            name="Source Collection",
            description="Export only what is in the collection of this name",
            default="",
            options={"HIDDEN"},
        )

    def scope(self) -> Scope:
        """The objects that were asked for."""
        return Scope(self.use_selection, self.use_active_collection, self.collection)

    def draw_include(self, layout: UILayout, context: Context, prefix: str) -> None:
        """The panel of what is exported; a collection's own exporter has no choice."""
        if context.space_data is None or context.space_data.type != "FILE_BROWSER":
            return
        header, body = layout.panel(f"{prefix}_include")
        header.label(text="Include")
        if body:
            body.prop(self, "use_selection")
            body.prop(self, "use_active_collection")


class ExportVerify(_Operator):
    """Whether an export is compared with what Blender shows before it is written."""

    if TYPE_CHECKING:
        verify: str
    else:
        verify: EnumProperty(
            name="Verify",
            description="Compare the export with what Blender shows before it is written, and warn about differences",
            items=(
                (Verify.SOME.value, "Some Frames", "Compare the first frame, the last and a few between"),
                (Verify.ALL.value, "All Frames", "Compare every frame"),
                (Verify.NONE.value, "Off", "Do not compare"),
            ),
            default=Verify.SOME.value,
        )

    def verification(self) -> Verify:
        """The frames to verify."""
        return Verify(self.verify)


def draw_textures(layout: UILayout, operator: Any, prefix: str) -> None:
    """The panel of the materials: whether they get their images."""
    header, body = layout.panel(f"{prefix}_materials")
    header.label(text="Materials")
    if body:
        body.prop(operator, "use_textures")


def begin(operator: Any) -> UILayout:
    """The layout of an operator's panels, as Blender's own file browsers have it."""
    layout = operator.layout
    layout.use_property_split = True
    layout.use_property_decorate = False
    return layout


def run(operator: Any, verb: str, bad_data: type[Exception], job: Callable[[], Outcome]) -> set[str]:
    """Does the job of an operator and tells the user how it went.

    A job that fails has changed nothing. What it raises that is no fault of data, files or the user's choice is told
    as a fault of the program.

    Args:
        operator: whose job it is.
        verb: "Imported" or "Exported".
        bad_data: the format's exception.
        job: does it; returns what is to be told, and the files.
    """
    started = time.perf_counter()
    try:
        with rollback.all_or_nothing(bpy.context):
            report, paths = job()
    except (bad_data, NothingToExportError, NoFileError) as error:
        reports.tell(operator, "ERROR", str(error))
        return {"CANCELLED"}
    except OSError as error:
        reports.tell(operator, "ERROR", error_messages.of_file(error))
        return {"CANCELLED"}
    except MemoryError:
        reports.tell(operator, "ERROR", f"{_subject(operator)}: there is not enough memory for this")
        return {"CANCELLED"}
    except Exception as error:
        # Whatever is left is a mistake of the program. It is told, with its traceback, and nothing of it stays.
        error_messages.tell_own(operator, _subject(operator), error)
        return {"CANCELLED"}
    reports.deliver(operator, report, verb, reports.listing([path.name for path in paths], 2), started)
    return {"FINISHED"}


def _file(path: str) -> Path:
    """A path that names a file, which need not be there.

    Raises:
        NoFileError: it names none.
    """
    if os.path.basename(path) in ("", ".", "..") or os.path.isdir(path):
        raise NoFileError(f"{path}: this is a folder, choose a file in it" if path else "no file was chosen")
    return Path(path)


def _subject(operator: Any) -> str:
    """The file, or files, that an operator is about."""
    chosen = [file.name for file in getattr(operator, "files", ()) if file.name]
    return reports.listing(chosen, 2) or bpy.path.basename(operator.filepath)
