"""The options and panels that the exports of meshes and animations share."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import BoolProperty, FloatProperty, IntProperty

from ...io_blender import state
from ...io_blender.clips.animation_list import animation_list
from ...io_blender.operators import animation_list as animation_list_panel
from ...io_blender.operators import blender_mixins, file_operators, game_check, game_option, preferences
from ...io_blender.operators.frame_rate_option import GAME, SCENE, frame_rate_property
from ...io_blender.reports import Report
from ...io_blender.results import ExportResult
from ...io_blender.scene.objects import NothingToExportError
from ...io_common.counting import counted
from ..exporting import exporter
from ..exporting.build import ModelOptions
from ..exporting.chosen_clips import listed_clips
from ..exporting.clips import AnimationOptions, Clip, listed_clip
from ..exporting.one_animation import placed
from ..exporting.source import clips_by_file, find_source
from ..exporting.vertex_groups import WeightOptions
from ..format import Md5Error
from ..format.games import PROFILES, Game
from ..format.model import ANIMATION_SUFFIX
from ..format.skeleton import ORIENTATION_PRECISION, POSITION_PRECISION
from ..importing.companions import find_companion

if TYPE_CHECKING:
    from bpy.types import Context, Object, UILayout

    from ...io_blender.operators.blender_mixins import OperatorResult

FAMILY, CHECK = "MD5", "object.md5_check_game"

# The armature that was exported last, by the suffix of the files.
_last_exported: dict[str, int | None] = {}

# Lines about sequences in the panel.
_MOST_PROBLEMS = 12

ACTIONS = (
    ("ACTIVE", "Active Action", "Export the active action of the armature"),
    (
        "ALL",
        "All Actions",
        "Export each action that animates bones of the armature to a file named after the action",
    ),
    (
        "LIST",
        "Choose",
        "Export each animation that is checked in the list of the armature to a file of its own: actions, NLA strips, "
        "or ranges between markers",
    ),
    (
        "SCENE",
        "Scene Playback",
        "Export the frame range of the scene as it plays, with constraints, drivers and NLA",
    ),
)


class BuildOptions(file_operators.ExportTransform, file_operators.ExportScope, file_operators.ExportVerify):
    """The properties that decide what is exported, and the options made from them."""

    if TYPE_CHECKING:
        apply_modifiers: bool
        deform_only: bool
        add_origin: bool
        max_influences: int
        min_weight: float
        game: str
        make_names_safe: bool
        match_companion: bool
        frame_step: int
        frame_rate_from: str
        use_frame_rate: bool
        frame_rate: float
        position_precision: float
        orientation_precision: float
    else:
        apply_modifiers: BoolProperty(
            name="Apply Modifiers",
            description="Export meshes with all modifiers applied except Armature modifiers",
            default=True,
        )
        deform_only: BoolProperty(
            name="Deform Bones Only", description="Export only bones that deform meshes", default=False
        )
        add_origin: BoolProperty(
            name="Add Root Bone",
            description="Add a root joint named origin if there are several roots, or one that is not at the origin. "
            "Doom 3 needs a single root at the origin",
            default=False,
        )
        max_influences: IntProperty(
            name="Bone Influences",
            description="Most bones per vertex; 0 = unlimited. The largest weights are kept. Doom 3 takes any number, "
            "BFG and most ports 4",
            default=0,
            min=0,
            soft_max=8,
        )
        min_weight: FloatProperty(
            name="Min Weight",
            description="Weights below this are not exported",
            default=0.0,
            min=0.0,
            max=1.0,
            precision=4,
        )
        game: game_option.game_property(PROFILES)
        make_names_safe: BoolProperty(
            name="Make Names Safe",
            description="Replace joint names that the game cannot read, in the mesh and all animations. "
            "If disabled, they are errors",
            default=True,
        )
        match_companion: BoolProperty(
            name="Match MD2 or MDL",
            description="For the re-releases of Quake and Quake II, put the animations in the order of the MD2 or MDL "
            "that the model replaces, and write nothing if a sequence has no animation or another number of frames",
            default=True,
        )
        frame_step: IntProperty(
            name="Frame Step", description="Export every N-th frame", default=1, min=1, soft_max=10
        )
        frame_rate_from: frame_rate_property(
            "Frame for frame, at the rate of the imported action, else of the scene", SCENE, GAME
        )
        use_frame_rate: BoolProperty(
            name="Custom Rate",
            description="Export another frame rate than that of the imported action, else of the scene",
            default=False,
        )
        frame_rate: FloatProperty(
            name="Custom Rate",
            description="Frames per second to sample, before Frame Step is applied. Setting it in a script enables it; "
            "0 is the rate of the action",
            default=24.0,
            min=0.0,
            max=1000.0,
            soft_min=1.0,
            soft_max=120.0,
        )
        position_precision: FloatProperty(
            name="Location Error",
            description="Joint positions that vary by less than this, in units, are not animated. "
            "id's exporter uses 0.125",
            default=POSITION_PRECISION,
            min=0.0,
            soft_max=0.125,
            precision=6,
        )
        orientation_precision: FloatProperty(
            name="Rotation Error",
            description="Joint orientations whose quaternions vary by less than this are not animated. "
            "id's exporter uses 0.000122",
            default=ORIENTATION_PRECISION,
            min=0.0,
            soft_max=0.001,
            precision=7,
        )

    def converted_objects(self, context: Context) -> list[Object]:
        """The armature and its meshes."""
        return find_source(context, animation_list_panel.scope_of_panel(context, self), Report()).objects

    def default_game(self) -> str:
        """The default game in the preferences."""
        return preferences.game("md5")

    def model_options(self) -> ModelOptions:
        """The options for the model."""
        return ModelOptions(
            scope=self.scope(),
            conversion=self.conversion(),
            apply_modifiers=self.apply_modifiers,
            deform_only=self.deform_only,
            add_origin=self.add_origin,
            weights=WeightOptions(self.max_influences, self.min_weight),
            game=Game(game_option.game_or_default(self, self.default_game())),
            make_names_safe=self.make_names_safe,
            verify=self.verification(),
            game_folders=tuple(preferences.game_folders()),
        )

    def animation_options(self) -> AnimationOptions:
        """The options for animations."""
        game = Game(game_option.game_or_default(self, self.default_game()))
        game_rate = PROFILES[game].writing.frame_rate if self.frame_rate_from == GAME else 0.0
        is_played = self.frame_rate_from == SCENE or game_rate
        return AnimationOptions(
            frame_step=1 if game_rate else self.frame_step,
            frame_rate=game_rate or (self.frame_rate if self._has_frame_rate() else 0.0),
            scene_rate=state.frame_rate(bpy.context.scene) if is_played else 0.0,
            position_precision=self.position_precision,
            orientation_precision=self.orientation_precision,
        )

    def _has_frame_rate(self) -> bool:
        """Whether the user has enabled a frame rate, or a script has set one."""
        if self.properties.is_property_set("use_frame_rate"):
            return self.use_frame_rate
        return self.properties.is_property_set("frame_rate")


class ExportOptions(BuildOptions, file_operators.ExportFile):
    """The properties of an export operator."""

    if TYPE_CHECKING:
        actions: str

    def invoke(self, context: Context, event: bpy.types.Event) -> OperatorResult:
        """Opens the file browser; a list of animations that was shown before is brought up to date."""
        # Blender gives the choice of the last export, but does not count it as set.
        is_chosen = self.properties.is_property_set("actions")
        if not is_chosen and _last_exported.get(self.filename_ext) != _identifier(context, self):
            self.properties.property_unset("actions")
        list_when_chosen(self, context)
        return super().invoke(context, event)

    def run(
        self, context: Context, export: Callable[[Context, Path, exporter.ExportOptions], ExportResult]
    ) -> OperatorResult:
        """Runs `export_mesh` or `export_animations` with the operator's options and reports the result to the user."""

        def job() -> file_operators.Outcome:
            options = exporter.ExportOptions(
                self.model_options(), self.actions, self.animation_options(), self.match_companion
            )
            result = export(context, self.path(), options)
            _last_exported[self.filename_ext] = _identifier(context, self)
            return result.report, result.paths

        return file_operators.run(self, "Exported", Md5Error, job)

    def draw_panels(self, context: Context, prefix: str, *, has_mesh: bool) -> None:
        """Draws the options in the file browser or in a collection exporter.

        The identifiers of the panels begin with `prefix`. Without `has_mesh`, only animations are written.
        """
        layout = file_operators.panel_layout(self)
        self.draw_include(layout, context, prefix)
        self.draw_transform(layout, prefix)
        _draw_game(layout, context, self, prefix)
        if has_mesh:
            _draw_mesh(layout, self, prefix)
        _draw_armature(layout, self, prefix)
        _draw_animation(layout, context, self, prefix)
        layout.prop(self, "verify")


def armature_of(context: Context) -> Any:
    """The active armature, else the armature of the active mesh, else the first one; None if there is none."""
    objects = context.view_layer.objects
    active = objects.active
    if active is not None and active.type == "MESH":
        active = active.find_armature()
    if active is None or active.type != "ARMATURE":
        active = next((obj for obj in objects if obj.type == "ARMATURE"), None)
    return active


def exported_armature(context: Context, operator: Any) -> Any:
    """The armature that an export operator would export; None if there is none, or several to choose from.

    In the properties of a collection, its exporters export that collection. `operator` may also be the operator's
    properties.
    """
    scope = animation_list_panel.scope_of_panel(context, operator)
    try:
        return find_source(context, scope, Report()).armature
    except NothingToExportError:
        return None


def _identifier(context: Context, operator: Any) -> int | None:
    """What tells the exported armature from all others until Blender closes; None if there is none."""
    armature = exported_armature(context, operator)
    return armature.session_uid if armature is not None else None


def list_when_chosen(operator: Any, context: Context) -> None:
    """Lists the animations of the armature when the user chooses to select them.

    Does nothing for scripts: they have no panel, and no rows are stored for them.
    """
    if operator.actions == "LIST" and context.space_data is not None:
        animation_list_panel.update(exported_armature(context, operator), context.scene)


def _writes_one_animation(operator: ExportOptions) -> bool:
    """Whether the game takes one animation with all sequences."""
    game = Game(game_option.game_or_default(operator, operator.default_game()))
    return PROFILES[game].writing.animation_beside


def _draw_one_animation(
    layout: UILayout, context: Context, operator: ExportOptions, clips: dict[Path, Clip]
) -> None:
    """The one animation that is written, and what of it does not fit the MD2 or MDL that it replaces."""
    path = file_operators.chosen_path(context, operator).with_suffix(ANIMATION_SUFFIX)
    layout.label(text=f"Writes one animation: {path.name}", icon="INFO")
    layout.prop(operator, "match_companion")
    if not operator.match_companion or not clips:
        return
    companion, problem = find_companion(path)
    if companion is None:
        lines = [problem or "No MD2 or MDL is beside it: the order of the list counts"]
        problems: list[str] = []
    else:
        problems = placed(clips, companion, operator.animation_options())[1]
        count = counted(len(companion.sequences), "sequences")
        lines = [f"Does not fit {companion.name}:" if problems else f"Fits {companion.name}: {count}"]
    if len(problems) > _MOST_PROBLEMS:
        problems = [*problems[:_MOST_PROBLEMS], f"and {len(problems) - _MOST_PROBLEMS} more"]
    for text in (*lines, *problems):
        for line in textwrap.wrap(text, animation_list_panel.LINE_LENGTH):
            layout.label(text=line, icon="ERROR" if problems else "INFO")


def _files_lines(context: Context, operator: ExportOptions) -> list[str]:
    """What *All Actions* writes: how many files, how many of them exist, and what the file name is used for."""
    files = _all_clips(context, operator)
    return [
        _written(len(files), sum(path.exists() for path in files)),
        "They are named after the actions",
        _use_of_file_name(operator),
    ]


def _all_clips(context: Context, operator: ExportOptions) -> dict[Path, Clip]:
    """What *All Actions* writes, by file; empty if there is no armature, or several."""
    armature = exported_armature(context, operator)
    if armature is None:
        return {}
    folder = file_operators.chosen_path(context, operator).parent
    return clips_by_file(context, armature, "ALL", folder, "", Report())


def _written(count: int, existing: int) -> str:
    return f"Writes {counted(count, 'files')} to this folder, {existing} {'exists' if existing == 1 else 'exist'}"


def _use_of_file_name(operator: ExportOptions) -> str:
    is_mesh = operator.filename_ext != ANIMATION_SUFFIX
    return "The file name is for the mesh" if is_mesh else "The file name is not used"


def _draw_list(layout: UILayout, context: Context, operator: ExportOptions) -> None:
    """The list of animations to choose from, and what is written."""
    armature = exported_armature(context, operator)
    if armature is None:
        layout.label(text="There is no armature to export, or several", icon="INFO")
        return
    found = animation_list(armature, context.scene)
    path = file_operators.chosen_path(context, operator)
    folder, stem = path.parent, path.stem
    try:
        # Names depend on what else is written.
        checked = [*found.checked, *(row for row in found.rows if not row.is_checked)]
        clips = {id(one.row): one for one in listed_clips(found, checked, stem)}
        error = ""
    except NothingToExportError as problem:
        clips, error = {}, str(problem)
    shown = []
    for row in found.rows:
        clip = clips.get(id(row))
        name = clip.name if clip is not None else ""
        frames, rate = (clip.clip if clip else listed_clip(row.animation, found.scene)).samples(
            operator.animation_options()
        )
        is_replaced = bool(name) and (folder / f"{name}{ANIMATION_SUFFIX}").exists()
        shown.append(animation_list_panel.Shown(len(frames), rate, name, ANIMATION_SUFFIX, is_replaced))
    animation_list_panel.draw(layout, found, shown)
    if _writes_one_animation(operator):
        chosen = [clips[id(row)] for row in found.checked if id(row) in clips]
        one_each = {folder / f"{one.name}{ANIMATION_SUFFIX}": one.clip for one in chosen}
        _draw_one_animation(layout, context, operator, one_each)
    else:
        existing = sum(one.is_replaced and row.is_checked for row, one in zip(found.rows, shown, strict=True))
        layout.label(text=_written(len(found.checked), existing), icon="INFO")
        layout.label(text=_use_of_file_name(operator), icon="INFO")
    animation_list_panel.draw_problems(layout, "", [error] if error else [])


def _draw_game(layout: UILayout, context: Context, operator: ExportOptions, prefix: str) -> None:
    header, body = blender_mixins.panel(layout, f"{prefix}_game")
    header.label(text="Game")
    if body:
        body.prop(operator, "game")
        body.prop(operator, "make_names_safe")
        game = Game(game_option.game_or_default(operator, operator.default_game()))
        check = game_check.draw_for_export(body, context, operator, CHECK, game.value, PROFILES[game].label)
        check.has_mesh = operator.filename_ext != ANIMATION_SUFFIX


def _draw_mesh(layout: UILayout, operator: ExportOptions, prefix: str) -> None:
    header, body = blender_mixins.panel(layout, f"{prefix}_mesh")
    header.label(text="Mesh")
    if body:
        body.prop(operator, "apply_modifiers")
        file_operators.draw_wide(body, operator, "max_influences")
        body.prop(operator, "min_weight")


def _draw_armature(layout: UILayout, operator: ExportOptions, prefix: str) -> None:
    header, body = blender_mixins.panel(layout, f"{prefix}_armature")
    header.label(text="Armature")
    if body:
        body.prop(operator, "deform_only")
        body.prop(operator, "add_origin")


def _draw_animation(layout: UILayout, context: Context, operator: ExportOptions, prefix: str) -> None:
    header, body = blender_mixins.panel(layout, f"{prefix}_animation")
    header.label(text="Animation")
    if body:
        body.prop(operator, "actions")
        if operator.actions == "ALL" and _writes_one_animation(operator):
            _draw_one_animation(body, context, operator, _all_clips(context, operator))
        elif operator.actions == "ALL":
            for line in _files_lines(context, operator):
                body.label(text=line, icon="INFO")
        elif operator.actions == "LIST":
            _draw_list(body, context, operator)
        elif operator.actions != "NONE" and _writes_one_animation(operator):
            body.prop(operator, "match_companion")
        sampling = body.column()
        sampling.active = operator.actions != "NONE"
        sampling.prop(operator, "frame_step")
        sampling.prop(operator, "frame_rate_from")
        row = sampling.row(heading="Custom Rate")
        row.prop(operator, "use_frame_rate", text="")
        value = row.row()
        value.active = operator.use_frame_rate
        value.prop(operator, "frame_rate", text="")
        sampling.prop(operator, "position_precision")
        sampling.prop(operator, "orientation_precision")
