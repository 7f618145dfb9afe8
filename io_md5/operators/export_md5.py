"""File > Export > id Tech 4 MD5: meshes, animations and cameras; and Check for Game."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy

from ...io_blender import state
from ...io_blender.operators import animation_list as animation_list_panel
from ...io_blender.operators import export_options, file_operators, game_check, layouts
from ...io_blender.options import (
    AUTO,
    GAME,
    SCENE,
    frame_rate_option,
    game_option,
    hidden,
    mixin_of,
    option,
    properties,
    values_of,
)
from ...io_blender.records import has_record
from ...io_blender.reports import ExportResult, Job
from ..exporting.build import ExportOptions, ModelOptions
from ..exporting.camera import CameraExportOptions, export_camera, exported_cameras
from ..exporting.clips import AnimationOptions
from ..exporting.exporter import export_animations, export_mesh
from ..exporting.game import find
from ..format.games import PROFILES, Game
from ..format.model import ANIMATION_SUFFIX
from ..options import ACTIONS, AnimationProperties, CameraProperties, ClipProperties, ModelProperties, WeightOptions
from ..records import GROUP, load_action
from .export_panels import armature_of, draw_actions, draw_frames, exported_armature, find_exported, has_attached


def values_of_game(operator: Any, context: Context) -> dict[str, Any]:
    """The values of options that the game of an export, or of its properties, needs, by name."""
    writing = PROFILES[Game(operator.game)].writing
    values: dict[str, Any] = {
        "max_influences": writing.max_influences,
        "add_origin": writing.needs_root,
        "make_names_safe": True,
        "frame_rate_from": AUTO,
    }
    if writing.needs_animation:
        values["actions"] = "ALL"
    armature = exported_armature(context, operator)
    # What was imported has the frames that the game counts.
    if writing.frame_rate and not (armature is not None and has_record(armature.data, GROUP)):
        values["frame_rate_from"] = GAME
    return values


if TYPE_CHECKING:
    from bpy.types import Context, Event, Object

    from ...io_blender.operators.panel_parts import OperatorResult

    class _Options(ModelProperties, WeightOptions, AnimationProperties, ClipProperties):
        """The options of exports of meshes and animations."""

    class _Game:
        """The option to choose a game."""

    _CameraOptions = CameraProperties
else:
    _Options = mixin_of(ModelProperties, WeightOptions, AnimationProperties, ClipProperties)
    _Game = export_options.game_mixin(PROFILES, values_of_game)
    _CameraOptions = mixin_of(CameraProperties)

# The armature that was exported last, by the suffix of the files.
_last_exported: dict[str, int | None] = {}


@properties
class BuildOptions(_Game, _Options, export_options.ModelExport):
    """The properties that decide what is exported, and the options made from them."""

    family, profiles = "md5", PROFILES

    def converted_objects(self, context: Context) -> list[Object]:
        """The armature and its meshes."""
        return find_exported(context, self).objects

    def export_options(self) -> ExportOptions:
        """The options of the export."""
        model = ModelOptions(
            **values_of(self, ModelProperties),
            weights=WeightOptions(**values_of(self, WeightOptions)),
            **self.shared_options(),
            game=Game(self.game_or_default()),
        )
        return ExportOptions(model, self.actions, self.animation_options(), self.match_companion)

    def animation_options(self) -> AnimationOptions:
        """The options for animations."""
        is_set = self.properties.is_property_set
        # The user has enabled a frame rate, or a script has set one.
        has_rate = self.use_frame_rate if is_set("use_frame_rate") else is_set("frame_rate")
        game_rate = self.profile().writing.frame_rate if self.frame_rate_from == GAME else 0.0
        is_played = self.frame_rate_from == SCENE or game_rate
        values = values_of(self, AnimationProperties) | ({"frame_step": 1} if game_rate else {})
        return AnimationOptions(
            **values,
            frame_rate=game_rate or (self.frame_rate if has_rate else 0.0),
            scene_rate=state.frame_rate(bpy.context.scene) if is_played else 0.0,
        )


def list_when_chosen(operator: Any, context: Context) -> None:
    """Lists the animations when the user chooses to select them; scripts have no panel that shows rows."""
    if operator.actions == "LIST" and context.space_data is not None:
        animation_list_panel.update(exported_armature(context, operator), context.scene)


class Export(BuildOptions, file_operators.ExportFile):
    """The export of a model or of animations, without its identifiers."""

    bl_options = {"REGISTER", "PRESET"}

    def invoke(self, context: Context, event: Event) -> OperatorResult:
        # Blender gives the choice of the last export, but does not count it as set.
        is_chosen = self.properties.is_property_set("actions")
        if not is_chosen and _last_exported.get(self.filename_ext) != _identifier(context, self):
            self.properties.property_unset("actions")
        # A list that was shown before is brought up to date.
        list_when_chosen(self, context)
        return super().invoke(context, event)

    def save(self, context: Context, path: Path) -> Job[ExportResult]:
        export = export_animations if self.filename_ext == ANIMATION_SUFFIX else export_mesh
        result = yield from export(context, path, self.export_options())
        _last_exported[self.filename_ext] = _identifier(context, self)
        return result

    def draw(self, context: Context) -> None:
        has_mesh = self.filename_ext != ANIMATION_SUFFIX
        prefix = "IO_MD5_export_mesh" if has_mesh else "IO_MD5_export_anim"
        draw_panel, layout = layouts.draw_panel, layouts.panel_layout(self)
        self.draw_game(layout, context)
        check = game_check.draw_for_export(layout, context, self, OBJECT_OT_md5_check_game.bl_idname)
        check.has_mesh = has_mesh
        layout.prop(self, "actions")
        draw_actions(layout, context, self)
        if has_attached(context, self):
            layout.prop(self, "attached_armatures")
        layout.prop(self, "verify")
        self.draw_include(layout, context, prefix)
        self.draw_transform(layout, prefix)
        if has_mesh:
            body = draw_panel(layout, f"{prefix}_mesh", "Mesh", self, "apply_modifiers")
            if body:
                layouts.draw_wide(body, self, "max_influences")
                body.prop(self, "min_weight")
        rebuild = ("rebuild_hierarchy",) if self.deform_only else ()
        has_armature = exported_armature(context, self) is not None
        names = ("deform_only", *rebuild, "add_origin", "fit_weights") if has_armature else ()
        body = draw_panel(layout, f"{prefix}_armature", "Armature", self, *names, "make_names_safe")
        if body and not has_armature:
            layouts.draw_wide(body, self, "objects_as_joints")
        body = draw_panel(layout, f"{prefix}_frames", "Frames", self)
        if body:
            draw_frames(body, self)


def _actions(description: str, default: str, *others: tuple[str, str, str], **keywords: Any) -> Any:
    return option(default, "Actions", description, items=(*others, *ACTIONS), **keywords)


@properties
class EXPORT_SCENE_OT_md5mesh(Export, bpy.types.Operator):
    """Export an armature and its meshes as an MD5 model, optionally with animations"""

    bl_idname = "export_scene.md5mesh"
    bl_label = "Export MD5 Mesh"

    filename_ext = ".md5mesh"
    filter_glob: str = option("*.md5mesh", options={"HIDDEN"})
    actions: str = _actions(
        "Animations to export with the mesh", "NONE", ("NONE", "None", "Export only the mesh"), update=list_when_chosen
    )

    def default_name(self, context: Context) -> str:
        """The name of the armature."""
        armature = armature_of(context)
        return armature.name if armature is not None else ""


@properties
class EXPORT_SCENE_OT_md5anim(Export, bpy.types.Operator):
    """Export animations of an armature as MD5"""

    bl_idname = "export_scene.md5anim"
    bl_label = "Export MD5 Animation"

    filename_ext = ".md5anim"
    filter_glob: str = option("*.md5anim", options={"HIDDEN"})
    actions: str = _actions("Animations to export", "ACTIVE", update=list_when_chosen)

    def default_name(self, context: Context) -> str:
        """The name of the active action, that of its file if it was imported."""
        armature = armature_of(context)
        data = armature.animation_data if armature is not None else None
        action = data.action if data is not None else None
        return load_action(action).name if action is not None else ""


@properties
class OBJECT_OT_md5_check_game(BuildOptions, game_check.GameCheck, bpy.types.Operator):
    """List the problems that a game would have with the active armature, its meshes and its actions"""

    bl_idname = "object.md5_check_game"
    bl_label = "Check for Game (MD5)"
    bl_options = {"REGISTER", "UNDO"}

    actions: str = _actions("Animations to check", "ALL", ("NONE", "None", "Check no animations"))
    has_mesh: bool = hidden(True, name="Mesh", description="Check the mesh too, not only animations")

    def draw(self, context: Context) -> None:
        # The other options are those of an export.
        for name in ("game", "make_names_safe"):
            self.layout.prop(self, name)

    def find(self, context: Context) -> list[game_check.LocatedFinding]:
        path = Path(bpy.path.abspath(self.filepath)) if self.filepath else None
        return find(context, self.export_options(), path=path, has_mesh=self.has_mesh)


class DATA_PT_md5_game(game_check.GamePanel, bpy.types.Panel):
    """The check in the properties of an armature or a mesh."""

    bl_label = "Game (MD5)"
    check = OBJECT_OT_md5_check_game
    kinds = ("ARMATURE", "MESH")


@properties
class EXPORT_SCENE_OT_md5camera(
    _CameraOptions, file_operators.ExportFile, export_options.ExportVerify, export_options.GameChoice,
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
        """The cameras."""
        return exported_cameras(context.scene, use_markers=self.use_markers)

    def default_name(self, context: Context) -> str:
        """The name of the scene's camera."""
        camera = context.scene.camera
        return camera.name if camera is not None else ""

    def draw(self, context: Context) -> None:
        layout = layouts.panel_layout(self)
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


def _identifier(context: Context, operator: Any) -> int | None:
    """What tells the exported armature from all others until Blender closes."""
    armature = exported_armature(context, operator)
    return armature.session_uid if armature is not None else None
