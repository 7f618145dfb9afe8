"""Quake's re-release: ironwail, vkQuake and FTEQW, which share their reader's descent.

Facts: `gl_model.c`, `Mod_LoadMD5MeshModel`, `MD5Anim_Begin`, `MD5Anim_Load`, `MD5_BakeInfluences`; `common.c`,
`COM_Parse`. ironwail reads over `baseframe`: a component without flag is 0. A token holds 1,023 bytes, the name of a
joint in a mesh 31. vkQuake finds the joints of an animation by 31 bytes of their names, and leaves the others alone.
"""

from __future__ import annotations

import numpy as np

from .cursor import QUAKE, Cursor
from .posing import EngineMesh, Loaded, Refused, cut_bytes, own_points, read_once, rotations, unpack

MOST_JOINTS = 256
NAME_BYTES = 31
TOKEN_BYTES = 1023
MOST_VERTICES = 65535


def load(mesh: bytes, animation: bytes | None, *, engine: str = "ironwail") -> Loaded:
    """A model and the animation beside it.

    Args:
        mesh: the file.
        animation: the file of its name beside it; None if there is none.
        engine: 'ironwail', 'vkquake' or 'fteqw'.
    """
    if animation is None:
        raise Refused("no poses")
    loaded, names = _mesh(mesh, engine)
    loaded.skin = {"ironwail": cut_bytes, "vkquake": own_points}.get(engine)
    _animation(animation, names, loaded, reads_base=engine != "ironwail", by_name=engine == "vkquake")
    return loaded


@read_once
def _mesh(data, engine):
    cursor = Cursor(data, QUAKE, longest=TOKEN_BYTES)
    cursor.expect("MD5Version", "10")
    if cursor.check("commandline"):
        cursor.word()
    cursor.expect("numJoints")
    joint_count = cursor.integer()
    cursor.expect("numMeshes")
    mesh_count = cursor.integer()
    if not 0 < joint_count <= MOST_JOINTS:
        raise Refused("number of joints")
    if mesh_count <= 0:
        raise Refused("no meshes")
    cursor.expect("joints", "{")
    names, parents, rows = [], [], []
    for joint in range(joint_count):
        names.append(cursor.word()[:NAME_BYTES])
        parents.append(cursor.integer())
        if not -1 <= parents[-1] < joint:
            raise Refused("bone index out of bounds")
        rows.append(cursor.vector(3) + cursor.vector(3))
    if engine == "fteqw" and parents.count(-1) > 1:
        raise Refused("several roots")
    cursor.expect("}")
    meshes = []
    for _ in range(mesh_count):
        cursor.expect("mesh", "{", "shader")
        shader = cursor.word()
        cursor.expect("numverts")
        verts = _rows(cursor, "vert", "vert # ( # # ) # #", cursor.integer())
        cursor.expect("numtris")
        tris = _rows(cursor, "tri", "tri # # # #", cursor.integer())
        cursor.expect("numweights")
        weights = _rows(cursor, "weight", "weight # # # ( # # # )", cursor.integer())
        cursor.expect("}")
        if len(verts) > MOST_VERTICES:
            raise Refused("indices of 16 bits")
        if (
            (verts[:, 3] + verts[:, 4]).max(initial=0) > len(weights)
            or tris[:, 1:].max(initial=-1) >= len(verts)
            or weights[:, 1].max(initial=-1) >= joint_count
        ):
            raise Refused("index out of bounds")
        meshes.append(
            EngineMesh(
                uvs=verts[:, 1:3],
                starts=verts[:, 3].astype(int),
                counts=verts[:, 4].astype(int),
                triangles=tris[:, 1:].astype(int),
                joints=weights[:, 1].astype(int),
                biases=weights[:, 2],
                offsets=weights[:, 3:],
                shader=shader,
            )
        )
    table = np.array(rows)
    return Loaded(meshes, (rotations(table[:, 3:]), table[:, :3]), np.array(parents)), names


def _rows(cursor, word, pattern, count):
    """Rows in any order, each at the place of its number."""
    found = 0
    while cursor.at + found * len(pattern.split()) < len(cursor.tokens) and (
        cursor.tokens[cursor.at + found * len(pattern.split())] == word
    ):
        found += 1
    rows = cursor.table(found, pattern)
    if (rows[:, 0] >= count).any():
        raise Refused("index out of bounds")
    result = np.zeros((count, rows.shape[1]))
    result[rows[:, 0].astype(int)] = rows
    return result


def _animation(data, names, loaded, *, reads_base, by_name):
    cursor = Cursor(data, QUAKE, longest=TOKEN_BYTES)
    cursor.expect("MD5Version", "10")
    if cursor.check("commandline"):
        cursor.word()
    cursor.expect("numFrames")
    frame_count = cursor.integer()
    cursor.expect("numJoints")
    joint_count = cursor.integer()
    cursor.expect("frameRate")
    cursor.next()
    cursor.expect("numAnimatedComponents")
    component_count = cursor.integer()
    if frame_count <= 0:
        raise Refused("no poses")
    if joint_count != len(names) and not by_name:
        raise Refused("incorrect bone count")
    cursor.expect("hierarchy", "{")
    flags, starts, places = [], [], []
    for joint in range(joint_count):
        name, parent = cursor.word(), cursor.integer()
        if by_name:
            places.append(names.index(name[:NAME_BYTES]) if name[:NAME_BYTES] in names else -1)
            if places[-1] in places[:-1] and places[-1] >= 0:
                raise Refused("duplicate joint")
            parent = places[parent] if parent >= 0 else -1
        else:
            places.append(joint)
            if name != names[joint]:
                raise Refused("bone was renamed")
        if places[-1] >= 0 and parent != loaded.parents[places[-1]]:
            raise Refused("bone has wrong parent")
        flags.append(cursor.integer())
        starts.append(cursor.integer())
        room = component_count - flags[-1].bit_count() if by_name else component_count + 6
        if flags[-1] & ~63 or starts[-1] > room:
            raise Refused("bad flags or offset")
    cursor.expect("}", "bounds", "{")
    while cursor.peek() == "(":
        cursor.vector(3), cursor.vector(3)
    cursor.expect("}", "baseframe", "{")
    base = []
    while cursor.peek() == "(":
        base.append(cursor.vector(3) + cursor.vector(3))
    cursor.expect("}")
    table = np.array(base).reshape(-1, 6) if reads_base else np.zeros((joint_count, 6))
    # Joints that vkQuake does not find stay as in the mesh, which no test needs.
    components = np.zeros((frame_count, len(names), 6))
    found = [place for place in places if place >= 0]
    while cursor.check("frame"):
        frame = cursor.integer()
        if frame >= frame_count:
            raise Refused("invalid pose index")
        cursor.expect("{")
        values = np.append(cursor.numbers(component_count), np.zeros(6))
        cursor.expect("}")
        rows = unpack(flags, starts, table, values)
        components[frame, found] = rows[[place >= 0 for place in places]]
    loaded.components = components
