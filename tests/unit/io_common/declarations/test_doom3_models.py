"""Characters of Doom 3's declarations, as the engine understands them."""

from __future__ import annotations

from pathlib import Path

import game_folders
import pytest
from work import lines_run

from io_idtech.io_common.declarations import doom3_models
from io_idtech.io_common.declarations.characters import Attachment, Character, CharacterAnimation, FrameCommand
from io_idtech.io_common.declarations.declaration_files import MAX_WARNINGS
from io_idtech.io_common.declarations.doom3_characters import Doom3Declarations
from io_idtech.io_common.game_tree.tree import GameTree

MESH = "models/a.md5mesh"


def declarations(folder: Path, text: str, **files: str) -> Doom3Declarations:
    """The declarations of a game with one file and a model."""
    content = {"def/a.def": text, MESH: game_folders.md5mesh(game_folders.BODY, "models/skin")}
    game_folders.loose(folder, {**content, **{name.replace("__", "/"): text for name, text in files.items()}})
    return Doom3Declarations(GameTree([folder]))


def warnings(given: Doom3Declarations) -> list[str]:
    """The warnings about all declarations."""
    return [warning for ones in given.declared.values() for one in ones.values() for warning in one.warnings]


def model(folder: Path, text: str, name: str = "a"):
    found = declarations(folder, text).model(name)
    assert found is not None
    return found


def entity(folder: Path, text: str, name: str = "a", skins: str = "") -> Character:
    given = declarations(folder, text)
    game_folders.loose(folder, {"skins/a.skin": skins})
    found = given.entity_character(name)
    assert found is not None
    return found


# --- The whole


@pytest.mark.parametrize("make", [game_folders.doom3, game_folders.doom3_loose])
def test_an_entity_becomes_a_character_with_all_that_is_declared_for_it(tmp_path: Path, make) -> None:
    found = Doom3Declarations(GameTree([make(tmp_path / "base")])).entity_character("Monster_Demon_Imp")
    assert found is not None
    body, head, lamp = found.parts
    assert (body.declaration, body.model) == ("monster_imp", "models/md5/monsters/imp/imp.md5mesh")
    assert body.offset == (0, 0, -4)
    assert dict(body.channels) == {"torso": "*Waist", "legs": "origin Hips *lleg *rleg", "head": "*Neck -larm"}
    assert [animation.name for animation in body.animations] == ["stand", "walk1", "range", "pain1"]
    walk, ranged = body.animations[1:3]
    assert walk.commands == (FrameCommand(2, "sound_body imp_step"), FrameCommand(4, 'call "foot fall"'))
    assert walk.flags == ("random_cycle_start", "ai_no_turn")
    assert [Path(file).stem for file in ranged.files] == ["walk1", "run"]
    assert ranged.flags == ("anim_turn",)
    assert body.default_skin == "skins/monsters/imp_ice"
    assert {skin.name for skin in body.skins} == {"skins/monsters/imp", "skins/monsters/imp_ice"}
    assert dict(body.skins[1].replacements) == {"models/monsters/imp/body": "models/monsters/imp/body_brown"}
    assert head.attachment == Attachment(0, "Neck", keeps_axes=True)
    assert lamp.attachment == Attachment(0, "larm", (90.0, 0.0, 0.0), (1.0, 2.0, 3.0), along_model=True)
    assert found.missing == ("models/md5/monsters/imp/gone.md5anim",)
    assert found.declaration is not None
    assert found.declaration.file.lower() == "def/monster_imp.def"
    assert (
        found.declaration.line
        == game_folders.IMP_DEF[: game_folders.IMP_DEF.index("entityDef monster_demon")].count("\n") + 1
    )


# --- Names


def test_of_two_declarations_with_one_name_the_first_is_used(tmp_path: Path) -> None:
    given = declarations(
        tmp_path, f"model A.x {{ mesh {MESH} }}", def__b_def="", **{"def__b.def": "model a { mesh b.md5mesh }"}
    )
    found = given.model("a")
    assert found is not None
    assert found.model == MESH
    assert warnings(given) == ["def/a.def:1: model 'a' is declared again in def/b.def:1, which is ignored"]


# --- Models


def test_what_is_inherited_is_replaced_by_what_follows(tmp_path: Path) -> None:
    found = model(
        tmp_path,
        """model base { mesh b.md5mesh skin s offset ( 1 2 3 ) channel legs ( a b ) anim x x.md5anim anim y y.md5anim }
        model a { inherit base mesh a.md5mesh channel Legs ( c ) anim x new.md5anim anim z z.md5anim }""",
    )
    assert (found.model, found.default_skin, found.offset) == ("a.md5mesh", "s", (1, 2, 3))
    assert found.channels == (("legs", "c"),)
    assert [(one.name, *one.files) for one in found.animations] == [
        ("x", "new.md5anim"),
        ("y", "y.md5anim"),
        ("z", "z.md5anim"),
    ]


def test_inheritance_replaces_what_came_before_it(tmp_path: Path) -> None:
    found = model(tmp_path, "model base { mesh b.md5mesh } model a { mesh a.md5mesh offset ( 1 1 1 ) inherit base }")
    assert (found.model, found.offset) == ("b.md5mesh", (0, 0, 0))


def test_a_chain_of_inheritance_may_be_declared_in_any_order(tmp_path: Path) -> None:
    found = model(
        tmp_path,
        "model a { inherit b anim z z.md5anim } model b { inherit c anim y y.md5anim } model c { anim x x.md5anim }",
    )
    assert [one.name for one in found.animations] == ["x", "y", "z"]


def test_removing_takes_away_inherited_animations_and_all_their_variants(tmp_path: Path) -> None:
    base = "model base { anim pain1 a.md5anim anim pain2 a.md5anim anim run a.md5anim anim run2 a.md5anim }"
    assert [one.name for one in model(tmp_path, base + "model a { inherit base remove pain }").animations] == [
        "run",
        "run2",
    ]
    kept = model(tmp_path / "2", base + "model a { inherit base remove run2 }").animations
    assert [one.name for one in kept] == ["pain1", "pain2", "run"]


def test_an_animation_that_was_removed_can_be_declared_again(tmp_path: Path) -> None:
    found = model(
        tmp_path,
        "model base { anim x a.md5anim anim y a.md5anim } "
        "model a { inherit base remove x anim x b.md5anim anim x c.md5anim }",
    )
    assert [(one.name, *one.files) for one in found.animations] == [("y", "a.md5anim"), ("x", "b.md5anim")]


@pytest.mark.parametrize(
    "text",
    [
        "model a { inherit a }",
        "model a { inherit b } model b { inherit a }",
        "model a { inherit b } model b { inherit c } model c { inherit b }",
    ],
)
def test_a_cycle_of_inheritance_is_said_and_ends(tmp_path: Path, text: str) -> None:
    given = declarations(tmp_path, text.replace("model a {", f"model a {{ mesh {MESH}"))
    assert given.model("a") is not None
    assert any("inherits itself" in warning and "def/a.def:1" in warning for warning in warnings(given))


def test_frame_commands_end_with_their_line_or_brace(tmp_path: Path) -> None:
    text = """model a { anim x a.md5anim, b.md5anim {
        FRAME 1 sound_voice "a b" frame 2 trigger
        random_cycle_start frame 3 call x::y // comment
        frame 12 event e } anim y c.md5anim }"""
    first, second = model(tmp_path, text).animations
    assert [(one.frame, one.text) for one in first.commands] == [
        (1, 'sound_voice "a b"'),
        (2, "trigger"),
        (3, "call x::y"),
        (12, "event e"),
    ]
    assert first.flags == ("random_cycle_start",)
    assert second == CharacterAnimation("y", ("c.md5anim",))


def test_joints_of_channels_keep_their_signs(tmp_path: Path) -> None:
    found = model(tmp_path, 'model a { channel torso ( * Waist -*lleg - rleg, "Bip01 Head" ) }')
    assert found.channels == (("torso", "*Waist -*lleg -rleg Bip01 Head"),)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("model a {\n nonsense }", "def/a.def:2: unknown word 'nonsense'"),
        ("model a {\n offset 1 2 3 }", "def/a.def:2: expected three numbers"),
        ("model a {\n offset ( 1 nan 3 ) }", "def/a.def:2: expected three numbers"),
        ("model a {\n anim x }", "def/a.def:2: the animation 'x' has no file"),
        ("model a {\n mesh }", "def/a.def:2: nothing follows 'mesh'"),
        ("model a {\n inherit gone }", "def/a.def:2: the inherited model 'gone' does not exist"),
        ("model a {\n remove gone }", "def/a.def:2: there is no animation 'gone'"),
        ("model a { anim x b.md5anim\n anim x c.md5anim }", "def/a.def:2: the animation 'x' is declared twice"),
        ("model a { anim x b.md5anim {\n frame x } }", "def/a.def:2: expected a frame number"),
        ("model a {\n channel x a }", "def/a.def:2: expected '('"),
    ],
)
def test_what_cannot_be_read_is_said_with_file_and_line_and_the_rest_is_kept(
    tmp_path: Path, text: str, expected: str
) -> None:
    given = declarations(tmp_path, text.replace("model a {", "model a { skin kept") + " model b { skin last }")
    found, following = given.model("a"), given.model("b")
    assert any(warning.startswith(expected) for warning in warnings(given)), given.warnings
    assert found is not None
    assert following is not None
    assert (found.default_skin, following.default_skin) == ("kept", "last")


# --- Entities


def test_entities_inherit_what_they_do_not_say_from_several(tmp_path: Path) -> None:
    given = declarations(
        tmp_path,
        """entityDef a { "inherit" "b" "inherit2" "c" "Model" "own" "model" "last" }
        entityDef b { "model" "b" "skin" "b" }
        entityDef c { "skin" "c" "other" "c" "inherit" "a" }""",
    )
    found = given.entity("a")
    assert found is not None
    assert found == {"model": "last", "skin": "b", "other": "c"}
    assert any("inherits itself" in warning for warning in warnings(given))


def test_an_entity_may_name_a_model_by_path_and_others_are_no_characters(tmp_path: Path) -> None:
    text = f"""entityDef a {{ "model" "{MESH}" }} entityDef light {{ "model" "models/x.lwo" }} entityDef none {{ }}"""
    given = declarations(tmp_path, text)
    found = given.entity_character("a")
    assert found is not None
    assert found.parts[0].model == MESH
    assert given.entity_character("light") is None
    assert given.entity_character("none") is None
    assert given.entity_character("gone") is None


def test_what_is_missing_is_listed_and_the_rest_is_there(tmp_path: Path) -> None:
    found = entity(
        tmp_path,
        f"""model m {{ mesh {MESH} skin gone anim x gone.md5anim, {MESH} }}
        model n {{ mesh nowhere.md5mesh }} entityDef n {{ "model" "n" }}
        entityDef a {{ "model" "m" "def_head" "n" "head_joint" "Neck" "def_attach1" "nothing" }}""",
    )
    assert [part.name for part in found.parts] == ["m"]
    assert found.missing == ("entityDef nothing", "gone.md5anim", "nowhere.md5mesh", "skin gone")
    assert found.parts[0].default_skin is None


def test_a_character_without_its_first_model_has_no_parts(tmp_path: Path) -> None:
    found = entity(tmp_path, 'model m { mesh gone.md5mesh } entityDef a { "model" "m" }')
    assert (found.parts, found.missing) == ((), ("gone.md5mesh",))


def test_skins_are_those_for_the_model_of_entities_and_of_its_materials(tmp_path: Path) -> None:
    found = entity(
        tmp_path,
        f"""model m {{ mesh {MESH} skin Default }} entityDef a {{ "model" "m" "skin" "own" }}
        entityDef b {{ "model" "M" "skin" "others" }}""",
        skins=f"""skin default {{ x y }} skin own {{ x z }} skin others {{ * w }} skin made {{ model {MESH.upper()} }}
        skin fits {{ MODELS/SKIN.tga a }} skin unrelated {{ * q }}""",
    )
    (part,) = found.parts
    assert part.default_skin == "own"
    assert {skin.name for skin in part.skins} == {"default", "own", "others", "made", "fits"}


# --- Limits


@pytest.mark.slow
def test_long_chains_of_inheritance_end(tmp_path: Path) -> None:
    text = "model m0 { } " + " ".join(f"model m{n} {{ inherit m{n - 1} }}" for n in range(1, 5000))
    text += ' entityDef e0 { "model" "m0" } '
    text += " ".join(f'entityDef e{n} {{ "inherit" "e{n - 1}" }}' for n in range(1, 5000))
    given = declarations(tmp_path, text)
    assert given.model("m4999") is not None
    assert given.entity("e4999") is not None
    assert any("the chain is too long" in warning for warning in warnings(given))


def test_a_long_number_in_a_name_and_a_model_of_empty_lines_do_not_take_minutes(tmp_path: Path) -> None:
    name = "9" * 200_000 + "x"
    text = f"model m {{ mesh {MESH} anim {name} a.md5anim remove {name} }}"
    game_folders.loose(tmp_path, {"skins/a.skin": "skin fits { models/skin a }"})
    given = declarations(tmp_path, text)
    game_folders.loose(tmp_path, {MESH: "\n" * 200_000 + game_folders.md5mesh(game_folders.BODY, "models/skin")})
    found = given.model_character("m")
    assert found is not None
    assert not found.parts[0].animations
    assert [skin.name for skin in found.parts[0].skins] == ["fits"]


def test_what_is_inherited_is_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doom3_models, "_MAX_INHERITED", 25)
    base = "model base { " + " ".join(f"anim a{n} a.md5anim" for n in range(10)) + " }"
    given = declarations(tmp_path, base + " ".join(f"model m{n} {{ inherit base }}" for n in range(4)))
    found = [given.model(f"m{n}") for n in range(4)]
    assert [len(one.animations) for one in found if one is not None] == [10, 10, 0, 0]
    assert any("too much is inherited" in warning for warning in warnings(given))


def test_reading_many_statements_costs_as_much_for_each(tmp_path: Path) -> None:
    def cost(count: int) -> int:
        anims = " ".join(f"anim a{n} x.md5anim" for n in range(count))
        removed = " ".join(f"remove a{n}" for n in range(count))
        folder = tmp_path / str(count)
        given = declarations(folder, f"model base {{ {anims} }} model a {{ inherit base {removed} {anims} }}")
        assert given.declared
        return lines_run(given.model, "a")

    small = cost(100)
    assert cost(1000) < 12 * small


def test_the_number_of_warnings_is_limited(tmp_path: Path) -> None:
    given = declarations(tmp_path, "model a { " + "nonsense " * 5000 + "}")
    given.model("a")
    assert len(warnings(given)) == MAX_WARNINGS
