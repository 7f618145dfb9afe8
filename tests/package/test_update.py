"""A new version installed over an old one, reloaded and disabled, while a file with its data is open."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile

import pytest
from paths import HELPERS, ROOT

ARCHIVE = os.environ.get("IO_IDTECH_ZIP")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not ARCHIVE, reason="IO_IDTECH_ZIP names no zip: see the nox session 'package'"),
]
SCRIPT = """
import os, sys
from pathlib import Path

old, new, sample, out = sys.argv[1:5]
os.environ["BLENDER_USER_RESOURCES"] = out + "/user"
sys.path.insert(0, sys.argv[5])
import bpy

MODULE = "bl_ext.user_default.io_idtech"


def install(archive):
    bpy.ops.extensions.package_install_files(filepath=archive, repo="user_default", enable_on_install=True)


def version():
    installed = Path(sys.modules[MODULE].__file__).with_name("blender_manifest.toml").read_text()
    return installed.partition('\\nversion = "')[2].partition('"')[0]


def export(name):
    bpy.context.view_layer.objects.active = next(o for o in bpy.data.objects if o.type == "ARMATURE")
    assert bpy.ops.export_scene.md5mesh(filepath=f"{out}/{name}.md5mesh", actions="NONE") == {"FINISHED"}
    return Path(out, f"{name}.md5mesh").read_bytes()


def names():
    kinds = (bpy.types.Operator, bpy.types.Panel, bpy.types.UIList, bpy.types.PropertyGroup, bpy.types.FileHandler)
    classes = {cls for kind in kinds for cls in kind.__subclasses__() if getattr(cls, "is_registered", False)}
    return sorted(cls.__name__ for cls in classes if cls.__module__.startswith(MODULE))


bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
install(old)
assert version() == "0.0.1", version()
assert bpy.ops.import_scene.md5(filepath=sample, animations="FOLDER") == {"FINISHED"}
bpy.ops.object.io_idtech_list_animations()
before = export("old")
registered = names()

# The new version, while the model is open.
install(new)
assert version() != "0.0.1"
assert names() == registered, set(names()) ^ set(registered)
armature = bpy.context.view_layer.objects.active
assert len(armature.io_idtech_animations.rows) == 2
assert export("new") == before

# Disabled with the file open, saved, opened and enabled again.
bpy.ops.preferences.addon_disable(module=MODULE)
assert names() == []
assert not hasattr(bpy.types.Object, "io_idtech_animations")
bpy.ops.wm.save_as_mainfile(filepath=f"{out}/open.blend")
bpy.ops.wm.open_mainfile(filepath=f"{out}/open.blend")
bpy.ops.preferences.addon_enable(module=MODULE)
assert names() == registered
assert export("again") == before
# Blender's own command for developers.
bpy.ops.script.reload()
assert names() == registered
assert export("reloaded") == before
bpy.ops.extensions.package_uninstall(repo_index=next(
    index for index, repo in enumerate(bpy.context.preferences.extensions.repos) if repo.module == "user_default"
), pkg_id="io_idtech")
assert names() == []
assert not Path(out, "user/extensions/user_default/io_idtech").exists()
print("every step was taken", flush=True)
os._exit(0)
"""


def test_an_update_keeps_open_models_and_leaves_nothing_of_the_old_version(tmp_path):
    old = tmp_path / "old.zip"
    with zipfile.ZipFile(str(ARCHIVE)) as archive, zipfile.ZipFile(old, "w") as copy:
        for name in archive.namelist():
            data = archive.read(name)
            if name == "blender_manifest.toml":
                start = data.index(b'\nversion = "')
                data = data[:start] + b'\nversion = "0.0.1"' + data[data.index(b"\n", start + 1) :]
            copy.writestr(name, data)
    script = tmp_path / "update.py"
    script.write_text(SCRIPT, encoding="utf-8")
    sample = ROOT / "samples" / "models" / "octopus" / "octopus.md5mesh"
    words = [str(old), str(ARCHIVE), str(sample), str(tmp_path), str(HELPERS)]
    done = subprocess.run([sys.executable, str(script), *words], capture_output=True, text=True, check=False)
    assert "every step was taken" in done.stdout, done.stdout[-2000:] + done.stderr[-4000:]
    assert "Traceback" not in done.stdout + done.stderr
    assert "Error" not in done.stderr, done.stderr
