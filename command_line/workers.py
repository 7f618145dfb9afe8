"""Several Blenders at work: each gets the next file as soon as it has done one, and is replaced if it dies of it.

A worker reads tasks from its standard input and writes outcomes to its standard output, a line of JSON each; what else
Blender prints there is left out.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import bpy

from .record import Records
from .settings import FAILED, Outcome, Task
from .worker import MARK

_SCRIPT = Path(__file__).with_name("worker.py")
# Seconds for a Blender to end by itself, and in the middle of its work.
_PATIENCE, _MOMENT = 20.0, 5.0


def convert_all(tasks: Sequence[Task], records: Records, jobs: int) -> Iterator[tuple[Task, Outcome]]:
    """Converts files with several Blenders.

    Args:
        tasks: the files.
        records: of the results; they say how files are converted, and are kept.
        jobs: how many Blenders.

    Yields:
        Each task with what became of it, in the order in which they end.
    """
    jobs = min(jobs, len(tasks))
    crew = _Crew(records, jobs)
    # Each thread waits for a Blender.
    with ThreadPoolExecutor(jobs) as threads:
        try:
            running = {threads.submit(crew.convert, task): task for task in tasks}
            for done in as_completed(running):
                yield running[done], done.result()
        except BaseException:
            # Whoever asked does not wait any more.
            threads.shutdown(wait=False, cancel_futures=True)
            crew.kill()
            raise
    crew.dismiss()


def command() -> list[str]:
    """What starts a Blender that works."""
    if not bpy.app.binary_path:
        # Blender as a Python module.
        return [sys.executable, str(_SCRIPT)]
    return [bpy.app.binary_path, "--background", "--factory-startup", "--python", str(_SCRIPT)]


@dataclass(eq=False)
class _Crew:
    """Blenders that wait for work; each is started when it is first needed."""

    records: Records
    size: int
    _idle: queue.SimpleQueue[subprocess.Popen[str] | None] = field(default_factory=queue.SimpleQueue)
    _all: list[subprocess.Popen[str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        for _ in range(self.size):
            self._idle.put(None)

    def convert(self, task: Task) -> Outcome:
        """Has a task done by one that has nothing to do."""
        process = self._idle.get()
        try:
            if process is None:
                process = self._start()
            outcome = self._ask(process, task)
            if outcome is None:
                status = process.wait()
                process = None
                outcome = Outcome(FAILED, f"Blender ended with status {status} while it worked on the file")
        except OSError as error:
            outcome = Outcome(FAILED, f"no other Blender can be started: {error}")
        finally:
            self._idle.put(process)
        return outcome

    def dismiss(self) -> None:
        """Lets all end by themselves."""
        for process in self._all:
            with suppress(OSError, ValueError, subprocess.TimeoutExpired):
                process.communicate(timeout=_PATIENCE)
        self.kill()

    def kill(self) -> None:
        """Ends all; they have a moment for the files in hand."""
        if os.name == "posix":
            for process in self._all:
                process.send_signal(signal.SIGINT)
        for process in self._all:
            with suppress(subprocess.TimeoutExpired):
                process.wait(_MOMENT)
            process.kill()
            process.wait()

    def _start(self) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            command(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            errors="surrogateescape",
        )
        self._all.append(process)
        return process

    def _ask(self, process: subprocess.Popen[str], task: Task) -> Outcome | None:
        """What a Blender says became of a task; None if it died of it."""
        work = {
            "task": task.plain(),
            "settings": self.records.settings.plain(),
            "out": str(self.records.out),
        }
        assert process.stdin is not None
        assert process.stdout is not None
        with suppress(OSError):
            # If it is dead, the end of its output says so.
            process.stdin.write(json.dumps(work) + "\n")
            process.stdin.flush()
        answer = next((line for line in process.stdout if line.startswith(MARK)), None)
        return Outcome(**json.loads(answer.removeprefix(MARK))) if answer is not None else None
