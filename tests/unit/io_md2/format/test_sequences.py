"""Sequences, found from the names of frames."""

from __future__ import annotations

import pytest

from io_idtech.io_md2.format import PLAYER_SEQUENCES, FrameSequence, find_sequences, number_digits, split_frame_name


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

    @pytest.mark.parametrize(
        ("names", "expected"),
        [
            (["run000", "run005", "attak000", "pain1000", "pain1003", "die1110", "die1245"],
             ["run", "attak", "pain1", "die1"]),
            (["stand1", "stand2", "run001", "run002", "flip1", "flip2"], ["stand", "run", "flip"]),
            (["stand001", "stand040"], ["stand"]),
            (["walk98", "walk99", "walk100", "jump1"], ["walk", "jump"]),
            (["stand01", "run1", "pain101", "pain102", "pain201"], ["stand", "run", "pain1", "pain2"]),
            (["pain101", "pain102", "pain201"], ["pain1", "pain2"]),
            (["stand24", "sas024", "stand26"], ["stand", "sas", "stand"]),
            (["pain001", "pain101", "x1", "x2", "x3"], ["pain0", "pain1", "x"]),
            (["stop_0000"], ["stop_"]),
        ],
    )  # fmt: skip
    def test_the_length_of_numbers_is_decided_over_the_whole_model(self, names: list[str], expected: list[str]) -> None:
        assert [sequence.name for sequence in find_sequences(names)] == expected

    def test_numbers_have_two_digits_unless_the_model_pads_or_counts_further(self) -> None:
        assert number_digits([]) == number_digits(["hold", "pain101", "run1"]) == 2
        assert number_digits(["run000", "run001", "pain1000"]) == 3
        assert number_digits([f"walk{number}" for number in range(95, 105)]) == 3
        assert number_digits([f"walk{number:04d}" for number in range(995, 1005)]) == 4

    def test_no_frames(self) -> None:
        assert find_sequences([]) == []
