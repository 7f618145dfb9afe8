"""Joints of an animation matched by name with the joints of a skeleton."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from .anim_header import AnimationHeader
from .model import ROOT, Animation, Ints, Joints

Fit = Literal["full", "part", "none"]
"""How an animation fits a skeleton: it has exactly its joints, some of them, or none."""


@dataclass(frozen=True)
class Match:
    """Which joints of an animation move which bones.

    Attributes:
        joints: indices of joints of the animation.
        bones: the bone of each, as an index into the skeleton.
        extra: names of joints that the skeleton does not have.
        missing: names of bones that the animation does not move.
        differing: names of joints whose parent is another one than in the skeleton; they are not moved.
    """

    joints: list[int] = field(default_factory=list)
    bones: list[int] = field(default_factory=list)
    extra: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    differing: list[str] = field(default_factory=list)

    @property
    def is_complete(self) -> bool:
        """Whether the animation has exactly the joints of the skeleton."""
        return not (self.extra or self.missing or self.differing)

    @property
    def fit(self) -> Fit:
        """How much of the skeleton the animation moves."""
        return "full" if self.is_complete else "part" if self.joints else "none"


def match_joints(animation: Animation | AnimationHeader, joints: Joints) -> Match:
    """The match between the joints of an animation and of a skeleton; of equal names the first is used.

    Args:
        animation: whose joints may be others, or in another order. The head of its file is enough.
        joints: of a model, the bones.
    """
    match = Match()
    bones = {name: bone for bone, name in reversed(list(enumerate(joints.names)))}
    animation_parents = _parent_names(animation.names, animation.parents)
    rig_parents = _parent_names(joints.names, joints.parents)
    for joint, name in enumerate(animation.names):
        bone = bones.pop(name, None)
        if bone is None:
            match.extra.append(name)
        elif animation.has_hierarchy and animation_parents[joint] != rig_parents[bone]:
            match.differing.append(name)
        else:
            match.joints.append(joint)
            match.bones.append(bone)
    match.missing.extend(joints.names[bone] for bone in sorted(bones.values()))
    return match


def _parent_names(names: list[str], parents: Ints) -> list[str | None]:
    return [names[parent] if parent != ROOT else None for parent in parents.tolist()]
