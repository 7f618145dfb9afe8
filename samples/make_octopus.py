"""Makes the sample model: an octopus with two animations and its textures, in samples/models/octopus.

    python samples/make_octopus.py

It uses only the format package, as an example of a program that writes MD5 files without Blender. The model, its
textures and this program are free for any use (CC0).
"""

from __future__ import annotations

import struct
import sys
import zlib
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests" / "helpers"))

from io_idtech.io_common.skeletal import quaternions as quat  # noqa: E402
from io_idtech.io_common.skeletal.skeleton import Precision, compose, decompose, encode_poses  # noqa: E402
from io_idtech.io_common.skeletal.weights import pose_bounds  # noqa: E402
from io_idtech.io_md5.format import ROOT, Joints, Mesh, Model, write_animation, write_mesh  # noqa: E402

FOLDER = HERE / "models" / "octopus"
SHADERS = "models/octopus"
TENTACLES = 8
LINKS = 7
LENGTH = 26.0
FRAMES = 49
RATE = 24
BODY_CENTRE = np.array([0.0, 0.0, 17.0])
BODY_RADII = np.array([9.0, 9.0, 11.5])


def main() -> None:
    """Writes the model, its animations and textures."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    joints = skeleton()
    meshes = [body(joints), *eyes(joints)]
    write_mesh(Model(joints, meshes, "samples/make_octopus.py"), FOLDER / "octopus.md5mesh")
    for name, motion in (("swim", swim), ("wave", wave)):
        positions, orientations = motion(joints, np.linspace(0.0, 1.0, FRAMES))
        animation = encode_poses(
            joints.names,
            joints.parents,
            positions,
            orientations,
            frame_rate=RATE,
            bounds=pose_bounds(meshes, positions, orientations),
            commandline="samples/make_octopus.py",
            precision=Precision(1e-4, 1e-5),
        )
        write_animation(animation, FOLDER / f"{name}.md5anim")
    write_png(FOLDER / "skin.png", skin_texture(256))
    write_png(FOLDER / "eye.png", eye_texture(128))


# The skeleton: an origin, a body, a head, and tentacles whose joints point along their chains


def skeleton() -> Joints:
    """The bind pose."""
    names, parents = ["origin", "body", "head"], [ROOT, 0, 1]
    positions = [np.zeros(3), np.array([0.0, 0.0, 8.0]), BODY_CENTRE]
    axes = [np.eye(3)] * 3
    for tentacle in range(TENTACLES):
        angle = 2.0 * np.pi * (tentacle + 0.5) / TENTACLES
        curve = tentacle_curve(angle, np.linspace(0.0, 1.0, LINKS + 1))
        for link in range(LINKS):
            along = curve[link + 1] - curve[link]
            side = np.array([-np.sin(angle), np.cos(angle), 0.0])
            names.append(f"tentacle{tentacle + 1}_{link + 1}")
            parents.append(1 if link == 0 else len(names) - 2)
            positions.append(curve[link])
            along = along / np.linalg.norm(along)
            axes.append(np.column_stack([along, side, np.cross(along, side)]))
    orientations = quat.wxyz_from_xyz(quat.xyz_from_wxyz(quat.from_matrices(np.array(axes))))
    return Joints(names, np.array(parents, dtype=np.int32), np.array(positions), orientations)


def tentacle_curve(angle: float, position: np.ndarray) -> np.ndarray:
    """Points (n, 3) on the centre line of a tentacle, at positions from 0 at the body to 1 at the tip."""
    out = 5.0 + LENGTH * 0.86 * position
    up = 8.5 - 8.0 * np.sin(np.pi * 0.55 * position) + 3.5 * position**3
    return np.column_stack([out * np.cos(angle), out * np.sin(angle), up])


# Meshes: rings of points; the last point of a ring repeats the first with another u, and shares its weights


def body(joints: Joints) -> Mesh:
    """The skin of the body and the tentacles."""
    builder = Builder(joints)
    around, along = 24, 15
    rings, weights = [], []
    for row in range(along):
        polar = np.pi * max(0.001, 0.95 * row / (along - 1))
        angles = np.linspace(0.0, 2.0 * np.pi, around + 1)
        bulge = 1.0 + 0.05 * np.cos(2.0 * angles) * np.sin(polar)
        radius = np.sin(polar) * bulge * (1.0 - 0.18 * max(0.0, row / (along - 1) - 0.55) / 0.45)
        ring = BODY_CENTRE + BODY_RADII * np.column_stack(
            [radius * np.cos(angles), radius * np.sin(angles), np.full(around + 1, np.cos(polar))]
        )
        lower = np.clip((row / (along - 1) - 0.45) / 0.4, 0.0, 1.0)
        rings.append(ring)
        weights.append([(2, 1.0 - lower), (1, lower)])
    builder.add_tube(rings, weights, (0.0, 0.55))
    for tentacle in range(TENTACLES):
        add_tentacle(builder, tentacle)
    return builder.mesh(f"{SHADERS}/skin")


def add_tentacle(builder: Builder, tentacle: int) -> None:
    """A tapering tube, bent by its chain of joints."""
    angle = 2.0 * np.pi * (tentacle + 0.5) / TENTACLES
    rows, around = 2 * LINKS + 1, 10
    positions = np.linspace(-0.1, 1.0, rows)
    centres = tentacle_curve(angle, positions)
    tangents = np.gradient(centres, axis=0)
    tangents /= np.linalg.norm(tangents, axis=1, keepdims=True)
    side = np.array([-np.sin(angle), np.cos(angle), 0.0])
    first = 3 + tentacle * LINKS
    rings, weights = [], []
    for position, centre, tangent in zip(positions, centres, tangents, strict=True):
        thickness = 3.1 * (1.0 - max(position, 0.0)) ** 0.8 + 0.12
        # Starts on the underside, where the texture shows the suckers.
        angles = np.linspace(0.0, 2.0 * np.pi, around + 1) + np.pi / 2.0
        up = np.cross(side, tangent)
        rings.append(centre + thickness * (np.outer(np.cos(angles), side) + np.outer(np.sin(angles), up)))
        link = np.clip(position * LINKS - 0.5, -1.0, LINKS - 1.0)
        lower = int(np.floor(link))
        share = link - lower
        pairs = [(first + lower if lower >= 0 else 1, 1.0 - share), (min(first + lower + 1, first + LINKS - 1), share)]
        weights.append(pairs)
    builder.add_tube(rings, weights, (0.55, 1.0))


def eyes(joints: Joints) -> list[Mesh]:
    """Two spheres with their pupils towards +X."""
    meshes = []
    for side in (1.0, -1.0):
        builder = Builder(joints)
        centre = BODY_CENTRE + np.array([7.3, 4.2 * side, 1.2])
        forward = np.array([0.94, 0.34 * side, 0.08])
        forward /= np.linalg.norm(forward)
        right = np.cross(forward, (0.0, 0.0, 1.0))
        right /= np.linalg.norm(right)
        up = np.cross(right, forward)
        rings = []
        for polar in np.linspace(0.001, np.pi - 0.001, 9):
            angles = np.linspace(0.0, 2.0 * np.pi, 17)
            spread = np.outer(np.cos(angles), right) + np.outer(np.sin(angles), up)
            rings.append(centre + 2.3 * (np.cos(polar) * forward + np.sin(polar) * spread))
        builder.add_tube(rings, [[(2, 1.0)]] * len(rings), (0.0, 1.0))
        meshes.append(builder.mesh(f"{SHADERS}/eye"))
    return meshes


class Builder:
    """Collects vertices, triangles and weights of one mesh."""

    def __init__(self, joints: Joints) -> None:
        self._joints = joints
        self._uvs: list[tuple[float, float]] = []
        self._ranges: list[tuple[int, int]] = []
        self._triangles: list[tuple[int, int, int]] = []
        self._weights: list[tuple[int, float, np.ndarray]] = []

    def add_tube(
        self, rings: list[np.ndarray], weights: list[list[tuple[int, float]]], v_range: tuple[float, float]
    ) -> None:
        """Adds a tube along rings of points (n, 3), the last of which repeats the first."""
        width = len(rings[0])
        base = len(self._uvs)
        # Clockwise as seen from outside, away from the centre of the ring.
        a, b, c = rings[len(rings) // 2][0], rings[len(rings) // 2][1], rings[len(rings) // 2 + 1][0]
        inside_out = np.cross(c - a, b - a) @ (a - rings[len(rings) // 2][:-1].mean(axis=0)) < 0.0
        for row, (ring, pairs) in enumerate(zip(rings, weights, strict=True)):
            first = len(self._ranges)
            for column, point in enumerate(ring):
                v = v_range[0] + (v_range[1] - v_range[0]) * row / (len(rings) - 1)
                self._uvs.append((column / (width - 1), v))
                shared = column == width - 1
                self._ranges.append(self._ranges[first] if shared else self._weigh(point, pairs))
        for row in range(len(rings) - 1):
            for column in range(width - 1):
                a = base + row * width + column
                b, c, d = a + 1, a + width, a + width + 1
                self._triangles += [(a, c, b), (b, c, d)] if inside_out else [(a, b, c), (b, d, c)]

    def _weigh(self, point: np.ndarray, pairs: list[tuple[int, float]]) -> tuple[int, int]:
        start = len(self._weights)
        for joint, bias in pairs:
            if round(bias, 3) > 0.0:
                self._weights.append((joint, round(bias, 3), point))
        return start, len(self._weights) - start

    def mesh(self, shader: str) -> Mesh:
        """The finished mesh block."""
        joints = np.array([joint for joint, _, _ in self._weights], dtype=np.int32)
        points = np.array([point for _, _, point in self._weights])
        back = quat.conjugate(self._joints.orientations[joints])
        starts, counts = np.array(self._ranges, dtype=np.int32).T
        return Mesh(
            shader=shader,
            uvs=np.round(self._uvs, 4),
            weight_starts=starts.copy(),
            weight_counts=counts.copy(),
            triangles=np.array(self._triangles, dtype=np.int32),
            weight_joints=joints,
            weight_biases=np.array([bias for _, bias, _ in self._weights]),
            # Few digits keep the file small.
            weight_positions=np.round(quat.rotate(back, points - self._joints.positions[joints]), 4),
        )


# Animations: each tentacle bends about its own side and up axes


def swim(joints: Joints, phase: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A cycle of closing and opening the tentacles while the body moves up and down."""
    beat = 2.0 * np.pi * phase
    move = np.zeros((len(phase), 3))
    move[:, 2] = 3.0 * np.sin(beat - 0.6) + 4.0
    return pose(joints, move, lambda tentacle, link: (
        0.20 * np.sin(beat - 0.55 * link) * (0.6 + 0.12 * link) - 0.05,
        0.05 * np.sin(beat + tentacle),
    ), 0.05 * np.sin(beat))  # fmt: skip


def wave(joints: Joints, phase: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The octopus stands and waves one tentacle while the others curl slightly."""
    beat = 2.0 * np.pi * phase
    raised = np.sin(np.pi * phase) ** 0.5
    return pose(joints, np.zeros((len(phase), 3)), lambda tentacle, link: (
        -0.38 * raised * (link < 4) if tentacle == 0 else 0.05 * np.sin(beat + tentacle - 0.5 * link),
        0.35 * raised * np.sin(3.0 * beat) * (link >= 2) if tentacle == 0 else 0.04 * np.cos(beat + tentacle),
    ), 0.12 * raised)  # fmt: skip


def pose(joints, move, bend, tilt):
    """Poses (F, J, 3) and (F, J, 4): the bind pose with a moved body, bent tentacles and a tilted head."""
    positions, orientations = decompose(joints.parents, joints.positions, joints.orientations)
    frames = len(move)
    positions = np.repeat(positions[None], frames, axis=0)
    orientations = np.repeat(orientations[None], frames, axis=0)
    positions[:, 1] += move
    orientations[:, 2] = quat.multiply(orientations[:, 2], rotation(1, np.broadcast_to(tilt, frames)))
    for tentacle in range(TENTACLES):
        for link in range(LINKS):
            joint = 3 + tentacle * LINKS + link
            lift, sway = bend(tentacle, link)
            extra = quat.multiply(
                rotation(1, np.broadcast_to(lift, frames)), rotation(2, np.broadcast_to(sway, frames))
            )
            orientations[:, joint] = quat.multiply(orientations[:, joint], extra)
    return compose(joints.parents, positions, orientations)


def rotation(axis: int, angle: np.ndarray) -> np.ndarray:
    """Quaternions (…, 4) of rotations about an axis, with angles in radians."""
    result = np.zeros((*angle.shape, 4))
    result[..., 0], result[..., 1 + axis] = np.cos(angle / 2.0), np.sin(angle / 2.0)
    return result


# Textures


def skin_texture(size: int) -> np.ndarray:
    """Orange with violet spots for the body, pale with suckers for the tentacles; uint8 (n, n, 3)."""
    v, u = np.mgrid[0:size, 0:size] / size
    top, bottom = np.array([226.0, 92.0, 52.0]), np.array([152.0, 48.0, 92.0])
    image = top + (bottom - top) * np.clip(v / 0.55, 0.0, 1.0)[..., None]
    tentacle = v > 0.55
    image = np.where(tentacle[..., None], np.array([206.0, 78.0, 66.0]) + 40.0 * (v - 0.55)[..., None], image)
    rng = np.random.default_rng(7)
    for x, y, radius in zip(rng.random(70), rng.random(70) * 0.55, 0.008 + 0.02 * rng.random(70), strict=True):
        distance = np.hypot((u - x + 0.5) % 1.0 - 0.5, v - y)
        image = np.where((distance < radius)[..., None], image * 0.62 + np.array([40.0, 8.0, 44.0]), image)
    below = tentacle & (np.minimum(u, 1.0 - u) < 0.16)
    image = np.where(below[..., None], np.array([246.0, 205.0, 178.0]), image)
    suckers = below & (np.hypot(np.minimum(u, 1.0 - u) - 0.07, ((v * 32.0) % 1.0 - 0.5) / 12.0) < 0.032)
    image = np.where(suckers[..., None], np.array([206.0, 130.0, 128.0]), image)
    return np.clip(image, 0, 255).astype(np.uint8)


def eye_texture(size: int) -> np.ndarray:
    """White with a golden iris, and a dark pupil at v = 0; uint8 (n, n, 3)."""
    v, _ = np.mgrid[0:size, 0:size] / size
    image = np.full((size, size, 3), (244.0, 240.0, 232.0))
    image[v < 0.30] = (230.0, 170.0, 40.0)
    image[(v >= 0.27) & (v < 0.30)] = (110.0, 60.0, 10.0)
    image[v < 0.17] = (18.0, 12.0, 22.0)
    return image.astype(np.uint8)


def write_png(path: Path, image: np.ndarray) -> None:
    """Writes an image, uint8 (height, width, 3), top row first."""
    height, width, _ = image.shape
    rows = b"".join(b"\0" + row.tobytes() for row in image)

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b"")
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + parts)


if __name__ == "__main__":
    main()
