"""Several Blenders at work: each gets the next file as soon as it has done one, and is replaced if it dies of it.

Each is a Blender of its own with this extension enabled in it, running `worker`. Tasks go to its standard input. It
tells what became of them in a file, which is looked at now and then: a channel that Blender prints nothing to, and the
same on every system.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import bpy

from ..io_common.files.regular_files import open_file
from . import messages, worker
from .record import Records
from .settings import FAILED, Outcome, Task

_EXTENSION = (__package__ or "").rpartition(".")[0]
# Seconds between two looks, and for a Blender without work to end by itself.
_PAUSE, _PATIENCE = 0.01, 20.0

# For Blender as a Python module, which enables nothing by itself and has no command line.
_AS_MODULE = """\
import importlib, os, sys
import bpy
bpy.ops.preferences.addon_enable(module=sys.argv[1])
status = importlib.import_module(sys.argv[1] + ".command_line.command").main(sys.argv[2:])
sys.stdout.flush()
sys.stderr.flush()
os._exit(status)  # some versions hang in the end
"""


def convert_all(tasks: Sequence[Task], records: Records, jobs: int) -> Iterator[tuple[Task, Outcome]]:
    """Converts files with several Blenders.

    Args:
        tasks: the files.
        records: of the results; they say how files are converted, and are kept.
        jobs: how many Blenders.

    Yields:
        Each task with what became of it, in the order in which they end. Who does not ask for the next one waits at
        the end for the files in hand, and no other is begun.
    """
    waiting = deque(tasks)
    with _office(records) as folder, _crew(folder, min(jobs, len(tasks))) as crew:
        while waiting or any(one.task for one in crew):
            ended = [done for one in crew if (done := one.look()) is not None]
            yield from ended
            for one in crew:
                if one.task is None and waiting:
                    one.begin(waiting.popleft())
            if not ended:
                time.sleep(_PAUSE)


def command(replies: Path) -> list[str]:
    """What starts a Blender that works, and writes outcomes into a file."""
    words = ["work", str(replies)]
    if not bpy.app.binary_path:
        # Blender as a Python module.
        return [sys.executable, "-c", _AS_MODULE, _EXTENSION, *words]
    return [bpy.app.binary_path, "--background", "--addons", _EXTENSION, "--command", "idtech", *words]


@contextmanager
def _office(records: Records) -> Iterator[Path]:
    """A folder for what the Blenders tell each other, with what all tasks have in common in it."""
    with tempfile.TemporaryDirectory(prefix="io_idtech-jobs-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        job = {
            "settings": records.settings.plain(),
            "out": str(records.out),
            "sources": records.sources.plain(),
        }
        (folder / worker.JOB).write_bytes(messages.pack(job))
        yield folder


@contextmanager
def _crew(folder: Path, size: int) -> Iterator[list[_Worker]]:
    """Blenders that are started when they are first needed; in the end they finish what they have begun."""
    crew = [_Worker(folder / f"replies{number}") for number in range(size)]
    try:
        yield crew
    except GeneratorExit:
        _let_end(crew)
        raise
    else:
        _let_end(crew)
    finally:
        for one in crew:
            one.kill()


def _let_end(crew: list[_Worker]) -> None:
    for one in crew:
        one.dismiss()
    for one in crew:
        one.wait()


class _Worker:
    """A Blender that works.

    Args:
        replies: the beginning of the names of its files of outcomes; each process has a new one.

    Attributes:
        task: what it is doing; None if nothing.
    """

    def __init__(self, replies: Path) -> None:
        self.task: Task | None = None
        self._replies = replies
        self._started = 0
        self._read = 0
        self._process: subprocess.Popen[bytes] | None = None
        self._fault = ""

    def begin(self, task: Task) -> None:
        """Gives it a task; its Blender is started where there is none."""
        self.task = task
        try:
            if self._process is None:
                self._process = self._start()
        except OSError as error:
            self._fault = f"no other Blender can be started: {error}"
            return
        assert self._process.stdin is not None
        # If it is dead, it will be seen that it is.
        with suppress(OSError):
            self._process.stdin.write(messages.pack(task.plain()))
            self._process.stdin.flush()

    def look(self) -> tuple[Task, Outcome] | None:
        """The task and what became of it, if it is done; then there is none any more."""
        task, outcome = self.task, self._outcome()
        if task is None or outcome is None:
            return None
        self.task = None
        return task, outcome

    def dismiss(self) -> None:
        """Has it end when it is done."""
        if self._process is not None and self._process.stdin is not None:
            with suppress(OSError):
                self._process.stdin.close()

    def wait(self) -> None:
        """Waits for its end: as long as it takes while it has a task, then for a moment."""
        if self._process is not None:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(None if self.task is not None else _PATIENCE)

    def kill(self) -> None:
        """Ends it at once."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def _start(self) -> subprocess.Popen[bytes]:
        self._started += 1
        self._read = 0
        return subprocess.Popen(
            command(self._file()),
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            # Ctrl-C is for the Blender that was started on the terminal; this one is told by the end of its input.
            start_new_session=True,
            creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
        )

    def _file(self) -> Path:
        return self._replies.with_name(f"{self._replies.name}-{self._started}")

    def _outcome(self) -> Outcome | None:
        """What became of the task; None if that is not known yet."""
        if self.task is None:
            return None
        if self._process is None:
            return Outcome(FAILED, self._fault)
        # In this order: what it told before it ended is there when it has ended.
        status = self._process.poll()
        told = self._message()
        if told is not None:
            return Outcome(**told)
        if status is None:
            return None
        self._process = None
        return Outcome(FAILED, f"Blender ended with status {status} while it worked on the file")

    def _message(self) -> dict[str, Any] | None:
        try:
            with open_file(self._file()) as file:
                file.seek(self._read)
                message = messages.read(file)
                if message is not None:
                    self._read = file.tell()
                return message
        except FileNotFoundError:
            return None
