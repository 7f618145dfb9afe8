"""The IQM family in Blender: operators, and the imports and exports of the command line."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy

from ...io_blender.operators import shared_options
from ...io_blender.options import Scene, Settings, mixin_of, option, properties
from ...io_blender.part import BlenderPart
from ...io_blender.reports import ExportResult, Job, LocatedFinding, finish
from ...io_blender.skeletal import options as skeletal
from ...io_blender.skeletal.exporting.clips import Clip
from ...io_blender.skeletal.operators import export_models
from ...io_blender.skeletal.operators.import_models import ImportModels, loader
from ...io_common.rules import game_named
from ...io_common.texts import counted
from ..exporting import WRITING, ExportOptions, ModelOptions, export_model, find
from ..format import PROFILES, Game
from ..format.files import FORMAT, SUFFIX
from ..importing import import_files
from ..options import IN_MODEL, SEPARATE, ExportProperties


def values_of_game(operator: Any, context: Context) -> dict[str, Any]:
    """The values of options that the game of an export, or of its properties, needs, by name."""
    values = export_models.values_for(WRITING, operator, context)
    return values | {"animation_files": _files_of(Game(operator.game))}


def _files_of(game: Game) -> str:
    return SEPARATE if game is Game.SAUERBRATEN else IN_MODEL


if TYPE_CHECKING:
    from bpy.types import Context, UILayout

    class _Game:
        """The option to choose a game."""

    _ImportOptions = skeletal.ImportProperties
    _Options = ExportProperties
else:
    _ImportOptions, _Options = mixin_of(skeletal.ImportProperties), mixin_of(ExportProperties)
    _Game = shared_options.game_mixin(PROFILES, values_of_game)


@properties
class IMPORT_SCENE_OT_iqm(_ImportOptions, ImportModels, bpy.types.Operator):
    """Import IQM models and animations (GZDoom, ioquake3, Unvanquished, Xonotic, Sauerbraten and relatives)"""

    bl_idname = "import_scene.iqm"
    bl_label = "Import IQM"

    filename_ext, format, panels = SUFFIX, FORMAT, "IO_IQM_import"
    options_type, import_files = skeletal.ImportOptions, staticmethod(import_files)
    filter_glob: str = option("*.iqm", options={"HIDDEN"})


@properties
class BuildOptions(_Game, _Options, export_models.SkeletalOptions):
    """The properties that decide what is exported, and the options made from them."""

    family, profiles = "iqm", PROFILES

    def writing(self) -> Any:
        return WRITING

    def export_options(self) -> ExportOptions:
        """The options of the export."""
        model = ModelOptions(**self.model_values(), game=Game(self.game_or_default()))
        return ExportOptions(model, self.actions, self.animation_options(), self.animation_files)


@properties
class EXPORT_SCENE_OT_iqm(BuildOptions, export_models.SkeletalExport, bpy.types.Operator):
    """Export an armature and its meshes as an IQM model with animations"""

    bl_idname = "export_scene.iqm"
    bl_label = "Export IQM"

    filename_ext, panels, check_operator = SUFFIX, "IO_IQM_export", "object.iqm_check_game"
    filter_glob: str = option("*.iqm", options={"HIDDEN"})
    actions: str = export_models.actions_option("ALL", "Animations to export with the mesh", "Export only the mesh")

    def suffix_of_animations(self) -> str:
        return SUFFIX if self.animation_files == SEPARATE else ""

    def export(self, context: Context, path: Path) -> Job[ExportResult]:
        return export_model(context, path, self.export_options())

    def draw_chosen(self, layout: UILayout, context: Context, clips: dict[Path, Clip]) -> None:
        if self.animation_files == SEPARATE:
            export_models.SkeletalExport.draw_chosen(self, layout, context, clips)
        else:
            layout.label(text=f"{counted(len(clips), 'animations')} in the file", icon="INFO")

    def draw_actions(self, layout: UILayout, context: Context) -> None:
        if self.actions != "NONE":
            layout.prop(self, "animation_files")
        export_models.SkeletalExport.draw_actions(self, layout, context)


@properties
class OBJECT_OT_iqm_check_game(BuildOptions, export_models.SkeletalCheck, bpy.types.Operator):
    """List the problems that a game would have with the active armature, its meshes and its actions"""

    bl_idname = "object.iqm_check_game"
    bl_label = "Check for Game (IQM)"

    actions: str = export_models.actions_option("ALL", "Animations to check", "Check no animations")

    def find(self, context: Context) -> list[LocatedFinding]:
        return find(context, self.export_options())


def save(context: Context, path: Path, settings: Settings, scene: Scene) -> ExportResult:
    """Exports a model; raises IqmError if the game refuses it, NothingToExportError or OSError."""
    game = game_named(Game, settings.game)
    model = ModelOptions(**export_models.values_of_settings(settings, scene), game=game)
    animations = export_models.animations_of_settings(context, settings, scene)
    return finish(export_model(context, path, ExportOptions(model, *animations, _files_of(game))))


BLENDER = BlenderPart(
    importer=IMPORT_SCENE_OT_iqm,
    exporters=(EXPORT_SCENE_OT_iqm,),
    load=loader(import_files, skeletal.ImportOptions),
    save=save,
    classes=(OBJECT_OT_iqm_check_game,),
    check=OBJECT_OT_iqm_check_game,
)
