"""The joints of a file made of a Blender armature."""
# Joints of the format have no scale. If an armature object is scaled and mirrored as a whole, they keep their positions
# and their axes are made a rotation again, in every pose alike, so that vertices move as in Blender. An unevenly scaled
# armature can only be approximated.

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from bpy.types import Object

from ....io_common.names import distinct
from ....io_common.skeletal import quaternions as quat
from ....io_common.skeletal.model import ROOT, Floats, Ints, Joints
from ....io_common.skeletal.skeleton import order_with_early_parents
from ...reports import Report, listing
from ...scene.axes import Conversion
from ...scene.objects import NothingToExportError
from ...versions import MAX_NAME
from ..rig import Rig
from .hierarchy import order_parents_first, rebuild_hierarchy
from .source import armatures_of, joint_object_of

ORIGIN = "origin"
ORIGIN_TOLERANCE = 1e-6  # of a joint at the origin, in units
NO_VOLUME = 1e-12  # the determinant of axes that are scaled to nothing
_SCALE_DECIMALS = 5  # of a bone's scale, as Blender's evaluation gives it
_SKEW_TOLERANCE = 1e-4  # of lengths and angles of evenly scaled axes

_LEAVES_LAST = (
    "joints without children come last, as parents have to be among the first {}: export all animations of this model "
    "again"
)


@dataclass(eq=False)
class ArmaturePart:
    """An armature of a skeleton."""

    armature: Object  # the original object
    rig: Rig  # its bones
    world: Floats  # its transform in the bind pose, (4, 4)
    left_out: set[str] = field(default_factory=set)  # the names of bones that are not exported
    carrier: tuple[int, str] | None = None  # the part and the bone that its roots hang on
    first: int = 0  # the index of its first bone in the skeleton


@dataclass(eq=False)
class Skeleton:
    """The joints of a file and their bones."""

    armature: Object | None  # the object; None for a model without armature, whose only joint is the origin
    rig: Rig  # its bones; empty if there is no armature
    bones: Ints  # the bone of each joint, as an index into the rig; -1 for an added origin, int32 (n,)
    # The joint of each bone: its own or that of the nearest exported ancestor, -1 if there is none, int32 (J,)
    joint_of_bone: Ints
    joints: Joints  # the bind pose in the coordinates of the file
    world: Floats  # the transform of the armature in the bind pose, (4, 4)
    conversion: Conversion  # from the scene to the file
    # Without an armature, the objects of the joints but for the origin, and their transforms at rest, (J, 4, 4).
    objects: list[Object] = field(default_factory=list)
    object_matrices: Floats = field(default_factory=lambda: np.empty((0, 4, 4)))
    parts: list[ArmaturePart] = field(default_factory=list)  # the armature, and those that hang on its bones
    root: int = 0  # the joint of what follows the armature, but none of its bones

    def of_mesh(self, obj: Object) -> Skeleton:
        """The skeleton with only the bones of the armature that moves an object; the joints are the same."""
        if len(self.parts) < 2:
            return self
        moving = armatures_of(obj)
        return self.of_part(next((one for one in self.parts if one.armature in moving), self.parts[0]))

    def of_part(self, part: ArmaturePart) -> Skeleton:
        """The skeleton with only the bones of an armature."""
        last = part.first + len(part.rig)
        is_own = (self.bones >= part.first) & (self.bones < last)
        joint_of_bone = self.joint_of_bone[part.first : last]
        return replace(
            self, armature=part.armature, rig=part.rig, bones=np.where(is_own, self.bones - part.first, -1),
            joint_of_bone=joint_of_bone, world=part.world, parts=[part],
            root=int(joint_of_bone[0]) if part.first and len(joint_of_bone) else 0,
        )  # fmt: skip

    @property
    def volumes(self) -> Floats:
        """By how much the armature of each bone is scaled in the bind pose, as a volume, (J,)."""
        worlds = [part.world for part in self.parts] or [self.world]
        counts = [len(part.rig) for part in self.parts] or [len(self.rig)]
        return np.repeat([np.linalg.det(world[:3, :3]) or 1.0 for world in worlds], counts)

    def joints_of_armature(self, positions: Floats, orientations: Floats) -> tuple[Floats, Floats]:
        """Joints in the file, if the object of the armature has its transform of the bind pose."""
        # From positions (…, J, 3) and orientations (…, J, 4) in the space of the armature to (…, n, 3) and (…, n, 4).
        world = self.world
        if np.linalg.det(world[:3, :3]) < 0.0 or nearest_rotations(world[:3, :3])[1]:
            return self.joints_of_scene(world @ quat.transforms(positions, orientations))[:2]
        with_bone = np.flatnonzero(self.bones >= 0)
        chosen = self.bones[with_bone]
        rotation = quat.from_matrices(self.conversion.rotation @ nearest_rotations(world[:3, :3])[0])
        result = self._at_origin(positions.shape[:-2])
        moved = positions[..., chosen, :] @ world[:3, :3].T + world[:3, 3]
        result[0][..., with_bone, :] = self.conversion.points(moved)
        result[1][..., with_bone, :] = quat.multiply(rotation, orientations[..., chosen, :])
        return result

    def exported(self, values: Floats) -> Floats:
        """Values of the bones (F, J) as those of the joints (F, n); 1 for an added origin."""
        result = np.ones((*values.shape[:-1], len(self.bones)))
        with_bone = np.flatnonzero(self.bones >= 0)
        result[..., with_bone] = values[..., self.bones[with_bone]]
        return result

    def _at_origin(self, shape: tuple[int, ...]) -> tuple[Floats, Floats]:
        """Positions and orientations of joints without translation and rotation."""
        positions = np.zeros((*shape, len(self.bones), 3))
        orientations = np.zeros((*shape, len(self.bones), 4))
        orientations[..., 0] = 1.0
        return positions, orientations

    def joints_of_scene(self, matrices: Floats) -> tuple[Floats, Floats, npt.NDArray[np.bool_]]:
        """Joints in the file for those of bones in the scene, and which bones are scaled unevenly."""
        positions, orientations = self._at_origin(matrices.shape[:-3])
        uneven = np.zeros(matrices.shape[:-2], dtype=bool)
        with_bone = np.flatnonzero(self.bones >= 0)
        chosen = matrices[..., self.bones[with_bone], :, :]
        positions[..., with_bone, :] = self.conversion.points(chosen[..., :3, 3])
        rotations, uneven[..., self.bones[with_bone]] = nearest_rotations(
            self.conversion.rotation @ chosen[..., :3, :3]
        )
        orientations[..., with_bone, :] = quat.from_matrices(rotations)
        return positions, orientations, uneven

    def scaled_joints_of_scene(self, matrices: Floats) -> tuple[Floats, Floats, Floats, npt.NDArray[np.bool_]]:
        """The same for F frames, with scales (F, n)."""
        # A joint that is scaled to nothing keeps the orientation of the frame before, or of the next where it has one.
        scales_of_bones = np.cbrt(np.linalg.det(matrices[..., :3, :3]) / self.volumes)
        # Two more digits than this are lost in Blender's 32 bits.
        scales_of_bones = np.round(scales_of_bones, _SCALE_DECIMALS)
        plain = matrices.copy()
        plain[..., :3, :3] *= np.where(scales_of_bones < 0.0, -1.0, 1.0)[..., None, None]
        positions, orientations, uneven = self.joints_of_scene(_with_orientations(plain))
        return positions, orientations, self.exported(scales_of_bones), uneven


def build_skeleton(
    parts: list[ArmaturePart],
    conversion: Conversion,
    report: Report,
    *,
    sample: Callable[[list[str]], Floats] | None = None,
    needs_origin: Callable[[int, float], bool] = lambda _count, _distance: False,
    last_parent: int = 0,
) -> Skeleton:
    """Joints of armatures at rest; raises NothingToExportError if no bone is left or one is not finite."""
    # `parts` are an armature and those that hang on its bones, carriers first. `sample` gives the matrices of bones of
    # the armature on some frames, if its hierarchy is to be rebuilt. `needs_origin` says whether a joint named origin
    # is added above the roots, by their number and the distance of the first from the origin; never if it is there.
    # `last_parent` is the highest index of a joint that may have children, if another order can bring that about; 0 for
    # no limit.
    armature, world = parts[0].armature, parts[0].world
    for part in parts:
        _require_bones(part)
    rig = parts[0].rig if len(parts) == 1 else _joined_rig(parts)
    exported = np.array([name not in one.left_out for one in parts for name in one.rig.bone_names], dtype=bool)
    matrices = np.concatenate([
        part.world @ quat.transforms(part.rig.joints.positions, part.rig.joints.orientations) for part in parts
    ])  # fmt: skip
    _require_finite(rig, exported, matrices)
    joint_of_bone, parents = _exported_parents(rig.joints.parents, exported)
    chosen = np.flatnonzero(exported).astype(np.int32)
    if sample is not None:
        count = np.count_nonzero(chosen < len(parts[0].rig))
        rebuilt = parents.copy()
        rebuilt[:count] = rebuild_hierarchy(
            armature, [rig.bone_names[bone] for bone in chosen[:count]], parents[:count], sample
        )
        if not np.array_equal(rebuilt, parents):
            chosen, parents, joint_of_bone = _reordered(order_parents_first(rebuilt), chosen, rebuilt, joint_of_bone)
    names = [rig.joints.names[bone] for bone in chosen]
    roots = np.flatnonzero(parents == ROOT)
    distance = float(np.linalg.norm(conversion.points(matrices[chosen[roots[:1]], :3, 3])))
    is_origin = len(roots) == 1 and names[roots[0]] == ORIGIN and distance <= ORIGIN_TOLERANCE
    if not is_origin and needs_origin(len(roots), distance):
        names.insert(0, _unique_name(ORIGIN, names))
        chosen, parents, joint_of_bone = _with_origin(chosen, parents, joint_of_bone)
    order = order_with_early_parents(parents, last_parent) if last_parent else None
    if order is not None:
        names = [names[joint] for joint in order]
        chosen, parents, joint_of_bone = _reordered(order, chosen, parents, joint_of_bone)
        report.warn(_LEAVES_LAST.format(last_parent + 1), armature.name)
    joints = Joints(names, parents, np.zeros((len(names), 3)), np.zeros((len(names), 4)))
    skeleton = Skeleton(armature, rig, chosen, joint_of_bone, joints, world, conversion, parts=parts)
    if len(parts) == 1 and np.array_equal(world, np.eye(4)) and conversion.is_identity:
        # Joints of imported files are exported to the last digit.
        with_bone = np.flatnonzero(chosen >= 0)
        joints.orientations[:, 0] = 1.0
        joints.positions[with_bone] = rig.joints.positions[chosen[with_bone]]
        joints.orientations[with_bone] = rig.joints.orientations[chosen[with_bone]]
        return skeleton
    _place_joints(skeleton, matrices, report)
    return skeleton


def _with_origin(chosen: Ints, parents: Ints, joint_of_bone: Ints) -> tuple[Ints, Ints, Ints]:
    """The same with another joint first, without a bone, as the parent of all roots."""
    parents = np.concatenate([[ROOT], np.where(parents == ROOT, 0, parents + 1)]).astype(np.int32)
    chosen = np.concatenate([[-1], chosen]).astype(np.int32)
    return chosen, parents, np.where(joint_of_bone >= 0, joint_of_bone + 1, 0).astype(np.int32)


def _place_joints(skeleton: Skeleton, matrices: Floats, report: Report) -> None:
    """Sets the joints to bones at rest, by their matrices in the scene, and gives those of several armatures names."""
    joints, parts = skeleton.joints, skeleton.parts
    joints.positions, joints.orientations, uneven = skeleton.joints_of_scene(matrices)
    for part in parts:
        if uneven[part.first : part.first + len(part.rig)].any():
            report.warn("the armature is scaled unevenly, which joints cannot be: apply the scale", part.armature.name)
    if len(parts) > 1:
        names = joints.names
        joints.names = distinct(names, MAX_NAME)
        renamed = [new for old, new in zip(names, joints.names, strict=True) if new != old]
        if renamed:
            report.warn(f"joints of several armatures have the same name, so some got a number: {listing(renamed)}")


def _require_finite(rig: Rig, exported: npt.NDArray[np.bool_], matrices: Floats) -> None:
    infinite = np.flatnonzero(exported & ~np.isfinite(matrices).all(axis=(1, 2)))
    if len(infinite):
        bone = rig.bone_names[int(infinite[0])]
        raise NothingToExportError(f"the rest position of {bone} is not a number: move or delete this bone")


def _require_bones(part: ArmaturePart) -> None:
    if set(part.rig.bone_names) <= part.left_out:
        if len(part.rig):
            what = "no bone has Deform enabled: enable it, or turn off Deform Bones Only"
        else:
            what = "the armature has no bones: add bones, or remove the armature to export meshes without it"
        raise NothingToExportError(f"{part.armature.name}: {what}")


def _joined_rig(parts: list[ArmaturePart]) -> Rig:
    """The bones of all armatures, with the roots of those that hang on a bone as its children."""
    first, parents = 0, list[Ints]()
    for part in parts:
        part.first, part_parents = first, part.rig.joints.parents
        first += len(part.rig)
        above = ROOT
        if part.carrier is not None:
            carrier = parts[part.carrier[0]]
            above = carrier.first + carrier.rig.bone_names.index(part.carrier[1])
        parents.append(np.where(part_parents == ROOT, above, part_parents + part.first).astype(np.int32))
    rigs = [part.rig for part in parts]
    joints = [rig.joints for rig in rigs]
    names = [name for one in joints for name in one.names]
    joined = Joints(names, np.concatenate(parents), _joined(joints, "positions"), _joined(joints, "orientations"))
    arrays = (_joined(rigs, name) for name in ("indices", "is_unmoved", "rest_positions", "rest_orientations"))
    return Rig([name for rig in rigs for name in rig.bone_names], joined, *arrays)


def _joined(parts: Iterable[object], name: str) -> npt.NDArray[Any]:
    return np.concatenate([getattr(part, name) for part in parts])


def _reordered(order: Ints, bones: Ints, parents: Ints, joint_of_bone: Ints) -> tuple[Ints, Ints, Ints]:
    """The bones and parents of joints in another order, and the joint of each bone."""
    # The last is that of `ROOT`.
    ranks = np.append(np.argsort(order), ROOT).astype(np.int32)
    return bones[order], ranks[parents[order]], ranks[joint_of_bone]


def nearest_rotations(matrices: Floats) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """Rotations for matrices that may scale and mirror, and which of them scale unevenly."""
    # The first axis of a mirrored matrix is negated; an unevenly scaled matrix is replaced by the nearest rotation.
    mirrored = np.linalg.det(matrices) < 0.0
    result = matrices * np.where(mirrored[..., None, None], (-1.0, 1.0, 1.0), 1.0)
    lengths = np.linalg.norm(result, axis=-2, keepdims=True)
    result = result / np.where(lengths > 0.0, lengths, 1.0)
    angles = np.abs(np.swapaxes(result, -1, -2) @ result - np.eye(3)).max(axis=(-2, -1))
    ranges = (lengths.max(axis=-1) - lengths.min(axis=-1)) / np.maximum(lengths.max(axis=-1), 1e-30)
    uneven = (angles > _SKEW_TOLERANCE) | (ranges[..., 0] > _SKEW_TOLERANCE)
    if uneven.any():
        left, _, right = np.linalg.svd(result)
        result = left @ right
    return result, uneven


def _with_orientations(matrices: Floats) -> Floats:
    """Matrices (F, J, 4, 4) with the axes of another frame where they have no length."""
    has_axes = np.linalg.norm(matrices[..., :3, :3], axis=-2).min(axis=-1) > 0.0
    if has_axes.all():
        return matrices
    frames = np.arange(len(matrices))[:, None]
    earlier = np.maximum.accumulate(np.where(has_axes, frames, -1), axis=0)
    later = np.minimum.accumulate(np.where(has_axes, frames, len(matrices))[::-1], axis=0)[::-1]
    chosen = np.where(earlier >= 0, earlier, later)
    is_known = chosen < len(matrices)
    joints = np.arange(matrices.shape[1])
    result = matrices.copy()
    axes = matrices[np.where(is_known, chosen, 0), joints, :3, :3]
    result[..., :3, :3] = np.where(is_known[..., None, None], axes, np.eye(3))
    return result


def _exported_parents(parents: Ints, exported: np.ndarray) -> tuple[Ints, Ints]:
    """The joint of each bone, and the parent of each joint, if some bones are left out."""
    numbers = np.cumsum(exported) - 1
    joint_of_bone = np.full(len(parents), -1, dtype=np.int32)
    exported_ancestor = np.full(len(parents), ROOT, dtype=np.int32)
    # Parents come before their children in a rig.
    for bone, parent in enumerate(parents.tolist()):
        exported_ancestor[bone] = joint_of_bone[parent] if parent != ROOT else ROOT
        joint_of_bone[bone] = numbers[bone] if exported[bone] else exported_ancestor[bone]
    return joint_of_bone, exported_ancestor[exported]


def build_object_skeleton(joint_objects: Mapping[Object, Floats], conversion: Conversion) -> Skeleton:
    """A joint named origin, with joints of objects below it, whose transforms are those in the bind pose."""
    objects = list(joint_objects)
    count = len(objects)
    matrices = np.array([joint_objects[obj] for obj in objects]).reshape(count, 4, 4)
    singular = [obj.name for obj, matrix in joint_objects.items() if abs(np.linalg.det(matrix)) < NO_VOLUME]
    if singular:
        raise NothingToExportError(f"{singular[0]} has a scale of 0 on the current frame: go to another frame")
    parents = np.array(
        [joint_object_of(obj.parent, objects) if obj.parent is not None else ROOT for obj in objects], dtype=np.int32
    )
    names = [obj.name for obj in objects]
    axes, _ = nearest_rotations(matrices[:, :3, :3])
    bind = Joints(names, parents, matrices[:, :3, 3], quat.from_matrices(axes))
    rig = Rig(names, bind, np.full(count, -1), np.zeros(count, dtype=bool), bind.positions, bind.orientations)
    skeleton = Skeleton(
        None, rig, np.arange(-1, count, dtype=np.int32), np.arange(1, count + 1, dtype=np.int32),
        Joints(
            [_unique_name(ORIGIN, names), *names], np.append(ROOT, parents + 1).astype(np.int32),
            np.zeros((count + 1, 3)), np.zeros((count + 1, 4)),
        ),
        np.eye(4), conversion, objects, matrices,
    )  # fmt: skip
    rest = quat.transforms(bind.positions, bind.orientations)
    skeleton.joints.positions, skeleton.joints.orientations, _ = skeleton.joints_of_scene(rest)
    return skeleton


def _unique_name(name: str, taken: list[str]) -> str:
    while name in taken:
        name += "_"
    return name
