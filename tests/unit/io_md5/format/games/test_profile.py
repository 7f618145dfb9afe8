"""How files for a game are written, where the game asks for nothing."""

from __future__ import annotations

from io_idtech.io_md5.format.games.profiles import Comments, Game, Profile, Writing


def test_a_game_that_asks_for_nothing_gets_files_as_they_are():
    profile = Profile(Game.ANY, "Any", "any game", "", ())
    assert profile.writing == Writing()
    assert not profile.writing.all_components
    assert profile.writing.name_lines
    assert profile.writing.comments is Comments.EXISTING
    assert profile.writing.names.accepts("any name at all")


def test_games_are_stored_by_their_names():
    assert {game.value for game in Game} == {game.name for game in Game}
