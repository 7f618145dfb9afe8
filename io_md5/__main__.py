"""``python -m io_md5 info FILE…``: descriptions of files, without Blender and with this folder alone."""

from __future__ import annotations

import sys

from .format.describe import DESCRIBERS
from .format.file_info import run_alone
from .format.games import Game

sys.exit(run_alone("python -m io_md5", DESCRIBERS, [game.value for game in Game]))
