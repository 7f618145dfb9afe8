"""Several Blenders that convert files at the same time. One that crashes fails its file and is replaced.

Each runs the command ``work``: it gets a line of JSON for each task on its standard input, and adds a line with the
outcome to a file, which is polled, as that works on every system.
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
from dataclasses import asdict
from pathlib import Path
from typing import Any

import bpy

from ..io_common.batch import Settings
from .convert import Conversion, EmptyScene, write_results
from .records import Records
from .tasks import FAILED, Outcome, Task

_EXTENSION = (__package__ or "").rpartition(".")[0]
_POLL_INTERVAL = 0.005  # seconds; a small model takes a few times as long
# Tasks that a Blender is sent at a time, so that it need not wait for the next poll once it has finished one.
_SENT_AHEAD = 2
_CANNOT_REPLY = (
    74  # the exit status if an outcome cannot be written, as on a full disk: `EX_IOERR` of `sysexits.h`
)
# The file next to the outcomes that is there until Ctrl-C is pressed.
_GO = "go"
# The variables that name the folder for temporary files, on all systems.
_TEMPORARY = ("TMPDIR", "TEMP", "TMP")

# For Blender as a Python module, which enables no add-ons and has no command line.
_AS_MODULE = """\
import importlib, sys
import bpy
bpy.ops.preferences.addon_enable(module=sys.argv[1])
command = importlib.import_module(sys.argv[1] + ".command_line.command")
command.exit_process(command.main(sys.argv[2:]))
"""


def convert_all(
    tasks: Sequence[Task], records: Records, jobs: int, is_stopping: Callable[[], bool]
) -> Iterator[tuple[Task, Outcome]]:
    """Converts files with `jobs` Blenders; yields each task and its outcome, in the order in which they finish.

    Once `is_stopping` returns True, as after Ctrl-C, the current files are finished and no others are started.
    """
    waiting = deque(tasks)
    with tempfile.TemporaryDirectory(prefix="io_idtech-jobs-", ignore_cleanup_errors=True) as folder:
        go = Path(folder, _GO)
        go.touch()
        blenders = [_Blender(Path(folder), records) for _ in range(min(jobs, len(tasks)))]
        try:
            while waiting or any(one.sent for one in blenders):
                finished = [result for one in blenders for result in one.receive(waiting)]
                yield from finished
                if is_stopping():
                    go.unlink(missing_ok=True)
                    waiting.clear()
                for count in range(_SENT_AHEAD):
                    for one in blenders:
                        # At the end, no task waits for one Blender while another is idle.
                        if len(one.sent) == count and len(waiting) > count * len(blenders):
                            yield from one.send(waiting.popleft())
                if not finished:
                    time.sleep(_POLL_INTERVAL)
        finally:
            for one in blenders:
                one.kill()


def work(replies: Path, values: dict[str, Any]) -> int:
    """Converts files for another Blender until standard input ends; returns the exit status: 0, or `_CANNOT_REPLY`.

    `replies` is the file for the outcomes, whose folder is removed at the end; `values` are those of the settings.
    """
    settings = Settings(
        **{**values, "game_folders": tuple(values["game_folders"]), "game_data": tuple(values["game_data"])}
    )
    go = replies.with_name(_GO)
    empty_scene = EmptyScene()
    folders: deque[Path] = deque(maxlen=_SENT_AHEAD)
    try:
        with open(replies, "ab") as out:
            for line in sys.stdin.buffer:
                named, folder = json.loads(line)
                folders.append(Path(folder))
                task = Task(**{**named, "source": Path(named["source"]), "target": Path(named["target"])})
                outcome = None
                if go.exists():
                    outcome = asdict(write_results(task, folders[-1], settings, empty_scene))
                out.write(json.dumps(outcome).encode() + b"\n")
                out.flush()
    except OSError:
        # The folder is left to the Blender that started this one, which reads the outcomes before.
        return _CANNOT_REPLY
    # That Blender may have been killed.
    for folder in (*folders, replies.parent):
        shutil.rmtree(folder, ignore_errors=True)
    return 0


class _Blender:
    """Another Blender, which is started with the first task, and again after a crash."""

    def __init__(self, folder: Path, records: Records) -> None:
        self.sent: deque[Conversion] = deque()  # what it has not finished; it works on the first
        self._folder = folder
        self._records = records
        self._process: subprocess.Popen[bytes] | None = None
        self._outcomes: Any = None

    def send(self, task: Task) -> Iterator[tuple[Task, Outcome]]:
        """Sends a task; yields it as failed if no Blender can be started."""
        try:
            self._process = self._process or self._start()
        except OSError as error:
            yield task, Outcome(FAILED, f"another Blender cannot be started: {error}")
            return
        self.sent.append(Conversion(task, self._records))
        # File names that are not UTF-8 contain surrogates, which JSON writes as ASCII escapes.
        line = json.dumps([asdict(task), self.sent[-1].folder], default=os.fspath).encode()
        # If the process is dead, `receive` finds out.
        with suppress(OSError):
            self._process.stdin.write(line + b"\n")
            self._process.stdin.flush()

    def _start(self) -> subprocess.Popen[bytes]:
        handle, replies = tempfile.mkstemp(dir=self._folder)
        self._outcomes = os.fdopen(handle, "rb")
        return subprocess.Popen(
            command(replies, self._records.settings),
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            # Ctrl-C goes only to the Blender that the user started; this one ends when its standard input does.
            start_new_session=True,
            creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
            # Where Blender makes its temporary folder: what it leaves if it is killed is removed with the outcomes.
            env={**os.environ, **dict.fromkeys(_TEMPORARY, str(self._folder))},
        )

    def receive(self, waiting: deque[Task]) -> Iterator[tuple[Task, Outcome]]:
        """Yields what has been finished; tasks that a Blender has crashed before are put back to those that wait."""
        if self._process is None:
            return
        # The status comes first: a process that has ended has written all its outcomes.
        status = self._process.poll()
        for line in iter(self._outcomes.readline, b""):
            if not line.endswith(b"\n"):
                self._outcomes.seek(-len(line), os.SEEK_CUR)
                break
            outcome = json.loads(line)
            conversion = self.sent.popleft()
            if outcome is not None:
                yield conversion.task, conversion.finish(Outcome(**outcome))
        if status is not None:
            failed, *rest = (conversion.task for conversion in self.sent) if self.sent else [None]
            self.kill()
            waiting.extendleft(reversed(rest))
            if failed is not None:
                reason = f"Blender ended with status {status} while converting this file"
                if status == _CANNOT_REPLY:
                    reason = f"its outcome cannot be written to {self._folder}: free some space there"
                yield failed, Outcome(FAILED, reason)

    def kill(self) -> None:
        """Ends the process at once, and removes what it has written."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._outcomes.close()
            self._process = None
        while self.sent:
            self.sent.popleft().remove_folder()


def command(replies: str, settings: Settings) -> list[str]:
    """The command that starts a Blender, which writes outcomes to a file."""
    words = ["work", replies, json.dumps(asdict(settings))]
    if not bpy.app.binary_path:
        # Blender as a Python module. Without -P, Python runs modules in the current folder instead of its own.
        return [sys.executable, "-P", "-c", _AS_MODULE, _EXTENSION, *words]
    return [bpy.app.binary_path, "--background", "--addons", _EXTENSION, "--command", "idtech", *words]
