"""Export of a Quake III player: the models of its parts, its table of sequences, and its skins.

What was imported and not edited comes back. Else each part has the frames of its sequences, one after the other, in the
order of the game (`cg_players.c`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from bpy.types import Context

from ...io_blender import state
from ...io_blender.clips.clip import Clip, Source
from ...io_blender.frames.frame_names import FrameNamer
from ...io_blender.frames.frame_plan import FramePlan, Segment, plan_sequences
from ...io_blender.materials.library import name_for_file
from ...io_blender.reports import ExportResult, Job, Report, kept_on_failure, listing, raise_errors
from ...io_common import names
from ...io_common.files import write_files
from ...io_common.game_tree.tree import existing_paths
from ...io_common.names import fold, join
from ...io_common.textures.conventions import name_in_skins
from ..format import Game, Md3Error, Model, check_model, format_model, sequences
from ..format.sequences import CONFIG_NAME, is_played_by
from ..options import ExportOptions
from ..players import HEAD, JOINTS, LOWER, PARTS, STANDING, TAGS, UPPER, Part, Player, all_frames
from ..records import FOOTSTEPS, MATERIAL_NAMES, PLAYER_SETTINGS, SHADERS, PlayerSettings
from ..tags import Tag
from . import Builder


def settings_of(player: Player) -> PlayerSettings:
    """The settings of a player: as they were set, else as imported, else those of a new one."""
    stored = PLAYER_SETTINGS.read(player.holder)
    if stored is not None:
        return stored
    read, name = _read_settings(player.config), player.parts[LOWER].files.name
    return replace(read, name=name or read.name, skins=" ".join(_imported_skins(player)) or read.skins)


def _imported_skins(player: Player) -> list[str]:
    skins = [name for part in player.parts.values() for name, _ in part.files.texts if name != CONFIG_NAME]
    found = dict.fromkeys(name.partition("_")[2].rpartition(".")[0].lower() for name in skins)
    return sorted(found, key=lambda name: name != PlayerSettings.skins)


def _read_settings(config: str) -> PlayerSettings:
    """The settings in an `animation.cfg`, as the game takes them."""
    found, plain = sequences.player_settings(config), PlayerSettings()
    sex = found.get("sex", "m")[:1].lower()
    footsteps = found.get("footsteps", plain.footsteps).lower()
    # Of a word, the game takes the number that it begins with.
    words = (re.match(r"[-+]?(\d+\.?\d*|\.\d+)", word) for word in found.get("headoffset", "").split())
    numbers = [float(word[0]) if word is not None else 0.0 for word in words]
    return PlayerSettings(
        sex=sex if sex in ("f", "n") else "m",
        footsteps=footsteps if footsteps in FOOTSTEPS else plain.footsteps,
        head_offset=(numbers[0], numbers[1], numbers[2]) if len(numbers) == 3 else plain.head_offset,
    )


def problems_of(player: Player) -> Iterator[str]:
    """What keeps the game from showing a player, besides what its imported files lacked already."""
    missing = [name for name in PARTS if name not in player.parts]
    if missing:
        yield f"no {listing(missing)}: name an empty or a collection like that"
    tags = [
        f"{name} in {part.name}"
        for name in ("tag_torso", "tag_head", "tag_weapon")
        if (part := player.parts.get(TAGS[name])) is not None and part.find_tag(name) is None and part.needs_tag(name)
    ]
    if tags:
        yield f"no {listing(tags)}: add empties or bones with these names there"
    problems = []
    absent = sequences.missing_sequences(player.actions)
    if absent:
        problems.append(f"no action for {len(absent)} of the sequences: {listing(absent, len(absent))}")
    for one in player.sequences:
        still = [
            name for name in (LOWER, UPPER)
            if is_played_by(name, one.name) and not player.plays(player.parts[name], one.name)
        ]  # fmt: skip
        if still:
            problems.append(f"{one.name} moves nothing of {listing(still)}: add keyframes for it to the action")
    # A file that was not edited is as good as it was.
    if problems and not player.is_untouched():
        yield from problems


def export_player(
    context: Context, player: Player, folder: Path, settings: PlayerSettings, options: ExportOptions
) -> Job[ExportResult]:
    """Writes a player below the folder of a game; raises Md3Error with nothing written."""
    report, files = Report(), dict[str, bytes]()
    place = join("models/players", names.for_files(settings.name, "player"))
    with kept_on_failure(report), state.temporary_object_mode(context):
        is_same = player.is_untouched()
        problems = "; ".join(problems_of(player))
        if problems:
            raise Md3Error(f"not a player that the game can show: {problems}")
        for part in player.parts.values():
            builder = Builder(
                context, options, report, part.meshes, part.tags, _origin(player, part), keeps_surfaces=True
            )
            with all_frames(context):
                model = yield from builder.build(None if is_same else _plan(context, player, part, builder))
            source = builder.source.model if builder.source is not None else None
            raise_errors(check_model(model, Game.QUAKE3, source), Md3Error, f"{part.name}.md3", report)
            files[f"{part.name}.md3"] = format_model(model)
            files |= _skins(builder, model, player, part, settings)
            if not is_same:
                for used, others in player.unused.items():
                    report.warn(f"{used} was used, not {listing(sorted(others))}: rename the one that is wrong")
                _warn_of_levels(folder, join(place, part.name), report)
        before = _words(_read_settings(player.config)) if player.config else {}
        changed = {name: value for name, value in _words(settings).items() if value != before.get(name)}
        config = sequences.format_player_config(
            changed, [] if is_same else sequences.in_table(player.sequences), player.config
        )
        files[CONFIG_NAME] = config.encode("latin-1", "replace")
        report.count("files", len(files))
        report.hints += [f"The game also needs icon_{skin}.tga" for skin in settings.skin_names]
        if not settings.skin_names:
            report.warn("Skins is empty, so no .skin file was written: the game needs one for each part")
        places = existing_paths(folder, [join(place, name) for name in files])
        paths = {places[join(place, name)]: data for name, data in files.items()}
        for path in paths:
            path.parent.mkdir(parents=True, exist_ok=True)
        write_files(paths)
    PLAYER_SETTINGS.write(player.holder, settings)
    return ExportResult(list(paths), report)


def _warn_of_levels(folder: Path, path: str, report: Report) -> None:
    """Warns of levels of detail of a part, which the game shows with the frames of the part."""
    levels = [found for found in existing_paths(folder, [f"{path}_1.md3", f"{path}_2.md3"]).values() if found.exists()]
    if levels:
        report.warn(f"{listing([one.name for one in levels])}: levels of detail with other frames. Delete them")


def _words(settings: PlayerSettings) -> dict[str, str]:
    """What `animation.cfg` has of the settings."""
    offset = " ".join(f"{number:g}" for number in settings.head_offset)
    return {"sex": settings.sex, "footsteps": settings.footsteps, "headoffset": offset}


def _origin(player: Player, part: Part) -> Tag | None:
    """What the file of a part has it in relation to: its empty, else the tag that it hangs on."""
    if part.root is not None:
        return Tag(part.root)
    below, tag = JOINTS.get(part.name, ("", ""))
    return player.parts[below].find_tag(tag) if below else None


def _plan(context: Context, player: Player, part: Part, builder: Builder) -> FramePlan:
    """The frames of the sequences that a part plays; of a head the first of a torso that stands."""
    segments = []
    for one in player.sequences:
        if not (is_played_by(part.name, one.name) or (part.name == HEAD and one.name == STANDING[UPPER])):
            continue
        playing = [other for other in player.parts.values() if is_played_by(other.name, one.name)]
        plays = dict.fromkeys(play for other in playing for play in player.plays(other, one.name))
        clip = Clip(Source.ACTIONS, one.name, one.first, one.last, is_alone=True, plays=tuple(plays))
        last = one.first if part.name == HEAD else one.last
        segments.append(Segment(one.name, range(one.first, last + 1), clip))
    plan = plan_sequences(part.meshes, builder.stored, context.scene, player.owners, segments)
    if part.name == HEAD and plan.file is not None and len(plan.file.frame_names) == 1:
        plan.source[:] = 0
    plan.names = FrameNamer(plan, part.meshes, context.scene, (), builder.report).find_names()
    return plan


# Skins


def _skins(builder: Builder, model: Model, player: Player, part: Part, settings: PlayerSettings) -> dict[str, bytes]:
    """The `.skin` files of a part, by name: those of the import where nothing changed, and new ones."""
    stored = {fold(name): (name, text) for name, text in part.files.texts if name != CONFIG_NAME}
    imported, game_folders = _imported_skins(player) if stored else [], builder.options.game_folders
    renamed: dict[str, dict[str, str]] = {}
    objects = [part.obj for part in builder.parts]
    # A part that was split is one.
    parts = Counter(part.obj for part in set(builder.parts))
    for one, obj in zip(model.surfaces, objects, strict=True):
        now = ["" if slot is None else name_for_file(slot, SHADERS, game_folders) for slot in obj.data.materials]
        pairs = zip(MATERIAL_NAMES.read(obj.data) or [], now, strict=False)
        renamed.setdefault(fold(name_in_skins(one.name)), {}).update(pair for pair in pairs if pair[0] != pair[1])
    source = builder.source.model if builder.source is not None else None
    of_file = {fold(name_in_skins(one.name)) for one in source.surfaces} if source is not None else set[str]()
    tags = {fold(tag) for tag in source.tag_names} if source is not None else set[str]()
    found = {}
    for index, shown in enumerate(settings.skin_names):
        skin = names.for_files(shown, "default")
        name, text = stored.get(fold(f"{part.name}_{skin}.skin"), (f"{part.name}_{skin}.skin", ""))
        if not text and skin.lower() in imported:
            continue
        # Whether the text names them or not.
        known = of_file | tags if text else set[str]()
        kept = []
        for line in text.splitlines(keepends=True):
            surface, _, after = line.partition(",")
            path, named = after.strip(), fold(surface.strip())
            # What the file had not may be of a level of detail.
            if not path or named not in of_file or named in renamed:
                written = after.replace(path, renamed.get(named, {}).get(path, path)) if path else ""
                kept.append(f"{surface},{written}" if path else line)
        new, lines = [f"{tag}," for tag in model.tag_names if fold(tag) not in known], dict[str, str]()
        for one, obj in zip(model.surfaces, objects, strict=True):
            if fold(name_in_skins(one.name)) not in known:
                # The material of that slot, if the faces have the first alone.
                slots = [slot for slot in obj.data.materials if slot is not None]
                is_own = parts[obj] == 1 and index < len(slots)
                path = name_for_file(slots[index], SHADERS, game_folders) if is_own else next(iter(one.shaders), "")
                if lines.setdefault(name_in_skins(one.name), path) != path:
                    builder.report.warn("the game gives it the image of another surface: rename it", one.name)
        new += map(",".join, lines.items())
        if new and kept:
            kept[-1] = kept[-1].rstrip("\r\n") + "\n"
        found[name] = "".join([*kept, *(f"{line}\n" for line in new)]).encode("latin-1", "replace")
    return found
