"""Checks of animations."""

from __future__ import annotations

from md5_game_models import animation
from md5_samples import MESH

from io_idtech.io_md5.format import parse_mesh
from io_idtech.io_md5.format.check import check_animation


def test_an_animation_of_other_joints_is_refused_by_name():
    joints = parse_mesh(MESH.encode()).joints
    assert check_animation(animation(), joints) == []
    joints.names[2] = "skull"
    (finding,) = check_animation(animation(), joints)
    assert (finding.code, finding.is_error, finding.joints) == ("other_joints", True, (2,))
    assert "head" in finding.text
