"""Rules that several games have."""

from __future__ import annotations

import pytest
from md5_game_models import model

from io_idtech.io_md5.format.games import profiles
from io_idtech.io_md5.format.games.checks import Subject


def codes(rule, subject):
    return [(finding.code, finding.is_error) for finding in rule.check(rule, subject)]


@pytest.mark.parametrize(
    ("rule", "fits", "breaks"),
    [
        (profiles.joint_count("E", "s", 3), model(joints=3), model(joints=4)),
        (profiles.vertex_count("E", "s", 3), model(vertices=3), model(vertices=4)),
        (profiles.no_meshes("E", "s"), model(meshes=1), model(meshes=0)),
    ],
    ids=lambda value: getattr(value, "code", ""),
)
def test_a_limit_is_broken_by_one_more(rule, fits, breaks):
    assert codes(rule, Subject(model=fits)) == []
    assert codes(rule, Subject(model=breaks)) == [(rule.code, True)]


@pytest.mark.parametrize("is_error", [False, True])
def test_more_than_four_weights_are_cut_or_refused(is_error):
    rule = profiles.influences("E", "s", is_error=is_error)
    subject = model(vertices=1, triangles=0, weights=5)
    subject.meshes[0].weight_starts[:], subject.meshes[0].weight_counts[:] = 0, 4
    assert codes(rule, Subject(model=subject)) == []
    subject.meshes[0].weight_counts[:] = 5
    assert codes(rule, Subject(model=subject)) == [("influences", is_error)]


def test_biases_may_miss_1_by_the_limit():
    rule = profiles.bias_sums("E", 0.01, "scaled", "s")
    subject = model()
    subject.meshes[0].weight_biases[:] = 0.995
    assert codes(rule, Subject(model=subject)) == []
    subject.meshes[0].weight_biases[:] = 0.98
    assert codes(rule, Subject(model=subject)) == [("bias_sums", False)]


def test_as_warning_changes_nothing_but_the_kind():
    rule = profiles.no_meshes("E", "s")
    warning = profiles.as_warning(rule)
    assert not warning.is_error
    assert (warning.code, warning.limit, warning.requirement) == (rule.code, rule.limit, rule.requirement)


def test_no_two_rules_of_every_game_have_one_code():
    assert len({rule.code for rule in profiles.COMMON}) == len(profiles.COMMON)
