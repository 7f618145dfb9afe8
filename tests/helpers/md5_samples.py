"""Small MD5 files and models for the tests, made by code: a mesh, an animation, a camera in id's layout."""

from __future__ import annotations

import numpy as np

from io_md5.format import Animation, Joints, Mesh, Model
from io_md5.format.quaternions import normalise

MESH = """\
MD5Version 10
commandline "mesh models/box.mb -dest box.md5mesh"

numJoints 3
numMeshes 1

joints {
	"origin"	-1 ( 0 0 0 ) ( -0.5 -0.5 -0.5 )		// \n\
	"hips"	0 ( 0 1.5 24 ) ( 0 0 0.7071067812 )		// origin
	"head"	1 ( -2.25 0 64 ) ( 0.1 -0.2 0.3 )		// hips
}

mesh {
	shader "models/box/box"

	numverts 3
	vert 0 ( 0 0 ) 0 1
	vert 1 ( 0.25 1 ) 1 2
	vert 2 ( 0.5 -0.125 ) 3 1

	numtris 2
	tri 0 0 1 2
	tri 1 2 1 0

	numweights 4
	weight 0 0 1 ( 1 2 3 )
	weight 1 1 0.75 ( -4.5 0 6 )
	weight 2 2 0.25 ( 7 8 9.0625 )
	weight 3 2 1 ( 0 0 -10 )
}
"""

ANIMATION = """\
MD5Version 10
commandline "anim models/box.mb -dest walk.md5anim"

numFrames 3
numJoints 3
frameRate 24
numAnimatedComponents 7

hierarchy {
	"origin"	-1 0 0	//
	"hips"	0 7 0	// origin ( Tx Ty Tz )
	"head"	1 60 3	// hips ( Tz Qx Qy Qz )
}

bounds {
	( -1 -2 -3 ) ( 4 5 6 )
	( -1.5 -2 -3 ) ( 4 5 6 )
	( -1 -2.5 -3 ) ( 4 5 6.25 )
}

baseframe {
	( 0 0 0 ) ( -0.5 -0.5 -0.5 )
	( 0 1.5 24 ) ( 0 0 0.7071067812 )
	( 1 2 40 ) ( 0.1 -0.2 0.3 )
}

frame 0 {
	0 1.5 24
	40 0.1 -0.2 0.3
}

frame 1 {
	0 1.75 25
	41 0.125 -0.2 0.3
}

frame 2 {
	-1 2 26.5
	42 0.15 -0.25 0.35
}
"""

# The layout from before Doom 3 was finished.
OLD_MESH = """\
MD5Version 6
commandline ""

numbones 2
nummeshes 1

bone 0 {
	name "root"
	bindpos 1 2 3
	bindmat 0 1 0 -1 0 0 0 0 1
}

bone 1 {
	name "tip"
	bindpos 1 2 13
	bindmat 1 0 0 0 1 0 0 0 1
	parent "root"
}

mesh 0 {
	shader "data\\box.tga"

	numverts 3
	vert 0 0 0 0 1
	vert 1 0.25 1 1 1
	vert 2 0.5 0.5 2 1

	numtris 1
	tri 0 0 1 2

	numweights 3
	weight 0 0 1 1 0 0
	weight 1 0 1 0 1 0
	weight 2 1 1 0 0 1
}
"""

OLD_ANIMATION = """\
MD5Version 6
commandline ""

numchannels 3

channel 0 {
	joint "root"
	attribute "x"
	starttime 0
	endtime 0.1
	framerate 30
	strings 0
	range 0 3
	keys 3
		1 2 3
}

channel 1 {
	joint "root"
	attribute "yaw"
	framerate 30
	range 0 2
	keys 2
		0 90
}

channel 2 {
	joint "tip"
	attribute "z"
	framerate 30
	range 0 1
	keys 1
		10
}
"""

CAMERA = """\
MD5Version 10
commandline "camera cams/intro.mb -dest intro.md5camera"

numFrames 5
frameRate 24
numCuts 1

cuts {
	2
}

camera {
	( 0 0 64 ) ( 0 0 0.5 ) 90
	( 1 0 64 ) ( 0 0 0.25 ) 80.5
	( 2 0 64 ) ( 0 0 0 ) 70
	( -100 20.125 0 ) ( -0.5 -0.5 -0.5 ) 45
	( -100 21 0 ) ( 0.1 0.2 0.3 ) 45
}
"""


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
