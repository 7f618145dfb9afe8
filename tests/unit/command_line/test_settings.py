"""Settings and tasks as plain values."""

from __future__ import annotations

import io
from pathlib import Path

from io_idtech.command_line import messages
from io_idtech.command_line.settings import Task


def test_a_task_is_the_same_in_another_process():
    task = Task(Path("a\nb"), Path("c\udcff"), "name", "prefix_", is_forced=True)
    stream = io.BytesIO(messages.pack(task.to_json()))
    told = messages.read(stream)
    assert told is not None
    assert Task.from_json(told) == task
