"""A reader of MD2 files by `struct`, after the format's specification; it shares nothing with the extension."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from triangles import Triangles

_HEADER = "<4s16i"


@dataclass(eq=False)
class Md2File:
    """What a game reads.

    Attributes:
        skin_size: width and height.
        skins: names.
        frame_names: of the frames.
        vertices: of each frame, float64 (F, V, 3).
        steps: the size of a step of each frame's grid, (F, 3).
        normals: indices, (F, V).
        corners: the vertices of each triangle, clockwise, (T, 3).
        texels: s and t of each corner, (T, 3, 2).
        drawn: for each triangle that the GL commands draw its vertices, and s and t as fractions.
    """

    skin_size: tuple[int, int]
    skins: list[str]
    frame_names: list[str]
    vertices: np.ndarray
    steps: np.ndarray
    normals: np.ndarray
    corners: np.ndarray
    texels: np.ndarray
    drawn: list[tuple[list[int], list[tuple[float, float]]]]

    def triangles(self, frame: int) -> Triangles:
        """What the software renderer shows of a frame; degenerate triangles show nothing."""
        seen = [len(set(corners)) == 3 for corners in self.corners.tolist()]
        uvs = (self.texels + 0.5) / np.maximum(self.skin_size, 1)
        uvs[..., 1] = 1.0 - uvs[..., 1]
        places, uvs = self.vertices[frame][self.corners[seen]], uvs[seen]
        return Triangles(places[:, ::-1], uvs[:, ::-1], np.zeros(len(places), dtype=int))

    def drawn_triangles(self, frame: int) -> Triangles:
        """What a GL renderer shows of a frame."""
        seen = [(corners, st) for corners, st in self.drawn if len(set(corners)) == 3]
        corners = np.array([row[0] for row in seen], dtype=int).reshape(-1, 3)
        uvs = np.array([row[1] for row in seen], dtype=float).reshape(-1, 3, 2)
        uvs[..., 1] = 1.0 - uvs[..., 1]
        places = self.vertices[frame][corners]
        return Triangles(places[:, ::-1], uvs[:, ::-1], np.zeros(len(places), dtype=int))


def read(path: Path) -> Md2File:
    """Reads a file, and asserts that it is one."""
    data = path.read_bytes()
    header = struct.unpack_from(_HEADER, data)
    ident, version, width, height, frame_size = header[:5]
    skins, vertices, st, tris, commands, frames = header[5:11]
    at_skins, at_st, at_tris, at_frames, at_commands, end = header[11:]
    assert (ident, version, end) == (b"IDP2", 8, len(data))
    assert frame_size == 40 + 4 * vertices
    texels = np.array([struct.unpack_from("<2h", data, at_st + 4 * i) for i in range(st)], int).reshape(-1, 2)
    rows = np.array([struct.unpack_from("<6H", data, at_tris + 12 * i) for i in range(tris)], int).reshape(-1, 6)
    assert tris == 0 or (rows[:, :3].max() < vertices and rows[:, 3:].max() < st)
    names, positions, steps, normals = [], [], [], []
    for number in range(frames):
        begin = at_frames + number * frame_size
        scale, translate = struct.unpack_from("<3f", data, begin), struct.unpack_from("<3f", data, begin + 12)
        names.append(_text(data[begin + 24 : begin + 40]))
        raw = np.frombuffer(data, np.uint8, 4 * vertices, begin + 40).reshape(-1, 4)
        positions.append(raw[:, :3] * np.array(scale) + np.array(translate))
        steps.append(np.abs(scale))
        normals.append(raw[:, 3])
    return Md2File(
        skin_size=(width, height),
        skins=[_text(data[at_skins + 64 * i : at_skins + 64 * i + 64]) for i in range(skins)],
        frame_names=names,
        vertices=np.array(positions).reshape(frames, vertices, 3),
        steps=np.array(steps).reshape(frames, 3),
        normals=np.array(normals).reshape(frames, vertices),
        corners=rows[:, :3],
        texels=texels[rows[:, 3:]] if tris else np.zeros((0, 3, 2)),
        drawn=_drawn(struct.unpack_from(f"<{commands}i", data, at_commands)),
    )


def _text(data: bytes) -> str:
    return data.split(b"\0")[0].decode("latin-1")


def _drawn(words):
    """The triangles of strips and fans, each with the winding of its first one."""
    result = []
    place = 0
    while words[place]:
        count, place = words[place], place + 1
        points = []
        for _ in range(abs(count)):
            s, t = struct.unpack("<2f", struct.pack("<2i", *words[place : place + 2]))
            points.append((words[place + 2], (s, t)))
            place += 3
        for k in range(abs(count) - 2):
            if count < 0:
                three = points[0], points[k + 1], points[k + 2]
            elif k % 2:
                three = points[k + 1], points[k], points[k + 2]
            else:
                three = points[k], points[k + 1], points[k + 2]
            result.append(([vertex for vertex, _st in three], [st for _vertex, st in three]))
    assert place == len(words) - 1
    return result
