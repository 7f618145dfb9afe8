"""Characters of md5.cfg and md2.cfg."""

from __future__ import annotations

import pytest

from io_idtech.io_common.declarations.characters import Attachment, JointAdjustment, MeshTextures, Tag
from io_idtech.io_common.declarations.cube_models import cfg_character
from io_idtech.io_common.game_tree.files import FileReadError
from io_idtech.io_common.game_tree.tree import GameTree

FOLDER = "packages/models/imp"


def character(tmp_path, config: str, *files: str, folder: str = FOLDER, kind: str = "md5"):
    """The character of a script, in a game with empty files below `packages/models`."""
    own = tmp_path / folder
    own.mkdir(parents=True, exist_ok=True)
    (own / f"{kind}.cfg").write_text(config)
    for name in files:
        path = tmp_path / "packages/models" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return cfg_character(GameTree([tmp_path]), folder)


def test_animations_have_names_speeds_priorities_and_masks(tmp_path):
    found = character(
        tmp_path,
        "md5load a.md5mesh\nmd5anim idle|hold a.md5anim 30 -1\nmd5animpart Spine\nmd5anim run b.md5anim",
        "imp/a.md5mesh", "imp/a.md5anim", "imp/b.md5anim",
    )  # fmt: skip
    (part,) = found.parts
    assert [(one.name, one.files, one.rate, one.priority, one.joints) for one in part.animations] == [
        ("idle|hold", (f"{FOLDER}/a.md5anim",), 30.0, -1, ""),
        ("run", (f"{FOLDER}/b.md5anim",), None, 0, "Spine"),
    ]
    assert not found.missing
    assert not found.warnings


def test_parts_hang_on_tags_of_other_parts(tmp_path):
    found = character(
        tmp_path,
        "md5load a.md5mesh\nmd5tag Hand tag_weapon 1 2 3 4 5 6\nmd5dir guns/gl\nmd5load b.md5mesh\n"
        "md5link 0 1 tag_weapon 1 2 3\nmdlscale 300\nmdltrans 1 2 3",
        "imp/a.md5mesh", "guns/gl/b.md5mesh",
    )  # fmt: skip
    body, gun = found.parts
    assert gun.model == "packages/models/guns/gl/b.md5mesh"
    assert body.tags == (Tag("tag_weapon", "Hand", (4.0, 5.0, 6.0), (1.0, 2.0, 3.0)),)
    assert gun.attachment == Attachment(0, "tag_weapon", translation=(1.0, -2.0, 3.0))
    assert (body.scale, body.offset) == (3.0, (1.0, -2.0, 3.0))
    assert (gun.scale, gun.offset) == (1.0, (0.0, 0.0, 0.0))


def test_an_adjustment_is_about_the_animations_after_it(tmp_path):
    found = character(
        tmp_path,
        "md5load a.md5mesh\nmd5anim x a.md5anim\nmd5adjust Root 1 2 3 4 5 6\nmd5anim y a.md5anim",
        "imp/a.md5mesh", "imp/a.md5anim",
    )  # fmt: skip
    assert found.parts[0].adjustments == (JointAdjustment("Root", (1.0, 2.0, 3.0), (4.0, 5.0, 6.0), 1),)


def test_images_of_meshes_are_found_with_other_extensions_and_modifiers(tmp_path):
    found = character(
        tmp_path,
        'md5load a.md5mesh\nmd5skin Head "<dds>h.png" m.png .4 .2\nmd5bumpmap Head n.jpg\nmd5skin * x.png 0.5',
        "imp/a.md5mesh", "imp/h.png", "imp/m.jpg", "imp/n.jpg",
    )  # fmt: skip
    head, others = found.parts[0].textures
    names = (f"{FOLDER}/h.png", f"{FOLDER}/m.jpg", f"{FOLDER}/n.jpg")
    assert head == MeshTextures("Head", *names, (0.4, 0.2))
    assert others == MeshTextures("*", f"{FOLDER}/x.png", strengths=(0.5,))
    assert found.missing == (f"{FOLDER}/x.png",)


def test_scripts_run_other_scripts_by_their_path_from_the_game_folder_and_above_it(tmp_path):
    (tmp_path / FOLDER).mkdir(parents=True)
    (tmp_path / FOLDER / "anims.cfg").write_text("md5anim idle a.md5anim")
    found = character(tmp_path, f'md5load a.md5mesh\nexec "{FOLDER}/anims.cfg', "imp/a.md5mesh", "imp/a.md5anim")
    below = cfg_character(GameTree([tmp_path / "packages"]), "models/imp")
    alone = cfg_character(GameTree([tmp_path / FOLDER]), "")
    assert [len(one.parts[0].animations) for one in (found, below, alone)] == [1, 1, 1]


def test_what_is_missing_is_listed_and_the_rest_is_there(tmp_path):
    found = character(
        tmp_path,
        "md5load a.md5mesh\nmd5anim x gone.md5anim\nmd5load gone.md5mesh\nmd5link 0 1 t\nexec gone.cfg",
        "imp/a.md5mesh",
    )
    assert len(found.parts) == 1
    assert found.missing == ("gone.cfg", f"{FOLDER}/gone.md5anim", f"{FOLDER}/gone.md5mesh")


def test_mistakes_name_the_file_and_the_line(tmp_path):
    found = character(tmp_path, "\nmd5skin Head x.png\nmd5load a.md5mesh\nmd5link 0 7 tag", "imp/a.md5mesh")
    assert found.warnings == (
        f"{FOLDER}/md5.cfg, line 2: md5skin before md5load",
        f"{FOLDER}/md5.cfg, line 4: md5link of parts 0 and 7, of 1",
    )


def test_a_script_that_never_ends_is_a_warning(tmp_path):
    found = character(tmp_path, "md5load a.md5mesh\nf = [mdlspec 1; f]; f", "imp/a.md5mesh")
    assert len(found.parts) == 1
    assert "stopped: too many blocks" in found.warnings[0]


@pytest.mark.slow
def test_what_a_script_may_look_for_is_limited(tmp_path):
    found = character(
        tmp_path,
        f"md5load a.md5mesh\nexec {'a/' * 500_000}b.cfg\nmd5skin Body 0\n"
        + "".join(f"md5skin {index} {index}\n" for index in range(1, 100_000)),
        "imp/a.md5mesh",
        "imp/0.png",
    )
    (warning,) = found.warnings
    assert "stopped: too many statements" in warning
    assert found.parts[0].textures[0].image == f"{FOLDER}/0.png"


def test_an_md2_takes_the_model_of_the_folder_above_and_ranges_of_frames(tmp_path):
    found = character(
        tmp_path, "md2anim trigger 0 35 35\nmdlscale 50", "imp/tris.md2", "imp/red/skin.jpg",
        folder=f"{FOLDER}/red", kind="md2",
    )  # fmt: skip
    (part,) = found.parts
    assert (found.name, part.model, part.scale) == ("imp/red", f"{FOLDER}/tris.md2", 0.5)
    assert (part.animations[0].frames, part.animations[0].rate) == ((0, 35), 35.0)
    assert part.textures == (MeshTextures("*", f"{FOLDER}/red/skin.jpg"),)


def test_a_normal_map_of_all_meshes_leaves_an_md2_its_own_images(tmp_path):
    found = character(
        tmp_path, "md2bumpmap * n.png", "imp/tris.md2", "imp/skin.jpg", "imp/masks.jpg", "imp/n.png", kind="md2"
    )
    names = (f"{FOLDER}/{name}" for name in ("skin.jpg", "masks.jpg", "n.png"))
    assert found.parts[0].textures == (MeshTextures("*", *names),)


def test_a_folder_without_a_script_is_an_error(tmp_path):
    with pytest.raises(FileReadError):
        cfg_character(GameTree([tmp_path]), "nothing")
