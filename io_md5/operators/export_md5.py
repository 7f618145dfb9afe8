"""File > Export > id Tech 4 MD5: meshes, animations and cameras; what these would write, as their dialogs show it; and
Check for Game."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy

from ...io_blender import state
from ...io_blender.clips.clip import animation_list
from ...io_blender.operators import animation_list as animation_list_panel
from ...io_blender.operators import file_operators, game_check, panel_parts, shared_options
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
from ...io_blender.reports import ExportResult, Job, Report
from ...io_blender.scene.objects import NothingToExportError
from ...io_blender.skeletal.exporting.clips import AnimationOptions, Clip, clips_by_file, listed_clip, listed_clips
from ...io_blender.skeletal.exporting.source import Source, find_source
from ...io_blender.skeletal.options import ACTIONS, MERGE, AnimationProperties, ModelProperties, WeightOptions
from ...io_blender.skeletal.records import GROUP, load_action
from ...io_common.texts import counted
from ..exporting import export_animations, export_mesh
from ..exporting.camera import CameraExportOptions, export_camera, exported_cameras
from ..exporting.game import find
from ..exporting.options import ExportOptions, ModelOptions
from ..exporting.sequences import match_sequences
from ..format.games import PROFILES, Game
from ..format.model import ANIMATION_SUFFIX
from ..importing.companions import find_companion
from ..options import CameraProperties, ClipProperties
from .panels import armature_in

# Lines about sequences in the panel.
_MOST_PROBLEMS = 12


def armature_of(context: Context) -> Any:
    """The active armature, else the armature of the active mesh, else the first one."""
    armatures = (obj for obj in context.view_layer.objects if obj.type == "ARMATURE")
    return armature_in(context) or next(armatures, None)


def exported_armature(context: Context, operator: Any) -> Any:
    """The armature that an exporter, also of a collection, would export; None if there is none or several."""
    # `operator` may also be the operator's properties.
    try:
        return find_exported(context, operator).armature
    except NothingToExportError:
        return None


def find_exported(context: Context, operator: Any, attached: str = "") -> Source:
    """What an exporter would export, with a choice of *Attached Armatures*; raises NothingToExportError."""
    scope = animation_list_panel.scope_of_panel(context, operator)
    options = ModelProperties(attached_armatures=attached or operator.attached_armatures)
    return find_source(context, scope, Report(), options)


def has_attached(context: Context, operator: Any) -> bool:
    """Whether armatures hang on bones of the exported one."""
    try:
        return bool(find_exported(context, operator, MERGE).attached)
    except NothingToExportError:
        return False


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
    from bpy.types import Context, Event, Object, UILayout

    from ...io_blender.operators.panel_parts import OperatorResult

    class _Options(ModelProperties, WeightOptions, AnimationProperties, ClipProperties):
        """The options of exports of meshes and animations."""

    class _Game:
        """The option to choose a game."""

    _CameraOptions = CameraProperties
else:
    _Options = mixin_of(ModelProperties, WeightOptions, AnimationProperties, ClipProperties)
    _Game = shared_options.game_mixin(PROFILES, values_of_game)
    _CameraOptions = mixin_of(CameraProperties)

# The armature that was exported last, by the suffix of the files.
_last_exported: dict[str, int | None] = {}


@properties
class BuildOptions(_Game, _Options, shared_options.ModelExport):
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
        lines = [problem or f"No MD2 or MDL to match: {order}"]
        problems: list[str] = []
    else:
        problems = match_sequences(clips, companion, operator.animation_options())[1]
        count = counted(len(companion.sequences), "sequences")
        lines = [f"Does not fit {companion.name}:" if problems else f"Fits {companion.name}: {count}"]
    if len(problems) > _MOST_PROBLEMS:
        problems = [*problems[:_MOST_PROBLEMS], f"and {len(problems) - _MOST_PROBLEMS} more"]
    for text in (*lines, *problems):
        for number, line in enumerate(textwrap.wrap(text, animation_list_panel.LINE_LENGTH)):
            layout.label(text=line, icon="BLANK1" if number else "ERROR" if problems else "INFO")


def _all_clips(context: Context, operator: Export) -> dict[Path, Clip]:
    """What *All Actions* writes, by file; empty if there is no armature, or several."""
    armature = exported_armature(context, operator)
    if armature is None:
        return {}
    path = file_operators.chosen_path(context, operator).with_suffix(ANIMATION_SUFFIX)
    return clips_by_file(context, Source(armature, []), "ALL", path, Report())


def _draw_files(layout: UILayout, operator: Export, paths: Sequence[Path]) -> None:
    """Draws how many animations are written, each to a file of its name."""
    replaced = sum(path.exists() for path in paths)
    lines = [f"{counted(len(paths) - replaced, 'new files')}" + (f", {replaced} replaced" if replaced else "")]
    if operator.filename_ext == ANIMATION_SUFFIX:
        lines.append("The file name is not used")
    for line in lines:
        layout.label(text=line, icon="INFO")


def _draw_list(layout: UILayout, context: Context, operator: Export) -> None:
    armature = exported_armature(context, operator)
    if armature is None:
        layout.label(text="There is no armature to export, or several", icon="INFO")
        return
    found = animation_list(armature, context.scene)
    path = file_operators.chosen_path(context, operator)
    folder, stem = path.parent, path.stem
    try:
        # Names depend on what else is written.
        ordered = sorted(found.rows, key=lambda row: not row.is_checked)
        clips = dict(zip(map(id, ordered), listed_clips(found, ordered, stem).items(), strict=True))
        error = ""
    except NothingToExportError as problem:
        clips, error = {}, str(problem)
    shown = []
    for row in found.rows:
        name, clip = clips.get(id(row)) or ("", listed_clip(row.animation, found.scene))
        frames, rate = clip.samples(operator.animation_options())
        is_replaced = bool(name) and (folder / f"{name}{ANIMATION_SUFFIX}").exists()
        shown.append(animation_list_panel.Shown(len(frames), rate, name, ANIMATION_SUFFIX, is_replaced))
    animation_list_panel.draw(layout, found, shown)
    if operator.profile().writing.needs_animation:
        chosen = dict(clips[id(row)] for row in found.checked if id(row) in clips)
        one_each = {folder / f"{name}{ANIMATION_SUFFIX}": clip for name, clip in chosen.items()}
        _draw_one_animation(layout, context, operator, one_each)
    else:
        named = [one.name for row, one in zip(found.rows, shown, strict=True) if row.is_checked]
        _draw_files(layout, operator, [folder / f"{name}{ANIMATION_SUFFIX}" for name in named])
    animation_list_panel.draw_problems(layout, "", [error] if error else [])


def draw_actions(layout: Any, context: Context, operator: Export) -> None:
    """Draws what the chosen actions are and the files that are written."""
    is_one = operator.profile().writing.needs_animation
    if operator.actions == "ALL" and is_one:
        _draw_one_animation(layout, context, operator, _all_clips(context, operator))
    elif operator.actions == "ALL":
        _draw_files(layout, operator, list(_all_clips(context, operator)))
    elif operator.actions == "LIST":
        _draw_list(layout, context, operator)
    elif operator.actions != "NONE" and is_one:
        layout.prop(operator, "match_companion")


def draw_frames(body: Any, operator: Export) -> None:
    """Draws how animations are sampled."""
    sampling = body.column()
    sampling.active = operator.actions != "NONE"
    for name in ("frame_step", "frame_rate_from"):
        sampling.prop(operator, name)
    row = sampling.row(heading="Custom Rate")
    row.prop(operator, "use_frame_rate", text="")
    value = row.row()
    value.active = operator.use_frame_rate
    value.prop(operator, "frame_rate", text="")
    for name in ("position_precision", "orientation_precision"):
        panel_parts.draw_wide(sampling, operator, name)


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
        draw_panel, layout = panel_parts.draw_panel, panel_parts.panel_layout(self)
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
                panel_parts.draw_wide(body, self, "max_influences")
                body.prop(self, "min_weight")
        rebuild = ("rebuild_hierarchy",) if self.deform_only else ()
        has_armature = exported_armature(context, self) is not None
        names = ("deform_only", *rebuild, "add_origin", "fit_weights") if has_armature else ()
        body = draw_panel(layout, f"{prefix}_armature", "Armature", self, *names, "make_names_safe")
        if body and not has_armature:
            panel_parts.draw_wide(body, self, "objects_as_joints")
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
        """The cameras."""
        return exported_cameras(context.scene, use_markers=self.use_markers)

    def default_name(self, context: Context) -> str:
        """The name of the scene's camera."""
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


def _identifier(context: Context, operator: Any) -> int | None:
    """What tells the exported armature from all others until Blender closes."""
    armature = exported_armature(context, operator)
    return armature.session_uid if armature is not None else None
