"""Checks of the scales beside an animation."""

from __future__ import annotations

import json
from collections.abc import Iterator

import numpy as np

from ....io_common.counting import counted
from ....io_common.findings import Finding
from .rules import Rule, Subject, listing


def scale_count(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """The file of scales has more JSON tokens than the limit."""
    if subject.scales is None:
        return
    per_joint = subject.scales.counts()
    joints = int((per_joint > 0).sum())
    values = int(per_joint.sum()) + int((subject.scales.scales_position & (per_joint > 0)).sum())
    # One for the file, two for each joint, and a key and a value for each scale.
    tokens = 1 + 2 * joints + 2 * values
    if tokens > rule.limit:
        found = f"{counted(values, 'scales')} of {counted(joints, 'joints')}"
        yield rule.finding(f"{found} are {counted(tokens, 'JSON tokens')}", tokens)


def scale_names(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """A scaled joint has a name that is longer than the limit, or that JSON cannot hold as it is."""
    if subject.scales is None or subject.animation is None:
        return
    names = subject.animation.names
    wrong = [
        joint
        for joint in np.flatnonzero(subject.scales.counts()).tolist()
        if len(names[joint].encode("utf-8", "surrogateescape")) > rule.limit
        or json.dumps(names[joint], ensure_ascii=False) != f'"{names[joint]}"'
    ]
    if wrong:
        listed = listing([repr(names[joint]) for joint in wrong])
        yield rule.finding(
            f"scaled joints with long names or special characters: {listed}", listed, joints=wrong
        )
