"""Checks of meshes."""

from __future__ import annotations

import pytest
from md5_game_models import found, model

from io_idtech.io_md5.format.check import check_model
from io_idtech.io_md5.format.games.profiles import Game


@pytest.mark.parametrize("game", Game)
def test_more_than_four_weights_are_refused_by_unvanquished_and_cut_by_others(game):
    subject = model(weights=6)
    subject.meshes[0].weight_starts[1], subject.meshes[0].weight_counts[1] = 0, 6
    subject.meshes[0].weight_biases[:] = 1 / 6
    subject.meshes[0].weight_counts[[0, 2]] = 6
    subject.meshes[0].weight_starts[:] = 0
    cutting = {Game.DOOM3_BFG, Game.QUAKE, Game.SAUERBRATEN}
    expected = dict.fromkeys(cutting, False) | {Game.UNVANQUISHED: True}
    assert found(subject, game).get("influences") == expected.get(game)


def test_findings_name_the_vertices_and_the_triangles():
    subject = model(vertices=6146, triangles=6146)
    findings = {finding.code: finding for finding in check_model(subject, Game.QUAKE2)}
    assert findings["vertex_count"].vertices == (6144, 6145)
    assert findings["triangle_count"].triangles == (6144, 6145)
    assert findings["vertex_count"].mesh == 0
    assert findings["vertex_count"].text == (
        "mesh 0 ('skin0'): 6,146 vertices; Quake II takes 6,144 in a mesh: turn on Split Surfaces"
    )
    assert findings["vertex_count"].limit == "6144"


def test_references_to_what_is_not_there_name_their_vertices():
    subject = model(vertices=4)
    subject.meshes[0].weight_joints[1] = 7
    (finding,) = (f for f in check_model(subject) if f.is_error)
    assert (finding.code, finding.vertices) == ("invalid_references", (1,))
    subject.meshes[0].weight_joints[1] = 0
    subject.meshes[0].triangles[0, 2] = 9
    (finding,) = (f for f in check_model(subject) if f.is_error)
    assert finding.triangles == (0,)


def test_a_mesh_without_an_animation_is_refused_by_games_that_need_one():
    for game in Game:
        expected = True if game in (Game.QUAKE, Game.QUAKE2) else None
        assert found(model(), game, has_animation=False).get("no_animation") == expected
        assert "no_animation" not in found(model(), game, has_animation=True)
        assert "no_animation" not in found(model(), game)
