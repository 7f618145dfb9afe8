"""An IQM file as the joints, meshes and animations of `io_common.skeletal`, and back; see its `channels` for scales."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Sized
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...io_common.skeletal.channels import (
    SAME,
    animation_of_channels,
    channels_of_animation,
    channels_of_joints,
    is_same_animation,
    joints_of_channels,
    uneven_joints,
)
from ...io_common.skeletal.model import ROOT, Floats, Ints, Joints, Mesh, Model, as_singles
from ...io_common.skeletal.scales import NamedAnimation, Poses
from ...io_common.skeletal.skinning import bind_pose, vertex_normals, vertex_tangents
from ...io_common.skeletal.validation import validate_animation, validate_model
from ...io_common.skeletal.weights import bounds_and_radii, largest_weights, set_weights, weights_by_joint
from ...io_common.texts import counted, listing
from ...io_common.triangles import neighbors
from .model import LOOP, PORTABLE, ArrayType, FrameRange, Iqm, IqmError, MeshRange, VertexArray, find_blend_problems

ORIGIN = "origin"
"""The joint of a model whose file has none."""

DEFAULT_RATE = 10.0
"""Frames per second of an animation that leaves it to the game."""

_MOST_JOINTS = 256
_STEPS = 2**16 - 1


@dataclass(eq=False)
class Attributes:
    """What an IQM has for the V vertices of a mesh beyond a `Mesh`; None or empty for what it has not."""

    normals: Floats | None = None  # (V, 3)
    # (V, 4); the last is the sign of the bitangent, cross(normal, tangent) · sign, which points up in the image.
    tangents: Floats | None = None
    colors: NDArray[np.uint8] | None = None  # (V, 4), red, green, blue and alpha
    custom: list[VertexArray] = field(default_factory=list)  # all other arrays, of these vertices


# From a file


def to_model(iqm: Iqm) -> Model:
    """The bind pose and the meshes of a file.

    Each vertex has its weights that are not 0, those of bytes in parts of 255. A vertex without any hangs on the first
    joint. A file without joints gets a joint `origin`. Raises IqmError if a blend index is no joint, or there are no
    positions.
    """
    joints, warnings = joints_of(iqm), list(iqm.warnings)
    if uneven := uneven_joints(iqm.joint_channels[:, 7:].astype(np.float64), iqm.joint_names):
        warnings.append(f"joints whose axes have different scales in the bind pose: {listing(uneven)}")
    points, uvs = _components(iqm, ArrayType.POSITION, 3), _components(iqm, ArrayType.TEXCOORD, 2)
    if points is None and iqm.vertex_count:
        raise IqmError("the vertices have no positions", found="no array POSITION with 3 components")
    points = np.zeros((0, 3)) if points is None else points
    uvs = np.zeros((len(points), 2)) if uvs is None else uvs
    for _, _, reason, found, expected in find_blend_problems(iqm):
        raise IqmError(reason, found=str(found), expected=expected)
    vertices, used, biases = _weights(iqm, warnings)
    meshes = []
    for one, (members, triangles) in zip(iqm.meshes, parts_of(iqm), strict=True):
        mesh = Mesh(one.material, uvs[members], triangles=triangles, name=one.name)
        rows = np.isin(vertices, members)
        set_weights(mesh, joints, np.searchsorted(members, vertices[rows]), used[rows], biases[rows], points[members])
        meshes.append(mesh)
    return Model(joints, meshes, warnings=warnings)


def to_attributes(iqm: Iqm) -> list[Attributes]:
    """What `to_model` leaves out, for each mesh; normals that the file does not have are computed."""
    normals, tangents, colors = normals_of(iqm), _components(iqm, ArrayType.TANGENT, 4), colors_of(iqm)
    custom = [one for (kind, _, number), one in numbered(iqm.arrays).items() if kind not in PORTABLE or number]
    return [
        Attributes(
            normals[members],
            None if tangents is None else tangents[members],
            None if colors is None else colors[members],
            [replace(one, values=one.values[members]) for one in custom],
        )
        for members, _ in parts_of(iqm)
    ]


def numbered(arrays: Iterable[VertexArray]) -> dict[tuple[int, str, int], VertexArray]:
    """Arrays by their type, their name, and how many of both come before."""
    result: dict[tuple[int, str, int], VertexArray] = {}
    for one in arrays:
        before = sum((kind, name) == (one.type, one.name) for kind, name, _ in result)
        result[one.type, one.name, before] = one
    return result


def normals_of(iqm: Iqm) -> Floats:
    """The normals of all vertices, (V, 3), computed if the file has none."""
    normals, points = _components(iqm, ArrayType.NORMAL, 3), _components(iqm, ArrayType.POSITION, 3)
    if normals is not None:
        return normals
    result = np.zeros((iqm.vertex_count, 3))
    for members, triangles in parts_of(iqm):
        if points is not None:
            result[members] = vertex_normals(points[members], triangles)
    return result


def colors_of(iqm: Iqm) -> NDArray[np.uint8] | None:
    """The colors of all vertices, (V, 4); those without alpha are opaque."""
    colors = iqm.array(ArrayType.COLOR)
    if colors is None:
        return None
    if colors.dtype != np.uint8:
        scale = np.iinfo(colors.dtype).max if colors.dtype.kind in "iu" else 1.0
        colors = np.rint(np.clip(np.nan_to_num(colors / scale), 0.0, 1.0) * 255.0)
    return np.pad(colors[:, :4], ((0, 0), (0, max(0, 4 - colors.shape[1]))), constant_values=255).astype(np.uint8)


def bind_scales(iqm: Iqm) -> Floats:
    """The scale of each joint in the bind pose relative to its parent, (J, 3); ones in most files."""
    scales = iqm.joint_channels[:, 7:].astype(np.float64)
    return np.where(scales == 0.0, 1.0, scales)


# A signalling NaN of bounds would be a warning on the console.
@np.errstate(invalid="ignore")
def to_animations(iqm: Iqm, joints: Joints | None = None, scales: Floats | None = None) -> list[NamedAnimation]:
    """The animations of a file; what the shared model cannot hold is in the warnings of each.

    `joints` and `scales`, its `bind_scales`, are those of the model, if the file has none; without them, the joints of
    animations have no names, and scales are 1. Raises IqmError if poses and joints differ in number or parents.
    """
    names, parents = [""] * len(iqm.pose_parents), iqm.pose_parents
    if iqm.joint_names:
        joints, scales = joints_of(iqm), bind_scales(iqm)
    if joints is not None:
        names, parents = joints.names, joints.parents
    if len(iqm.pose_parents) != len(names):
        found, expected = counted(len(iqm.pose_parents), "poses"), counted(len(names), "joints")
        raise IqmError("the poses are those of another model", found=found, expected=expected)
    for pose in np.flatnonzero(iqm.pose_parents != parents).tolist():
        expected = f"{parents[pose]}, the parent of {names[pose]!r}"
        reason = f"pose {pose} has another parent than the joint"
        raise IqmError(reason, found=str(iqm.pose_parents[pose]), expected=expected)
    result = []
    for one in iqm.animations:
        if one.frame_count:
            channels, rate = iqm.channels(one.first_frame, one.frame_count), one.frame_rate or DEFAULT_RATE
            named = animation_of_channels(one.name, names, parents, channels, _scales(scales, names), rate)
            if len(iqm.bounds):
                boxes = iqm.bounds[one.first_frame :][: one.frame_count, :6]
                named.animation.bounds = boxes.reshape(-1, 2, 3).astype(np.float64)
            named.is_loop = one.is_loop
            result.append(named)
    return result


def joints_of(iqm: Iqm) -> Joints:
    """The bind pose of a file; one without joints has a joint `origin`."""
    if not iqm.joint_names:
        return Joints([ORIGIN], np.array([ROOT], np.int32), np.zeros((1, 3)), np.array([[-1.0, 0.0, 0.0, 0.0]]))
    channels = iqm.joint_channels.astype(np.float64)
    return joints_of_channels(iqm.joint_names, iqm.joint_parents, channels, bind_scales(iqm))


def parts_of(iqm: Iqm) -> list[tuple[NDArray[np.int64], Ints]]:
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


def _scales(scales: Floats | None, joints: Sized) -> Floats:
    return np.ones((len(joints), 3)) if scales is None else np.asarray(scales, np.float64)


@np.errstate(invalid="ignore")
def _components(iqm: Iqm, kind: ArrayType, count: int) -> Floats | None:
    values = iqm.array(kind)
    return None if values is None or values.shape[1] < count else values[:, :count].astype(np.float64)


def _weights(iqm: Iqm, warnings: list[str]) -> tuple[NDArray[np.int64], NDArray[np.int64], Floats]:
    """The vertices, joints and biases of all weights, in the order of the vertices."""
    indexes, weights = iqm.array(ArrayType.BLEND_INDEXES), iqm.array(ArrayType.BLEND_WEIGHTS)
    if not iqm.joint_names or indexes is None or weights is None:
        # All are free.
        indexes = weights = np.zeros((iqm.vertex_count, 1), np.uint8)
    width = min(indexes.shape[1], weights.shape[1])
    scale = np.iinfo(weights.dtype).max if weights.dtype.kind in "iu" else 1.0
    indexes, biases = indexes[:, :width].astype(np.int64), weights[:, :width].astype(np.float64) / scale
    free = ~(biases > 0.0).any(axis=1)
    indexes[free, 0], biases[free] = 0, np.arange(width) == 0
    if iqm.joint_names and free.any():
        warnings.append(f"{counted(int(free.sum()), 'vertices', 'have')} no weights and hang on the first joint")
    vertices, columns = np.nonzero(biases > 0.0)
    return vertices, indexes[vertices, columns], biases[vertices, columns]


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

    Vertices are already split where normals, texture coordinates or colors differ. `attributes` are those of each mesh;
    normals and tangents that are not given are computed. `scales` are those of the joints in the bind pose, (J, 3), as
    `bind_scales` of the imported file; ones if None. Raises IqmError if the model or an animation is not valid, or an
    animation has other joints.
    """
    validate_model(model)
    joints = model.joints
    check_joint_count(joints)
    channels = as_singles(channels_of_joints(joints, _scales(scales, joints)))
    iqm = Iqm(joint_names=list(joints.names), joint_parents=joints.parents.copy(), joint_channels=channels)
    _add_meshes(iqm, model, list(attributes) or [Attributes() for _ in model.meshes])
    if not animations:
        return iqm
    encoded = encode_animations(joints, animations, scales)
    return with_animations(iqm, encoded, [one.poses() for one in animations], model.meshes)


def check_joint_count(joints: Joints) -> None:
    """Raises IqmError if there are more joints than a byte can number."""
    if len(joints) > _MOST_JOINTS:
        raise IqmError("the model has too many joints", found=str(len(joints)), expected=f"at most {_MOST_JOINTS}")


def with_animations(iqm: Iqm, encoded: Iqm, poses: Sequence[Poses], meshes: Sequence[Mesh]) -> Iqm:
    """A file with the animations of another, for the same joints, and their bounds with the file's meshes.

    `poses` are those of each animation, as `NamedAnimation.poses` returns them.
    """
    result = replace(iqm, **{name: getattr(encoded, name) for name in OF_ANIMATIONS})
    parts = [weights_by_joint(mesh) for mesh in meshes if mesh.vertex_count]
    found = [bounds_and_radii(parts, *one) for one in poses]
    result.bounds = as_singles(np.concatenate([np.hstack([boxes.reshape(-1, 6), radii]) for boxes, radii in found]))
    return result


OF_ANIMATIONS = ("pose_parents", "pose_masks", "pose_offsets", "pose_scales", "frames", "animations")
"""The attributes of an `Iqm` that animations have, besides bounds."""


def animations_alone(iqm: Iqm, number: int | None = None) -> Iqm:
    """The poses and animations of a file, or one of them, without joints and meshes, as Cube engines load them."""
    alone = Iqm(**{name: getattr(iqm, name) for name in (*OF_ANIMATIONS, "bounds", "comment")})
    if number is not None:
        one = iqm.animations[number]
        rows = slice(one.first_frame, one.first_frame + one.frame_count)
        alone.frames, alone.bounds = iqm.frames[rows], iqm.bounds[rows]
        alone.animations = [replace(one, first_frame=0)]
    return alone


def encode_animations(
    joints: Joints,
    animations: Sequence[NamedAnimation],
    scales: Floats | None = None,
    sources: Sequence[Iqm | None] = (),
) -> Iqm:
    """A file of animations alone, at least one, without bounds; `scales` are those of the bind pose, see `from_model`.

    `sources` are files with only the animation that each was, None if it was in none: what is still the same is that of
    the file. Raises IqmError if an animation is not valid, or has other joints.
    """
    parents = joints.parents
    iqm, tables, known = Iqm(pose_parents=parents.copy()), list[Floats](), None
    for one, source in zip(animations, sources or [None] * len(animations), strict=True):
        validate_animation(one.animation)
        if one.animation.names != joints.names or (one.animation.parents != parents).any():
            raise IqmError(f"the animation {one.name!r} has other joints than the model")
        if source is not None and _is_same(one, source, joints, scales):
            table, known = source.channels(), known or source
        else:
            table = channels_of_animation(one, _scales(scales, joints))
        first, rate, flags = sum(map(len, tables)), float(np.float32(one.animation.frame_rate)), 0
        if source is not None:
            old = source.animations[0]
            rate = old.frame_rate if rate == (old.frame_rate or DEFAULT_RATE) else rate
            flags = old.flags & ~LOOP
        iqm.animations.append(FrameRange(one.name, first, len(table), rate, flags | (LOOP if one.is_loop else 0)))
        tables.append(table)
    _add_frames(iqm, np.concatenate(tables), known)
    return iqm


def _is_same(one: NamedAnimation, source: Iqm, joints: Joints, scales: Floats | None) -> bool:
    if not np.array_equal(source.pose_parents, joints.parents):
        return False
    return any(is_same_animation(one, other) for other in to_animations(source, joints, scales))


def _add_frames(iqm: Iqm, table: Floats, known: Iqm | None) -> None:
    """Poses and frames of channels, (F, J, 10); with the ranges of a file if it holds them."""
    low, high = as_singles(table.min(axis=0)), as_singles(table.max(axis=0))
    steps = ((high.astype(np.float64) - low) / _STEPS).astype(np.float32)
    if known is not None:
        offsets, sizes = known.pose_offsets, known.pose_scales * known.moving_channels
        slack = known.pose_scales / 2 + SAME * np.abs(offsets) + 1e-9
        if (table >= offsets - slack).all() and (table <= offsets + sizes.astype(np.float64) * _STEPS + slack).all():
            low, steps = offsets, sizes
    moves = steps > 0.0
    iqm.pose_offsets, iqm.pose_scales = low, steps
    iqm.pose_masks = (moves << np.arange(moves.shape[1])).sum(axis=1).astype(np.int32)
    counts = (table[:, moves] - low[moves].astype(np.float64)) / steps[moves].astype(np.float64)
    iqm.frames = np.clip(np.rint(counts), 0, _STEPS).astype(np.uint16)


def _add_meshes(iqm: Iqm, model: Model, given: list[Attributes]) -> None:
    if len(given) != len(model.meshes):
        raise IqmError("attributes are not those of the meshes", found=str(len(given)), expected=str(len(model.meshes)))
    columns: dict[ArrayType, list[NDArray[Any]]] = {kind: [] for kind in PORTABLE}
    triangles: list[Ints] = [np.zeros((0, 3), np.int32)]
    first = first_triangle = 0
    for mesh, one in zip(model.meshes, given, strict=True):
        points = bind_pose(mesh, model.joints.positions, model.joints.orientations)[0]
        normals = vertex_normals(points, mesh.triangles) if one.normals is None else one.normals
        tangents = _tangents(points, mesh, normals) if one.tangents is None else one.tangents
        colors = np.full((len(points), 4), 255) if one.colors is None else one.colors
        values: list[NDArray[Any]] = [points, mesh.uvs, normals, tangents, *largest_weights(mesh), colors]
        for (kind, parts), rows in zip(columns.items(), values, strict=True):
            if rows.shape != (mesh.vertex_count, PORTABLE[kind][1]):
                reason = f"{kind.name} of the mesh {mesh.shader!r} has the wrong shape"
                raise IqmError(reason, found=str(rows.shape), expected=counted(mesh.vertex_count, "vertices"))
            parts.append(rows)
        sizes = (first, mesh.vertex_count, first_triangle, len(mesh.triangles))
        iqm.meshes.append(MeshRange(mesh.name or mesh.comment_name, mesh.shader, *sizes))
        triangles.append(mesh.triangles + np.int32(first))
        first, first_triangle = first + mesh.vertex_count, first_triangle + len(mesh.triangles)
    if all(one.colors is None for one in given):
        del columns[ArrayType.COLOR]
    for kind, parts in columns.items() if given else ():
        rows = np.concatenate(parts)
        is_byte = kind >= ArrayType.BLEND_INDEXES
        iqm.arrays.append(VertexArray(kind, rows.astype(np.uint8) if is_byte else as_singles(rows)))
    custom = [numbered(one.custom) for one in given]
    for key in dict.fromkeys(chain(*custom)):
        known = next(one[key] for one in custom if key in one)
        empty = np.zeros((1, known.values.shape[1]), known.values.dtype)
        given_values = [
            one[key].values if key in one else empty.repeat(mesh.vertex_count, axis=0)
            for mesh, one in zip(iqm.meshes, custom, strict=True)
        ]
        iqm.arrays.append(replace(known, values=np.concatenate(given_values)))
    iqm.triangles = np.concatenate(triangles)
    iqm.adjacency = neighbors(iqm.triangles, iqm.arrays[0].values if iqm.arrays else np.zeros((0, 3)))


def _tangents(points: Floats, mesh: Mesh, normals: Floats) -> Floats:
    tangents, downward = vertex_tangents(points, mesh.uvs, mesh.triangles, normals)
    signs = np.einsum("vi,vi->v", np.cross(normals, tangents), downward)
    return np.column_stack([tangents, np.where(signs > 0.0, -1.0, 1.0)])
