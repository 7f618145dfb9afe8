"""Quake's .mdl file: frame names, groups and skins; damage is refused."""

from __future__ import annotations

import struct

import pytest
from md5_targets import MDL

from io_idtech.io_md5.format import Md5Error
from io_idtech.io_md5.format.mdl_file import parse_mdl, read_mdl

SKIN_COUNT = 48


def test_frames_groups_and_skins_are_read(tmp_path):
    (tmp_path / "ogre.mdl").write_bytes(MDL)
    model = read_mdl(tmp_path / "ogre.mdl")
    assert model.frames == ["stand1", "stand1", "stand1"]
    assert model.groups == [(1, 2)]
    assert (model.skin_count, model.skin_size) == (2, (4, 2))


def test_every_shorter_file_is_refused():
    for length in range(len(MDL)):
        with pytest.raises(Md5Error):
            parse_mdl(MDL[:length])


def test_other_files_and_versions_are_refused():
    for data in (b"IDP2" + MDL[4:], MDL[:4] + struct.pack("<i", 7) + MDL[8:]):
        with pytest.raises(Md5Error, match="not an MDL file of Quake"):
            parse_mdl(data)


@pytest.mark.parametrize("number", range(6))
@pytest.mark.parametrize("value", [-1, 1 << 30])
def test_impossible_counts_are_refused_at_once(number, value):
    at = SKIN_COUNT + 4 * number
    with pytest.raises(Md5Error, match="invalid number of"):
        parse_mdl(MDL[:at] + struct.pack("<i", value) + MDL[at + 4 :])


def test_an_impossible_group_is_refused_with_its_place():
    at = MDL.index(struct.pack("<ii", 1, 2), 84)
    with pytest.raises(Md5Error, match=f"at byte {at + 4}; found -5"):
        parse_mdl(MDL[: at + 4] + struct.pack("<i", -5) + MDL[at + 8 :])
