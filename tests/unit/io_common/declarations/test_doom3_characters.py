"""Heads, attachments and replaced animations, as the declarations of Doom 3 and The Dark Mod give them.

Where they are in a scene is a promise of `tests/promises/characters/test_attachments.py`.
"""

from __future__ import annotations

from pathlib import Path

import game_folders
import pytest

from io_idtech.io_common.declarations.characters import Attachment, Character
from io_idtech.io_common.declarations.doom3_characters import Doom3Declarations
from io_idtech.io_common.declarations.doom3_text import def_text
from io_idtech.io_common.game_tree.tree import GameTree

BODY = "model body { mesh body.md5mesh anim walk walk.md5anim anim walk_torch1 torch.md5anim anim idle idle.md5anim }"
HEAD = "model skull { mesh skull.md5mesh }"
DARK_MOD = 'entityDef atdm:ai_base { "health" "1" }'


def hero(folder: Path, values: str, *others: str) -> Character:
    """The character of an entity with a body and these values, among other declarations."""
    text = "\n".join((BODY, HEAD, *others, f'entityDef hero {{ "model" "body" {values} }}'))
    files = {f"{name}.md5mesh": game_folders.md5mesh() for name in ("body", "skull", "hat")}
    game_folders.loose(folder, {"def/a.def": text, **files})
    found = Doom3Declarations(GameTree([folder])).entity_character("hero")
    assert found is not None
    return found


def hung(character: Character) -> list[tuple[str, int, str]]:
    """The name, parent and joint of everything that hangs on a character."""
    return [
        (part.name, part.attachment.parent, part.attachment.joint)
        for part in character.parts
        if part.attachment is not None
    ]


def test_a_head_is_a_model_if_no_entity_has_its_name(tmp_path: Path) -> None:
    found = hero(tmp_path, '"def_head" "skull" "head_joint" "Neck"')
    assert found.parts[1].model == "skull.md5mesh"
    assert found.parts[1].attachment is not None
    assert (found.parts[1].attachment.entity, found.parts[1].attachment.keeps_axes) == ("", True)
    assert not [one for one in found.missing if "skull" in one]


def test_a_head_is_an_entity_if_one_has_its_name(tmp_path: Path) -> None:
    found = hero(tmp_path, '"def_head" "skull" "joint_head" "Neck"', 'entityDef skull { "model" "hat.md5mesh" }')
    assert found.parts[1].model == "hat.md5mesh"
    assert hung(found) == [("hat", 0, "Neck")]


def test_a_head_that_is_neither_is_missing(tmp_path: Path) -> None:
    assert "head gone" in hero(tmp_path, '"def_head" "gone"').missing


def test_the_keys_of_the_heads_name_and_of_all_heads_are_added_to_its_place(tmp_path: Path) -> None:
    found = hero(tmp_path, '"def_head" "Skull" "Skull" "-1 0 -9.5" "offsetHeadModel" "1 2" "head_joint" "Neck"')
    assert found.parts[1].attachment == Attachment(0, "Neck", translation=(0.0, 2.0, -9.5), keeps_axes=True)


@pytest.mark.parametrize("value", ["", "-"])
def test_attachments_of_nothing_are_none(tmp_path: Path, value: str) -> None:
    found = hero(tmp_path, f'"def_attach" "{value}"')
    assert len(found.parts) == 1
    assert not [one for one in found.missing if one.startswith("entityDef")]


@pytest.mark.parametrize("is_dark_mod", [False, True])
def test_what_is_attached_has_attachments_itself_in_the_dark_mod(tmp_path: Path, is_dark_mod: bool) -> None:
    found = hero(
        tmp_path,
        '"def_head" "skull" "head_joint" "Neck"',
        'entityDef skull { "model" "skull" "def_attach" "hat" }',
        'entityDef hat { "model" "hat.md5mesh" "joint" "Neck" "def_attach" "hat" }',
        DARK_MOD if is_dark_mod else "",
    )
    assert hung(found)[:2] == [("skull", 0, "Neck"), ("hat", 1, "Neck")][: 1 + is_dark_mod]
    # A hat that wears itself ends.
    assert len(found.parts) < 100


def test_lights_particles_and_models_of_other_formats_are_parts_that_are_no_models(tmp_path: Path) -> None:
    found = hero(
        tmp_path,
        '"def_attach" "flame" "def_attach2" "glow"',
        'entityDef flame { "model" "torch.prt" "joint" "larm" }',
        'entityDef glow { "spawnclass" "idLight" }',
    )
    assert [(part.name, part.model, part.is_model) for part in found.parts[1:]] == [
        ("flame", "torch.prt", False),
        ("glow", "", False),
    ]


@pytest.mark.parametrize(
    ("own", "torch", "expected"),
    [
        ('"replace_anim_walk" "walk_torch"', "", "walk_torch1"),
        ('"replace_anim_walk" "gone"', "", ""),
        ('"replace_anim_walk" "walk"', "", ""),
        ('"replace_anim_walk" "idle" "replace_anim_idle" "walk_torch1"', "", "walk_torch1"),
        ('"replace_anim_walk" "idle" "replace_anim_idle" "walk"', "", ""),
        ("", '"replace_anim_walk" "idle"', "idle"),
        ("", '"replace_anim_walk LARM" "idle"', "idle"),
        ("", '"replace_anim_walk rarm" "idle"', ""),
    ],
)
def test_an_animation_is_replaced_by_the_one_that_the_entity_or_its_attachment_names(
    tmp_path: Path, own: str, torch: str, expected: str
) -> None:
    found = hero(
        tmp_path, f'{own} "def_attach" "torch"', f'entityDef torch {{ "model" "x.lwo" "joint" "larm" {torch} }}'
    )
    walk = found.parts[0].animations[0]
    assert (walk.name, walk.files, walk.replacement) == ("walk", ("walk.md5anim",), expected)


def test_a_written_head_that_is_a_model_is_one_when_it_is_read(tmp_path: Path) -> None:
    text = def_text(hero(tmp_path, '"def_head" "skull" "head_joint" "Neck" "skull" "0 0 1"'))
    assert '"def_head"\t"skull"' in text
    assert '"head_joint"\t"Neck"' in text
    assert "hero_head" not in text


def test_places_replacements_and_nested_attachments_are_read_as_they_were_written(tmp_path: Path) -> None:
    found = hero(
        tmp_path,
        '"def_head" "skull" "head_joint" "Neck" "skull" "0 0 1" "replace_anim_walk" "idle" "def_attach_x" "lamp" '
        '"pos_attach_x" "belt" "attach_pos_name_3" "Back" "attach_pos_name_4" "belt" "attach_pos_joint_4" "Waist" '
        '"attach_pos_origin_4" "1 2 3" "attach_pos_angles_4" "10 20 30" "def_attach" "flame"',
        'entityDef skull { "model" "skull" "def_attach" "hat" }',
        'entityDef hat { "model" "hat.md5mesh" "joint" "Neck" "origin" "4 5 6" }',
        'entityDef lamp { "model" "hat.md5mesh" "origin_belt" "7 8 9" "angles_belt" "0 90 0" }',
        'entityDef flame { "model" "torch.prt" "joint" "larm" }',
        DARK_MOD,
    )
    names = {part.name: part for part in found.parts}
    lamp = next(part for part in found.parts if part.attachment is not None and part.attachment.joint == "Waist")
    assert lamp.attachment == Attachment(
        0, "Waist", (20.0, 10.0, 30.0), (1.0, 2.0, 3.0), (90.0, 0.0, 0.0), (7.0, 8.0, 9.0)
    )
    assert names["flame"].attachment is not None
    others = 'entityDef flame { "model" "torch.prt" "joint" "larm" }'
    game_folders.loose(tmp_path, {"def/a.def": "\n".join((DARK_MOD, others, def_text(found)))})
    again = Doom3Declarations(GameTree([tmp_path])).entity_character("hero")
    assert again is not None
    assert again.parts == found.parts


def test_keys_as_the_dark_mods_own_declarations_have_them(tmp_path: Path) -> None:
    """A guard with a choice of heads, each with its offset, and a light with a flame and a particle."""
    found = hero(
        tmp_path,
        '"inherit" "atdm:ai_humanoid" "ragdoll" "guard_base" "def_head" "tdm_head_young02" "head_joint" "Neck"\n'
        '"head_elitecitywatch" "0 0 5" "tdm_head_young" "-0.6 0 -8.5" "tdm_head_young02" "-1 0 -9.5"\n'
        '"def_attach1" "-" "def_attach5" "atdm:prop_torch" "pos_attach5" "hand_l"',
        'entityDef atdm:ai_humanoid { "attach_pos_name_hl" "hand_l" "attach_pos_joint_hl" "larm"\n'
        '"def_attach1" "gone" }',
        'entityDef tdm_head_young02 { "model" "skull" }',
        'entityDef atdm:prop_torch { "model" "torch.lwo" "replace_anim_walk" "walk_torch" "def_attach" "candleflame"\n'
        '"pos_attach" "flame" "attach_pos_name_1" "flame" "attach_pos_origin_1" "0 0 15" }',
        'entityDef candleflame { "model" "flame.prt" }',
    )
    body, head, torch, flame = found.parts
    assert body.animations[0].replacement == "walk_torch1"
    assert head.attachment == Attachment(0, "Neck", translation=(-1.0, 0.0, -9.5), keeps_axes=True)
    assert (torch.model, torch.attachment) == ("torch.lwo", Attachment(0, "larm"))
    assert (flame.model, flame.attachment) == ("flame.prt", Attachment(2, "", translation=(0.0, 0.0, 15.0)))
    assert not [one for one in found.missing if "gone" in one]
