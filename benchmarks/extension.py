"""The working copy as an extension of this process's Blender."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from pathlib import Path

import bpy

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT / "tests" / "helpers"))


def load_extension() -> type:
    """Registers the working copy; returns its writer of F-curves, which the floors use too."""
    importlib.import_module("io_idtech").register()
    return importlib.import_module("io_idtech.io_blender.versions").ActionCurves


def empty() -> None:
    """Loads an empty file, so that runs do not affect each other."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)


def operator(path: str | Path, **options: object) -> Callable[[], object]:
    """The import of a file, without textures."""
    families = importlib.import_module("io_idtech.families").FAMILIES
    family = next(family for family in families if Path(path).suffix in family.suffixes)
    module, _, name = family.blender().importer.bl_idname.partition(".")
    importer = getattr(getattr(bpy.ops, module), name)
    return lambda: importer(filepath=str(path), use_textures=False, **options)


def load(path: str | Path) -> None:
    """Imports a file into an empty one."""
    empty()
    operator(path)()
