"""The command ``blender --command idtech``."""

from __future__ import annotations

import os
import re
import shutil
import signal
import sys
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from itertools import chain
from pathlib import Path
from types import FrameType
from typing import Any, TextIO

import bpy

from ..io_blender.operators import preferences
from ..io_common.asset_library import size_of, write_catalogs
from ..io_common.errors import extension_version, message_for
from ..io_common.family import ANY_GAME
from . import arguments
from .blenders import convert_all, work
from .convert import Conversion, remove_abandoned, write_results
from .info import on_one_line, print_line, read, without_rules, write, written
from .plan import Plan, is_in_archive
from .tasks import ASSETS, BLEND, CONVERTED, FAILED, FAMILY_FORMATS, UP_TO_DATE, Outcome, Records, Task, with_one_root

_SIGNALLED = 128  # with the number of a signal, the exit status that shells use for it
_CONVERT_STOPPED = "\nStopped. Finished files are kept, and the next run skips them.\n"
_STDIN, _STDOUT, _STDERR = range(3)
_SESSION_FOLDER = re.compile(r"blender_[A-Za-z0-9]{6}")

_registered: list[Any] = []


def register() -> None:
    """Registers the command."""
    _registered.append(bpy.utils.register_cli_command("idtech", main))


def unregister() -> None:
    """Unregisters the command."""
    while _registered:
        bpy.utils.unregister_cli_command(_registered.pop())


def main(words: Sequence[str]) -> int:
    """Runs the command; returns 0, 1 if a file failed, 2 for invalid arguments, 130 after Ctrl-C."""
    for number in (_STDIN, _STDOUT, _STDERR):
        # Streams that the process was started without are opened before other files get their numbers.
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest number that is free
    return written(partial(_run, words))


def _run(words: Sequence[str]) -> int:
    try:
        options = arguments.parse(words)
    except SystemExit as end:
        return int(end.code or 0)
    if options.command == "work":
        return work(options.replies, options.settings)
    interrupt = Interrupt()
    is_conversion = options.command == "convert"
    handler = interrupt.handle if is_conversion else signal.default_int_handler
    before = signal.signal(signal.SIGINT, handler)
    try:
        if is_conversion:
            return _convert(options, interrupt)
        return read(options)
    except KeyboardInterrupt:
        write(sys.stderr, _CONVERT_STOPPED if is_conversion else "\nStopped.\n")
        return _SIGNALLED + signal.SIGINT
    finally:
        # None is a handler that Python cannot restore: Blender's own, which is not needed after the command.
        if before is not None:
            signal.signal(signal.SIGINT, before)


class Interrupt:
    """Ctrl-C during a conversion: the current file is finished, and no other is started."""

    # Python's own handler raises KeyboardInterrupt anywhere; in an operator, Blender prints that and goes on.

    def __init__(self) -> None:
        self.is_requested = False
        self.end_process: Callable[[], None] | None = None  # what a second one does during an operator

    def handle(self, _number: int, _frame: FrameType | None) -> None:
        """Handles the signal; the second one interrupts at once."""
        if not self.is_requested:
            self.is_requested = True
            text = "Stopping after the current file; press Ctrl-C again to stop at once."
            print(f"\n{text}", file=sys.stderr, flush=True)
        elif self.end_process is not None:
            self.end_process()
        else:
            raise KeyboardInterrupt


def _stop_at_once(conversion: Conversion) -> None:
    """Ends the process without Blender's own exit, which would first let the current operator run to its end."""
    conversion.remove_folder()
    # The stream may be in use by what was interrupted.
    with suppress(OSError):
        os.write(_STDERR, _CONVERT_STOPPED.encode())
    end_process(signal.SIGINT)


def end_process(number: signal.Signals) -> None:
    """Removes Blender's temporary folder, and ends by a signal, as some versions hang in Blender's own exit."""
    folder = Path(bpy.app.tempdir)
    # Where Blender cannot make a folder of its own, as on a full disk, this is the one that all programs share.
    if _SESSION_FOLDER.fullmatch(folder.name):
        shutil.rmtree(folder, ignore_errors=True)
    if os.name == "nt":
        # There, the status of every signal would be 3, and this one is taken as the status.
        os.kill(os.getpid(), _SIGNALLED + number)
    signal.signal(number, signal.SIG_DFL)
    signal.raise_signal(number)


def _convert(options: Namespace, interrupt: Interrupt) -> int:
    present, is_any_absent = [], False
    for name in dict.fromkeys(options.inputs):
        try:
            if not is_in_archive(Path(name)):
                os.stat(name)
            present.append(name)
        except OSError as error:
            print_line(f"error: {message_for(error)}")
            is_any_absent = True
    if not present:
        return 1
    out = Path(with_one_root(options.to))
    real_out = os.path.realpath(out)
    if real_out != os.path.abspath(out):
        # There are links in its path: `..` has to lead out of the folder that is meant.
        out = Path(real_out)
    options.inputs = [with_one_root(name) for name in present]
    settings = arguments.settings_of(options, preferences.game_folders(), preferences.game)
    family = FAMILY_FORMATS.get(settings.format)
    if options.game and family is not None and not family.has_game(options.game):
        print_line(f"warning: {without_rules(family, options.game)}: written for {ANY_GAME}")
    records = Records(out, settings, extension_version(), force=options.force)
    plan = Plan(records)
    if options.characters:
        plan.add_characters(options.characters)
    else:
        plan.add_files(options.inputs)
    if not plan.tasks and not plan.refused:
        what = f"no character {' or '.join(options.characters)}" if options.characters else "nothing"
        print_line(f"There is {what} to convert to {settings.format} in {', '.join(options.inputs)}")
        return 1
    if settings.format == ASSETS:
        try:
            write_catalogs(out, [(task.character, task.catalog) for task in plan.tasks])
        except OSError as error:
            print_line(f"error: {error.filename}: {error.strerror}")
            return 1
        print_line(size_of(len(plan.tasks)))
    part, parts = options.shard
    tasks = plan.tasks[part - 1 :: parts]
    # Only one of the parts reports the files that cannot be converted.
    refused = plan.refused if part == 1 else []
    progress = Progress(len(tasks) + len(refused), sys.stderr)
    results: list[tuple[Task, Outcome]] = []
    with _stdout_to_stderr():
        for task, outcome in filter(None, chain(refused, outcomes(tasks, records, options.jobs, interrupt))):
            progress.report(task, outcome)
            results.append((task, outcome))
    if interrupt.is_requested:
        raise KeyboardInterrupt
    progress.close()
    write(sys.stdout, table(results))
    return int(is_any_absent or any(outcome.status == FAILED for _, outcome in results))


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


def outcomes(
    tasks: list[Task], records: Records, jobs: int, interrupt: Interrupt
) -> Iterator[tuple[Task, Outcome] | None]:
    """Does tasks; the outcome of each, and None while several Blenders have no news."""
    outdated = []
    for task in tasks:
        if interrupt.is_requested:
            return
        if not records.force and records.is_up_to_date(task):
            yield task, Outcome(UP_TO_DATE)
        else:
            outdated.append(task)
    remove_abandoned({task.target.parent for task in outdated})
    # A damaged .blend may crash Blender, which must not stop the others.
    may_crash = any(task.source.suffix.lower() == BLEND for task in outdated)
    # Blender's renderer prints what it does.
    is_rendering = bool(outdated) and records.settings.format == ASSETS
    if is_rendering or (len(outdated) > 1 and (jobs > 1 or may_crash)):
        yield from convert_all(outdated, records, jobs, lambda: interrupt.is_requested)
        return
    for task in outdated:
        if interrupt.is_requested:
            return
        conversion = Conversion(task, records)
        interrupt.end_process = partial(_stop_at_once, conversion)
        outcome = write_results(task, conversion.folder, records.settings)
        interrupt.end_process = None
        yield task, conversion.finish(outcome)


class Progress:
    """Reports finished files: on a terminal by updating a single line, elsewhere with a line for each."""

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
        self.close()
        done = on_one_line(task.name)
        if outcome.status == CONVERTED:
            exporter = outcome.exporter_seconds
            done += f" in {outcome.seconds:.2f} s" + (f" ({exporter:.2f} s in Blender's exporter)" if exporter else "")
        lines = [f"  warning: {on_one_line(text)}\n" for text in outcome.warnings]
        if outcome.status == FAILED:
            lines.insert(0, f"failed {_failure(task, outcome)}\n")
        elif not self._is_terminal:
            lines.insert(0, f"{outcome.status} {done}\n")
        if self._is_terminal:
            failed = f", {self._failed} failed" if self._failed else ""
            line = f"[{self._done}/{self._count}{failed}] {done}"
            width = shutil.get_terminal_size().columns - 1
            lines.append(line if len(line) <= width else f"{line[: width - 1]}…")
        write(self._out, "".join(lines))
        self._out.flush()

    def close(self) -> None:
        """Clears the progress line on a terminal."""
        if self._is_terminal:
            self._out.write("\r\x1b[K")


def _failure(task: Task, outcome: Outcome) -> str:
    return f"{on_one_line(task.name)}: {on_one_line(outcome.reason)}"


def table(results: list[tuple[Task, Outcome]]) -> str:
    """A table of the outcomes by kind of file, and the list of failures with their reasons."""
    kinds: dict[str, list[Outcome]] = {}
    for task, outcome in results:
        kinds.setdefault(task.kind or task.source.suffix.lower() or "?", []).append(outcome)
    named = sorted(kinds.items())
    if len(kinds) != 1:
        named.append(("all", [outcome for _, outcome in results]))
    rows: list[tuple[str, ...]] = [("", CONVERTED, UP_TO_DATE, FAILED, "warnings", "seconds")]
    for name, outcomes in named:
        statuses = [outcome.status for outcome in outcomes]
        counts = [statuses.count(CONVERTED), statuses.count(UP_TO_DATE), statuses.count(FAILED)]
        counts.append(sum(len(outcome.warnings) for outcome in outcomes))
        rows.append((name, *map(str, counts), f"{sum(outcome.seconds for outcome in outcomes):.1f}"))
    first, *widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for name, *cells in rows:
        numbers = [cell.rjust(width) for cell, width in zip(cells, widths, strict=True)]
        lines.append("  ".join([name.ljust(first), *numbers]))
    failed = [f"  {_failure(*result)}" for result in results if result[1].status == FAILED]
    if failed:
        lines += ["", "Failed:", *sorted(failed)]
    return "\n".join(lines) + "\n"
