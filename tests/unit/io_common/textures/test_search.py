"""From a model's skin and shader names to images."""

from __future__ import annotations

import os
import zipfile
from pathlib import Path

import pytest
from texture_rules import MD2_RULES, MD5_RULES
from work import lines_run

from io_idtech.io_common.game_tree.folders import export_name
from io_idtech.io_common.textures.conventions import MaterialImages, Role
from io_idtech.io_common.textures.search import Search


def put(root: Path, *names: str, text: str = "x") -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def skins(root: Path, model: str, *names: str) -> list[MaterialImages]:
    put(root, model)
    return Search([], MD2_RULES).model(root / model, names).skins()


def shader(root: Path, model: str, name: str, mesh: str | None = None, *, game: Path | None = None) -> MaterialImages:
    put(root, model)
    return Search([game] if game else [], MD5_RULES).model(root / model, [name]).material(name, mesh)


def files(found: MaterialImages) -> dict[str, str]:
    return {role.value: image.name for role, image in found.images.items()}


def shown(found: list[MaterialImages]) -> list[str | None]:
    return [skin.diffuse.relative if skin.diffuse is not None else None for skin in found]


# --- MD2


def test_a_skin_is_found_by_its_path_in_the_game_folder(tmp_path: Path) -> None:
    put(tmp_path, "base/models/weapons/g_m4/Skin.pcx", "base/players/sas/other.pcx")
    found = skins(tmp_path, "base/players/sas/w_m4.md2", "models\\weapons\\G_M4\\skin.pcx\0junk")
    assert shown(found) == ["models/weapons/g_m4/Skin.pcx"]


@pytest.mark.parametrize(
    "name", ["/home/x/led.pcx", "C:\\tmp\\LED.bmp", "../../led.pcx", "models/other/led", "s/x/desktop/led.tga"]
)
def test_any_other_name_counts_by_its_base_name_beside_the_model(tmp_path: Path, name: str) -> None:
    put(tmp_path, "lamp/led.jpg", "lamp/skin.jpg")
    found = skins(tmp_path, "lamp/tris.md2", name)
    assert shown(found) == ["led.jpg"]


def test_images_in_folders_below_the_model_are_found(tmp_path: Path) -> None:
    put(tmp_path, "lamp/textures/led.png")
    assert shown(skins(tmp_path, "lamp/tris.md2", "led.pcx")) == ["textures/led.png"]


def test_the_parent_folder_is_searched_only_inside_a_game_folder(tmp_path: Path) -> None:
    put(tmp_path, "led.png", "base/models/lamp/led.png")
    assert shown(skins(tmp_path, "lamp/tris.md2", "led.pcx")) == [None]
    assert shown(skins(tmp_path, "base/models/lamp/md5/tris.md2", "led.pcx")) == ["models/lamp/led.png"]


def test_a_player_model_without_skins_uses_images_beside_it_except_icons_and_weapons(tmp_path: Path) -> None:
    put(tmp_path, *(f"base/players/hero/{n}" for n in ("red.pcx", "red_i.pcx", "blue.pcx", "blue_i.pcx")))
    put(tmp_path, *(f"base/players/hero/{n}" for n in ("weapon.pcx", "w_gun.pcx", "weapon.md2", "a_grenades.md2")))
    found = skins(tmp_path, "base/players/hero/tris.md2")
    assert shown(found) == ["blue.pcx", "red.pcx"]
    assert [skin.name for skin in found] == ["players/hero/blue.pcx", "players/hero/red.pcx"]


def test_a_missing_skin_is_not_replaced_by_another_models_skin(tmp_path: Path) -> None:
    put(tmp_path, "base/players/hero/red.pcx", "base/players/hero/tris.md2")
    found = skins(tmp_path, "base/players/hero/w_gun.md2", "models/weapons/gun/skin.pcx")
    assert shown(found) == [None]
    assert found[0].missing == {Role.DIFFUSE: "models/weapons/gun/skin.pcx"}
    assert found[0].looked_in == [
        str(tmp_path / "base/models/weapons/gun/skin.pcx"),
        str(tmp_path / "base/players/hero/skin.pcx"),
    ]


def test_garbage_falls_back_on_the_models_own_series(tmp_path: Path) -> None:
    put(tmp_path, *(f"m/{name}" for name in ("tris1.png", "tris0.bmp", "tris0.png", "icon0.bmp", "tris10.png")))
    assert shown(skins(tmp_path, "m/tris.md2", "acid/quake.pcx")) == ["tris0.png"]
    assert shown(skins(tmp_path, "m/tris.md2")) == ["tris0.png", "tris1.png", "tris10.png"]


def test_sauerbratens_skin_may_lie_in_the_folder_above(tmp_path: Path) -> None:
    put(tmp_path, "packages/models/debris/skin.jpg")
    assert shown(skins(tmp_path, "packages/models/debris/debris01/tris.md2")) == ["packages/models/debris/skin.jpg"]


def test_masks_beside_a_skin_belong_to_it(tmp_path: Path) -> None:
    put(tmp_path, "m/skin.jpg", "m/masks.jpg")
    assert files(skins(tmp_path, "m/tris.md2")[0]) == {"diffuse": "skin.jpg", "masks": "masks.jpg"}


MTR = """
models/imp/imp
{
    twoSided
    {
        blend diffusemap
        map models/imp/body_d.tga
        alphaTest 0.3
    }
    bumpmap addnormals(models/imp/body_local.tga, heightmap(models/imp/body_h.tga, 4))
    specularmap models/imp/gone_s.tga
}
models/imp/white { bumpmap models/imp/body_local.tga }
models/imp/glow { { blend add map models/imp/glow } }
models/imp/editor { guisurf entity
    qer_editorimage models/imp/glow.tga  surftype15 }
models/imp/clip { qer_editorimage models/imp/glow.tga  noShadows }
models/imp/lost { diffusemap models/nowhere/lost.tga }
"""


@pytest.fixture
def base(tmp_path: Path) -> Path:
    put(tmp_path, "base/materials/monsters.mtr", text=MTR)
    names = ("body_d.tga", "body_local.tga", "body_h.png", "glow.jpg", "lost.tga")
    put(tmp_path, *(f"base/models/imp/{name}" for name in names))
    return tmp_path / "base"


# --- MD5


def test_a_declaration_gives_all_maps_and_settings(base: Path) -> None:
    found = shader(base, "models/imp/imp.md5mesh", "MODELS\\imp\\imp")
    assert files(found) == {"diffuse": "body_d.tga", "normal": "body_local.tga", "height": "body_h.png"}
    assert (found.alpha_test, found.two_sided, found.translucent) == (0.3, True, False)
    assert found.missing == {Role.SPECULAR: "models/imp/gone_s.tga"}
    assert sorted(found.maps) == ["models/imp/body_d.tga", "models/imp/body_h.tga", "models/imp/body_local.tga"]


def test_declarations_without_a_diffuse_map(base: Path) -> None:
    white = shader(base, "models/imp/imp.md5mesh", "models/imp/white")
    assert (white.color, white.diffuse, white.missing) == ((1, 1, 1, 1), None, {})
    glow = shader(base, "models/imp/imp.md5mesh", "models/imp/glow")
    assert (files(glow), glow.blend, glow.translucent) == ({"diffuse": "glow.jpg"}, "add", True)
    assert files(shader(base, "models/imp/imp.md5mesh", "models/imp/editor")) == {"diffuse": "glow.jpg"}
    for name in ("models/imp/clip", "textures/common/nodraw"):
        invisible = shader(base, "models/imp/imp.md5mesh", name)
        assert (files(invisible), invisible.missing, invisible.is_drawn) == ({}, {}, False)


def test_a_declared_map_that_is_missing_is_looked_for_beside_the_model(base: Path) -> None:
    found = shader(base, "models/imp/imp.md5mesh", "models/imp/lost")
    assert files(found) == {"diffuse": "lost.tga"}


def test_materials_inside_archives_and_in_given_folders(tmp_path: Path) -> None:
    game = tmp_path / "doom3"
    game.mkdir()
    with zipfile.ZipFile(game / "pak000.pk4", "w") as pak:
        pak.writestr("materials/a.mtr", "models/gun/gun { diffusemap models/gun/gun_d.tga }")
        pak.writestr("materials/b.mtr", "models/gun/gun { diffusemap models/gun/other.tga }")
        pak.writestr("dds/models/gun/gun_d.dds", b"pixels")
    put(tmp_path, "work/gun.md5mesh")
    search = Search([game], MD5_RULES)
    found = search.model(tmp_path / "work/gun.md5mesh").material("models/gun/gun")
    assert found.diffuse is not None
    assert (found.diffuse.name, found.diffuse.read()) == ("gun_d.dds", b"pixels")
    assert len(search.warnings) == 1
    assert "already defined" in search.warnings[0]


def test_a_loose_material_file_hides_the_one_in_the_archive(tmp_path: Path) -> None:
    put(tmp_path, "materials/a.mtr", text="models/x { diffusemap models/loose }")
    put(tmp_path, "models/loose.tga", "models/packed.tga")
    with zipfile.ZipFile(tmp_path / "pak000.pk4", "w") as pak:
        pak.writestr("materials/a.mtr", "models/x { diffusemap models/packed }")
    assert files(shader(tmp_path, "models/x.md5mesh", "models/x")) == {"diffuse": "loose.tga"}


def test_without_a_declaration_the_shaders_own_path_and_the_usual_suffixes(tmp_path: Path) -> None:
    names = ("Hair_d.tga", "hair_local.tga", "hair_s.png", "hair_h.jpg", "hair_n_old.tga")
    put(tmp_path, *(f"base/models/hero/{name}" for name in names))
    found = shader(tmp_path, "base/models/hero/hero.md5mesh", "models/hero/hair")
    assert files(found) == {
        "diffuse": "Hair_d.tga",
        "normal": "hair_local.tga",
        "specular": "hair_s.png",
        "height": "hair_h.jpg",
    }


def test_foreign_paths_count_by_base_name_beside_the_model(tmp_path: Path) -> None:
    put(tmp_path, "m/face.png", "m/face_normals.png")
    found = shader(tmp_path, "m/bob.md5mesh", "f:\\viewer\\data\\bob\\face.tga")
    assert files(found) == {"diffuse": "face.png", "normal": "face_normals.png"}


def test_sauerbratens_config_goes_by_mesh(tmp_path: Path) -> None:
    hero = "packages/models/hero"
    config = 'md5load hero.md5mesh\nmd5skin Head "<dds>h.png" "<dds>h_m.png"\nmd5bumpmap Head "../shared/n.png"\n'
    put(tmp_path, f"{hero}/md5.cfg", text=config + "md5cullface Head 0\nmd5alphatest Head 0.2\n")
    put(tmp_path, f"{hero}/h.png", f"{hero}/h_m.png", "packages/models/shared/n.png")
    found = shader(tmp_path, f"{hero}/hero.md5mesh", "/home/x/fixit.png", "head")
    assert files(found) == {"diffuse": "h.png", "normal": "n.png", "masks": "h_m.png"}
    assert (found.two_sided, found.alpha_test) == (True, 0.2)


@pytest.mark.parametrize(
    ("lines", "alpha_test", "translucent"),
    [
        ("", None, False),
        ("md5alphatest Head 0.2", 0.2, False),
        ("md5alphatest Head 0", None, True),
        ("mdlalphatest 0", None, True),
        ("md5alphatest Head 0\nmd5alphablend Head 0", None, False),
        ("md5alphablend Head 1", None, False),
    ],
)
def test_sauerbraten_blends_surfaces_whose_alpha_test_is_off(tmp_path: Path, lines, alpha_test, translucent) -> None:
    """Tests and blending are on unless a config turns them off."""
    hero = "packages/models/hero"
    put(tmp_path, f"{hero}/md5.cfg", text=f"md5load hero.md5mesh\nmd5skin Head h.png\n{lines}\n")
    put(tmp_path, f"{hero}/h.png")
    found = shader(tmp_path, f"{hero}/hero.md5mesh", "x", "head")
    assert (found.alpha_test, found.translucent) == (alpha_test, translucent)


def test_a_config_may_name_another_folder(tmp_path: Path) -> None:
    hands = "packages/models/hero/hands"
    put(tmp_path, f"{hands}/md5.cfg", text='md5load hands.md5mesh\nmd5dir "hero"\nmd5skin Hands "body.png"\n')
    put(tmp_path, "packages/models/hero/body.png")
    assert files(shader(tmp_path, f"{hands}/hands.md5mesh", "", "Hands")) == {"diffuse": "body.png"}


def test_skin_files_lead_to_materials(base: Path) -> None:
    put(base, "models/imp/imp_default.skin", text="legs, models/imp/imp\n")
    found = shader(base, "models/imp/imp.md5mesh", "", "Legs")
    assert files(found)["diffuse"] == "body_d.tga"


def test_a_shader_without_an_image_uses_that_of_the_mesh_or_model(tmp_path: Path) -> None:
    put(tmp_path, "a/Body.png", "a/other.png", "b/robot.png", "c/skin.png", "c/mask.png", "d/one_quad.png")
    assert files(shader(tmp_path, "a/x.md5mesh", "Material", "body")) == {"diffuse": "Body.png"}
    assert files(shader(tmp_path, "b/Robot.md5mesh", "Material")) == {"diffuse": "robot.png"}
    assert files(shader(tmp_path, "c/gun.md5mesh", ""))["diffuse"] == "skin.png"
    assert files(shader(tmp_path, "d/Quad.md5mesh", "default")) == {"diffuse": "one_quad.png"}


def test_missing_images_name_the_folders_searched_once(base: Path) -> None:
    found = shader(base, "models/imp/imp.md5mesh", "models/gone/gone")
    assert found.diffuse is None
    assert found.missing == {Role.DIFFUSE: "models/gone/gone"}
    assert found.looked_in == [
        str(base / "materials" / "*.mtr"),
        str(base / "models" / "gone" / "gone"),
        str(base / "models" / "imp" / "gone"),
    ]


# --- Walls


@pytest.mark.parametrize(
    "name",
    [
        "../secret/photo",
        "{}/secret/photo.png",
        "models/../../secret/photo.png",
        "..\\secret\\photo.png",
        "secret/photo",
    ],
)
def test_nothing_outside_the_folders_is_found(tmp_path: Path, name: str) -> None:
    name = name.format(tmp_path)
    put(tmp_path, "secret/photo.png")
    put(tmp_path, "game/models/m/md5.cfg", text=f'md5load m.md5mesh\nmd5dir "../../.."\nmd5skin Mesh "{name}"\n')
    put(tmp_path, "game/models/m/m.skin", text=f"mesh,{name}\n")
    put(tmp_path, "game/materials/m.mtr", text=f'models/m/m {{ diffusemap "{name}" }}')
    for asked in (name, "models/m/m"):
        assert shader(tmp_path, "game/models/m/m.md5mesh", asked, "Mesh").images == {}
    assert shown(skins(tmp_path, "game/models/m/m.md2", name)) == [None]


def test_names_of_any_kind_raise_nothing(tmp_path: Path) -> None:
    put(tmp_path, "models/m/skin.png")
    for name in ("", "\0", "/", "\\\\", "a" * 100_000, "a/" * 5000, ":", "..", "\ud800", "CON", "<dds>", "*", "?"):
        shader(tmp_path, "models/m/m.md5mesh", name, name)
        skins(tmp_path, "models/m/m.md2", name)


# --- One index


@pytest.mark.slow
def test_a_folder_of_ten_thousand_files_is_listed_once_for_all_materials(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "base" / "models" / "hero"
    folder.mkdir(parents=True)
    for index in range(10_000):
        (folder / f"part{index}_d.tga").touch()
    put(tmp_path, "base/models/hero/hero.md5mesh", "base/models/hero/hands.md5mesh")
    counts: dict[str, int] = {}
    scandir = os.scandir
    search = Search([], MD5_RULES)

    def counting(path: str):  # type: ignore[no-untyped-def]
        counts[str(path)] = counts.get(str(path), 0) + 1
        return scandir(path)

    monkeypatch.setattr(os, "scandir", counting)
    for model in ("hero", "hands"):
        found = search.model(folder / f"{model}.md5mesh")
        for index in range(100):
            assert found.material(f"models/hero/part{index}").diffuse is not None
            assert found.material(f"c:\\gone\\part{index}").diffuse is not None
            assert found.material(f"models/hero/gone{index}").diffuse is None
    # A loop over the files would run at least one line for each.
    assert lines_run(found.material, "models/hero/part9999") < 10_000
    assert counts[str(folder)] == 1


# --- Export


def test_the_name_of_an_image_is_its_path_in_the_game_folder(tmp_path: Path) -> None:
    image = tmp_path / "base" / "models" / "imp" / "skin.tga"
    assert export_name(image, with_extension=True) == "models/imp/skin.tga"
    assert export_name(image, with_extension=False) == "models/imp/skin"
    assert export_name(image, [tmp_path], with_extension=False) == "base/models/imp/skin"
    assert export_name(image, [tmp_path, tmp_path / "base"], with_extension=False) == "models/imp/skin"
    packed = tmp_path / "base" / "dds" / "models" / "imp.dds"
    assert export_name(packed, [tmp_path / "base"], with_extension=False) == "models/imp"
    assert export_name(tmp_path / "desktop" / "a.png", with_extension=True) is None
