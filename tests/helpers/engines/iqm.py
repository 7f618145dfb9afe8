"""Readers of IQM files: ioquake3, GZDoom, Daemon and the Cube engines.

Facts: ioquake3's `tr_model_iqm.c`, `R_LoadIQM` (at most 16 MB and 128 joints; poses as joints or none; 999 vertices and
1,999 triangles in a mesh; positions, normals, texture coordinates, and blend arrays with joints; indices that exist);
GZDoom's `models_iqm.cpp`, `IQMModel::Load` (reads the text, adjacency of all triangles and bounds of all frames, and
parents before children); Daemon's `tr_model_iqm.cpp` (blend arrays of bytes, finite numbers, no negative scale, frames
in every animation, parents before children); Sauerbraten's `iqm.h` (at most 16 MB, the portable arrays; channels of
scales are skipped).
"""

from __future__ import annotations

import math
import struct

import iqm_specification as specification
from iqm_specification import SpecIqm

from .posing import Refused

PORTABLE = {0: (7, 3), 1: (7, 2), 2: (7, 3), 3: (7, 4), 4: (1, 4), 5: (1, 4), 6: (1, 4)}


def _require(holds: bool, reason: str) -> None:
    if not holds:
        raise Refused(reason)


def _arrays(data: bytes, iqm: SpecIqm) -> dict[int, tuple[int, int]]:
    start, count = iqm.head["ofs_vertexarrays"], iqm.head["num_vertexarrays"]
    rows = [struct.unpack_from("<5I", data, start + 20 * row) for row in range(count)]
    return {kind: (code, size) for kind, _, code, size, _ in rows}


def _read(data: bytes) -> SpecIqm:
    iqm = specification.read(data)
    for triangle in iqm.triangles:
        _require(max(triangle) < iqm.head["num_vertexes"], "a vertex that does not exist")
    return iqm


def _require_order(iqm: SpecIqm) -> None:
    for parents in ([joint[1] for joint in iqm.joints], [pose[0] for pose in iqm.poses]):
        _require(all(parent < joint for joint, parent in enumerate(parents)), "a parent after its child")


def ioquake3(data: bytes) -> SpecIqm:
    iqm = _read(data)
    arrays, joints, poses = _arrays(data, iqm), iqm.head["num_joints"], iqm.head["num_poses"]
    _require(len(data) <= 16 << 20, "too large")
    _require(joints <= 128 and poses in (0, joints), "joints and poses")
    for kind, (code, size) in arrays.items():
        allowed = {4: (1, 4), 5: (1, 7)}.get(kind, (PORTABLE.get(kind, (code, 0))[0],))
        _require(kind not in PORTABLE or (code in allowed and size == PORTABLE[kind][1]), "format of an array")
    _require({0, 1, 2} <= arrays.keys() or not iqm.meshes, "a missing array")
    _require(not joints or not iqm.meshes or {4, 5} <= arrays.keys(), "missing blend arrays")
    for _, _, (_, vertices), (_, triangles) in iqm.meshes:
        _require(vertices < 1000 and triangles < 2000, "too many vertices or triangles")
    return iqm


def gzdoom(data: bytes) -> SpecIqm:
    iqm = _read(data)
    _require(iqm.head["num_text"] > 0, "no text")
    _require(iqm.head["ofs_adjacency"] > 0 or not iqm.triangles, "no adjacency")
    _require(iqm.head["ofs_bounds"] > 0 or not iqm.frames, "no bounds")
    _require_order(iqm)
    return iqm


def daemon(data: bytes) -> SpecIqm:
    iqm = _read(data)
    arrays = _arrays(data, iqm)
    _require(len(data) <= 16 << 20, "too large")
    _require(all(arrays.get(kind, (1, 4)) == (1, 4) for kind in (4, 5)), "format of blend arrays")
    _require(all(anim[2] > 0 for anim in iqm.anims), "an animation without frames")
    channels = [joint[2] for joint in iqm.joints] + [pose for frame in iqm.frames for pose in frame]
    _require(all(math.isfinite(value) for row in channels for value in row), "a number that is not finite")
    _require(all(min(row[7:]) >= 0.0 for row in channels), "a negative scale")
    _require_order(iqm)
    return iqm


def cube(data: bytes) -> SpecIqm:
    iqm = _read(data)
    _require(len(data) <= 16 << 20, "too large")
    for kind, form in _arrays(data, iqm).items():
        _require(PORTABLE.get(kind, form) == form, "format of an array")
    iqm.frames = [[(*pose[:7], 1.0, 1.0, 1.0) for pose in frame] for frame in iqm.frames]
    return iqm


READERS = {"QUAKE3": ioquake3, "GZDOOM": gzdoom, "UNVANQUISHED": daemon, "SAUERBRATEN": cube}
