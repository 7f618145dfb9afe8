"""A file with everything of the imported file that is as it was, so that an untouched one comes back byte for byte."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ...io_common.skeletal import quaternions as quat
from ...io_common.skeletal.channels import SAME
from ...io_common.triangles import neighbors
from .convert import OF_ANIMATIONS, ORIGIN, animations_alone, colors_of, normals_of, numbered, parts_of
from .model import ArrayType, Iqm, VertexArray

Rows = NDArray[np.int64]

# What a file without joints lacks.
_BLEND = (ArrayType.BLEND_INDEXES, ArrayType.BLEND_WEIGHTS)
# What may differ at a vertex whose position and weights are as they were.
_COMPARED = (ArrayType.TEXCOORD, ArrayType.NORMAL, ArrayType.COLOR)


def keep_source(made: Iqm, source: Iqm, rows: Sequence[Rows], *, is_complete: bool = False) -> Iqm:
    """A file with everything of the imported one, `source`, that is as in it within the rounding of 32 bits.

    `rows` are, for each mesh, the vertices of the imported file whose position and weights its own have, -1 for none.
    If `is_complete`, the file also has the parts that only the made one has.
    """
    names = ("comment", "extensions", "flags", "text", "preserved")
    result = replace(made, **{name: getattr(source, name) for name in names})
    was = np.concatenate([np.zeros(0, np.int64), *rows])
    result.arrays, is_same = _arrays(made, source, was, is_complete)
    members, triangles = [was[:0]], [made.triangles[:0]]
    for part, corners in parts_of(source):
        triangles.append(corners + sum(map(len, members)))
        members.append(part)
    if (
        [(one.name, one.material) for one in made.meshes] == [(one.name, one.material) for one in source.meshes]
        and np.array_equal(was, np.concatenate(members))
        and np.array_equal(made.triangles, np.concatenate(triangles))
        and (is_same or np.array_equal(was, np.arange(source.vertex_count)))
    ):
        result.arrays = source.arrays if is_same else result.arrays
        result.meshes, result.triangles, result.adjacency = source.meshes, source.triangles, source.adjacency
        if is_complete and not len(source.adjacency):
            result.adjacency = neighbors(source.triangles, result.arrays[0].values)
    if _keep_joints(result, source) and _shown(made) == _shown(source):
        for name in OF_ANIMATIONS:
            setattr(result, name, getattr(source, name))
        is_kept = result.arrays is source.arrays and (len(source.bounds) or not is_complete)
        result.bounds = source.bounds if is_kept else made.bounds
    return result


def _arrays(made: Iqm, source: Iqm, was: Rows, is_complete: bool) -> tuple[list[VertexArray], bool]:
    """The arrays, and whether they are those of the imported file."""
    known = was >= 0
    olds, colors, normals = numbered(source.arrays), colors_of(source), made.array(ArrayType.NORMAL)
    unchanged, result = known.copy(), []
    computed = [] if is_complete or not known.all() else [ArrayType.TANGENT, *_BLEND]
    if computed and source.array(ArrayType.NORMAL) is None and normals is not None:
        # Blender shows the same without, unless they were edited.
        is_shown = np.abs(normals - normals_of(source)[was]).max(initial=0.0) <= SAME
        computed += [ArrayType.NORMAL] if is_shown else []
    for key, one in numbered(made.arrays).items():
        old = olds.get(key)
        if old is None:
            result += [] if one.type in computed else [one]
            continue
        # Tangents follow all that comes before them.
        is_same = (unchanged if one.type == ArrayType.TANGENT else known).copy()
        if one.type == ArrayType.TANGENT and not unchanged.all() and old.values.shape[1] == one.values.shape[1] == 4:
            # Triangles whose vertices have other signs of the bitangent are shaded wrongly.
            is_same &= one.values[:, 3] * old.values[was, 3] > 0.0
        if one.type in _BLEND and made.joint_names != source.joint_names:
            # They number the joints.
            is_same[:] = unchanged[:] = False
        if one.type in _COMPARED:
            wanted = old.values if one.type != ArrayType.COLOR or colors is None else colors
            expected = wanted[was[known], : one.values.shape[1]]
            off = np.abs(one.values[known, : expected.shape[1]].astype(np.float64) - expected)
            is_same[known] = ~(off > SAME * np.maximum(1.0, np.abs(expected))).any(axis=1)
            unchanged &= is_same
        values = one.values.copy()
        if is_same.all():
            values = old.values[was]
        elif old.values.dtype == values.dtype and old.values.shape[1] == values.shape[1]:
            values[is_same] = old.values[was[is_same]]
        result.append(replace(one, values=values, flags=old.flags))
    return result, len(result) == len(source.arrays) and bool(unchanged.all())


def _keep_joints(result: Iqm, source: Iqm) -> bool:
    """Uses the joints of the imported file that are as in it; whether all are."""
    if not source.joint_names and result.joint_names == [ORIGIN] and not result.animations:
        result.joint_names, result.joint_parents = [], source.joint_parents
        result.joint_channels = source.joint_channels
        result.arrays = [one for one in result.arrays if one.type not in _BLEND]
        return True
    olds = {name: joint for joint, name in reversed(list(enumerate(source.joint_names)))}
    known = np.flatnonzero([name in olds for name in result.joint_names])
    ours, theirs = result.joint_channels, source.joint_channels[[olds[result.joint_names[joint]] for joint in known]]
    off = np.abs(ours[known].astype(np.float64) - theirs)
    turns = [quat.normalise(rows[:, 3:7].astype(np.float64)) for rows in (ours[known], theirs)]
    size = SAME * max(1.0, float(np.abs(theirs).max(initial=0.0)))
    is_same = (off[:, [0, 1, 2, 7, 8, 9]] <= size).all(axis=1)
    is_same &= np.abs(np.einsum("ji,ji->j", *turns)) >= 1.0 - SAME**2
    ours[known[is_same]] = theirs[is_same]
    is_source = result.joint_names == source.joint_names and np.array_equal(result.joint_parents, source.joint_parents)
    return bool(is_source and is_same.all())


def _shown(iqm: Iqm) -> list[Iqm]:
    """Each animation with frames, without bounds."""
    alone = [animations_alone(iqm, number) for number, one in enumerate(iqm.animations) if one.frame_count]
    return [replace(one, bounds=Iqm().bounds, comment=b"") for one in alone]
