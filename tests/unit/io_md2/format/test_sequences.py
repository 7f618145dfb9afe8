"""Sequences, found from the names of frames."""

from __future__ import annotations

import pytest

from io_md2.format import (
    PLAYER_SEQUENCES,
    FrameSequence,
    find_sequences,
    split_frame_name,
)


class TestSequences:
    @pytest.mark.parametrize(
        ("name", "expected"),
        [
            ("stand01", ("stand", 1)),
            ("run1", ("run", 1)),
            ("pain101", ("pain1", 1)),
            ("death308", ("death3", 8)),
            ("hold", ("hold", None)),
            ("", ("", None)),
            ("12", ("", 12)),
            ("UA05S000", ("UA05S0", 0)),
            ("frame 7", ("frame ", 7)),
            ("line01\n", ("line01\n", None)),
            ("x\u0663", ("x\u0663", None)),
        ],
    )
    def test_names_and_numbers(self, name: str, expected: tuple[str, int | None]) -> None:
        assert split_frame_name(name) == expected

    def test_the_players_sequences_are_found(self) -> None:
        names = [f"{s.name}{i + 1:02d}" for s in PLAYER_SEQUENCES for i in range(s.frame_count)]
        assert len(names) == 198
        assert tuple(find_sequences(names)) == PLAYER_SEQUENCES

    def test_odd_names(self) -> None:
        names = ["hold", "hold", "", "", "run1", "run1", "run9", "jump", "run2"]
        assert find_sequences(names) == [
            FrameSequence("hold", 0, 1),
            FrameSequence("", 2, 3),
            FrameSequence("run", 4, 6),
            FrameSequence("jump", 7, 7),
            FrameSequence("run", 8, 8),
        ]

    def test_no_frames(self) -> None:
        assert find_sequences([]) == []
