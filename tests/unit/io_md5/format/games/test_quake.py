"""The re-releases of Quake and Quake II."""

from __future__ import annotations

import pytest
from md5_game_models import found, model

from io_md5.format.games import Game


@pytest.mark.parametrize("game", [Game.QUAKE, Game.QUAKE2])
def test_a_mesh_without_an_animation_is_refused(game):
    assert found(model(), game, has_animation=False)["no_animation"]
    assert found(model(), game, has_animation=True) == {}


def test_a_command_line_that_quakes_parser_cannot_hold_is_refused():
    subject = model()
    subject.commandline = "x" * 1023
    assert "commandline_length" not in found(subject, Game.QUAKE)
    subject.commandline += "x"
    assert found(subject, Game.QUAKE)["commandline_length"]
