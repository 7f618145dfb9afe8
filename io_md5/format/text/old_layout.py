"""The layout before Doom 3's release: bones with matrices, animations as channels.

    bone 3 {
        name "pubis"
        bindpos 0.014 2.064 26.144
        bindmat 0 0.99 -0.12 0 0.12 0.99 1 0 0     // the rows are the bone's axes in the space of the model
        parent "origin"
    }
    channel 4 {
        joint "pubis"
        attribute "yaw"                            // x y z in units, pitch yaw roll in degrees
        starttime 0
        endtime 5.875
        framerate 24
        strings 0
        range 0 141
        keys 141
            0.1 0.2 …
    }

Mesh blocks are those of version 10 without parentheses; animations have no parents. The angles are id's: yaw about +Z,
then pitch about +Y, then roll about +X, each about the rotated axes.
"""

from __future__ import annotations

import numpy as np

from ....io_common.skeletal import quaternions as quat
from ....io_common.skeletal.model import ROOT, Animation, Floats, Joints
from ....io_common.skeletal.skeleton import first_indices, with_components
from ....io_common.texts import counted
from . import blocks
from .scanner import Scan

_POSITIONS = ("x", "y", "z")


def parse_bones(scan: Scan, openings: list[int]) -> Joints:
    """The skeleton of ``bone`` blocks, given their opening braces."""
    bones = [(opening, _keys(scan, opening)) for opening in openings]
    names = [_string(scan, keys, "name", opening) for opening, keys in bones]
    positions = [_numbers(scan, keys, "bindpos", opening, 3) for opening, keys in bones]
    matrices = [_numbers(scan, keys, "bindmat", opening, 9) for opening, keys in bones]
    parents = np.full(len(names), ROOT, dtype=np.int32)
    index = first_indices(names)
    for joint, (opening, keys) in enumerate(bones):
        if "parent" in keys:
            parent = _string(scan, keys, "parent", opening)
            if parent not in index:
                raise scan.error("the parent does not exist", keys["parent"] + 1, expected="the name of a bone")
            parents[joint] = index[parent]
    blocks.check_hierarchy(scan, names, parents, openings)
    axes = np.array(matrices).reshape(-1, 3, 3)
    turns = quat.xyz_from_wxyz(quat.from_matrices(np.swapaxes(axes, 1, 2)))
    return Joints(names, parents, np.array(positions).reshape(-1, 3), quat.wxyz_from_xyz(turns))


def parse_channels(scan: Scan, openings: list[int]) -> Animation:
    """The animation of ``channel`` blocks, given their opening braces; a shorter one holds its last key."""
    tracks: dict[tuple[str, str], Floats] = {}
    rates = []
    for opening in openings:
        keys = _keys(scan, opening)
        joint = _string(scan, keys, "joint", opening)
        attribute = _string(scan, keys, "attribute", opening)
        if "framerate" in keys:
            rates.append(float(_numbers(scan, keys, "framerate", opening, 1)[0]))
        if "keys" not in keys:
            raise scan.error(f"the channel {attribute!r} of {joint!r} has no keys", opening, expected="keys")
        declared, track_keys = np.split(scan.values(keys["keys"]), [1])
        for count in declared.tolist():
            blocks.check_count(scan, count, len(track_keys), f"keys of {attribute!r} of {joint!r}")
        tracks[joint, attribute.lower()] = track_keys
    frame_count = max((len(track) for track in tracks.values()), default=0)
    if frame_count == 0:
        raise scan.error("the animation has no frames", openings[0], expected="channels with keys")

    def track(joint: str, attribute: str) -> Floats:
        values = tracks.get((joint, attribute), np.zeros(1))
        padded = np.full(frame_count, values[-1] if len(values) else 0.0)
        padded[: len(values)] = values
        return padded

    names = list(dict.fromkeys(joint for joint, _ in tracks if joint not in ("boundsMin", "boundsMax")))
    blocks.check_pose_count(scan, len(names), frame_count)
    frames = np.empty((frame_count, len(names), 6))
    for index, name in enumerate(names):
        frames[:, index, :3] = np.stack([track(name, attribute) for attribute in _POSITIONS], axis=1)
        pitch, yaw, roll = (track(name, angle) for angle in ("pitch", "yaw", "roll"))
        frames[:, index, 3:] = quat.xyz_from_wxyz(_angles_to_quaternions(pitch, yaw, roll))
    corners = [[track(corner, axis) for axis in _POSITIONS] for corner in ("boundsMin", "boundsMax")]
    bounds = np.moveaxis(np.array(corners), 2, 0)
    rate = blocks.frame_rate(scan, rates[0] if rates else 0.0)
    animation = Animation(names, np.full(len(names), ROOT, np.int32), frame_rate=rate, has_hierarchy=False)
    return with_components(animation, frames, bounds=bounds, limits=-1.0)


def _angles_to_quaternions(pitch: Floats, yaw: Floats, roll: Floats) -> Floats:
    """Quaternions (…, 4) from id's angles in degrees, about +Y, +Z and +X; the yaw is applied last."""
    turns = []
    for component, degrees in ((3, yaw), (2, pitch), (1, roll)):
        half = np.radians(degrees) / 2.0
        turns.append(np.zeros((*half.shape, 4)))
        turns[-1][..., 0], turns[-1][..., component] = np.cos(half), np.sin(half)
    return quat.multiply(quat.multiply(turns[0], turns[1]), turns[2])


def _keys(scan: Scan, opening: int) -> dict[str, int]:
    tokens = range(opening + 1, scan.block_end(opening))
    return {scan.key(token): token for token in tokens if not scan.is_string(token)}


def _string(scan: Scan, keys: dict[str, int], key: str, opening: int) -> str:
    if key not in keys or not scan.is_string(keys[key] + 1):
        raise scan.error(f"the block has no {key}", keys.get(key, opening), expected=f'{key} "…"')
    return scan.name(keys[key] + 1)


def _numbers(scan: Scan, keys: dict[str, int], key: str, opening: int, count: int) -> Floats:
    if key not in keys:
        raise scan.error(f"the block has no {key}", opening, expected=key)
    values = scan.values(keys[key])
    if len(values) != count:
        found = counted(len(values), "numbers")
        raise scan.error(f"{key} has the wrong number of values", keys[key], found=found, expected=str(count))
    return values
