"""``python -m io_md5 info FILE…``: a description of files, without Blender and the rest of the extension."""

from __future__ import annotations

import sys

from .format.console import run

sys.exit(run())
