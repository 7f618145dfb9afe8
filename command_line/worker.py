"""What a Blender does that another one started: it converts the files that it is told, one after the other.

It gets tasks on its standard input and writes outcomes into a file of its own. Its standard output and error are
Blender's, which prints what it likes there.
"""

from __future__ import annotations

import shutil
import sys
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ..io_common import manifest
from ..io_common.files.regular_files import open_file
from . import messages
from .convert import convert
from .record import Records
from .settings import Settings, Task
from .sources import Sources

JOB = "job"
"""The file that holds what all tasks of a run have in common."""


def work(replies: Path) -> None:
    """Converts until there is no more input.

    Args:
        replies: the file for the outcomes, in a folder with the file `JOB`; the folder is removed in the end.
    """
    job = _read_job(replies.with_name(JOB))
    if job is None:
        # The run was over before this began.
        return
    settings = Settings.from_plain(job["settings"])
    records = Records(Path(job["out"]), settings, manifest.version(), Sources.from_plain(job["sources"]))
    with suppress(FileNotFoundError), open(replies, "ab", buffering=0) as out:
        while (told := messages.read(sys.stdin.buffer)) is not None:
            outcome = convert(Task.from_plain(told), records)
            out.write(messages.pack(asdict(outcome)))
    # Whoever started this may have been killed.
    shutil.rmtree(replies.parent, ignore_errors=True)


def _read_job(path: Path) -> dict[str, Any] | None:
    try:
        with open_file(path) as file:
            return messages.read(file)
    except FileNotFoundError:
        return None
