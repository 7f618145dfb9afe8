"""The files and the arithmetic of MD5 as the specification has them, one value at a time.

The functions follow the C of David Henry's documents (`Quat_computeW`, `Quat_multQuat`, `Quat_rotatePoint`, the loops
that build frame skeletons and vertices); none of them calls the tested code. Quaternions are lists w x y z, vectors
lists x y z.
"""

from __future__ import annotations

import math
import re

import numpy as np


def compute_w(x, y, z):
    t = 1.0 - (x * x) - (y * y) - (z * z)
    return 0.0 if t < 0.0 else -math.sqrt(t)


def mult_quat(qa, qb):
    aw, ax, ay, az = qa
    bw, bx, by, bz = qb
    return [
        (aw * bw) - (ax * bx) - (ay * by) - (az * bz),
        (ax * bw) + (aw * bx) + (ay * bz) - (az * by),
        (ay * bw) + (aw * by) + (az * bx) - (ax * bz),
        (az * bw) + (aw * bz) + (ax * by) - (ay * bx),
    ]


def conjugate(q):
    w, x, y, z = q
    return [w, -x, -y, -z]


def normalise(q):
    length = math.sqrt(sum(c * c for c in q))
    return [c / length for c in q]


def rotate_point(q, p):
    return mult_quat(mult_quat(q, [0.0, *p]), conjugate(q))[1:]


def slerp(a, b, t):
    cosine = sum(x * y for x, y in zip(a, b, strict=True))
    if cosine < 0.0:
        b, cosine = [-c for c in b], -cosine
    angle = math.acos(min(cosine, 1.0))
    if angle < 1e-7:
        return list(a)
    k0, k1 = math.sin((1 - t) * angle) / math.sin(angle), math.sin(t * angle) / math.sin(angle)
    return [k0 * x + k1 * y for x, y in zip(a, b, strict=True)]


def frame_components(base, flags, start, frame):
    """The six components of one joint, as the specification's if after if takes them."""
    result = list(base)
    j = 0
    for bit in (1, 2, 4, 8, 16, 32):
        if flags & bit:
            result[(1, 2, 4, 8, 16, 32).index(bit)] = frame[start + j]
            j += 1
    return result


def build_skeleton(parents, positions, orientations):
    """Joints in the space of the model; recursive, so that parents may come after their children."""
    done = {}

    def build(joint):
        if joint not in done:
            position, orientation = list(positions[joint]), list(orientations[joint])
            if parents[joint] >= 0:
                parent_position, parent_orientation = build(int(parents[joint]))
                turned = rotate_point(parent_orientation, position)
                position = [t + p for t, p in zip(turned, parent_position, strict=True)]
                orientation = normalise(mult_quat(parent_orientation, orientation))
            done[joint] = (position, orientation)
        return done[joint]

    built = [build(joint) for joint in range(len(parents))]
    return [position for position, _ in built], [orientation for _, orientation in built]


def build_vertices(mesh, positions, orientations):
    vertices = []
    for start, count in zip(mesh.weight_starts, mesh.weight_counts, strict=True):
        final = [0.0, 0.0, 0.0]
        for weight in range(start, start + count):
            joint = mesh.weight_joints[weight]
            turned = rotate_point(orientations[joint], mesh.weight_positions[weight])
            for axis in range(3):
                final[axis] += (positions[joint][axis] + turned[axis]) * mesh.weight_biases[weight]
        vertices.append(final)
    return vertices


def frame_order(numbers):
    """The position in the file of frame 0, 1, 2 …"""
    return [numbers.index(frame) for frame in range(len(numbers))]


def interpolate_skeletons(a, b, t):
    """Two built skeletons, joint by joint: positions linearly, orientations by slerp."""
    positions = [[x + t * (y - x) for x, y in zip(p, q, strict=True)] for p, q in zip(a[0], b[0], strict=True)]
    return positions, [slerp(p, q, t) for p, q in zip(a[1], b[1], strict=True)]


def weight_normals(mesh, normals, orientations):
    """For each weight of each vertex, its normal turned by the inverse of the joint."""
    return [
        rotate_point(conjugate(orientations[mesh.weight_joints[weight]]), normals[vertex])
        for vertex, (start, count) in enumerate(zip(mesh.weight_starts, mesh.weight_counts, strict=True))
        for weight in range(start, start + count)
    ]


def move_normals(mesh, weights, orientations):
    """The sum of the weights' normals, turned by the joints, times the biases; not normalised."""
    result, row = [], 0
    for start, count in zip(mesh.weight_starts, mesh.weight_counts, strict=True):
        final = [0.0, 0.0, 0.0]
        for weight in range(start, start + count):
            turned = rotate_point(orientations[mesh.weight_joints[weight]], weights[row])
            final = [f + c * mesh.weight_biases[weight] for f, c in zip(final, turned, strict=True)]
            row += 1
        result.append(final)
    return result


_TOKENS = re.compile(r'//[^\n]*|/\*.*?\*/|"([^"\n]*)"|([{}])|([^\s(){}"]+)', re.DOTALL)


def read_blocks(text):
    """A file by the grammar of the documents: words, strings and numbers without comments; a block is a list."""
    top = []
    block = top
    for string, brace, word in (match.groups() for match in _TOKENS.finditer(text)):
        if brace == "{":
            block = []
            top.append(block)
        elif brace == "}":
            block = top
        elif string is not None or word is not None:
            block.append(word if string is None else string)
    return top


def read_mesh_file(text):
    """Names, parents, positions and x y z of the joints, and the rows of each mesh."""
    top = read_blocks(text)
    rows = top[top.index("joints") + 1]
    joints = [rows[at : at + 8] for at in range(0, len(rows), 8)]
    meshes = [_mesh_block(top[at + 1]) for at, word in enumerate(top) if word == "mesh"]
    names, parents = [row[0] for row in joints], [int(row[1]) for row in joints]
    return (names, parents, [_floats(row[2:5]) for row in joints], [_floats(row[5:8]) for row in joints]), meshes


def _mesh_block(words):
    mesh = {"shader": "", "vert": [], "tri": [], "weight": []}
    sizes = {"vert": 5, "tri": 4, "weight": 6}
    at = 0
    while at < len(words):
        if words[at] == "shader":
            mesh["shader"] = words[at + 1]
            at += 2
        elif words[at] in sizes:
            size = sizes[words[at]]
            mesh[words[at]].append(_floats(words[at + 1 : at + 1 + size]))
            at += 1 + size
        else:
            at += 1
    return mesh


def read_animation_file(text):
    """Rows of the hierarchy and of the base frame, the frames in the order of their numbers, and the frame rate."""
    top = read_blocks(text)
    rows = top[top.index("hierarchy") + 1]
    hierarchy = [(rows[at], *map(int, rows[at + 1 : at + 4])) for at in range(0, len(rows), 4)]
    base = _floats(top[top.index("baseframe") + 1])
    base = [base[at : at + 6] for at in range(0, len(base), 6)]
    blocks = [(int(top[at + 1]), _floats(top[at + 2])) for at, word in enumerate(top) if word == "frame"]
    order = frame_order([number for number, _ in blocks])
    return hierarchy, base, [blocks[at][1] for at in order], float(top[top.index("frameRate") + 1])


def _floats(words):
    return [float(word) for word in words]


def close(actual, expected, atol=1e-12):
    """Checks that an array is what the scalar functions give."""
    np.testing.assert_allclose(actual, expected, rtol=0, atol=atol)
