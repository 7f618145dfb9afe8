"""The one validation of models and animations: arrays that fit together, and values that files can hold.

Repeated joint names are not refused: files with them exist; the reader and the check for a game warn of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..arrays import MAX_INT32, Record, check_range
from ..texts import counted
from .model import LARGEST, ROOT, Animation, Ints, Joints, Mesh, Model, SkeletalError
from .skeleton import ALL_COMPONENTS, CyclicHierarchyError, depths, is_animated

_UNIT_TOLERANCE = 1e-3  # quaternions of 32-bit floats are off by less
_LOWEST_RATE = 1e-10  # a smaller frame rate would be written as 0


def validate_model(model: Model) -> None:
    """Raises SkeletalError if a model cannot be written and read again; the message names the attribute."""
    check_arrays(model)
    joints = model.joints
    check_hierarchy(joints.names, joints.parents, "Model.joints")
    check_finite(joints, "Model.joints", "positions", "orientations")
    check_unit(joints.orientations, "Model.joints.orientations")
    for index, mesh in enumerate(model.meshes):
        validate_mesh(mesh, len(joints), f"Model.meshes[{index}]")


def validate_mesh(mesh: Mesh, joint_count: int, what: str = "Mesh") -> None:
    """Checks a mesh; for the errors see `validate_model`."""
    check_arrays(mesh, what)
    check_indices(mesh.triangles, mesh.vertex_count, f"{what}.triangles", "vertex")
    check_weights(mesh, joint_count, what)
    check_finite(mesh, what, "uvs", "weight_biases", "weight_positions")


def validate_animation(animation: Animation) -> None:
    """Checks an animation; for the errors see `validate_model`."""
    what = "Animation"
    check_components(animation, what)
    check_hierarchy(animation.names, animation.parents, what)
    if not animation.frame_count:
        raise SkeletalError(f"{what}.frames: there are no frames", found="0", expected="1 or more")
    check_rate(animation.frame_rate, f"{what}.frame_rate")
    check_finite(animation, what, "bounds", "base_positions", "base_orientations", "frames")


def check_components(animation: Animation, what: str = "Animation") -> None:
    """Raises SkeletalError if a joint's animated component does not exist, or arrays do not fit together."""
    check_arrays(animation, what)
    check_range(SkeletalError, f"{what}.starts", animation.starts, -MAX_INT32, MAX_INT32)
    unknown = (animation.flags < 0) | (animation.flags > ALL_COMPONENTS)
    refuse_first(unknown, f"{what}.flags", " has unknown bits", animation.flags, f"0 to {ALL_COMPONENTS}")
    sizes = is_animated(animation.flags).sum(axis=1)
    width = animation.frames.shape[1]
    outside = np.flatnonzero((sizes > 0) & are_outside(animation.starts, sizes, width))
    if len(outside):
        joint = int(outside[0])
        raise SkeletalError(
            f"{what}.starts[{joint}]: its components are outside of the frame",
            found=f"{counted(sizes[joint], 'components')} from {animation.starts[joint]} on",
            expected=f"a range within {counted(width, 'components')} of a frame",
        )  # fmt: skip


def check_arrays(record: Model | Joints | Mesh | Animation, what: str = "") -> None:
    """Raises SkeletalError if an array has another shape or dtype than it should, or lengths do not agree."""
    what = what or type(record).__name__
    if isinstance(record, Model):
        check_arrays(record.joints, f"{what}.joints")
        for index, mesh in enumerate(record.meshes):
            check_arrays(mesh, f"{what}.meshes[{index}]")
    lengths = {"J": len(record.names)} if isinstance(record, Joints | Animation) else {}
    if isinstance(record, Animation):
        lengths["F"] = len(np.atleast_1d(record.frames))
    record.check_arrays(f"{what}.", **lengths)


def check_weights(mesh: Mesh, joint_count: int | None = None, what: str = "Mesh") -> None:
    """Raises SkeletalError if a vertex's weight or, given their number, a weight's joint does not exist."""
    if joint_count is not None:
        check_indices(mesh.weight_joints, joint_count, f"{what}.weight_joints", "joint")
    outside = np.flatnonzero(has_invalid_range(mesh))
    if len(outside):
        starts, counts, weights = mesh.weight_starts, mesh.weight_counts, len(mesh.weight_joints)
        vertex = int(outside[0])
        raise SkeletalError(
            f"{what}.weight_starts and weight_counts: vertex {vertex} has weights that do not exist",
            found=f"{counted(counts[vertex], 'weights')} from {starts[vertex]} on",
            expected=f"a range within {counted(weights, 'weights')} of the mesh",
        )  # fmt: skip


def has_invalid_range(mesh: Mesh) -> npt.NDArray[np.bool_]:
    """Which vertices refer to weights that do not exist, (V,)."""
    return are_outside(mesh.weight_starts, mesh.weight_counts, len(mesh.weight_joints))


def are_outside(starts: Ints, counts: Ints, size: int) -> npt.NDArray[np.bool_]:
    """Which ranges are not within a table of a size, (n,)."""
    return np.asarray((starts < 0) | (counts < 0) | (starts.astype(np.int64) + counts > size))


def check_triangles(triangles: npt.ArrayLike, vertex_count: int) -> Ints:
    """Triangles as an array (T, 3); raises SkeletalError if they are not, or a vertex does not exist."""
    array = np.asarray(triangles)
    if array.ndim != 2 or array.shape[1] != 3 or array.dtype.kind not in "iu":
        raise SkeletalError(
            "triangles have the wrong shape or dtype",
            found=f"{array.dtype} {array.shape}", expected="integers (triangles, 3)",
        )  # fmt: skip
    check_indices(array, vertex_count, "triangles", "vertex")
    return array.astype(np.int32, copy=False)


def check_unit(orientations: npt.NDArray[np.float64], what: str) -> None:
    """Raises SkeletalError unless all quaternions (…, 4) are of unit length, within 0.001."""
    lengths = np.sqrt(np.einsum("...i,...i->...", orientations, orientations))
    bad = ~(np.abs(lengths - 1.0) <= _UNIT_TOLERANCE)
    refuse_first(bad, what, " is not a unit quaternion", lengths, "length 1", "length {:.6g}")


def check_rate(rate: float, what: str) -> None:
    """Raises SkeletalError unless a frame rate is finite and above 0."""
    if not _LOWEST_RATE <= rate <= LARGEST:
        raise SkeletalError(f"{what} is not finite or not above 0", found=str(rate), expected="frames per second")


def check_hierarchy(names: list[str], parents: npt.NDArray[np.int32], what: str) -> None:
    """Raises SkeletalError if a parent does not exist, or a joint is its own ancestor."""
    check_indices(parents, len(names), f"{what}.parents", "joint", lowest=ROOT)
    try:
        depths(parents)
    except CyclicHierarchyError as cycle:
        raise SkeletalError(
            f"{what}.parents: joint {names[cycle.joint]!r} is its own ancestor",
            found=f"parent {int(parents[cycle.joint])}", expected="a joint that is not its descendant, or -1",
        ) from None  # fmt: skip


def check_indices(indices: npt.NDArray[np.integer], count: int, what: str, kind: str, lowest: int = 0) -> None:
    """Raises SkeletalError if an index is not one of `count` things of a kind."""
    if indices.size and (indices.min() < lowest or indices.max() >= count):
        expected = f"{lowest} to {count - 1}" if count else "none, because there are none"
        bad = (indices < lowest) | (indices >= count)
        refuse_first(bad, what, f" is a {kind} that does not exist", indices, expected)


def check_finite(record: Record, what: str, *names: str) -> None:
    """Raises SkeletalError if an array of a record has a number beyond the finite 32-bit floats."""
    for name in names:
        values = getattr(record, name)
        problem = ": cannot write a number that is not finite"
        refuse_first(~(np.abs(values) <= LARGEST), f"{what}.{name}", problem, values, "a finite 32-bit number")


def refuse_first(
    bad: npt.NDArray[np.bool_], what: str, problem: str, values: npt.NDArray[Any], expected: str, found: str = "{}"
) -> None:
    """Raises SkeletalError about the first element of an array that is bad, if any is; `found` is for its value."""
    if bad.any():
        index = tuple(np.argwhere(bad)[0].tolist())
        place = f"{what}[{', '.join(map(str, index))}]"
        raise SkeletalError(f"{place}{problem}", found=found.format(values[index]), expected=expected)
