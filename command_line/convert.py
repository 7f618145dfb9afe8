"""The conversion of one file in this Blender, whose scene is replaced."""

from __future__ import annotations

import os
import time
from pathlib import Path

import bpy

from ..families import FAMILIES
from ..io_blender import versions
from ..io_blender.batch import Loaded, LoadOptions
from ..io_blender.materials.images import source_of
from ..io_blender.reports import Report, report_of
from ..io_blender.scene import axes
from ..io_blender.scene.objects import ChosenConversion, NothingToExportError
from ..io_common.error_messages import message_for, without_path
from ..io_common.family import family_of
from ..io_common.files.regular_files import open_file
from .empty_scene import EmptyScene
from .load_character import CHARACTER_ERRORS, load_character
from .output_files import (
    TargetError,
    find_targets,
    move,
    require_short_path,
    temporary_folder,
    with_target_name,
)
from .records import Records, digest
from .settings import CONVERTED, FAILED, Outcome, Settings, Task
from .writers import BLENDERS_EXPORTERS, WRITERS, Scene

_EXPECTED = (*(family.error for family in FAMILIES), NothingToExportError, TargetError, *CHARACTER_ERRORS)


def convert(task: Task, records: Records, empty_scene: EmptyScene) -> Outcome:
    """Converts a file; makes the folder of its target if needed, and updates the records.

    Bad files and internal errors of the extension give a failed outcome; the traceback of an internal error is printed.
    """
    started = time.perf_counter()
    report = Report()
    settings = records.settings
    try:
        state = records.state(task)
        with temporary_folder(task.target.parent) as folder:
            require_short_path(folder / task.target.name, task, settings)
            scene = (
                load_character(task, settings, empty_scene, report)
                if task.character
                else _load(task.source, settings, empty_scene, report)
            )
            loaded = time.perf_counter()
            written = WRITERS[settings.format](folder / task.target.name, scene, settings, report)
            exported = time.perf_counter() - loaded
            if settings.format == "blend" and not task.character:
                # The other writers prepare the scene for their exporters.
                empty_scene.allow_restoring()
            others = _other_files(settings, report)
            targets = find_targets(written, task, records)
            digests = {target: digest(path) for path, target in targets.items()}
            # If Blender is killed from here on, a later run may still replace the targets.
            is_final = records.store_before_moving(task, state, digests, others)
            move(targets)
            if not is_final:
                records.store_done(task, state, digests, others)
        outcome = Outcome(
            CONVERTED, exporter_seconds=exported if settings.format in BLENDERS_EXPORTERS else 0.0
        )
    except Exception as error:
        # Even an internal error must not stop the conversion of the other files.
        named = with_target_name(error, task) if isinstance(error, OSError) else error
        outcome = Outcome(
            FAILED, without_path(message_for(named, _EXPECTED, target=task.target), task.source)
        )
        report.merge(report_of(error))
    outcome.warnings = report.warnings
    outcome.seconds = time.perf_counter() - started
    return outcome


def _other_files(settings: Settings, report: Report) -> list[Path]:
    """The files that the scene refers to: .blend files and, unless the result refers to them too, images.

    Libraries that are missing get a warning.
    """
    libraries = [library for library in bpy.data.libraries if not versions.is_packed(library)]
    paths = {Path(bpy.path.abspath(library.filepath)) for library in libraries}
    for path in sorted(paths):
        if not os.path.isfile(path):
            report.warn(f"the linked file {path} is missing, so what it holds is left out: put it back")
    if settings.format != "blend":
        paths |= {Path(file) for image in bpy.data.images if (file := source_of(image))}
    return sorted(paths)


def _load(source: Path, settings: Settings, empty_scene: EmptyScene, report: Report) -> Scene:
    """Loads a file as the scene.

    Raises the family's error, a ValueError, if the file is invalid, and OSError or RuntimeError if it cannot be read.
    """
    family = family_of(FAMILIES, source.suffix)
    if family is None:
        # This refuses pipes, on which Blender would wait forever.
        open_file(source).close()
        bpy.ops.wm.open_mainfile(filepath=str(source), load_ui=False, use_scripts=False)
        has_scale = settings.scale is not None
        return Scene(None, ChosenConversion(axes.to_file(settings.scale or 1.0, "Y", "Z"), has_scale))
    empty_scene.prepare()
    options = LoadOptions(
        conversion=axes.from_file(settings.scale or 1.0, "Y", "Z"),
        use_textures=settings.use_textures,
        game_folders=settings.game_folders,
        animation_folder=settings.animation_folder(source),
        # Only glTF holds the animations of a file separately.
        separate_actions=settings.format == "glb",
    )
    loaded: Loaded = family.blender().load(bpy.context, source, options)
    report.merge(loaded.report)
    return Scene(loaded)
