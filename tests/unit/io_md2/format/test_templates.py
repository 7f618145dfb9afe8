"""What a template of a kind of model asks for."""

from __future__ import annotations

from io_idtech.io_md2.format.games import Template, match_template

PLAYER = list(Template.QUAKE2_PLAYER.counts.items())


def test_a_player_has_198_frames_in_20_sequences_with_the_counts_of_the_game():
    assert sum(count for _, count in PLAYER) == 198
    assert PLAYER == [
        ("stand", 40), ("run", 6), ("attack", 8), ("pain1", 4), ("pain2", 4), ("pain3", 4), ("jump", 6), ("flip", 12),
        ("salute", 11), ("taunt", 17), ("wave", 11), ("point", 12), ("crstnd", 19), ("crwalk", 6), ("crattak", 9),
        ("crpain", 4), ("crdeath", 5), ("death1", 6), ("death2", 6), ("death3", 8),
    ]  # fmt: skip


def test_a_player_in_any_order_and_case_fits_in_the_order_of_the_game():
    given = [(name.upper(), count) for name, count in reversed(PLAYER)]
    match = match_template(Template.QUAKE2_PLAYER, given)
    assert match.problems == []
    assert match.order == tuple(range(19, -1, -1))


def test_missing_wrong_unknown_and_repeated_sequences_are_told():
    given = [("stand", 39), *PLAYER[2:], ("attack", 8), ("dance", 3)]
    match = match_template(Template.QUAKE2_PLAYER, given)
    assert match.missing == (("run", 6),)
    assert match.wrong == (("stand", 39, 40),)
    assert match.unknown == ("attack", "dance")
    assert len(match.problems) == 3


def test_nothing_at_all_misses_everything():
    match = match_template(Template.QUAKE2_PLAYER, [])
    assert match.missing == tuple(PLAYER)
    assert match.order == ()


def test_without_a_template_everything_fits_in_its_order():
    match = match_template(Template.NONE, [("a", 1), ("a", 2), ("", 0)])
    assert match.problems == []
    assert match.order == (0, 1, 2)
