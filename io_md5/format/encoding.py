"""Poses encoded as an animation, as small as a given precision allows.

A component that stays near its value in the first frame is stored in the base frame only (id's exporter does the same
with 0.125 units and 1/8192). The w of a quaternion is not written but computed from x y z, which multiplies an error by
1 / w: the precision applies to the rotation, so x y z are rounded more finely where w is small.
"""

from __future__ import annotations

import numpy as np

from . import quaternions as quat
from .half_turns import SMALL_W
from .model import DECIMALS, Animation, Floats, Ints
from .skeleton import COMPONENTS, decompose

POSITION_PRECISION = 1e-5
"""The default tolerance of a joint's position, in units."""

ORIENTATION_PRECISION = 1e-6
"""The default tolerance of a joint's quaternion components."""


def encode_poses(
    names: list[str],
    parents: Ints,
    positions: Floats,
    orientations: Floats,
    *,
    frame_rate: float,
    bounds: Floats | None = None,
    commandline: str = "",
    position_precision: float = POSITION_PRECISION,
    orientation_precision: float = ORIENTATION_PRECISION,
) -> Animation:
    """An animation of poses in the space of the model.

    Args:
        names: of J joints.
        parents: int32 (J,).
        positions: of the joints in the space of the model, (F, J, 3).
        orientations: unit quaternions w x y z (F, J, 4).
        frame_rate: frames per second.
        bounds: lower and upper corner of the model in each frame, (F, 2, 3), see `pose_bounds`; zeros if None.
        commandline: written to the file.
        position_precision: tolerance of a joint's position relative to its parent, in units.
        orientation_precision: tolerance of the quaternion of a joint relative to its parent.
    """
    positions, orientations = decompose(parents, positions, orientations)
    return encode_local_poses(
        names, parents, positions, orientations, frame_rate=frame_rate, bounds=bounds, commandline=commandline,
        position_precision=position_precision, orientation_precision=orientation_precision,
    )  # fmt: skip


def encode_local_poses(
    names: list[str],
    parents: Ints,
    positions: Floats,
    orientations: Floats,
    *,
    frame_rate: float,
    bounds: Floats | None = None,
    commandline: str = "",
    position_precision: float = POSITION_PRECISION,
    orientation_precision: float = ORIENTATION_PRECISION,
) -> Animation:
    """An animation of poses relative to the parents; for the arguments see `encode_poses`."""
    positions, orientations = np.asarray(positions, np.float64), np.asarray(orientations, np.float64)
    xyz = quat.xyz_from_wxyz(orientations)
    w = np.minimum(np.abs(orientations[..., :1]), 1.0)
    # Near half turns every digit counts.
    precision = np.where(w < SMALL_W, 0.0, orientation_precision * w)
    table = np.concatenate(
        [_rounded(positions, np.full(1, position_precision)), _rounded(xyz, precision)], axis=-1
    )
    limits = np.empty((len(names), len(COMPONENTS)))
    limits[:, :3] = position_precision
    limits[:, 3:] = precision.min(axis=0)
    flags, starts, base, frames = split_components(table, limits)
    return Animation(
        names=names,
        parents=parents,
        flags=flags,
        starts=starts,
        bounds=np.zeros((len(positions), 2, 3)) if bounds is None else bounds,
        base_positions=base[:, :3].copy(),
        base_orientations=base[:, 3:].copy(),
        frames=frames,
        frame_rate=frame_rate,
        commandline=commandline,
    )


def split_components(table: Floats, limits: Floats) -> tuple[Ints, Ints, Floats, Floats]:
    """Components split into a base frame and animated components: the inverse of `skeleton.components`.

    The table is Tx Ty Tz Qx Qy Qz of every joint in every frame, (F, J, 6). The base frame is the first frame, as in
    the files of id's exporter; a component is animated if any frame differs from it by more than its limit, (J, 6).
    Returns flags int32 (J,), starts int32 (J,; 0 where nothing is animated), the base frame (J, 6) and frames (F, C).
    """
    base = table[0]
    animated = (np.abs(table - base) > limits).any(axis=0)
    flags = (animated << np.arange(len(COMPONENTS))).sum(axis=1).astype(np.int32)
    sizes = animated.sum(axis=1)
    starts = np.where(sizes > 0, np.cumsum(sizes) - sizes, 0).astype(np.int32)
    return flags, starts, base.copy(), table[:, animated]


def _rounded(values: Floats, precision: Floats) -> Floats:
    """Values rounded to the decimals that the precision requires, at most those that are printed."""
    digits = np.clip(np.ceil(-np.log10(np.maximum(precision, 10.0**-DECIMALS))), 0, DECIMALS)
    factors = 10.0**digits
    return np.round(values * factors) / factors
