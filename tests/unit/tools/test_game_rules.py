"""The documentation page of the games' rules lists what the profiles contain."""

from __future__ import annotations

import importlib.util

from paths import ROOT

from io_idtech.io_md2.format import games as md2
from io_idtech.io_md5.format.games import profiles as md5

PAGE = ROOT / "docs" / "game-rules.md"


def tool():
    spec = importlib.util.spec_from_file_location("game_rules", ROOT / "tools" / "game_rules.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_current():
    assert tool().tables() in PAGE.read_text(encoding="utf-8"), "python tools/game_rules.py --write"


def test_the_page_lists_every_rule_of_every_game_with_the_file_of_its_source():
    text, place = PAGE.read_text(encoding="utf-8"), tool().place
    for games in (md5, md2):
        for profile in games.PROFILES.values():
            assert f"`{profile.game.value}`" in text
            for rule in (*games.COMMON, *profile.rules):
                assert rule.requirement in text
                assert place(rule.source) in text
