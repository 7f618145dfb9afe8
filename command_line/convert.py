"""One file into another format, in this Blender: its scene is given up for it."""

from __future__ import annotations

import time
from pathlib import Path

import bpy

from ..io_common.error_messages import message_for
from ..io_common.files.regular_files import open_file
from ..io_common.operators import preferences
from ..io_common.reports import Report
from ..io_common.scene import axes
from ..io_common.scene.objects import NothingToExportError
from ..io_md2 import importer as md2_importer
from ..io_md2.format import Md2Error
from ..io_md5 import importer as md5_importer
from ..io_md5.format import Md5Error
from .placing import TakenError, find_places, move, without_workplace, workplace
from .record import Records, digest
from .settings import CONVERTED, FAILED, Outcome, Settings, Task
from .writers import WRITERS, Scene

_EXPECTED = (Md5Error, Md2Error, NothingToExportError, TakenError)


def convert(task: Task, records: Records) -> Outcome:
    """Converts a file.

    Args:
        task: the file, and what it becomes. The folder of the target is made.
        records: of the results; they say how it is converted, and are kept.

    Returns:
        What became of it. An error in the file is a reason to fail; so is a fault of the extension, whose
        traceback is printed.
    """
    started = time.perf_counter()
    report = Report()
    settings = records.settings
    try:
        with (
            workplace(task.target.parent) as folder,
            preferences.using_game_folders(settings.game_folders),
        ):
            scene = _load(task.source, settings, report)
            made = WRITERS[settings.format](folder / task.target.name, scene, settings, report)
            places = find_places(made, task, records)
            digests = {place: digest(path) for path, place in places.items()}
            # Whatever happens from here on, what is there is ours.
            records.claim(task, digests)
            move(places)
            records.keep(task, digests)
        outcome = Outcome(CONVERTED)
    except Exception as error:
        # No file may stop the others.
        shown = without_workplace(error, task) if isinstance(error, OSError) else error
        outcome = Outcome(
            FAILED, _without_path(message_for(shown, _EXPECTED, target=task.target), task.source)
        )
    outcome.warnings = report.warnings
    outcome.seconds = time.perf_counter() - started
    return outcome


def _without_path(text: str, source: Path) -> str:
    """A reason without the file that it stands beside anyway."""
    return text.removeprefix(f"{source}, ").removeprefix(f"{source}: ")


def _load(source: Path, settings: Settings, report: Report) -> Scene:
    """Makes a file the scene.

    Raises:
        Md5Error, Md2Error: it cannot be understood.
        OSError, RuntimeError: it cannot be read.
    """
    ending = source.suffix.lower()
    if ending == ".blend":
        # Blender would wait for what comes out of a pipe.
        open_file(source).close()
        bpy.ops.wm.open_mainfile(filepath=str(source), load_ui=False, use_scripts=False)
        return Scene(ending, settings.scale)
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    conversion = axes.from_file(settings.scale, "Y", "Z")
    if ending == ".md2":
        result = md2_importer.import_files(
            bpy.context,
            [source],
            md2_importer.ImportOptions(
                # Only there an animation may be one of several.
                sequence_actions=settings.format == "glb",
                use_textures=settings.use_textures,
                game_folders=settings.game_folders,
                conversion=conversion,
            ),
        )
        _take(report, result.report)
        return Scene(ending, sequences=result.actions[1:])
    folder = settings.animation_folder(source)
    imported = md5_importer.import_files(
        bpy.context,
        [source],
        md5_importer.ImportOptions(
            animations="NONE" if folder is None else "FOLDER",
            animation_folder=folder,
            use_textures=settings.use_textures,
            game_folders=settings.game_folders,
            conversion=conversion,
        ),
    )
    _take(report, imported.report)
    return Scene(ending)


def _take(report: Report, other: Report) -> None:
    for text in other.warnings:
        report.warn(text)
