"""Motion transferred to a skeleton with other names, axes, proportions or another rest pose.

A joint turns in the space of the model as its source does since the rest pose, after a correction that is made once:
the limbs of the target are turned, one bone after the other, until they point where those of the source do at rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby, permutations, product

import numpy as np

from . import quaternions as quat
from .model import ROOT, Floats, Ints, Joints, SkeletalError
from .skeleton import CyclicHierarchyError, ancestors, decompose, depths

UNMAPPED = -1  # in place of a source joint: there is none
Leg = tuple[int, int, int]  # thigh, shin and foot

# Lengths that differ by less than this fraction of the skeleton's size are the same.
_SAME_LENGTH = 1e-3
# Children that branch from a joint turn it if they point the same way up to this angle, in radians.
_SAME_BRANCHES = np.radians(10.0)
_STANDING = 0.01  # of the length of a leg and per frame: slower feet stand
_BETTER = 1.01  # another alignment than the axes themselves has to fit better by this factor


class Retargeting:
    """The transfer of poses from a source of J joints to a target of K joints, both given in their rest poses.

    `sources` has the source joint of each joint of the target, or `UNMAPPED`, (K,); one may have several targets. The
    legs of the target give the ratio of the sizes. `limbs` are the joints of the target that point where their sources
    do, all if None: a trunk, a head and feet do not if the proportions differ, as they are upright and flat at rest.
    `translated` says whether each joint may change its place in its parent, bool (K,); none if None.

    Raises SkeletalError if nothing is mapped, a joint does not exist, or joints that share sources carry each other.
    """

    def __init__(
        self,
        source: Joints,
        target: Joints,
        sources: Ints | Sequence[int],
        *,
        legs: Sequence[Leg] = (),
        limbs: Sequence[int] | None = None,
        translated: Sequence[bool] | None = None,
    ) -> None:
        self.source, self.target = source, target
        self.sources = np.asarray(sources, dtype=np.int32)
        if len(self.sources) != len(target) or not ((self.sources < len(source)) & (self.sources >= -1)).all():
            raise SkeletalError("a joint of the map does not exist", expected=f"-1 to {len(source) - 1}")
        self._mapped = np.flatnonzero(self.sources != UNMAPPED)
        if not len(self._mapped):
            raise SkeletalError("no joint is mapped")
        self.rotation = axes_rotation(source.positions[self.sources[self._mapped]], target.positions[self._mapped])
        self._legs = [leg for leg in legs if all(self.sources[joint] != UNMAPPED for joint in leg)]
        self._anchors = self._find_anchors()
        self._drivers = self._find_drivers()
        self._is_carried = self._drivers == target.parents
        self._size = float(np.ptp(target.positions, axis=0).max(initial=0.0))
        try:
            order = depths(self._drivers)
        except CyclicHierarchyError as error:
            name = target.names[error.joint]
            raise SkeletalError("the map is cyclic: joints with the same source carry each other", found=name) from None
        self._levels = [np.flatnonzero(order == level) for level in range(order.max(initial=0) + 1)]
        self._offsets, self._turns = decompose(self._drivers, target.positions, target.orientations)
        self.scale, is_same = self._compare_lengths()
        self._corrections = self._align(None if is_same or limbs is None else set(limbs))
        self._bodies = self._find_bodies()
        moving = np.zeros(len(target), dtype=bool) if translated is None else np.asarray(translated, dtype=bool)
        # The same skeleton can take every translation.
        moving = (moving | is_same) & (self.sources != UNMAPPED) & (self._anchors != UNMAPPED)
        moving &= self._is_carried
        moving[self._bodies] = False
        self._moving = np.flatnonzero(moving)
        self._places = self._rest_places(is_same)

    def apply(self, positions: Floats, orientations: Floats, *, keep_feet: bool = False) -> tuple[Floats, Floats]:
        """The poses of the target, (F, K, …), for poses of the source, all in the space of the model."""
        # Positions are (F, J, 3), orientations (F, J, 4). With `keep_feet`, feet stand while those of the source do.
        result = self._pose(positions, orientations)
        for leg in self._legs if keep_feet else ():
            self._keep_foot(leg, positions[:, self.sources[leg[2]]], *result)
        return result

    def _to_target(self, vectors: Floats) -> Floats:
        return self.scale * quat.rotate(self.rotation, vectors)

    def _find_anchors(self) -> Ints:
        """The nearest mapped ancestor of each joint of the target."""
        parents = self.target.parents
        anchors = np.full(len(parents), UNMAPPED, dtype=np.int32)
        for joint in np.argsort(depths(parents), kind="stable"):
            parent = parents[joint]
            if parent != ROOT:
                anchors[joint] = parent if self.sources[parent] != UNMAPPED else anchors[parent]
        return anchors

    def _find_drivers(self) -> Ints:
        """The joint that each joint of the target is carried by: its parent, or one with the same source."""
        drivers = self.target.parents.copy()
        levels = depths(self.source.parents)
        for joint in np.unique(self.sources[self._mapped]):
            sharing = np.flatnonzero(self.sources == joint)
            # The one that hangs on the nearest ancestor of the source is that of the chain.
            anchors = self._anchors[sharing]
            is_outside = (anchors != UNMAPPED) & (self.sources[anchors] != joint)
            nearness = np.where(is_outside, levels[self.sources[anchors]], -1)
            leader = sharing[np.argmax(nearness)]
            above = ancestors(self.target.parents, leader)
            for follower in sharing.tolist():
                if follower != leader and follower not in above:
                    drivers[follower] = leader
        return drivers

    def _compare_lengths(self) -> tuple[float, bool]:
        """The size of the target divided by that of the source, and whether all their lengths have that ratio."""
        joints = self._mapped[self._anchors[self._mapped] != UNMAPPED]
        anchors = self._anchors[joints]
        pairs = [(leg[index], leg[index + 1]) for leg in self._legs for index in (0, 1)]
        wanted = self._lengths(*np.array(pairs).T) if pairs else self._lengths(joints, anchors)
        sums = wanted.sum(axis=1)
        scale = float(sums[0] / sums[1]) if (sums > 0.0).all() else 1.0
        lengths = self._lengths(joints, anchors)
        is_same = (np.abs(lengths[0] - scale * lengths[1]) <= _SAME_LENGTH * self._size).all()
        return scale, bool(is_same)

    def _lines(self, ends: Ints, starts: Ints) -> Floats:
        """From joints of the target to others, and between their sources in the axes of the target, (2, n, 3)."""
        source = quat.rotate(self.rotation, self.source.positions)[self.sources]
        return np.stack([of[ends] - of[starts] for of in (self.target.positions, source)])

    def _lengths(self, ends: Ints, starts: Ints) -> Floats:
        """Distances between joints of the target, and between their sources, (2, n)."""
        return np.asarray(np.linalg.norm(self._lines(ends, starts), axis=2))

    def _align(self, limbs: set[int] | None) -> Floats:
        """What turns each joint of the target at rest until its chain points as in the source, (K, 4)."""
        corrections = np.tile([1.0, 0.0, 0.0, 0.0], (len(self.target), 1))
        ends = self._mapped[self._is_carried[self._mapped] & (self._anchors[self._mapped] != UNMAPPED)]
        lengths = self._lengths(ends, self._anchors[ends])
        ends = ends[np.minimum(lengths[0], self.scale * lengths[1]) > _SAME_LENGTH * self._size]
        starts = self._anchors[ends]
        ours, theirs = self._lines(ends, starts) / self._lengths(ends, starts)[..., None]
        for joint in np.concatenate(self._levels).tolist():
            if limbs is not None and joint not in limbs and self._is_carried[joint]:
                continue
            if self._drivers[joint] != ROOT:
                corrections[joint] = corrections[self._drivers[joint]]
            children = starts == joint
            ahead, turn = quat.rotate(corrections[joint], ours[children]), None
            if len(ahead) > 1:
                turn = _turn_between(ahead, theirs[children])
            elif len(ahead) and self._anchors[joint] != UNMAPPED:
                # A root that stands on the floor is not turned because its only child is elsewhere.
                turn = shortest_turn(ahead[0], theirs[children][0])
            if turn is not None:
                corrections[joint] = quat.multiply(turn, corrections[joint])
        return corrections

    def _find_bodies(self) -> Ints:
        """The joints that take the place of their source: roots down to where the skeleton branches, and hips."""
        bodies = self._mapped[self._anchors[self._mapped] == UNMAPPED].tolist()
        for top in list(bodies):
            trunk, below = [], [top]
            while len(below) == 1:
                trunk += below
                below = self._mapped[self._anchors[self._mapped] == below[0]].tolist()
            bodies += trunk if below else []
        above = [set(ancestors(self.target.parents, thigh)) for thigh, _, _ in self._legs]
        bodies += set.intersection(*above) if len(above) > 1 else ()
        mapped = set(self._mapped[self._is_carried[self._mapped]].tolist())
        return np.array(sorted(mapped.intersection(bodies)), dtype=np.int32)

    def _rest_places(self, is_same: bool) -> Floats:
        """Where the joints of `_bodies` are when the source is at rest, (n, 3)."""
        if is_same:
            return self._to_target(self.source.positions[self.sources[self._bodies]])
        places = self._places = self.target.positions[self._bodies]
        if not self._legs:
            return places
        # Its feet stand where they do in the target's own rest pose.
        feet = [foot for _, _, foot in self._legs]
        posed, _ = self._pose(self.source.positions[None], self.source.orientations[None])
        shift = (self.target.positions[feet] - posed[0, feet]).mean(axis=0)
        is_above = np.array([self._anchors[body] != UNMAPPED for body in self._bodies])
        # Roots stay where they are, if what is above the legs can move alone.
        return np.asarray(places + (is_above[:, None] if is_above.any() else 1.0) * shift)

    def _pose(self, source_positions: Floats, source_orientations: Floats) -> tuple[Floats, Floats]:
        target, mapped, sources = self.target, self._mapped, self.sources[self._mapped]
        rest = quat.conjugate(quat.multiply(self.rotation, self.source.orientations[sources]))
        after = quat.multiply(quat.multiply(rest, self._corrections[mapped]), target.orientations[mapped])
        moves = self._to_target(source_positions - self.source.positions)
        shifts = self._translations(source_positions, source_orientations)
        # What nothing moves stays as it is at rest.
        count = len(source_positions)
        positions, orientations = (np.repeat(of[None], count, axis=0) for of in (target.positions, target.orientations))
        positions[:, self._bodies] = self._places + moves[:, self.sources[self._bodies]]
        orientations[:, mapped] = quat.multiply(quat.multiply(self.rotation, source_orientations[:, sources]), after)
        is_follower = (self.sources == UNMAPPED) | ~self._is_carried
        # The first level has the roots.
        for joints in self._levels[1:]:
            carried = np.setdiff1d(joints, self._bodies)
            drivers = self._drivers[carried]
            offsets = quat.rotate(orientations[:, drivers], self._offsets[carried])
            positions[:, carried] = positions[:, drivers] + offsets + shifts[:, carried]
            followers = joints[is_follower[joints]]
            turns = quat.multiply(orientations[:, self._drivers[followers]], self._turns[followers])
            orientations[:, followers] = turns
        return positions, quat.normalise(orientations)

    def _translations(self, positions: Floats, orientations: Floats) -> Floats:
        """How far joints that may be translated are from where their parents carry them, (F, K, 3)."""
        joints, anchors = self.sources[self._moving], self.sources[self._anchors[self._moving]]
        rest = self.source.positions[joints] - self.source.positions[anchors]
        rest = quat.rotate(quat.conjugate(self.source.orientations[anchors]), rest)
        carried = positions[:, anchors] + quat.rotate(orientations[:, anchors], rest)
        result = np.zeros((len(positions), len(self.target), 3))
        result[:, self._moving] = self._to_target(positions[:, joints] - carried)
        return result

    def _keep_foot(self, leg: Leg, source: Floats, positions: Floats, orientations: Floats) -> None:
        """Bends a leg, in place, so that its foot moves as the source's, (F, 3), does while that stands."""
        thigh, shin, foot = leg
        length = self._lengths(np.array([shin, foot]), np.array([thigh, shin]))[1].sum()
        is_slow = np.linalg.norm(np.diff(source, axis=0), axis=1) < _STANDING * length
        stands = np.append(is_slow, False) | np.append(False, is_slow)
        goals = positions[:, foot].copy()
        moves = self._to_target(source)
        for is_contact, group in groupby(range(len(stands)), key=stands.__getitem__):
            if is_contact:
                frames = list(group)
                goals[frames] = moves[frames] + (positions[frames, foot] - moves[frames]).mean(axis=0)
        if not stands.any():
            return
        a, b, c = (positions[stands, joint] for joint in leg)
        knee, hip = bend_leg(a, b, c, goals[stands])
        shin_turn = quat.multiply(hip, knee)
        new_b = a + quat.rotate(hip, b - a)
        new_c = new_b + quat.rotate(shin_turn, c - b)
        for joint in range(len(self.target)):
            line = [joint, *ancestors(self._drivers, joint)]
            if foot in line:
                positions[stands, joint] += new_c - c
            elif shin in line:
                offsets = positions[stands, joint] - b
                positions[stands, joint] = new_b + quat.rotate(shin_turn, offsets)
                orientations[stands, joint] = quat.multiply(shin_turn, orientations[stands, joint])
            elif thigh in line:
                positions[stands, joint] = a + quat.rotate(hip, positions[stands, joint] - a)
                orientations[stands, joint] = quat.multiply(hip, orientations[stands, joint])


def shortest_turn(a: Floats, b: Floats) -> Floats:
    """The smallest rotations (…, 4) that turn unit vectors a (…, 3) into b (…, 3)."""
    dots = (a * b).sum(axis=-1, keepdims=True)
    # Of a half turn, any axis across will do.
    across = np.cross(a, np.where(np.abs(a[..., :1]) < 0.8, [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]))
    half_turn = np.concatenate([np.zeros_like(dots), across], axis=-1)
    turn = np.concatenate([1.0 + dots, np.cross(a, b)], axis=-1)
    return quat.normalise(np.where(dots < -1.0 + 1e-12, half_turn, turn))


def bend_leg(hips: Floats, knees: Floats, feet: Floats, goals: Floats) -> tuple[Floats, Floats]:
    """The rotations of knees and then of hips that bring feet (F, 3) to goals, or point them there, (F, 4) each."""
    # Two-bone inverse kinematics in the plane of the leg, in the space of the model; the shin turns by hip · knee.
    upper, lower = knees - hips, feet - knees
    lengths = [np.linalg.norm(of, axis=1) for of in (upper, lower, feet - hips, goals - hips)]
    first, second, now, wanted = (np.maximum(of, 1e-9) for of in lengths)
    wanted = np.clip(wanted, np.abs(first - second), first + second)
    axes = np.cross(upper, lower)
    sizes = np.linalg.norm(axes, axis=1, keepdims=True)
    is_bent = sizes[:, 0] > 1e-4 * first * second
    # A straight leg bends as it does elsewhere in the motion, else in any direction.
    usual = axes[is_bent].sum(axis=0) if is_bent.any() else np.zeros(3)
    usual = usual - upper * (upper @ usual)[:, None] / (first * first)[:, None]
    across = np.cross(upper, np.where(np.abs(upper[:, :1]) < 0.8 * first[:, None], [1.0, 0, 0], [0, 1.0, 0]))
    usual = np.where(np.linalg.norm(usual, axis=1, keepdims=True) > 1e-6, usual, across)
    axes = np.where(is_bent[:, None], axes, usual)
    axes /= np.linalg.norm(axes, axis=1, keepdims=True)
    cosines = [(first**2 + second**2 - of**2) / (2.0 * first * second) for of in (now, wanted)]
    bends = np.arccos(np.clip(cosines, -1.0, 1.0))
    half = 0.5 * (bends[0] - bends[1])[:, None]
    knee = np.concatenate([np.cos(half), axes * np.sin(half)], axis=1)
    reached = upper + quat.rotate(knee, lower)
    reached /= np.maximum(np.linalg.norm(reached, axis=1, keepdims=True), 1e-9)
    directions = (goals - hips) / np.maximum(lengths[3], 1e-9)[:, None]
    return knee, shortest_turn(reached, directions)


def axes_rotation(source: Floats, target: Floats) -> Floats:
    """Which of the 24 rotations between axes fits joints (n, 3) of one skeleton best to those of another."""
    return quat.from_matrices(nearest_axes((target - target.mean(axis=0)).T @ (source - source.mean(axis=0))))


def nearest_axes(matrix: Floats) -> Floats:
    """Which of the 24 rotations between axes is nearest to a matrix (3, 3); the identity unless another is nearer."""
    turned = product(permutations(np.eye(3)), product((1.0, -1.0), repeat=3))
    candidates = (np.array(rows) * np.array(signs)[:, None] for rows, signs in turned)
    rotations = [axes for axes in candidates if np.linalg.det(axes) > 0.0]
    best = max(rotations, key=lambda axes: float((axes * matrix).sum()))
    return best if (best * matrix).sum() > _BETTER * np.trace(matrix) else np.eye(3)


def _turn_between(ours: Floats, theirs: Floats) -> Floats | None:
    """The rotation of directions (n, 3) to others; None if they do not lie the same way, or only in one line."""
    left, sizes, right = np.linalg.svd(theirs.T @ ours)
    if sizes[1] < 0.1 * sizes[0]:
        return None
    left[:, 2] *= np.linalg.det(left) * np.linalg.det(right)
    turn = left @ right
    cosines = ((ours @ turn.T) * theirs).sum(axis=1)
    return quat.from_matrices(turn) if cosines.min() > np.cos(_SAME_BRANCHES) else None
