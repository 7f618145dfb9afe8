"""Arrays of quaternions w, x, y, z, by the conventions of the MD5 specification.

Files hold x y z of unit quaternions, and w is -sqrt(1 - x² - y² - z²). The product ``a b`` rotates by b first, then by
a; a point is rotated as q p q*. All functions broadcast over leading axes and compute in float64.

Near half turns, digits are chosen so that games compute the w that was meant: with their 32-bit floats, rounding may
turn a w of 0 into 3e-4, which moves a model by 0.3 % of its size. Other decimals, less than 5e-7 away, are read right.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .model import DECIMALS, Floats

SMALL_W = 0.004  # above this, 32-bit floats give w to within 2e-5
_TOLERANCE = 2e-5
_STEP = 2.0**-24
_SAME = 1e-13  # digits of a file that were read and normalised differ from decimals by less
_FEWEST_DIGITS = 6  # the digits that most exporters print
# Half turns that are longer by this are above 1 in 32 bits, however they are summed up.
_LONGER = 1.2e-7
_CHUNK = 2000  # rows at once: each has 51 candidates

# Candidates are turned about the axis that the two largest components leave, and lengthened or shortened.
_TURNS, _LENGTHS = np.meshgrid(np.arange(-8, 9) * 5e-8, np.array([0.0, 2e-8, 4e-8]))


def readable(xyz: Floats, w: Floats, *, may_be_read: bool) -> Floats:
    """The x y z (N, 3) to print near half turns, from which games compute w (N,), not negative, best."""
    # `may_be_read`: they may come from a file whose digits were longer than 1 and normalised. A half turn then keeps
    # its axis to the last digit, with the digits of the file if six of them give it.
    if may_be_read:
        xyz = _before_normalising(xyz, w)
    digits = np.round(xyz, DECIMALS)
    # What no digits can avoid: the sum of the squares has steps.
    unavoidable = np.abs(w - np.sqrt(np.rint(w * w / _STEP) * _STEP))
    is_misread = misreading(digits, w) > unavoidable + _TOLERANCE
    is_misread &= (np.abs(xyz - digits) > _SAME).any(axis=1)
    misread = np.flatnonzero(is_misread)
    result = xyz.copy()
    for first in range(0, len(misread), _CHUNK):
        rows = misread[first : first + _CHUNK]
        candidates = _candidates(xyz[rows])
        costs = misreading(candidates, w[rows, None]) + np.abs(candidates - xyz[rows, None]).max(axis=2)
        result[rows] = candidates[np.arange(len(rows)), costs.argmin(axis=1)]
    return result


def _before_normalising(xyz: Floats, w: Floats) -> Floats:
    """Half turns with digits longer than 1, of which games compute a w of 0, about the same axes."""
    digits = np.round(xyz, _FEWEST_DIGITS)
    lengths = np.linalg.norm(digits, axis=1, keepdims=True)
    is_same = (np.abs(digits - xyz * lengths) < _SAME).all(axis=1) & (lengths[:, 0] > 1.0)
    is_misread = misreading(np.round(xyz, DECIMALS), w) > _TOLERANCE
    longer = np.where(is_misread[:, None], np.round(xyz * (1.0 + _LONGER), DECIMALS), xyz)
    return np.where((w == 0.0)[:, None], np.where(is_same[:, None], digits, longer), xyz)


def misreading(xyz: Floats, w: Floats) -> Floats:
    """The largest error of w among games, plus that of readers with 64-bit floats, for printed x y z, (…)."""
    singles = xyz.astype(np.float32)
    x, y, z = np.moveaxis(singles * singles, -1, 0)
    one = np.float32(1.0)
    sums = one - (x + y + z)
    # Doom 3 takes the absolute value; Sauerbraten and q2pro subtract one square after the other.
    readings = (sums, np.abs(sums), one - x - y - z, 1.0 - (xyz * xyz).sum(axis=-1))
    *games, doubles = (np.abs(np.sqrt(np.maximum(rest, 0.0)) - w) for rest in readings)
    return np.asarray(np.max(games, axis=0) + doubles)


def _candidates(xyz: Floats) -> Floats:
    """Decimals near each of some vectors (N, 3), (N, M, 3)."""
    rows = np.arange(len(xyz))
    largest, second = np.argsort(-np.abs(xyz), axis=1)[:, :2].T
    sideways = np.zeros_like(xyz)
    sideways[rows, largest], sideways[rows, second] = -xyz[rows, second], xyz[rows, largest]
    turned: Floats = _TURNS.reshape(-1, 1) * sideways[:, None]
    return np.asarray(np.round(xyz[:, None] + turned + _LENGTHS.reshape(-1, 1) * xyz[:, None], DECIMALS))


# Below this sine of the angle a slerp is linear, because its formula divides by the sine.
_SMALL_SINE = 1e-6


def wxyz_from_xyz(xyz: npt.ArrayLike) -> Floats:
    """Unit quaternions w x y z (…, 4) from the x y z (…, 3) of a file.

    w = -sqrt(1 - x² - y² - z²). If rounding made the sum exceed 1, w is 0 (MD5 specification) and x y z are normalised,
    so that the result is still a rotation. No component is -0.0.
    """
    xyz = np.asarray(xyz, dtype=np.float64)
    squares = np.einsum("...i,...i->...", xyz, xyz)
    quaternions = np.empty((*xyz.shape[:-1], 4))
    # 0 - √ instead of -√, and + 0.0 below, so that no component is -0.0.
    quaternions[..., 0] = 0.0 - np.sqrt(np.maximum(1.0 - squares, 0.0))
    quaternions[..., 1:] = xyz / np.sqrt(np.maximum(squares, 1.0))[..., None] + 0.0
    return quaternions


def wxyz_as_read(xyz: npt.ArrayLike) -> Floats:
    """Quaternions w x y z as most games compute them from x y z of a file, with 32-bit floats, (…, 4)."""
    # Squares of larger ones are beyond 32 bits.
    singles = np.clip(np.asarray(xyz, dtype=np.float64), -1e18, 1e18).astype(np.float32)
    x, y, z = np.moveaxis(singles * singles, -1, 0)
    quaternions = np.empty((*singles.shape[:-1], 4))
    quaternions[..., 0] = 0.0 - np.sqrt(np.maximum(np.float32(1.0) - (x + y + z), 0.0))
    quaternions[..., 1:] = singles
    return quaternions


def xyz_from_wxyz(quaternions: npt.ArrayLike, *, may_be_read: bool = False) -> Floats:
    """The x y z (…, 3) that a file holds for quaternions w x y z (…, 4): normalised, negated where w > 0.

    Near half turns they are changed by up to 5e-7 where games would else compute another w, see the head of this
    module. With `may_be_read`, `wxyz_from_xyz` may have made them of the digits of a file, which then come back.
    """
    unit = normalise(quaternions)
    np.negative(unit, out=unit, where=unit[..., :1] > 0.0)
    near = unit[..., 0] > -SMALL_W
    if near.any():
        unit[near, 1:] = readable(unit[near, 1:], -unit[near, 0], may_be_read=may_be_read)
    return unit[..., 1:]


def normalise(quaternions: npt.ArrayLike) -> Floats:
    """Quaternions w x y z (…, 4) of length 1; one of length 0 becomes the identity."""
    quaternions = np.asarray(quaternions, dtype=np.float64)
    lengths = np.linalg.norm(quaternions, axis=-1, keepdims=True)
    unit = np.zeros_like(quaternions)
    unit[..., 0] = 1.0
    np.divide(quaternions, lengths, out=unit, where=lengths != 0.0)
    return unit


def conjugate(quaternions: npt.ArrayLike) -> Floats:
    """w, -x, -y, -z (…, 4): the inverses of unit quaternions w x y z (…, 4)."""
    return np.asarray(np.asarray(quaternions, dtype=np.float64) * np.array([1.0, -1.0, -1.0, -1.0]))


def multiply(a: npt.ArrayLike, b: npt.ArrayLike) -> Floats:
    """The product a b of quaternions w x y z (…, 4): rotation by b, then by a."""
    a, b = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    aw, ax, ay, az = a[..., 0], a[..., 1], a[..., 2], a[..., 3]
    bw, bx, by, bz = b[..., 0], b[..., 1], b[..., 2], b[..., 3]
    product = np.empty(np.broadcast_shapes(a.shape, b.shape))
    product[..., 0] = aw * bw - ax * bx - ay * by - az * bz
    product[..., 1] = ax * bw + aw * bx + ay * bz - az * by
    product[..., 2] = ay * bw + aw * by + az * bx - ax * bz
    product[..., 3] = az * bw + aw * bz + ax * by - ay * bx
    return product


def rotate(quaternions: npt.ArrayLike, points: npt.ArrayLike) -> Floats:
    """Points (…, 3) rotated by unit quaternions w x y z (…, 4): q p q*."""
    quaternions, points = np.asarray(quaternions, dtype=np.float64), np.asarray(points, dtype=np.float64)
    w, x, y, z = (quaternions[..., i] for i in range(4))
    px, py, pz = (points[..., i] for i in range(3))
    # q p q* = p + w t + v × t with t = 2 v × p, half the work of two products.
    tx = 2.0 * (y * pz - z * py)
    ty = 2.0 * (z * px - x * pz)
    tz = 2.0 * (x * py - y * px)
    rotated = np.empty((*tx.shape, 3))
    rotated[..., 0] = px + w * tx + (y * tz - z * ty)
    rotated[..., 1] = py + w * ty + (z * tx - x * tz)
    rotated[..., 2] = pz + w * tz + (x * ty - y * tx)
    return rotated


def to_matrices(quaternions: npt.ArrayLike) -> Floats:
    """Rotation matrices (…, 3, 3), for column vectors, of unit quaternions w x y z (…, 4)."""
    w, x, y, z = np.moveaxis(np.asarray(quaternions, dtype=np.float64), -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def transforms(positions: npt.ArrayLike, quaternions: npt.ArrayLike) -> Floats:
    """Matrices (…, 4, 4) that rotate by unit quaternions w x y z (…, 4), then translate by positions (…, 3)."""
    positions = np.asarray(positions, dtype=np.float64)
    matrices = np.zeros((*positions.shape[:-1], 4, 4))
    matrices[..., :3, :3] = to_matrices(quaternions)
    matrices[..., :3, 3] = positions
    matrices[..., 3, 3] = 1.0
    return matrices


def from_matrices(matrices: npt.ArrayLike) -> Floats:
    """Unit quaternions w x y z (…, 4) with w >= 0, of rotation matrices (…, 3, 3); small errors are averaged.

    The largest component is computed from the diagonal, the others across it: no divisor is small (Shepperd's method).
    """
    m = np.asarray(matrices, dtype=np.float64)
    m00, m11, m22 = m[..., 0, 0], m[..., 1, 1], m[..., 2, 2]
    w, x = m00 + m11 + m22 + 1.0, m00 - m11 - m22 + 1.0
    y, z = m11 - m00 - m22 + 1.0, m22 - m00 - m11 + 1.0
    a, b, c = m[..., 2, 1] - m[..., 1, 2], m[..., 0, 2] - m[..., 2, 0], m[..., 1, 0] - m[..., 0, 1]
    d, e, f = m[..., 1, 0] + m[..., 0, 1], m[..., 0, 2] + m[..., 2, 0], m[..., 2, 1] + m[..., 1, 2]
    candidates = np.moveaxis(np.array([[w, a, b, c], [a, x, d, e], [b, d, y, f], [c, e, f, z]]), (0, 1), (-2, -1))
    best = np.argmax([w, x, y, z], axis=0)
    quaternions = normalise(np.take_along_axis(candidates, best[..., None, None], axis=-2)[..., 0, :])
    np.negative(quaternions, out=quaternions, where=quaternions[..., :1] < 0.0)
    return quaternions


def make_continuous(quaternions: npt.ArrayLike) -> Floats:
    """The same rotations w x y z (F, …, 4) with signs such that each is nearer to its predecessor than its negative.

    Blender interpolates the four numbers between keyframes, so a change of sign would be a full rotation.
    """
    quaternions = np.asarray(quaternions, dtype=np.float64)
    dots = np.einsum("f...i,f...i->f...", quaternions[1:], quaternions[:-1])
    flips = np.cumprod(np.where(dots < 0.0, -1.0, 1.0), axis=0)
    continuous = quaternions.copy()
    continuous[1:] *= flips[..., None]
    return continuous


def lerp(a: npt.ArrayLike, b: npt.ArrayLike, fraction: npt.ArrayLike) -> Floats:
    """a + fraction · (b - a), for positions (MD5 specification); `fraction` broadcasts over the last axis."""
    a, b = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    return np.asarray(a + np.asarray(fraction, dtype=np.float64)[..., None] * (b - a))


def slerp(a: npt.ArrayLike, b: npt.ArrayLike, fraction: npt.ArrayLike) -> Floats:
    """The rotation w x y z (…, 4) at a fraction of the shorter arc from a to b, at constant speed (MD5 specification).

    Below 0 and above 1 the rotation continues on the same great circle at the same speed: a fraction of 2 is twice the
    rotation from a to b. If a and b are nearly equal, the weights are linear and the result is normalised.
    """
    a, b = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    fraction = np.asarray(fraction, dtype=np.float64)[..., None]
    cosine = np.einsum("...i,...i->...", a, b)[..., None]
    b = np.where(cosine < 0.0, -b, b)
    cosine = np.minimum(np.abs(cosine), 1.0)
    sine = np.sqrt(1.0 - cosine * cosine)
    angle = np.arctan2(sine, cosine)
    small = sine < _SMALL_SINE
    divisor = np.where(small, 1.0, sine)
    weight_a = np.where(small, 1.0 - fraction, np.sin((1.0 - fraction) * angle) / divisor)
    weight_b = np.where(small, fraction, np.sin(fraction * angle) / divisor)
    return normalise(weight_a * a + weight_b * b)
