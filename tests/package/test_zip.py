"""The built zip contains the code that runs and nothing else."""

from __future__ import annotations

import os
import tomllib
import zipfile
from pathlib import Path

import pytest
from paths import ROOT

ARCHIVE = os.environ.get("IO_IDTECH_ZIP")
pytestmark = pytest.mark.skipif(
    not ARCHIVE, reason="IO_IDTECH_ZIP names no zip: see the nox session 'package'"
)
PACKAGES = ("command_line", "io_common", "io_md2", "io_md5")


@pytest.fixture(scope="module")
def members() -> set[str]:
    with zipfile.ZipFile(str(ARCHIVE)) as archive:
        return {name for name in archive.namelist() if not name.endswith("/")}


def test_it_holds_the_modules_the_manifest_and_the_licence(members):
    code = {
        path.relative_to(ROOT).as_posix() for package in PACKAGES for path in (ROOT / package).rglob("*.py")
    }
    assert members == code | {"__init__.py", "blender_manifest.toml", "LICENSE"}


def test_its_name_carries_the_version_of_the_manifest():
    manifest = tomllib.loads((ROOT / "blender_manifest.toml").read_text(encoding="utf-8"))
    assert Path(str(ARCHIVE)).name == f"io_idtech-{manifest['version']}.zip"


def test_it_asks_for_files_and_for_no_other_permission():
    manifest = tomllib.loads((ROOT / "blender_manifest.toml").read_text(encoding="utf-8"))
    assert list(manifest["permissions"]) == ["files"]
