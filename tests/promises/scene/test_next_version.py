"""A .blend that one Blender saved is opened by a later one, which exports the same files.

Each version leaves its .blend files, and what it exported of them, in `build/versions`; those that come after it open
them. So the tests of all versions have to run, oldest first, as `python run.py test` has them.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from contextlib import suppress
from pathlib import Path

import bpy
import md5_scenes
import pytest
from enabled_families import FAMILIES, export_file, import_file, write_samples
from installed import read_empty_scene, version
from paths import CORPUS, ROOT

from io_idtech.io_md5.format import write_animation

pytestmark = [pytest.mark.slow, pytest.mark.every_version]

VERSIONS = ("4.2", "4.5", "5.2", "5.3")
NOW = version()
KEPT = ROOT / "build" / "versions"

# Real models with animations and cameras of few bytes, for each family; from the corpus, where it is there.
REAL = 4

OPTIONS = {".md5mesh": {"actions": "ALL"}, ".md2": {"game": "ANY"}}
"""Of exports, by suffix: as much as possible."""


def state_of_the_code() -> str:
    """What is different whenever a file of the extension, or this test, is."""
    files = [path for package in ROOT.glob("io_*") for path in package.rglob("*.py")]
    digest = hashlib.sha256()
    for path in sorted([*files, Path(__file__)]):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def sources(folder: Path):
    """What is imported into a .blend each: a name, and the files."""
    joints = md5_scenes.skeleton()
    walks = {
        name: md5_scenes.animation(joints, rate=rate, moving=moving)
        for name, rate, moving in (("walk", 24.0, ("spine",)), ("run", 29.97, ("hips", "leg.L")), ("idle", 10.0, ()))
    }
    for suffix, path in write_samples(folder).items():
        yield f"made sample {suffix}", [path]
    model = md5_scenes.write(folder)
    for name, animation in walks.items():
        write_animation(animation, folder / f"{name}.md5anim")
    yield "made model", [model, *(folder / f"{name}.md5anim" for name in walks)]
    if CORPUS.is_dir():
        for index, (mesh, animation) in enumerate(real_pairs()):
            yield f"real model {index}", [mesh, animation]
        small = sorted(CORPUS.rglob("*.md2"), key=lambda path: (path.stat().st_size, str(path)))
        good = [path for path in small if path.stat().st_size > 5000]
        for index, path in enumerate(good[:REAL]):
            yield f"real md2 {index}", [path]


def real_pairs():
    """The smallest pairs of a mesh and an animation of the same folder that have all joints in common."""
    found = []
    rows = [line.split("\t") for line in (CORPUS / "pairs.tsv").read_text().splitlines()[1:]]
    for row in rows:
        mesh, animation = CORPUS / row[0], CORPUS / row[1]
        found.append((mesh.stat().st_size + animation.stat().st_size, mesh, animation))
    return [(mesh, animation) for _, mesh, animation in sorted(found)[:REAL]]


def exported(suffix: str, folder: Path) -> dict[str, bytes]:
    """All that the .blend exports as, by the operators of the family of the file that was imported."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (family,) = [family for family in FAMILIES if suffix in family.suffixes]
    for exporter in family.blender().exporters:
        kind = exporter.filename_ext
        with suppress(RuntimeError):  # a camera is no model, and a model no camera
            export_file(folder / f"out{kind}", **OPTIONS.get(kind, {}))
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def test_a_blend_that_was_saved_and_opened_exports_the_same(tmp_path):
    """And is left, with what was exported, for the versions to come."""
    mine = KEPT / NOW
    shutil.rmtree(mine, ignore_errors=True)
    kinds = []
    for kind, files in sources(tmp_path):
        read_empty_scene()
        for path in files:
            import_file(path)
        suffix = files[0].suffix
        before = exported(suffix, mine / kind)
        assert before
        blend = mine / f"{kind}.blend"
        bpy.ops.wm.save_as_mainfile(filepath=str(blend), compress=True, copy=True)
        bpy.ops.wm.open_mainfile(filepath=str(blend))
        assert exported(suffix, tmp_path / "again") == before
        kinds.append((kind, suffix))
    (mine / "made.json").write_text(json.dumps({"code": state_of_the_code(), "kinds": kinds}))


@pytest.mark.parametrize("version", [version for version in VERSIONS if version < NOW] or ["none"])
def test_a_blend_of_an_earlier_version_exports_the_same(tmp_path, version):
    if version == "none":
        pytest.skip(f"no supported version is earlier than {NOW}")
    made = KEPT / version / "made.json"
    if not made.is_file():
        pytest.skip(f"{version} has left nothing in {KEPT}: its tests run before these in `python run.py test`")
    left = json.loads(made.read_text())
    if left["code"] != state_of_the_code():
        pytest.skip(f"what {version} left in {KEPT} was made by another state of the code: run its tests anew")
    for kind, suffix in left["kinds"]:
        bpy.ops.wm.open_mainfile(filepath=str(KEPT / version / f"{kind}.blend"))
        then = {path.name: path.read_bytes() for path in sorted((KEPT / version / kind).iterdir())}
        now = exported(suffix, tmp_path / "out")
        assert list(now) == list(then), kind
        for name in then:
            assert now[name] == then[name], f"{kind}: {name} differs"
