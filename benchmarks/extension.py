"""The working copy as an extension of this process's Blender."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path

import bpy

ROOT = Path(__file__).resolve().parent.parent


def load_extension() -> type:
    """Registers the working copy; returns its writer of F-curves, which the floor uses too."""
    spec = importlib.util.spec_from_file_location(
        "io_idtech", ROOT / "__init__.py", submodule_search_locations=[str(ROOT)]
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["io_idtech"] = module
    spec.loader.exec_module(module)
    module.register()
    return importlib.import_module("io_idtech.io_common.scene.versions").ActionCurves


def empty() -> None:
    """An empty file, so that runs do not weigh on each other."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)


def operator(path: str | Path) -> Callable[[], object]:
    """The import of a file, without looking for images."""
    path = Path(path)
    if path.suffix == ".md2":
        return lambda: bpy.ops.import_scene.md2(filepath=str(path), use_textures=False)
    return lambda: bpy.ops.import_scene.md5(filepath=str(path), use_textures=False)
