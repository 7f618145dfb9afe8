"""Declarations as text: what the readers make of them is the character that they were written from."""

from __future__ import annotations

from dataclasses import replace

import pytest

from io_idtech.io_common.catalogue import Catalogue
from io_idtech.io_common.declarations.characters import (
    DOOM3,
    SAUERBRATEN,
    Attachment,
    Character,
    CharacterAnimation,
    CharacterPart,
    CharacterSkin,
    FrameCommand,
    JointAdjustment,
    MeshTextures,
    Tag,
)
from io_idtech.io_common.declarations.cube_models import cfg_character, cfg_name, cfg_text
from io_idtech.io_common.declarations.doom3_text import def_text, skin_text
from io_idtech.io_common.game_tree.tree import GameTree

MODEL = "models/md5/odd name/a-b.md5mesh"


def written(tmp_path, *paths: str) -> None:
    for name in paths:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()


@pytest.mark.parametrize("name", ["imp", "an imp", "imp-2", "10imp", "imp/ä"])
def test_a_doom_3_character_of_odd_names_is_read_as_it_was_written(tmp_path, name):
    animations = (
        CharacterAnimation(f"{name} walk", ("models/a b.md5anim", "models/c.md5anim")),
        CharacterAnimation(
            "run",
            ("models/c.md5anim",),
            commands=(FrameCommand(1, 'call "a b" 3'), FrameCommand(1, "sound -1"), FrameCommand(9, "x")),
            flags=("ai_no_turn", "own-flag"),
        ),
    )
    body = CharacterPart(
        name,
        MODEL,
        animations=animations,
        skins=(CharacterSkin(f"skins/{name}", (("a b", "c"), ("*", "d-e"))),),
        default_skin=f"skins/{name}",
        offset=(0.5, -1.25, 1e-3),
        channels=(("torso", "*Waist -*l-leg"),),
        declaration=name,
    )
    head = CharacterPart(
        "head", "models/head.md5mesh", attachment=Attachment(0, "Neck", keeps_axes=True), declaration="head"
    )
    lamp = CharacterPart(
        "lamp", "models/lamp.md5mesh", attachment=Attachment(0, "l hand", (10.0, -20.0, 30.0), (1.0, 2.0, -3.0))
    )
    character = Character(f"{name} entity", DOOM3, (body, head, replace(lamp), replace(lamp)))
    written(tmp_path, MODEL, "models/head.md5mesh", "models/lamp.md5mesh", "models/a b.md5anim", "models/c.md5anim")
    written(tmp_path, "def/x.def", "skins/x.skin")
    (tmp_path / "def/x.def").write_text(def_text(character))
    (tmp_path / "skins/x.skin").write_text(skin_text(character))
    catalogue = Catalogue(GameTree([tmp_path]))
    assert not catalogue.files.warnings
    found = catalogue.character(catalogue.named(character.name))
    assert replace(found, declaration=None) == character


def test_a_model_without_a_declaration_gets_one(tmp_path):
    part = CharacterPart("imp", "models/imp.md5mesh", (CharacterAnimation("walk", ("models/walk.md5anim",)),))
    written(tmp_path, "models/imp.md5mesh", "models/walk.md5anim", "def/x.def")
    (tmp_path / "def/x.def").write_text(def_text(Character("imp", DOOM3, (part,))))
    catalogue = Catalogue(GameTree([tmp_path]))
    (found,) = catalogue.character(catalogue.named("imp")).parts
    assert found == replace(part, declaration="imp")


FOLDER = "packages/models/hero"


def test_a_sauerbraten_character_is_read_as_it_was_written(tmp_path):
    body = CharacterPart(
        "a b",
        f"{FOLDER}/a b.md5mesh",
        animations=(
            CharacterAnimation("idle|edit", (f"{FOLDER}/idle.md5anim",), priority=-1),
            CharacterAnimation("run", ("packages/models/other/run.md5anim",), 17.5),
            CharacterAnimation("run", ("packages/models/other/run.md5anim",), joints="Spine 1"),
        ),
        textures=(
            MeshTextures("Head", f"{FOLDER}/h.png", f"{FOLDER}/m.png", f"{FOLDER}/n.png", (0.9, 0.5)),
            MeshTextures("*", "packages/models/other/x y.jpg"),
        ),
        offset=(1.0, 2.0, -3.5),
        scale=12.25,
        adjustments=(
            JointAdjustment("Root", (1.0, 2.0, 3.0)),
            JointAdjustment("Root", (0.0, 0.0, 0.0), (4.0, -5.0, 6.0), 1),
            JointAdjustment("Hand.R", (90.0, 0.0, 0.0), (0.0, 0.0, 0.0), 3),
        ),
        tags=(Tag("tag_weapon", "Hand R", (1.0, 2.0, 3.0), (4.0, 5.0, 6.0)), Tag("plain", "Root")),
        skeleton="shared",
        settings=(("md5smooth", "70"), ("md5spec", "Head", "60"), ("mdlspec", "100"), ("mdlenvmap", "a b")),
    )
    gun = CharacterPart(
        "gun", "packages/models/guns/gun.md5mesh",
        attachment=Attachment(0, "tag_weapon", translation=(1.0, -2.0, 3.0)),
    )  # fmt: skip
    character = Character("hero", SAUERBRATEN, (body, gun))
    files = [one for part in character.parts for animation in part.animations for one in animation.files]
    images = [f"{FOLDER}/{name}.png" for name in "hmn"]
    written(tmp_path, body.model, gun.model, *files, *images, "packages/models/other/x y.jpg")
    (tmp_path / FOLDER / cfg_name(character)).write_text(cfg_text(character, FOLDER))
    found = cfg_character(GameTree([tmp_path]), FOLDER)
    assert replace(found, declaration=None) == character
