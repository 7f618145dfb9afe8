"""Checks of joints and headers, for both mesh and animation files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np

from ....io_common.counting import counted
from ....io_common.findings import Finding
from ..model import ROOT, Floats, Ints
from ..validation import is_writable
from .names import NameRule
from .rules import Rule, Subject, listing


def joint_names(subject: Subject) -> list[str]:
    """The names of the joints of the file."""
    if subject.model is not None:
        return subject.model.joints.names
    return subject.animation.names if subject.animation is not None else []


def joint_parents(subject: Subject) -> Ints:
    """The parents of the joints of the file."""
    if subject.model is not None:
        return subject.model.joints.parents
    return subject.animation.parents if subject.animation is not None else np.empty(0, dtype=np.int32)


def no_joints(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """There is no joint."""
    if subject.camera is None and not joint_names(subject):
        yield rule.finding("there are no joints", 0)


def joint_count(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """There are more joints than the limit."""
    count = len(joint_names(subject))
    if count > rule.limit:
        yield rule.finding(counted(count, "joints"), count, joints=range(int(rule.limit), count))


def parents_first(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """A joint comes before its parent."""
    names, parents = joint_names(subject), joint_parents(subject)
    late = np.flatnonzero(parents >= np.arange(len(parents)))
    if len(late):
        listed = listing([names[joint] for joint in late])
        yield rule.finding(f"joints come before their parents: {listed}", listed, joints=late)


def parent_indices(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """A parent has a higher index than the limit."""
    names, parents = joint_names(subject), joint_parents(subject)
    far = np.flatnonzero(parents > rule.limit)
    if len(far):
        listed = listing([names[joint] for joint in far])
        yield rule.finding(
            f"{counted(len(far), 'joints', 'have')} a parent with an index over {rule.limit:g}: {listed}",
            int(parents.max()),
            joints=far,
        )


def several_roots(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """There is more than one root joint."""
    names, roots = joint_names(subject), np.flatnonzero(joint_parents(subject) == ROOT)
    if len(roots) > 1:
        listed = listing([names[joint] for joint in roots])
        yield rule.finding(f"{len(roots)} root bones: {listed}", len(roots), joints=roots)


def root_away(rule: Rule, name: str, position: Floats) -> Iterator[Finding]:
    """A root joint is away from the origin; the text is the same for a mesh and its animations."""
    distance = float(np.linalg.norm(position))
    if distance > rule.limit:
        yield rule.finding(f"the root joint {name!r} is not at the origin", f"{distance:.6g}", joints=[0])


def repeated_names(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """Joint names are not unique."""
    names = joint_names(subject)
    repeated = {name for name, count in Counter(names).items() if count > 1}
    if repeated:
        joints = [joint for joint, name in enumerate(names) if name in repeated]
        listed = listing(list(dict.fromkeys(names[joint] for joint in joints)))
        yield rule.finding(f"joints with the same name: {listed}", listed, joints=joints)


def unnamed_joints(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """A joint has no name."""
    joints = [joint for joint, name in enumerate(joint_names(subject)) if not name]
    if joints:
        yield rule.finding(f"{counted(len(joints), 'joints', 'have')} no name", len(joints), joints=joints)


def unwritable_names(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """A joint name cannot be written as a string."""
    names = joint_names(subject)
    joints = [joint for joint, name in enumerate(names) if not is_writable(name)]
    if joints:
        listed = listing([repr(names[joint]) for joint in joints])
        yield rule.finding(
            f"joint names contain a double quote or a line break: {listed}", listed, joints=joints
        )


def unsafe_names(names: NameRule, rule: Rule, subject: Subject) -> Iterator[Finding]:
    """The game does not accept a joint name."""
    all_names = joint_names(subject)
    joints = [joint for joint, name in enumerate(all_names) if not names.accepts(name)]
    if joints:
        listed = listing([repr(all_names[joint]) for joint in joints])
        yield rule.finding(f"joint names {names.problem}: {listed}", listed, joints=joints)


def commandline_length(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """The command line is longer than the limit, in bytes."""
    file = subject.model or subject.animation
    length = len(file.commandline.encode("utf-8", "surrogateescape")) if file is not None else 0
    if length > rule.limit:
        yield rule.finding(f"a command line of {counted(length, 'bytes')}", length)
