"""Names of joints that a game can take."""

from __future__ import annotations

from md5_game_models import animation, found
from md5_samples import MESH

from io_idtech.io_md5.format import parse_mesh
from io_idtech.io_md5.format.check import check_animation, check_model
from io_idtech.io_md5.format.games.checks import NameRule
from io_idtech.io_md5.format.games.profiles import PROFILES, Game
from io_idtech.io_md5.format.games.writing import prepare_animation, prepare_model, safe_names


def test_names_that_are_safe_never_change():
    names = ["origin", "hips", "", "hips", "a" * 31, "Ünïcode", "a//b{}\\"]
    assert safe_names(names, NameRule(31)) == names


def test_replacements_are_unambiguous():
    rule = PROFILES[Game.SAUERBRATEN].writing.names
    names = ["left arm", "left_arm", "left\tarm", 'le"ft', "LEFT_ARM_2", "x"]
    safe = safe_names(names, rule)
    assert safe[1] == "left_arm"
    assert safe[-2:] == ["LEFT_ARM_2", "x"]
    assert len({name.casefold() for name in safe}) == len(names)
    assert all(rule.accepts(name) for name in safe)


def test_names_are_cut_between_characters_and_stay_unique():
    rule = PROFILES[Game.QUAKE].writing.names
    names = ["é" * 20, "é" * 21, "b" * 40, "b" * 41, "b" * 31]
    safe = safe_names(names, rule)
    assert safe == ["é" * 15, "é" * 14 + "_2", "b" * 29 + "_2", "b" * 29 + "_3", "b" * 31]
    assert all(len(name.encode()) <= 31 for name in safe)


def test_mesh_and_animation_get_the_same_names_with_a_warning():
    subject, clip = parse_mesh(MESH.encode()), animation()
    for joints in (subject.joints, clip):
        joints.names[1:] = ["two words", "two_words"]
    assert found(subject, Game.SAUERBRATEN)["unsafe_names"]
    written, warnings = prepare_model(subject, Game.SAUERBRATEN)
    moved, _ = prepare_animation(clip, Game.SAUERBRATEN)
    assert written.joints.names == moved.names == ["origin", "two_words_2", "two_words"]
    assert "'two words' became 'two_words_2'" in warnings[0]
    assert not any(f.is_error for f in check_animation(moved, written.joints, Game.SAUERBRATEN))
    assert subject.joints.names[1] == "two words"


def test_without_replacements_such_names_are_errors():
    subject = parse_mesh(MESH.encode())
    subject.joints.names[1] = "two words"
    written, warnings = prepare_model(subject, Game.SAUERBRATEN, make_names_safe=False)
    assert warnings == []
    (finding,) = (f for f in check_model(written, Game.SAUERBRATEN) if f.is_error)
    assert (finding.code, finding.joints) == ("unsafe_names", (1,))
    assert "Make Names Safe" in finding.text


def test_names_that_no_file_can_hold_are_replaced_for_every_game():
    subject = parse_mesh(MESH.encode())
    subject.joints.names[1:] = ['a"b', "a\nb"]
    for game in Game:
        assert found(subject, game)["unwritable_names"]
        names = prepare_model(subject, game)[0].joints.names
        assert names == ["origin", "a'b", "a_b"]
