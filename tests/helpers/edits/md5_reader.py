"""MD5 files as the specification describes them, to judge exports by: no line is shared with the extension.

Quaternions are w x y z. Positions are in the units and axes of the file.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

_TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|"([^"\n]*)"|([{}()])|([^\s{}()"]+)', re.DOTALL)


@dataclass(eq=False)
class Block:
    """A mesh of a model: V vertices, T triangles, W weights."""

    shader: str
    uvs: np.ndarray
    starts: np.ndarray
    counts: np.ndarray
    triangles: np.ndarray
    joints: np.ndarray
    biases: np.ndarray
    offsets: np.ndarray

    def vertices(self, positions, turns):
        """Where joints (J, 3) and (J, 4) put the vertices: the sum of bias · (position + q · offset · q*), (V, 3)."""
        points = positions[self.joints] + rotate(turns[self.joints], self.offsets)
        points *= self.biases[:, None]
        owners = np.repeat(np.arange(len(self.counts)), self.counts)
        firsts = np.repeat(np.cumsum(self.counts) - self.counts, self.counts)
        rows = np.repeat(self.starts, self.counts) + np.arange(len(owners)) - firsts
        return np.column_stack([
            np.bincount(owners, points[rows, axis], minlength=len(self.counts)) for axis in range(3)
        ])  # fmt: skip


@dataclass(eq=False)
class Model:
    """An md5mesh file."""

    names: list[str]
    parents: list[int]
    positions: np.ndarray
    turns: np.ndarray
    blocks: list[Block]


@dataclass(eq=False)
class Clip:
    """An md5anim file: F frames of J joints, placed in the space of the model."""

    names: list[str]
    parents: list[int]
    frame_rate: float
    positions: np.ndarray
    turns: np.ndarray
    bounds: np.ndarray


def rotate(turns, points):
    """Points (…, 3) turned by quaternions (…, 4): p' = q p q*."""
    scalar, vector = turns[..., :1], turns[..., 1:]
    twice = 2.0 * np.cross(vector, points)
    return points + scalar * twice + np.cross(vector, twice)


def multiply(a, b):
    """The quaternion that turns by b, then by a (…, 4)."""
    scalar = a[..., :1] * b[..., :1] - (a[..., 1:] * b[..., 1:]).sum(axis=-1, keepdims=True)
    vector = a[..., :1] * b[..., 1:] + b[..., :1] * a[..., 1:] + np.cross(a[..., 1:], b[..., 1:])
    return np.concatenate([scalar, vector], axis=-1)


def wxyz_from_xyz(vectors):
    """Quaternions of x y z (…, 3); w is never positive."""
    square = 1.0 - (vectors**2).sum(axis=-1, keepdims=True)
    return np.concatenate([-np.sqrt(np.maximum(square, 0.0)), vectors], axis=-1)


class _Tokens:
    def __init__(self, path: Path) -> None:
        text = path.read_text(encoding="utf-8", errors="surrogateescape")
        self._rows = [match.group(match.lastindex) for match in _TOKEN.finditer(text) if match.lastindex is not None]
        self._at = 0

    def next(self) -> str:
        self._at += 1
        return self._rows[self._at - 1]

    def at(self, word: str) -> bool:
        return self._at < len(self._rows) and self._rows[self._at] == word

    def word(self, *expected: str) -> None:
        for word in expected:
            token = self.next()
            assert token == word, f"{word!r} expected, {token!r} found"

    def whole(self, key: str = "") -> int:
        if key:
            self.word(key)
        return int(self.next())

    def numbers(self, count: int) -> list[float]:
        """Numbers in parentheses."""
        self.word("(")
        result = [float(self.next()) for _ in range(count)]
        self.word(")")
        return result


def read_model(path: Path) -> Model:
    """Reads an md5mesh file."""
    tokens = _Tokens(path)
    tokens.word("MD5Version", "10", "commandline")
    tokens.next()
    joint_count, mesh_count = tokens.whole("numJoints"), tokens.whole("numMeshes")
    tokens.word("joints", "{")
    names, parents, positions, vectors = [], [], [], []
    for _ in range(joint_count):
        names.append(tokens.next())
        parents.append(tokens.whole())
        positions.append(tokens.numbers(3))
        vectors.append(tokens.numbers(3))
    tokens.word("}")
    blocks = [_block(tokens) for _ in range(mesh_count)]
    return Model(names, parents, np.array(positions), wxyz_from_xyz(np.array(vectors)), blocks)


def _block(tokens: _Tokens) -> Block:
    tokens.word("mesh", "{")
    if tokens.at("name"):
        tokens.next(), tokens.next()
    tokens.word("shader")
    shader = tokens.next()
    uvs, ranges, triangles, joints, biases, offsets = [], [], [], [], [], []
    for index in range(tokens.whole("numverts")):
        tokens.word("vert", str(index))
        uvs.append(tokens.numbers(2))
        ranges.append((tokens.whole(), tokens.whole()))
    for index in range(tokens.whole("numtris")):
        tokens.word("tri", str(index))
        triangles.append([tokens.whole() for _ in range(3)])
    for index in range(tokens.whole("numweights")):
        tokens.word("weight", str(index))
        joints.append(tokens.whole())
        biases.append(float(tokens.next()))
        offsets.append(tokens.numbers(3))
    tokens.word("}")
    starts, counts = np.array(ranges, dtype=int).reshape(-1, 2).T
    return Block(
        shader,
        np.array(uvs).reshape(-1, 2),
        starts,
        counts,
        np.array(triangles, dtype=int).reshape(-1, 3),
        np.array(joints, dtype=int),
        np.array(biases),
        np.array(offsets).reshape(-1, 3),
    )


def read_clip(path: Path) -> Clip:
    """Reads an md5anim file and places its joints in every frame."""
    tokens = _Tokens(path)
    tokens.word("MD5Version", "10", "commandline")
    tokens.next()
    frame_count, joint_count = tokens.whole("numFrames"), tokens.whole("numJoints")
    tokens.word("frameRate")
    rate = float(tokens.next())
    width = tokens.whole("numAnimatedComponents")
    tokens.word("hierarchy", "{")
    rows = [(tokens.next(), tokens.whole(), tokens.whole(), tokens.whole()) for _ in range(joint_count)]
    tokens.word("}", "bounds", "{")
    bounds = [[tokens.numbers(3), tokens.numbers(3)] for _ in range(frame_count)]
    tokens.word("}", "baseframe", "{")
    base = np.array([tokens.numbers(3) + tokens.numbers(3) for _ in range(joint_count)])
    tokens.word("}")
    table = np.repeat(base[None], frame_count, axis=0)
    for frame in range(frame_count):
        tokens.word("frame", str(frame), "{")
        values = [float(tokens.next()) for _ in range(width)]
        tokens.word("}")
        for joint, (_, _, flags, start) in enumerate(rows):
            for bit in range(6):
                if flags & 1 << bit:
                    table[frame, joint, bit] = values[start]
                    start += 1
    positions, turns = table[..., :3], wxyz_from_xyz(table[..., 3:])
    for joint, (_, parent, _, _) in enumerate(rows):
        if parent >= 0:
            positions[:, joint] = positions[:, parent] + rotate(turns[:, parent], positions[:, joint])
            turns[:, joint] = multiply(turns[:, parent], turns[:, joint])
    return Clip([row[0] for row in rows], [row[1] for row in rows], rate, positions, turns, np.array(bounds))
