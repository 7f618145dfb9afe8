"""Checks of .md5camera files."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ....io_common.counting import counted
from ....io_common.findings import Finding
from .rules import Rule, Subject, listing


def camera_path(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """There is a camera path at all."""
    if subject.camera is not None:
        yield rule.finding("a camera path")


def first_cut(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """A cut is before the limit."""
    if subject.camera is not None and (subject.camera.cuts < rule.limit).any():
        yield rule.finding("a cut at frame 0", 0)


def cut_groups(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """Something follows the number of a cut."""
    camera = subject.camera
    if camera is None:
        return
    cuts = [int(cut) for cut, text in zip(camera.cuts, camera.cut_groups, strict=False) if text]
    if cuts:
        have = counted(len(cuts), "cuts", "have")
        yield rule.finding(
            f"{have} a position of the player, such as pos ( … ) rot ( … ): {listing(cuts)}", len(cuts)
        )


def fields_of_view(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """A field of view is not above 0."""
    if subject.camera is None:
        return
    angles = subject.camera.fields_of_view
    bad = np.flatnonzero(~(angles > 0.0))
    if len(bad):
        frames = counted(len(bad), "frames", "have")
        yield rule.finding(
            f"{frames} a field of view of 0 or less: {listing(bad.tolist())}", f"{angles[bad[0]]:g}"
        )
