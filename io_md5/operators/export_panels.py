"""What the exports of MD5 would write, as their dialogs show it: the armature, and the animations with their files."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...io_blender.clips.clip import animation_list
from ...io_blender.operators import animation_list as animation_list_panel
from ...io_blender.operators import file_operators, layouts
from ...io_blender.reports import Report
from ...io_blender.scene.objects import NothingToExportError
from ...io_common.texts import counted
from ..exporting.clips import Clip, clips_by_file, listed_clip, listed_clips, match_sequences
from ..exporting.source import Source, find_source
from ..format.model import ANIMATION_SUFFIX
from ..importing.companions import find_companion
from ..options import MERGE, ModelProperties
from .panels import armature_in

if TYPE_CHECKING:
    from bpy.types import Context, UILayout

    from .export_md5 import Export

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
    folder = file_operators.chosen_path(context, operator).parent
    return clips_by_file(context, Source(armature, []), "ALL", folder, "", Report())


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
    if operator.profile().writing.needs_animation:
        chosen = [clips[id(row)] for row in found.checked if id(row) in clips]
        one_each = {folder / f"{one.name}{ANIMATION_SUFFIX}": one.clip for one in chosen}
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
        layouts.draw_wide(sampling, operator, name)
