"""Quake II's re-release: q2pro, strict about the order of tokens and about every number's range.

Facts: `refresh/models.c`, `MD5_ParseMesh`, `MD5_ParseAnim`, `MD5_BuildFrameSkeleton`;
`refresh/mesh.c`, `calc_skel_vert`.
"""

from __future__ import annotations

import json

import numpy as np

from .cursor import QUAKE2, Cursor
from .posing import EngineMesh, Loaded, Refused, each_point, read_once, rotations, unpack

MOST_JOINTS, MOST_MESHES, MOST_FRAMES, MOST_WEIGHTS = 256, 32, 1024, 8192
MOST_VERTICES = MOST_TRIANGLES = 6144
UINT16 = 65535


def load(mesh: bytes, animation: bytes | None, scales: bytes | None = None) -> Loaded:
    """A model, the animation beside it and the file of scales; None if there is none."""
    if animation is None:
        raise Refused("no animation")
    loaded = _mesh(mesh)
    names = _animation(animation, loaded)
    if scales is not None:
        _scales(scales, names, loaded)
    return loaded


def _scales(data, names, loaded):
    """`MD5_LoadScales`: the first joint of a name; numbers of frames as `atoi` reads them."""
    loaded.scales = np.ones((loaded.frame_count, len(names)))
    loaded.scales_position = np.zeros(len(names), dtype=bool)
    for name, keys in json.loads(data).items():
        if name not in names:
            continue
        joint = names.index(name)
        for key, value in keys.items():
            if key == "scale_positions":
                loaded.scales_position[joint] = value
            elif int(key) < loaded.frame_count:
                loaded.scales[int(key), joint] = value


@read_once
def _mesh(data):
    cursor = Cursor(data, QUAKE2)
    cursor.expect("MD5Version", "10", "commandline")
    cursor.word()
    cursor.expect("numJoints")
    joint_count = cursor.within(1, MOST_JOINTS)
    cursor.expect("numMeshes")
    mesh_count = cursor.within(1, MOST_MESHES)
    cursor.expect("joints", "{")
    rows = []
    for _ in range(joint_count):
        cursor.word()
        cursor.next()
        rows.append(cursor.vector(3) + cursor.vector(3))
    cursor.expect("}")
    meshes = [_block(cursor, joint_count) for _ in range(mesh_count)]
    table = np.array(rows)
    bind = (rotations(table[:, 3:]), table[:, :3])
    return Loaded(meshes, bind, np.full(joint_count, -1), skin=each_point)


def _block(cursor, joint_count):
    cursor.expect("mesh", "{", "shader")
    shader = cursor.word()
    cursor.expect("numverts")
    count = cursor.within(0, MOST_VERTICES)
    verts = cursor.table(count, "vert # ( # # ) # #")
    cursor.expect("numtris")
    triangles = cursor.within(0, MOST_TRIANGLES)
    tris = cursor.table(triangles, "tri # # # #")
    cursor.expect("numweights")
    weight_count = cursor.within(0, MOST_WEIGHTS)
    weights = cursor.table(weight_count, "weight # # # ( # # # )")
    cursor.expect("}")
    for values, most in (
        (verts[:, 0], count - 1),
        (verts[:, 3:], UINT16),
        (tris[:, 0], triangles - 1),
        (tris[:, 1:], count - 1),
        (weights[:, 0], weight_count - 1),
        (weights[:, 1], joint_count - 1),
    ):
        if (values < 0).any() or (values > most).any() or (values != np.floor(values)).any():
            raise Refused("value out of range")
    if (verts[:, 3] + verts[:, 4]).max(initial=0) > weight_count:
        raise Refused("bad vert start or count")
    for rows in (verts, tris, weights):
        rows[:] = rows[np.argsort(rows[:, 0], kind="stable")]
    return EngineMesh(
        uvs=verts[:, 1:3],
        starts=verts[:, 3].astype(int),
        counts=verts[:, 4].astype(int),
        triangles=tris[:, 1:].astype(int),
        joints=weights[:, 1].astype(int),
        biases=weights[:, 2],
        offsets=weights[:, 3:],
        shader=shader,
    )


def _animation(data, loaded):
    cursor = Cursor(data, QUAKE2)
    cursor.expect("MD5Version", "10", "commandline")
    cursor.word()
    cursor.expect("numFrames")
    frame_count = cursor.within(1, MOST_FRAMES)
    cursor.expect("numJoints")
    joint_count = cursor.within(1, MOST_JOINTS)
    if joint_count != len(loaded.parents):
        raise Refused("bad numJoints")
    cursor.expect("frameRate")
    cursor.next()
    cursor.expect("numAnimatedComponents")
    component_count = cursor.within(0, 6 * MOST_JOINTS)
    cursor.expect("hierarchy", "{")
    names, flags, starts = [], [], []
    for joint in range(joint_count):
        names.append(cursor.word())
        loaded.parents[joint] = cursor.within(-1, joint_count - 1)
        flags.append(cursor.within(0, 2**32 - 1))
        starts.append(cursor.within(0, component_count))
        if starts[-1] + (flags[-1] & 63).bit_count() > component_count:
            raise Refused("bad joint info")
        if loaded.parents[joint] >= joint:
            raise Refused("bad parent joint")
    cursor.expect("}", "bounds", "{")
    cursor.table(frame_count, "( # # # ) ( # # # )")
    cursor.expect("}", "baseframe", "{")
    base = cursor.table(joint_count, "( # # # ) ( # # # )")
    cursor.expect("}")
    components = np.zeros((frame_count, joint_count, 6))
    for _ in range(frame_count):
        cursor.expect("frame")
        frame = cursor.within(0, frame_count - 1)
        cursor.expect("{")
        components[frame] = unpack(flags, starts, base, cursor.numbers(component_count))
        cursor.expect("}")
    loaded.components = components
    return names
