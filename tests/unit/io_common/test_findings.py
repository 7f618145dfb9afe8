"""Findings as a user reads them."""

from __future__ import annotations

import dataclasses

import pytest

from io_idtech.io_common.rules import Finding


def test_a_finding_is_printed_as_its_text():
    assert str(Finding("joint_count", True, "200 joints: remove bones")) == "200 joints: remove bones"


def test_a_finding_cannot_be_changed():
    finding = Finding("joint_count", True, "200 joints")
    with pytest.raises(dataclasses.FrozenInstanceError):
        finding.is_error = False
