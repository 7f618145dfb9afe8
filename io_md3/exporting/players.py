"""Export of a Quake III player: the models of its parts, its table of sequences, and its skins.

What was imported and not edited comes back. Else each part has the frames of its sequences, one after the other, in the
order of the game (`cg_players.c`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bpy.types import Context, Object

from ...io_blender import state
from ...io_blender.clips.clip import Clip, Source
from ...io_blender.frames.frame_names import frame_names
from ...io_blender.frames.frame_plan import FramePlan, Segment, plan_sequences
from ...io_blender.materials.library import name_for_file
from ...io_blender.reports import ExportResult, Job, Report, kept_on_failure, listing, raise_errors
from ...io_common import names
from ...io_common.files import write_files
from ...io_common.game_tree.tree import existing_paths
from ...io_common.names import fold, join
from ..format import Game, Md3Error, Model, check_model, format_model
from ..format.sequences import (
    CONFIG_NAME,
    Sequence,
    format_player_config,
    in_table,
    is_played_by,
    missing_sequences,
    player_settings,
)
from ..options import ExportOptions
from ..players import HEAD, LOWER, PARTS, TAGS, UPPER, Part, Player, all_frames
from ..records import MATERIAL_NAMES, PLAYER, PLAYER_SETTINGS, SEQUENCES, SHADERS, PlayerFiles, PlayerSettings
from ..tags import Tag
from . import Builder, make_builder

# What the head, which does not move, is in.
_STANDING = "TORSO_STAND"


@dataclass(frozen=True)
class PlayerExport:
    """The options of the export of a player."""

    settings: PlayerSettings
    model: ExportOptions


def settings_of(player: Player) -> PlayerSettings:
    """The settings of a player: as they were set, else as imported, else those of a new one."""
    stored = PLAYER_SETTINGS.read(player.holder)
    if stored is not None:
        return stored
    files = _files_of(player, LOWER)
    read = _read_settings(dict(files.texts).get(CONFIG_NAME, ""))
    return replace(read, name=files.name or read.name, skins=" ".join(_imported_skins(player)) or read.skins)


def _imported_skins(player: Player) -> list[str]:
    files = [name for part in player.parts for name, _ in _files_of(player, part).texts if name != CONFIG_NAME]
    found = dict.fromkeys(name.partition("_")[2].rpartition(".")[0].lower() for name in files)
    return sorted(found, key=lambda name: name != PlayerSettings.skins)


def _read_settings(config: str) -> PlayerSettings:
    """The settings in an `animation.cfg`, as the game takes them."""
    found, plain = player_settings(config), PlayerSettings()
    sex = found.get("sex", "m")[:1].lower()
    numbers = [float(word) for word in re.findall(r"[-+]?[\d.]*\d", found.get("headoffset", ""))]
    return PlayerSettings(
        sex=sex if sex in ("f", "n") else "m",
        footsteps=found.get("footsteps", plain.footsteps).lower(),
        head_offset=(numbers[0], numbers[1], numbers[2]) if len(numbers) == 3 else plain.head_offset,
    )


def _files_of(player: Player, part: str) -> PlayerFiles:
    root = player.parts[part].root if part in player.parts else None
    return (PLAYER.read(root) if root is not None else None) or PlayerFiles()


def imported_sequences(player: Player) -> list[Sequence] | None:
    """The sequences that a player was imported with; None if not all of it comes from files."""
    found: dict[str, Sequence] = {}
    for part in PARTS:
        root = player.parts[part].root if part in player.parts else None
        if root is None or PLAYER.read(root) is None:
            return None
        rows = SEQUENCES.read(root)
        found |= {one.name: one for one in (rows.found if rows is not None else ()) if is_played_by(part, one.name)}
    return list(found.values())


def is_untouched(player: Player) -> bool:
    """Whether no sequence of an imported player was edited, so that its files have the right frames."""
    rows = imported_sequences(player)
    return rows is not None and player.is_as_imported(rows)


def problems_of(player: Player) -> Iterator[str]:
    """What keeps the game from showing a player."""
    missing = [name for name in PARTS if name not in player.parts]
    if missing:
        yield f"no {listing(missing)}: name an empty or a collection like that"
    tags = [
        name
        for name in ("tag_torso", "tag_head", "tag_weapon")
        if TAGS[name] in player.parts
        and not any((tag.bone or tag.obj.name).lower().startswith(name) for tag in player.parts[TAGS[name]].tags)
    ]
    if tags:
        yield f"no {listing(tags)}: add empties or bones of that name"
    absent = missing_sequences(player.actions)
    if absent:
        yield f"no action for {len(absent)} of the sequences: {listing(absent, len(absent))}"
    for one in player.sequences:
        parts = [name for name in (LOWER, UPPER) if is_played_by(name, one.name)]
        still = [name for name in parts if not player.plays(player.parts[name], one.name)]
        if still and not is_untouched(player):
            yield f"{one.name} plays nothing of {listing(still)}: give its action a slot for it"


def export_player(context: Context, player: Player, folder: Path, options: PlayerExport) -> Job[ExportResult]:
    """Writes a player below the folder of a game; raises Md3Error with nothing written."""
    report, files = Report(), dict[str, bytes]()
    with kept_on_failure(report), state.temporary_object_mode(context):
        is_same = is_untouched(player)
        # A file that was not edited is as good as it was.
        problems = [] if is_same and not missing_sequences(player.actions) else list(problems_of(player))
        if problems:
            raise Md3Error(f"not a player that the game can show: {'; '.join(problems)}")
        for part in player.parts.values():
            files |= yield from _part_files(context, player, part, options, report, is_same=is_same)
        files[CONFIG_NAME] = _config(player, options.settings, [] if is_same else in_table(player.sequences))
        report.count("files", len(files))
        report.hints += [f"The game also needs icon_{skin}.tga" for skin in options.settings.skins.split()]
        place = join("models/players", names.for_files(options.settings.name, "player"))
        places = existing_paths(folder, [join(place, name) for name in files])
        paths = {places[join(place, name)]: data for name, data in files.items()}
        for path in paths:
            path.parent.mkdir(parents=True, exist_ok=True)
        write_files(paths)
    PLAYER_SETTINGS.write(player.holder, options.settings)
    return ExportResult(list(paths), report)


def _part_files(
    context: Context, player: Player, part: Part, options: PlayerExport, report: Report, *, is_same: bool
) -> Job[dict[str, bytes]]:
    """The model of a part and its skins, by name."""
    builder = _builder(context, player, part, options.model, report)
    with all_frames(context.scene):
        model = yield from builder.build(None if is_same else _plan(context, player, part, builder, report))
    source = builder.source.model if builder.source is not None else None
    raise_errors(check_model(model, Game.QUAKE3, source), Md3Error, f"{part.name}.md3", report)
    untouched = source.preserved if source is not None and model == source else None
    skins = _skins(builder, model, player, part.name, options)
    return {f"{part.name}.md3": untouched or format_model(model), **skins}


def _words(settings: PlayerSettings) -> dict[str, str]:
    """What `animation.cfg` has of the settings."""
    offset = " ".join(f"{number:g}" for number in settings.head_offset)
    return {"sex": settings.sex, "footsteps": settings.footsteps, "headoffset": offset}


def _config(player: Player, settings: PlayerSettings, table: list[Sequence]) -> bytes:
    source = dict(_files_of(player, LOWER).texts).get(CONFIG_NAME, "")
    before = _words(_read_settings(source))
    head = {name: value for name, value in _words(settings).items() if not source or value != before[name]}
    try:
        return format_player_config(head, table, source).encode("latin-1", "replace")
    except ValueError as error:
        raise Md3Error(str(error)) from error


def _builder(context: Context, player: Player, part: Part, options: ExportOptions, report: Report) -> Builder:
    origin: Tag | None = None
    if part.name != LOWER:
        below, wanted = (LOWER, "tag_torso") if part.name == UPPER else (UPPER, "tag_head")
        tags = player.parts[below].tags
        found = [tag for tag in tags if (tag.bone or tag.obj.name).lower().startswith(wanted)]
        origin = Tag(part.root) if part.root is not None else next(iter(found), None)
    return make_builder(context, options, report, part.meshes, part.tags, origin)


def _plan(context: Context, player: Player, part: Part, builder: Builder, report: Report) -> FramePlan:
    """The frames of the sequences that a part plays; of a head the first of a torso that stands."""
    owners = list(dict.fromkeys(owner for one in player.parts.values() for owner in one.owners))
    segments = []
    for one in in_table(player.sequences):
        if is_played_by(part.name, one.name) or (part.name == HEAD and one.name == _STANDING):
            (shown,) = [found for found in player.sequences if found.name == one.name]
            plays: list[Any] = []
            for other in player.parts.values():
                if is_played_by(other.name, one.name):
                    plays += player.plays(other, one.name)
            clip = Clip(
                Source.ACTIONS, one.name, shown.first, shown.last, is_alone=True, plays=tuple(dict.fromkeys(plays))
            )
            last = shown.first if part.name == HEAD else shown.last
            segments.append(Segment(one.name, range(shown.first, last + 1), clip))
    plan = plan_sequences(part.meshes, builder.stored, context.scene, owners, segments)
    if part.name == HEAD and plan.file is not None and len(plan.file.frame_names) == 1:
        plan.source[:] = 0
    plan.names = frame_names(plan, part.meshes, context.scene, (), report)
    return plan


# Skins


def _skins(builder: Builder, model: Model, player: Player, part: str, options: PlayerExport) -> dict[str, bytes]:
    """The `.skin` files of a part, by name: those of the import where nothing changed, and new ones."""
    stored = {fold(name): (name, text) for name, text in _files_of(player, part).texts if name != CONFIG_NAME}
    game_folders, imported = options.model.game_folders, _imported_skins(player) if stored else []
    renamed: dict[str, str] = {}
    for obj in builder.meshes:
        now = ["" if one is None else name_for_file(one, SHADERS, game_folders) for one in obj.data.materials]
        renamed |= dict(zip(MATERIAL_NAMES.read(obj.data) or [], now, strict=False))
    source, present = builder.source, {fold(one.name) for one in model.surfaces}
    found = {}
    for index, shown in enumerate(options.settings.skins.split()):
        skin = names.for_files(shown, "default")
        name, text = stored.get(fold(f"{part}_{skin}.skin"), (f"{part}_{skin}.skin", ""))
        if not text and skin.lower() in imported:
            # It was not there.
            continue
        kept, known = [], set[str]()
        if text and source is not None:
            # Whether the file names them or not.
            known = {fold(one) for one in (*source.model.tag_names, *(one.name for one in source.model.surfaces))}
        for line in text.splitlines(keepends=True):
            surface, _, path = (word.strip() for word in line.partition(","))
            if not path or fold(surface) in present:
                kept.append(line.replace(path, renamed.get(path, path)) if path else line)
        new = [f"{tag}," for tag in model.tag_names if fold(tag) not in known]
        for one, obj in zip(model.surfaces, builder.objects, strict=True):
            if fold(one.name) not in known:
                new.append(f"{one.name},{_path(one.shaders, obj, index, builder, game_folders)}")
        if new and kept:
            kept[-1] = kept[-1].rstrip("\r\n") + "\n"
        found[name] = "".join([*kept, *(f"{line}\n" for line in new)]).encode("latin-1", "replace")
    return found


def _path(shaders: list[str], obj: Object, index: int, builder: Builder, game_folders: tuple[str, ...]) -> str:
    """The image or shader of a surface in a skin: the material of that slot, if its faces have the first alone."""
    slots = [one for one in obj.data.materials if one is not None]
    if builder.objects.count(obj) == 1 and index < len(slots):
        return name_for_file(slots[index], SHADERS, game_folders)
    return shaders[0] if shaders else ""
