"""What lies around the files: forged records, folders of other programs, closed output, full disks, long names."""

from __future__ import annotations

import dataclasses
import errno
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import zipfile
from pathlib import Path

import bpy
import md5_scenes
import needs
import pytest
from game_samples import square, write
from installed import read_empty_scene
from paths import HELPERS

from io_idtech.io_md5.format import read_animation, read_mesh

LONG = "a" * 300


@pytest.fixture
def model(tmp_path: Path) -> Path:
    folder = tmp_path / "in"
    folder.mkdir()
    md5_scenes.write(folder, "imp")
    return folder / "imp.md5mesh"


def archive(path: Path, **members: str) -> Path:
    with zipfile.ZipFile(path, "w") as file:
        for name, text in members.items():
            file.writestr(name, text)
    return path


@pytest.mark.slow
@pytest.mark.parametrize("name", ["a\ud800/b.blend", f"{LONG}.blend", f"{LONG}/b.blend"])
def test_a_record_with_names_that_no_file_has_does_not_stop_the_run(idtech, model, tmp_path, name):
    out = tmp_path / "out"
    assert idtech("convert", model, "--to", out)[0] == 0
    (record,) = (out / ".idtech").iterdir()
    content = json.loads(record.read_text())
    content["files"][name] = ["x"]
    record.write_text(json.dumps(content))
    assert idtech("convert", model, "--to", out)[0] == 0


@pytest.mark.slow
def test_messages_about_a_shader_name_of_a_megabyte_are_short(idtech, tmp_path):
    write(tmp_path / "in", {"imp.md5mesh": square("models/" + "x" * 1_000_000)})
    status, _, told = idtech("convert", tmp_path / "in", "--to", tmp_path / "out")
    assert status == 0
    assert "1 image not found: xxx" in told
    assert "Name the game's folder with --game-folder" in told
    assert len(told) < 2_000


@pytest.mark.slow
def test_folders_of_other_programs_are_kept_whatever_their_age(idtech, model, tmp_path):
    own = tmp_path / "out" / ".idtech-textures"
    own.mkdir(parents=True)
    (own / "texture").write_text("a week of work")
    os.utime(own, (0, 0))
    assert idtech("convert", model, "--to", tmp_path / "out")[0] == 0
    assert (own / "texture").read_text() == "a week of work"


@pytest.mark.slow
def test_folders_that_killed_runs_left_are_removed_after_a_day(idtech, model, tmp_path, part):
    tasks = part("command_line.tasks")
    run = tasks.Records(tmp_path / "out", part("io_blender.options").Settings(), "1")
    task = tasks.Task(model, tmp_path / "out" / "imp.blend", "imp")
    left = part("command_line.convert").Conversion(task, run).folder
    left.mkdir(parents=True)
    os.utime(left, (0, 0))
    assert idtech("convert", model, "--to", tmp_path / "out")[0] == 0
    assert not left.exists()


@pytest.mark.slow
def test_an_archive_with_a_name_that_is_too_long_is_named_and_stops_nothing_else(idtech, model, tmp_path):
    status, _, told = idtech("convert", model, f"{LONG}.pk4", "--to", tmp_path / "out")
    assert (status, (tmp_path / "out" / "imp.blend").exists()) == (1, True)
    assert "the name is too long" in told
    for words in (("list", f"{LONG}.pk4"), ("convert", model, "--to", tmp_path, "--game-folder", f"{LONG}.pk4")):
        status, _, told = idtech(*words)
        assert (status, "neither a folder nor an archive" in told) == (2, True)


def test_a_game_folder_with_a_name_that_is_too_long_does_not_stop_an_import(model, extension):
    preferences = bpy.context.preferences.addons[extension.__name__].preferences
    folder = preferences.game_folders.add()
    folder.path = f"/{LONG}.pk4"
    try:
        assert bpy.ops.import_scene.md5(filepath=str(model)) == {"FINISHED"}
    finally:
        preferences.game_folders.clear()


@pytest.mark.slow
def test_one_name_that_is_too_long_stops_no_other_file_of_an_archive(idtech, model, tmp_path):
    packed = archive(
        tmp_path / "game.pk4", **{f"{'b' * 300}/x.md5mesh": model.read_text(), "fine.md5mesh": model.read_text()}
    )
    status, table, _ = idtech("extract", packed, "--files", "*", "--to", tmp_path / "loose")
    assert (status, table) == (1, "1 written, 1 failed\n")
    assert (tmp_path / "loose" / "fine.md5mesh").exists()
    status, _, _ = idtech("convert", packed, "--to", tmp_path / "out")
    assert (status, (tmp_path / "out" / "fine.blend").exists()) == (1, True)


@pytest.mark.slow
@needs.links
@pytest.mark.parametrize("force", [(), ("--force",)])
def test_extract_does_not_write_through_a_broken_link(idtech, model, tmp_path, force):
    target = tmp_path / "loose"
    target.mkdir()
    (target / "imp.md5mesh").symlink_to(tmp_path / "elsewhere")
    status, _, told = idtech("extract", model.parent, "--files", "*", "--to", target, *force)
    assert (status, "exists: choose another folder" in told) == (1, True)
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.slow
@needs.links
def test_force_replaces_no_link(idtech, model, tmp_path):
    out, own = tmp_path / "out", tmp_path / "own.blend"
    out.mkdir()
    own.write_text("a week of work")
    (out / "imp.blend").symlink_to(own)
    status, table, _ = idtech("convert", model, "--to", out, "--force")
    assert (status, "imp.blend is a link" in table) == (1, True)
    assert (out / "imp.blend").is_symlink()
    assert own.read_text() == "a week of work"


@pytest.mark.slow
@needs.permissions
def test_folders_that_cannot_be_read_and_files_that_cannot_be_written_are_named(idtech, model, tmp_path):
    closed = model.parent / "closed"
    closed.mkdir()
    closed.chmod(0)
    try:
        status, table, _ = idtech("convert", model.parent, "--to", tmp_path / "out")
        assert (status, "closed: the folder cannot be read" in table) == (1, True)
        status, text, _ = idtech("info", model.parent)
        assert (status, "closed: ERROR: the folder cannot be read" in text) == (1, True)
    finally:
        closed.chmod(0o700)
    (tmp_path / "out" / "imp.blend").chmod(0o400)
    status, table, _ = idtech("convert", model, "--to", tmp_path / "out", "--force")
    assert (status, "write-protected" in table) == (1, True)


@pytest.mark.slow
def test_why_a_member_of_an_archive_cannot_be_read_is_said(idtech, model, tmp_path):
    packed = archive(tmp_path / "game.pk4", **{"imp.md5mesh": model.read_text()})
    data = bytearray(packed.read_bytes())
    for signature, offset in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        data[data.find(signature) + offset] |= 1
    packed.write_bytes(data)
    _, table, _ = idtech("convert", packed, "--to", tmp_path / "out")
    assert "imp.md5mesh: encrypted, or compressed with an unsupported method" in table
    packed.write_bytes(data[:40])
    _, _, told = idtech("convert", packed, "--to", tmp_path / "out", "--characters", "*")
    assert "warning: " in told
    assert "game.pk4" in told


@pytest.mark.parametrize(
    "words",
    [
        ("convert", "IN", "--to", "out", "--characters", ""),
        ("extract", "IN", "--to", "out", "--files", ""),
        ("list", "IN", "--search", ""),
        ("list", "IN", "--search", "imp", " "),
        ("convert", "IN", "--to", "out", "--jobs", "9" * 5000),
        ("convert", "IN", "--to", "out", "--shard", f"1/{'9' * 5000}"),
    ],
)
def test_arguments_that_mean_nothing_are_errors(idtech, model, words):
    status, _, told = idtech(*(str(model.parent) if word == "IN" else word for word in words))
    assert (status, "Traceback" in told) == (2, False)


class Closed:
    """A stream that cannot be written to."""

    encoding = "utf-8"

    def __init__(self, number: int) -> None:
        self._number = number

    def write(self, text: str) -> int:
        raise OSError(self._number, os.strerror(self._number))

    def flush(self) -> None:
        pass

    def fileno(self) -> int:
        raise ValueError("there is no file")


@pytest.mark.parametrize("command", ["info", "list"])
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EPIPE, None])
def test_output_that_cannot_be_written_is_no_traceback(idtech, model, monkeypatch, command, number):
    monkeypatch.setattr(sys, "stdout", None if number is None else Closed(number))
    status, _, told = idtech(command, model.parent)
    assert status == int(number is not None)
    assert told == ("" if number != errno.ENOSPC else f"error: the output cannot be written: {os.strerror(number)}\n")


@needs.python_path
@pytest.mark.slow
def test_a_program_without_output_describes_files(model):
    process = subprocess.run(
        [sys.executable, "-m", "io_idtech", "info", str(model)],
        env={**os.environ, "PYTHONPATH": str(HELPERS)},
        stdout=subprocess.PIPE,
        check=True,
    )
    assert process.stdout


def test_the_other_blenders_remove_results_that_a_killed_one_has_not_moved(model, tmp_path, part, monkeypatch):
    """It sends the next file before it moves the results of the last one."""
    tasks = [(part("command_line.tasks").Task(model, tmp_path / f"{name}.blend", name), name) for name in "ab"]
    lines = [json.dumps([dataclasses.asdict(task), tmp_path / f".{name}"], default=os.fspath) for task, name in tasks]
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO("\n".join(lines).encode())))
    (tmp_path / "replies").mkdir()
    values = dataclasses.asdict(part("io_blender.options").Settings())
    assert part("command_line.blenders").work(tmp_path / "replies" / "file", values) == 0
    assert {path.name for path in tmp_path.iterdir()} == {"in"}


def test_an_animation_without_joints_is_imported_and_described(idtech, tmp_path):
    path = tmp_path / "none.md5anim"
    count = 20
    path.write_text(
        f'MD5Version 10\ncommandline ""\n\nnumFrames {count}\nnumJoints 0\nframeRate 1e-320\n'
        "numAnimatedComponents 0\n\nhierarchy {\n}\n\nbounds {\n"
        + "\t( 0 0 0 ) ( 1 1 1 )\n" * count
        + "}\n\nbaseframe {\n}\n"
        + "".join(f"\nframe {number} {{\n}}\n" for number in range(count))
    )
    status, text, _ = idtech("info", path, "--json")
    assert status == 0
    (facts,) = json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
    assert facts["frames"] == count
    assert bpy.ops.import_scene.md5(filepath=str(path)) == {"FINISHED"}


# Links that cannot be followed


@pytest.fixture
def endless_link(model: Path) -> Path:
    """A link whose target has a name that no system can look up."""
    link = model.with_name("lost.md5anim")
    link.symlink_to(LONG)
    return link


@pytest.mark.slow
@needs.links
def test_animations_are_not_overwritten_though_one_beside_them_cannot_be_examined(
    idtech, model, tmp_path, endless_link
):
    anims = tmp_path / "anims"
    anims.mkdir()
    md5_scenes.write(anims, "imp", walk=md5_scenes.animation(md5_scenes.model().joints))
    (anims / "imp.md5mesh").unlink()
    endless_link.rename(anims / endless_link.name)
    before = (anims / "walk.md5anim").read_bytes()
    words = ("--animations", anims, "--format", "md5", "--force")
    status, table, _ = idtech("convert", model, "--to", anims, *words)
    assert (status, "walk.md5anim is an input file of this run" in table) == (1, True)
    assert (anims / "walk.md5anim").read_bytes() == before


@pytest.mark.slow
@needs.links
def test_a_changed_animation_is_noticed_though_one_beside_it_cannot_be_examined(idtech, model, tmp_path, endless_link):
    walk = md5_scenes.animation(md5_scenes.model().joints)
    md5_scenes.write(model.parent, "imp", walk=walk)
    words = ("convert", model.parent, "--to", tmp_path / "out", "--animations", "same")
    for frames in (1, 2):
        with (model.parent / "walk.md5anim").open("a") as file:
            file.write("\n" * frames)
        status, _, told = idtech(*words)
        assert (status, "up to date" in told) == (0, False)


@pytest.mark.slow
@needs.links
def test_a_file_that_cannot_be_examined_fails_and_stops_no_other(idtech, model, tmp_path, endless_link):
    lost = endless_link.rename(model.with_name("lost.md5mesh"))
    for words in ([model.parent], [model, lost]):
        out = tmp_path / f"out{len(words)}"
        status, table, told = idtech("convert", *words, "--to", out)
        assert status == 1
        assert any("lost.md5mesh" in line and "too long" in line for line in (told + table).splitlines())
        assert (out / "imp.blend").exists()


# Games that need an animation with the name of the model


@pytest.mark.slow
@pytest.mark.parametrize(("game", "animations"), [("QUAKE", "same"), ("QUAKE2", "none")])
def test_each_model_of_a_folder_has_the_animation_that_the_game_looks_for(idtech, tmp_path, game, animations):
    folder, out = tmp_path / "progs", tmp_path / "out"
    for name in ("knight", "ogre"):
        (folder / name).mkdir(parents=True)
        animation = md5_scenes.animation(md5_scenes.model().joints)
        md5_scenes.write(folder / name, name, **{name: animation})
    blends = tmp_path / "blends"
    assert idtech("convert", folder, "--to", blends, "--animations", "same")[0] == 0
    flat = tmp_path / "flat"
    flat.mkdir()
    for path in blends.rglob("*.blend"):
        path.rename(flat / path.name)
    words = ("--format", "md5", "--game", game, "--animations", animations)
    assert idtech("convert", flat, "--to", out, *words)[0] == 0
    names = {path.name for path in out.iterdir() if path.suffix.startswith(".md5")}
    assert names == {"knight.md5mesh", "knight.md5anim", "ogre.md5mesh", "ogre.md5anim"}


@pytest.mark.slow
@pytest.mark.parametrize("force", [(), ("--force",)])
def test_an_animation_of_its_own_does_not_take_the_name_that_a_model_needs(idtech, model, tmp_path, force):
    md5_scenes.write(model.parent, "imp", imp=md5_scenes.animation(md5_scenes.model().joints))
    files = (model, model.with_suffix(".md5anim"))
    out = tmp_path / "out"
    status, table, _ = idtech("convert", *files, "--to", out, "--format", "md5", "--game", "QUAKE", *force)
    assert status == 0, table
    counts = {path.name: read_animation(path).frame_count for path in out.glob("*.md5anim")}
    assert counts == {"imp.md5anim": 1, "imp_md5anim.md5anim": 5}


@pytest.mark.slow
def test_the_game_of_the_preferences_holds_and_another_one_converts_again(idtech, model, tmp_path, part):
    md5_scenes.write(model.parent, "demon")
    chosen = part("io_blender.operators.preferences")._preferences()
    words = ("convert", model.parent, "--to", tmp_path / "out", "--format", "md5")
    before = chosen.md5_game
    try:
        chosen.md5_game = "QUAKE"
        assert idtech(*words)[0] == 0
        chosen.md5_game = "DOOM3"
        assert "up to date" not in idtech(*words)[2]
    finally:
        chosen.md5_game = before
    assert {path.name for path in (tmp_path / "out").glob("*.md5anim")} == {"imp.md5anim", "demon.md5anim"}


# What else is read


@pytest.mark.slow
def test_a_missing_library_is_named_and_the_file_converted_again_once_it_is_back(idtech, tmp_path):
    library, scene = tmp_path / "library.blend", tmp_path / "in" / "scene.blend"
    scene.parent.mkdir()
    read_empty_scene()
    bpy.ops.mesh.primitive_cube_add()
    bpy.context.object.name = "Linked"
    bpy.ops.wm.save_as_mainfile(filepath=str(library))
    read_empty_scene()
    bpy.ops.mesh.primitive_cube_add()
    with bpy.data.libraries.load(str(library), link=True) as (_, wanted):
        wanted.objects = ["Linked"]
    bpy.context.scene.collection.objects.link(wanted.objects[0])
    bpy.ops.wm.save_as_mainfile(filepath=str(scene))
    read_empty_scene()
    words = ("convert", scene.parent, "--to", tmp_path / "out", "--format", "md5")
    library.rename(tmp_path / "away.blend")
    status, _, told = idtech(*words)
    assert (status, "library.blend is missing" in told) == (0, True)
    assert "up to date" in idtech(*words)[2]
    few = len(read_mesh(tmp_path / "out" / "scene.md5mesh").meshes)
    (tmp_path / "away.blend").rename(library)
    status, _, told = idtech(*words)
    assert (status, "is missing" in told) == (0, False)
    assert len(read_mesh(tmp_path / "out" / "scene.md5mesh").meshes) == few + 1


@pytest.mark.slow
def test_a_model_is_converted_again_once_its_image_has_changed(idtech, model, tmp_path):
    md5_scenes.write(model.parent, "demon")
    image = skin_beside(model)
    words = ("convert", model.parent, "--to", tmp_path / "out", "--format", "glb")
    assert "converted" in idtech(*words)[2]
    result = next((tmp_path / "out").rglob("*.glb"))
    before = result.read_bytes()
    assert idtech(*words)[2].count("up to date") > 0
    assert result.read_bytes() == before
    changed = bpy.data.images.new("changed", 8, 8)
    changed.filepath_raw, changed.file_format = str(image), "PNG"
    changed.save()
    idtech(*words)
    assert result.read_bytes() != before


def skin_beside(model: Path) -> Path:
    """The image of the model's material, where the import looks for it."""
    image = bpy.data.images.new("skin", 2, 2)
    path = model.parent / "models" / "test" / "skin.png"
    image.filepath_raw, image.file_format = str(path), "PNG"
    image.save()
    return path


@pytest.mark.slow
@pytest.mark.parametrize("slashes", ["", pytest.param("/", marks=needs.one_root)])
def test_a_converted_blend_shows_its_textures_wherever_both_are_moved(idtech, model, tmp_path, slashes):
    md5_scenes.write(model.parent, "demon")
    skin_beside(model)
    out = tmp_path / "out" / "monsters"
    words = ("convert", f"{slashes}{model.parent}", "--to", f"{slashes}{out}")
    status, _, told = idtech(*words)
    assert (status, "Cannot read" in told) == (0, False)
    moved = tmp_path.with_name(f"{tmp_path.name} moved")
    tmp_path.rename(moved)
    for name in ("imp", "demon"):
        bpy.ops.wm.open_mainfile(filepath=str(moved / "out" / "monsters" / f"{name}.blend"))
        (image,) = [image for image in bpy.data.images if image.name == "skin.png"]
        assert len(image.pixels) == 4 * 2 * 2
        assert image.filepath.startswith("//")
    moved.rename(tmp_path)


@pytest.mark.slow
@needs.links
@pytest.mark.parametrize("format_", ["blend", "glb", "md5"])
def test_an_output_folder_may_be_a_link_to_another_place(idtech, model, tmp_path, format_):
    skin_beside(model)
    elsewhere = tmp_path / "a" / "disk" / "results"
    elsewhere.mkdir(parents=True)
    out = tmp_path / "out"
    out.symlink_to(elsewhere, target_is_directory=True)
    words = ("convert", model, "--to", out, "--format", format_)
    assert idtech(*words)[0] == 0
    assert "up to date" in idtech(*words)[2]
    if format_ == "blend":
        bpy.ops.wm.open_mainfile(filepath=str(elsewhere / "imp.blend"))
        (image,) = [image for image in bpy.data.images if image.name == "skin.png"]
        assert len(image.pixels) == 4 * 2 * 2


@pytest.mark.slow
@pytest.mark.parametrize("format_", ["blend", "md5"])
def test_a_file_that_changes_while_it_is_converted_is_converted_again(
    idtech, model, tmp_path, part, monkeypatch, format_
):
    writers = part("command_line.writers").WRITERS
    write = writers[format_]

    def write_late(target, scene, settings, report):
        written = write(target, scene, settings, report)
        model.write_text(model.read_text().replace("models/test/skin", "models/test/hide"))
        return written

    words = ("convert", model, "--to", tmp_path / "out", "--format", format_)
    with monkeypatch.context() as patch:
        patch.setitem(writers, format_, write_late)
        assert idtech(*words)[0] == 0
    assert "up to date" not in idtech(*words)[2]
    assert "up to date" in idtech(*words)[2]


@pytest.mark.slow
@needs.long_paths
@pytest.mark.parametrize("format_", ["blend", "glb", "fbx"])
@pytest.mark.parametrize("length", [960, 1000, 1030, 1100])
def test_paths_that_are_too_long_for_blender_are_refused(idtech, model, tmp_path, length, format_):
    out = tmp_path / "out"
    while len(str(out)) < length - 120:
        out /= "d" * 100
    out /= "d" * (length - len(str(out)) - 1)
    status, _, told = idtech("convert", model, "--to", out, "--format", format_)
    files = {path for path in tmp_path.rglob("*") if path.is_file() and path.parent != model.parent}
    files = {path for path in files if ".idtech" not in path.parts}
    result = out / f"imp.{format_}"
    assert files == (set() if status else {result})
    assert (status == 1) == ("cannot write a path that long" in told)
    assert (status == 1) == (length > 960)


@pytest.mark.slow
def test_conversions_leave_no_thumbnails(idtech, model, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home" / "cache"))
    (tmp_path / "home" / "cache").mkdir(parents=True)
    before = bpy.context.preferences.filepaths.file_preview_type
    assert idtech("convert", model, "--to", tmp_path / "out")[0] == 0
    assert not [path for path in (tmp_path / "home").rglob("*") if path.is_file()]
    assert bpy.context.preferences.filepaths.file_preview_type == before


@pytest.mark.slow
def test_a_blend_that_ends_blender_stops_no_other_file(idtech, tmp_path, part, monkeypatch):
    folder = tmp_path / "in"
    folder.mkdir()
    bpy.ops.mesh.primitive_cube_add()
    for name in ("a", "b"):
        bpy.ops.wm.save_as_mainfile(filepath=str(folder / f"{name}.blend"), copy=True)
    pool = part("command_line.blenders")
    command = pool.command
    # A Blender that ends as soon as it has a file to convert, as on a segmentation fault.
    ends = [sys.executable, "-c", "import os; os.read(0, 1); os.abort()"]
    monkeypatch.setattr(pool, "command", lambda *_: ends)
    status, table, told = idtech("convert", folder, "--to", tmp_path / "out", "--format", "md5")
    assert (status, "Failed:" in table) == (1, True), told
    monkeypatch.setattr(pool, "command", command)
    assert idtech("convert", folder, "--to", tmp_path / "out", "--format", "md5")[0] == 0


# Characters


@pytest.mark.slow
@pytest.mark.parametrize("to", ["out", "."])
def test_results_in_the_folder_of_the_game_are_no_characters(idtech, tmp_path, to):
    game = tmp_path / "game"
    (game / "models").mkdir(parents=True)
    md5_scenes.write(game / "models", "guard", idle=md5_scenes.animation(md5_scenes.model().joints))
    words = ("convert", game, "--to", game / to, "--characters", "*", "--format", "md5")
    assert idtech(*words)[0] == 0
    files = {path for path in game.rglob("*") if path.suffix.startswith(".md5")}
    status, table, told = idtech(*words)
    assert (status, "converted" in told) == (0, False), table
    assert {path for path in game.rglob("*") if path.suffix.startswith(".md5")} == files


@pytest.mark.slow
def test_an_entity_and_a_model_of_one_name_get_a_folder_each(idtech, tmp_path):
    game, out = tmp_path / "game", tmp_path / "out"
    for path in ("def", "models/a"):
        (game / path).mkdir(parents=True)
    animation = md5_scenes.animation(md5_scenes.model().joints)
    md5_scenes.write(game / "models" / "a", "guard", idle=animation)
    (game / "def" / "guard.def").write_text(
        "model guard { mesh models/a/guard.md5mesh anim idle models/a/idle.md5anim }\n"
        'entityDef guard { "model" "guard" }\n'
    )
    words = ("convert", game, "--to", out, "--characters", "guard", "--format", "md5")
    status, table, told = idtech(*words)
    assert status == 0, table + told
    folders = {path.parent.name for path in out.rglob("*.md5mesh")}
    assert folders == {"guard", "guard_model"}
    assert {path.parent.name for path in out.rglob("*.md5anim")} == folders
    assert idtech(*words)[0] == 0


@pytest.mark.slow
@pytest.mark.parametrize("force", [(), ("--force",)])
def test_extract_writes_no_file_that_another_name_stands_for(idtech, tmp_path, force):
    packed = archive(tmp_path / "game.pk4", **{"cfg/auto.cfg": "of the game", "cfg/auto.cfg ": "another"})
    out = tmp_path / "out"
    (out / "cfg").mkdir(parents=True)
    (out / "cfg" / "auto.cfg").write_text("a week of work")
    status, _, _ = idtech("extract", packed, "--files", "*", "--to", out, *force)
    if not force:
        assert status == 1
    assert (out / "cfg" / "auto.cfg").read_text() == ("of the game" if force else "a week of work")


# .blend files


@pytest.mark.slow
@pytest.mark.parametrize("name", ["md2", "md5"])
def test_actions_that_nothing_plays_are_converted(idtech, model, tmp_path, name):
    md5_scenes.write(model.parent, "imp", walk=md5_scenes.animation(md5_scenes.model().joints))
    bpy.ops.import_scene.md5(filepath=str(model), animations="FOLDER")
    bpy.data.actions[0].copy().use_fake_user = True
    for action in bpy.data.actions:
        action.use_fake_user = True
    armature = next(obj for obj in bpy.data.objects if obj.type == "ARMATURE")
    armature.animation_data_clear()
    blend = tmp_path / "blends" / "imp.blend"
    blend.parent.mkdir()
    bpy.ops.wm.save_as_mainfile(filepath=str(blend))
    words = ("convert", blend, "--to", tmp_path / "out", "--format", name, "--animations", "same")
    status, table, told = idtech(*words)
    assert status == 0, table + told


def test_keys_and_their_handles_are_retimed_alike(part, model):
    md5_scenes.write(model.parent, "imp", walk=md5_scenes.animation(md5_scenes.model().joints))
    bpy.ops.import_scene.md5(filepath=str(model), animations="FOLDER")
    (action,) = bpy.data.actions
    writers, versions = part("command_line.writers"), part("io_blender.versions")

    def times() -> list[tuple[float, ...]]:
        return [
            (key.handle_left.x, key.co.x, key.handle_right.x)
            for curve in versions.all_fcurves(action)
            for key in curve.keyframe_points
        ]

    for curve in versions.all_fcurves(action):
        for key in curve.keyframe_points:
            key.interpolation, key.handle_left_type, key.handle_right_type = "BEZIER", "FREE", "FREE"
            key.handle_left.x, key.handle_right.x = key.co.x - 0.25, key.co.x + 0.5
    before = times()
    writers.retime([action], 12.0)
    assert before
    assert times() == [pytest.approx([value / 2.0 for value in row], abs=1e-4) for row in before]


# The temporary folder

EXIT = """
import importlib, sys
import bpy
bpy.ops.preferences.addon_enable(module=sys.argv[1])
importlib.import_module(sys.argv[1] + ".command_line.command").end_process(15)
"""


@pytest.mark.slow
@pytest.mark.parametrize("is_full", [False, True])
def test_a_blender_that_ends_removes_its_own_temporary_folder_and_no_other(extension, tmp_path, is_full):
    folder = tmp_path / "temporary"
    folder.mkdir()
    if is_full:
        # Room for the folder itself and one file; Blender then uses the folder of all programs.
        mount = ["mount", "-t", "tmpfs", "-o", "nr_inodes=2", "tmpfs", str(folder)]
        if shutil.which("mount") is None or subprocess.run(mount, capture_output=True, check=False).returncode:
            pytest.skip("no disk of its own can be mounted here")
    try:
        (folder / "notes").write_text("of the user")
        run = subprocess.run(
            [sys.executable, "-c", EXIT, extension.__name__],
            env={**os.environ, **dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(folder))}, check=False,
        )  # fmt: skip
        assert run.returncode == needs.status_after(signal.SIGTERM)
        assert [path.name for path in folder.iterdir()] == ["notes"]
    finally:
        if is_full:
            subprocess.run(["umount", "--lazy", str(folder)], check=True)


# Ctrl-C


@pytest.mark.slow
@pytest.mark.parametrize("command", ["list", "extract"])
def test_ctrl_c_stops_a_command_with_its_status_and_leaves_nothing(idtech, model, tmp_path, part, monkeypatch, command):
    files = part("io_common.game_tree.tree").GameTree
    reads = files.walk

    def pressed(self, *arguments):
        for count, name in enumerate(reads(self, *arguments)):
            yield name
            if count == 1:
                signal.raise_signal(signal.SIGINT)

    md5_scenes.write(model.parent, "demon")
    md5_scenes.write(model.parent, "zombie")
    monkeypatch.setattr(files, "walk", pressed)
    out = tmp_path / "out"
    words = ("--files", "*", "--to", out) if command == "extract" else ()
    status, _, told = idtech(command, model.parent, *words)
    assert (status, "Stopped." in told, "Traceback" in told) == (130, True, False)
    assert not [path for path in out.rglob("*") if path.name.startswith(".")]
