"""*Make Asset Library* in the preferences: the conversion of a game to an asset library by Blenders without windows."""

from __future__ import annotations

import os
from itertools import chain
from pathlib import Path
from typing import Any

import bpy
from bpy.types import Context, Event

from ..io_blender import reports
from ..io_blender.operators import job_operator, preferences
from ..io_blender.operators.panel_parts import OperatorResult
from ..io_blender.options import SAME_FOLDER, Settings, hidden, option, properties
from ..io_characters import CharacterError
from ..io_characters.reading import catalogue
from ..io_common.asset_library import size_of, write_catalogs
from ..io_common.errors import extension_version
from ..io_common.game_tree.folders import folders_of
from .command import Interrupt, outcomes
from .plan import Plan
from .tasks import ASSETS, FAILED, UP_TO_DATE, Records

_COUNTS = {FAILED: "failed assets", UP_TO_DATE: "unchanged assets"}
_MOST_BLENDERS = 4  # each takes about half a gigabyte of memory


@properties
class PREFERENCES_OT_io_idtech_make_asset_library(job_operator.JobOperator, bpy.types.Operator):
    """Make an asset library of all characters and models of this game, with pictures, in a folder of your choice. What
    is there and has not changed is not made again"""

    bl_idname = "preferences.io_idtech_make_asset_library"
    bl_label = "Make Asset Library"
    bl_options = {"INTERNAL"}
    verb, bad_data = "Rendered", CharacterError
    when_canceled = "finished assets are kept, and the next run goes on"
    changes_scene = False

    game: str = hidden("", name="Game", description="The game folder", subtype="DIR_PATH")
    directory: str = option("", "Library", "Folder for the library", subtype="DIR_PATH", options={"SKIP_SAVE"})
    filepath: str = hidden("")  # what the status bar names
    filter_folder: bool = hidden(True)

    def invoke(self, context: Context, event: Event) -> OperatorResult:
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def draw(self, context: Context) -> None:
        found = catalogue(Path(bpy.path.abspath(self.game)))
        self.layout.label(text=size_of(len(found.matching(["*"]))))

    def job(self, context: Context) -> reports.Job[job_operator.Outcome]:
        if not self.directory:
            raise CharacterError("no folder selected: select the folder for the library")
        library = Path(bpy.path.abspath(self.directory))
        self.filepath = str(library)
        scale = preferences.default_scale()
        settings = Settings(
            format=ASSETS,
            animations=SAME_FOLDER,
            scale=scale if scale != 1.0 else None,
            game_folders=tuple(preferences.game_folders()),
            game_data=tuple(map(str, folders_of(Path(bpy.path.abspath(self.game))))),
        )
        records = Records(library, settings, extension_version())
        plan = Plan(records)
        plan.add_characters(["*"])
        if not (plan.tasks or plan.refused):
            raise CharacterError(f"{self.game}: no models were found in this folder")
        write_catalogs(library, [(task.character, task.catalog) for task in plan.tasks])
        libraries: Any = context.preferences.filepaths.asset_libraries
        if library not in [Path(bpy.path.abspath(one.path)) for one in libraries]:
            # All that belongs to an asset is appended with it, so that each character has its own.
            libraries.new(name=library.name, directory=str(library)).import_method = "APPEND"
            context.preferences.is_dirty = True
        report, progress, done = reports.Report(), reports.Progress(len(plan.tasks) + len(plan.refused)), 0.0
        jobs = max(1, min(_MOST_BLENDERS, (os.cpu_count() or 1) // 2))
        # None stands for no news.
        for news in chain(plan.refused, outcomes(plan.tasks, records, jobs, Interrupt())):
            if news is not None:
                task, outcome = news
                report.count(_COUNTS.get(outcome.status, "assets"))
                if outcome.status == FAILED:
                    report.warn(outcome.reason, task.name)
                done = progress.step()
            yield done
        return report, [library]
