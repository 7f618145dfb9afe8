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
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...io_common.skeletal import quaternions as quat
from ...io_common.skeletal.model import LARGEST, ROOT, Animation, Floats, Ints, Joints, Mesh, Model, as_singles
from ...io_common.skeletal.scales import NamedAnimation, ScaleTable
from ...io_common.skeletal.skeleton import compose, decompose, multiply_by_parents, of_parents, split_components
from ...io_common.skeletal.skinning import bind_pose, vertex_normals, vertex_tangents
from ...io_common.skeletal.validation import validate_animation, validate_model
from ...io_common.skeletal.weights import largest_weights, pose_bounds, pose_radii
from ...io_common.texts import counted, listing
from ...io_common.triangles import neighbors
from .model import LOOP, PORTABLE, ArrayType, FrameRange, Iqm, IqmError, MeshRange, VertexArray

ORIGIN = "origin"
"""The joint of a model whose file has none."""

DEFAULT_RATE = 10.0
"""Frames per second of an animation that leaves it to the game."""

MOST_JOINTS = 256
# Scales that are nearer to each other are one: 16 bits round them.
_SAME_SCALE = 2e-5
_STEPS = 2**16 - 1


@dataclass(eq=False)
class Attributes:
    """What an IQM has for the V vertices of a mesh beyond a `Mesh`; None or empty for what it has not.

    Attributes:
        normals: float64 (V, 3).
        tangents: float64 (V, 4); the last is the sign of the bitangent, cross(normal, tangent) · sign, which points up
            in the image, as Blender's.
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
    joints, warnings = _joints(iqm), list(iqm.warnings)
    if uneven := _uneven(iqm.joint_channels[:, 7:].astype(np.float64), iqm.joint_names):
        warnings.append(f"joints whose axes have different scales in the bind pose: {listing(uneven)}")
    points, uvs = _components(iqm, ArrayType.POSITION, 3), _components(iqm, ArrayType.TEXCOORD, 2)
    if points is None and iqm.vertex_count:
        raise IqmError("the vertices have no positions", found="no array POSITION with 3 components")
    vertices, used, biases = _weights(iqm, len(joints), warnings)
    counts = np.bincount(vertices, minlength=iqm.vertex_count).astype(np.int32)
    firsts = np.cumsum(counts) - counts
    meshes = []
    for one, (members, triangles) in zip(iqm.meshes, _parts(iqm), strict=True):
        sizes = counts[members]
        starts = (np.cumsum(sizes) - sizes).astype(np.int32)
        rows = np.repeat(firsts[members] - starts, sizes) + np.arange(sizes.sum())
        bones = used[rows]
        offsets = np.zeros((0, 3)) if points is None else points[vertices[rows]] - joints.positions[bones]
        mesh = Mesh(
            one.material, np.zeros((len(members), 2)) if uvs is None else uvs[members], starts, sizes, triangles
        )
        mesh.weight_joints, mesh.weight_biases = bones.astype(np.int32), biases[rows]
        mesh.weight_positions = quat.rotate(quat.conjugate(joints.orientations[bones]), offsets)
        mesh.name = one.name
        meshes.append(mesh)
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
    for members, _ in _parts(iqm):
        part = Attributes()
        part.normals = None if normals is None else normals[members]
        part.tangents = None if tangents is None else tangents[members]
        part.colors = None if colors is None else colors[members]
        custom = [one for one in iqm.arrays if one.type == ArrayType.CUSTOM]
        part.custom = [replace(one, values=one.values[members]) for one in custom]
        result.append(part)
    return result


def bind_scales(iqm: Iqm) -> Floats:
    """The scale of each joint in the bind pose relative to its parent, (J, 3); ones in most files."""
    scales = iqm.joint_channels[:, 7:].astype(np.float64)
    return np.where(scales == 0.0, 1.0, scales)


def to_animations(iqm: Iqm, joints: Joints | None = None, scales: Floats | None = None) -> list[NamedAnimation]:
    """The animations of a file; what the shared model cannot hold is in the warnings of each.

    Args:
        iqm: with F frames of P poses.
        joints: of the model, if the file has none.
        scales: `bind_scales` of that model; ones if None.

    Raises:
        IqmError: poses and joints differ in number or parents, or there are no joints.
    """
    if iqm.joint_names:
        joints, scales = _joints(iqm), bind_scales(iqm)
    names, parents = (joints.names, joints.parents) if joints is not None else ([], np.zeros(0, np.int32))
    poses_text = counted(len(iqm.pose_parents), "poses")
    if len(iqm.pose_parents) != len(names):
        expected = counted(len(names), "joints") if names else "joints: import the model of these animations as well"
        raise IqmError("the poses are those of another model", found=poses_text, expected=expected)
    differing = np.flatnonzero(iqm.pose_parents != parents)
    if len(differing):
        found, name = int(iqm.pose_parents[differing[0]]), names[differing[0]]
        expected = f"{parents[differing[0]]}, the parent of {name!r}"
        raise IqmError(f"pose {differing[0]} has another parent than the joint", found=str(found), expected=expected)
    bind = np.ones((len(names), 3)) if scales is None else scales
    return [_animation(iqm, one, names, parents, bind) for one in iqm.animations if one.frame_count]


@np.errstate(over="ignore", invalid="ignore")
def _joints(iqm: Iqm) -> Joints:
    if not iqm.joint_names:
        return Joints([ORIGIN], [ROOT], np.zeros((1, 3)), np.array([[-1.0, 0.0, 0.0, 0.0]]))  # type: ignore[arg-type]
    channels, parents = iqm.joint_channels.astype(np.float64), iqm.joint_parents
    above = of_parents(parents, multiply_by_parents(parents, bind_scales(iqm)))
    positions, orientations = compose(parents, channels[:, :3] * above, quat.normalise(channels[:, _WXYZ]))
    _check_size(positions, "the bind pose")
    return Joints(list(iqm.joint_names), parents.copy(), positions, _with_negative_w(orientations))


_WXYZ, _XYZW = [6, 3, 4, 5], [1, 2, 3, 0]


@np.errstate(over="ignore", invalid="ignore")
def _animation(iqm: Iqm, one: FrameRange, names: list[str], parents: Ints, bind: Floats) -> NamedAnimation:
    channels = iqm.channels(one.first_frame, one.frame_count)
    # Relative to the bind pose, in which the shared model has no scale.
    scales = channels[..., 7:] / bind
    uneven = _uneven(scales, names)
    even = scales.mean(axis=-1, keepdims=True)
    even[np.abs(even - 1.0) < _SAME_SCALE] = 1.0
    sizes = multiply_by_parents(parents, even)
    above = of_parents(parents, multiply_by_parents(parents, bind)) * of_parents(parents, sizes)
    turns = _with_negative_w(quat.normalise(channels[..., _WXYZ]))
    table = np.concatenate([channels[..., :3] * above, turns[..., 1:]], axis=2)
    _check_size(np.concatenate([table, sizes], axis=2), f"the animation {one.name!r}")
    flags, starts, base, frames = split_components(table, np.zeros((len(names), 6)))
    bounds = np.zeros((one.frame_count, 2, 3))
    if len(iqm.bounds):
        bounds[:] = iqm.bounds[one.first_frame : one.first_frame + one.frame_count, :6].reshape(-1, 2, 3)
    rate = one.frame_rate or DEFAULT_RATE
    animation = Animation(
        list(names), parents.copy(), flags, starts, bounds, base[:, :3].copy(), base[:, 3:].copy(), frames, rate
    )
    if uneven:
        animation.warnings.append(f"axes of joints are scaled differently, their mean is used: {listing(uneven)}")
    found = ScaleTable(sizes[..., 0], np.zeros(len(names), dtype=bool))
    return NamedAnimation(one.name, animation, found if found.is_used else None, one.is_loop)


def _check_size(values: Floats, what: str) -> None:
    if not (np.abs(values) <= LARGEST).all():
        raise IqmError(f"{what} is too large: scales of joints multiply", expected="numbers of 32 bits")


def _parts(iqm: Iqm) -> list[tuple[NDArray[np.int64], Ints]]:
    """The vertices of each mesh, and its triangles of these."""
    result = []
    for one in iqm.meshes:
        end = one.first_vertex + one.vertex_count
        members, triangles = np.arange(one.first_vertex, end), iqm.triangles[one.first_triangle :][: one.triangle_count]
        if triangles.size and (triangles.min() < one.first_vertex or triangles.max() >= end):
            # A real file has two meshes whose triangles use the vertices of one.
            members = np.union1d(members, triangles)
        result.append((members, np.searchsorted(members, triangles).astype(np.int32)))
    return result


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
    scale = np.iinfo(weights.dtype).max if weights.dtype.kind in "iu" else 1.0
    indexes, biases = indexes[:, :width].astype(np.int64), weights[:, :width].astype(np.float64) / scale
    free = ~(biases > 0.0).any(axis=1)
    if free.any():
        indexes[free, 0], biases[free] = 0, np.arange(width) == 0
        warnings.append(f"{counted(int(free.sum()), 'vertices', 'have')} no weights and hang on the first joint")
    vertices, columns = np.nonzero(biases > 0.0)
    used = indexes[vertices, columns]
    bad = np.flatnonzero((used < 0) | (used >= joint_count))
    if len(bad):
        reason = f"vertex {vertices[bad[0]]} has a weight of a joint that does not exist"
        raise IqmError(reason, found=str(used[bad[0]]), expected=f"0 to {joint_count - 1}")
    return vertices, used, biases[vertices, columns]


def _with_negative_w(orientations: Floats) -> Floats:
    return np.where(orientations[..., :1] > 0.0, -orientations, orientations)


def _uneven(scales: Floats, names: list[str]) -> list[str]:
    differs = np.ptp(scales, axis=-1) > _SAME_SCALE * np.abs(scales).max(axis=-1)
    return [names[joint] for joint in np.flatnonzero(np.atleast_2d(differs).any(axis=0)).tolist()]


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
    joints, parents = model.joints, model.joints.parents
    if len(joints) > MOST_JOINTS:
        raise IqmError("the model has too many joints", found=str(len(joints)), expected=f"at most {MOST_JOINTS}")
    bind = np.ones((len(joints), 3)) if scales is None else np.asarray(scales, np.float64)
    above = of_parents(parents, multiply_by_parents(parents, bind))
    positions, turns = decompose(parents, joints.positions, joints.orientations)
    channels = as_singles(np.hstack([positions / above, _with_negative_w(turns)[:, _XYZW], bind]))
    iqm = Iqm(joint_names=list(joints.names), joint_parents=parents.copy(), joint_channels=channels)
    _add_meshes(iqm, model, list(attributes) or [Attributes() for _ in model.meshes])
    tables: list[Floats] = []
    for one in animations:
        validate_animation(one.animation)
        if one.animation.names != joints.names or (one.animation.parents != parents).any():
            raise IqmError(f"the animation {one.name!r} has other joints than the model")
        table = _channels_of(one, above, bind)
        first, rate = sum(map(len, tables)), one.animation.frame_rate
        iqm.animations.append(FrameRange(one.name, first, len(table), rate, LOOP if one.is_loop else 0))
        tables.append(table)
    if tables:
        _add_frames(iqm, np.concatenate(tables))
        # Of the poses as they are read.
        found = [one.poses() for one in to_animations(iqm)]
        boxes = [pose_bounds(model.meshes, *pose).reshape(-1, 6) for pose in found]
        radii = [pose_radii(model.meshes, *pose) for pose in found]
        iqm.bounds = as_singles(np.hstack([np.concatenate(boxes), np.concatenate(radii)]))
    return iqm


def animations_alone(iqm: Iqm) -> Iqm:
    """The poses and animations of a file, without joints and meshes, as Cube engines load them."""
    names = ("pose_parents", "pose_masks", "pose_offsets", "pose_scales", "frames", "animations", "bounds", "comment")
    return Iqm(**{name: getattr(iqm, name) for name in names})


def _channels_of(one: NamedAnimation, above: Floats, bind: Floats) -> Floats:
    """The channels of an animation in each frame, (F, J, 10)."""
    parents = one.animation.parents
    places, turns, scales = one.poses()
    sizes = np.ones((*turns.shape[:2], 1)) if scales is None else scales[..., None]
    places, turns = decompose(parents, places, turns)
    inherited = of_parents(parents, sizes)
    # What hangs on a joint of no size has none either.
    inherited = np.where(inherited == 0.0, 1.0, inherited)
    turns = quat.make_continuous(_with_negative_w(turns))[..., _XYZW]
    return np.concatenate([places / inherited / above, turns, sizes / inherited * bind], axis=2)


def _add_frames(iqm: Iqm, table: Floats) -> None:
    """Poses and frames of channels, (F, J, 10)."""
    low, high = as_singles(table.min(axis=0)), as_singles(table.max(axis=0))
    iqm.pose_parents, iqm.pose_offsets = iqm.joint_parents.copy(), low
    iqm.pose_scales = ((high.astype(np.float64) - low) / _STEPS).astype(np.float32)
    moves = iqm.pose_scales > 0.0
    iqm.pose_masks = (moves << np.arange(moves.shape[1])).sum(axis=1).astype(np.int32)
    steps = (table[:, moves] - low[moves].astype(np.float64)) / iqm.pose_scales[moves].astype(np.float64)
    iqm.frames = np.clip(np.rint(steps), 0, _STEPS).astype(np.uint16)


def _add_meshes(iqm: Iqm, model: Model, given: list[Attributes]) -> None:
    if len(given) != len(model.meshes):
        raise IqmError("attributes are not those of the meshes", found=str(len(given)), expected=str(len(model.meshes)))
    columns: dict[ArrayType, list[NDArray[Any]]] = {kind: [] for kind in PORTABLE}
    triangles: list[Ints] = [np.zeros((0, 3), np.int32)]
    has_colors = any(one.colors is not None for one in given)
    for mesh, one in zip(model.meshes, given, strict=True):
        points = bind_pose(mesh, model.joints.positions, model.joints.orientations)[0]
        normals = vertex_normals(points, mesh.triangles) if one.normals is None else one.normals
        tangents = _tangents(points, mesh, normals) if one.tangents is None else one.tangents
        values: list[NDArray[Any]] = [points, mesh.uvs, normals, tangents, *largest_weights(mesh)]
        if has_colors:
            values.append(np.full((len(points), 4), 255) if one.colors is None else one.colors)
        first, first_triangle = sum(map(len, columns[ArrayType.POSITION])), sum(map(len, triangles))
        for kind, rows in zip(columns, values, strict=False):
            if rows.shape != (mesh.vertex_count, PORTABLE[kind][1]):
                reason = f"{kind.name} of the mesh {mesh.shader!r} has the wrong shape"
                raise IqmError(reason, found=str(rows.shape), expected=f"{mesh.vertex_count} vertices")
            columns[kind].append(rows)
        name, sizes = mesh.name or mesh.comment_name, (mesh.vertex_count, first_triangle, len(mesh.triangles))
        iqm.meshes.append(MeshRange(name, mesh.shader, first, *sizes))
        triangles.append(mesh.triangles + np.int32(first))
    for kind, parts in columns.items():
        if parts:
            rows = np.concatenate(parts)
            is_byte = kind >= ArrayType.BLEND_INDEXES
            iqm.arrays.append(VertexArray(kind, rows.astype(np.uint8) if is_byte else as_singles(rows)))
    for name in dict.fromkeys(array.name for one in given for array in one.custom):
        iqm.arrays.append(_custom(name, [[one for one in part.custom if one.name == name] for part in given], iqm))
    iqm.triangles = np.concatenate(triangles)
    iqm.adjacency = neighbors(iqm.triangles, iqm.arrays[0].values if iqm.arrays else np.zeros((0, 3)))


def _custom(name: str, parts: list[list[VertexArray]], iqm: Iqm) -> VertexArray:
    """The custom array of all meshes, zeros where one has none."""
    known = next(part[0] for part in parts if part)
    shape, dtype = known.values.shape[1], known.values.dtype
    ranges = zip(iqm.meshes, parts, strict=True)
    rows = [part[0].values if part else np.zeros((one.vertex_count, shape), dtype) for one, part in ranges]
    return VertexArray(ArrayType.CUSTOM, np.concatenate(rows), known.flags, name)


def _tangents(points: Floats, mesh: Mesh, normals: Floats) -> Floats:
    tangents, downward = vertex_tangents(points, mesh.uvs, mesh.triangles, normals)
    signs = np.einsum("vi,vi->v", np.cross(normals, tangents), downward)
    return np.column_stack([tangents, np.where(signs > 0.0, -1.0, 1.0)])
