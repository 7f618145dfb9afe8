"""What is reported at the end: the last report is a warning if there are warnings, and the Info editor has them all."""

from __future__ import annotations

import time
from pathlib import Path

import bpy
import md5_scenes
import pytest
from enabled_families import IMPORTERS, operator, write_samples


class Operator:
    """Keeps its reports as Blender does."""

    def __init__(self) -> None:
        self.reports: list[tuple[str, str]] = []

    def report(self, kinds: set[str], text: str) -> None:
        (kind,) = kinds
        self.reports.append((kind, text))


@pytest.fixture
def reports(part):
    return part("io_blender.reports")


def delivered(reports, report) -> list[tuple[str, str]]:
    operator = Operator()
    reports.report_result(operator, report, "Exported", "imp.md5mesh", time.perf_counter())
    return operator.reports


def test_without_warnings_the_last_report_is_the_summary(reports):
    report = reports.Report()
    report.count("vertices")
    report.count("meshes", 2)
    ((kind, text),) = delivered(reports, report)
    assert kind == "INFO"
    assert text.startswith("Exported imp.md5mesh: 1 vertex, 2 meshes")


def test_with_warnings_the_last_report_is_a_warning_with_what_was_done_and_how_many(reports):
    report = reports.Report()
    for number in range(20):
        report.warn(f"odd {number}")
    told = delivered(reports, report)
    assert told[-1] == ("WARNING", "Exported imp.md5mesh: 20 warnings, all in the Info editor: odd 0")
    assert [("WARNING", f"odd {number}") for number in range(20)] == told[1:-1]


def test_the_last_report_names_the_most_important_warning(reports):
    report, other = reports.Report(), reports.Report()
    report.warn("harmless")
    other.warn("differs from Blender", "imp", is_important=True)
    report.merge(other)
    assert delivered(reports, report)[-1][1].endswith("2 warnings, all in the Info editor: imp: differs from Blender")


def test_a_single_warning_is_reported_once_at_the_end(reports):
    report = reports.Report()
    report.warn("odd", "imp")
    summary, warning = delivered(reports, report)
    assert summary[0] == "INFO"
    assert warning == ("WARNING", "Exported imp.md5mesh: 1 warning: imp: odd")


def test_the_last_report_names_its_file_once(reports):
    report = reports.Report()
    report.warn("odd", "imp.md5mesh")
    assert delivered(reports, report)[-1][1] == "Exported imp.md5mesh: 1 warning: odd"


def test_the_summary_ends_with_hints(reports):
    report = reports.Report()
    report.hints.append("Textures: choose Material Preview")
    assert delivered(reports, report)[-1][1].endswith(" s. Textures: choose Material Preview")


@pytest.mark.parametrize(
    ("number", "what", "text"),
    [(1, "vertices", "1 vertex"), (198, "frames", "198 frames"), (1, "frames", "1 frame"), (1, "faces", "1 face")],
)
def test_counts_of_one_are_in_the_singular(reports, number, what, text):
    assert reports.counted(number, what) == text


def test_a_failed_export_still_tells_the_warnings_that_came_before(tmp_path: Path, capfd, part):
    bpy.ops.import_scene.md5(filepath=str(md5_scenes.write(tmp_path, "walker")))
    armature = bpy.context.view_layer.objects.active
    loose = bpy.data.objects.new("loose", bpy.data.meshes.new("loose"))
    bpy.context.scene.collection.objects.link(loose)
    armature.data.bones[0].name = "two words"
    capfd.readouterr()
    with pytest.raises(RuntimeError, match="white space"):
        bpy.ops.export_scene.md5mesh(filepath=str(tmp_path / "out.md5mesh"), game="SAUERBRATEN", make_names_safe=False)
    assert f"attaches it to {armature.name}: loose" in capfd.readouterr().out


def test_a_mesh_of_another_armature_is_told_apart_from_one_of_none(tmp_path: Path, capfd):
    for name in ("walker", "weapon"):
        bpy.ops.import_scene.md5(filepath=str(md5_scenes.write(tmp_path, name)))
    armature, other = (obj for obj in bpy.context.scene.objects if obj.type == "ARMATURE")
    other.parent, other.parent_type, other.parent_bone = armature, "BONE", armature.data.bones[-1].name
    bpy.context.view_layer.objects.active = armature
    names = ", ".join(obj.name for obj in bpy.context.scene.objects if obj.parent == other)
    capfd.readouterr()
    bpy.ops.export_scene.md5mesh(filepath=str(tmp_path / "out.md5mesh"))
    said = capfd.readouterr().out
    assert f"not exported, because {other.name} moves it, not {armature.name}: {names}" in said
    assert "attaches it to" not in said


@pytest.mark.parametrize("suffix", [".md5mesh", ".md2"])
def test_a_failed_import_still_tells_the_facts_that_came_before(tmp_path: Path, capfd, suffix):
    good, bad = write_samples(tmp_path)[suffix], tmp_path / f"bad{suffix}"
    if suffix == ".md2":
        good.write_bytes(good.read_bytes() + b"more")
    else:
        good.write_text(good.read_text() + "\nunknown words\n")
    bad.write_bytes(good.read_bytes()[:100])
    capfd.readouterr()
    with pytest.raises(RuntimeError, match=rf"bad\{suffix}"):
        operator(IMPORTERS[suffix])(directory=str(tmp_path), files=[{"name": good.name}, {"name": bad.name}])
    assert f"Info: {good.name}: " in capfd.readouterr().out


def test_an_export_of_an_animation_without_an_armature_says_what_to_select(tmp_path: Path):
    bpy.ops.mesh.primitive_cube_add()
    with pytest.raises(RuntimeError, match="there is no armature to export"):
        bpy.ops.export_scene.md5anim(filepath=str(tmp_path / "out.md5anim"))


@pytest.mark.parametrize(
    ("importer", "name", "content", "text"),
    [
        ("md5", "imp.md5mesh", b"\x89PNG\r\n\x1a\n", r"This file is not MD5 \(it looks like a PNG\)"),
        ("md5", "imp.md2", b"IDP2" + bytes(64), "use File > Import > id Tech 2 MD2"),
        ("md2", "imp.md2", b"MD5Version 10\n", "use File > Import > id Tech 4 MD5"),
        ("md5", "imp.md5mesh", b"MD5Version 10\nnumJoints 1\njoints {\n", "The file is incomplete .* line 3 opens"),
    ],
)
def test_a_file_that_is_not_what_was_asked_for_is_named(tmp_path: Path, importer, name, content, text):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(RuntimeError, match=text):
        getattr(bpy.ops.import_scene, importer)(filepath=str(path))
