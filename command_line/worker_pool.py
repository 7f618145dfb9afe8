"""A pool of Blenders that convert files in parallel. A Blender that crashes fails its file and is replaced.

Each worker is a Blender of its own with this extension enabled, running `worker`. Tasks go to its standard input. It
writes outcomes to a file, which the pool polls: Blender prints nothing to that file, and it works on every system.
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
from .records import Records
from .settings import FAILED, Outcome, Task

_EXTENSION = (__package__ or "").rpartition(".")[0]
_POLL_INTERVAL = 0.001  # seconds; a small model takes a few thousandths
_SHUTDOWN_TIMEOUT = 20.0  # seconds, for an idle Blender

# For Blender as a Python module, which enables no add-ons and has no command line.
_AS_MODULE = """\
import importlib, os, sys
import bpy
bpy.ops.preferences.addon_enable(module=sys.argv[1])
status = importlib.import_module(sys.argv[1] + ".command_line.command").main(sys.argv[2:])
sys.stdout.flush()
sys.stderr.flush()
os._exit(status)  # some versions hang on exit
"""


def convert_all(tasks: Sequence[Task], records: Records, jobs: int) -> Iterator[tuple[Task, Outcome]]:
    """Converts files with several Blenders.

    Args:
        tasks: the files.
        records: of the output folder, with the settings; updated.
        jobs: the number of Blenders.

    Yields:
        Each task and its outcome, in the order in which they finish. If the caller closes the generator early, the
        current files are finished and no others are started.
    """
    waiting = deque(tasks)
    with _shared_folder(records) as folder, _pool(folder, min(jobs, len(tasks))) as pool:
        while waiting or any(one.task for one in pool):
            finished = [result for one in pool if (result := one.poll()) is not None]
            yield from finished
            for one in pool:
                if one.task is None and waiting:
                    one.start(waiting.popleft())
            if not finished:
                time.sleep(_POLL_INTERVAL)


def command(replies: Path) -> list[str]:
    """The command that starts a worker, which writes outcomes to a file."""
    words = ["work", str(replies)]
    if not bpy.app.binary_path:
        # Blender as a Python module.
        return [sys.executable, "-c", _AS_MODULE, _EXTENSION, *words]
    return [bpy.app.binary_path, "--background", "--addons", _EXTENSION, "--command", "idtech", *words]


@contextmanager
def _shared_folder(records: Records) -> Iterator[Path]:
    """A temporary folder for the workers' files of outcomes, with the file `worker.JOB` in it."""
    with tempfile.TemporaryDirectory(prefix="io_idtech-jobs-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        job = {
            "settings": records.settings.to_json(),
            "out": str(records.out),
            "sources": records.sources.to_json(),
        }
        (folder / worker.JOB).write_bytes(messages.pack(job))
        yield folder


@contextmanager
def _pool(folder: Path, size: int) -> Iterator[list[_Worker]]:
    """Workers, which finish their current files at the end of the block. After an error they are killed instead."""
    pool = [_Worker(folder / f"replies{number}") for number in range(size)]
    try:
        yield pool
    except GeneratorExit:
        _shut_down(pool)
        raise
    else:
        _shut_down(pool)
    finally:
        for one in pool:
            one.kill()


def _shut_down(pool: list[_Worker]) -> None:
    for one in pool:
        one.shut_down()
    for one in pool:
        one.wait()


class _Worker:
    """A worker of the pool; its Blender is started with the first task.

    Args:
        replies: the start of the names of its files of outcomes; each process has its own.

    Attributes:
        task: the current task; None if idle.
    """

    def __init__(self, replies: Path) -> None:
        self.task: Task | None = None
        self._replies = replies
        self._start_count = 0
        self._offset = 0
        self._process: subprocess.Popen[bytes] | None = None
        self._start_error = ""

    def start(self, task: Task) -> None:
        """Starts a task, and first a Blender if none is running."""
        self.task = task
        try:
            if self._process is None:
                self._process = self._start_process()
        except OSError as error:
            self._start_error = f"another Blender cannot be started: {error}"
            return
        assert self._process.stdin is not None
        # If the process is dead, `poll` finds out.
        with suppress(OSError):
            self._process.stdin.write(messages.pack(task.to_json()))
            self._process.stdin.flush()

    def poll(self) -> tuple[Task, Outcome] | None:
        """The current task and its outcome if it is finished, which makes the worker idle; else None."""
        task, outcome = self.task, self._outcome()
        if task is None or outcome is None:
            return None
        self.task = None
        return task, outcome

    def shut_down(self) -> None:
        """Lets the process end after its current task."""
        if self._process is not None and self._process.stdin is not None:
            with suppress(OSError):
                self._process.stdin.close()

    def wait(self) -> None:
        """Waits for the process to end: without a timeout while it has a task."""
        if self._process is not None:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(None if self.task is not None else _SHUTDOWN_TIMEOUT)

    def kill(self) -> None:
        """Kills the process."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def _start_process(self) -> subprocess.Popen[bytes]:
        self._start_count += 1
        self._offset = 0
        return subprocess.Popen(
            command(self._file()),
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            # Ctrl-C goes only to the Blender that the user started; a worker ends when its standard input does.
            start_new_session=True,
            creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
        )

    def _file(self) -> Path:
        return self._replies.with_name(f"{self._replies.name}-{self._start_count}")

    def _outcome(self) -> Outcome | None:
        """The outcome of the current task; None if it is not finished."""
        if self.task is None:
            return None
        if self._process is None:
            return Outcome(FAILED, self._start_error)
        # The status comes first: a process that has ended has written all its messages.
        status = self._process.poll()
        message = self._next_message()
        if message is not None:
            return Outcome(**message)
        if status is None:
            return None
        self._process = None
        return Outcome(FAILED, f"Blender ended with status {status} while converting this file")

    def _next_message(self) -> dict[str, Any] | None:
        try:
            with open_file(self._file()) as file:
                file.seek(self._offset)
                message = messages.read(file)
                if message is not None:
                    self._offset = file.tell()
                return message
        except FileNotFoundError:
            return None
