"""Files beside a model neither stop its import, nor delay it, nor leave anything behind."""

from __future__ import annotations

import os
from pathlib import Path

import bpy
import md2_samples
import md5_scenes
import needs
import pytest
from game_samples import GREEN, RED, archive, black_png, pcx, plain, png, square, tga, write
from hostile_images import IMAGES, extension
from installed import read_empty_scene
from scripted_scenes import rig, tube

from io_idtech.io_common.textures.image_files import loaded_bytes
from io_idtech.io_md2.format import read_model
from io_idtech.io_md5.format import write_animation

SHADER = "models/imp/imp"


def imported(capfd, path: Path, **options) -> str:
    """Imports a model; what was told."""
    capfd.readouterr()
    assert bpy.ops.import_scene.md5(filepath=str(path), **options) == {"FINISHED"}
    assert any(obj.type == "MESH" for obj in bpy.data.objects)
    told = capfd.readouterr()
    return told.out + told.err


def orphans() -> list[str]:
    return [image.name for image in bpy.data.images if image.users == 0]


# Animations


@pytest.fixture
def odd_neighbors(tmp_path) -> Path:
    """A model with an animation, and what is none but is called so."""
    md5_scenes.write(tmp_path)
    write_animation(md5_scenes.animation(md5_scenes.model().joints), tmp_path / "walk.md5anim")
    os.mkfifo(tmp_path / "pipe.md5anim")
    (tmp_path / "link to a pipe.md5anim").symlink_to("pipe.md5anim")
    (tmp_path / "zero.md5anim").symlink_to("/dev/zero")
    (tmp_path / "nowhere.md5anim").symlink_to("nowhere")
    (tmp_path / "folder.md5anim").mkdir()
    return tmp_path / "test.md5mesh"


@needs.pipes
def test_the_animations_of_a_folder_are_files(odd_neighbors, capfd):
    told = imported(capfd, odd_neighbors, animations="FOLDER")
    assert [action.name for action in bpy.data.actions] == ["walk"]
    for name in ("pipe", "zero", "folder"):
        assert f"{name}.md5anim: this is not a regular file" in told


@pytest.mark.slow
@pytest.mark.parametrize("jobs", ["1", "2"])
@needs.pipes
def test_the_animations_of_a_folder_that_is_converted_are_files(odd_neighbors, tmp_path, part, jobs):
    md5_scenes.write(tmp_path, "other")
    words = ["--to", str(tmp_path / "out"), "--format", "md5", "--animations", "same", "--jobs", jobs]
    assert part("command_line.command").main(["convert", str(tmp_path), *words]) == 0
    assert {path.name for path in (tmp_path / "out").glob("*.md5*")} == {
        "test.md5mesh", "test_walk.md5anim", "other.md5mesh", "other_walk.md5anim"
    }  # fmt: skip


@needs.pipes
def test_a_pipe_with_the_name_of_a_temporary_file_stops_no_export(tmp_path):
    os.mkfifo(tmp_path / ".io_idtech-x.tmp")
    os.utime(tmp_path / ".io_idtech-x.tmp", (0, 0))
    tube(rig())
    assert bpy.ops.export_scene.md5mesh(filepath=str(tmp_path / "out.md5mesh")) == {"FINISHED"}


@needs.pipes
def test_an_export_does_not_wait_for_an_image_that_is_a_pipe(tmp_path):
    """The size of the skin is that of the image; here it is not known."""
    bpy.ops.import_scene.md2(filepath=str(md2_samples.write_sample(tmp_path)), use_textures=False)
    os.mkfifo(tmp_path / "skin.png")
    image = bpy.data.images.new("skin", 2, 2)
    image.source = "FILE"
    image.filepath = str(tmp_path / "skin.png")
    image.buffers_free()
    material = bpy.data.materials.new("Skin")
    if material.node_tree is None:
        material.use_nodes = True
    material.node_tree.nodes.new("ShaderNodeTexImage").image = image
    mesh = bpy.context.object.data
    mesh.materials.clear()
    mesh.materials.append(material)
    assert bpy.ops.export_scene.md2(filepath=str(tmp_path / "out.md2")) == {"FINISHED"}
    assert read_model(tmp_path / "out.md2").triangle_count


# Declarations


def game(folder: Path, declaration: str, files=()) -> Path:
    """A game folder with a model whose shader is declared so; returns the model."""
    base = folder / "base"
    images = {"models/imp/a.tga": tga(plain(RED)), "models/imp/b.tga": tga(plain(GREEN))}
    declared = {"materials/imp.mtr": f"{SHADER}\n{{\n{declaration}\n}}\n"}
    write(base, {"models/imp/imp.md5mesh": square(SHADER), **images, **declared, **dict(files)})
    return base / "models/imp/imp.md5mesh"


A, B = "models/imp/a.tga", "models/imp/b.tga"


@pytest.mark.slow
@pytest.mark.parametrize("number", ["1e150", "-1e150", "1e999", "+nan", "-1e-320", "1e38", "5e37"])
@pytest.mark.parametrize(
    "declaration",
    [
        "diffusemap scale( {a}, {n}, {n}, {n}, {n} )",
        "diffusemap scale( scale( {a}, {n} ), {n} )",
        "diffusemap {a}\nspecularmap scale( {a}, {n}, {n}, {n} )",
        "diffusemap {a}\nbumpmap heightmap( {a}, {n} )",
        "diffusemap {a}\nbumpmap addnormals( {a}, heightmap( {b}, {n} ) )",
        "{{\nblend diffusemap\nmap {a}\nalphaTest {n}\n}}",
    ],
    ids=["scale", "scales", "specular", "height", "normals", "alpha"],
)
def test_a_model_is_imported_whatever_numbers_its_materials_hold(tmp_path, capfd, declaration, number):
    imported(capfd, game(tmp_path, declaration.format(a=A, b=B, n=number)))
    (material,) = bpy.data.materials
    assert any(node.type == "TEX_IMAGE" for node in material.node_tree.nodes)


@pytest.mark.parametrize("function", ["add", "addnormals"])
@pytest.mark.parametrize("role", ["diffusemap", "bumpmap", "specularmap"])
def test_an_expression_of_thousands_of_images_has_few_nodes_and_a_warning(tmp_path, capfd, function, role):
    images = ", ".join([A, B] * 1000)
    told = imported(capfd, game(tmp_path, f"diffusemap {A}\n{role} {function}( {images} )"))
    assert "has more than 64 parts" in told
    (material,) = bpy.data.materials
    assert len(material.node_tree.nodes) < 250


@pytest.mark.slow
def test_expressions_of_thousands_of_functions_in_each_other_are_imported(tmp_path, capfd):
    text = "add( models/imp/a.tga, " * 2000 + "models/imp/b.tga" + " )" * 2000
    assert "the rest is ignored" in imported(capfd, game(tmp_path, f"diffusemap {text}"))


# Images


def model_of(folder: Path, count: int) -> Path:
    """A model with so many shaders, and no images."""
    write(folder, {"models/imp/imp.md5mesh": square(*(f"models/imp/{number}" for number in range(count)))})
    return folder / "models/imp/imp.md5mesh"


@pytest.mark.slow
@pytest.mark.parametrize("place", ["archive", "folder"])
def test_images_that_are_too_large_are_left_out_by_their_headers(tmp_path, capfd, place):
    path = model_of(tmp_path, 8)
    files = {f"models/imp/{number}.png": black_png(16_000) for number in range(8)}
    if place == "archive":
        archive(tmp_path / "pak.pk4", files)
    else:
        write(tmp_path, files)
    told = imported(capfd, path)
    assert "the image is too large (976 MB loaded, at most 512)" in told
    assert len(bpy.data.images) == 0


def imported_with(capfd, folder: Path, name: str, data: bytes, shader: str = "") -> str:
    """Imports a model whose shader is an image; what was told."""
    write(folder, {f"models/imp/{name}": data, "models/imp/imp.md5mesh": square(shader or f"models/imp/{name}")})
    return imported(capfd, folder / "models/imp/imp.md5mesh")


# Blender shows no pixels of these.
UNREADABLE = ["DDS, 16 bits", "DDS, 32 bits"]
if bpy.app.version < (4, 5):
    UNREADABLE += ["SGI, 8 bits", "SGI, 16 bits"]


@pytest.mark.slow
@pytest.mark.parametrize("name", IMAGES)
def test_an_image_of_every_format_is_loaded_within_the_limit_and_not_opened_beyond(
    tmp_path, capfd, part, monkeypatch, name
):
    file, data = f"imp{extension(name)}", IMAGES[name](64, 48)
    size = loaded_bytes(data) or 0
    limits = part("io_common.game_tree.files")
    monkeypatch.setattr(limits, "MAX_LOADED_OF_ONE", size)
    told = imported_with(capfd, tmp_path, file, data)
    assert [tuple(image.size) for image in bpy.data.images] == ([] if name in UNREADABLE else [(64, 48)])
    assert ("Blender cannot read this image" in told) == (name in UNREADABLE)
    read_empty_scene()
    monkeypatch.setattr(limits, "MAX_LOADED_OF_ONE", size - 1)
    assert ("the image is too large" in imported_with(capfd, tmp_path, file, data)) == bool(size)
    assert not bpy.data.images


@pytest.mark.parametrize("magic", [b"v/1\x01", b"#?RADIANCE\n", b"8BPS", b"SDPX"])
@pytest.mark.parametrize("suffix", [".tga", ".exr", ".psd"])
def test_formats_that_no_game_reads_are_not_opened(tmp_path, capfd, magic, suffix):
    told = imported_with(capfd, tmp_path, f"imp{suffix}", magic + b"\1" * 100)
    assert ("use PNG or TGA" in told) == (suffix == ".tga")
    assert not bpy.data.images


@pytest.mark.parametrize(
    ("limit", "value", "told"),
    [
        ("MAX_LOADED", 800, "some images were not loaded: together they would take more than"),
        ("MAX_DATA", 700, "some images were not loaded: the archives hold more than"),
    ],
)
def test_images_beyond_the_limit_are_skipped_with_one_warning(tmp_path, capfd, part, monkeypatch, limit, value, told):
    path = model_of(tmp_path, 6)
    archive(tmp_path / "pak.pk4", {f"models/imp/{number}.tga": tga(plain(RED)) for number in range(6)})
    monkeypatch.setattr(part("io_common.game_tree.files"), limit, value)
    said = imported(capfd, path)
    assert [told in line for line in said.splitlines() if line.startswith("Warning")] == [True]
    assert len(bpy.data.images) == 3
    assert len(bpy.data.materials) == 6


def test_when_the_time_is_over_images_are_left_out(tmp_path, capfd, part, monkeypatch):
    path = model_of(tmp_path, 2)
    write(tmp_path, {f"models/imp/{number}.tga": tga(plain(RED)) for number in range(2)})
    monkeypatch.setattr(part("io_common.game_tree.files"), "MAX_SECONDS", -1.0)
    assert "because it took too long" in imported(capfd, path)
    assert len(bpy.data.images) == 0


def test_pixels_beyond_a_limit_are_not_kept_in_memory(tmp_path, capfd, part, monkeypatch):
    path = model_of(tmp_path, 4)
    archive(tmp_path / "pak.pk4", {f"models/imp/{number}.tga": tga(plain(RED)) for number in range(4)})
    monkeypatch.setattr(part("io_blender.materials.images"), "_MAX_KEPT", 400)
    imported(capfd, path)
    images = sorted(bpy.data.images, key=lambda image: image.name)
    assert [image.has_data for image in images] == [True, False, False, False]
    # They are there when they are needed.
    assert [tuple(image.size) for image in images] == [(8, 8)] * 4


@pytest.mark.parametrize("name", ["imp.tga", "imp.png", "imp.pcx"])
@pytest.mark.parametrize("damage", ["in the archive", "in the image"])
def test_a_damaged_entry_leaves_no_image_behind(tmp_path, capfd, name, damage):
    write(tmp_path, {"models/imp/imp.md5mesh": square(SHADER)})
    data = {"imp.tga": tga, "imp.png": png, "imp.pcx": pcx}[name](plain(RED))
    packed = tmp_path / "pak.pk4"
    archive(packed, {f"models/imp/{name}": data if damage == "in the archive" else data[:20]})
    if damage == "in the archive":
        content = bytearray(packed.read_bytes())
        content[30 + len(f"models/imp/{name}") + 4] ^= 0xFF
        packed.write_bytes(content)
    told = imported(capfd, tmp_path / "models/imp/imp.md5mesh")
    assert f"{packed / 'models' / 'imp' / name}: " in told
    assert len(bpy.data.images) == 0
    assert not orphans()
