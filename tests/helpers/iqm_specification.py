"""A reader of IQM files by the letter of iqm.txt, which shares nothing with ours."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field

import numpy as np

HEADER = (
    "version", "filesize", "flags", "num_text", "ofs_text", "num_meshes", "ofs_meshes", "num_vertexarrays",
    "num_vertexes", "ofs_vertexarrays", "num_triangles", "ofs_triangles", "ofs_adjacency", "num_joints", "ofs_joints",
    "num_poses", "ofs_poses", "num_anims", "ofs_anims", "num_frames", "num_framechannels", "ofs_frames", "ofs_bounds",
    "num_comment", "ofs_comment", "num_extensions", "ofs_extensions",
)  # fmt: skip
CODES = "bBhHiIefd"


@dataclass
class SpecIqm:
    head: dict[str, int]
    meshes: list[tuple] = field(default_factory=list)  # name, material, vertices, triangles
    arrays: dict[object, list[tuple]] = field(default_factory=dict)  # by type or name
    triangles: list[tuple] = field(default_factory=list)
    adjacency: list[tuple] = field(default_factory=list)
    joints: list[tuple] = field(default_factory=list)  # name, parent, ten channels
    poses: list[tuple] = field(default_factory=list)  # parent, mask, offsets, scales
    frames: list[list[tuple]] = field(default_factory=list)  # by frame and pose: ten channels
    anims: list[tuple] = field(default_factory=list)  # name, first, count, rate, flags
    bounds: list[tuple] = field(default_factory=list)

    def bind(self) -> list[np.ndarray]:
        return chain([joint[1] for joint in self.joints], [joint[2] for joint in self.joints])

    def pose(self, frame: int) -> list[np.ndarray]:
        return chain([pose[0] for pose in self.poses], self.frames[frame])

    def skinned(self, frame: int, bind: list[np.ndarray]) -> np.ndarray:
        """The vertices in a frame."""
        moves = np.array([pose @ np.linalg.inv(rest) for pose, rest in zip(self.pose(frame), bind, strict=True)])
        joints, weights = np.array(self.arrays[4]), np.array(self.arrays[5]) / 255
        matrices = np.einsum("vkij,vk->vij", moves[joints], weights)
        return np.einsum("vij,vj->vi", matrices[:, :3, :3], self.arrays[0]) + matrices[:, :3, 3]


def matrix(channels: tuple) -> np.ndarray:
    x, y, z, qx, qy, qz, qw, *scale = channels
    qx, qy, qz, qw = np.array([qx, qy, qz, qw]) / np.linalg.norm([qx, qy, qz, qw])
    result = np.eye(4)
    result[:3, :3] = [
        [1 - 2 * (qy * qy + qz * qz), 2 * (qx * qy - qw * qz), 2 * (qx * qz + qw * qy)],
        [2 * (qx * qy + qw * qz), 1 - 2 * (qx * qx + qz * qz), 2 * (qy * qz - qw * qx)],
        [2 * (qx * qz - qw * qy), 2 * (qy * qz + qw * qx), 1 - 2 * (qx * qx + qy * qy)],
    ]
    result[:3, :3] *= scale
    result[:3, 3] = x, y, z
    return result


def chain(parents: list[int], channels: list[tuple]) -> list[np.ndarray]:
    result: list[np.ndarray] = []
    for parent, values in zip(parents, channels, strict=True):
        result.append(matrix(values) if parent < 0 else result[parent] @ matrix(values))
    return result


def read(data: bytes) -> SpecIqm:
    assert data[:16] == b"INTERQUAKEMODEL\0"
    head = dict(zip(HEADER, struct.unpack_from("<27I", data, 16), strict=True))
    assert (head["version"], head["filesize"]) == (2, len(data))

    def rows(layout: str, offset: int, count: int) -> list[tuple]:
        return [struct.unpack_from(layout, data, offset + struct.calcsize(layout) * row) for row in range(count)]

    def name(offset: int) -> str:
        start = head["ofs_text"] + offset
        return data[start : data.index(b"\0", start)].decode()

    iqm = SpecIqm(head)
    for mesh in rows("<6I", head["ofs_meshes"], head["num_meshes"]):
        iqm.meshes.append((name(mesh[0]), name(mesh[1]), mesh[2:4], mesh[4:]))
    for kind, _, code, size, offset in rows("<5I", head["ofs_vertexarrays"], head["num_vertexarrays"]):
        layout = f"<{size}{CODES[code]}"
        iqm.arrays[kind if kind < 16 else name(kind - 16)] = rows(layout, offset, head["num_vertexes"])
    iqm.triangles = rows("<3I", head["ofs_triangles"], head["num_triangles"])
    if head["ofs_adjacency"]:
        iqm.adjacency = rows("<3i", head["ofs_adjacency"], head["num_triangles"])
    for joint in rows("<Ii10f", head["ofs_joints"], head["num_joints"]):
        iqm.joints.append((name(joint[0]), joint[1], joint[2:]))
    for pose in rows("<iI20f", head["ofs_poses"], head["num_poses"]):
        iqm.poses.append((pose[0], pose[1], pose[2:12], pose[12:]))
    values = iter(rows("<H", head["ofs_frames"], head["num_frames"] * head["num_framechannels"]))
    for _ in range(head["num_frames"]):
        frame = []
        for _, mask, offsets, scales in iqm.poses:
            steps = [next(values)[0] if mask >> channel & 1 else 0 for channel in range(10)]
            frame.append(tuple(a + b * c for a, b, c in zip(offsets, scales, steps, strict=True)))
        iqm.frames.append(frame)
    for anim in rows("<3IfI", head["ofs_anims"], head["num_anims"]):
        iqm.anims.append((name(anim[0]), *anim[1:]))
    if head["ofs_bounds"]:
        iqm.bounds = rows("<8f", head["ofs_bounds"], head["num_frames"])
    return iqm
