"""The end of a process without Blender's own exit, in which some versions hang."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from typing import NoReturn

import bpy

_SESSION_FOLDER = re.compile(r"blender_[A-Za-z0-9]{6}")


def exit_process(status: int) -> NoReturn:
    """Ends this process, and removes Blender's temporary folder as its own exit would."""
    folder = Path(bpy.app.tempdir)
    # Where Blender cannot make a folder of its own, as on a full disk, this is the one that all programs share.
    if _SESSION_FOLDER.fullmatch(folder.name):
        shutil.rmtree(folder, ignore_errors=True)
    os._exit(status)
