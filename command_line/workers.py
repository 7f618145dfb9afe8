"""Several Blenders at work: each gets the next file as soon as it has done one, and is replaced if it dies of it.

A worker reads tasks from its standard input and writes outcomes to its standard output, a line of JSON each; what else
Blender prints there is left out.
"""

from __future__ import annotations

import json
import queue
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

import bpy

from .settings import FAILED, Outcome, Settings, Task
from .worker import MARK

_SCRIPT = Path(__file__).with_name("worker.py")
_PATIENCE = 20  # seconds for a Blender to end by itself


def convert_all(tasks: Sequence[Task], settings: Settings, jobs: int) -> Iterator[tuple[Task, Outcome]]:
    """Converts files with several Blenders.

    Args:
        tasks: the files.
        settings: how.
        jobs: how many Blenders.

    Yields:
        Each task with what became of it, in the order in which they end.
    """
    waiting: queue.SimpleQueue[Task] = queue.SimpleQueue()
    done: queue.SimpleQueue[tuple[Task, Outcome]] = queue.SimpleQueue()
    for task in tasks:
        waiting.put(task)
    crew = [_Worker(waiting, done, settings) for _ in range(min(jobs, len(tasks)))]
    try:
        for worker in crew:
            worker.start()
        for _ in tasks:
            yield done.get()
    finally:
        for worker in crew:
            worker.stop()


def command() -> list[str]:
    """What starts a Blender that works."""
    if bpy.app.module:
        return [sys.executable, str(_SCRIPT)]
    return [bpy.app.binary_path, "--background", "--factory-startup", "--python", str(_SCRIPT)]


class _Worker(threading.Thread):
    """Sees to one Blender."""

    def __init__(
        self,
        waiting: queue.SimpleQueue[Task],
        done: queue.SimpleQueue[tuple[Task, Outcome]],
        settings: Settings,
    ) -> None:
        super().__init__(daemon=True)
        self._waiting = waiting
        self._done = done
        self._settings = settings
        self._process: subprocess.Popen[str] | None = None
        self._stopped = False

    def run(self) -> None:
        """Hands out tasks until there are none."""
        with suppress(queue.Empty):
            while not self._stopped:
                task = self._waiting.get_nowait()
                self._done.put((task, self._convert(task)))
        self._end()

    def stop(self) -> None:
        """Ends the Blender, also in the middle of a file."""
        self._stopped = True
        process = self._process
        if self.is_alive() and process is not None:
            process.kill()

    def _convert(self, task: Task) -> Outcome:
        try:
            process = self._process = self._process or _start()
        except OSError as error:
            return Outcome(FAILED, f"no other Blender can be started: {error}")
        line = json.dumps(
            {
                "source": str(task.source),
                "target": str(task.target),
                "name": task.name,
                "settings": self._settings.plain(),
            }
        )
        pipe: IO[Any] | None = process.stdin
        assert pipe is not None
        assert process.stdout is not None
        with suppress(OSError):
            # If it is dead, the end of its output says so.
            pipe.write(line + "\n")
            pipe.flush()
        for answer in process.stdout:
            if answer.startswith(MARK):
                return Outcome(**json.loads(answer.removeprefix(MARK)))
        self._process = None
        return Outcome(FAILED, f"Blender ended with status {process.wait()} while it worked on the file")

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        with suppress(OSError, subprocess.TimeoutExpired):
            process.communicate(timeout=_PATIENCE)
        process.kill()


def _start() -> subprocess.Popen[str]:
    return subprocess.Popen(
        command(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        errors="surrogateescape",
    )
