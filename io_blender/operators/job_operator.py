"""Operators that do a job in turns, so that the window is drawn and Esc ends it, and report its result."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy

from ...io_common.errors import message_for
from ...io_common.family import Family
from .. import reports
from ..scene.objects import NothingToExportError
from . import rollback
from .panel_parts import Operator

if TYPE_CHECKING:
    from bpy.types import Context, Event

    from .panel_parts import OperatorResult


registered: list[Family] = []
"""The families whose operators are registered."""


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
    bad_data: Any = ()
    """The exception for what cannot be read, or what the game would refuse, besides those of the families."""

    def job(self, context: Context) -> reports.Job[Outcome]:
        """The job with the options."""
        raise NotImplementedError

    def execute(self, context: Context) -> OperatorResult:
        self._started = time.perf_counter()
        self._job = rollback.all_or_nothing(context, self.job(context))
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
            self.report({"INFO"}, f"{self.bl_label} was canceled: nothing has changed")
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
                words = f"{self.verb.removesuffix('ed')}ing {_subject(self)}: {done:.0%}   Esc: Cancel"
                context.workspace.status_text_set(words)
                return {"RUNNING_MODAL"}
        except StopIteration as end:
            report, paths = end.value
        except Exception as error:
            # Whatever is not expected is reported as an internal error, with its traceback.
            bad_data = (self.bad_data, *(family.error for family in registered))
            expected = (*bad_data, NothingToExportError, NoFileError)
            for text in reports.report_of(error).warnings:
                reports.report_message(self, "WARNING", text)
            reports.report_message(self, "ERROR", message_for(error, expected, subject=_subject(self)))
            return {"CANCELLED"}
        names = reports.listing([path.name for path in paths], 2)
        reports.report_result(self, report, self.verb, names, self._started)
        return {"FINISHED"}


def _subject(operator: Any) -> str:
    """The names of an operator's files, for messages."""
    selected = [file.name for file in getattr(operator, "files", ()) if file.name]
    path = getattr(operator, "filepath", "") or getattr(operator, "name", "")
    return reports.listing(selected, 2) or bpy.path.basename(path)
