"""Doom 3 and RBDOOM-3-BFG: a strict order of tokens, and a root whose base translation is taken for 0.

Facts: `Model_md5.cpp`, `LoadModel` and `ParseMesh`; `Anim.cpp`, `LoadAnim` (the root's translation: 299–324);
`Lexer.cpp`; `Camera.cpp`, `LoadAnim`. RBDOOM-3-BFG's `Model_md5.cpp` keeps four weights as bytes and has indices of
joints of 8 and of vertices of 16 bits.
"""

from __future__ import annotations

import numpy as np

from .cursor import DOOM3, Cursor
from .posing import EngineMesh, Loaded, Refused, each_point, filled_bytes, read_once, rotations, unpack

BFG_MOST_JOINTS = 255
BFG_MOST_VERTICES = 65535


def load(mesh: bytes, animation: bytes, *, bfg: bool = False) -> Loaded:
    """A model and its animation."""
    names, parents, bind, meshes = _mesh(mesh)
    if bfg and len(names) > BFG_MOST_JOINTS:
        raise Refused("too many joints")
    if bfg and any(len(part.uvs) > BFG_MOST_VERTICES for part in meshes):
        raise Refused("indices of 16 bits")
    loaded = Loaded(meshes, bind, parents, skin=filled_bytes if bfg else each_point, folds=True)
    _animation(animation, names, loaded)
    return loaded


def load_camera(data: bytes) -> tuple[list[int], np.ndarray]:
    """The cuts and the entries of a camera path, (N, 7)."""
    cursor = Cursor(data, DOOM3)
    cursor.expect("MD5Version")
    if cursor.integer() != 10:
        raise Refused("version")
    cursor.expect("commandline")
    cursor.word()
    cursor.expect("numFrames")
    frame_count = cursor.integer()
    cursor.expect("frameRate")
    frame_rate = cursor.integer()
    cursor.expect("numCuts")
    cut_count = cursor.integer()
    if frame_count <= 0 or frame_rate <= 0 or not 0 <= cut_count <= frame_count:
        raise Refused("frames, frame rate or cuts")
    cursor.expect("cuts", "{")
    cuts = [cursor.integer() for _ in range(cut_count)]
    if any(not 1 <= cut < frame_count for cut in cuts):
        raise Refused("invalid camera cut")
    cursor.expect("}", "camera", "{")
    entries = cursor.table(frame_count, "( # # # ) ( # # # ) #")
    cursor.expect("}")
    if (entries[:, 6] <= 0).any():
        raise Refused("CalcFov: bad result")
    return cuts, entries


@read_once
def _mesh(data):
    cursor = Cursor(data, DOOM3)
    cursor.expect("MD5Version")
    if cursor.integer() != 10:
        raise Refused("version")
    cursor.expect("commandline")
    cursor.word()
    cursor.expect("numJoints")
    joint_count = cursor.integer()
    cursor.expect("numMeshes")
    mesh_count = cursor.integer()
    if joint_count <= 0 or mesh_count < 0:
        raise Refused("no joints")
    cursor.expect("joints", "{")
    names, parents, rows = [], [], []
    for joint in range(joint_count):
        names.append(cursor.word())
        parents.append(cursor.integer())
        if parents[-1] >= joint:
            raise Refused("invalid parent")
        rows.append(cursor.vector(3) + cursor.vector(3))
    cursor.expect("}")
    table = np.array(rows)
    meshes = [_block(cursor, joint_count) for _ in range(mesh_count)]
    return names, np.array(parents), (rotations(table[:, 3:], folds=True), table[:, :3]), meshes


def _block(cursor, joint_count):
    cursor.expect("mesh", "{")
    if cursor.check("name"):
        cursor.word()
    cursor.expect("shader")
    shader = cursor.word()
    cursor.expect("numverts")
    count = cursor.integer()
    verts = cursor.table(count, "vert # ( # # ) # #")
    if (verts[:, 4] <= 0).any():
        raise Refused("vertex without any joint weights")
    cursor.expect("numtris")
    tris = cursor.table(cursor.integer(), "tri # # # #")
    cursor.expect("numweights")
    weights = cursor.table(cursor.integer(), "weight # # # ( # # # )")
    cursor.expect("}")
    if ((weights[:, 1] < 0) | (weights[:, 1] >= joint_count)).any():
        raise Refused("joint index out of range")
    if (verts[:, 3] + verts[:, 4]).max(initial=0) > len(weights) or tris[:, 1:].max(initial=-1) >= count:
        raise Refused("index out of range")
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


def _animation(data, joint_names, loaded):
    cursor = Cursor(data, DOOM3)
    cursor.expect("MD5Version")
    if cursor.integer() != 10:
        raise Refused("version")
    cursor.expect("commandline")
    cursor.word()
    cursor.expect("numFrames")
    frame_count = cursor.integer()
    cursor.expect("numJoints")
    joint_count = cursor.integer()
    cursor.expect("frameRate")
    loaded.frame_rate = cursor.integer()
    cursor.expect("numAnimatedComponents")
    component_count = cursor.integer()
    if frame_count <= 0 or joint_count <= 0 or loaded.frame_rate < 1:
        raise Refused("frames, joints or frame rate")
    if not 0 <= component_count <= 6 * joint_count:
        raise Refused("number of components")
    cursor.expect("hierarchy", "{")
    flags, starts = [], []
    if joint_count != len(joint_names):
        raise Refused("other joints than the model")
    for joint in range(joint_count):
        name, parent = cursor.word(), cursor.integer()
        flags.append(cursor.integer())
        starts.append(cursor.integer())
        if parent >= joint or (joint and parent < 0):
            raise Refused("invalid parent")
        if flags[-1] & ~63:
            raise Refused("animation bits")
        if component_count and not 0 <= starts[-1] < component_count:
            raise Refused("first component")
        if name != joint_names[joint] or parent != loaded.parents[joint]:
            raise Refused("other joints than the model")
    cursor.expect("}")
    cursor.expect("bounds", "{")
    cursor.table(frame_count, "( # # # ) ( # # # )")
    cursor.expect("}")
    cursor.expect("baseframe", "{")
    base = cursor.table(joint_count, "( # # # ) ( # # # )")
    cursor.expect("}")
    frames = np.empty((frame_count, component_count))
    for frame in range(frame_count):
        cursor.expect("frame")
        if cursor.integer() != frame:
            raise Refused("expected frame number")
        cursor.expect("{")
        frames[frame] = cursor.numbers(component_count)
        cursor.expect("}")
    # The root's translation counts from its base, which is taken for 0 itself.
    for bit in range(3):
        if flags[0] >> bit & 1:
            column = starts[0] + (flags[0] & ((1 << bit) - 1)).bit_count()
            frames[:, column] -= base[0, bit]
    base[0, :3] = 0.0
    loaded.components = np.array([unpack(flags, starts, base, values) for values in frames])
