"""``python -m io_md5 info FILE…``: a description of files, without Blender."""

from __future__ import annotations

import sys

# Run as a program, the packages of the extension are top-level packages.
from io_common.files.file_info import run_alone  # type: ignore[import-not-found]

from .format.describe import DESCRIBERS
from .format.games import Game

sys.exit(run_alone("python -m io_md5", DESCRIBERS, [game.value for game in Game]))
