"""The one validation of models, animations and cameras: what passes can be written, and read again.

Writing, checking for a game and skinning use it. It checks shapes and dtypes, counts that must agree, index ranges,
hierarchies, finite numbers, unit quaternions and strings. Repeated joint names are not refused: files with them exist
and are read with a warning, and the check for a game warns of them.
"""

from __future__ import annotations

import re

import numpy as np
import numpy.typing as npt

from ...io_common.counting import counted
from .errors import Md5Error
from .model import LARGEST, ROOT, Animation, Camera, Ints, Joints, Mesh, Model
from .skeleton import ALL_COMPONENTS, COMPONENTS, CyclicHierarchyError, depths

# Quaternions of 32-bit floats are off by less.
_UNIT_TOLERANCE = 1e-3
# A smaller frame rate would be written as 0.
_LOWEST_RATE = 1e-10
# The ends of a string, and UTF-16 surrogates except those that stand for single bytes.
_UNQUOTABLE = re.compile('["\r\n\0\ud800-\udc7f\udd00-\udfff]')
# One or more of: a word and numbers in parentheses.
_GROUPS = re.compile(r"(?:[A-Za-z_]\w* \((?: [-+.\deE]+)*+ \)(?: (?!$)|$))*+", re.ASCII)
# Limits: vertices along a UV seam share weights, but a file where every vertex has all weights would fill the memory.
_MIN_WEIGHTS, _WEIGHTS_PER_LINE = 1 << 20, 16


def validate_model(model: Model) -> None:
    """Checks that a model can be written and read again.

    Raises:
        Md5Error: it cannot; the message names the attribute.
    """
    validate_joints(model.joints, "Model.joints")
    check_string(model.commandline, "Model.commandline")
    for index, mesh in enumerate(model.meshes):
        validate_mesh(mesh, len(model.joints), f"Model.meshes[{index}]")


def validate_joints(joints: Joints, what: str = "Joints") -> None:
    """Checks joints; for the errors see `validate_model`."""
    check_joint_arrays(joints, what)
    _check_hierarchy(joints.names, joints.parents, what)
    _check_finite(joints.positions, f"{what}.positions")
    _check_finite(joints.orientations, f"{what}.orientations")
    check_unit(joints.orientations, f"{what}.orientations")


def validate_mesh(mesh: Mesh, joint_count: int, what: str = "Mesh") -> None:
    """Checks a mesh; for the errors see `validate_model`."""
    check_mesh_arrays(mesh, what)
    for text, name in ((mesh.shader, "shader"), (mesh.name, "name")):
        check_string(text, f"{what}.{name}")
    _check_indices(mesh.triangles, mesh.vertex_count, f"{what}.triangles", "vertex")
    check_weights(mesh, joint_count, what)
    for name in ("uvs", "weight_biases", "weight_positions"):
        _check_finite(getattr(mesh, name), f"{what}.{name}")
    rows, limit = int(mesh.weight_counts.sum(dtype=np.int64)), weight_limit(mesh)
    if rows > limit:
        raise Md5Error(
            f"{what}.weight_counts: too many weights are shared by vertices",
            found=str(rows), expected=f"at most {limit}, or the file could not be read",
        )  # fmt: skip


def validate_animation(animation: Animation) -> None:
    """Checks an animation; for the errors see `validate_model`."""
    what = "Animation"
    check_components(animation, what)
    check_string(animation.commandline, f"{what}.commandline")
    _check_hierarchy(animation.names, animation.parents, what)
    if not animation.frame_count:
        raise Md5Error(f"{what}.frames: there are no frames", found="0", expected="1 or more")
    check_rate(animation.frame_rate, f"{what}.frame_rate")
    for name in ("bounds", "base_positions", "base_orientations", "frames"):
        _check_finite(getattr(animation, name), f"{what}.{name}")


def check_components(animation: Animation, what: str = "Animation") -> None:
    """Raises Md5Error if an animated component of a joint does not exist, or the arrays do not fit together."""
    check_animation_arrays(animation, what)
    unknown = np.flatnonzero((animation.flags < 0) | (animation.flags > ALL_COMPONENTS))
    if len(unknown):
        raise Md5Error(
            f"{what}.flags[{unknown[0]}] has unknown bits",
            found=str(animation.flags[unknown[0]]), expected=f"0 to {ALL_COMPONENTS}",
        )  # fmt: skip
    sizes = ((animation.flags[:, None] >> np.arange(len(COMPONENTS))) & 1).sum(axis=1)
    width = animation.frames.shape[1]
    outside = np.flatnonzero(
        (sizes > 0) & ((animation.starts < 0) | (animation.starts.astype(np.int64) + sizes > width))
    )
    if len(outside):
        joint = int(outside[0])
        raise Md5Error(
            f"{what}.starts[{joint}]: its components are outside of the frame",
            found=f"{counted(sizes[joint], 'components')} from {animation.starts[joint]} on",
            expected=f"a range within {counted(width, 'components')} of a frame",
        )  # fmt: skip


def validate_camera(camera: Camera) -> None:
    """Checks a camera; for the errors see `validate_model`."""
    what = "Camera"
    check_camera_arrays(camera, what)
    check_string(camera.commandline, f"{what}.commandline")
    count = camera.entry_count
    if count == 0:
        raise Md5Error(f"{what}.positions: there are no frames", found="0", expected="1 or more")
    check_rate(camera.frame_rate, f"{what}.frame_rate")
    outside = np.flatnonzero((camera.cuts < 0) | (camera.cuts >= count))
    if len(outside):
        raise Md5Error(
            f"{what}.cuts[{outside[0]}] is not at one of the camera's frames",
            found=str(camera.cuts[outside[0]]),
            expected=f"1 to {count - 1}" if count > 1 else "no cuts, because there is only one frame",
        )  # fmt: skip
    for index, text in enumerate(camera.cut_groups):
        if not are_valid_groups(text):
            raise Md5Error(
                f"{what}.cut_groups[{index}]: invalid groups after a cut",
                found=repr(text), expected="words, each with numbers in parentheses",
            )  # fmt: skip
    for name in ("positions", "orientations", "fields_of_view"):
        _check_finite(getattr(camera, name), f"{what}.{name}")


def check_model_arrays(model: Model) -> None:
    """Checks shapes and dtypes, and that lengths agree; for the errors see `validate_model`."""
    check_joint_arrays(model.joints, "Model.joints")
    for index, mesh in enumerate(model.meshes):
        check_mesh_arrays(mesh, f"Model.meshes[{index}]")


def check_joint_arrays(joints: Joints, what: str = "Joints") -> None:
    """The same for joints."""
    count = len(joints.names)
    check_array(joints.parents, (count,), np.int32, f"{what}.parents")
    check_array(joints.positions, (count, 3), np.float64, f"{what}.positions")
    check_array(joints.orientations, (count, 4), np.float64, f"{what}.orientations")


def check_mesh_arrays(mesh: Mesh, what: str = "Mesh") -> None:
    """The same for a mesh."""
    check_array(mesh.uvs, (None, 2), np.float64, f"{what}.uvs")
    check_array(mesh.weight_starts, (len(mesh.uvs),), np.int32, f"{what}.weight_starts")
    check_array(mesh.weight_counts, (len(mesh.uvs),), np.int32, f"{what}.weight_counts")
    check_array(mesh.triangles, (None, 3), np.int32, f"{what}.triangles")
    check_array(mesh.weight_joints, (None,), np.int32, f"{what}.weight_joints")
    weights = len(mesh.weight_joints)
    check_array(mesh.weight_biases, (weights,), np.float64, f"{what}.weight_biases")
    check_array(mesh.weight_positions, (weights, 3), np.float64, f"{what}.weight_positions")


def check_animation_arrays(animation: Animation, what: str = "Animation") -> None:
    """The same for an animation."""
    count = len(animation.names)
    for name in ("parents", "flags", "starts"):
        check_array(getattr(animation, name), (count,), np.int32, f"{what}.{name}")
    for name in ("base_positions", "base_orientations"):
        check_array(getattr(animation, name), (count, 3), np.float64, f"{what}.{name}")
    check_array(animation.frames, (None, None), np.float64, f"{what}.frames")
    check_array(animation.bounds, (len(animation.frames), 2, 3), np.float64, f"{what}.bounds")


def check_camera_arrays(camera: Camera, what: str = "Camera") -> None:
    """The same for a camera."""
    check_array(camera.cuts, (None,), np.int32, f"{what}.cuts")
    check_array(camera.positions, (None, 3), np.float64, f"{what}.positions")
    count = len(camera.positions)
    check_array(camera.orientations, (count, 3), np.float64, f"{what}.orientations")
    check_array(camera.fields_of_view, (count,), np.float64, f"{what}.fields_of_view")
    if camera.cut_groups and len(camera.cut_groups) != len(camera.cuts):
        raise Md5Error(
            f"{what}.cut_groups has the wrong length",
            found=str(len(camera.cut_groups)), expected=f"{len(camera.cuts)}, one for each cut, or none",
        )  # fmt: skip


def check_array(
    array: npt.NDArray[np.generic], shape: tuple[int | None, ...], dtype: type[np.generic], what: str
) -> None:
    """Raises Md5Error if an array has another shape, where None is any length, or another dtype."""
    fits = isinstance(array, np.ndarray) and len(shape) == array.ndim and array.dtype == dtype
    if fits and all(size in (None, length) for size, length in zip(shape, array.shape, strict=True)):
        return
    expected = f"{np.dtype(dtype)} ({', '.join('any' if size is None else str(size) for size in shape)})"
    if not isinstance(array, np.ndarray):
        raise Md5Error(f"{what} is not an array", found=type(array).__name__, expected=expected)
    found = f"{array.dtype} ({', '.join(map(str, array.shape))})"
    raise Md5Error(f"{what} has the wrong shape or dtype", found=found, expected=expected)


def check_weights(mesh: Mesh, joint_count: int, what: str = "Mesh") -> None:
    """Raises Md5Error if a weight of a vertex, or the joint of a weight, does not exist."""
    _check_indices(mesh.weight_joints, joint_count, f"{what}.weight_joints", "joint")
    check_weight_ranges(mesh, what)


def check_weight_ranges(mesh: Mesh, what: str = "Mesh") -> None:
    """Raises Md5Error if a weight of a vertex does not exist."""
    starts, counts = mesh.weight_starts, mesh.weight_counts
    weights = len(mesh.weight_joints)
    outside = np.flatnonzero((starts < 0) | (counts < 0) | (starts.astype(np.int64) + counts > weights))
    if len(outside):
        vertex = int(outside[0])
        raise Md5Error(
            f"{what}.weight_starts and weight_counts: vertex {vertex} has weights that do not exist",
            found=f"{counted(counts[vertex], 'weights')} from {starts[vertex]} on",
            expected=f"a range within {counted(weights, 'weights')} of the mesh",
        )  # fmt: skip


def check_triangles(triangles: npt.ArrayLike, vertex_count: int) -> Ints:
    """Triangles as an array (T, 3).

    Raises Md5Error if they have another shape or dtype, or a vertex that does not exist.
    """
    array = np.asarray(triangles)
    if array.ndim != 2 or array.shape[1] != 3 or array.dtype.kind not in "iu":
        raise Md5Error(
            "triangles have the wrong shape or dtype",
            found=f"{array.dtype} {array.shape}", expected="integers (triangles, 3)",
        )  # fmt: skip
    _check_indices(array, vertex_count, "triangles", "vertex")
    return array.astype(np.int32, copy=False)


def check_unit(orientations: npt.NDArray[np.float64], what: str) -> None:
    """Raises Md5Error unless all quaternions (…, 4) are of unit length, within 0.001."""
    lengths = np.sqrt(np.einsum("...i,...i->...", orientations, orientations))
    bad = np.argwhere(~(np.abs(lengths - 1.0) <= _UNIT_TOLERANCE))
    if len(bad):
        index = tuple(bad[0].tolist())
        raise Md5Error(
            f"{what}[{', '.join(map(str, index))}] is not a unit quaternion",
            found=f"length {lengths[index]:.6g}", expected="length 1",
        )  # fmt: skip


def check_rate(rate: float, what: str) -> None:
    """Raises Md5Error unless a frame rate is finite and above 0."""
    if not _LOWEST_RATE <= rate <= LARGEST:
        raise Md5Error(f"{what} is not finite or not above 0", found=str(rate), expected="frames per second")


def check_string(text: str, what: str) -> None:
    """Raises Md5Error if a text contains a double quote, a line break, a NUL or an invalid character."""
    if not is_writable(text):
        raise Md5Error(
            f"{what}: a name contains a double quote, a line break or an invalid character: rename it",
            found=repr(text),
        )


def is_writable(name: str) -> bool:
    """Whether a name can be written as a quoted string."""
    return not _UNQUOTABLE.search(name)


def are_valid_groups(text: str) -> bool:
    """Whether a text is valid as the groups of a cut; an empty one is."""
    return _GROUPS.fullmatch(text) is not None


def weight_limit(mesh: Mesh) -> int:
    """The most weights of all vertices together that are read from a file with this mesh."""
    return weight_row_limit(mesh.vertex_count, len(mesh.weight_joints))


def weight_row_limit(vertex_count: int, weight_count: int) -> int:
    """The most weights of all vertices together that are read."""
    return _MIN_WEIGHTS + _WEIGHTS_PER_LINE * (vertex_count + weight_count)


def _check_hierarchy(names: list[str], parents: npt.NDArray[np.int32], what: str) -> None:
    for index, name in enumerate(names):
        check_string(name, f"{what}.names[{index}]")
    _check_indices(parents, len(names), f"{what}.parents", "joint", lowest=ROOT)
    try:
        depths(parents)
    except CyclicHierarchyError as cycle:
        raise Md5Error(
            f"{what}.parents: joint {names[cycle.joint]!r} is its own ancestor",
            found=f"parent {int(parents[cycle.joint])}", expected="a joint that is not its descendant, or -1",
        ) from None  # fmt: skip


def _check_indices(
    indices: npt.NDArray[np.integer], count: int, what: str, kind: str, lowest: int = 0
) -> None:
    if not indices.size or (indices.min() >= lowest and indices.max() < count):
        return
    first = np.argwhere((indices < lowest) | (indices >= count))[0].tolist()
    raise Md5Error(
        f"{what}[{', '.join(map(str, first))}] is a {kind} that does not exist",
        found=str(indices[tuple(first)]),
        expected=f"{lowest} to {count - 1}" if count else "none, because there are none",
    )  # fmt: skip


def _check_finite(values: npt.NDArray[np.float64], what: str) -> None:
    bad = ~(np.abs(values) <= LARGEST)
    if bad.any():
        index = np.argwhere(bad)[0].tolist()
        raise Md5Error(
            f"{what}[{', '.join(map(str, index))}]: cannot write a number that is not finite",
            found=str(values[bad][0]), expected="a finite 32-bit number",
        )  # fmt: skip
