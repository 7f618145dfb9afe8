"""Numbers near the limits of floats cause no warning of numpy, which is an error in tests, in the library."""

from __future__ import annotations

from contextlib import suppress

import md5_samples
import numpy as np
import pytest
from hostile_numbers import hostile_md2, with_hostile_numbers

from io_idtech.io_md2 import format as md2
from io_idtech.io_md5 import format as md5
from io_idtech.io_md5.format.model import Md5Error

SEEDS = range(40)


def attempt(function, *arguments, **options):
    """What a function returns; None if it refuses the numbers."""
    with suppress(Md5Error, md2.Md2Error):
        return function(*arguments, **options)
    return None


def parsed(parse, name, seed):
    return attempt(parse, with_hostile_numbers(getattr(md5_samples, name), seed).encode())


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", ["MESH", "OLD_MESH"])
def test_of_a_model(name, seed):
    model = parsed(md5.parse_mesh, name, seed)
    if model is None:
        return
    joints = model.joints
    pose = joints.positions, joints.orientations
    for mesh in model.meshes:
        vertices = attempt(md5.skin, mesh, *pose)
        if vertices is None:
            continue
        attempt(md5.bind_pose, mesh, *pose)
        md5.face_normals(vertices, mesh.triangles)
        normals = md5.vertex_normals(vertices, mesh.triangles)
        md5.vertex_tangents(vertices, mesh.uvs, mesh.triangles, normals)
        weights = attempt(md5.normal_weights, mesh, normals, pose[1])
        if weights is not None:
            attempt(md5.skin_normals, mesh, weights, pose[1])
    bounds = attempt(md5.model_bounds, model)
    if bounds is not None:
        attempt(md5.rest_pose, joints, bounds)
    for scales in (None, np.array([[3.4e38] * len(joints)])):
        attempt(md5.pose_bounds, model.meshes, pose[0][None], pose[1][None], scales)
    md5.compose(joints.parents, *md5.decompose(joints.parents, *pose))
    md5.from_matrices(md5.transforms(*pose)[..., :3, :3])
    for game in md5.Game:
        attempt(md5.check_model, model, game)
    attempt(md5.format_mesh, model)
    attempt(md5.describe, model)


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", ["ANIMATION", "OLD_ANIMATION"])
def test_of_an_animation(name, seed):
    animation = parsed(md5.parse_animation, name, seed)
    if animation is None:
        return
    poses = attempt(md5.poses, animation)
    if poses is not None:
        attempt(md5.encode_poses, animation.names, animation.parents, *poses, frame_rate=animation.frame_rate)
        start, end = (tuple(part[frame] for part in poses) for frame in (0, -1))
        md5.interpolate(start, end, 0.5)
        md5.make_continuous(poses[1])
    for seconds in (0.0, 0.01, 1e300):
        attempt(md5.pose_at, animation, seconds)
    attempt(md5.loop_type, animation)
    for game in md5.Game:
        attempt(md5.check_animation, animation, None, game)
    attempt(md5.format_animation, animation)
    attempt(md5.describe, animation)


@pytest.mark.parametrize("seed", SEEDS)
def test_of_a_camera(seed):
    camera = parsed(md5.parse_camera, "CAMERA", seed)
    if camera is not None:
        attempt(md5.format_camera, camera)
        attempt(md5.describe, camera)


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_of_an_md2(seed):
    data = attempt(md2.format_model, hostile_md2(seed))
    model = attempt(md2.parse_model, data) if data is not None else None
    if model is None:
        return
    grid = model.scale, model.translate
    positions = md2.decompress(model.vertices, *grid)
    for shared in (False, True):
        attempt(md2.quantise, positions, shared=shared)
    md2.quantise_on_grid(positions, *grid)
    md2.match_grid(positions, *grid)
    md2.grid_tolerance(*grid, positions)
    md2.normal_indices(positions, model.triangles)
    md2.frame_bounds(model)
    md2.interpolate(positions[0], positions[1], 0.5)
    md2.commands_match(model)
    md2.merge_vertices(model)
    md2.st_texels(model.gl_commands.st, model.skin_width, model.skin_height)
    for game in md2.Game:
        md2.check_model(model, game)
    md2.describe(model)
