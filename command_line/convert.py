"""One file into another format, in this Blender: its scene is given up for it."""

from __future__ import annotations

import time
from pathlib import Path

import bpy

from ..families import FAMILIES
from ..io_common import error_messages
from ..io_common.batch import Loaded, LoadOptions
from ..io_common.family import family_of
from ..io_common.files.regular_files import open_file
from ..io_common.operators import preferences
from ..io_common.reports import Report
from ..io_common.scene import axes
from ..io_common.scene.objects import NothingToExportError
from .placing import TakenError, find_places, move, without_workplace, workplace
from .record import Records, digest
from .settings import CONVERTED, FAILED, Outcome, Settings, Task
from .writers import WRITERS, Scene

_BAD_DATA = tuple(family.error for family in FAMILIES)


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
    except (*_BAD_DATA, NothingToExportError, TakenError) as error:
        outcome = Outcome(FAILED, _without_path(str(error), task.source))
    except RuntimeError as error:
        outcome = Outcome(FAILED, error_messages.of_operator(error, task.target))
    except OSError as error:
        outcome = Outcome(
            FAILED, _without_path(error_messages.of_file(without_workplace(error, task)), task.source)
        )
    except MemoryError:
        outcome = Outcome(FAILED, "there is not enough memory for this")
    except Exception as error:
        # No file may stop the others.
        outcome = Outcome(FAILED, error_messages.of_program(error))
    outcome.warnings = report.warnings
    outcome.seconds = time.perf_counter() - started
    return outcome


def _without_path(text: str, source: Path) -> str:
    """A reason without the file that it stands beside anyway."""
    return text.removeprefix(f"{source}, ").removeprefix(f"{source}: ")


def _load(source: Path, settings: Settings, report: Report) -> Scene:
    """Makes a file the scene.

    Raises:
        ValueError: the family's error: the file cannot be understood.
        OSError, RuntimeError: it cannot be read.
    """
    family = family_of(FAMILIES, source.suffix)
    if family is None:
        # Blender would wait for what comes out of a pipe.
        open_file(source).close()
        bpy.ops.wm.open_mainfile(filepath=str(source), load_ui=False, use_scripts=False)
        return Scene(None, settings.scale)
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    options = LoadOptions(
        conversion=axes.importing(settings.scale, "Y", "Z"),
        use_textures=settings.use_textures,
        game_folders=settings.game_folders,
        animation_folder=settings.animation_folder(source),
        # Only there an animation may be one of several.
        separate_actions=settings.format == "glb",
    )
    loaded: Loaded = family.blender().load(bpy.context, source, options)
    for text in loaded.report.warnings:
        report.warn(text)
    return Scene(loaded)
