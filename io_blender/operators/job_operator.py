"""Operators that do a job in turns, so that the window is drawn and Esc ends it, and report its result; what a job that
fails or is ended has changed is undone."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

import bpy
from bpy.types import Context, Event, Object

from ...io_common.errors import FormatError, message_for
from .. import reports, state
from ..clips.playing import PlayedData, Pose
from ..scene.objects import NothingToExportError
from .panel_parts import Operator, OperatorResult
from .preferences import registered


class NoFileError(ValueError):
    """The user chose no file, or a path that is not a regular file."""


# The result of an operator's job: the report, and the files that were read or written.
Outcome = tuple[reports.Report, Iterable[Path]]

# A job of an operator that a user started is done in turns, between which the window is drawn and Esc is noticed.
_TURN = 0.1  # seconds
_FIRST_TURN = 0.5


class JobOperator(Operator):
    """An operator with a job that may take long: Esc ends it, and everything is as before."""

    verb: str  # what is done to the files: Imported or Exported
    when_canceled = "nothing has changed"
    changes_scene = True  # else the user may work on while it runs
    bad_data: Any = ()
    """The exception for what cannot be read, or what the game would refuse, besides those of the families."""

    def job(self, context: Context) -> reports.Job[Outcome]:
        raise NotImplementedError

    def execute(self, context: Context) -> OperatorResult:
        self._started = time.perf_counter()
        job = self.job(context)
        self._job = all_or_nothing(context, job) if self.changes_scene else job
        # Only a user can press Esc.
        is_interactive = self.options.is_invoke and not self.options.is_repeat and not bpy.app.background
        result = self._work(context, self._started + _FIRST_TURN if is_interactive else math.inf)
        if result == {"RUNNING_MODAL"}:
            manager = context.window_manager
            self._timer = manager.event_timer_add(_TURN, window=context.window)
            manager.modal_handler_add(self)
        return result

    def modal(self, context: Context, event: Event) -> OperatorResult:
        result: OperatorResult = {"RUNNING_MODAL"}
        if event.type == "ESC":
            self._job.close()
            self.report({"INFO"}, f"{self.bl_label} was canceled: {self.when_canceled}")
            result = {"CANCELLED"}
        elif event.type == "TIMER":
            result = self._work(context, time.perf_counter() + _TURN)
        if result != {"RUNNING_MODAL"}:
            context.window_manager.event_timer_remove(self._timer)
            context.workspace.status_text_set(None)
        return result

    def cancel(self, context: Context) -> None:
        """Blender closes, or opens another file."""
        if getattr(self, "_job", None) is not None:
            self._job.close()

    def _work(self, context: Context, until: float) -> OperatorResult:
        """Goes on with the job until a time; reports to the user once it ends."""
        try:
            if until == math.inf:
                report, paths = reports.finish(self._job)
            else:
                done = next(self._job)
                while time.perf_counter() < until:
                    done = next(self._job)
                words = f"{self.verb.removesuffix('ed')}ing {_subject(self)}   Esc: Cancel"
                context.workspace.status_text_set(_draw_progress(words, done))
                return {"RUNNING_MODAL"}
        except StopIteration as end:
            report, paths = end.value
        except Exception as error:
            # Whatever is not expected is reported as an internal error, with its traceback.
            bad_data = (FormatError, self.bad_data, *(family.error for family in registered))
            expected = (*bad_data, NothingToExportError, NoFileError)
            report = reports.report_of(error)
            reports.report_message(self, "INFO", *report.facts)
            reports.report_message(self, "WARNING", *report.warnings)
            reports.report_message(self, "ERROR", message_for(error, expected, subject=_subject(self)))
            return {"CANCELLED"}
        names = reports.listing([path.name for path in paths], 2)
        reports.report_result(self, report, self.verb, names, self._started)
        return {"FINISHED"}


def _draw_progress(words: str, done: float) -> Callable[[Any, Context], None]:
    def draw(header: Any, context: Context) -> None:
        header.layout.label(text=words)
        header.layout.progress(text=f"{done:.0%}", factor=done)

    return draw


def _subject(operator: Any) -> str:
    selected = [file.name for file in getattr(operator, "files", ()) if file.name]
    path = getattr(operator, "filepath", "") or getattr(operator, "name", "")
    return reports.listing(selected, 2) or bpy.path.basename(path)


# Rollback relies on no list of what was created: data-blocks that did not exist before are removed.

_Result = TypeVar("_Result")
_RANGE_PROPERTIES = ("frame_start", "frame_end", "frame_preview_start", "frame_preview_end", "use_preview_range")
_RENDER_PROPERTIES = ("fps", "fps_base", "resolution_x", "resolution_y", "pixel_aspect_x", "pixel_aspect_y")


def all_or_nothing(context: Context, job: reports.Job[_Result]) -> reports.Job[_Result]:
    """Does a job; all its changes are undone if it raises an exception or is ended."""
    snapshot = Snapshot(context)
    try:
        return (yield from job)
    except BaseException:
        # GeneratorExit and KeyboardInterrupt as well.
        snapshot.restore()
        raise


class Snapshot:
    """The existing data-blocks, and the state that an import may change."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._scene = scene = context.scene
        self._ids = {data.session_uid for data in state.data_blocks()}
        armatures = [obj for obj in bpy.data.objects if obj.pose is not None]
        self._settings = [
            state.Saved([scene], "camera", *_RANGE_PROPERTIES),
            state.Saved([scene.render], *_RENDER_PROPERTIES),
            state.Saved((bone for obj in armatures for bone in obj.pose.bones), "rotation_mode"),
        ]
        self._frame = scene.frame_float
        self._markers = {marker.as_pointer() for marker in scene.timeline_markers}
        self._playing = [PlayedData(obj) for obj in armatures]
        self._poses = [Pose(obj) for obj in armatures]
        self._view = _view(context)

    def restore(self) -> None:
        """Removes added data-blocks, and restores the state. The same .blend file must be open."""
        for marker in list(self._scene.timeline_markers):
            if marker.as_pointer() not in self._markers:
                self._scene.timeline_markers.remove(marker)
        if self._frame != self._scene.frame_float:
            state.set_frame(self._scene, self._frame)
        # A marker may have switched the camera.
        for settings in self._settings:
            settings.restore()
        for playing in self._playing:
            playing.restore()
        changes = [pose.restore() for pose in self._poses]
        if any(changes):
            self._context.view_layer.update()
        new = [data for data in state.data_blocks() if data.session_uid not in self._ids]
        if not new and _view(self._context) == self._view:
            # Leaving and entering Edit Mode again would have side effects.
            return
        state.switch_to_object_mode(self._context)
        bpy.data.batch_remove(new)
        active, mode, selected = self._view
        objects = self._context.view_layer.objects
        if len(objects):
            state.select_only(self._context, selected, None)
            objects.active = active
        if active is not None and active.mode != mode:
            bpy.ops.object.mode_set(mode=mode)


def _view(context: Context) -> tuple[Object | None, str, list[Object]]:
    objects = context.view_layer.objects
    active = objects.active
    selected = [obj for obj in objects if obj.select_get()]
    return active, active.mode if active is not None else "OBJECT", selected
