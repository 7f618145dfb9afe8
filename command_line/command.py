"""The command ``idtech``, registered with Blender."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import bpy

from ..families import FAMILIES
from ..io_common import manifest
from ..io_common.family import describers
from ..io_common.files import file_info
from ..io_common.operators import preferences
from . import arguments, plan
from .convert import convert
from .progress import Progress, table
from .record import Records
from .settings import FAILED, UP_TO_DATE, Outcome, Task
from .stopping import Stop, stoppable
from .worker import work
from .workers import convert_all

_NAME = "idtech"
_INTERRUPTED = 130  # as shells have it
_NOTICE = "Stopping when this file is done; Ctrl-C again stops at once."
_STDOUT, _STDERR = 1, 2

_registered: list[Any] = []


def register() -> None:
    """Registers the command."""
    _registered.append(bpy.utils.register_cli_command(_NAME, main))


def unregister() -> None:
    """Takes it back."""
    while _registered:
        bpy.utils.unregister_cli_command(_registered.pop())


def main(words: Sequence[str]) -> int:
    """Runs the command.

    Args:
        words: what stands behind its name.

    Returns:
        The status of the process: 0 if all went well, 1 if a file failed, 2 if the words make no sense, 130 if it was
        interrupted.
    """
    try:
        given = arguments.parse(words)
    except SystemExit as end:
        return int(end.code or 0)
    if given.command == "info":
        return file_info.tell(given.files, describers(FAMILIES), as_json=given.json, game=given.game)
    if given.command == "work":
        work(given.replies)
        return 0
    try:
        with stoppable(_NOTICE) as stop:
            return _convert(given, stop)
    except KeyboardInterrupt:
        file_info.write(sys.stderr, "\nStopped; what is done is kept, and skipped the next time.\n")
        return _INTERRUPTED


def _convert(given: Namespace, stop: Stop) -> int:
    settings = arguments.settings(given, preferences.game_folders())
    out = Path(given.to)
    earlier = Records(out, settings, manifest.version()).results()
    tasks, refused, sources = plan.make_plan(given.inputs, out, settings, earlier)
    records = Records(out, settings, manifest.version(), sources)
    if not tasks and not refused:
        file_info.write(
            sys.stderr, f"There is nothing to convert to {settings.format} in {', '.join(given.inputs)}\n"
        )
        return 1
    part, parts = given.shard
    tasks = plan.shard(tasks, part, parts)
    # What nobody can do is told once.
    results = refused if part == 1 else []
    progress = Progress(len(tasks) + len(results), sys.stderr)
    # Whoever stops this waits for no more than what is begun.
    with _blender_aside(), closing(_outcomes(tasks, records, given.jobs, force=given.force)) as outcomes:
        for task, outcome in results:
            progress.tell(task, outcome)
        for task, outcome in outcomes:
            progress.tell(task, outcome)
            results.append((task, outcome))
            stop.check()
    progress.close()
    file_info.write(sys.stdout, table(results))
    return int(any(outcome.status == FAILED for _, outcome in results))


@contextmanager
def _blender_aside() -> Iterator[None]:
    """What Blender prints goes to the standard error: the standard output is the table's."""
    sys.stdout.flush()
    output = os.dup(_STDOUT)
    os.dup2(_STDERR, _STDOUT)
    try:
        yield
    finally:
        sys.stdout.flush()
        os.dup2(output, _STDOUT)
        os.close(output)


def _outcomes(
    tasks: list[Task], records: Records, jobs: int, *, force: bool
) -> Generator[tuple[Task, Outcome], None, None]:
    to_do = []
    for task in tasks:
        if not force and records.is_current(task):
            yield task, Outcome(UP_TO_DATE)
        else:
            to_do.append(replace(task, is_forced=force))
    if jobs > 1 and len(to_do) > 1:
        yield from convert_all(to_do, records, jobs)
    else:
        for task in to_do:
            yield task, convert(task, records)
