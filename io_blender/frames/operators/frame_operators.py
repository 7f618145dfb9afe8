"""What the operators of all formats with frames of vertices share: the frames of an export, and their list."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
from bpy.types import Context, Event, Object, UILayout

from ....io_common.family import Family
from ....io_common.files import write_files
from ....io_common.texts import UnknownFieldError, counted
from ... import state
from ...clips.clip import animation_list
from ...operators import animation_list as animation_list_panel
from ...operators import file_operators, game_check, panel_parts, preferences, shared_options
from ...options import GAME, Scene, Settings, mixin_of, properties, values_of
from ...part import BlenderPart
from ...reports import ExportResult, ImportResult, Job, LocatedFinding, Report, finish, kept_on_failure, raise_errors
from ...scene.axes import Conversion
from ...scene.objects import NothingToExportError, Scope, find_meshes
from ...verification import Verify
from ..frame_names import sequence_names
from ..frame_plan import FrameOptions, owner_of_list
from ..models import Built, modeldef_of
from ..options import FrameProperties
from . import sequence_player


@dataclass(frozen=True)
class FrameFormat:
    """A format with frames of vertices, and what its operators and the command line import and export with."""

    family: Family
    import_options: type[Any]
    import_files: Callable[[Context, list[Path], Any], Job[ImportResult]]
    export_options: type[Any]
    build_model: Callable[[Context, Any, Report], Job[Built]]

    def load(self, context: Context, path: Path, settings: Settings, conversion: Conversion) -> ImportResult:
        options = self.import_options(
            # Only glTF holds the animations of a file separately.
            sequence_actions=settings.format == "glb",
            use_textures=settings.use_textures,
            game_folders=settings.game_folders,
            conversion=conversion,
        )
        return finish(self.import_files(context, [path], options))

    def save(self, context: Context, path: Path, settings: Settings, scene: Scene) -> ExportResult:
        options = self.export_options(
            frames=FrameOptions("SCENE" if scene.use_scene_range else "AUTO"),
            game=self.game(settings.game),
            verify=Verify(settings.verify),
            conversion=scene.conversion,
            game_folders=settings.game_folders,
            compares_speed=scene.compares_speed,
        )
        return finish(self.export_model(context, path, options))

    def export_model(self, context: Context, path: Path, options: Any) -> Job[ExportResult]:
        """Writes a file that was verified and checked; before that, it raises what `build_model` raises."""
        # Raises OSError if the file cannot be written; it is as it was.
        report = Report()
        with kept_on_failure(report):
            with state.temporary_object_mode(context):
                built = yield from self.build_model(context, replace(options, path=path), report)
            raise_errors(built.findings, self.family.error, path.name, report)
            files = {path: built.to_bytes()}
            files |= {path.with_name(path.name + ending): data for ending, data in built.beside.items()}
            if options.write_modeldef and options.game.value == "GZDOOM":
                files |= modeldef_of(built, path, options, context.scene, report)
            write_files(files)
        return ExportResult(list(files), report)

    def game(self, identifier: str) -> Any:
        """The game with an identifier; the first one for that of another family."""
        games = list(self.family.games)
        return next((game for game in games if game.value == identifier), games[0])

    def blender_part(
        self,
        importer: Any,
        exporter: Any,
        options: type,
        player: sequence_player.SequencePlayer,
        classes: tuple[type, ...],
        added: tuple[Any, ...],
    ) -> BlenderPart:
        """What is registered, with the player, and the check for a game, which has the `options` of the exporter."""
        name = self.family.name
        problems = f"List the problems that a game would have with the visible meshes as an {name.upper()} model"
        check = panel_parts.operator_of("object", name, "check_game", "Check for Game", problems, options, FrameCheck)
        return BlenderPart(
            importer,
            (exporter,),
            self.load,
            self.save,
            classes=(check, *sequence_player.classes_of(player), *classes),
            properties=(*sequence_player.properties_of(player), *added),
            check=check,
            has_animations=player.has_sequences,
            draw_animations=player.draw,
        )


@properties
class FrameImport(file_operators.ImportFiles):
    """An import operator, without its identifiers."""

    bl_options = {"REGISTER", "UNDO", "PRESET"}
    format: FrameFormat
    # Those of the format in the panel *Model*.
    model_options: tuple[str, ...] = ("merge_vertices", "custom_normals")
    animation: str
    use_scene_timing: bool

    def load(self, context: Context, paths: list[Path]) -> Job[ImportResult]:
        options = self.format.import_options(
            **values_of(self, self.format.import_options),
            game_folders=tuple(preferences.game_folders()),
            conversion=self.conversion(),
        )
        return self.format.import_files(context, paths, options)

    def draw(self, context: Context) -> None:
        layout = panel_parts.panel_layout(self)
        draw_panel, prefix = panel_parts.draw_panel, f"IO_{self.format.family.name.upper()}_import"
        layout.prop(self, "animation")
        self.draw_transform(layout, prefix)
        draw_panel(layout, f"{prefix}_model", "Model", self, *self.model_options)
        draw_panel(layout, f"{prefix}_materials", "Materials", self, "use_textures")
        body = draw_panel(layout, f"{prefix}_animation", "Animation", self)
        if body:
            column = body.column()
            column.active = self.animation != "NONE"
            panel_parts.draw_options(column, self, "sequence_actions", "frame_start")
            panel_parts.draw_wide(column, self, "use_scene_timing")
            row = column.row()
            row.active = self.use_scene_timing
            row.prop(self, "fps")


def _list_when_chosen(operator: Any, context: Context) -> None:
    """Lists the animations when the user chooses to select them; scripts have no panel that shows them."""
    if operator.frames == "LIST" and context.space_data is not None:
        objects = exported_meshes(context, operator)
        animation_list_panel.update(owner_of_list(objects) if objects else None, context.scene)


def exported_meshes(context: Context, operator: Any) -> list[Object]:
    """The meshes that an export operator would export; `operator` may also be the operator's properties."""
    try:
        return find_meshes(context, animation_list_panel.scope_of_panel(context, operator))[0]
    except NothingToExportError:
        return []


if TYPE_CHECKING:
    _Frames = FrameProperties
else:
    _Frames = mixin_of(FrameProperties, frames={"update": _list_when_chosen})


@properties
class FrameExport(_Frames, shared_options.ModelExport):
    """The options of an export of frames, and of the check of what it would write."""

    format: FrameFormat
    write_modeldef: bool

    def export_options(self, context: Context) -> Any:
        return self.format.export_options(
            **values_of(self, self.format.export_options),
            **self.shared_options(),
            frames=self.frame_options(context),
            game=self.format.game(self.game_or_default()),
        )

    def converted_objects(self, context: Context) -> list[Object]:
        return exported_meshes(context, self)

    def frame_options(self, context: Context) -> FrameOptions:
        rate = self.format.family.frame_rate(self.game_or_default()) if self.frame_rate_from == GAME else 0.0
        return FrameOptions(self.frames, self.frame_step, self._frame_range(context), rate or 0.0)

    def _frame_range(self, context: Context) -> tuple[int, int] | None:
        """The custom range, with the scene's start or end for what a script has not set; None for the scene's range."""
        has_start, has_end = (self.properties.is_property_set(name) for name in ("frame_start", "frame_end"))
        if self.use_frame_range:
            return self.frame_start, self.frame_end
        if self.properties.is_property_set("use_frame_range") or not (has_start or has_end):
            return None
        scene = context.scene
        return (self.frame_start if has_start else scene.frame_start, self.frame_end if has_end else scene.frame_end)


@properties
class FrameExportFile(FrameExport, file_operators.ExportFile):
    """An export operator, without its identifiers."""

    bl_options = {"REGISTER", "PRESET"}
    verify: str

    def save(self, context: Context, path: Path) -> Job[ExportResult]:
        return self.format.export_model(context, path, self.export_options(context))

    def default_name(self, context: Context) -> str:
        """The name of the imported model that is active or alone, else of the active object."""
        active = find_meshes(context, Scope())[1] or context.view_layer.objects.active
        return active.name if active is not None else ""

    def invoke(self, context: Context, event: Event) -> panel_parts.OperatorResult:
        # A list that was shown before is brought up to date.
        _list_when_chosen(self, context)
        return super().invoke(context, event)

    def draw(self, context: Context) -> None:
        draw_panel, prefix = panel_parts.draw_panel, f"IO_{self.family.upper()}_export"
        layout = panel_parts.panel_layout(self)
        self.draw_game(layout, context)
        game_check.draw_for_export(layout, context, self, f"object.{self.family}_check_game")
        layout.prop(self, "frames")
        if self.frames == "LIST":
            self._draw_list(layout, context)
        layout.prop(self, "verify")
        self.draw_include(layout, context, prefix)
        self.draw_transform(layout, prefix)
        body = draw_panel(layout, f"{prefix}_frames", "Frames", self, "frame_step", "frame_rate_from")
        if body:
            if self.frames != "LIST":
                column = body.column()
                column.active = self.frames != "SHAPE_KEYS"
                limits = ("frame_start", "frame_end") if self.use_frame_range else ()
                panel_parts.draw_options(column, self, "use_frame_range", *limits)
            self.draw_frames(body)
        body = draw_panel(layout, f"{prefix}_model", "Model", self, "apply_modifiers")
        if body:
            self.draw_model(body)
        if self.game_or_default() == "GZDOOM":
            names = ("modeldef_actor", "modeldef_sprite", "modeldef_held") if self.write_modeldef else ()
            panel_parts.draw_options(layout, self, "write_modeldef", *names)

    def draw_frames(self, layout: UILayout) -> None:
        """Draws the other options in the panel *Frames*."""

    def draw_model(self, layout: UILayout) -> None:
        """Draws the other options in the panel *Model*."""

    def draw_template(self, layout: UILayout) -> None:
        """Draws what the sequences of the list have to be."""

    def problems_of(self, path: Path, chosen: list[tuple[str, int]]) -> tuple[str, list[str]]:
        """What is wrong with sequences of a file and their numbers of frames, and the heading of that."""
        return "", []

    def _draw_list(self, layout: UILayout, context: Context) -> None:
        objects = exported_meshes(context, self)
        if not objects:
            layout.label(text="There is no mesh to export", icon="INFO")
            return
        self.draw_template(layout)
        found = animation_list(owner_of_list(objects), context.scene)
        options = self.frame_options(context)
        frames = [len(options.of_clip(row.animation, found.scene)) for row in found.rows]
        try:
            names = sequence_names([found.name(row) for row in found.rows], Report())
            error = ""
        except UnknownFieldError as problem:
            names, error = [row.animation.name for row in found.rows], str(problem)
        shown = [animation_list_panel.Shown(count, None, name) for count, name in zip(frames, names, strict=True)]
        animation_list_panel.draw(layout, found, shown)
        chosen = [(name, count) for row, name, count in zip(found.rows, names, frames, strict=True) if row.is_checked]
        total = sum(count for _, count in chosen)
        layout.label(text=f"{counted(total, 'frames')} in {counted(len(chosen), 'sequences')}", icon="INFO")
        path = file_operators.chosen_path(context, self)
        if path.exists():
            layout.label(text=f"Replaces {path.name}", icon="FILE_REFRESH")
        animation_list_panel.draw_problems(layout, "", [error] if error else [])
        animation_list_panel.draw_problems(layout, *self.problems_of(path, chosen))


class FrameCheck(FrameExport, game_check.GameCheck, panel_parts.Operator):
    """The check of what an export would write, without its identifiers."""

    def find(self, context: Context) -> list[LocatedFinding]:
        path = Path(bpy.path.abspath(self.filepath)) if self.filepath else None
        options = replace(self.export_options(context), verify=Verify.NONE, path=path)
        # Warnings of the export itself are not findings of the game.
        with state.temporary_object_mode(context):
            built = finish(self.format.build_model(context, options, Report()))
        return [(finding, built.locate(finding)) for finding in built.findings]
