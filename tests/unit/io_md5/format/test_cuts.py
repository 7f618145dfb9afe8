"""Which entry of a camera each frame of its playing time shows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from io_idtech.io_md5.format.text.camera_file import cuts_at, timeline

quick = settings(max_examples=150)


# There and back


@quick
@given(st.lists(st.integers(0, 11), max_size=12), st.integers(12, 14))
def test_the_timeline_of_any_cuts_is_what_doom_3_plays(cuts, entry_count):
    """`idCameraAnim::GetViewParms`, frame by frame: it goes through the cuts and stops at the first that is to come."""
    entries, instants = timeline(np.array(cuts, dtype=np.int32), entry_count)
    played = []
    for frame in range(entry_count):
        entry, passed = frame, 0
        for cut in cuts:
            if entry < cut:
                break
            entry, passed = entry + 1, passed + 1
        played.append((entry, passed))
    shown = [entry for entry, _ in played if entry < entry_count]
    assert entries.tolist() == (shown or [entry_count - 1])
    for index, instant in enumerate(instants.tolist()):
        assert [passed > index for _, passed in played] == [frame >= instant for frame in range(entry_count)]


def entry_at(frame, cuts):
    """Doom 3's rule, word by word."""
    for cut in cuts:
        if frame < cut:
            break
        frame += 1
    return frame


@pytest.mark.parametrize("cuts", [[], [1], [4], [9], [2, 5], [2, 3], [1, 2, 3], [0], [0, 4], [3, 3], [6, 2], [8, 9]])
def test_the_timeline_is_that_of_the_engine(cuts):
    shown, instants = timeline(np.array(cuts, dtype=np.int32), 10)
    frames = [entry_at(frame, cuts) for frame in range(11)]
    assert shown.tolist() == [entry for entry in frames if entry < 10]
    assert len(shown) == 10 - len(cuts)
    skipped = [frame for frame in range(11) for _ in range(frames[frame] - (frames[frame - 1] if frame else -1) - 1)]
    assert instants.tolist() == skipped
    rising = all(cut > before for before, cut in zip([-1, *cuts], cuts, strict=False))
    assert cuts_at(instants).tolist() == cuts or not rising


def test_a_camera_that_is_all_cuts_stays_on_its_last_entry():
    shown, instants = timeline(np.array([0], dtype=np.int32), 1)
    assert shown.tolist() == [0]
    assert instants.tolist() == [0]
