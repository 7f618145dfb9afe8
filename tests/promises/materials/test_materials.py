"""Images and materials of models in generated game folders."""

from __future__ import annotations

import os
import sys
from types import SimpleNamespace

import bpy
import iqm_samples
import numpy as np
import pytest
from game_samples import (
    BLACK,
    BLUE,
    GREEN,
    GREY,
    RED,
    WHITE,
    YELLOW,
    archive,
    light_evenly,
    light_from,
    pcx,
    plain,
    png,
    quarters,
    region,
    render,
    square,
    tga,
    write,
)

from io_idtech.io_iqm.format import write_iqm

FLAT = (128, 128, 255)
SHADER = "models/imp/imp"
COLORS = quarters(RED, GREEN, BLUE, YELLOW)

DECLARATION = """
models/imp/imp
{
	diffusemap	models/imp/imp_d.tga
	bumpmap		addnormals( models/imp/imp_local.tga, heightmap( models/imp/imp_h.tga, 4 ) )
	specularmap	models/imp/imp_s.tga
}
"""
MAPS = {
    "models/imp/imp_d.tga": tga(COLORS),
    "models/imp/imp_local.tga": tga(plain(FLAT)),
    "models/imp/imp_h.tga": tga(plain(GREY)),
    "models/imp/imp_s.tga": tga(plain(WHITE)),
}


@pytest.fixture
def import_files(part):
    """The import without an operator, with default options."""
    options = part("io_md5.options").ImportOptions()
    importer, finish = part("io_md5.importing.importer"), part("io_blender.reports").finish
    return lambda *files: finish(importer.import_files(bpy.context, list(files), options))


@pytest.fixture
def names_of(part):
    """The names of materials in files, with the game folders of the preferences."""
    folders = part("io_blender.operators.preferences").game_folders
    name_for_file = part("io_blender.materials.library").name_for_file
    shaders, skins = part("io_blender.skeletal.records").SHADERS, part("io_md2.records").SKINS
    return SimpleNamespace(
        shader_name=lambda material, report=None: name_for_file(material, shaders, folders(), report),
        skin_name=lambda material: name_for_file(material, skins, folders()),
    )


def game(tmp_path, files=None, shaders=(SHADER,), model="models/imp/imp.md5mesh"):
    """Makes a game folder with a model; returns the model's path."""
    write(tmp_path / "base", {model: square(*shaders), **(files or {})})
    return tmp_path / "base" / model


def load(path, **options):
    assert bpy.ops.import_scene.md5(filepath=str(path), **options) == {"FINISHED"}
    return [obj for obj in bpy.context.selected_objects if obj.type == "MESH"]


def material_of(path, **options):
    return load(path, **options)[0].active_material


def shader_of(material):
    return next(node for node in material.node_tree.nodes if node.type == "BSDF_PRINCIPLED")


def source(socket):
    """The node and the output that an input is linked to, None if it is not."""
    return (socket.links[0].from_node, socket.links[0].from_socket.name) if socket.is_linked else None


def image_at(socket):
    """The file name of the image whose node is linked to an input."""
    node, output = source(socket)
    assert node.type == "TEX_IMAGE"
    return os.path.basename(node.image.filepath), output


def file_images():
    return [image for image in bpy.data.images if image.source == "FILE"]


def test_a_declaration_becomes_the_nodes_that_an_artist_would_make(tmp_path):
    material = material_of(game(tmp_path, {"materials/imp.mtr": DECLARATION, **MAPS}))
    assert (material.name, material["md5"]["shader"]) == (SHADER, SHADER)
    assert material.use_backface_culling
    shader = shader_of(material)
    assert image_at(shader.inputs["Base Color"]) == ("imp_d.tga", "Color")
    assert image_at(shader.inputs["Specular IOR Level"]) == ("imp_s.tga", "Color")
    assert not shader.inputs["Alpha"].is_linked
    bump, _ = source(shader.inputs["Normal"])
    assert (bump.type, bump.invert) == ("BUMP", False)
    assert image_at(bump.inputs["Height"]) == ("imp_h.tga", "Color")
    normal_map, _ = source(bump.inputs["Normal"])
    assert normal_map.type == "NORMAL_MAP"
    before, _ = source(normal_map.inputs["Color"])
    if before.type == "CURVE_RGB":
        before, _ = source(before.inputs["Color"])
    else:
        assert normal_map.convention == "DIRECTX"
    assert os.path.basename(before.image.filepath) == "imp_local.tga"
    spaces = {os.path.basename(image.filepath): image.colorspace_settings.name for image in file_images()}
    assert spaces == {
        "imp_d.tga": "sRGB",
        "imp_local.tga": "Non-Color",
        "imp_h.tga": "Non-Color",
        "imp_s.tga": "Non-Color",
    }


def test_solid_mode_shows_the_image_and_a_color_like_it(tmp_path):
    material = material_of(game(tmp_path, {"models/imp/imp.png": png(plain(RED))}))
    active = material.node_tree.nodes.active
    assert active.type == "TEX_IMAGE"
    assert os.path.basename(active.image.filepath) == "imp.png"
    assert active.image.has_data
    red, green, blue, alpha = material.diffuse_color
    assert red > 4 * green
    assert red > 4 * blue
    assert alpha == 1


def test_without_a_declaration_maps_are_known_by_their_suffixes(tmp_path):
    files = {f"models/imp/imp{suffix}.png": png(plain(GREY)) for suffix in ("", "_local", "_s")}
    shader = shader_of(material_of(game(tmp_path, files)))
    assert image_at(shader.inputs["Base Color"])[0] == "imp.png"
    assert image_at(shader.inputs["Specular IOR Level"])[0] == "imp_s.png"
    assert source(shader.inputs["Normal"])[0].type == "NORMAL_MAP"


def test_without_a_specular_map_there_are_no_highlights(tmp_path):
    shader = shader_of(material_of(game(tmp_path, {"models/imp/imp.png": png(plain(GREY))})))
    assert not shader.inputs["Specular IOR Level"].is_linked
    assert shader.inputs["Specular IOR Level"].default_value == 0


@pytest.mark.parametrize(("keyword", "culled"), [("", True), ("twoSided", False)])
def test_one_sided_surfaces_are_culled(tmp_path, keyword, culled):
    declaration = f"{SHADER} {{ {keyword}\n diffusemap models/imp/imp.tga }}"
    files = {"materials/a.mtr": declaration, "models/imp/imp.tga": tga(COLORS)}
    assert material_of(game(tmp_path, files)).use_backface_culling is culled


def test_surfaces_are_two_sided_by_default(tmp_path):
    assert not material_of(game(tmp_path, {"models/imp/imp.tga": tga(COLORS)})).use_backface_culling


def test_an_alpha_test_cuts_at_its_threshold(tmp_path):
    declaration = f"{SHADER} {{ {{ blend diffusemap map models/imp/imp.tga alphaTest 0.25 }} }}"
    files = {"materials/a.mtr": declaration, "models/imp/imp.tga": tga(plain((*RED, 100)))}
    material = material_of(game(tmp_path, files))
    cut, _ = source(shader_of(material).inputs["Alpha"])
    assert (cut.type, cut.operation) == ("MATH", "GREATER_THAN")
    assert cut.inputs[1].default_value == 0.25
    assert image_at(cut.inputs[0]) == ("imp.tga", "Alpha")


def test_translucent_surfaces_are_blended(tmp_path):
    declaration = f"{SHADER} {{ translucent\n {{ blend blend map models/imp/imp.tga }} }}"
    files = {"materials/a.mtr": declaration, "models/imp/imp.tga": tga(plain((*RED, 100)))}
    material = material_of(game(tmp_path, files))
    assert material.surface_render_method == "BLENDED"
    assert image_at(shader_of(material).inputs["Alpha"]) == ("imp.tga", "Alpha")


def game_without_alpha_test(folder, settings=""):
    config = f"md5load imp.md5mesh\nmd5skin * imp.tga\nmd5alphatest * 0\n{settings}"
    # Of this image an alpha test would be guessed.
    image = tga(quarters(*((*RED, alpha) for alpha in (255, 0, 255, 255))))
    return game(folder, {"models/imp/md5.cfg": config, "models/imp/imp.tga": image}, ("body",))


def test_surfaces_whose_alpha_test_and_blending_a_config_turns_off_are_opaque(tmp_path):
    material = material_of(game_without_alpha_test(tmp_path, "md5alphablend * 0\n"))
    assert material.surface_render_method == "DITHERED"
    assert not shader_of(material).inputs["Alpha"].is_linked


def test_surfaces_whose_alpha_test_a_config_turns_off_are_blended(tmp_path):
    material = material_of(game_without_alpha_test(tmp_path))
    assert material.surface_render_method == "BLENDED"
    assert image_at(shader_of(material).inputs["Alpha"]) == ("imp.tga", "Alpha")


def behind(value):
    """A wall of one brightness behind the model."""
    bpy.ops.mesh.primitive_plane_add(size=2, location=(-1, 0, 0), rotation=(0, np.pi / 2, 0))
    wall = bpy.data.materials.new("Wall")
    if wall.node_tree is None:
        wall.use_nodes = True
    shader = shader_of(wall)
    shader.inputs["Base Color"].default_value = (0, 0, 0, 1)
    shader.inputs["Specular IOR Level"].default_value = 0
    shader.inputs["Emission Color"].default_value = (value, value, value, 1)
    shader.inputs["Emission Strength"].default_value = 1
    bpy.context.object.data.materials.append(wall)


def linear(color):
    values = np.array(color[:3]) / 255
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


@pytest.mark.parametrize(
    ("blend", "formula"),
    [
        ("add", lambda source, alpha, wall: source + wall),
        ("gl_src_alpha, gl_one", lambda source, alpha, wall: source * alpha + wall),
        ("gl_one, gl_one_minus_src_alpha", lambda source, alpha, wall: source + wall * (1 - alpha)),
        ("gl_zero, gl_one_minus_src_color", lambda source, alpha, wall: wall * (1 - source)),
        ("filter", lambda source, alpha, wall: wall * source),
        ("modulate", lambda source, alpha, wall: wall * source),
        ("gl_zero, gl_src_color", lambda source, alpha, wall: wall * source),
    ],
)
def test_a_blended_surface_is_mixed_with_what_is_behind_as_in_the_game(tmp_path, blend, formula):
    color = (*RED, 128)
    files = {
        "materials/a.mtr": f"{SHADER} {{ {{ blend {blend} map models/imp/imp.tga }} }}",
        "models/imp/imp.tga": tga(plain(color)),
    }
    material = material_of(game(tmp_path, files))
    assert material.surface_render_method == "BLENDED"
    behind(0.25)
    light_from((0, 0, 0))
    seen = region(render(tmp_path / "out.png", size=8), 0.25, 0.75, 0.25, 0.75)[:3] * 255
    expected = formula(linear(RED), 128 / 255, 0.25)
    np.testing.assert_allclose(linear(seen), np.minimum(expected, 1), atol=0.02)


def test_two_stages_that_add_light_are_both_seen(tmp_path):
    files = {
        "materials/a.mtr": f"{SHADER} {{ {{ blend add map models/imp/imp }} {{ blend add map models/imp/b }} }}",
        "models/imp/imp.tga": tga(plain(RED)),
        "models/imp/b.tga": tga(plain(BLUE)),
    }
    load(game(tmp_path, files))
    behind(0.05)
    light_from((0, 0, 0))
    seen = region(render(tmp_path / "out.png", size=8), 0.25, 0.75, 0.25, 0.75)[:3] * 255
    np.testing.assert_allclose(linear(seen), linear(RED) + linear(BLUE) + 0.05, atol=0.02)


def test_a_surface_without_a_drawn_stage_is_invisible_and_comes_back(tmp_path):
    files = {
        "materials/a.mtr": "textures/a/clip { qer_editorimage models/imp/imp.tga }",
        "models/imp/imp.tga": tga(COLORS),
    }
    names = ("textures/common/nodraw", "textures/a/clip")
    meshes = load(game(tmp_path, files, shaders=names))
    light_evenly()
    assert render(tmp_path / "out.png", size=8)[..., 3].max() == 0
    for mesh in meshes:
        assert not mesh.hide_get()
        assert not mesh.hide_select
    assert bpy.ops.export_scene.md5mesh(filepath=str(tmp_path / "out.md5mesh")) == {"FINISHED"}
    text = (tmp_path / "out.md5mesh").read_text()
    assert all(f'shader "{name}"' in text for name in names)


@pytest.mark.parametrize(
    ("alphas", "is_cut"),
    [
        pytest.param((255, 0, 255, 255), True, id="holes"),
        pytest.param((255, 255, 255, 255), False, id="opaque"),
        pytest.param((0, 0, 0, 0), False, id="empty channel"),
        pytest.param((90, 120, 150, 200), False, id="something else"),
    ],
)
def test_an_undeclared_alpha_channel_counts_if_it_looks_like_one(tmp_path, alphas, is_cut):
    pixels = quarters(*((*RED, alpha) for alpha in alphas))
    material = material_of(game(tmp_path, {"models/imp/imp.png": png(pixels)}))
    assert shader_of(material).inputs["Alpha"].is_linked is is_cut


def test_a_built_in_image_is_a_color(tmp_path):
    declaration = f"{SHADER} {{ diffusemap _black specularmap _white }}"
    shader = shader_of(material_of(game(tmp_path, {"materials/a.mtr": declaration})))
    assert tuple(shader.inputs["Base Color"].default_value) == (0, 0, 0, 1)
    assert shader.inputs["Specular IOR Level"].default_value == 1


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("models/imp/imp.tga", GREY),
        ("scale( models/imp/imp.tga, 0.5, 1, 0 )", (64, 128, 0)),
        ("invertColor( models/imp/imp.tga )", (229, 229, 229)),
        ("add( models/imp/imp.tga, models/imp/red.tga )", (228, 132, 130)),
        ("makeIntensity( models/imp/red.tga )", (200, 200, 200)),
        ("downsize( models/imp/red.tga, 2 )", RED),
    ],
)
def test_image_expressions_are_computed_by_nodes(tmp_path, expression, expected):
    files = {
        "materials/a.mtr": f"{SHADER} {{ diffusemap {expression} }}",
        "models/imp/imp.tga": tga(plain(GREY)),
        "models/imp/red.tga": tga(plain(RED)),
    }
    load(game(tmp_path, files))
    light_evenly()
    color = region(render(tmp_path / "out.png", size=8), 0.25, 0.75, 0.25, 0.75)
    np.testing.assert_allclose(color[:3] * 255, expected, atol=4)


# Files and data-blocks


@pytest.mark.parametrize("member", ["models/imp/imp.tga", "models/imp/imp.png", "models/imp/imp.pcx"])
def test_images_in_archives_are_packed(tmp_path, member):
    model = game(tmp_path)
    write_image = {"tga": tga, "png": png, "pcx": pcx}[member[-3:]]
    archive(tmp_path / "base" / "pak000.pk4", {member: write_image(COLORS)})
    material = material_of(model)
    image = source(shader_of(material).inputs["Base Color"])[0].image
    assert image.packed_file is not None
    assert tuple(image.size) == (16, 16)
    pixels = np.empty(16 * 16 * 4, dtype=np.float32)
    image.pixels.foreach_get(pixels)
    np.testing.assert_allclose(pixels.reshape(16, 16, 4)[::-1, :, :3] * 255, COLORS, atol=0.51)


def test_pcx_is_packed_and_survives_saving(tmp_path):
    model = game(tmp_path, {"models/imp/imp.pcx": pcx(COLORS)})
    load(model)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "scene.blend"))
    (model.parent / "imp.pcx").unlink()
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "scene.blend"))
    image = next(image for image in file_images() if image.name == "imp.pcx")
    pixels = np.empty(16 * 16 * 4, dtype=np.float32)
    image.pixels.foreach_get(pixels)
    np.testing.assert_allclose(pixels.reshape(16, 16, 4)[::-1, :, :3] * 255, COLORS, atol=0.51)
    again = load(model)[0].active_material
    assert again["md5"]["shader"] == SHADER


def test_two_imports_share_material_and_images(tmp_path):
    model = game(tmp_path, {"materials/imp.mtr": DECLARATION, **MAPS}, shaders=(SHADER, SHADER))
    first, second = load(model)
    assert first.active_material == second.active_material
    images = set(file_images())
    assert len(images) == 4
    third = load(model)[0]
    assert third.active_material == first.active_material
    assert set(file_images()) == images


def test_two_materials_share_an_image(tmp_path):
    declarations = "a { diffusemap models/imp/imp.tga }\nb { diffusemap models/imp/imp.tga\n twoSided }"
    files = {"materials/x.mtr": declarations, "models/imp/imp.tga": tga(COLORS)}
    first, second = (obj.active_material for obj in load(game(tmp_path, files, shaders=("a", "b"))))
    assert first != second
    assert len(file_images()) == 1


@pytest.mark.parametrize("extension", ["pcx", "tga"])
def test_packed_and_loose_images_are_found_again_by_other_materials(tmp_path, extension):
    write_image = {"tga": tga, "pcx": pcx}[extension]
    files = {f"models/imp/imp.{extension}": write_image(COLORS), "materials/x.mtr": "b { diffusemap models/imp/imp }"}
    load(game(tmp_path, files))
    load(game(tmp_path, shaders=("b",), model="models/imp/other.md5mesh"))
    assert len(file_images()) == 1


def test_equal_names_with_unlike_images_stay_apart(tmp_path):
    names = [load(game(tmp_path, {f"models/{name}/{name}.png": png(plain(color))}, ("default",),
                       f"models/{name}/{name}.md5mesh"))[0].active_material
             for name, color in (("imp", RED), ("cow", GREEN))]  # fmt: skip
    assert [material["md5"]["shader"] for material in names] == ["default", "default"]
    images = [image_at(shader_of(material).inputs["Base Color"])[0] for material in names]
    assert images == ["imp.png", "cow.png"]


def test_a_cfg_file_goes_by_the_names_of_meshes_in_comments(tmp_path):
    text = square("Untitled", "Untitled", "Untitled")
    for name in ("head", "body", "body"):
        text = text.replace('{\n\tshader "Untitled"', f'{{\n\t// meshes: {name}\n\tshader "Untitled" ', 1)
    cfg = "md5load imp.md5mesh\nmd5skin head a.png\nmd5skin body b.png\n"
    files = {"models/imp/imp.md5mesh": text, "models/imp/md5.cfg": cfg}
    files |= {f"models/imp/{name}.png": png(COLORS) for name in "ab"}
    write(tmp_path / "base", files)
    objects = sorted(load(tmp_path / "base/models/imp/imp.md5mesh"), key=lambda obj: obj.data["md5"]["index"])
    materials = [obj.active_material for obj in objects]
    images = [image_at(shader_of(material).inputs["Base Color"])[0] for material in materials]
    assert images == ["a.png", "b.png", "b.png"]
    assert materials[1] == materials[2]
    assert {material["md5"]["shader"] for material in materials} == {"Untitled"}


def test_images_that_a_script_names_are_looked_up_as_the_import_does_and_not_guessed(tmp_path):
    text = square("Untitled").replace('{\n\tshader "Untitled"', '{\n\t// meshes: body\n\tshader "Untitled" ', 1)
    folder = tmp_path / "base/models/imp"
    names = {"models/imp/imp.md5mesh": text, "models/imp/other.png": png(COLORS)}
    write(tmp_path / "base", names | {"models/imp/md5.cfg": "md5load imp.md5mesh\n"})
    write_iqm(iqm_samples.iqm(), folder / "arm.iqm")
    for kind, path in (("md5", folder / "imp.md5mesh"), ("iqm", folder / "arm.iqm")):
        script = f"{kind}load {path.name}\n{kind}skin body b.png\n{kind}bumpmap body n.png\n"
        (folder / f"{kind}.cfg").write_text(script)
        bpy.ops.wm.read_homefile(use_empty=True)
        assert getattr(bpy.ops.import_scene, kind)(filepath=str(path)) == {"FINISHED"}
        material = bpy.data.materials.get("Untitled") or bpy.data.objects["body"].active_material
        assert material["md5"]["missing"] == "b.png\nn.png"
        (folder / "b.png").write_bytes(png(COLORS))
        assert bpy.ops.material.md5_find_images(material=material.name) == {"FINISHED"}
        assert image_at(shader_of(material).inputs["Base Color"])[0] == "b.png"
        assert material["md5"]["missing"] == "n.png"
        (folder / "b.png").unlink()


def test_a_material_made_by_hand_is_used(tmp_path):
    made = bpy.data.materials.new("By hand")
    made["md5"] = {"shader": SHADER}
    assert material_of(game(tmp_path, {"models/imp/imp.png": png(COLORS)})) == made


def test_textures_can_be_left_out(tmp_path):
    material = material_of(game(tmp_path, {"models/imp/imp.png": png(COLORS)}), use_textures=False)
    assert material.name == SHADER
    assert not shader_of(material).inputs["Base Color"].is_linked
    assert not file_images()


# What is missing, bad or not to be touched


def test_missing_images_give_one_short_warning_and_each_material_has_the_places_searched(tmp_path, import_files):
    model = game(tmp_path, shaders=(SHADER, "models/imp/eyes", SHADER, "models/imp/teeth"))
    result = import_files(model)
    assert result.report.warnings == [
        "3 images not found: imp, eyes and 1 more. Add the game's folder in the tab id Tech"
    ]
    eyes = bpy.data.materials["models/imp/eyes"]["md5"]
    assert eyes["missing"] == "models/imp/eyes"
    assert str(tmp_path / "base" / "models" / "imp" / "eyes") in eyes["looked_in"].splitlines()
    for material in (obj.active_material for obj in result.objects[1:]):
        assert material.name == material["md5"]["shader"]
        assert min(material.diffuse_color) > 0.5
        assert min(shader_of(material).inputs["Base Color"].default_value) > 0.5


def test_a_missing_map_of_a_declaration_gives_a_warning(tmp_path, import_files):
    files = {"materials/imp.mtr": DECLARATION, **MAPS}
    del files["models/imp/imp_s.tga"]
    result = import_files(game(tmp_path, files))
    (warning,) = result.report.warnings
    assert warning.startswith("1 image not found: imp_s.tga. ")


@pytest.mark.parametrize("name", ["imp.png", "imp.pcx", "imp.tga"])
@pytest.mark.parametrize("content", [b"", b"nonsense", b"\x0a\x05\x01\x08" + bytes(200)])
def test_a_bad_image_is_a_warning(tmp_path, import_files, name, content):
    model = game(tmp_path, {f"models/imp/{name}": content})
    result = import_files(model)
    (warning,) = result.report.warnings
    assert name in warning
    material = result.objects[1].active_material
    assert not shader_of(material).inputs["Base Color"].is_linked
    assert not file_images()


_opened: list[str] = []


def _listen(event, arguments):
    if event in ("open", "os.scandir", "os.listdir") and arguments and isinstance(arguments[0], str | bytes):
        _opened.append(os.fsdecode(arguments[0]))


def test_nothing_outside_the_folders_is_opened(tmp_path):
    outside = tmp_path / "private"
    write(outside, {"secret.tga": tga(COLORS), "other.tga": tga(COLORS)})
    shaders = (
        "../private/secret",
        "models/../../private/secret.tga",
        str(outside / "secret.tga").replace(os.sep, "/"),
        "file://" + str(outside / "secret.tga"),
        "sly",
    )
    files = {"materials/a.mtr": 'sly { diffusemap "../private/secret.tga" bumpmap ../../private/other.tga }'}
    model = game(tmp_path, files, shaders=shaders)
    sys.addaudithook(_listen)
    _opened.clear()
    objects = load(model)
    assert any("imp.md5mesh" in path for path in _opened)
    assert not [path for path in _opened if "private" in path]
    assert not file_images()
    assert [
        obj.active_material["md5"]["shader"] for obj in sorted(objects, key=lambda obj: obj.data["md5"]["index"])
    ] == [*shaders]


def test_absolute_names_count_by_their_base_name(tmp_path):
    model = game(tmp_path, {"models/imp/skin.png": png(COLORS)}, shaders=("C:\\\\art\\\\skin.tga",))
    assert image_at(shader_of(material_of(model)).inputs["Base Color"])[0] == "skin.png"


# Game folders of the preferences


@pytest.fixture
def preferences(extension):
    folders = bpy.context.preferences.addons[extension.__name__].preferences.game_folders
    folders.clear()
    yield bpy.context.preferences.addons[extension.__name__].preferences
    folders.clear()


def test_folders_of_the_preferences_are_searched_in_order(tmp_path, preferences):
    for name, color in (("first", RED), ("second", GREEN)):
        write(tmp_path / name, {"models/imp/imp.png": png(plain(color))})
        bpy.ops.preferences.io_idtech_game_folder_add(directory=str(tmp_path / name))
    write(tmp_path / "elsewhere", {"imp.md5mesh": square(SHADER)})
    bpy.ops.preferences.io_idtech_game_folder_move(direction="UP")
    assert [os.path.basename(folder.path) for folder in preferences.game_folders] == ["second", "first"]
    material = material_of(tmp_path / "elsewhere" / "imp.md5mesh")
    image = source(shader_of(material).inputs["Base Color"])[0].image
    assert image.filepath == str(tmp_path / "second" / "models" / "imp" / "imp.png")
    bpy.ops.preferences.io_idtech_game_folder_remove()
    assert [os.path.basename(folder.path) for folder in preferences.game_folders] == ["first"]


# Names for files


def new_material(name, path=None):
    material = bpy.data.materials.new(name)
    if material.node_tree is None:
        material.use_nodes = True
    if path is not None:
        node = material.node_tree.nodes.new("ShaderNodeTexImage")
        node.image = bpy.data.images.load(str(path))
        material.node_tree.links.new(node.outputs["Color"], shader_of(material).inputs["Base Color"])
    return material


def test_a_stored_name_is_exported_again(tmp_path, names_of):
    long_name = "models/" + "x" * 300
    for shader in (SHADER, "", long_name, "C:\\\\art\\\\skin.tga"):
        material = material_of(game(tmp_path, {"models/imp/imp.png": png(COLORS)}, shaders=(shader,)))
        assert names_of.shader_name(material) == shader.replace("\\\\", "\\\\")


def test_a_copy_keeps_its_name_and_a_renamed_material_does_not(tmp_path, names_of):
    model = game(tmp_path, {"models/imp/imp_d.png": png(COLORS)})
    material = material_of(model)
    assert names_of.shader_name(material.copy()) == SHADER
    material.name = "models/imp/other"
    assert names_of.shader_name(material) == "models/imp/other"
    material.name = "Red Imp"
    assert names_of.shader_name(material) == "Red Imp"


def test_a_new_image_is_followed_where_the_shader_was_an_image_path(tmp_path, names_of, part):
    model = game(tmp_path, {f"{SHADER}.png": png(COLORS), "models/imp/blue.png": png(COLORS)})
    material = material_of(model)
    material.node_tree.nodes.active.image = bpy.data.images.load(str(tmp_path / "base" / "models" / "imp" / "blue.png"))
    report = part("io_blender.reports").Report()
    assert names_of.shader_name(material, report) == "models/imp/blue"
    assert report.warnings == []


def test_a_declared_shader_is_kept_with_a_warning_that_has_both_names(tmp_path, names_of, part):
    declared = f"{SHADER} {{ diffusemap models/imp/imp_d.png }}"
    images = {name: png(COLORS) for name in ("models/imp/imp_d.png", "models/imp/blue.png")}
    material = material_of(game(tmp_path, {"materials/imp.mtr": declared.encode(), **images}))
    material.node_tree.nodes.active.image = None
    for node in material.node_tree.nodes:
        if node.type == "TEX_IMAGE":
            node.image = bpy.data.images.load(str(tmp_path / "base" / "models" / "imp" / "blue.png"))
    report = part("io_blender.reports").Report()
    assert names_of.shader_name(material, report) == SHADER
    (warning,) = report.warnings
    assert SHADER in warning
    assert "models/imp/blue" in warning


def test_new_images_are_named_from_the_game_folder_that_the_import_found(tmp_path, names_of):
    model = game(tmp_path, {f"{SHADER}.png": png(COLORS), "work/models/captain.png": png(COLORS)})
    material_of(model)
    other = new_material("Captain", tmp_path / "base" / "work" / "models" / "captain.png")
    assert names_of.shader_name(other) == "work/models/captain"


def test_the_outermost_game_directory_of_a_path_is_used(tmp_path, names_of):
    write(tmp_path, {"game/base/models/players/captain/x.png": png(COLORS)})
    image = tmp_path / "game" / "base" / "models" / "players" / "captain" / "x.png"
    assert names_of.shader_name(new_material("Captain", image)) == "models/players/captain/x"


def test_a_new_material_is_called_by_its_image_in_the_game_folder(tmp_path, names_of, preferences):
    write(tmp_path, {"mod/skins/imp.png": png(COLORS), "base/models/imp/imp.png": png(COLORS)})
    assert names_of.shader_name(new_material("Imp", tmp_path / "base" / "models" / "imp" / "imp.png")) == SHADER
    assert names_of.skin_name(new_material("Imp", tmp_path / "base" / "models" / "imp" / "imp.png")) == SHADER + ".png"
    outside = new_material("Skin", tmp_path / "mod" / "skins" / "imp.png")
    assert names_of.shader_name(outside) == "Skin"
    preferences.game_folders.add().path = str(tmp_path / "mod")
    assert names_of.shader_name(outside) == "skins/imp"
    assert names_of.skin_name(outside) == "skins/imp.png"


@pytest.mark.parametrize(
    ("name", "image", "shader", "skin"),
    [
        ("models/imp/red", "models/imp/imp_d.png", "models/imp/red", "models/imp/red"),
        ("players/imp/red.pcx", "players/imp/a.png", "players/imp/a", "players/imp/red.pcx"),
        ("models/imp/imp", "models/imp/imp.png", "models/imp/imp", "models/imp/imp.png"),
        ("models/imp/red.001", "models/imp/imp.png", "models/imp/imp", "models/imp/imp.png"),
        ("Knight", "progs/knight_00_00.png", "Knight", "progs/knight_00_00.png"),
        ("knight", "progs/soldier_00_00.png", "progs/soldier_00_00", "progs/soldier_00_00.png"),
    ],
)
def test_a_new_material_that_is_named_as_the_game_knows_it_keeps_its_name(
    tmp_path, names_of, preferences, name, image, shader, skin
):
    write(tmp_path, {f"base/{image}": png(COLORS)})
    preferences.game_folders.add().path = str(tmp_path / "base")
    material = new_material(name, tmp_path / "base" / image)
    assert names_of.shader_name(material) == shader
    assert names_of.skin_name(material) == skin


def test_a_shader_of_another_format_is_no_name_that_the_user_chose(tmp_path, names_of):
    declared = f"{SHADER} {{ diffusemap models/imp/imp_d.png }}"
    material = material_of(
        game(tmp_path, {"materials/imp.mtr": declared.encode(), "models/imp/imp_d.png": png(COLORS)})
    )
    assert names_of.skin_name(material) == "models/imp/imp_d.png"
    material.name = "models/imp/red.pcx"
    assert names_of.skin_name(material) == "models/imp/red.pcx"


def test_without_an_image_the_materials_name_counts(names_of):
    assert names_of.shader_name(new_material("Plain")) == "Plain"
    assert names_of.skin_name(new_material("Plain")) == "Plain.001"


def test_an_image_in_an_archive_is_called_by_its_name_there(tmp_path, names_of):
    model = game(tmp_path)
    archive(tmp_path / "base" / "pak000.pk4", {"dds/models/imp/imp.png": png(COLORS)})
    material = material_of(model)
    del material["md5"]
    material.name = "Imp"
    assert names_of.shader_name(material) == SHADER
    assert names_of.skin_name(material) == SHADER + ".png"


def test_all_that_is_stored_on_materials_and_images_lies_in_one_group(tmp_path):
    model = game(tmp_path)
    archive(tmp_path / "base" / "pak000.pk4", {"models/imp/imp.png": png(COLORS)})
    material = material_of(model)
    (image,) = bpy.data.images
    assert list(material.keys()) == ["md5"]
    assert material["md5"].to_dict() == {
        "shader": SHADER, "shader_shown": SHADER, "image": image["md5"]["file"],
        "game_folder": str(tmp_path / "base"), "model": str(model),
    }  # fmt: skip
    assert list(image.keys()) == ["md5"]
    assert image["md5"]["file"] == str(tmp_path / "base" / "pak000.pk4" / "models" / "imp" / "imp.png")


@pytest.mark.parametrize("value", [3, "text", [1.0, 2.0], {}, {"shader": 5}, {"shader": {"a": 1}}])
@pytest.mark.parametrize("family", ["md5", "md2"])
def test_what_was_tampered_with_counts_as_nothing(tmp_path, names_of, family, value):
    write(tmp_path, {"base/models/imp/imp.png": png(COLORS)})
    material = new_material("Imp", tmp_path / "base" / "models" / "imp" / "imp.png")
    (image,) = bpy.data.images
    material[family], image[family] = value, value
    if isinstance(value, dict) and value:
        material[family] = {"skin" if family == "md2" else "shader": value["shader"], "image": 7}
        image[family] = {"file": value["shader"]}
    assert names_of.shader_name(material) == SHADER
    assert names_of.skin_name(material) == SHADER + ".png"


def test_a_replaced_skin_is_called_by_its_new_image(tmp_path, part, names_of):
    write(tmp_path, {"players/a/a.pcx": pcx(COLORS), "players/a/b.png": png(COLORS), "players/a/tris.md2": b""})
    search = part("io_common.textures.search").Search([], part("io_md2.family").TEXTURE_RULES)
    library = part("io_blender.materials.library").MaterialLibrary(part("io_md2.records").SKINS)
    found = search.model(tmp_path / "players" / "a" / "tris.md2", ["players/a/a.pcx"]).skins()
    (material,) = library.skins(found, "tris")
    assert material.name == material["md2"]["skin"] == "players/a/a.pcx"
    assert names_of.skin_name(material) == "players/a/a.pcx"
    node = material.node_tree.nodes.active
    node.image = bpy.data.images.load(str(tmp_path / "players" / "a" / "b.png"))
    assert names_of.skin_name(material) == "players/a/b.png"


# Renders


def test_a_square_shows_its_image_the_right_way_round(tmp_path):
    load(game(tmp_path, {"materials/imp.mtr": f"{SHADER} {{ diffusemap models/imp/imp_d.tga }}", **MAPS}))
    light_evenly()
    picture = render(tmp_path / "out.png")
    for color, place in (
        (RED, (0.05, 0.45, 0.05, 0.45)),
        (GREEN, (0.05, 0.45, 0.55, 0.95)),
        (BLUE, (0.55, 0.95, 0.05, 0.45)),
        (YELLOW, (0.55, 0.95, 0.55, 0.95)),
    ):
        np.testing.assert_allclose(region(picture, *place)[:3] * 255, color, atol=3)


def test_holes_of_an_alpha_test_are_seen_through(tmp_path):
    pixels = quarters((*RED, 255), (*GREEN, 0), (*BLUE, 140), (*YELLOW, 100))
    declaration = f"{SHADER} {{ {{ blend diffusemap map models/imp/imp.tga alphaTest 0.5 }} }}"
    load(game(tmp_path, {"materials/a.mtr": declaration, "models/imp/imp.tga": tga(pixels)}))
    light_evenly()
    picture = render(tmp_path / "out.png")
    red, hole = region(picture, 0.05, 0.45, 0.05, 0.45), region(picture, 0.05, 0.45, 0.55, 0.95)
    blue, clear = region(picture, 0.55, 0.95, 0.05, 0.45), region(picture, 0.55, 0.95, 0.55, 0.95)
    np.testing.assert_allclose(red * 255, (*RED, 255), atol=3)
    np.testing.assert_allclose(blue * 255, (*BLUE, 255), atol=3)
    assert hole[3] == clear[3] == 0


# A sun from above, and one from the right of the picture.
ABOVE, RIGHT = (0.0, np.radians(45), 0.0), (np.radians(90), 0.0, np.radians(135))


@pytest.mark.parametrize(
    ("upper_left", "upper_right", "lower_left", "lower_right", "sun", "brighter", "darker"),
    [
        pytest.param(*[(128, 40, 220)] * 2, *[(128, 216, 220)] * 2, ABOVE, "top", "bottom", id="green points down"),
        pytest.param(*[(40, 128, 220), (216, 128, 220)] * 2, RIGHT, "right", "left", id="red points right"),
    ],
)
def test_normal_maps_are_lit_as_in_the_games(
    tmp_path, upper_left, upper_right, lower_left, lower_right, sun, brighter, darker
):
    local = quarters(upper_left, upper_right, lower_left, lower_right)
    files = {
        "materials/a.mtr": f"{SHADER} {{ diffusemap _white bumpmap models/imp/imp_local.tga }}",
        "models/imp/imp_local.tga": tga(local),
    }
    load(game(tmp_path, files))
    light_from(sun)
    sides = halves(render(tmp_path / "out.png"))
    assert sides[brighter] > 1.3 * sides[darker]


def halves(picture):
    brightness = {
        "top": region(picture, 0.05, 0.45, 0.05, 0.95),
        "bottom": region(picture, 0.55, 0.95, 0.05, 0.95),
        "left": region(picture, 0.05, 0.95, 0.05, 0.45),
        "right": region(picture, 0.05, 0.95, 0.55, 0.95),
    }
    return {side: float(color[:3].mean()) for side, color in brightness.items()}


@pytest.mark.parametrize(
    "bumpmap",
    ["heightmap( models/imp/hill.tga, 20 )", "addnormals( models/imp/flat.tga, heightmap( models/imp/hill.tga, 20 ) )"],
)
def test_white_heights_stand_out(tmp_path, bumpmap):
    ramp = 255 - np.abs(np.linspace(-255, 255, 64))
    hill = np.repeat(ramp[:, None, None], 64, axis=1).repeat(3, axis=2).astype(np.uint8)
    files = {
        "materials/a.mtr": f"{SHADER} {{ diffusemap _white bumpmap {bumpmap} }}",
        "models/imp/hill.tga": tga(hill),
        "models/imp/flat.tga": tga(plain(FLAT)),
    }
    load(game(tmp_path, files))
    light_from(ABOVE)
    sides = halves(render(tmp_path / "out.png"))
    assert sides["top"] > 1.3 * sides["bottom"]


def test_two_normal_maps_are_added(tmp_path):
    up, right = plain((128, 60, 230)), plain((196, 128, 230))
    files = {
        "materials/a.mtr": f"{SHADER} {{ diffusemap _white\n bumpmap addnormals( a/up.tga, a/right.tga ) }}\n"
        "both { diffusemap _white\n bumpmap a/both.tga }",
        "a/up.tga": tga(up),
        "a/right.tga": tga(right),
        "a/both.tga": tga(plain((196, 60, 230))),
    }
    load(game(tmp_path, files, shaders=(SHADER, "both")))
    light_from(ABOVE)
    picture = render(tmp_path / "out.png")
    added, expected = region(picture, 0.6, 0.9, 0.35, 0.65), region(picture, 0.1, 0.4, 0.35, 0.65)
    np.testing.assert_allclose(added, expected, atol=0.02)


def test_a_specular_map_shines_where_it_is_white(tmp_path):
    files = {
        "materials/a.mtr": f"{SHADER} {{ diffusemap _black\n specularmap models/imp/imp_s.tga }}",
        "models/imp/imp_s.tga": tga(quarters(WHITE, BLACK, WHITE, BLACK)),
    }
    load(game(tmp_path, files))
    light_evenly()
    sides = halves(render(tmp_path / "out.png"))
    assert sides["left"] > 0.2
    assert sides["right"] < 0.01


def test_an_exported_model_names_the_same_images(tmp_path):
    model = game(tmp_path, {"models/imp/imp.png": png(COLORS), "models/imp/new.png": png(COLORS)})
    obj = load(model)[0]
    out = tmp_path / "out.md5mesh"
    bpy.ops.export_scene.md5mesh(filepath=str(out))
    assert f'shader "{SHADER}"' in out.read_text()
    obj.data.materials[0] = new_material("Mine", tmp_path / "base" / "models" / "imp" / "new.png")
    bpy.ops.export_scene.md5mesh(filepath=str(out))
    assert 'shader "models/imp/new"' in out.read_text()
