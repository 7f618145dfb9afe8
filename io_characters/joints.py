"""What declarations say about joints: those that a channel of Doom 3 names, and those that Sauerbraten adjusts.

Channels (Doom 3's `Anim_Blend.cpp`, `idDeclModelDef::GetJointList`): words in any order and case; `*` before a joint
takes all below it as well, `-` takes the joints out again.

`md5adjust` (Sauerbraten's `skelmodel.h`, `skeladjust`; `geom.h`, `dualquat::mulorient`): a joint relative to its parent
is turned by yaw around z, then pitch around -y, then roll around -x, and then moved by a quarter of the given lengths.
Turning keeps its position, but the part of it along the axis is multiplied by the cosine of the angle. y points to the
other side than in the files.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import numpy as np

from ..io_common.declarations.characters import CharacterPart, JointAdjustment
from ..io_common.skeletal import quaternions as quat
from ..io_common.skeletal.skeleton import ancestors, components, first_indices, with_components
from ..io_md5.format import Animation

_WORD = re.compile(r"(?:(-)\s*)?(?:(\*)\s*)?([^\s,*()\-][^\s,*()]*)")
_UNITS = 0.25
_SMALLEST = 1e-6
_AXES = ((2, -1.0), (1, -1.0), (0, 1.0))  # the axis of yaw, pitch and roll in the file, and the direction


def channel_joints(expression: str, names: Sequence[str], parents: Sequence[int]) -> tuple[list[int], list[str]]:
    """The joints that an expression such as `*Waist -*lleg` names, in order, and names that no joint has."""
    index = first_indices([name.lower() for name in names])
    all_parents = np.asarray(parents, dtype=np.int32)
    chosen: set[int] = set()
    unknown: list[str] = []
    # Of equal words the last decides.
    for minus, star, word in reversed(dict.fromkeys(reversed(_WORD.findall(expression)))):
        joint = index.get(word.lower())
        if joint is None:
            unknown.append(word)
            continue
        below = [one for one in range(len(names)) if joint in ancestors(all_parents, one)] if star else []
        named = {joint, *below}
        chosen = chosen - named if minus else chosen | named
    return sorted(chosen), unknown


def named_joints(part: CharacterPart) -> list[str]:
    """The joints of its own that the declaration of a part names, each once."""
    words = [match[2] for _, expression in part.channels for match in _WORD.findall(expression)]
    words += [*(one.joint for one in part.tags), *(one.joint for one in part.adjustments)]
    return list(dict.fromkeys(words))


def adjustments_of(adjustments: Iterable[JointAdjustment], index: int) -> dict[str, JointAdjustment]:
    """The adjustments that apply to the animation with this index in a part, by joint: the last one of each."""
    found = {one.joint: one for one in adjustments if one.first_animation <= index}
    return {joint: one for joint, one in found.items() if any(one.rotation) or any(one.translation)}


def adjusted(animation: Animation, adjustments: dict[str, JointAdjustment], *, reverse: bool = False) -> Animation:
    """An animation with joints turned and moved; with `reverse`, the one that it was made of."""
    joints = {name: joint for joint, name in enumerate(animation.names) if name in adjustments}
    if not joints:
        return animation
    table = components(animation)
    for name, joint in joints.items():
        positions, orientations = table[:, joint, :3].copy(), quat.wxyz_from_xyz(table[:, joint, 3:])
        x, y, z = adjustments[name].translation
        offset = np.array((x, -y, z)) * _UNITS
        turns = list(zip(adjustments[name].rotation, _AXES, strict=True))
        if reverse:
            positions -= offset
            turns.reverse()
        for degrees, (axis, direction) in turns:
            angle = np.radians(degrees) * direction
            turn = np.zeros(4)
            turn[0], turn[1 + axis] = np.cos(angle / 2), np.sin(-angle / 2 if reverse else angle / 2)
            orientations = quat.normalise(quat.multiply(turn, orientations))
            if not reverse:
                positions[:, axis] *= np.cos(angle)
            # A right angle has lost the length along its axis.
            elif abs(np.cos(angle)) > _SMALLEST:
                positions[:, axis] /= np.cos(angle)
        table[:, joint, :3] = positions if reverse else positions + offset
        table[:, joint, 3:] = quat.xyz_from_wxyz(orientations)
    return with_components(animation, table)
