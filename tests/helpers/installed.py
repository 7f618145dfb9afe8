"""Blender with the extension enabled: the working copy, or the zip that IO_IDTECH_ZIP names."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import NoReturn

import pytest
from paths import ROOT

MODULE = "bl_ext.user_default.io_idtech"

# Blender asks for its user folder when it is loaded.
_resources = Path(tempfile.mkdtemp(prefix="io_idtech-"))
os.environ["BLENDER_USER_RESOURCES"] = str(_resources)

import bpy  # noqa: E402


def _install() -> None:
    package = os.environ.get("IO_IDTECH_ZIP")
    if package:
        bpy.ops.extensions.package_install_files(filepath=package, repo="user_default", enable_on_install=True)
        return
    repository = _resources / "extensions" / "user_default"
    repository.mkdir(parents=True, exist_ok=True)
    (repository / "io_idtech").symlink_to(ROOT, target_is_directory=True)
    # The module comes into reach by the import of bpy.
    addon_utils = import_module("addon_utils")
    addon_utils.extensions_refresh(ensure_wheels=False)
    addon_utils.enable(MODULE, default_set=True)


_install()

SCENES = _resources / "scenes"
"""A folder for scenes that several tests begin with."""

SCENES.mkdir()
# From a file of this version it is read in half the time of the one that Blender has.
_EMPTY_SCENE = str(SCENES / "empty.blend")
bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
bpy.ops.wm.save_as_mainfile(filepath=_EMPTY_SCENE, copy=True, compress=False)


def remove_folders() -> None:
    """Removes the user folder, and Blender's temporary folder as its own exit would."""
    shutil.rmtree(_resources, ignore_errors=True)
    folder = Path(bpy.app.tempdir)
    # Where Blender cannot make a folder of its own, this is the one that all programs share.
    if folder.name.startswith("blender_"):
        shutil.rmtree(folder, ignore_errors=True)


def exit_process(status: int) -> NoReturn:
    """Ends the process without Blender's own exit, on which some versions hang as a module, and leaves no folders."""
    remove_folders()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def version() -> str:
    """The version of Blender without its patch level, such as "4.2"."""
    return ".".join(map(str, bpy.app.version[:2]))


@pytest.fixture(scope="session")
def extension() -> ModuleType:
    """The extension as Blender has loaded it."""
    return sys.modules[MODULE]


@pytest.fixture(scope="session")
def part():
    """A function that imports a module of the loaded extension: ``part("io_blender.skeletal.rig")``."""
    return lambda name: import_module(f"{MODULE}.{name}")


def read_empty_scene() -> None:
    """Begins an empty scene of factory settings."""
    bpy.ops.wm.read_homefile(filepath=_EMPTY_SCENE)


@pytest.fixture(autouse=True)
def empty_scene() -> None:
    """Every test begins with an empty scene of factory settings."""
    read_empty_scene()
