"""Names for frames that have none yet."""

from __future__ import annotations

import pytest

pytest.importorskip("hypothesis", reason="the property tests need hypothesis")
from hypothesis import given, settings
from hypothesis import strategies as st

from io_idtech.io_common.frames import clean_name, make_unique, number_frames
from io_idtech.io_md2.format import find_sequences

quick = settings(max_examples=80)


class TestNaming:
    @pytest.mark.parametrize(
        ("name", "cleaned"),
        [
            ("stand01", "stand01"),
            ("Key 1", "Key_1"),
            ("  run\t1 \n", "run_1"),
            ("日本1", "__1"),
            ("café", "café"),
            ("what?", "what?"),
            ("a_name_that_is_longer", "a_name_that_is_"),
            ("", ""),
        ],
    )
    def test_names_are_made_valid(self, name: str, cleaned: str) -> None:
        assert clean_name(name) == cleaned

    def test_numbers_are_those_of_ids_models(self) -> None:
        names = number_frames(["run"] * 6 + ["stand"] * 12 + ["pain1"] * 2)
        assert names[:2] == ["run1", "run2"]
        assert names[6] == "stand01"
        assert names[17] == "stand12"
        assert names[18:] == ["pain101", "pain102"]

    def test_frames_of_nothing_are_frame001_and_so_on(self) -> None:
        assert number_frames(["", ""]) == ["frame001", "frame002"]

    def test_numbers_of_sequences_that_end_in_a_digit_are_as_long_as_the_longest(self) -> None:
        names = number_frames(["walk"] * 120 + ["pain1"] * 2 + ["run"])
        assert names[120:] == ["pain1001", "pain1002", "run1"]
        assert number_frames(["pain1", "jump"], digits=3) == ["pain1001", "jump1"]

    @quick
    @given(
        st.lists(
            st.tuples(st.sampled_from(["run", "stand", "pain1", "pain2", "death_a", "jump3"]), st.integers(1, 130)),
            min_size=1, max_size=5, unique_by=lambda pair: pair[0],
        )
    )  # fmt: skip
    def test_sequences_are_found_again_by_the_names_of_their_frames(self, runs: list[tuple[str, int]]) -> None:
        names = number_frames([name for name, count in runs for _ in range(count)])
        assert [(found.name, found.frame_count) for found in find_sequences(names)] == runs

    def test_a_repeated_sequence_continues_its_numbering(self) -> None:
        assert number_frames(["run", "jump", "run"]) == ["run1", "jump1", "run2"]

    def test_long_prefixes_are_cut_before_the_number(self) -> None:
        names = number_frames(["a_very_long_sequence"] * 120)
        assert names[0] == "a_very_long_001"
        assert names[-1] == "a_very_long_120"
        assert max(map(len, names)) == 15

    def test_repeated_and_empty_names_are_changed(self) -> None:
        names = make_unique(["run1", "run1", "", "x", "x"], taken=["run1", "x"])
        assert len({*names, "run1", "x"}) == 7
        assert all(0 < len(name) <= 15 for name in names)
        assert names[2].startswith("frame")
