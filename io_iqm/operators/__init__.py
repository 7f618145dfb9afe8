"""The IQM family in Blender: operators, and the imports and exports of the command line."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import CollectionProperty

from ...io_blender.findings import LocatedFinding
from ...io_blender.operators import game_check, panel_parts, shared_options
from ...io_blender.options import NO_ANIMATIONS, Scene, Settings, hidden, mixin_of, option, properties, values_of
from ...io_blender.part import BlenderPart
from ...io_blender.reports import ExportResult, ImportResult, Job, finish
from ...io_blender.scene.axes import Conversion
from ...io_blender.skeletal.exporting.clips import AnimationOptions, Clip
from ...io_blender.skeletal.operators.export_models import (
    SkeletalExport,
    SkeletalOptions,
    armature_of,
    list_when_chosen,
    values_for,
)
from ...io_blender.skeletal.operators.import_models import ImportModels, IO_MD5_PG_animation_file, shown_items
from ...io_blender.skeletal.options import (
    ACTIONS,
    ALWAYS,
    AUTOMATIC,
    AnimationProperties,
    ClipProperties,
    ImportOptions,
    ImportProperties,
    ModelProperties,
    WeightOptions,
)
from ...io_blender.verification import Verify
from ...io_common.texts import counted
from ..exporting import ExportOptions, ModelOptions, export_model, find
from ..format import PROFILES, Game
from ..format.files import FORMAT, SUFFIX
from ..format.games import game_named
from ..importing import import_files
from ..options import IN_MODEL, SEPARATE, FileProperties

if TYPE_CHECKING:
    from bpy.types import Context, UILayout

    _ImportOptions = ImportProperties

    class _Options(ModelProperties, WeightOptions, AnimationProperties, ClipProperties, FileProperties):
        """The options of an export."""

    class _Game:
        """The option to choose a game."""


def values_of_game(operator: Any, context: Context) -> dict[str, Any]:
    """The values of options that the game of an export, or of its properties, needs, by name."""
    values = values_for(ModelOptions().writing, operator, context)
    return values | {"animation_files": SEPARATE if operator.game == Game.SAUERBRATEN.value else IN_MODEL}


if not TYPE_CHECKING:
    _ImportOptions = mixin_of(ImportProperties)
    _Options = mixin_of(ModelProperties, WeightOptions, AnimationProperties, ClipProperties, FileProperties)
    _Game = shared_options.game_mixin(PROFILES, values_of_game)


@properties
class IMPORT_SCENE_OT_iqm(_ImportOptions, ImportModels, bpy.types.Operator):
    """Import IQM models and animations (GZDoom, ioquake3, Unvanquished, Xonotic, Sauerbraten and relatives)"""

    bl_idname = "import_scene.iqm"
    bl_label = "Import IQM"

    filename_ext, format, panels = SUFFIX, FORMAT, "IO_IQM_import"
    filter_glob: str = option("*.iqm", options={"HIDDEN"})
    animation_list: Any = CollectionProperty(type=IO_MD5_PG_animation_file, options={"HIDDEN", "SKIP_SAVE"})
    active_animation: int = hidden(0)
    check_animations: set[str] = panel_parts.check_boxes_option("check_animations", shown_items)
    listed_for: str = hidden("")

    def load(self, context: Context, paths: list[Path]) -> Job[ImportResult]:
        values = values_of(self, ImportProperties) | self.import_options()
        return import_files(context, paths, ImportOptions(**values))


@properties
class BuildOptions(_Game, _Options, SkeletalOptions):
    """The properties that decide what is exported, and the options made from them."""

    family, profiles = "iqm", PROFILES

    def writing(self) -> Any:
        return ModelOptions().writing

    def export_options(self) -> ExportOptions:
        """The options of the export."""
        model = ModelOptions(**self.model_values(), game=Game(self.game_or_default()))
        return ExportOptions(model, self.actions, self.animation_options(), self.animation_files)


def _actions(description: str, default: str, none: str) -> Any:
    items = (("NONE", "None", none), *ACTIONS)
    return option(default, "Actions", description, items=items, update=list_when_chosen)


@properties
class EXPORT_SCENE_OT_iqm(BuildOptions, SkeletalExport, bpy.types.Operator):
    """Export an armature and its meshes as an IQM model with animations"""

    bl_idname = "export_scene.iqm"
    bl_label = "Export IQM"

    filename_ext, panels, check_operator = SUFFIX, "IO_IQM_export", "object.iqm_check_game"
    filter_glob: str = option("*.iqm", options={"HIDDEN"})
    actions: str = _actions("Animations to export with the mesh", "ALL", "Export only the mesh")

    @property
    def animation_suffix(self) -> str:
        """Of the files of animations; empty if there are none."""
        return SUFFIX if self.animation_files == SEPARATE else ""

    def default_name(self, context: Context) -> str:
        """The name of the armature."""
        armature = armature_of(context)
        return armature.name if armature is not None else ""

    def export(self, context: Context, path: Path) -> Job[ExportResult]:
        return export_model(context, path, self.export_options())

    def draw_chosen(self, layout: UILayout, context: Context, clips: dict[Path, Clip]) -> None:
        if self.animation_files == SEPARATE:
            SkeletalExport.draw_chosen(self, layout, context, clips)
        else:
            layout.label(text=f"{counted(len(clips), 'animations')} in the file", icon="INFO")

    def draw_actions(self, layout: UILayout, context: Context) -> None:
        if self.actions != "NONE":
            layout.prop(self, "animation_files")
        SkeletalExport.draw_actions(self, layout, context)


@properties
class OBJECT_OT_iqm_check_game(BuildOptions, game_check.GameCheck, bpy.types.Operator):
    """List the problems that a game would have with the active armature, its meshes and its actions"""

    bl_idname = "object.iqm_check_game"
    bl_label = "Check for Game (IQM)"
    bl_options = {"REGISTER", "UNDO"}

    actions: str = _actions("Animations to check", "ALL", "Check no animations")
    has_mesh: bool = hidden(True, name="Mesh", description="Check the mesh too, not only animations")

    def draw(self, context: Context) -> None:
        # The other options are those of an export.
        self.layout.prop(self, "game")

    def find(self, context: Context) -> list[LocatedFinding]:
        return find(context, self.export_options())


def load(context: Context, path: Path, settings: Settings, conversion: Conversion) -> ImportResult:
    """Imports a file; raises what `import_files` raises."""
    folder = settings.animation_folder(path)
    options = ImportOptions(
        animations="NONE" if folder is None else "FOLDER",
        animation_folder=folder,
        use_textures=settings.use_textures,
        game_folders=settings.game_folders,
        joint_map=settings.joint_map,
        conversion=conversion,
    )
    return finish(import_files(context, [path], options))


def save(context: Context, path: Path, settings: Settings, scene: Scene) -> ExportResult:
    """Exports a model; raises IqmError if the game refuses it, NothingToExportError or OSError."""
    game = game_named(settings.game)
    model = ModelOptions(
        conversion=scene.conversion,
        game=game,
        verify=Verify(settings.verify),
        game_folders=settings.game_folders,
        deform_only=settings.deform_only,
        add_origin=ALWAYS if settings.add_origin else AUTOMATIC,
        weights=WeightOptions(settings.max_influences),
    )
    # A command line shows no active object: several armatures are an error.
    context.view_layer.objects.active = None
    actions = "NONE" if settings.animations == NO_ANIMATIONS else "ALL"
    files = SEPARATE if game is Game.SAUERBRATEN else IN_MODEL
    animation = AnimationOptions(compares_speed=scene.compares_speed)
    return finish(export_model(context, path, ExportOptions(model, actions, animation, files)))


BLENDER = BlenderPart(
    importer=IMPORT_SCENE_OT_iqm,
    exporters=(EXPORT_SCENE_OT_iqm,),
    load=load,
    save=save,
    classes=(OBJECT_OT_iqm_check_game,),
    check=OBJECT_OT_iqm_check_game,
)
