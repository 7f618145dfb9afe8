"""What a game takes: a sorted list of findings, and what is odd in a file that was read."""

from __future__ import annotations

import numpy as np
from md2_samples import fan, model_of

from io_idtech.io_md2.format import Game, check_model
from io_idtech.io_md2.format.games import find_oddities


def test_errors_come_before_warnings():
    model = fan(5)
    model.skins = ["a" * 65]
    model.normals[:] = 200
    kinds = [finding.is_error for finding in check_model(model, Game.QUAKE2)]
    assert set(kinds) == {True, False}
    assert kinds == sorted(kinds, reverse=True)


def test_what_the_imported_file_exceeded_is_no_error():
    model = model_of(vertices=2049)
    assert any(finding.is_error for finding in check_model(model, Game.QUAKE2) if "2,049" in finding.text)
    findings = check_model(model, Game.QUAKE2, model)
    assert not any(finding.is_error for finding in findings if "2049" in finding.text)


def test_a_file_within_the_limits_of_quake_ii_has_nothing_odd():
    assert find_oddities(fan(5)) == []


def test_oddities_of_a_file_are_told_without_the_remedy_of_an_export():
    model = fan(5)
    model.normals[:] = 200
    (sentence,) = find_oddities(model)
    (finding,) = [one for one in check_model(model) if one.code == "bad_normals"]
    assert finding.text.startswith(sentence)
    assert not finding.remedy or finding.remedy not in sentence


def test_the_size_of_a_skin_may_be_a_number_of_numpy():
    model = fan(5)
    model.skin_height = np.int32(512)
    assert any("The skin height is 512 texels" in finding.text for finding in check_model(model, Game.QUAKE2))
