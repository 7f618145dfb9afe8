"""Several Blenders that convert files at the same time. One that crashes fails its file and is replaced.

Each gets lines of JSON on its standard input, and adds outcomes to a file, which is polled: that works on all systems.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import bpy

from ..io_blender.options import Settings
from .convert import Conversion, write_results
from .tasks import FAILED, Outcome, Records, Task

_EXTENSION = (__package__ or "").rpartition(".")[0]
_POLL_INTERVAL = 0.005  # seconds
_SHORT = 0.5  # seconds; after a conversion that was shorter, the next one is sent ahead
_TEMPORARY = ("TMPDIR", "TEMP", "TMP")  # the variables that name the folder for temporary files, on all systems
_WORKER = Path(__file__).with_name("worker.py")


def convert_all(
    tasks: Sequence[Task], records: Records, jobs: int, is_stopping: Callable[[], bool]
) -> Iterator[tuple[Task, Outcome] | None]:
    """Converts files with several Blenders, None while there is no news; no more are sent after `is_stopping`."""
    waiting = deque(tasks)
    with tempfile.TemporaryDirectory(prefix="io_idtech-jobs-", ignore_cleanup_errors=True) as folder:
        blenders = [_Blender(Path(folder), records.settings) for _ in range(min(jobs, len(tasks)))]
        try:
            while True:
                has_news = False
                for one in blenders:
                    found = one.receive()
                    while waiting and len(one.sent) < one.most and not is_stopping():
                        one.send(Conversion(waiting.popleft(), records))
                    if found is not None:
                        has_news, (conversion, outcome) = True, found
                        yield conversion.task, conversion.finish(outcome)
                if not any(one.sent for one in blenders):
                    return
                if not has_news:
                    time.sleep(_POLL_INTERVAL)
                    yield None
        finally:
            for one in blenders:
                one.kill()


class _Blender:
    """Another Blender, which is started with the first task, and again after a crash."""

    def __init__(self, folder: Path, settings: Settings) -> None:
        self.sent: deque[Conversion] = deque()  # what it works on, and what comes next
        self.most = 1  # how many it may have; after a short one another, so that it need not wait for it
        self._folder = folder
        self._settings = settings
        self._process: subprocess.Popen[bytes] | None = None
        self._outcomes: Any = None
        self._error = ""

    def send(self, conversion: Conversion) -> None:
        self.sent.append(conversion)
        self._write(conversion)

    def _write(self, conversion: Conversion) -> None:
        try:
            if self._process is None:
                self._start()
        except OSError as error:
            self._error = f"another Blender cannot be started: {error}"
            return
        # File names that are not UTF-8 contain surrogates, which JSON writes as ASCII escapes.
        line = json.dumps([vars(conversion.task), conversion.folder], default=os.fspath).encode()
        # If the process is dead, `receive` finds out.
        with suppress(OSError):
            self._process.stdin.write(line + b"\n")
            self._process.stdin.flush()

    def _start(self) -> None:
        handle, replies = tempfile.mkstemp(dir=self._folder)
        self._outcomes = os.fdopen(handle, "rb")
        self._process = subprocess.Popen(
            command(replies, self._settings),
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            # Ctrl-C goes only to the Blender that the user started; this one ends when its standard input does.
            start_new_session=True,
            creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
            # Where Blender makes its temporary folder: what it leaves if it is killed is removed with the outcomes.
            env={**os.environ, **dict.fromkeys(_TEMPORARY, str(self._folder))},
        )

    def receive(self) -> tuple[Conversion, Outcome] | None:
        """The first of what was sent and its outcome; None while it is not finished, or if nothing was sent."""
        outcome = self._outcome() if self.sent else None
        if outcome is None:
            return None
        conversion, self.most = self.sent.popleft(), 2 if outcome.seconds < _SHORT else 1
        if self._process is None:
            for one in self.sent:
                self._write(one)
        return conversion, outcome

    def _outcome(self) -> Outcome | None:
        if self._process is None:
            return Outcome(FAILED, self._error)
        # The status comes first: a process that has ended has written all its outcomes.
        status = self._process.poll()
        line = self._outcomes.readline()
        if line.endswith(b"\n"):
            return Outcome(**json.loads(line))
        self._outcomes.seek(-len(line), os.SEEK_CUR)
        if status is None:
            return None
        self._process = None
        return Outcome(FAILED, f"Blender ended with status {status} while converting this file")

    def kill(self) -> None:
        """Ends the process at once, and removes what it has not finished."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._outcomes.close()
        for conversion in self.sent:
            conversion.remove_folder()


def command(replies: str, settings: Settings) -> list[str]:
    """The command that starts a Blender, which writes outcomes to a file."""
    words = ["work", replies, json.dumps(vars(settings))]
    if not bpy.app.binary_path:
        # With -P, Python does not run modules in the folder of the script instead of its own.
        return [sys.executable, "-P", str(_WORKER), _EXTENSION, *words]
    return [bpy.app.binary_path, "--background", "--addons", _EXTENSION, "--command", "idtech", *words]


def work(replies: Path, values: dict[str, Any]) -> int:
    """Converts files for another Blender until standard input ends."""
    lists = {key: tuple(value) for key, value in values.items() if isinstance(value, list)}
    settings = Settings(**{**values, **lists})
    # The results of a task may still have to be moved when the next one comes.
    folders: deque[Path] = deque(maxlen=2)
    with open(replies, "ab") as out:
        for line in sys.stdin.buffer:
            named, folder = json.loads(line)
            task = Task(**{**named, "source": Path(named["source"]), "target": Path(named["target"])})
            folders.append(Path(folder))
            outcome = write_results(task, folders[-1], settings)
            out.write(json.dumps(vars(outcome)).encode() + b"\n")
            out.flush()
    # That Blender was killed.
    for path in (replies.parent, *folders):
        shutil.rmtree(path, ignore_errors=True)
    return 0
