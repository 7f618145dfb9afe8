"""The export of skeletal models: what it would write, as its dialog shows it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import bpy
from bpy.types import Context, Event, Object, UILayout

from ....io_common.skeletal.formats import Writing
from ....io_common.texts import counted
from ... import state
from ...clips.clip import animation_list
from ...operators import animation_list as animation_list_panel
from ...operators import file_operators, game_check, panel_parts, shared_options
from ...options import AUTO, GAME, NO_ANIMATIONS, SCENE, Scene, Settings, hidden, option, properties, values_of
from ...records import has_record
from ...reports import ExportResult, Job, Report
from ...scene.objects import NothingToExportError
from ...verification import Verify
from ..exporting.clips import AnimationOptions, Clip, clips_by_file, listed_clip, listed_clips
from ..exporting.source import Source, find_source
from ..options import ACTIONS, ALWAYS, AUTOMATIC, MERGE, AnimationProperties, ModelProperties, WeightOptions
from ..records import GROUP
from .panels import armature_in


def armature_of(context: Context) -> Any:
    """The active armature, else the armature of the active mesh, else the first one."""
    armatures = (obj for obj in context.view_layer.objects if obj.type == "ARMATURE")
    return armature_in(context) or next(armatures, None)


def exported_armature(context: Context, operator: Any) -> Any:
    """The armature that an exporter, also of a collection, would export; None if there is none or several."""
    return find_exported(context, operator).armature


def find_exported(context: Context, operator: Any, attached: str = "") -> Source:
    """What an exporter would export, with a choice of *Attached Armatures*; nothing if there are several armatures."""
    # `operator` may also be the operator's properties.
    scope = animation_list_panel.scope_of_panel(context, operator)
    options = ModelProperties(attached_armatures=attached or operator.attached_armatures)
    try:
        return find_source(context, scope, Report(), options)
    except NothingToExportError:
        return Source(None, [])


def values_for(writing: Writing, operator: Any, context: Context) -> dict[str, Any]:
    """The values of options that the game of an export, or of its properties, needs, by name."""
    values: dict[str, Any] = {"max_influences": writing.max_influences, "frame_rate_from": AUTO}
    armature = exported_armature(context, operator)
    # What was imported has the frames that the game counts.
    if writing.frame_rate and not (armature is not None and has_record(armature.data, GROUP)):
        values["frame_rate_from"] = GAME
    return values


def values_of_settings(settings: Settings, scene: Scene) -> dict[str, Any]:
    """The values of the options of a model that the command line sets."""
    return {
        "conversion": scene.conversion,
        "verify": Verify(settings.verify),
        "game_folders": settings.game_folders,
        "deform_only": settings.deform_only,
        "add_origin": ALWAYS if settings.add_origin else AUTOMATIC,
        "weights": WeightOptions(settings.max_influences),
    }


def animations_of_settings(context: Context, settings: Settings, scene: Scene) -> tuple[str, AnimationOptions]:
    """Which actions the command line exports with a model, and how; several armatures become an error."""
    # A command line shows no active object.
    context.view_layer.objects.active = None
    actions = "NONE" if settings.animations == NO_ANIMATIONS and not scene.holds_animations else "ALL"
    return actions, AnimationOptions(compares_speed=scene.compares_speed)


def actions_option(default: str, description: str, none: str = "") -> Any:
    """The option *Actions*; `none` describes the choice of no animations, where there is one."""
    items = (("NONE", "None", none), *ACTIONS) if none else ACTIONS
    return option(default, "Actions", description, items=items, update=list_when_chosen)


class SkeletalOptions(shared_options.ModelExport):
    """What decides what of a skeletal model is exported, without the options themselves."""

    model_properties: type[ModelProperties] = ModelProperties

    if TYPE_CHECKING:
        use_frame_rate: bool
        frame_rate: float
        frame_rate_from: str
        actions: str

    def converted_objects(self, context: Context) -> list[Object]:
        return find_exported(context, self).objects

    def writing(self) -> Writing:
        return self.profile().writing

    def model_values(self) -> dict[str, Any]:
        weights = WeightOptions(**values_of(self, WeightOptions))
        return {**values_of(self, self.model_properties), "weights": weights, **self.shared_options()}

    def animation_options(self) -> AnimationOptions:
        is_set = self.properties.is_property_set
        # The user has enabled a frame rate, or a script has set one.
        has_rate = self.use_frame_rate if is_set("use_frame_rate") else is_set("frame_rate")
        game_rate = self.writing().frame_rate if self.frame_rate_from == GAME else 0.0
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


def _draw_list(layout: UILayout, context: Context, operator: SkeletalExport) -> None:
    armature = exported_armature(context, operator)
    if armature is None:
        layout.label(text="There is no armature to export, or several", icon="INFO")
        return
    suffix = operator.suffix_of_animations()
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
        is_replaced = bool(name) and (folder / f"{name}{suffix}").exists()
        shown.append(animation_list_panel.Shown(len(frames), rate, name, suffix, is_replaced))
    animation_list_panel.draw(layout, found, shown)
    chosen = dict(clips[id(row)] for row in found.checked if id(row) in clips)
    operator.draw_chosen(layout, context, {folder / f"{name}{suffix}": clip for name, clip in chosen.items()})
    animation_list_panel.draw_problems(layout, "", [error] if error else [])


@properties
class SkeletalCheck(game_check.GameCheck):
    """Check for Game of skeletal models, without its identifiers and options."""

    has_mesh: bool = hidden(True, name="Mesh", description="Check the mesh too, not only animations")


# The armature that was exported last, by the suffix of the files.
_last_exported: dict[str, int | None] = {}


class SkeletalExport(SkeletalOptions, file_operators.ExportFile):
    """The export of a model or of animations, without its identifiers and options."""

    bl_options = {"REGISTER", "PRESET"}

    has_mesh = True  # whether it writes a model, and not only animations
    animation_suffix = ""  # of the files of animations
    joint_options: tuple[str, ...] = ()  # further options of the armature
    check_operator = ""  # the identifier of Check for Game
    panels = ""  # with which the identifiers of the panels of its dialog begin

    def invoke(self, context: Context, event: Event) -> panel_parts.OperatorResult:
        # Blender gives the choice of the last export, but does not count it as set.
        is_chosen = self.properties.is_property_set("actions")
        if not is_chosen and _last_exported.get(self.filename_ext) != _identifier(context, self):
            self.properties.property_unset("actions")
        # A list that was shown before is brought up to date.
        list_when_chosen(self, context)
        return super().invoke(context, event)

    def save(self, context: Context, path: Path) -> Job[ExportResult]:
        result = yield from self.export(context, path)
        _last_exported[self.filename_ext] = _identifier(context, self)
        return result

    def suffix_of_animations(self) -> str:
        """The suffix of the files of animations; empty if there are none."""
        return self.animation_suffix

    def default_name(self, context: Context) -> str:
        armature = armature_of(context)
        return armature.name if armature is not None else ""

    def export(self, context: Context, path: Path) -> Job[ExportResult]:
        """Writes the files."""
        raise NotImplementedError

    def draw_chosen(self, layout: UILayout, context: Context, clips: dict[Path, Clip]) -> None:
        """Draws how many of the chosen animations are written, each to a file of its name."""
        replaced = sum(path.exists() for path in clips)
        new = counted(len(clips) - replaced, "new files")
        layout.label(text=new + (f", {replaced} replaced" if replaced else ""), icon="INFO")
        if not self.has_mesh:
            layout.label(text="The file name is not used", icon="INFO")

    def draw_actions(self, layout: UILayout, context: Context) -> None:
        if self.actions == "ALL":
            armature = exported_armature(context, self)
            path = file_operators.chosen_path(context, self).with_suffix(self.suffix_of_animations())
            source = Source(armature, []) if armature is not None else None
            clips = clips_by_file(context, source, "ALL", path, Report()) if source is not None else {}
            self.draw_chosen(layout, context, clips)
        elif self.actions == "LIST":
            _draw_list(layout, context, self)

    def draw(self, context: Context) -> None:
        prefix, options = self.panels, cast("Any", self)
        draw_panel, layout = panel_parts.draw_panel, panel_parts.panel_layout(self)
        self.draw_game(layout, context)
        check = game_check.draw_for_export(layout, context, self, self.check_operator)
        check.has_mesh = self.has_mesh
        layout.prop(self, "actions")
        self.draw_actions(layout, context)
        if find_exported(context, self, MERGE).attached:
            layout.prop(self, "attached_armatures")
        layout.prop(self, "verify")
        self.draw_include(layout, context, prefix)
        self.draw_transform(layout, prefix)
        if self.has_mesh:
            body = draw_panel(layout, f"{prefix}_mesh", "Mesh", self, "apply_modifiers")
            if body:
                panel_parts.draw_wide(body, self, "split_surfaces")
                panel_parts.draw_wide(body, self, "max_influences")
                body.prop(self, "min_weight")
        rebuild = ("rebuild_hierarchy",) if options.deform_only else ()
        has_armature = exported_armature(context, self) is not None
        names = ("deform_only", *rebuild, "add_origin", "fit_weights") if has_armature else ()
        body = draw_panel(layout, f"{prefix}_armature", "Armature", self, *names, *self.joint_options)
        if body and not has_armature:
            panel_parts.draw_wide(body, self, "objects_as_joints")
        body = draw_panel(layout, f"{prefix}_frames", "Frames", self)
        if body:
            sampling = body.column()
            sampling.active = self.actions != "NONE"
            panel_parts.draw_options(sampling, self, "frame_step", "frame_rate_from")
            row = sampling.row(heading="Custom Rate")
            row.prop(self, "use_frame_rate", text="")
            value = row.row()
            value.active = self.use_frame_rate
            value.prop(self, "frame_rate", text="")
            for name in ("position_precision", "orientation_precision"):
                panel_parts.draw_wide(sampling, self, name)


def _identifier(context: Context, operator: Any) -> int | None:
    """What tells the exported armature from all others until Blender closes."""
    armature = exported_armature(context, operator)
    return armature.session_uid if armature is not None else None
