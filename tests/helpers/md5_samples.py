"""Small MD5 files and models for the tests, made by code: a mesh, an animation, a camera in id's layout."""

from __future__ import annotations

import numpy as np
from md5_targets import ANIMATION, CAMERA, MESH, OLD_ANIMATION, OLD_MESH

from io_idtech.io_common.skeletal.quaternions import normalise
from io_idtech.io_md5.format import Animation, Joints, Mesh, Model

__all__ = ["ANIMATION", "CAMERA", "MESH", "OLD_ANIMATION", "OLD_MESH"]


def edited(text: str, old: str, new: str) -> str:
    """The text with one passage, which must occur exactly once, replaced."""
    assert text.count(old) == 1, f"{text.count(old)} times in the sample: {old!r}"
    return text.replace(old, new)


def line_of(text: str, passage: str) -> int:
    """The line, counted from 1, in which a passage that occurs exactly once begins."""
    assert text.count(passage) == 1, f"{text.count(passage)} times in the sample: {passage!r}"
    return text[: text.index(passage)].count("\n") + 1


def unit_quaternions(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Evenly spread rotations (…, 4)."""
    return normalise(rng.normal(size=(*shape, 4)))


def negative_w(quaternions: np.ndarray) -> np.ndarray:
    """The same rotations as files hold them."""
    return np.where(quaternions[..., :1] > 0, -quaternions, quaternions)


def random_parents(rng: np.random.Generator, count: int, roots: int = 1, shuffle: bool = False) -> np.ndarray:
    """A hierarchy with some roots; shuffled, parents may come after their children."""
    parents = [-1 if joint < roots else int(rng.integers(0, joint)) for joint in range(count)]
    order = rng.permutation(count) if shuffle else np.arange(count)
    result = np.full(count, -1, dtype=np.int32)
    for joint, parent in enumerate(parents):
        result[order[joint]] = -1 if parent == -1 else order[parent]
    return result


def random_joints(rng: np.random.Generator, count: int) -> Joints:
    return Joints(
        names=[f"joint {index}" for index in range(count)],
        parents=random_parents(rng, count),
        positions=rng.normal(scale=30, size=(count, 3)),
        orientations=negative_w(unit_quaternions(rng, count)),
    )


def random_mesh(rng: np.random.Generator, vertices: int, joints: int, triangles: int = 0) -> Mesh:
    """Up to four weights for each vertex, biases that sum to 1."""
    counts = rng.integers(1, 5, size=vertices).astype(np.int32)
    starts = (np.cumsum(counts) - counts).astype(np.int32)
    total = int(counts.sum())
    biases = rng.uniform(0.1, 1, size=total)
    sums = np.add.reduceat(biases, starts) if vertices else np.empty(0)
    return Mesh(
        shader="models/random/skin",
        uvs=rng.uniform(size=(vertices, 2)),
        weight_starts=starts,
        weight_counts=counts,
        triangles=rng.integers(0, max(vertices, 1), size=(triangles, 3)).astype(np.int32),
        weight_joints=rng.integers(0, joints, size=total).astype(np.int32),
        weight_biases=biases / np.repeat(sums, counts),
        weight_positions=rng.normal(scale=10, size=(total, 3)),
    )


def random_model(rng: np.random.Generator, joints: int = 6, meshes: int = 2, vertices: int = 20) -> Model:
    blocks = [random_mesh(rng, vertices, joints, triangles=vertices) for _ in range(meshes)]
    return Model(random_joints(rng, joints), blocks, "made by a test")


def random_animation(
    rng: np.random.Generator,
    joints: int = 6,
    frames: int = 5,
    flags: np.ndarray | None = None,
    parents: np.ndarray | None = None,
) -> Animation:
    flags = rng.integers(0, 64, size=joints).astype(np.int32) if flags is None else flags
    sizes = np.array([int(flag).bit_count() for flag in flags])
    starts = np.where(flags != 0, np.cumsum(sizes) - sizes, 0).astype(np.int32)
    return Animation(
        names=[f"joint {index}" for index in range(joints)],
        parents=random_parents(rng, joints) if parents is None else parents,
        flags=flags,
        starts=starts,
        bounds=rng.normal(size=(frames, 2, 3)),
        base_positions=rng.normal(scale=20, size=(joints, 3)),
        base_orientations=negative_w(unit_quaternions(rng, joints))[:, 1:],
        frames=rng.uniform(-0.5, 0.5, size=(frames, int(sizes.sum()))),
        frame_rate=30.0,
        commandline="made by a test",
    )


def assert_same_mesh(a: Mesh, b: Mesh, atol: float = 0.0) -> None:
    """Two meshes hold the same; numbers may differ by `atol`."""
    assert (a.shader, a.name) == (b.shader, b.name)
    for field in ("weight_starts", "weight_counts", "triangles", "weight_joints"):
        np.testing.assert_array_equal(getattr(a, field), getattr(b, field), err_msg=field)
        assert getattr(a, field).dtype == getattr(b, field).dtype == np.int32, field
    for field in ("uvs", "weight_biases", "weight_positions"):
        assert getattr(a, field).shape == getattr(b, field).shape, field
        assert getattr(a, field).dtype == getattr(b, field).dtype == np.float64, field
        np.testing.assert_allclose(getattr(a, field), getattr(b, field), rtol=1e-15, atol=atol, err_msg=field)


def assert_same_model(a: Model, b: Model, atol: float = 0.0) -> None:
    """Two models hold the same; numbers may differ by `atol`, and w by what the root makes of that near 0."""
    assert a.joints.names == b.joints.names
    assert a.commandline == b.commandline
    np.testing.assert_array_equal(a.joints.parents, b.joints.parents)
    np.testing.assert_allclose(a.joints.positions, b.joints.positions, rtol=1e-15, atol=atol)
    turns_a, turns_b = a.joints.orientations, b.joints.orientations
    np.testing.assert_allclose(turns_a[:, 1:], turns_b[:, 1:], rtol=0, atol=2 * atol + 1e-15)
    np.testing.assert_allclose(turns_a[:, 0] ** 2, turns_b[:, 0] ** 2, rtol=0, atol=8 * atol + 1e-14)
    assert len(a.meshes) == len(b.meshes)
    for mesh_a, mesh_b in zip(a.meshes, b.meshes, strict=True):
        assert_same_mesh(mesh_a, mesh_b, atol)


def assert_same_animation(a: Animation, b: Animation, atol: float = 0.0) -> None:
    """Two animations hold the same; numbers may differ by `atol`."""
    assert a.names == b.names
    assert a.commandline == b.commandline
    for field in ("parents", "flags", "starts"):
        np.testing.assert_array_equal(getattr(a, field), getattr(b, field), err_msg=field)
        assert getattr(a, field).dtype == getattr(b, field).dtype == np.int32, field
    for field in ("bounds", "base_positions", "base_orientations", "frames"):
        assert getattr(a, field).shape == getattr(b, field).shape, field
        assert getattr(a, field).dtype == getattr(b, field).dtype == np.float64, field
        np.testing.assert_allclose(getattr(a, field), getattr(b, field), rtol=1e-15, atol=atol, err_msg=field)
    assert abs(a.frame_rate - b.frame_rate) <= atol


def random_pose(rng, *shape):
    """Positions (..., 3) and unit orientations (..., 4)."""
    return rng.normal(scale=10, size=(*shape, 3)), unit_quaternions(rng, *shape)
