"""Which joint of one skeleton stands for which joint of another: by names, naming schemes and structure."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations, product
from pathlib import Path
from typing import Literal

import numpy as np

from . import quaternions as quat
from .model import Animation, Floats, Joints, SkeletalError
from .retargeting import UNMAPPED, Leg, Retargeting, axes_rotation
from .skeleton import ancestors, depths, encode_poses, first_indices, is_same_order, poses

How = Literal["name", "spelling", "scheme", "order", "structure", "place", "user"]  # how a pair was found
LEAST_SHARE = 0.25  # an animation of whose joints fewer are mapped is refused

_PREFIXES = re.compile(
    r"^(?:.*:|bip\d* |bip\d*_|def[-_]|org[-_]|valvebiped\.(?:bip\d+_)?|mixamorig\d*_?|cc_base_|j_bip_(?:c_)?)+", re.I
)
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_SIDES = {"l": "L", "left": "L", "r": "R", "right": "R"}
_MAX_CHAINS = 6  # chains of one joint that are compared in every order
_OTHER_SIDE = {"L": "R", "R": "L"}
_CLEARLY = 0.3  # the share of a foot that has to point ahead
# Helpers of a rig, not parts of the body.
_HELPERS = {
    "twist", "roll", "ik", "fk", "goal", "null", "pole", "target", "ctrl", "end", "nub", "tweak", "mch", "channel",
}  # fmt: skip

# Mixamo, Rigify, Doom 3, Sauerbraten, Quake re-release, CMU and other motion capture.
_PARTS = {
    "root": "root origin base",
    "hips": "hips hip pelvis pubis maintorso cog",
    "spine": "spine lowerback upperback thorax waist chest upperchest torso abdomen spinelow spinehigh shoulders",
    "neck": "neck neckcontrol lowerneck upperneck",
    "head": "head",
    "clavicle": "shoulder clavicle collar clav armroot chest",
    "upperarm": "arm upperarm uparm bicep humerus armupper",
    "forearm": "forearm lowerarm loarm lowerlarm radius armlower armend elbow",
    "hand": "hand wrist palm",
    "thigh": "thigh upleg upperleg femur legupper upperlimb",
    "shin": "leg shin calf lowerleg loleg tibia leglower knee",
    "foot": "foot ankle upperfoot",
    "toe": "toe toes toebase ball lowerfoot",
    "thumb": "thumb handthumb fingerthumb t",
    "index": "index handindex findex indexfinger fingerindex",
    "middle": "middle mid handmiddle fmiddle fingermiddle fingers fingerstip",
    "ring": "ring handring fring fingerring",
    "pinky": "pinky pink little handpinky fpinky fingerpink",
}  # fmt: skip
_PART_OF = {name: part for part, names in reversed(_PARTS.items()) for name in names.split()}
_OF_SIDES = {"clavicle", "upperarm", "forearm", "hand", "thigh", "shin", "foot", "toe"}
_FINGERS = {"thumb", "index", "middle", "ring", "pinky"}

_Key = tuple[str, str, tuple[int, ...]]


@dataclass(frozen=True)
class Pair:
    """The source joint of a joint, and how it was found."""

    source: str
    how: How


def find_joint_map(source: Joints, target: Joints) -> dict[str, Pair]:
    """The pairs of two skeletons by the name of the target's joint, as far as they are found."""
    ours, theirs = Body(target), Body(source)
    found: dict[int, tuple[int, How]] = {}
    by_name = first_indices(source.names)
    spine, other_spine = (of.chains["spine", ""] for of in (ours, theirs))
    if len(spine) == len(other_spine):
        # The same number may count from another joint.
        for joint, counterpart in zip(spine, other_spine, strict=True):
            is_same = target.names[joint] == source.names[counterpart]
            found[joint] = counterpart, "name" if is_same else "scheme"
    for joint, (name, key) in enumerate(zip(target.names, ours.keys, strict=True)):
        for how, other in (("name", by_name.get(name)), ("spelling", theirs.by_key.get(key))):
            # One name may stand for the hips of one skeleton and a helper of another.
            if other is None or _OTHER_SIDE.get(key[0]) == theirs.keys[other][0]:
                continue
            if (joint in ours.trunk) == (other in theirs.trunk):
                found.setdefault(joint, (other, how))  # type: ignore[arg-type]
    for part, chain in ours.chains.items():
        others = theirs.chains[part]
        used = {other for other, _ in found.values()}
        for place, joint in enumerate(chain if others else []):
            # Fingers may have a joint for the tip, which does not move. Other chains are divided evenly.
            evenly = round(place * (len(others) - 1) / max(len(chain) - 1, 1))
            counterpart = others[min(place, len(others) - 1) if part[0] in _FINGERS else evenly]
            if joint not in found and (len(chain) != len(others) or counterpart not in used):
                found[joint] = counterpart, "scheme"
    if is_same_order(source, target) and all(joint == other for joint, (other, _) in found.items()):
        found = {joint: found.get(joint, (joint, "order")) for joint in range(len(target))}
    _add_mirrored(found, ours, theirs)
    _add_places(found, target)
    _add_chains(found, source, target)
    _add_mirrored(found, ours, theirs)
    return {target.names[joint]: Pair(source.names[other], how) for joint, (other, how) in sorted(found.items())}


def source_indices(pairs: Mapping[str, str], source: Joints, target: Joints) -> list[int]:
    """The index of the source of each joint of the target, `UNMAPPED` where neither map nor source have it."""
    indices = first_indices(source.names)
    return [indices.get(pairs.get(name, ""), UNMAPPED) for name in target.names]


def map_retargeting(
    source: Joints, target: Joints, pairs: Mapping[str, str], *, translated: Sequence[bool] | None = None
) -> Retargeting:
    """The transfer of poses by a map, source joints by target joints; raises SkeletalError as `Retargeting` does."""
    body, sources = Body(target), source_indices(pairs, source, target)
    return Retargeting(source, target, sources, legs=body.legs, limbs=body.limbs(), translated=translated)


def retarget(
    animation: Animation,
    source: Joints,
    target: Joints,
    pairs: Mapping[str, str],
    *,
    translated: Sequence[bool] | None = None,
    keep_feet: bool = False,
) -> Animation:
    """The animation of another skeleton; raises SkeletalError if nothing is mapped, or the map is cyclic.

    It has the joints of the source in the same order; source and target are rest poses, and `pairs` source joints by
    target joints. `translated` is that of `Retargeting`, `keep_feet` that of `Retargeting.apply`.
    """
    retargeting = map_retargeting(source, target, pairs, translated=translated)
    return transfer_animation(animation, retargeting, keep_feet=keep_feet)


def transfer_animation(animation: Animation, retargeting: Retargeting, *, keep_feet: bool = False) -> Animation:
    """The animation of another skeleton, whose joints are those of the transfer's source in the same order."""
    target = retargeting.target
    moved = retargeting.apply(*poses(animation), keep_feet=keep_feet)
    return encode_poses(
        target.names, target.parents, *moved, frame_rate=animation.frame_rate, commandline=animation.commandline
    )


def format_joint_map(pairs: Mapping[str, str]) -> str:
    """The text of a file with a map, source joints by target bones."""
    return json.dumps({"joints": dict(pairs)}, indent=2, ensure_ascii=False) + "\n"


def parse_joint_map(text: str, path: str = "") -> dict[str, str]:
    """The source joints by target bones in the text of a file; raises SkeletalError."""
    try:
        pairs = json.loads(text)["joints"]
    except (ValueError, TypeError, KeyError, RecursionError):
        pairs = None
    if not isinstance(pairs, dict) or not all(isinstance(value, str) for value in pairs.values()):
        raise SkeletalError("not a map of joints", path=path, expected='{"joints": {"bone": "source joint", …}}')
    return {bone: joint for bone, joint in pairs.items() if joint}


def read_joint_map(path: Path) -> dict[str, str]:
    """The map in a file; raises SkeletalError or OSError."""
    return parse_joint_map(path.read_text(encoding="utf-8", errors="replace"), str(path))


class Body:
    """The joints of a skeleton as parts of a body, by their names."""

    def __init__(self, joints: Joints) -> None:
        self.parents = joints.parents
        words = _without_common_word([words_of(name) for name in joints.names])
        known = {"".join(found) for found in words}
        self.keys = [_key(found, known) for found in words]
        # By part and side, from the nearest to the root on.
        self.chains: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
        for joint in np.argsort(depths(joints.parents), kind="stable").tolist():
            side, name, _ = self.keys[joint]
            part = _PART_OF.get(name) or (side and _PART_OF.get(name.rstrip("s")))
            if part == "spine" and side:
                part = "clavicle"
            if part and (side or part not in _OF_SIDES) and _HELPERS.isdisjoint(words[joint]):
                self.chains[part, side].append(joint)
        for side in "LR":
            self._divide(side, "shin", ("thigh", "shin"))
            self._divide(side, "upperarm", ("upperarm", "forearm"))
            self._divide(side, "upperarm", ("clavicle", "upperarm"))
            for part in ("upperarm", "forearm", "thigh", "shin"):
                # The others are twist bones.
                del self.chains[part, side][1:]
        self.trunk, below_arms = (self._common_ancestors(part) for part in ("thigh", "upperarm"))
        if self.trunk and below_arms:
            self._divide_spine(below_arms)
        if self._has_swapped_sides(joints.positions):
            self.keys = [(_OTHER_SIDE.get(side, side), name, numbers) for side, name, numbers in self.keys]
            swapped = {(part, _OTHER_SIDE.get(side, side)): chain for (part, side), chain in self.chains.items()}
            self.chains = defaultdict(list, swapped)
        self.by_key = {key: joint for joint, key in enumerate(self.keys) if self.keys.count(key) == 1}

    @property
    def legs(self) -> list[Leg]:
        """The legs that have all joints, the left one first."""
        legs = [[self.chains[part, side][:1] for part in ("thigh", "shin", "foot")] for side in "LR"]
        return [(thigh[0], shin[0], foot[0]) for thigh, shin, foot in legs if thigh and shin and foot]

    def limbs(self) -> list[int] | None:
        """The joints of a side but for feet, what is below those, and what carries a limb; None if none has a side."""
        feet, tops = (
            {joint for part in parts for side in "LR" for joint in self.chains[part, side]}
            for parts in (("foot", "toe"), ("upperarm", "thigh"))
        )
        carriers = {ancestor for top in tops for ancestor in ancestors(self.parents, top)}
        return [
            joint
            for joint, (side, _, _) in enumerate(self.keys)
            if side and joint not in carriers and feet.isdisjoint([joint, *ancestors(self.parents, joint)])
        ] or None

    def _common_ancestors(self, part: str) -> set[int]:
        above = [set(ancestors(self.parents, joint)) for side in "LR" for joint in self.chains[part, side]]
        return set.intersection(*above) if above else set()

    def _has_swapped_sides(self, positions: Floats) -> bool:
        """Whether the left leg is the right one of a body whose feet point ahead."""
        legs = [(self.chains["thigh", side], self.chains["foot", side]) for side in "LR"]
        if not all(thigh and foot for thigh, foot in legs):
            return False
        up, ahead = np.zeros(3), np.zeros(3)
        for (thigh, *_), (foot, *_) in legs:
            up += positions[thigh] - positions[foot]
            below = [joint for joint in range(len(positions)) if foot in ancestors(self.parents, joint)]
            ahead += max(positions[[foot, *below]] - positions[foot], key=lambda line: float(np.linalg.norm(line)))
        across = positions[legs[0][0][0]] - positions[legs[1][0][0]]
        sizes = np.linalg.norm([up, ahead, across], axis=1)
        # Feet that point down, or have no toes, tell nothing.
        return float(np.cross(up, ahead) @ across) < -_CLEARLY * float(sizes.prod())

    def _divide(self, side: str, part: str, names: tuple[str, str]) -> None:
        """Divides a chain if its joints have one name, and the other part has none."""
        chain, other = self.chains[part, side], names[0] if names[1] == part else names[1]
        if len(chain) > 1 and not self.chains[other, side] and chain[0] in ancestors(self.parents, chain[1]):
            at = len(chain) - 1 if names == ("upperarm", "forearm") else 1
            self.chains[names[0], side], self.chains[names[1], side] = chain[:at], chain[at:]

    def _divide_spine(self, below_arms: set[int]) -> None:
        """Puts joints of the spine that carry the legs with the hips, and those above the arms with the neck."""
        spine, hips = self.chains["spine", ""], self.chains["hips", ""]
        lowest = [joint for joint in [*spine, *hips] if joint in self.trunk]
        # A root that carries all is the hips.
        self.chains["hips", ""] = lowest or hips or self.chains.pop(("root", ""), [])
        kept = [joint for joint in spine if joint in below_arms and joint not in self.trunk]
        self.chains["spine", ""] = kept
        higher = [joint for joint in spine if kept and kept[-1] in ancestors(self.parents, joint)]
        if higher and not self.chains["head", ""]:
            self.chains["head", ""], self.chains["neck", ""] = higher[-1:], higher[:-1]


def words_of(name: str) -> list[str]:
    """The words of a joint's name, without prefixes of tools, in lower case."""
    return [word.lower() for word in _WORDS.findall(_PREFIXES.sub("", name) or name)]


def _without_common_word(words: list[list[str]]) -> list[list[str]]:
    """The words of all names, without a first one that most share, as the name of a character."""
    ((first, count),) = Counter(found[0] for found in words if found).most_common(1) or [("", 0)]
    if 4 * count < 3 * len(words) or count < 2 or first in _SIDES:
        return words
    return [found[1:] if found[:1] == [first] and len(found) > 1 else found for found in words]


def _key(words: list[str], known: set[str]) -> _Key:
    """The side, the words without it, and the numbers of a name."""
    side = next((_SIDES[word] for word in words if word in _SIDES), "")
    rest = [word for word in words if word not in _SIDES]
    if not side and rest:
        # `Lhand`, if there is an `Rhand`.
        whole = "".join(words)
        for letter, other in (("l", "r"), ("r", "l")):
            if whole[0] == letter and len(rest[0]) > 1 and other + whole[1:] in known:
                side, rest = letter.upper(), [rest[0][1:], *rest[1:]]
                break
    numbers = tuple(int(word[:9]) for word in rest if word.isdigit() and int(word[:9]))
    return side, "".join(word for word in rest if not word.isdigit()), numbers


def _add_mirrored(found: dict[int, tuple[int, How]], ours: Body, theirs: Body) -> None:
    """Maps joints whose counterparts on the other side are mapped."""
    for joint, (other, _) in list(found.items()):
        keys = ours.keys[joint], theirs.keys[other]
        if all(key[0] in _OTHER_SIDE for key in keys):
            mirrored, source = ((_OTHER_SIDE[key[0]], *key[1:]) for key in keys)
            if mirrored in ours.by_key and source in theirs.by_key:
                found.setdefault(ours.by_key[mirrored], (theirs.by_key[source], "structure"))


def _add_places(found: dict[int, tuple[int, How]], target: Joints) -> None:
    """Maps joints at the very place of a mapped one on another branch, as those of inverse kinematics are."""
    size = float(np.ptp(target.positions, axis=0).max(initial=0.0))
    mapped = list(found)
    for joint in range(len(target)):
        if joint in found or not mapped:
            continue
        distances = np.linalg.norm(target.positions[mapped] - target.positions[joint], axis=1)
        nearest = mapped[int(distances.argmin())]
        line = ancestors(target.parents, joint)
        if distances.min() < 1e-3 * size and nearest not in line and joint not in ancestors(target.parents, nearest):
            found[joint] = found[nearest][0], "place"


def _add_chains(found: dict[int, tuple[int, How]], source: Joints, target: Joints) -> None:
    """Maps chains that hang on mapped joints and have equally many joints, those that point the same way first."""
    joints = list(found)
    sources = [found[joint][0] for joint in joints]
    if not joints:
        return
    rotation = axes_rotation(source.positions[sources], target.positions[joints])
    near = 1e-3 * float(np.ptp(source.positions, axis=0).max())
    for joint in joints:
        other = found[joint][0]
        # Fingers may hang on a helper at the place of the hand.
        distances = np.linalg.norm(source.positions - source.positions[other], axis=1)
        hands = np.flatnonzero(distances <= near).tolist()
        used = {one for one, _ in found.values()}
        ours = [chain for chain in _chains(target, joint) if not any(one in found for one in chain)]
        theirs = [one for hand in hands for one in _chains(source, hand) if not used.intersection(one)]
        for length in {len(chain) for chain in ours}:
            mine, his = ([one for one in of if len(one) == length][:_MAX_CHAINS] for of in (ours, theirs))
            # How far each points the way of each; 0 for those without a counterpart.
            size = max(len(mine), len(his))
            alike = np.zeros((size, size))
            for row, column in product(range(len(mine)), range(len(his))):
                turned = quat.rotate(rotation, _direction(source.positions, other, his[column]))
                alike[row, column] = _direction(target.positions, joint, mine[row]) @ turned
            columns = max(permutations(range(size)), key=lambda order: float(alike[range(size), order].sum()))
            for chain, column in zip(mine, columns, strict=False):
                if column < len(his):
                    found.update({x: (y, "structure") for x, y in zip(chain, his[column], strict=True)})


def _chains(joints: Joints, start: int) -> list[list[int]]:
    """The chains of two joints and more without branches that hang on a joint."""
    result = []
    for joint in np.flatnonzero(joints.parents == start).tolist():
        chain = [joint]
        while len(below := np.flatnonzero(joints.parents == chain[-1])) == 1:
            chain.append(int(below[0]))
        if not len(below) and len(chain) > 1:
            result.append(chain)
    return result


def _direction(positions: Floats, start: int, chain: list[int]) -> Floats:
    line: Floats = positions[chain].mean(axis=0) - positions[start]
    return line / max(float(np.linalg.norm(line)), 1e-9)
