"""What a template of a kind of model asks for."""

from __future__ import annotations

from io_idtech.io_md2.format import PLAYER_SEQUENCES
from io_idtech.io_md2.format.games import match_template

PLAYER = [(one.name, one.frame_count) for one in PLAYER_SEQUENCES]


def test_a_player_has_198_frames_in_20_sequences_with_the_counts_of_the_game():
    assert sum(count for _, count in PLAYER) == 198
    assert PLAYER == [
        ("stand", 40), ("run", 6), ("attack", 8), ("pain1", 4), ("pain2", 4), ("pain3", 4), ("jump", 6), ("flip", 12),
        ("salute", 11), ("taunt", 17), ("wave", 11), ("point", 12), ("crstnd", 19), ("crwalk", 6), ("crattak", 9),
        ("crpain", 4), ("crdeath", 5), ("death1", 6), ("death2", 6), ("death3", 8),
    ]  # fmt: skip


def test_a_player_in_any_order_and_case_fits_in_the_order_of_the_game():
    given = [(name.upper(), count) for name, count in reversed(PLAYER)]
    assert match_template("QUAKE2_PLAYER", given) == (list(range(19, -1, -1)), [])


def test_missing_wrong_unknown_and_repeated_sequences_are_told():
    given = [("stand", 39), *PLAYER[2:], ("attack", 8), ("dance", 3)]
    assert match_template("QUAKE2_PLAYER", given)[1] == [
        "stand: 39 frames instead of 40",
        "run: no animation, needs 6 frames",
        "not in the template, or there twice: attack, dance",
    ]


def test_nothing_at_all_misses_everything():
    order, problems = match_template("QUAKE2_PLAYER", [])
    assert order == []
    assert problems == [f"{name}: no animation, needs {count} frames" for name, count in PLAYER]


def test_without_a_template_everything_fits_in_its_order():
    assert match_template("NONE", [("a", 1), ("a", 2), ("", 0)]) == ([0, 1, 2], [])
