"""The command ``blender --command idtech``."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

import bpy

from ..families import FAMILIES
from ..io_blender.operators import preferences
from ..io_common import manifest
from ..io_common.error_messages import message_for, without_path
from ..io_common.files import file_info
from . import arguments, characters, plan
from .archives import is_in_archive
from .convert import convert
from .empty_scene import EmptyScene
from .extract import extract
from .formats import BLEND
from .interrupt import Interrupt, deferred_interrupt, immediate_interrupt
from .listing import print_list
from .output_files import remove_abandoned, remove_temporary_folders
from .process_exit import exit_process
from .progress import Progress, table
from .records import Records
from .settings import FAILED, UP_TO_DATE, Outcome, Task
from .source_files import Listings, as_listed, unlinked
from .worker import work
from .worker_pool import convert_all

_NAME = "idtech"
_INTERRUPTED = 130  # the exit status that shells use for it
_NOTICE = "Stopping after the current file; press Ctrl-C again to stop at once."
_STOPPED = "\nStopped.\n"
_CONVERT_STOPPED = "\nStopped. Finished files are kept, and the next run skips them.\n"
_STDIN, _STDOUT, _STDERR = range(3)

_registered: list[Any] = []


def register() -> None:
    """Registers the command."""
    _registered.append(bpy.utils.register_cli_command(_NAME, main))


def unregister() -> None:
    """Unregisters the command."""
    while _registered:
        bpy.utils.unregister_cli_command(_registered.pop())


def main(words: Sequence[str]) -> int:
    """Runs the command with the arguments after its name.

    Returns the exit status: 0 for success, 1 if a file failed, 2 if the arguments are invalid, 130 after Ctrl-C.
    """
    _open_missing_streams()
    return file_info.written(partial(_run, words))


def _open_missing_streams() -> None:
    """Opens the standard streams that the process was started without, before other files get their numbers."""
    for number in (_STDIN, _STDOUT, _STDERR):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest number that is free


def _run(words: Sequence[str]) -> int:
    try:
        options = arguments.parse(words)
    except SystemExit as end:
        return int(end.code or 0)
    if options.command == "work":
        return work(options.replies)
    try:
        if options.command == "convert":
            with deferred_interrupt(_NOTICE) as interrupt:
                return _convert(options, interrupt)
        with immediate_interrupt():
            if options.command == "info":
                return file_info.print_info(
                    options.files, _describers(), as_json=options.json, game=options.game
                )
            if options.command == "list":
                return print_list(options.game, search=" ".join(options.search), as_json=options.json)
            return extract(options.game, options.files, Path(options.to), force=options.force)
    except KeyboardInterrupt:
        file_info.write(sys.stderr, _CONVERT_STOPPED if options.command == "convert" else _STOPPED)
        return _INTERRUPTED


def _exit_at_once() -> NoReturn:
    """Ends the process without Blender's own exit, which would first let the current operator run to its end."""
    remove_temporary_folders()
    # The stream may be in use by what was interrupted.
    with suppress(OSError):
        os.write(_STDERR, _CONVERT_STOPPED.encode())
    exit_process(_INTERRUPTED)


def _describers() -> dict[str, file_info.Describe]:
    """The function that describes each kind of file, by suffix, with the same messages as an import."""
    return {
        kind.suffix: partial(_describe, kind.describe, family.error)
        for family in FAMILIES
        for kind in family.kinds
    }


def _describe(
    describe: file_info.Describe, bad_data: type[ValueError], file: str, game: str
) -> file_info.Description:
    """The description of a file; an error of its format becomes a ValueError without the path."""
    try:
        return describe(file, game)
    except bad_data as error:
        raise ValueError(without_path(message_for(error, (bad_data,)), file)) from error


def _convert(options: Namespace, interrupt: Interrupt) -> int:
    present = [name for name in options.inputs if os.path.exists(name) or is_in_archive(Path(name))]
    is_present = set(present)
    absent = [name for name in dict.fromkeys(options.inputs) if name not in is_present]
    for name in absent:
        file_info.write(sys.stderr, f"error: {_why_absent(name)}: {file_info.on_one_line(name)}\n")
    if not present:
        return 1
    listings: Listings = {}
    present = [str(as_listed(Path(name), listings)) for name in present]
    options.inputs = present
    settings = arguments.settings(options, preferences.game_folders(), preferences.game)
    out = unlinked(as_listed(Path(options.to), listings))
    earlier_results = Records(out, settings, manifest.version()).results()
    if options.characters:
        tasks, refused, sources = characters.make_plan(options.characters, out, settings, earlier_results)
    else:
        tasks, refused, sources = plan.make_plan(present, out, settings, earlier_results)
    records = Records(out, settings, manifest.version(), sources)
    if not tasks and not refused:
        what = f"no character {' or '.join(options.characters)}" if options.characters else "nothing"
        file_info.write(
            sys.stderr, f"There is {what} to convert to {settings.format} in {', '.join(present)}\n"
        )
        return 1
    part, parts = options.shard
    tasks = plan.shard(tasks, part, parts)
    # Only one of the parts reports the files that cannot be converted.
    results = refused if part == 1 else []
    progress = Progress(len(tasks) + len(results), sys.stderr)
    # After Ctrl-C, `closing` waits only for the files that have been started.
    with (
        _stdout_to_stderr(),
        closing(_outcomes(tasks, records, options.jobs, interrupt, force=options.force)) as outcomes,
    ):
        for task, outcome in results:
            progress.report(task, outcome)
        for task, outcome in outcomes:
            progress.report(task, outcome)
            results.append((task, outcome))
            interrupt.check()
    progress.close()
    file_info.write(sys.stdout, table(results))
    return int(bool(absent) or any(outcome.status == FAILED for _, outcome in results))


def _why_absent(name: str) -> str:
    """Why an input is not there for this user."""
    try:
        os.stat(name)
    except FileNotFoundError:
        pass
    except OSError as error:
        # A name that no file can have is not there either.
        if isinstance(error, PermissionError) or os.path.lexists(name):
            return f"it cannot be read ({error.strerror})"
    return "there is no such file or folder"


@contextmanager
def _stdout_to_stderr() -> Iterator[None]:
    """Redirects what Blender prints to standard error, so that standard output holds only the table."""
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
    tasks: list[Task], records: Records, jobs: int, interrupt: Interrupt, *, force: bool
) -> Generator[tuple[Task, Outcome], None, None]:
    outdated = []
    for task in tasks:
        if not force and records.is_up_to_date(task):
            yield task, Outcome(UP_TO_DATE)
        else:
            outdated.append(replace(task, is_forced=force))
    remove_abandoned({task.target.parent for task in outdated})
    # A damaged .blend may crash Blender, which must not stop the others.
    may_crash = any(task.source.suffix.lower() == BLEND for task in outdated)
    if len(outdated) > 1 and (jobs > 1 or may_crash):
        yield from convert_all(outdated, records, jobs)
    else:
        empty_scene = EmptyScene()
        for task in outdated:
            with interrupt.exiting_by(_exit_at_once):
                outcome = convert(task, records, empty_scene)
            yield task, outcome
