"""The arithmetic of MD5 as the specification has it, one value at a time.

The functions follow the C of David Henry's documents (`Quat_computeW`, `Quat_multQuat`, `Quat_rotatePoint`, the loops
that build frame skeletons and vertices); none of them calls the tested code. Quaternions are lists w x y z, vectors
lists x y z.
"""

from __future__ import annotations

import math

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


def close(actual, expected, atol=1e-12):
    """Checks that an array is what the scalar functions give."""
    np.testing.assert_allclose(actual, expected, rtol=0, atol=atol)
