"""A worker: a Blender started by another one, which converts the files that it is sent, one after the other.

Tasks arrive on standard input. Outcomes go to a file, as Blender prints its own messages to standard output and error.
"""

from __future__ import annotations

import shutil
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ..io_common import manifest
from ..io_common.files.regular_files import open_file
from . import messages
from .convert import convert
from .empty_scene import EmptyScene
from .output_files import become_worker
from .records import Records
from .settings import Settings, Task
from .source_files import Sources

CANNOT_REPLY = 74
"""The exit status if an outcome cannot be written, as on a full disk: that of `EX_IOERR` in `sysexits.h`."""

JOB = "job"
"""The name of the file with what all tasks of a run have in common."""


def work(replies: Path) -> int:
    """Converts files until standard input ends; returns the exit status: 0, or `CANNOT_REPLY`.

    `replies` is the file for the outcomes, in a folder with the file `JOB`. Once that file is gone, no further task is
    started. The folder is removed at the end.
    """
    job_path = replies.with_name(JOB)
    job = _read_job(job_path)
    if job is None:
        # The run has already ended.
        return 0
    become_worker(replies)
    settings = Settings.from_json(job["settings"])
    records = Records(Path(job["out"]), settings, manifest.version(), Sources.from_json(job["sources"]))
    empty_scene = EmptyScene()
    try:
        while (message := messages.read(sys.stdin.buffer)) is not None and job_path.exists():
            outcome = convert(Task.from_json(message), records, empty_scene)
            with open(replies, "ab") as out:
                out.write(messages.pack(asdict(outcome)))
    except FileNotFoundError:
        pass
    except OSError:
        # The folder is left to the Blender that started this one, which reads the outcomes before.
        return CANNOT_REPLY
    # The Blender that started this one may have been killed.
    shutil.rmtree(replies.parent, ignore_errors=True)
    return 0


def _read_job(path: Path) -> dict[str, Any] | None:
    try:
        with open_file(path) as file:
            return messages.read(file)
    except FileNotFoundError:
        return None
