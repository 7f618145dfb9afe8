"""Skinned vertices and their normals, against a literal version of the specification's sums."""

from __future__ import annotations

import math

import numpy as np
import pytest
from md5_samples import random_mesh, random_model, random_pose
from md5_specification import build_vertices, close, conjugate, move_normals, rotate_point, weight_normals

from io_idtech.io_common.skeletal import skinning
from io_idtech.io_common.triangles import flip_v
from io_idtech.io_md5.format import Mesh, parse_mesh


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def unit(v):
    length = math.sqrt(sum(c * c for c in v))
    return [c / length for c in v] if length > 0.0 else [0.0, 0.0, 0.0]


def build_normals(vertices, triangles):
    """Doom 3's rule: unit face normals, unweighted, over all vertices that lie at exactly the same place."""
    sums = {}
    for a, b, c in triangles:
        va, vb, vc = (vertices[corner] for corner in (a, b, c))
        face = unit(cross([vc[i] - va[i] for i in range(3)], [vb[i] - va[i] for i in range(3)]))
        for corner in (a, b, c):
            total = sums.setdefault(tuple(vertices[corner]), [0.0, 0.0, 0.0])
            for axis in range(3):
                total[axis] += face[axis]
    return [unit(sums.get(tuple(vertex), [0.0, 0.0, 0.0])) for vertex in vertices]


# Skinning


def test_skinning_follows_the_specification(rng):
    mesh = random_mesh(rng, 40, 6)
    positions, orientations = random_pose(rng, 6)
    close(skinning.skin(mesh, positions, orientations), build_vertices(mesh, positions, orientations.tolist()), 1e-10)


def test_skinning_does_several_frames_at_once(rng):
    mesh = random_mesh(rng, 10, 6)
    positions, orientations = random_pose(rng, 2, 3, 6)
    result = skinning.skin(mesh, positions, orientations)
    assert result.shape == (2, 3, 10, 3)
    close(result[1, 2], build_vertices(mesh, positions[1, 2], orientations[1, 2].tolist()), atol=1e-10)


def test_shared_overlapping_and_unordered_weight_ranges(rng):
    mesh = random_mesh(rng, 5, 4)
    mesh.weight_starts = np.array([2, 0, 0, 1, 2], dtype=np.int32)
    mesh.weight_counts = np.array([2, 3, 3, 1, 2], dtype=np.int32)
    positions, orientations = random_pose(rng, 4)
    result = skinning.skin(mesh, positions, orientations)
    close(result, build_vertices(mesh, positions, orientations.tolist()), atol=1e-10)
    np.testing.assert_array_equal(result[1], result[2])
    np.testing.assert_array_equal(result[0], result[4])


@pytest.mark.parametrize("counts", [[0, 2, 0, 0, 1, 0], [0, 0, 0, 0, 0, 0], [3, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 3]])
def test_a_vertex_without_weights_is_at_the_origin(rng, counts):
    mesh = random_mesh(rng, 6, 4)
    mesh.weight_starts = np.array([0, 1, 3, 5, 0, 2], dtype=np.int32)
    mesh.weight_counts = np.array(counts, dtype=np.int32)
    positions, orientations = random_pose(rng, 2, 4)
    result = skinning.skin(mesh, positions, orientations)
    for frame in range(2):
        close(result[frame], build_vertices(mesh, positions[frame], orientations[frame].tolist()), atol=1e-10)
    assert (result[:, np.array(counts) == 0] == 0).all()


def test_biases_that_do_not_sum_to_1_are_not_normalised(rng):
    mesh = random_mesh(rng, 10, 4)
    mesh.weight_biases = rng.uniform(-1, 2, size=len(mesh.weight_biases))
    mesh.weight_biases[0] = 0.0
    positions, orientations = random_pose(rng, 4)
    close(skinning.skin(mesh, positions, orientations), build_vertices(mesh, positions, orientations.tolist()), 1e-10)


def empty_mesh():
    return Mesh(
        "", np.empty((0, 2)), *(np.empty(0, dtype=np.int32) for _ in range(2)),
        np.empty((0, 3), dtype=np.int32), np.empty(0, dtype=np.int32), np.empty(0), np.empty((0, 3)),
    )  # fmt: skip


def test_an_empty_mesh_has_no_vertices_and_no_normals(rng):
    mesh = empty_mesh()
    positions, orientations = random_pose(rng, 2, 3)
    assert skinning.skin(mesh, positions, orientations).shape == (2, 0, 3)
    normals = skinning.vertex_normals(np.empty((0, 3)), mesh.triangles)
    assert normals.shape == (0, 3)
    weights = skinning.normal_weights(mesh, normals, orientations[0])
    assert skinning.skin_normals(mesh, weights, orientations).shape == (2, 0, 3)
    assert skinning.bind_pose(mesh, positions[0], orientations[0])[1].shape == (0,)


def test_disagreement_is_0_where_all_weights_name_the_same_place(rng):
    mesh = random_mesh(rng, 30, 5)
    positions, orientations = random_pose(rng, 5)
    rows = skinning.vertex_weights(mesh)
    places = rng.normal(scale=20, size=(30, 3))
    for row, weight in zip(rows.vertices, rows.weights, strict=True):
        joint = mesh.weight_joints[weight]
        offset = places[row] - positions[joint]
        mesh.weight_positions[weight] = rotate_point(conjugate(orientations[joint]), offset)
    close(skinning.skin(mesh, positions, orientations), places, atol=1e-10)
    close(skinning.bind_pose(mesh, positions, orientations)[1], 0.0, atol=1e-10)


def test_disagreement_is_the_biased_distance_of_weights_from_their_vertex(rng):
    mesh = random_mesh(rng, 10, 5)
    positions, orientations = random_pose(rng, 5)
    vertices = build_vertices(mesh, positions, orientations.tolist())
    expected = []
    for vertex, start, count in zip(vertices, mesh.weight_starts, mesh.weight_counts, strict=True):
        total = 0.0
        for weight in range(start, start + count):
            joint = mesh.weight_joints[weight]
            turned = rotate_point(orientations[joint], mesh.weight_positions[weight])
            point = [t + p for t, p in zip(turned, positions[joint], strict=True)]
            total += abs(mesh.weight_biases[weight]) * math.dist(point, vertex)
        expected.append(total)
    close(skinning.bind_pose(mesh, positions, orientations)[1], expected, atol=1e-10)


# Normals


def test_a_triangle_is_clockwise_seen_from_outside():
    vertices = np.array([[0.0, 0, 0], [0, 1, 0], [1, 0, 0]])
    close(skinning.face_normals(vertices, np.array([[0, 1, 2]])), [[0, 0, 1]])
    close(skinning.face_normals(vertices, np.array([[0, 2, 1]])), [[0, 0, -1]])


def test_a_triangle_without_area_has_no_normal():
    vertices = np.array([[0.0, 0, 0], [1, 1, 1], [2, 2, 2]])
    close(skinning.face_normals(vertices, np.array([[0, 1, 2], [0, 0, 1], [1, 1, 1]])), np.zeros((3, 3)))


def test_normals_are_computed_as_in_doom_3(rng):
    # A grid of places, so that many vertices share one; triangles at random, some without area.
    vertices = rng.integers(0, 3, size=(60, 3)).astype(float)
    triangles = rng.integers(0, 60, size=(80, 3))
    close(skinning.vertex_normals(vertices, triangles), build_normals(vertices.tolist(), triangles.tolist()), 1e-10)


def test_faces_are_weighted_equally_whatever_their_size():
    # A corner between a large face in the plane z = 0 and a tiny one in the plane x = 0.
    vertices = np.array([[0.0, 0, 0], [0, 100, 0], [100, 0, 0], [0, 0, 0.01], [0, 0.01, 0]])
    triangles = np.array([[0, 1, 2], [0, 3, 4]])
    normal = skinning.vertex_normals(vertices, triangles)[0]
    close(np.abs(normal), [math.sqrt(0.5), 0, math.sqrt(0.5)])


def test_uv_seams_stay_smooth_and_displaced_vertices_make_edges():
    ridge = [[0.0, 0, 1], [0, 1, 1]]
    vertices = np.array([*ridge, [1, 0, 0], *ridge, [-1, 0, 0]])
    triangles = np.array([[0, 1, 2], [3, 5, 4]])
    smooth = skinning.vertex_normals(vertices, triangles)
    np.testing.assert_array_equal(smooth[0], smooth[3])
    np.testing.assert_array_equal(smooth[1], smooth[4])
    vertices[3:5, 2] = np.nextafter(np.float32(1), np.float32(2))
    hard = skinning.vertex_normals(vertices, triangles)
    close(hard[0], skinning.face_normals(vertices, triangles)[0])
    close(hard[3], skinning.face_normals(vertices, triangles)[1])


def test_row_ids_are_equal_for_equal_rows_only(monkeypatch):
    rows = np.array([[1, 0.5, -0.0], [2, 0.5, 0], [1, 0.5, 0], [1, 0.5, 1e-300], [2, 0.5, 0]])
    same = (rows[:, None] == rows[None]).all(axis=2)
    numbers = skinning.row_ids(rows)
    assert ((numbers[:, None] == numbers[None]) == same).all()
    monkeypatch.setattr(skinning, "_row_hashes", lambda table: np.zeros(len(table), dtype=np.uint64))
    numbers = skinning.row_ids(rows)
    assert ((numbers[:, None] == numbers[None]) == same).all()
    assert skinning.row_ids(np.empty((3, 0))).tolist() == [0, 0, 0]
    assert skinning.row_ids(np.empty((0, 3))).tolist() == []


def test_positions_are_compared_as_32_bit_floats():
    third = 1.0 / 3.0
    places = skinning.position_ids(
        [[third, 0, 0], [third + 1e-12, 0, 0], [third + 1e-6, 0, 0], [third, -0.0, 0], [0, third, 0]]
    )
    assert places[0] == places[1] == places[3]
    assert len({places[0], places[2], places[4]}) == 3


def test_a_vertex_that_no_triangle_uses_has_no_normal():
    vertices = np.array([[0.0, 0, 0], [0, 1, 0], [1, 0, 0], [9, 9, 9]])
    normals = skinning.vertex_normals(vertices, np.array([[0, 1, 2]]))
    close(normals[3], [0, 0, 0])


def test_normal_weights_bring_the_normals_back_in_the_bind_pose(rng):
    mesh = random_mesh(rng, 20, 5)
    _, orientations = random_pose(rng, 5)
    normals = rng.normal(size=(20, 3))
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    weights = skinning.normal_weights(mesh, normals, orientations)
    close(skinning.skin_normals(mesh, weights, orientations), normals)


def test_skinned_normals_follow_the_specification(rng):
    mesh = random_mesh(rng, 12, 5)
    mesh.weight_starts[3], mesh.weight_counts[3] = mesh.weight_starts[2], mesh.weight_counts[2]
    _, bind = random_pose(rng, 5)
    _, pose = random_pose(rng, 2, 5)
    normals = rng.normal(size=(12, 3))
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    result = skinning.skin_normals(mesh, skinning.normal_weights(mesh, normals, bind), pose)
    assert result.shape == (2, 12, 3)
    for frame in range(2):
        for vertex in range(12):
            total = np.zeros(3)
            start, count = int(mesh.weight_starts[vertex]), int(mesh.weight_counts[vertex])
            for weight in range(start, start + count):
                joint = mesh.weight_joints[weight]
                local = rotate_point(conjugate(bind[joint]), normals[vertex])
                total += np.multiply(rotate_point(pose[frame, joint], local), mesh.weight_biases[weight])
            close(result[frame, vertex], unit(total.tolist()))


def test_the_mesh_of_a_file_is_skinned_by_its_own_joints():
    model = parse_mesh(b"""MD5Version 10 commandline "" numJoints 1 numMeshes 1
        joints { "origin" -1 ( 10 20 30 ) ( 0 0 0.70710678118654752 ) }
        mesh { shader "" numverts 1 vert 0 ( 0 0 ) 0 1 numtris 0 numweights 1 weight 0 0 1 ( 1 0 0 ) }""")
    joints = model.joints
    # w is negative, so this is a quarter turn from x to -y.
    close(skinning.skin(model.meshes[0], joints.positions, joints.orientations), [[10, 19, 30]], atol=1e-8)


# Tangents


def square():
    """Two triangles in the plane z = 0, clockwise seen from +Z, with s along +Y and t along -X."""
    vertices = np.array([[0.0, 0, 0], [0, 2, 0], [-3, 2, 0], [-3, 0, 0]])
    uvs = np.array([[0.0, 0], [1, 0], [1, 1], [0, 1]])
    return vertices, uvs, np.array([[0, 2, 1], [0, 3, 2]], np.int32)


def test_tangents_follow_s_and_bitangents_follow_t():
    vertices, uvs, triangles = square()
    normals = skinning.vertex_normals(vertices, triangles)
    tangents, bitangents = skinning.vertex_tangents(vertices, uvs, triangles, normals)
    close(tangents, np.tile([0, 1, 0], (4, 1)))
    close(bitangents, np.tile([-1, 0, 0], (4, 1)))


def test_tangents_of_a_mirrored_texture_are_mirrored():
    vertices, uvs, triangles = square()
    normals = skinning.vertex_normals(vertices, triangles)
    tangents, bitangents = skinning.vertex_tangents(vertices, uvs * [-1, 1], triangles, normals)
    close(tangents, np.tile([0, -1, 0], (4, 1)))
    close(bitangents, np.tile([-1, 0, 0], (4, 1)))


def test_a_flipped_t_turns_bitangents_around():
    vertices, uvs, triangles = square()
    close(flip_v(uvs), [[0, 1], [1, 1], [1, 0], [0, 0]])
    normals = skinning.vertex_normals(vertices, triangles)
    _, bitangents = skinning.vertex_tangents(vertices, flip_v(uvs), triangles, normals)
    close(bitangents, np.tile([1, 0, 0], (4, 1)))


def test_textures_without_area_give_no_tangents():
    vertices, uvs, triangles = square()
    normals = skinning.vertex_normals(vertices, triangles)
    tangents, bitangents = skinning.vertex_tangents(vertices, uvs * 0, triangles, normals)
    assert not tangents.any()
    assert not bitangents.any()


def test_tangents_are_perpendicular_to_normals_and_move_like_them(rng):
    model = random_model(rng, joints=5, meshes=1, vertices=12)
    mesh, joints = model.meshes[0], model.joints
    vertices = skinning.skin(mesh, joints.positions, joints.orientations)
    normals = skinning.vertex_normals(vertices, mesh.triangles)
    _, orientations = random_pose(rng, 5)
    for vectors in skinning.vertex_tangents(vertices, mesh.uvs, mesh.triangles, normals):
        close(np.einsum("vi,vi->v", vectors, normals), np.zeros(12))
        lengths = np.linalg.norm(vectors, axis=1)
        assert (np.isclose(lengths, 1.0) | (lengths == 0.0)).all()
        weights = skinning.normal_weights(mesh, vectors, joints.orientations)
        close(weights, weight_normals(mesh, vectors, joints.orientations))
        moved = np.array(move_normals(mesh, weights, orientations))
        sizes = np.linalg.norm(moved, axis=1, keepdims=True)
        expected = np.divide(moved, sizes, out=np.zeros_like(moved), where=sizes > 0)
        close(skinning.skin_normals(mesh, weights, orientations), expected)


def test_many_poses_are_skinned_like_each(rng):
    mesh = random_mesh(rng, 20, 5)
    positions, orientations = random_pose(rng, 2, 3, 5)
    skinned = skinning.skin(mesh, positions, orientations)
    for index in np.ndindex(2, 3):
        one = skinning.skin(mesh, positions[index], orientations[index])
        np.testing.assert_array_equal(skinned[index], one)
    # One of the two may be the same in all poses.
    np.testing.assert_array_equal(skinning.skin(mesh, positions[1, 2], orientations)[1, 2], skinned[1, 2])
