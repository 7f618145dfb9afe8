"""The conversion of one file: results are written to a temporary folder and moved when they are complete.

The folder lies next to the target. No run reads files from it, as its name starts with a dot; a later run removes it.
"""

from __future__ import annotations

import os
import secrets
import shutil
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import bpy

from ..families import FAMILIES
from ..io_blender import versions
from ..io_blender.materials.images import source_of
from ..io_blender.options import Scene, Settings
from ..io_blender.reports import Report, finish, report_of
from ..io_blender.scene import axes
from ..io_blender.scene.objects import ChosenConversion, NothingToExportError
from ..io_characters import CharacterError
from ..io_characters.assets import make_asset
from ..io_characters.importer import import_character
from ..io_characters.reading import CharacterOptions
from ..io_characters.scene import actions_of, animated_data
from ..io_common.declarations.characters import QUAKE3
from ..io_common.errors import message_for, without_path
from ..io_common.family import family_of_file
from ..io_common.files import open_file
from ..io_common.game_tree.files import FileReadError
from .tasks import ASSETS, CONVERTED, FAILED, FAMILY_FORMATS, Outcome, Records, Task, character_of, digest
from .writers import BLENDERS_EXPORTERS, WRITERS, enabled

_PREFIX = ".idtech-converting-"
_DIGITS = 8
_ABANDONED_AFTER = 86400.0  # seconds; no file takes a day to convert
# Bytes. Blender's limit is 1,023, and its exporters add to the name of the file while they write it.
_LONGEST_PATH = 1000


class TargetError(ValueError):
    """The target of an output file must not be replaced."""


_EXPECTED = (*(family.error for family in FAMILIES), NothingToExportError, TargetError, CharacterError, FileReadError)


class Conversion:
    """The conversion of a task whose results are written to a temporary folder, by this Blender or another one."""

    def __init__(self, task: Task, records: Records) -> None:
        self.task = task
        # Blender takes relative paths from the variable PWD, which programs that start it may leave as it was.
        self.folder = Path(os.path.abspath(task.target.parent)) / f"{_PREFIX}{secrets.token_hex(_DIGITS // 2)}"
        self._records = records
        self._state = records.state(task)

    def finish(self, outcome: Outcome) -> Outcome:
        """Moves what has been written to its place and records it; returns the outcome of the task."""
        started = time.perf_counter()
        try:
            if outcome.status == CONVERTED:
                self._move([Path(name) for name in outcome.written], [Path(name) for name in outcome.others])
        except Exception as error:
            outcome.status, outcome.reason = FAILED, _reason(error, self.task)
        finally:
            self.remove_folder()
        outcome.seconds += time.perf_counter() - started
        return outcome

    def remove_folder(self) -> None:
        """Removes the temporary folder."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _move(self, written: list[Path], others: list[Path]) -> None:
        # The task's own target comes last, as it marks the task as done.
        written.sort(key=lambda path: path.name == self.task.target.name)
        targets = {path: _target_of(path, self.task) for path in written}
        for target in targets.values():
            _require_replaceable(target, self.task, self._records)
        digests = {target: digest(path) for path, target in targets.items()}
        with self._records.storing(self.task, self._state, digests, others):
            for path, target in targets.items():
                path.replace(target)


def write_results(task: Task, folder: Path, settings: Settings) -> Outcome:
    """Writes a task's results to a new folder; an internal error prints a traceback and fails the task."""
    started = time.perf_counter()
    report = Report(image_remedy="Name the game's folder with --game-folder")
    outcome = Outcome(CONVERTED)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir(mode=0o700)
        target = folder / task.target.name
        if settings.format not in FAMILY_FORMATS:
            _require_short_path(target, task)
        load = _load_character if task.character else _load_file
        scene = load(task, settings, report)
        # Before writing, which makes paths relative to the result.
        outcome.others = _other_files(settings, report)
        loaded = time.perf_counter()
        written = WRITERS[settings.format](target, scene, settings, report)
        if settings.format in BLENDERS_EXPORTERS:
            outcome.exporter_seconds = time.perf_counter() - loaded
        outcome.written = [os.fspath(path) for path in written]
    except Exception as error:
        # Even an internal error must not stop the conversion of the other files.
        outcome = Outcome(FAILED, _reason(error, task))
        report.merge(report_of(error))
    outcome.warnings = [*report.warnings, *report.facts]
    outcome.seconds = time.perf_counter() - started
    return outcome


def _require_short_path(path: Path, task: Task) -> None:
    """Raises TargetError if Blender would cut off a path, and so write another file."""
    if len(os.fsencode(os.path.abspath(path))) > _LONGEST_PATH:
        raise TargetError(f"{task.target}: Blender cannot write a path that long: choose another output folder")


def _empty_scene() -> None:
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)


def _load_file(task: Task, settings: Settings, report: Report) -> Scene:
    family = family_of_file(FAMILIES, task.source)
    if family is None:
        # This refuses pipes, on which Blender would wait forever.
        open_file(task.source).close()
        bpy.ops.wm.open_mainfile(filepath=os.path.abspath(task.source), load_ui=False, use_scripts=False)
        has_scale = settings.scale is not None
        return Scene(ChosenConversion(axes.to_file(settings.scale or 1.0, "Y", "Z"), has_scale))
    _empty_scene()
    conversion = axes.from_file(settings.scale or 1.0, "Y", "Z")
    result = family.blender().load(bpy.context, task.source, settings, conversion)
    report.merge(result.report)
    actions = [action for action in result.actions if action not in result.divided]
    for action in result.divided:
        # Blender's glTF exporter writes every action that fits an armature.
        bpy.data.actions.remove(action)
    owners = [owner for obj in result.objects if (owner := animated_data(obj)) is not None]
    fitting = [(owner, [one for one in actions if versions.can_play(one, owner.id_type)]) for owner in owners]
    # What plays the actions of others, such as tags, has slots of its name.
    others = [obj for obj in result.objects if obj.animation_data is not None and obj not in owners]
    fitting += [(obj, [one for one in actions if versions.has_slot(one, obj.id_type, obj.name)]) for obj in others]
    holds_animations = family.skeletal is not None and family.has_one_file and bool(actions)
    return Scene(axes.identity(), [(owner, found) for owner, found in fitting if found], holds_animations)


def _load_character(task: Task, settings: Settings, report: Report) -> Scene:
    character, files = character_of(task, settings)
    if settings.format in FAMILY_FORMATS and len(character.parts) > 1 and character.game == QUAKE3:
        raise TargetError("a player has several models: convert it to blend, glb or fbx, or each of its models alone")
    _empty_scene()
    conversion = axes.from_file(settings.scale or 1.0, "Y", "Z")
    options = CharacterOptions(
        use_textures=settings.use_textures, game_folders=settings.game_folders, conversion=conversion
    )
    result = finish(import_character(bpy.context, character, files, options))
    report.merge(result.report)
    if settings.format == ASSETS:
        games = {game.value: profile.label for family in FAMILIES for game, profile in family.games.items()}
        game, source = Path(settings.game_data[0]).stem, character.parts[0].model
        if character.declaration is not None:
            game, source = games.get(character.game, character.game), character.declaration.file
        with enabled("cycles"):
            make_asset(task.character, task.kind, game, source, task.catalog)
        return Scene(axes.identity())
    actions = [(animated_data(obj), [action for _, action in actions_of(obj)]) for obj in result.objects]
    return Scene(axes.identity(), [(owner, found) for owner, found in actions if owner is not None and found])


def _other_files(settings: Settings, report: Report) -> list[str]:
    """The files that the scene refers to: .blend files and, unless the result refers to them too, images."""
    libraries = [library for library in bpy.data.libraries if not versions.is_packed(library)]
    paths = {bpy.path.abspath(library.filepath) for library in libraries}
    for path in sorted(paths):
        if not os.path.isfile(path):
            report.warn(f"the linked file {path} is missing, so what it holds is left out: put it back")
    if settings.format != "blend":
        paths |= {file for image in bpy.data.images if (file := source_of(image))}
    return sorted(paths)


def _require_replaceable(path: Path, task: Task, records: Records) -> None:
    reason = ""
    if path in records.sources:
        reason = "is an input file of this run: choose another output folder"
    elif not os.path.lexists(path):
        return
    elif not os.path.exists(path):
        reason = "is a broken link: remove it, or choose another output folder"
    elif not os.path.isfile(path):
        reason = "exists and is not a regular file: choose another output folder"
    elif path.is_symlink():
        reason = "is a link: choose another output folder"
    elif not os.access(path, os.W_OK):
        reason = "is write-protected: choose another output folder, or make it writable"
    elif not records.force and not records.is_result(task, path):
        reason = (
            "exists and was not written by an earlier run, or was changed since: choose another output folder, or use "
            "--force"
        )
    if reason:
        raise TargetError(f"{path} {reason}")


def _target_of(path: Path, task: Task) -> Path:
    # Games look for an animation with the name of its model.
    prefix = "" if path.stem == task.target.stem else task.prefix
    return task.target.with_name(f"{prefix}{path.name}")


def _reason(error: Exception, task: Task) -> str:
    """Why a task failed; errors about files in the temporary folder name the paths that the user knows."""
    name = error.filename if isinstance(error, OSError) and error.filename2 is None else None
    if isinstance(error, OSError) and isinstance(name, str) and _PREFIX in name:
        path = Path(name)
        known = task.target.parent if path.name.startswith(_PREFIX) else _target_of(path, task)
        error = OSError(error.errno, error.strerror, str(known))
    return without_path(message_for(error, _EXPECTED, target=task.target), task.source)


def remove_abandoned(folders: Iterable[Path]) -> None:
    """Removes the temporary folders that killed runs left in output folders, some of which may not exist."""
    for folder in folders:
        with suppress(OSError):
            for path in folder.glob(_PREFIX + "[0-9a-f]" * _DIGITS):
                if time.time() - path.lstat().st_mtime > _ABANDONED_AFTER:
                    shutil.rmtree(path)
