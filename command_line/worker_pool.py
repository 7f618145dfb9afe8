"""A pool of Blenders that convert files in parallel. A Blender that crashes fails its file and is replaced.

Each worker is a Blender of its own with this extension enabled, running `worker`. Tasks go to its standard input. It
writes outcomes to a file, which the pool polls: Blender prints nothing to that file, and it works on every system.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from io import BufferedReader
from pathlib import Path
from typing import Any

import bpy

from ..io_common.files.regular_files import open_file
from . import messages, worker
from .output_files import REPLIES, remove_folders_of_worker
from .records import Records
from .settings import FAILED, Outcome, Task

_EXTENSION = (__package__ or "").rpartition(".")[0]
_POLL_INTERVAL = 0.005  # seconds; a small model takes a few times as long
# Tasks that a worker is sent at a time, so that it need not wait for the next poll once it has finished one.
_SENT_AHEAD = 2
_SHUTDOWN_TIMEOUT = 20.0  # seconds, for an idle Blender
# The variables that name the folder for temporary files, on all systems.
_TEMPORARY = ("TMPDIR", "TEMP", "TMP")

# For Blender as a Python module, which enables no add-ons and has no command line.
_AS_MODULE = """\
import importlib, sys
import bpy
bpy.ops.preferences.addon_enable(module=sys.argv[1])
status = importlib.import_module(sys.argv[1] + ".command_line.command").main(sys.argv[2:])
sys.stdout.flush()
sys.stderr.flush()
importlib.import_module(sys.argv[1] + ".command_line.process_exit").exit_process(status)
"""


def convert_all(tasks: Sequence[Task], records: Records, jobs: int) -> Iterator[tuple[Task, Outcome]]:
    """Converts files with `jobs` Blenders, and updates the records.

    Yields each task and its outcome, in the order in which they finish. If the caller closes the generator early, the
    current files are finished and no others are started.
    """
    waiting = deque(tasks)
    with _shared_folder(records) as folder, _pool(folder, min(jobs, len(tasks))) as pool:
        while waiting or any(one.tasks for one in pool):
            finished = [result for one in pool for result in one.poll()]
            yield from finished
            for one in pool:
                waiting.extendleft(reversed(one.take_back()))
            for count in range(_SENT_AHEAD):
                for one in pool:
                    # At the end, no task waits for one worker while another is idle.
                    if one.has_room(count) and len(waiting) > count * len(pool):
                        one.send(waiting.popleft())
            if not finished:
                time.sleep(_POLL_INTERVAL)


def command(replies: Path) -> list[str]:
    """The command that starts a worker, which writes outcomes to a file."""
    words = ["work", str(replies)]
    if not bpy.app.binary_path:
        # Blender as a Python module. Without -P, Python runs modules in the current folder instead of its own.
        return [sys.executable, "-P", "-c", _AS_MODULE, _EXTENSION, *words]
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
    pool = [_Worker(folder / f"{REPLIES}{number}") for number in range(size)]
    try:
        yield pool
    except GeneratorExit:
        # Without it, workers start no further tasks.
        (folder / worker.JOB).unlink(missing_ok=True)
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

    `replies` is the start of the names of its files of outcomes; each process has its own.

    Attributes:
        tasks: those that it has been sent and that are not finished; it works on the first.
    """

    def __init__(self, replies: Path) -> None:
        self.tasks: deque[Task] = deque()
        self._replies = replies
        self._start_count = 0
        self._process: subprocess.Popen[bytes] | None = None
        self._outcomes: BufferedReader | None = None
        self._start_error = ""

    def has_room(self, count: int) -> bool:
        """Whether it can be sent a task on top of so many: the first may have failed to start a Blender."""
        return len(self.tasks) == count and (count == 0 or self._process is not None)

    def send(self, task: Task) -> None:
        """Sends a task to the Blender, which is started if none is running."""
        self.tasks.append(task)
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

    def poll(self) -> list[tuple[Task, Outcome]]:
        """The tasks that have been finished since the last call, with their outcomes."""
        if not self.tasks:
            return []
        if self._process is None:
            return [(self.tasks.popleft(), Outcome(FAILED, self._start_error))]
        # The status comes first: a process that has ended has written all its messages.
        status = self._process.poll()
        finished = []
        while self.tasks and (message := self._next_message()) is not None:
            finished.append((self.tasks.popleft(), Outcome(**message)))
        if status is not None:
            self._forget_process()
            self._remove_folders()
            if self.tasks:
                reason = f"Blender ended with status {status} while converting this file"
                if status == worker.CANNOT_REPLY:
                    reason = f"its outcome cannot be written to {self._replies.parent}: free some space there"
                finished.append((self.tasks.popleft(), Outcome(FAILED, reason)))
        return finished

    def take_back(self) -> list[Task]:
        """The tasks that were sent to a Blender that has ended before it came to them."""
        if self._process is not None:
            return []
        tasks = list(self.tasks)
        self.tasks.clear()
        return tasks

    def shut_down(self) -> None:
        """Lets the process end after its current task."""
        if self._process is not None and self._process.stdin is not None:
            with suppress(OSError):
                self._process.stdin.close()

    def wait(self) -> None:
        """Waits for the process to end: without a timeout while it has a task."""
        if self._process is not None:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(None if self.tasks else _SHUTDOWN_TIMEOUT)

    def kill(self) -> None:
        """Kills the process."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._forget_process()
            self._remove_folders()

    def _start_process(self) -> subprocess.Popen[bytes]:
        self._start_count += 1
        return subprocess.Popen(
            command(self._file()),
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            # Ctrl-C goes only to the Blender that the user started; a worker ends when its standard input does.
            start_new_session=True,
            creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
            # Where Blender makes its temporary folder: what it leaves if it is killed goes with that of the pool.
            env={**os.environ, **dict.fromkeys(_TEMPORARY, str(self._replies.parent))},
        )

    def _remove_folders(self) -> None:
        """Removes what a process that was killed or has crashed has left in the output folders."""
        for folder in {task.target.parent for task in self.tasks}:
            remove_folders_of_worker(self._file(), folder)

    def _forget_process(self) -> None:
        self._process = None
        if self._outcomes is not None:
            self._outcomes.close()
            self._outcomes = None

    def _file(self) -> Path:
        return self._replies.with_name(f"{self._replies.name}-{self._start_count}")

    def _next_message(self) -> dict[str, Any] | None:
        if self._outcomes is None:
            with suppress(FileNotFoundError):
                self._outcomes = open_file(self._file())
        if self._outcomes is None:
            return None
        start = self._outcomes.tell()
        message = messages.read(self._outcomes)
        if message is None:
            self._outcomes.seek(start)
        return message
