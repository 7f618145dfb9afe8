"""Uses a further family in every way there is; run in a Blender of its own, in a copy of the project that has one.

Arguments: the copy, and a folder to work in. Prints what each way gave, as JSON.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
from importlib import import_module
from pathlib import Path

root, folder = (Path(argument) for argument in sys.argv[1:])
sys.path[:0] = [str(root / "tests" / "helpers"), str(root / "fuzz")]

import installed  # noqa: E402 # it sets Blender up before it loads it

bpy = installed.bpy


class Layout:
    """Takes down what a menu shows."""

    def __init__(self) -> None:
        self.entries: list[tuple[str, str]] = []

    def operator(self, name: str, text: str) -> None:
        self.entries.append((name, text))


class Menu:
    """Stands for a menu that is drawn."""

    def __init__(self) -> None:
        self.layout = Layout()


def menu_entries(menu: type) -> list[tuple[str, str]]:
    """What the families add to a menu."""
    drawn = Menu()
    for entry in menu._dyn_ui_initialize():
        if entry.__module__.startswith(installed.MODULE):
            entry(drawn, bpy.context)
    return drawn.layout.entries


def command(*words: str) -> tuple[int, str]:
    """What the command line returns and prints."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        status = import_module(f"{installed.MODULE}.command_line.command").main(words)
    return status, out.getvalue()


source = folder / "a.tri"
source.write_text("TRI\n0 0 0\n1 0 0\n0 2 0\n")
seen: dict[str, object] = {
    "import menu": menu_entries(bpy.types.TOPBAR_MT_file_import),
    "export menu": menu_entries(bpy.types.TOPBAR_MT_file_export),
    "dropped files": bpy.types.IO_FH_tri.bl_file_extensions,
}
bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
seen["imported"] = sorted(bpy.ops.import_scene.tri(filepath=str(source)))
bpy.ops.export_scene.tri(filepath=str(folder / "b.tri"))
seen["exported"] = (folder / "b.tri").read_text()
bpy.ops.wm.save_as_mainfile(filepath=str(folder / "scene.blend"))
(folder / "bad.tri").write_text("TRI\n0\n")
try:
    bpy.ops.import_scene.tri(filepath=str(folder / "bad.tri"))
except RuntimeError as error:
    seen["bad"] = str(error)
(folder / "tri.md5mesh").write_bytes(source.read_bytes())
seen["under another name"] = command("info", str(folder / "tri.md5mesh"))[1]
seen["info"] = json.loads(command("info", "--json", str(source))[1])
seen["to glb"] = command("convert", str(source), "--to", str(folder / "glb"), "--format", "glb")[0]
seen["to tri"] = command("convert", str(folder / "scene.blend"), "--to", str(folder / "tri"), "--format", "tri")[0]
seen["results"] = sorted(
    path.relative_to(folder).as_posix() for path in folder.glob("*/*.*") if path.suffix in (".glb", ".tri")
)

import targets  # noqa: E402

target = targets.TARGETS["tri"]
target.read(source.read_bytes())
try:
    target.read(b"TRI 1")
except target.errors as error:
    seen["fuzzed"] = str(error)
bpy.ops.preferences.addon_disable(module=installed.MODULE)
seen["left"] = [
    name
    for module in (bpy.ops.import_scene, bpy.ops.export_scene, bpy.types)
    for name in dir(module)
    if name in ("tri", "IO_FH_tri")
]
print("\n" + json.dumps(seen), flush=True)
installed.exit_process(0)
