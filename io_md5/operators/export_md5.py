"""File > Export > id Tech 4 MD5: meshes, animations and cameras; and Check for Game."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy

from ...io_blender.operators import animation_list as animation_list_panel
from ...io_blender.operators import file_operators, panel_parts, shared_options
from ...io_blender.options import SCENE, frame_rate_option, game_option, mixin_of, option, properties, values_of
from ...io_blender.reports import ExportResult, Job, LocatedFinding
from ...io_blender.skeletal.exporting.clips import Clip
from ...io_blender.skeletal.operators import export_models
from ...io_blender.skeletal.options import AnimationProperties, WeightOptions
from ...io_blender.skeletal.records import load_action
from ...io_common.texts import counted
from ..exporting import export_animations, export_mesh
from ..exporting.camera import CameraExportOptions, export_camera, exported_cameras
from ..exporting.game import ExportOptions, ModelOptions, find, match_clips
from ..format.companions import find_companion
from ..format.games.profiles import PROFILES, Game
from ..format.model import ANIMATION_SUFFIX
from ..options import CameraProperties, ClipProperties, ModelProperties


def values_of_game(operator: Any, context: Context) -> dict[str, Any]:
    """The values of options that the game of an export, or of its properties, needs, by name."""
    writing = PROFILES[Game(operator.game)].writing
    values = export_models.values_for(writing, operator, context)
    return values | {"make_names_safe": True} | ({"actions": "ALL"} if writing.needs_animation else {})


if TYPE_CHECKING:
    from bpy.types import Context, Object, UILayout

    class _Options(ModelProperties, WeightOptions, AnimationProperties, ClipProperties):
        """The options of exports of meshes and animations."""

    class _Game:
        """The option to choose a game."""

    _CameraOptions = CameraProperties
else:
    _Options = mixin_of(ModelProperties, WeightOptions, AnimationProperties, ClipProperties)
    _Game = shared_options.game_mixin(PROFILES, values_of_game)
    _CameraOptions = mixin_of(CameraProperties)


@properties
class BuildOptions(_Game, _Options, export_models.SkeletalOptions):
    """The properties that decide what is exported, and the options made from them."""

    family, profiles, model_properties = "md5", PROFILES, ModelProperties

    def export_options(self) -> ExportOptions:
        model = ModelOptions(**self.model_values(), game=Game(self.game_or_default()))
        return ExportOptions(model, self.actions, self.animation_options(), self.match_companion)


def _draw_one_animation(layout: UILayout, context: Context, operator: Export, clips: dict[Path, Clip]) -> None:
    """The one animation that is written, and what of it does not fit the MD2 or MDL that it replaces."""
    path = file_operators.chosen_path(context, operator).with_suffix(ANIMATION_SUFFIX)
    layout.label(text=f"Writes one animation: {path.name}", icon="INFO")
    layout.prop(operator, "match_companion")
    if not operator.match_companion or not clips:
        return
    companion, problem = find_companion(path)
    if companion is None:
        order = "in the order of the list" if operator.actions == "LIST" else "in alphabetical order"
        text = problem or f"No MD2 or MDL to match: {order}"
    else:
        problems = match_clips(clips, companion, operator.animation_options())[1]
        if problems:
            animation_list_panel.draw_problems(layout, f"Does not fit {companion.name}:", problems)
            return
        text = f"Fits {companion.name}: {counted(len(companion.sequences), 'sequences')}"
    for number, line in enumerate(textwrap.wrap(text, animation_list_panel.LINE_LENGTH)):
        layout.label(text=line, icon="BLANK1" if number else "INFO")


class Export(BuildOptions, export_models.SkeletalExport):
    """The export of a model or of animations, without its identifiers."""

    animation_suffix, check_operator = ANIMATION_SUFFIX, "object.md5_check_game"
    joint_options = ("make_names_safe",)

    def export(self, context: Context, path: Path) -> Job[ExportResult]:
        export = export_mesh if self.has_mesh else export_animations
        return (yield from export(context, path, self.export_options()))

    def draw_chosen(self, layout: UILayout, context: Context, clips: dict[Path, Clip]) -> None:
        if self.profile().writing.needs_animation:
            _draw_one_animation(layout, context, self, clips)
        else:
            export_models.SkeletalExport.draw_chosen(self, layout, context, clips)

    def draw_actions(self, layout: UILayout, context: Context) -> None:
        export_models.SkeletalExport.draw_actions(self, layout, context)
        if self.actions in ("ACTIVE", "SCENE") and self.profile().writing.needs_animation:
            layout.prop(self, "match_companion")


@properties
class EXPORT_SCENE_OT_md5mesh(Export, bpy.types.Operator):
    """Export an armature and its meshes as an MD5 model, optionally with animations"""

    bl_idname = "export_scene.md5mesh"
    bl_label = "Export MD5 Mesh"

    filename_ext, panels = ".md5mesh", "IO_MD5_export_mesh"
    filter_glob: str = option("*.md5mesh", options={"HIDDEN"})
    actions: str = export_models.actions_option("NONE", "Animations to export with the mesh", "Export only the mesh")


@properties
class EXPORT_SCENE_OT_md5anim(Export, bpy.types.Operator):
    """Export animations of an armature as MD5"""

    bl_idname = "export_scene.md5anim"
    bl_label = "Export MD5 Animation"

    filename_ext, panels, has_mesh = ".md5anim", "IO_MD5_export_anim", False
    filter_glob: str = option("*.md5anim", options={"HIDDEN"})
    actions: str = export_models.actions_option("ACTIVE", "Animations to export")

    def default_name(self, context: Context) -> str:
        """The name of the active action, that of its file if it was imported."""
        armature = export_models.armature_of(context)
        data = armature.animation_data if armature is not None else None
        action = data.action if data is not None else None
        return load_action(action).name if action is not None else ""


@properties
class OBJECT_OT_md5_check_game(BuildOptions, export_models.SkeletalCheck, bpy.types.Operator):
    """List the problems that a game would have with the active armature, its meshes and its actions"""

    bl_idname = "object.md5_check_game"
    bl_label = "Check for Game (MD5)"

    shown = ("game", "make_names_safe")
    actions: str = export_models.actions_option("ALL", "Animations to check", "Check no animations")

    def find(self, context: Context) -> list[LocatedFinding]:
        path = Path(bpy.path.abspath(self.filepath)) if self.filepath else None
        return find(context, self.export_options(), path=path, has_mesh=self.has_mesh)


@properties
class EXPORT_SCENE_OT_md5camera(
    _CameraOptions, file_operators.ExportFile, shared_options.ExportVerify, shared_options.GameChoice,
    bpy.types.Operator,
):  # fmt: skip
    """Export the active camera, or the cameras bound to markers, as an MD5 camera path for Doom 3 cut scenes"""

    bl_idname = "export_scene.md5camera"
    bl_label = "Export MD5 Camera"
    bl_options = {"REGISTER", "PRESET"}

    filename_ext = ".md5camera"
    family, profiles = "md5", PROFILES
    filter_glob: str = option("*.md5camera", options={"HIDDEN"})
    frame_rate_from: str = frame_rate_option(
        "Frame rate of the imported file if the camera was imported, else of the scene", SCENE
    )
    game: str = game_option(PROFILES)

    def converted_objects(self, context: Context) -> list[Object]:
        return exported_cameras(context.scene, use_markers=self.use_markers)

    def default_name(self, context: Context) -> str:
        camera = context.scene.camera
        return camera.name if camera is not None else ""

    def draw(self, context: Context) -> None:
        layout = panel_parts.panel_layout(self)
        for name in ("game", "use_markers", "frame_rate_from", "verify"):
            layout.prop(self, name)
        self.draw_transform(layout, "IO_MD5_export_camera")

    def save(self, context: Context, path: Path) -> Job[ExportResult]:
        options = CameraExportOptions(
            **values_of(self, CameraProperties),
            conversion=self.conversion(),
            use_scene_rate=self.frame_rate_from == SCENE,
            verify=self.verification(),
            game=Game(self.game_or_default()),
        )
        return export_camera(context, path, options)
