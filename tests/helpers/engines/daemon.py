"""Unvanquished and others of the Daemon engine.

Facts: `tr_model_md5.cpp`, `R_LoadMD5`; `tr_animation.cpp`, `R_LoadMD5Anim`; `tr_local.h`: the index of a parent is a
signed byte, the number of channels an unsigned one; `COM_ParseExt2`, which gives an empty token where a line ends and
none was to end.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from .cursor import DAEMON, Cursor
from .posing import EngineMesh, Loaded, Refused, rotations, skinned, unpack

MOST_JOINTS = 256
MOST_WEIGHTS = 4


class _Lines(Cursor):
    """Words of the same line, and words that may stand on a later one."""

    def __init__(self, data):
        super().__init__(data, DAEMON)

    def first(self, word: str) -> None:
        """A word, in any case, that may begin a line."""
        self.skip_lines()
        if self.next().lower() != word.lower():
            raise Refused(f"expected {word!r}")

    def name(self) -> str:
        self.skip_lines()
        return self.word()

    def rows(self, count, pattern):
        """Rows that each stand on a line of their own."""
        self.skip_lines()
        width = len(pattern.split())
        rows: list[str] = []
        for _ in range(count):
            self.skip_lines()
            row = self.tokens[self.at : self.at + width]
            if "\n" in row:
                raise Refused("a row does not stand on one line")
            rows += row
            self.at += width
        cursor = Cursor(b"", DAEMON)
        cursor.tokens = rows
        return cursor.table(count, pattern)


def load(mesh: bytes, animation: bytes) -> Loaded:
    """A model and an animation of it."""
    cursor = _Lines(mesh)
    cursor.word()
    if cursor.integer() != 10:
        raise Refused("version")
    cursor.first("commandline")
    cursor.word()
    cursor.first("numJoints")
    joint_count = cursor.integer()
    cursor.first("numMeshes")
    mesh_count = cursor.integer()
    if not 1 <= joint_count <= MOST_JOINTS or mesh_count < 1:
        raise Refused("number of joints or meshes")
    cursor.first("joints")
    cursor.expect("{")
    names, parents, rows = [], [], []
    for _ in range(joint_count):
        names.append(cursor.name())
        parents.append(signed_byte(cursor.integer()))
        if parents[-1] >= joint_count:
            raise Refused("bad parent index")
        rows.append(cursor.vector(3) + cursor.vector(3))
    cursor.first("}")
    meshes = [_block(cursor) for _ in range(mesh_count)]
    table = np.array(rows)
    bind = (rotations(table[:, 3:]), table[:, :3])
    loaded = Loaded(meshes, bind, np.array(parents), skin=partial(skinned, raw_sums=True))
    _animation(animation, names, loaded)
    return loaded


def signed_byte(number: int) -> int:
    """What is left of a number in eight bits; below 0 it means a root."""
    return max((number + 128) % 256 - 128, -1)


def _block(cursor):
    cursor.first("mesh")
    cursor.expect("{")
    cursor.first("shader")
    shader = cursor.word()
    cursor.first("numVerts")
    verts = cursor.rows(cursor.integer(), "vert # ( # # ) # #")
    if verts[:, 4].max(initial=0) > MOST_WEIGHTS:
        raise Refused("a vertex requires more than 4 weights")
    cursor.first("numTris")
    tris = cursor.rows(cursor.integer(), "tri # # # #")
    cursor.first("numWeights")
    weights = cursor.rows(cursor.integer(), "weight # # # ( # # # )")
    cursor.first("}")
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


def _animation(data, names, loaded):
    cursor = _Lines(data)
    cursor.word()
    if cursor.integer() != 10:
        raise Refused("version")
    cursor.first("commandline")
    cursor.word()
    cursor.first("numFrames")
    frame_count = cursor.integer()
    cursor.first("numJoints")
    joint_count = cursor.integer()
    cursor.first("frameRate")
    loaded.frame_rate = cursor.integer()
    cursor.first("numAnimatedComponents")
    component_count = cursor.integer()
    if joint_count % 256 == 0:
        raise Refused("no channels")
    if joint_count != len(names):
        raise Refused("other joints")
    cursor.first("hierarchy")
    cursor.expect("{")
    flags, starts = [], []
    for joint in range(joint_count):
        if cursor.name() != names[joint] or signed_byte(cursor.integer()) != loaded.parents[joint]:
            raise Refused("other joints")
        flags.append(cursor.integer())
        starts.append(cursor.integer())
    cursor.first("}")
    cursor.first("bounds")
    cursor.expect("{")
    cursor.rows(frame_count, "( # # # ) ( # # # )")
    cursor.first("}")
    cursor.first("baseframe")
    cursor.expect("{")
    base = cursor.rows(joint_count, "( # # # ) ( # # # )")
    cursor.first("}")
    tokens = [token for token in cursor.tokens[cursor.at :] if token != "\n"]
    rest = Cursor(b"", DAEMON)
    rest.tokens = tokens
    components = np.zeros((frame_count, joint_count, 6))
    for frame in range(frame_count):
        rest.expect("frame")
        rest.integer()
        rest.expect("{")
        components[frame] = unpack(flags, starts, base, rest.numbers(component_count))
        rest.expect("}")
    loaded.components = components
