"""What is checked, and checks of joints, headers, animations, joint scales and camera paths; see `mesh_checks`."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ....io_common.rules import Check, Finding, Rule
from ....io_common.skeletal.model import ROOT, Animation, Joints, Model
from ....io_common.skeletal.scales import ScaleTable
from ....io_common.skeletal.skeleton import is_animated
from ....io_common.skeletal.validation import are_outside
from ....io_common.texts import counted, listing
from ..model import Camera
from ..validation import is_writable

_ZERO = 1e-6  # smaller components of the base frame count as 0


@dataclass(frozen=True)
class Subject:
    """What is checked: a model, an animation or a camera."""

    model: Model | None = None
    animation: Animation | None = None
    mesh_joints: Joints | None = None  # of the model that the animation is for
    has_animation: bool | None = None  # beside the mesh; None if unknown
    scales: ScaleTable | None = None  # of the animation's joints
    camera: Camera | None = None
    animations: Sequence[Animation] = ()  # of the model, in whose poses it is checked too

    @cached_property
    def joints(self) -> Joints:
        """The joints of the file: the bind pose, or the base frame, where w of orientations is 0."""
        if self.model is not None or self.animation is None:
            return self.model.joints if self.model is not None else Joints([])
        one = self.animation
        orientations = np.insert(one.base_orientations, 0, 0.0, axis=1)
        return Joints(one.names, one.parents, one.base_positions, orientations)


@dataclass(frozen=True)
class NameRule:
    """A game's limits on joint names, besides those of the format."""

    max_bytes: int = 0  # in UTF-8; 0 for no limit
    forbidden: str = ""  # characters, as a regular expression
    problem: str = ""  # with other names, for messages

    def accepts(self, name: str) -> bool:
        """Whether the game accepts a name."""
        fits = not self.max_bytes or byte_count(name) <= self.max_bytes
        return fits and not (self.forbidden and re.search(self.forbidden, name))


def byte_count(text: str) -> int:
    """The bytes of a text in a file."""
    return len(text.encode("utf-8", "surrogateescape"))


PartCheck = Callable[[Rule, Any, Subject], Iterator[Finding]]  # a check of a part of a subject, as of one mesh


def about(kind: str) -> Callable[[PartCheck], Check]:
    """A check of one kind of file, an attribute of the subject; others pass."""

    def decorate(check: PartCheck) -> Check:
        def check_kind(rule: Rule, subject: Subject) -> Iterator[Finding]:
            file = getattr(subject, kind)
            if file is not None:
                yield from check(rule, file, subject)

        return check_kind

    return decorate


def at_most(what: str, count_of: Callable[[Any], int], *, selected: bool = False) -> PartCheck:
    """A check that a number is not above the limit; what is beyond can be selected."""

    def check(rule: Rule, part: Any, _subject: Subject) -> Iterator[Finding]:
        count = count_of(part)
        if count > rule.limit:
            beyond: dict[str, Any] = {what: range(int(rule.limit), count)} if selected else {}
            yield rule.finding(counted(count, what), count, **beyond)

    return check


def stating(text: str, found_in: Callable[[Any], object]) -> PartCheck:
    """A check that finds what a function gives, if anything, which the text may contain."""

    def check(rule: Rule, part: Any, _subject: Subject) -> Iterator[Finding]:
        found = found_in(part)
        if found:
            yield rule.finding(text.format(found), "" if found is True else found)

    return check


def no_joints(rule: Rule, subject: Subject) -> Iterator[Finding]:
    if subject.camera is None and not subject.joints.names:
        yield rule.finding("there are no joints", 0)


joint_count = about("joints")(at_most("joints", len, selected=True))


def parents_first(rule: Rule, subject: Subject) -> Iterator[Finding]:
    late = np.flatnonzero(subject.joints.parents >= np.arange(len(subject.joints.parents)))
    yield from _named(rule, subject, late, "joints come before their parents")


def parent_indices(rule: Rule, subject: Subject) -> Iterator[Finding]:
    far = np.flatnonzero(subject.joints.parents > rule.limit)
    what = f"{counted(len(far), 'joints', 'have')} a parent with an index over {rule.limit:g}"
    yield from _named(rule, subject, far, what, found=int(subject.joints.parents.max(initial=ROOT)))


def several_roots(rule: Rule, subject: Subject) -> Iterator[Finding]:
    roots = np.flatnonzero(subject.joints.parents == ROOT)
    if len(roots) > 1:
        yield from _named(rule, subject, roots, f"{len(roots)} root bones", found=len(roots))


model_roots = about("model")(lambda rule, _model, subject: several_roots(rule, subject))
animation_roots = about("animation")(lambda rule, _animation, subject: several_roots(rule, subject))


def root_away(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """The first joint of a mesh, or its base translation in an animation, is farther from the origin than the limit."""
    positions, mesh = subject.joints.positions, subject.mesh_joints
    distance = float(np.linalg.norm(positions[0])) if len(positions) else 0.0
    if distance > rule.limit:
        if mesh is not None and mesh.names[:1] == ["origin"] and np.linalg.norm(mesh.positions[0]) <= rule.limit:
            # Add Root Bone adds none above a joint of that name which is there in the mesh.
            rule = replace(rule, remedy="key it at the origin in the first frame")
        text = f"the root joint {subject.joints.names[0]!r} is not at the origin"
        yield rule.finding(text, f"{distance:.6g}", joints=[0])


model_root_away = about("model")(lambda rule, _model, subject: root_away(rule, subject))
base_root_away = about("animation")(lambda rule, _animation, subject: root_away(rule, subject))


def repeated_names(rule: Rule, subject: Subject) -> Iterator[Finding]:
    repeated = {name for name, count in Counter(subject.joints.names).items() if count > 1}
    if repeated:
        joints = [joint for joint, name in enumerate(subject.joints.names) if name in repeated]
        listed = listing(list(dict.fromkeys(subject.joints.names[joint] for joint in joints)))
        yield rule.finding(f"joints with the same name: {listed}", listed, joints=joints)


def unnamed_joints(rule: Rule, subject: Subject) -> Iterator[Finding]:
    joints = [joint for joint, name in enumerate(subject.joints.names) if not name]
    if joints:
        yield rule.finding(f"{counted(len(joints), 'joints', 'have')} no name", len(joints), joints=joints)


def unwritable_names(rule: Rule, subject: Subject) -> Iterator[Finding]:
    joints = [joint for joint, name in enumerate(subject.joints.names) if not is_writable(name)]
    yield from _named(rule, subject, joints, "joint names contain a double quote or a line break", quoted=True)


def unsafe_names(names: NameRule, rule: Rule, subject: Subject) -> Iterator[Finding]:
    joints = [joint for joint, name in enumerate(subject.joints.names) if not names.accepts(name)]
    yield from _named(rule, subject, joints, f"joint names {names.problem}", quoted=True)


def _named(
    rule: Rule, subject: Subject, joints: npt.ArrayLike, what: str, *, found: object = None, quoted: bool = False
) -> Iterator[Finding]:
    numbers = np.asarray(joints).tolist()
    if numbers:
        names = [subject.joints.names[joint] for joint in numbers]
        listed = listing([repr(name) for name in names] if quoted else names)
        yield rule.finding(f"{what}: {listed}", listed if found is None else found, joints=numbers)


def commandline_length(rule: Rule, subject: Subject) -> Iterator[Finding]:
    file = subject.model or subject.animation
    length = byte_count(file.commandline) if file is not None else 0
    if length > rule.limit:
        yield rule.finding(f"a command line of {counted(length, 'bytes')}", length)


def joint_numbers(rule: Rule, subject: Subject) -> Iterator[Finding]:
    numbers = np.column_stack([subject.joints.positions, subject.joints.orientations])
    bad = np.flatnonzero(~np.isfinite(numbers).all(axis=1))
    yield from _named(rule, subject, bad, "a joint has a number that is not finite", found="")


@about("animation")
def frame_numbers(rule: Rule, animation: Animation, _subject: Subject) -> Iterator[Finding]:
    bad = np.flatnonzero(~np.isfinite(animation.frames).all(axis=1))
    if len(bad):
        yield rule.finding(f"frame {bad[0]} holds a number that is not finite", int(bad[0]))


no_frames = about("animation")(stating("there are no frames", lambda animation: animation.frame_count == 0))
frame_count = about("animation")(at_most("frames", lambda animation: animation.frame_count))


def _rate(is_wrong: Callable[[float], bool], *, has_fraction: bool = False) -> Check:
    """A check of the frame rate of an animation or camera; of one with a fraction, it gives the rate in the game."""

    def check(rule: Rule, subject: Subject) -> Iterator[Finding]:
        file = subject.animation or subject.camera
        if file is not None and is_wrong(file.frame_rate):
            text = found = f"{file.frame_rate:g}"
            if has_fraction:
                text += f": {rule.engine} will play {counted(math.floor(file.frame_rate), 'frames')} per second"
            yield rule.finding(f"a frame rate of {text}", found)

    return check


rate_positive = _rate(lambda rate: not rate > 0.0)
rate_below_one = _rate(lambda rate: 0.0 < rate < 1.0)
rate_fraction = _rate(lambda rate: 1.0 <= rate < math.inf and rate != math.floor(rate), has_fraction=True)


@about("animation")
def bounds_count(rule: Rule, animation: Animation, _subject: Subject) -> Iterator[Finding]:
    count = len(animation.bounds)
    if count != animation.frame_count:
        yield rule.finding(f"there are bounds for {counted(count, 'frames')} instead of {animation.frame_count}", count)


@about("animation")
def components(rule: Rule, animation: Animation, subject: Subject) -> Iterator[Finding]:
    """A joint's components do not exist: starts must be in [0, C) even where no flag is set, if C is not 0."""
    count = animation.frames.shape[1] if animation.frames.ndim == 2 else 0
    sizes = is_animated(animation.flags).sum(axis=1)
    wrong = np.flatnonzero(are_outside(animation.starts, sizes, count) | ((count > 0) & (animation.starts >= count)))
    yield from _named(rule, subject, wrong, "components of joints do not exist")


@about("animation")
def other_joints(rule: Rule, animation: Animation, subject: Subject) -> Iterator[Finding]:
    """The joints are not those of the mesh, index by index."""
    joints = subject.mesh_joints
    if joints is None:
        return
    count = len(animation.names)
    if count != len(joints):
        yield rule.finding(f"{counted(count, 'joints')}, but {len(joints)} in the mesh", count)
        return
    differs = np.array(animation.names, object) != np.array(joints.names, object)
    differs |= animation.parents != joints.parents
    what = "its joints are not those of the mesh, index by index"
    yield from _named(rule, subject, np.flatnonzero(differs), what)


@about("animation")
def base_frame_needed(rule: Rule, animation: Animation, subject: Subject) -> Iterator[Finding]:
    """A component without a flag is not 0 in the base frame."""
    base = np.column_stack([animation.base_positions, animation.base_orientations])
    joints = np.flatnonzero(((np.abs(base) > _ZERO) & ~is_animated(animation.flags)).any(axis=1))
    what = f"components of {counted(len(joints), 'joints')} are only in the base frame"
    yield from _named(rule, subject, joints, what, found=len(joints))


def scale_count(rule: Rule, subject: Subject) -> Iterator[Finding]:
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
    if subject.scales is None:
        return
    wrong = [
        joint
        for joint in np.flatnonzero(subject.scales.counts()).tolist()
        for name in [subject.joints.names[joint]]
        if byte_count(name) > rule.limit or json.dumps(name, ensure_ascii=False) != f'"{name}"'
    ]
    yield from _named(rule, subject, wrong, "scaled joints with long names or special characters", quoted=True)


camera_path = about("camera")(stating("a camera path", lambda camera: True))
first_cut = about("camera")(stating("a cut at frame 0", lambda camera: bool((camera.cuts < 1).any())))


@about("camera")
def cut_groups(rule: Rule, camera: Camera, _subject: Subject) -> Iterator[Finding]:
    cuts = [int(cut) for cut, text in zip(camera.cuts, camera.cut_groups, strict=False) if text]
    if cuts:
        have = counted(len(cuts), "cuts", "have")
        what = f"{have} a position of the player, such as pos ( … ) rot ( … ): {listing(cuts)}"
        yield rule.finding(what, len(cuts))


@about("camera")
def fields_of_view(rule: Rule, camera: Camera, _subject: Subject) -> Iterator[Finding]:
    bad = np.flatnonzero(~(camera.fields_of_view > 0.0))
    if len(bad):
        frames = counted(len(bad), "frames", "have")
        what = f"{frames} a field of view of 0 or less: {listing(bad.tolist())}"
        yield rule.finding(what, f"{camera.fields_of_view[bad[0]]:g}")
