"""Models of the re-releases are imported with what belongs to them: animation, scales, skins and names of frames."""

from __future__ import annotations

import struct

import bpy
import game_samples as samples
import numpy as np
import pytest
from md5_rerelease import generated, lmp, mdl, palette, random_scales, write_md2, write_rerelease

from io_idtech.io_md5.format import read_animation, read_mesh, write_animation, write_mesh

NAMES = ["stand01", "stand02", "run1", "run2", "run3", "pain101"]
SKINS = ["models/monsters/imp/skin.pcx", "models/monsters/imp/pain.pcx"]
STARTS = {("stand", 0), ("run", 2), ("pain1", 5)}


def markers():
    return {(marker.name, marker.frame) for marker in bpy.context.scene.timeline_markers}


def objects(kind):
    return [obj for obj in bpy.context.scene.objects if obj.type == kind]


def color_image(material):
    """The image of the color, and that of the emission or None."""
    shader = next(node for node in material.node_tree.nodes if node.type == "BSDF_PRINCIPLED")
    found = []
    for name in ("Base Color", "Emission Color"):
        links = shader.inputs[name].links
        found.append(links[0].from_node.image if links else None)
    return found


def upper_left(image):
    """The color of the pixel in the upper left corner, in bytes."""
    width, height = image.size
    pixels = np.array(image.pixels[:], dtype=np.float32).reshape(height, width, image.channels)
    return np.round(pixels[-1, 0, :3] * 255).astype(int).tolist()


@pytest.fixture
def imp(tmp_path):
    """The folder of a monster of Quake II with mesh, animation and scales."""
    folder = tmp_path / "baseq2" / "models" / "monsters" / "imp"
    model, animation = generated(1)
    table = random_scales(1, len(model.joints), animation.frame_count, with_positions=False)
    write_rerelease(folder, model, animation, table)
    return folder


def load(folder, **options):
    path = folder / "md5" / "tris.md5mesh"
    assert bpy.ops.import_scene.md5(filepath=str(path), **options) == {"FINISHED"}


# Quake II


def test_animation_scales_and_frame_names_come_with_the_mesh(imp):
    write_md2(imp / "tris.md2", NAMES, SKINS)
    load(imp)
    (armature,) = objects("ARMATURE")
    action = armature.animation_data.action
    assert (action.name, tuple(action.frame_range)) == ("tris", (0.0, 5.0))
    assert armature.data.bones[0].inherit_scale == "NONE"
    assert markers() == STARTS
    assert len(bpy.data.actions) == 1
    load(imp)
    assert markers() == STARTS


@pytest.mark.parametrize("kind", ["tga", "png", "pcx", "jpg"])
def test_skins_of_the_md2_become_materials_with_the_images_in_md5(imp, kind):
    write_md2(imp / "tris.md2", NAMES, SKINS)
    for name, color in (("skin", samples.RED), ("pain", samples.BLUE)):
        path = imp / "md5" / f"{name}.{kind}"
        if kind == "jpg":
            image = bpy.data.images.new("jpeg", 16, 16)
            image.pixels = [*(channel / 255 for channel in color), 1.0] * 256
            image.filepath_raw, image.file_format = str(path), "JPEG"
            image.save()
            bpy.data.images.remove(image)
        else:
            path.write_bytes(getattr(samples, kind)(samples.plain(color)))
        # Not that of the MD2 itself.
        (imp / f"{name}.png").write_bytes(samples.png(samples.plain(samples.GREEN)))
    load(imp)
    for obj in objects("MESH"):
        first, second = obj.data.materials
        assert {polygon.material_index for polygon in obj.data.polygons} == {0}
        for material, color in ((first, samples.RED), (second, samples.BLUE)):
            shown = upper_left(color_image(material)[0])
            assert np.abs(np.array(shown) - color).max() <= (8 if kind == "jpg" else 0)


def test_a_skin_that_is_missing_is_named_with_its_path(imp, capfd):
    write_md2(imp / "tris.md2", NAMES, SKINS)
    load(imp)
    assert "2 images not found: skin, pain" in capfd.readouterr().out
    assert "models/monsters/imp/md5/skin" in {material["md5"]["missing"] for material in bpy.data.materials}


def test_the_shaders_of_the_file_come_back(imp, tmp_path):
    write_md2(imp / "tris.md2", NAMES, SKINS)
    (imp / "md5" / "skin.png").write_bytes(samples.png(samples.plain(samples.RED)))
    load(imp)
    out = tmp_path / "out.md5mesh"
    bpy.ops.export_scene.md5mesh(filepath=str(out), game="QUAKE2")
    shaders = [mesh.shader for mesh in read_mesh(imp / "md5" / "tris.md5mesh").meshes]
    assert [mesh.shader for mesh in read_mesh(out).meshes] == shaders


@pytest.mark.parametrize("how", ["missing", "damaged"])
def test_without_the_md2_everything_else_works(imp, capfd, how):
    if how == "damaged":
        (imp / "tris.md2").write_bytes(b"IDP2 nonsense")
    load(imp)
    (armature,) = objects("ARMATURE")
    assert armature.animation_data.action.name == "tris"
    assert markers() == set()
    assert ("its skins and frame names are not used" in capfd.readouterr().out) == (how == "damaged")


def test_each_sequence_becomes_an_action_on_request(imp):
    write_md2(imp / "tris.md2", NAMES, SKINS)
    load(imp, sequence_actions=True)
    ranges = {action.name: tuple(action.frame_range) for action in bpy.data.actions}
    assert ranges == {"tris": (0, 5), "stand": (0, 1), "run": (0, 2), "pain1": (0, 0)}
    (armature,) = objects("ARMATURE")
    assert armature.animation_data.action.name == "tris"
    scene = bpy.context.scene

    def pose(frame):
        scene.frame_set(frame)
        return np.array([bone.matrix for bone in armature.pose.bones])

    whole = [pose(frame) for frame in (2, 3, 4)]
    armature.animation_data.action = bpy.data.actions["run"]
    if hasattr(armature.animation_data, "action_slot"):
        armature.animation_data.action_slot = bpy.data.actions["run"].slots[0]
    for frame, matrices in enumerate(whole):
        np.testing.assert_allclose(pose(frame), matrices, atol=1e-5)


def test_other_numbers_of_frames_are_a_warning(imp, capfd):
    write_md2(imp / "tris.md2", [*NAMES, "pain102"], SKINS)
    load(imp)
    assert "it has 6 frames, but tris.md2 has 7" in capfd.readouterr().out


def test_with_re_release_files_off_only_the_mesh_is_imported(imp):
    write_md2(imp / "tris.md2", NAMES, SKINS)
    load(imp, use_companions=False)
    assert not bpy.data.actions
    assert markers() == set()
    assert all(len(obj.data.materials) == 1 for obj in objects("MESH"))


def test_a_model_elsewhere_takes_no_animation_of_its_name(tmp_path):
    model, animation = generated(1)
    write_mesh(model, tmp_path / "imp.md5mesh")
    write_animation(animation, tmp_path / "imp.md5anim")
    bpy.ops.import_scene.md5(filepath=str(tmp_path / "imp.md5mesh"))
    assert not bpy.data.actions


def test_the_md2_is_found_in_an_archive_of_the_game(imp):
    path = write_md2(imp / "tris.md2", NAMES, SKINS)
    data = path.read_bytes()
    path.unlink()
    entry = b"models/monsters/imp/tris.md2".ljust(56, b"\0") + struct.pack("<ii", 12, len(data))
    (imp.parents[2] / "pak0.pak").write_bytes(b"PACK" + struct.pack("<ii", 12 + len(data), 64) + data + entry)
    load(imp)
    assert markers() == STARTS


# Quake


@pytest.fixture
def knight(tmp_path):
    """A mod of Quake with a knight that has a shader of its name, and the palette in id1."""
    folder = tmp_path / "mymod" / "progs"
    folder.mkdir(parents=True)
    model, animation = generated(2)
    for mesh in model.meshes:
        mesh.shader = "knight"
    write_mesh(model, folder / "knight.md5mesh")
    write_animation(animation, folder / "knight.md5anim")
    (folder / "knight.mdl").write_bytes(mdl(NAMES))
    samples.write(tmp_path / "id1", {"gfx/palette.lmp": palette()})
    return folder


def load_knight(folder, **options):
    assert bpy.ops.import_scene.md5(filepath=str(folder / "knight.md5mesh"), **options) == {"FINISHED"}
    return objects("MESH")[0].data.materials


def test_animation_and_frame_names_of_the_mdl_come_with_the_mesh(knight):
    load_knight(knight)
    assert read_animation(knight / "knight.md5anim").frame_count == 6
    assert [action.name for action in bpy.data.actions] == ["knight"]
    assert markers() == STARTS


def test_lmp_skins_are_shown_in_the_colors_of_the_palette(knight):
    (knight / "knight_00_00.lmp").write_bytes(lmp(np.full((4, 8), 77)))
    (knight / "knight_01_00.lmp").write_bytes(lmp(np.full((4, 8), 200)))
    materials = load_knight(knight)
    colors = np.frombuffer(palette(), dtype=np.uint8).reshape(256, 3)
    assert [upper_left(color_image(one)[0]) for one in materials] == [colors[77].tolist(), colors[200].tolist()]
    assert tuple(color_image(materials[0])[0].size) == (8, 4)


def test_without_the_palette_a_warning_says_what_to_do(knight, capfd):
    (knight / "knight_00_00.lmp").write_bytes(lmp(np.full((4, 8), 77)))
    (knight.parents[1] / "id1" / "gfx" / "palette.lmp").unlink()
    load_knight(knight)
    output = capfd.readouterr().out
    assert "needs Quake's palette, and gfx/palette.lmp was not found" in output
    assert "Game Folders" in output


@pytest.mark.parametrize("suffix", ["glow", "luma"])
def test_what_shines_becomes_emission(knight, suffix):
    (knight / "knight_00_00.png").write_bytes(samples.png(samples.plain(samples.RED)))
    (knight / f"knight_00_00_{suffix}.png").write_bytes(samples.png(samples.plain(samples.YELLOW)))
    color, emission = color_image(load_knight(knight)[0])
    assert (upper_left(color), upper_left(emission)) == (list(samples.RED), list(samples.YELLOW))


def test_each_mesh_has_the_skins_of_its_own_shader(knight):
    model = read_mesh(knight / "knight.md5mesh")
    model.meshes[1].shader = "sword"
    write_mesh(model, knight / "knight.md5mesh")
    for name, color in (("knight", samples.RED), ("sword", samples.BLUE)):
        (knight / f"{name}_00_00.png").write_bytes(samples.png(samples.plain(color)))
    load_knight(knight)
    shown = [upper_left(color_image(obj.data.materials[0])[0]) for obj in objects("MESH")]
    assert sorted(shown) == sorted([list(samples.RED), list(samples.BLUE)])
    out = knight / "out.md5mesh"
    bpy.ops.export_scene.md5mesh(filepath=str(out), game="QUAKE")
    assert [mesh.shader for mesh in read_mesh(out).meshes] == ["knight", "sword"]


def test_a_damaged_mdl_is_a_warning(knight, capfd):
    (knight / "knight.mdl").write_bytes(mdl(NAMES)[:100])
    load_knight(knight)
    assert "the file ends too early" in capfd.readouterr().out
    assert markers() == set()
