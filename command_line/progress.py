"""The progress of a run on the terminal, and the table at the end."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from typing import TextIO

from ..io_common.files.file_info import on_one_line, write
from .settings import CONVERTED, FAILED, UP_TO_DATE, Outcome, Task

_STATUSES = (CONVERTED, UP_TO_DATE, FAILED)


class Progress:
    """Reports finished files: on a terminal by updating a single line, elsewhere with a line for each file.

    Failures and warnings are always printed on lines of their own.
    """

    def __init__(self, count: int, out: TextIO) -> None:
        self._count = count
        self._done = 0
        self._failed = 0
        self._out = out
        self._is_terminal = out.isatty()

    def report(self, task: Task, outcome: Outcome) -> None:
        """Reports a finished file."""
        self._done += 1
        self._failed += outcome.status == FAILED
        if self._is_terminal:
            self._clear()
            self._write_lines(task, outcome, with_success=False)
            failed = f", {self._failed} failed" if self._failed else ""
            line = f"[{self._done}/{self._count}{failed}] {on_one_line(task.name)}{_took(outcome)}"
            width = shutil.get_terminal_size().columns - 1
            self._write(line if len(line) <= width else f"{line[: width - 1]}…")
        else:
            self._write_lines(task, outcome, with_success=True)

    def close(self) -> None:
        """Clears the progress line on a terminal."""
        if self._is_terminal:
            self._clear()

    def _write_lines(self, task: Task, outcome: Outcome, *, with_success: bool) -> None:
        if outcome.status == FAILED:
            self._write(f"failed {on_one_line(task.name)}: {on_one_line(outcome.reason)}\n")
        elif with_success:
            self._write(f"{outcome.status} {on_one_line(task.name)}{_took(outcome)}\n")
        for text in outcome.warnings:
            self._write(f"  warning: {on_one_line(text)}\n")

    def _clear(self) -> None:
        # Move to the start of the line and erase it.
        self._write("\r\x1b[K")

    def _write(self, text: str) -> None:
        write(self._out, text)
        self._out.flush()


def _took(outcome: Outcome) -> str:
    """How long a conversion took, and how much of that is Blender's exporter, which many animations make slow."""
    if outcome.status != CONVERTED:
        return ""
    exporter = outcome.exporter_seconds
    return f" in {outcome.seconds:.2f} s" + (f" ({exporter:.2f} s in Blender's exporter)" if exporter else "")


def table(results: Iterable[tuple[Task, Outcome]]) -> str:
    """A table of the outcomes by kind of file, and the list of failures with their reasons."""
    results = list(results)
    kinds = sorted({_kind(task) for task, _ in results})
    rows: list[tuple[str, ...]] = [("", *_STATUSES, "warnings", "seconds")]
    for kind in kinds:
        rows.append(_row(kind or "?", [outcome for task, outcome in results if _kind(task) == kind]))
    if len(kinds) != 1:
        rows.append(_row("all", [outcome for _, outcome in results]))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [_aligned(row, widths) for row in rows]
    failed = sorted(
        f"  {on_one_line(task.name)}: {on_one_line(outcome.reason)}"
        for task, outcome in results
        if outcome.status == FAILED
    )
    if failed:
        lines += ["", "Failed:", *failed]
    return "\n".join(lines) + "\n"


def _kind(task: Task) -> str:
    return task.kind or task.source.suffix.lower()


def _aligned(row: tuple[str, ...], widths: list[int]) -> str:
    numbers = [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
    return "  ".join([row[0].ljust(widths[0]), *numbers])


def _row(name: str, outcomes: list[Outcome]) -> tuple[str, ...]:
    counts = [sum(outcome.status == status for outcome in outcomes) for status in _STATUSES]
    warnings = sum(len(outcome.warnings) for outcome in outcomes)
    seconds = sum(outcome.seconds for outcome in outcomes)
    return (name, *(str(count) for count in (*counts, warnings)), f"{seconds:.1f}")
