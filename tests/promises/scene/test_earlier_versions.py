"""What .blend files of earlier versions of the extension hold is exported as it was then.

The files in `tests/earlier_versions` were saved in Blender 4.2 right after an import, and exported by the same version
of the extension.
"""

from __future__ import annotations

import re

import bpy
import pytest
from paths import ROOT

FOLDER = ROOT / "tests" / "earlier_versions"


@pytest.mark.parametrize(
    ("blend", "operator", "names", "options"),
    [
        ("model", "md5mesh", ["sample.md5mesh", "walk.md5anim", "wave.md5anim"], {"actions": "ALL"}),
        ("frames", "md2", ["frames.md2"], {}),
        ("camera", "md5camera", ["intro.md5camera"], {}),
    ],
)
def test_files_of_an_earlier_version_are_exported_byte_for_byte(tmp_path, blend, operator, names, options):
    bpy.ops.wm.open_mainfile(filepath=str(FOLDER / f"{blend}.blend"), load_ui=False)
    getattr(bpy.ops.export_scene, operator)(filepath=str(tmp_path / names[0]), **options)
    assert sorted(path.name for path in tmp_path.iterdir()) == names
    for name in names:
        # What was not imported from a file names the version that wrote it.
        written = re.sub(rb"io_idtech [\d.]+", b"io_idtech 0.1.0", (tmp_path / name).read_bytes())
        assert written == (FOLDER / name).read_bytes(), name
