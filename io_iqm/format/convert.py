"""An IQM file as the joints, meshes and animations of `io_common.skeletal`, and back.

A joint of an IQM scales its children, and has a scale for each axis, also in the bind pose. The shared model has no
scale in the bind pose, and its `ScaleTable` one scale for each joint, which its children do not inherit. So positions
of the shared model include the scales of the parents, and a `ScaleTable` has the scale of a joint relative to its bind
pose with those of its parents: what `skin` needs, and what keys a bone whose *Inherit Scale* is *None*. A joint that
scales its axes differently gets their mean, with a warning.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from ...io_common.skeletal import quaternions as quat
from ...io_common.skeletal.model import ROOT, Animation, Floats, Ints, Joints, Mesh, Model
from ...io_common.skeletal.scales import ScaleTable, scaled_poses
from ...io_common.skeletal.skeleton import compose, decompose, depths, poses, split_components
from ...io_common.skeletal.skinning import bind_pose, vertex_normals, vertex_tangents, vertex_weights
from ...io_common.skeletal.validation import validate_animation, validate_model
from ...io_common.skeletal.weights import weights_by_joint
from ...io_common.texts import counted, listing
from .model import LOOP, NO_TRIANGLE, ArrayType, FrameRange, Iqm, IqmError, MeshRange, VertexArray

ORIGIN = "origin"
"""The joint of a model whose file has none."""

MOST_WEIGHTS, LARGEST_BYTE = 4, 255
# Scales that are nearer to each other are one: 16 bits round them.
_SAME_SCALE = 2e-5
_STEPS = 2**16 - 1
_CHUNK = 1 << 20  # coordinates of vertices that are computed at once


@dataclass(eq=False)
class NamedAnimation:
    """An animation of a file.

    Attributes:
        name: in the file.
        animation: of J joints; its bounds are zeros where the file has none.
        scales: of the joints, with those of their parents; None if all are 1.
        is_loop: whether games repeat it.
    """

    name: str
    animation: Animation
    scales: ScaleTable | None = None
    is_loop: bool = False


@dataclass(eq=False)
class Attributes:
    """What an IQM has for the V vertices of a mesh beyond a `Mesh`; None or empty for what it has not.

    Attributes:
        normals: float64 (V, 3).
        tangents: float64 (V, 4); the last is the sign of the bitangent, cross(normal, tangent) · sign.
        colors: uint8 (V, 4), red, green, blue and alpha.
        custom: other arrays, of these vertices.
    """

    normals: Floats | None = None
    tangents: Floats | None = None
    colors: NDArray[np.uint8] | None = None
    custom: list[VertexArray] = field(default_factory=list)


# From a file


def to_model(iqm: Iqm) -> Model:
    """The bind pose and the meshes of a file.

    Each vertex has its weights that are not 0, those of bytes in parts of 255. A vertex without any hangs on the first
    joint. A file without joints gets a joint `origin`.

    Raises:
        IqmError: a blend index is no joint, or there are no positions.
    """
    warnings = list(iqm.warnings)
    joints = _joints(iqm)
    points = _components(iqm, ArrayType.POSITION, 3)
    uvs = _components(iqm, ArrayType.TEXCOORD, 2)
    if points is None and iqm.vertex_count:
        raise IqmError("the vertices have no positions", found="no array POSITION with 3 components")
    vertices, used, biases = _weights(iqm, len(joints), warnings)
    if iqm.joint_names:
        uneven = _uneven(iqm.joint_channels[:, 7:].astype(np.float64), joints.names)
        if uneven:
            warnings.append(f"joints whose axes have different scales in the bind pose: {listing(uneven)}")
    meshes = []
    counts = np.bincount(vertices, minlength=iqm.vertex_count).astype(np.int32)
    firsts = np.append(0, np.cumsum(counts))
    for one in iqm.meshes:
        first, end = one.first_vertex, one.first_vertex + one.vertex_count
        rows = slice(firsts[first], firsts[end])
        triangles = iqm.triangles[one.first_triangle : one.first_triangle + one.triangle_count] - first
        of_rows = used[rows]
        offsets = np.zeros((0, 3)) if points is None else points[vertices[rows]] - joints.positions[of_rows]
        meshes.append(
            Mesh(
                shader=one.material,
                uvs=np.zeros((one.vertex_count, 2)) if uvs is None else uvs[first:end],
                weight_starts=(firsts[first:end] - firsts[first]).astype(np.int32),
                weight_counts=counts[first:end],
                triangles=triangles.astype(np.int32),
                weight_joints=of_rows.astype(np.int32),
                weight_biases=biases[rows],
                weight_positions=quat.rotate(quat.conjugate(joints.orientations[of_rows]), offsets),
                name=one.name,
            )
        )
    return Model(joints, meshes, warnings=warnings)


def to_attributes(iqm: Iqm) -> list[Attributes]:
    """What `to_model` leaves out, for each mesh."""
    normals, tangents = _components(iqm, ArrayType.NORMAL, 3), _components(iqm, ArrayType.TANGENT, 4)
    colors = iqm.array(ArrayType.COLOR)
    if colors is not None and colors.dtype.kind == "f":
        colors = np.rint(np.clip(np.nan_to_num(colors), 0.0, 1.0) * 255.0)
    if colors is not None:
        # Without alpha they are opaque.
        colors = np.pad(colors[:, :4], ((0, 0), (0, max(0, 4 - colors.shape[1]))), constant_values=255).astype(np.uint8)
    result = []
    for one in iqm.meshes:
        rows = slice(one.first_vertex, one.first_vertex + one.vertex_count)
        parts = [None if values is None else values[rows] for values in (normals, tangents, colors)]
        known = (ArrayType.CUSTOM,)
        custom = [replace(array, values=array.values[rows]) for array in iqm.arrays if array.type in known]
        result.append(Attributes(*parts, custom))
    return result


def bind_scales(iqm: Iqm) -> Floats:
    """The scale of each joint in the bind pose relative to its parent, (J, 3); ones in most files."""
    scales = iqm.joint_channels[:, 7:].astype(np.float64)
    scales[scales == 0.0] = 1.0
    return scales


def to_animations(iqm: Iqm, joints: Joints | None = None, scales: Floats | None = None) -> list[NamedAnimation]:
    """The animations of a file; what the shared model cannot hold is in the warnings of each.

    Args:
        iqm: with F frames of P poses.
        joints: of the model, if the file has none.
        scales: `bind_scales` of that model; ones if None.

    Raises:
        IqmError: poses and joints differ in number or parents, or there are no joints.
    """
    names = list(iqm.joint_names) if joints is None else joints.names
    parents = iqm.joint_parents if joints is None else joints.parents
    if iqm.joint_names:
        scales = bind_scales(iqm)
    if len(iqm.pose_parents) != len(names):
        expected = counted(len(names), "joints") if names else "joints: choose the model of these animations as well"
        raise IqmError("the poses fit another model", found=counted(len(iqm.pose_parents), "poses"), expected=expected)
    differing = np.flatnonzero(iqm.pose_parents != parents)
    if len(differing):
        joint = int(differing[0])
        found, expected = int(iqm.pose_parents[joint]), f"{parents[joint]}, the parent of {names[joint]!r}"
        raise IqmError(
            f"the poses fit another model: pose {joint} has another parent", found=str(found), expected=expected
        )
    return [_animation(iqm, one, names, parents, scales) for one in iqm.animations if one.frame_count]


def _joints(iqm: Iqm) -> Joints:
    if not iqm.joint_names:
        return Joints([ORIGIN], [ROOT], np.zeros((1, 3)), np.array([[-1.0, 0.0, 0.0, 0.0]]))
    channels = iqm.joint_channels.astype(np.float64)
    sizes = _with_parents(iqm.joint_parents, bind_scales(iqm))
    above = _of_parents(iqm.joint_parents, sizes)
    pose = compose(iqm.joint_parents, channels[:, :3] * above, _rotations(channels))
    return Joints(list(iqm.joint_names), iqm.joint_parents.copy(), *_with_negative_w(*pose))


def _animation(iqm: Iqm, one: FrameRange, names: list[str], parents: Ints, bind: Floats | None) -> NamedAnimation:
    channels = iqm.channels(one.first_frame, one.frame_count)
    positions, orientations, scales = channels[..., :3], _rotations(channels), channels[..., 7:]
    if bind is not None:
        # Relative to the bind pose, in which the shared model has no scale.
        positions = positions * _of_parents(parents, _with_parents(parents, bind))
        scales = scales / bind
    warnings = []
    uneven = _uneven(scales, names)
    if uneven:
        warnings.append(f"{one.name}: the axes of joints are scaled differently, their mean is used: {listing(uneven)}")
    even = scales.mean(axis=-1, keepdims=True)
    even[np.abs(even - 1.0) < _SAME_SCALE] = 1.0
    sizes = _with_parents(parents, even)
    positions = positions * _of_parents(parents, sizes)
    table = ScaleTable(sizes[..., 0], np.zeros(len(names), dtype=bool))
    orientations = _with_negative_w(positions, orientations)[1]
    flags, starts, base, frames = split_components(
        np.concatenate([positions, orientations[..., 1:]], axis=2), np.zeros((len(names), 6))
    )
    bounds = np.zeros((one.frame_count, 2, 3))
    if len(iqm.bounds):
        bounds[:] = iqm.bounds[one.first_frame : one.first_frame + one.frame_count, :6].reshape(-1, 2, 3)
    animation = Animation(
        names=names, parents=parents.copy(), flags=flags, starts=starts, bounds=bounds, frames=frames,
        base_positions=base[:, :3].copy(), base_orientations=base[:, 3:].copy(),
        frame_rate=one.frame_rate or DEFAULT_RATE, warnings=warnings,
    )  # fmt: skip
    return NamedAnimation(one.name, animation, table if table.is_used else None, one.is_loop)


DEFAULT_RATE = 10.0
"""Frames per second of an animation that leaves it to the game."""


def _components(iqm: Iqm, kind: ArrayType, count: int) -> Floats | None:
    values = iqm.array(kind)
    return None if values is None or values.shape[1] < count else values[:, :count].astype(np.float64)


def _weights(iqm: Iqm, joint_count: int, warnings: list[str]) -> tuple[NDArray[np.int64], NDArray[np.int64], Floats]:
    """The vertices, joints and biases of all weights, in the order of the vertices."""
    indexes, weights = iqm.array(ArrayType.BLEND_INDEXES), iqm.array(ArrayType.BLEND_WEIGHTS)
    count = iqm.vertex_count
    if not iqm.joint_names or indexes is None or weights is None:
        if iqm.joint_names and count:
            warnings.append("the vertices have no weights and hang on the first joint")
        return np.arange(count), np.zeros(count, np.int64), np.ones(count)
    width = min(indexes.shape[1], weights.shape[1])
    indexes, weights = indexes[:, :width].astype(np.int64), weights[:, :width]
    scale = np.iinfo(weights.dtype).max if weights.dtype.kind in "iu" else 1.0
    biases = weights.astype(np.float64) / scale
    free = ~(biases > 0.0).any(axis=1)
    if free.any():
        indexes, biases = indexes.copy(), biases.copy()
        indexes[free, 0], biases[free] = 0, np.arange(width) == 0
        warnings.append(f"{counted(int(free.sum()), 'vertices', 'have')} no weights and hang on the first joint")
    vertices, columns = np.nonzero(biases > 0.0)
    used = indexes[vertices, columns]
    bad = np.flatnonzero((used < 0) | (used >= joint_count))
    if len(bad):
        reason = f"vertex {vertices[bad[0]]} has a weight of a joint that does not exist"
        raise IqmError(reason, found=str(used[bad[0]]), expected=f"0 to {joint_count - 1}")
    return vertices, used, biases[vertices, columns]


def _rotations(channels: Floats) -> Floats:
    """Unit quaternions w x y z of channels (…, 10)."""
    return quat.normalise(channels[..., [6, 3, 4, 5]])


def _with_negative_w(positions: Floats, orientations: Floats) -> tuple[Floats, Floats]:
    return positions, np.where(orientations[..., :1] > 0.0, -orientations, orientations)


def _uneven(scales: Floats, names: list[str]) -> list[str]:
    differs = np.ptp(scales, axis=-1) > _SAME_SCALE * np.abs(scales).max(axis=-1)
    return [names[joint] for joint in np.flatnonzero(differs.reshape(-1, len(names)).any(axis=0)).tolist()]


def _with_parents(parents: Ints, scales: Floats) -> Floats:
    """Scales (…, J, n) times those of all ancestors."""
    result = scales.copy()
    for joint in np.argsort(depths(parents), kind="stable").tolist():
        if parents[joint] != ROOT:
            result[..., joint, :] *= result[..., parents[joint], :]
    return result


def _of_parents(parents: Ints, values: Floats) -> Floats:
    """The values (…, J, n) of each joint's parent; 1 for a root."""
    return np.where((parents != ROOT)[:, None], values[..., parents, :], 1.0)


# To a file


def from_model(
    model: Model,
    animations: Sequence[NamedAnimation] = (),
    attributes: Sequence[Attributes] = (),
    *,
    scales: Floats | None = None,
) -> Iqm:
    """A file of a model and its animations.

    Vertices get the four largest weights, as bytes that sum to 255. Frames have the least error that 16 bits allow,
    and adjacency and bounds are always there.

    Args:
        model: whose vertices are already split where normals, texture coordinates or colors differ.
        animations: of its joints.
        attributes: of each mesh; normals and tangents that are not given are computed.
        scales: of the joints in the bind pose, (J, 3), as `bind_scales` of the imported file; ones if None.

    Raises:
        IqmError: the model or an animation is not valid, or an animation has other joints.
    """
    validate_model(model)
    joints = model.joints
    parents = joints.parents
    if len(joints) > LARGEST_BYTE + 1:
        raise IqmError("the model has too many joints", found=str(len(joints)), expected=f"at most {LARGEST_BYTE + 1}")
    bind = np.ones((len(joints), 3)) if scales is None else np.asarray(scales, np.float64)
    above = _of_parents(parents, _with_parents(parents, bind))
    positions, orientations = decompose(parents, joints.positions, joints.orientations)
    iqm = Iqm(
        joint_names=list(joints.names),
        joint_parents=parents.copy(),
        joint_channels=_channels(positions / above, _with_negative_w(positions, orientations)[1], bind).astype(
            np.float32
        ),
    )
    _add_meshes(iqm, model, attributes)
    tables = []
    for one in animations:
        validate_animation(one.animation)
        if one.animation.names != joints.names or (one.animation.parents != parents).any():
            raise IqmError(f"the animation {one.name!r} has other joints than the model")
        table = _local_channels(one, above, bind)
        first, rate = sum(map(len, tables)), one.animation.frame_rate
        iqm.animations.append(FrameRange(one.name, first, len(table), rate, LOOP if one.is_loop else 0))
        tables.append(table)
    if tables:
        _add_frames(iqm, np.concatenate(tables))
        iqm.bounds = np.concatenate([
            _bounds(model, one) for one in to_animations(iqm)
        ]).astype(np.float32)  # fmt: skip
    return iqm


def animations_alone(iqm: Iqm) -> Iqm:
    """The poses and animations of a file, without joints and meshes, as Cube engines load them."""
    empty = Iqm()
    return replace(
        iqm, meshes=[], arrays=[], triangles=empty.triangles, adjacency=empty.adjacency, joint_names=[],
        joint_parents=empty.joint_parents, joint_channels=empty.joint_channels, text=b"\0", warnings=[], preserved=None,
    )  # fmt: skip


def _channels(positions: Floats, orientations: Floats, scales: Floats) -> Floats:
    return np.concatenate([positions, orientations[..., [1, 2, 3, 0]], scales], axis=-1)


def _local_channels(one: NamedAnimation, above: Floats, bind: Floats) -> Floats:
    """The channels of an animation in each frame, (F, J, 10)."""
    animation = one.animation
    parents = animation.parents
    if one.scales is None:
        pose, sizes = poses(animation), np.ones((animation.frame_count, len(parents), 1))
    else:
        pose, sizes = scaled_poses(animation, one.scales), one.scales.values[..., None]
    positions, orientations = decompose(parents, *pose)
    of_parents = _of_parents(parents, sizes)
    # What hangs on a joint of no size has none either.
    of_parents = np.where(of_parents == 0.0, 1.0, of_parents)
    orientations = quat.make_continuous(_with_negative_w(positions, orientations)[1])
    return _channels(positions / of_parents / above, orientations, sizes / of_parents * bind)


def _add_frames(iqm: Iqm, table: Floats) -> None:
    """Poses and frames of channels, (F, J, 10)."""
    low, high = table.min(axis=0).astype(np.float32), table.max(axis=0).astype(np.float32)
    iqm.pose_parents = iqm.joint_parents.copy()
    iqm.pose_offsets = low
    steps = (high.astype(np.float64) - low) / _STEPS
    iqm.pose_scales = steps.astype(np.float32)
    is_moving = iqm.pose_scales > 0.0
    iqm.pose_masks = (is_moving << np.arange(is_moving.shape[1])).sum(axis=1).astype(np.int32)
    offsets, scales = low[is_moving].astype(np.float64), iqm.pose_scales[is_moving].astype(np.float64)
    iqm.frames = np.clip(np.rint((table[:, is_moving] - offsets) / scales), 0, _STEPS).astype(np.uint16)


def _add_meshes(iqm: Iqm, model: Model, attributes: Sequence[Attributes]) -> None:
    given = list(attributes) or [Attributes() for _ in model.meshes]
    if len(given) != len(model.meshes):
        raise IqmError("attributes are not those of the meshes", found=str(len(given)), expected=str(len(model.meshes)))
    columns: dict[ArrayType, list[NDArray[np.generic]]] = {kind: [] for kind in ArrayType if kind != ArrayType.CUSTOM}
    triangles: list[Ints] = [np.zeros((0, 3), np.int32)]
    first = first_triangle = 0
    has_colors = any(one.colors is not None for one in given)
    for mesh, one in zip(model.meshes, given, strict=True):
        points = bind_pose(mesh, model.joints.positions, model.joints.orientations)[0]
        normals = vertex_normals(points, mesh.triangles) if one.normals is None else np.asarray(one.normals)
        tangents = _tangents(points, mesh, normals) if one.tangents is None else np.asarray(one.tangents)
        indexes, weights = largest_weights(mesh, len(model.joints))
        values = [points, mesh.uvs, normals, tangents, indexes, weights]
        if has_colors:
            values.append(np.full((len(points), 4), 255) if one.colors is None else one.colors)
        for kind, rows in zip(columns, values, strict=False):
            if rows.shape != (mesh.vertex_count, _WIDTHS[kind]):
                raise IqmError(f"{kind.name} of the mesh {mesh.shader!r} has the wrong shape", found=str(rows.shape))
            columns[kind].append(rows)
        triangles.append(mesh.triangles + first)
        iqm.meshes.append(
            MeshRange(
                mesh.name or mesh.comment_name,
                mesh.shader,
                first,
                mesh.vertex_count,
                first_triangle,
                len(mesh.triangles),
            )
        )
        first += mesh.vertex_count
        first_triangle += len(mesh.triangles)
    iqm.arrays = [
        VertexArray(int(kind), np.concatenate(rows).astype(np.uint8 if kind >= ArrayType.BLEND_INDEXES else np.float32))
        for kind, rows in columns.items() if rows
    ]  # fmt: skip
    for name in dict.fromkeys(array.name for one in given for array in one.custom):
        parts = [next((array for array in one.custom if array.name == name), None) for one in given]
        known = next(part for part in parts if part is not None)
        rows = [
            np.zeros((mesh.vertex_count, known.values.shape[1]), known.values.dtype) if part is None else part.values
            for part, mesh in zip(parts, model.meshes, strict=True)
        ]
        iqm.arrays.append(VertexArray(ArrayType.CUSTOM, np.concatenate(rows), known.flags, name))
    iqm.triangles = np.concatenate(triangles).astype(np.int32)
    positions = iqm.array(ArrayType.POSITION)
    iqm.adjacency = neighbors(iqm.triangles, np.zeros((0, 3)) if positions is None else positions)


_WIDTHS = {
    ArrayType.POSITION: 3, ArrayType.TEXCOORD: 2, ArrayType.NORMAL: 3, ArrayType.TANGENT: 4,
    ArrayType.BLEND_INDEXES: 4, ArrayType.BLEND_WEIGHTS: 4, ArrayType.COLOR: 4,
}  # fmt: skip


def _tangents(points: Floats, mesh: Mesh, normals: Floats) -> Floats:
    tangents, bitangents = vertex_tangents(points, mesh.uvs, mesh.triangles, normals)
    signs = np.einsum("vi,vi->v", np.cross(normals, tangents), bitangents)
    return np.column_stack([tangents, np.where(signs < 0.0, -1.0, 1.0)])


def largest_weights(mesh: Mesh, joint_count: int) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """The four largest weights of each vertex: joints and bytes that sum to 255, each (V, 4), the largest first."""
    rows = vertex_weights(mesh)
    keys, inverse = np.unique(rows.vertices * joint_count + mesh.weight_joints[rows.weights], return_inverse=True)
    biases = np.maximum(np.bincount(inverse.reshape(-1), mesh.weight_biases[rows.weights], minlength=len(keys)), 0.0)
    vertices, joints = keys // max(joint_count, 1), keys % max(joint_count, 1)
    order = np.lexsort((joints, -biases, vertices))
    vertices, joints, biases = vertices[order], joints[order], biases[order]
    ranks = np.arange(len(vertices)) - np.searchsorted(vertices, vertices)
    kept = ranks < MOST_WEIGHTS
    indexes, shares = (np.zeros((mesh.vertex_count, MOST_WEIGHTS)) for _ in range(2))
    indexes[vertices[kept], ranks[kept]], shares[vertices[kept], ranks[kept]] = joints[kept], biases[kept]
    sums = shares.sum(axis=1, keepdims=True)
    # Without any weight, all of it is that of the first joint.
    shares[:, 0] += sums[:, 0] == 0.0
    exact = shares / np.where(sums == 0.0, 1.0, sums) * LARGEST_BYTE
    result = np.floor(exact)
    # The bytes that are left go to the weights that lost most.
    left = LARGEST_BYTE - result.sum(axis=1, keepdims=True)
    result += np.argsort(np.argsort(result - exact, axis=1, kind="stable"), axis=1) < left
    indexes[result == 0.0] = 0.0
    return indexes.astype(np.uint8), result.astype(np.uint8)


def neighbors(triangles: NDArray[np.integer], positions: NDArray[np.floating]) -> Ints:
    """The triangle at each edge, from a corner to the next, of triangles (T, 3), by the places of vertices; (T, 3).

    -1 at an edge without another triangle, and at one that more than two share.
    """
    if not len(triangles):
        return np.zeros((0, 3), np.int32)
    places = np.unique(positions + np.float32(0.0), axis=0, return_inverse=True)[1].reshape(-1)
    corners = places[triangles]
    edges = np.sort(np.stack([corners, np.roll(corners, -1, axis=1)], axis=-1).reshape(-1, 2), axis=1)
    keys = edges[:, 0] * len(positions) + edges[:, 1]
    order = np.argsort(keys, kind="stable")
    firsts, counts = np.unique(keys[order], return_index=True, return_counts=True)[1:]
    pairs = firsts[counts == 2]
    result = np.full(len(keys), NO_TRIANGLE, np.int32)
    left, right = order[pairs], order[pairs + 1]
    result[left], result[right] = right // 3, left // 3
    return result.reshape(-1, 3)


def _bounds(model: Model, one: NamedAnimation) -> Floats:
    """The bounds of each frame, (F, 8): lower corner, upper corner, radius around the z axis, radius."""
    pose = poses(one.animation) if one.scales is None else scaled_poses(one.animation, one.scales)
    sizes = None if one.scales is None else one.scales.values
    parts = [weights_by_joint(mesh) for mesh in model.meshes if mesh.vertex_count]
    result = np.zeros((len(pose[0]), 8))
    step = max(1, _CHUNK // max(3 * model.vertex_count, 1))
    for first in range(0, len(result), step):
        rows = slice(first, first + step)
        of_rows = [values[rows] for values in pose]
        points = np.concatenate(
            [part.skin(*of_rows, None if sizes is None else sizes[rows]) for part in parts] or [of_rows[0]], axis=1
        )
        if points.shape[1]:
            squares = points**2
            result[rows, :3], result[rows, 3:6] = points.min(axis=1), points.max(axis=1)
            result[rows, 6] = np.sqrt(squares[..., :2].sum(axis=2).max(axis=1))
            result[rows, 7] = np.sqrt(squares.sum(axis=2).max(axis=1))
    return result
