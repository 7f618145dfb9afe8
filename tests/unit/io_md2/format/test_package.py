"""The format package works by itself."""

from __future__ import annotations

import subprocess
import sys

from paths import ROOT


def test_the_format_package_needs_no_blender() -> None:
    code = (
        "import sys, io_md2.format\n"
        "assert not {'bpy', 'mathutils', 'bmesh'} & set(sys.modules)\n"
        "names = io_md2.format.__all__\n"
        "assert all(hasattr(io_md2.format, name) for name in names)\n"
        "assert all(getattr(io_md2.format, name).__doc__ for name in names if name.islower())\n"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)
