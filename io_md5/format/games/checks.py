"""What is checked, and checks of joints, headers, animations, joint scales and camera paths; see `mesh_checks`."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ....io_common.rules import Check, Finding, Rule
from ....io_common.skeletal.model import ROOT, Animation, Floats, Ints, Joints, Model
from ....io_common.skeletal.scales import ScaleTable
from ....io_common.skeletal.skeleton import is_animated
from ....io_common.skeletal.validation import are_outside
from ....io_common.texts import counted, listing
from ..model import Camera
from ..validation import is_writable

# Smaller components of the base frame count as 0.
_ZERO = 1e-6


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

    @property
    def names(self) -> list[str]:
        """The names of the joints of the file."""
        joints = self.model.joints if self.model is not None else self.animation
        return joints.names if joints is not None else []

    @property
    def parents(self) -> Ints:
        """The parents of the joints of the file."""
        joints = self.model.joints if self.model is not None else self.animation
        return joints.parents if joints is not None else np.empty(0, dtype=np.int32)


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


PartCheck = Callable[[Rule, Any, Subject], Iterator[Finding]]
"""A check of a part of a subject, as of one mesh."""


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


# Joints, of a mesh or an animation


def no_joints(rule: Rule, subject: Subject) -> Iterator[Finding]:
    if subject.camera is None and not subject.names:
        yield rule.finding("there are no joints", 0)


def joint_count(rule: Rule, subject: Subject) -> Iterator[Finding]:
    count = len(subject.names)
    if count > rule.limit:
        yield rule.finding(counted(count, "joints"), count, joints=range(int(rule.limit), count))


def parents_first(rule: Rule, subject: Subject) -> Iterator[Finding]:
    late = np.flatnonzero(subject.parents >= np.arange(len(subject.parents)))
    yield from _named(rule, subject, late, "joints come before their parents")


def parent_indices(rule: Rule, subject: Subject) -> Iterator[Finding]:
    far = np.flatnonzero(subject.parents > rule.limit)
    what = f"{counted(len(far), 'joints', 'have')} a parent with an index over {rule.limit:g}"
    yield from _named(rule, subject, far, what, found=int(subject.parents.max(initial=ROOT)))


def several_roots(rule: Rule, subject: Subject) -> Iterator[Finding]:
    roots = np.flatnonzero(subject.parents == ROOT)
    if len(roots) > 1:
        yield from _named(rule, subject, roots, f"{len(roots)} root bones", found=len(roots))


model_roots = about("model")(lambda rule, _model, subject: several_roots(rule, subject))
animation_roots = about("animation")(lambda rule, _animation, subject: several_roots(rule, subject))


@about("model")
def root_away(rule: Rule, model: Model, _subject: Subject) -> Iterator[Finding]:
    if len(model.joints):
        yield from _away(rule, model.joints.names[0], model.joints.positions[0])


@about("animation")
def base_root_away(rule: Rule, animation: Animation, subject: Subject) -> Iterator[Finding]:
    """The first joint's base translation is farther from the origin than the limit."""
    if not len(animation.base_positions):
        return
    mesh = subject.mesh_joints
    if mesh is not None and mesh.names[:1] == ["origin"] and np.linalg.norm(mesh.positions[0]) <= rule.limit:
        # Add Root Bone adds none above a joint of that name which is there in the mesh.
        rule = replace(rule, remedy="key it at the origin in the first frame")
    yield from _away(rule, animation.names[0], animation.base_positions[0])


def _away(rule: Rule, name: str, position: Floats) -> Iterator[Finding]:
    """The text is the same for a mesh and its animations."""
    distance = float(np.linalg.norm(position))
    if distance > rule.limit:
        yield rule.finding(f"the root joint {name!r} is not at the origin", f"{distance:.6g}", joints=[0])


def repeated_names(rule: Rule, subject: Subject) -> Iterator[Finding]:
    repeated = {name for name, count in Counter(subject.names).items() if count > 1}
    if repeated:
        joints = [joint for joint, name in enumerate(subject.names) if name in repeated]
        listed = listing(list(dict.fromkeys(subject.names[joint] for joint in joints)))
        yield rule.finding(f"joints with the same name: {listed}", listed, joints=joints)


def unnamed_joints(rule: Rule, subject: Subject) -> Iterator[Finding]:
    joints = [joint for joint, name in enumerate(subject.names) if not name]
    if joints:
        yield rule.finding(f"{counted(len(joints), 'joints', 'have')} no name", len(joints), joints=joints)


def unwritable_names(rule: Rule, subject: Subject) -> Iterator[Finding]:
    joints = [joint for joint, name in enumerate(subject.names) if not is_writable(name)]
    yield from _named(rule, subject, joints, "joint names contain a double quote or a line break", quoted=True)


def unsafe_names(names: NameRule, rule: Rule, subject: Subject) -> Iterator[Finding]:
    joints = [joint for joint, name in enumerate(subject.names) if not names.accepts(name)]
    yield from _named(rule, subject, joints, f"joint names {names.problem}", quoted=True)


def _named(
    rule: Rule, subject: Subject, joints: npt.ArrayLike, what: str, *, found: object = None, quoted: bool = False
) -> Iterator[Finding]:
    numbers = np.asarray(joints).tolist()
    if numbers:
        names = [subject.names[joint] for joint in numbers]
        listed = listing([repr(name) for name in names] if quoted else names)
        yield rule.finding(f"{what}: {listed}", listed if found is None else found, joints=numbers)


def commandline_length(rule: Rule, subject: Subject) -> Iterator[Finding]:
    file = subject.model or subject.animation
    length = byte_count(file.commandline) if file is not None else 0
    if length > rule.limit:
        yield rule.finding(f"a command line of {counted(length, 'bytes')}", length)


# Animations


def joint_numbers(rule: Rule, subject: Subject) -> Iterator[Finding]:
    if subject.model is not None:
        tables = [subject.model.joints.positions, subject.model.joints.orientations]
    elif subject.animation is not None:
        tables = [subject.animation.base_positions, subject.animation.base_orientations]
    else:
        return
    bad = np.flatnonzero(~np.isfinite(np.column_stack(tables)).all(axis=1))
    yield from _named(rule, subject, bad, "a joint has a number that is not finite", found="")


@about("animation")
def frame_numbers(rule: Rule, animation: Animation, _subject: Subject) -> Iterator[Finding]:
    bad = np.flatnonzero(~np.isfinite(animation.frames).all(axis=1))
    if len(bad):
        yield rule.finding(f"frame {bad[0]} holds a number that is not finite", int(bad[0]))


@about("animation")
def no_frames(rule: Rule, animation: Animation, _subject: Subject) -> Iterator[Finding]:
    if animation.frame_count == 0:
        yield rule.finding("there are no frames", 0)


frame_count = about("animation")(at_most("frames", lambda animation: animation.frame_count))


def _rate(subject: Subject) -> float:
    """The frames per second of an animation or camera; 1 for a mesh."""
    file = subject.animation or subject.camera
    return file.frame_rate if file is not None else 1.0


def rate_positive(rule: Rule, subject: Subject) -> Iterator[Finding]:
    rate = _rate(subject)
    if not rate > 0.0:
        yield rule.finding(f"a frame rate of {rate:g}", f"{rate:g}")


def rate_below_one(rule: Rule, subject: Subject) -> Iterator[Finding]:
    rate = _rate(subject)
    if 0.0 < rate < rule.limit:
        yield rule.finding(f"a frame rate of {rate:g}", f"{rate:g}")


def rate_fraction(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """The frame rate is not a whole number; the finding gives the rate in the game."""
    rate = _rate(subject)
    if rate >= 1.0 and math.isfinite(rate) and rate != math.floor(rate):
        used = counted(math.floor(rate), "frames")
        yield rule.finding(f"a frame rate of {rate:g}: {rule.engine} will play {used} per second", f"{rate:g}")


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


# Scales of joints


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
        for name in [subject.names[joint]]
        if byte_count(name) > rule.limit or json.dumps(name, ensure_ascii=False) != f'"{name}"'
    ]
    yield from _named(rule, subject, wrong, "scaled joints with long names or special characters", quoted=True)


# Camera paths


@about("camera")
def camera_path(rule: Rule, _camera: Camera, _subject: Subject) -> Iterator[Finding]:
    yield rule.finding("a camera path")


@about("camera")
def first_cut(rule: Rule, camera: Camera, _subject: Subject) -> Iterator[Finding]:
    if (camera.cuts < rule.limit).any():
        yield rule.finding("a cut at frame 0", 0)


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
