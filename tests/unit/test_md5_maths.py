"""The arithmetic of MD5 against a slow literal version, written word by word from the specification.

The scalar functions at the top follow the C of David Henry's documents (`Quat_computeW`, `Quat_multQuat`,
`Quat_rotatePoint`, the loops that build frame skeletons and vertices); none of them calls the tested code.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from md5_samples import negative_w, random_animation, random_mesh, random_parents, unit_quaternions

from io_md5.format import Mesh, encoding, parse_mesh, playback, skeleton, skinning
from io_md5.format import quaternions as quat

# The specification, literally. Quaternions are lists w x y z, vectors lists x y z.


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


def close(actual, expected, atol=1e-12):
    np.testing.assert_allclose(actual, expected, rtol=0, atol=atol)


@pytest.fixture
def rng():
    return np.random.default_rng(10)


# Quaternions


def test_w_is_minus_the_root_of_what_is_missing_to_1(rng):
    xyz = rng.uniform(-0.57, 0.57, size=(50, 3))
    result = quat.with_w(xyz)
    close(result, [[compute_w(*row), *row] for row in xyz.tolist()])
    assert (result[:, 0] <= 0).all()


def test_w_of_the_identity_is_minus_1():
    close(quat.with_w([0.0, 0.0, 0.0]), [-1, 0, 0, 0])


@pytest.mark.parametrize("excess", [1e-12, 1e-6, 1e-3, 0.5])
def test_w_is_0_where_xyz_is_longer_than_1_and_the_rest_is_normalised(excess):
    xyz = np.array([0.6, 0.0, -0.8]) * (1 + excess)
    assert compute_w(*xyz) == 0.0
    result = quat.with_w(xyz)
    assert result[0] == 0.0
    close(result, [0, 0.6, 0, -0.8])


def test_w_is_computed_over_any_leading_axes(rng):
    xyz = rng.uniform(-0.5, 0.5, size=(2, 3, 4, 3))
    assert quat.with_w(xyz).shape == (2, 3, 4, 4)
    close(quat.with_w(xyz)[1, 2, 3], quat.with_w(xyz[1, 2, 3]))
    assert quat.with_w(np.empty((0, 3))).shape == (0, 4)


def test_what_a_file_holds_has_a_negative_w(rng):
    quaternions = unit_quaternions(rng, 100)
    assert (quaternions[:, 0] > 0).any()
    again = quat.with_w(quat.without_w(quaternions))
    close(again, negative_w(quaternions), atol=1e-7)
    for a, b in zip(again, quaternions, strict=True):
        close(rotate_point(a.tolist(), [1, 2, 3]), rotate_point(b.tolist(), [1, 2, 3]), atol=1e-6)


def test_what_a_file_holds_does_not_depend_on_length():
    close(quat.without_w([2.0, 0.0, 0.0, 2.0]), [0, 0, -math.sqrt(0.5)])


def test_a_half_turn_keeps_its_sign_in_a_file():
    close(quat.without_w([[0.0, 0.6, 0.8, 0.0], [-0.0, -0.6, 0.8, 0.0]]), [[0.6, 0.8, 0], [-0.6, 0.8, 0]])


def test_the_given_quaternions_are_not_changed(rng):
    quaternions = unit_quaternions(rng, 20)
    before = quaternions.copy()
    for function in (quat.without_w, quat.normalise, quat.conjugate, quat.make_continuous, quat.to_matrices):
        function(quaternions)
        np.testing.assert_array_equal(quaternions, before)


def test_product_is_the_specifications(rng):
    a, b = rng.normal(size=(2, 30, 4))
    expected = [mult_quat(x, y) for x, y in zip(a.tolist(), b.tolist(), strict=True)]
    close(quat.multiply(a, b), expected)


def test_product_turns_by_the_second_first(rng):
    a, b = unit_quaternions(rng, 2)
    point = rng.normal(size=3)
    close(quat.rotate(quat.multiply(a, b), point), rotate_point(a, rotate_point(b, point)))


def test_product_broadcasts(rng):
    a, b = rng.normal(size=(5, 1, 4)), rng.normal(size=(7, 4))
    assert quat.multiply(a, b).shape == (5, 7, 4)
    close(quat.multiply(a, b)[3, 2], mult_quat(a[3, 0], b[2]))


def test_conjugate_is_the_inverse(rng):
    q = unit_quaternions(rng, 10)
    close(quat.conjugate(q), [conjugate(row) for row in q.tolist()])
    close(quat.multiply(q, quat.conjugate(q)), np.tile([1.0, 0, 0, 0], (10, 1)))


def test_normalise_makes_length_1(rng):
    q = rng.normal(scale=100, size=(10, 4))
    close(quat.normalise(q), [normalise(row) for row in q.tolist()])


def test_normalise_makes_nothing_the_identity():
    close(quat.normalise([[0.0, 0, 0, 0], [0, 0, 5, 0]]), [[1, 0, 0, 0], [0, 0, 1, 0]])


def test_normalise_does_not_hide_what_is_not_finite():
    assert np.isnan(quat.normalise([np.nan, 0, 0, 0])).any()


def test_rotate_is_q_p_q_conjugate(rng):
    q, p = unit_quaternions(rng, 30), rng.normal(scale=100, size=(30, 3))
    expected = [rotate_point(x, y) for x, y in zip(q.tolist(), p.tolist(), strict=True)]
    close(quat.rotate(q, p), expected, atol=1e-10)


def test_rotate_turns_x_to_y_by_a_quarter_about_z():
    close(quat.rotate([math.sqrt(0.5), 0, 0, math.sqrt(0.5)], [1.0, 0, 0]), [0, 1, 0])


def test_rotate_broadcasts(rng):
    q, p = unit_quaternions(rng, 4, 1), rng.normal(size=(6, 3))
    assert quat.rotate(q, p).shape == (4, 6, 3)
    close(quat.rotate(q, p)[2, 5], rotate_point(q[2, 0], p[5]))


def test_matrices_turn_like_quaternions(rng):
    q, p = unit_quaternions(rng, 20), rng.normal(size=(20, 3))
    close(
        np.einsum("nij,nj->ni", quat.to_matrices(q), p),
        [rotate_point(a, b) for a, b in zip(q, p, strict=True)],
    )


def test_quaternions_come_back_from_matrices(rng):
    q = unit_quaternions(rng, 200)
    positive = np.where(q[:, :1] < 0, -q, q)
    close(quat.from_matrices(quat.to_matrices(q)), positive)


@pytest.mark.parametrize(
    "axis", [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0.6, 0.8, 0], [0, 0.6, -0.8], [-0.6, 0, 0.8]]
)
@pytest.mark.parametrize("degrees", [0, 1e-6, 90, 179.999999, 180])
def test_matrices_of_half_turns_and_of_hardly_any_turn_come_back(axis, degrees):
    half = math.radians(degrees) / 2
    q = np.array([math.cos(half), *(math.sin(half) * np.array(axis))])
    result = quat.from_matrices(quat.to_matrices(q))
    close(abs(result @ q), 1.0, atol=1e-14)
    close(quat.to_matrices(result), quat.to_matrices(q), atol=1e-14)


def test_matrices_keep_leading_axes(rng):
    q = unit_quaternions(rng, 2, 3)
    assert quat.to_matrices(q).shape == (2, 3, 3, 3)
    assert quat.from_matrices(quat.to_matrices(q)).shape == (2, 3, 4)
    assert quat.from_matrices(np.empty((0, 3, 3))).shape == (0, 4)


def test_a_matrix_with_rounding_errors_gives_a_unit_quaternion(rng):
    q = unit_quaternions(rng, 50)
    rough = np.round(quat.to_matrices(q), 3)
    result = quat.from_matrices(rough)
    close(np.linalg.norm(result, axis=1), 1.0)
    close(np.abs(np.einsum("ni,ni->n", result, q)), 1.0, atol=1e-5)


def test_continuous_signs_leave_no_jump(rng):
    steps = np.linspace(0, 4 * math.pi, 60)
    turns = np.stack([np.cos(steps / 2), np.zeros(60), np.zeros(60), np.sin(steps / 2)], axis=1)
    from_file = negative_w(turns)
    assert (np.einsum("fi,fi->f", from_file[1:], from_file[:-1]) < 0).any()
    result = quat.make_continuous(from_file)
    assert (np.einsum("fi,fi->f", result[1:], result[:-1]) > 0).all()
    close(np.abs(np.einsum("fi,fi->f", result, from_file)), 1.0)


def test_continuous_signs_are_found_for_each_joint_by_itself(rng):
    q = unit_quaternions(rng, 40, 5)
    result = quat.make_continuous(q)
    expected = q.copy()
    for joint in range(5):
        for frame in range(1, 40):
            if sum(expected[frame, joint] * expected[frame - 1, joint]) < 0:
                expected[frame, joint] = -expected[frame, joint]
    np.testing.assert_array_equal(result, expected)


def test_continuous_signs_of_one_or_no_frame():
    assert quat.make_continuous(np.empty((0, 2, 4))).shape == (0, 2, 4)
    close(quat.make_continuous([[-1.0, 0, 0, 0]]), [[-1, 0, 0, 0]])


# Skeletons


def random_pose(rng, *shape):
    return rng.normal(scale=10, size=(*shape, 3)), unit_quaternions(rng, *shape)


@pytest.mark.parametrize("shuffle", [False, True], ids=["parents first", "parents anywhere"])
@pytest.mark.parametrize("roots", [1, 3])
def test_compose_places_joints_along_the_hierarchy(rng, roots, shuffle):
    parents = random_parents(rng, 25, roots, shuffle)
    positions, orientations = random_pose(rng, 25)
    expected = build_skeleton(parents, positions.tolist(), orientations.tolist())
    result = skeleton.compose(parents, positions, orientations)
    close(result[0], expected[0], atol=1e-10)
    close(result[1], expected[1])


@pytest.mark.parametrize("shuffle", [False, True], ids=["parents first", "parents anywhere"])
def test_decompose_is_the_inverse_of_compose(rng, shuffle):
    parents = random_parents(rng, 25, 2, shuffle)
    positions, orientations = random_pose(rng, 4, 25)
    result = skeleton.decompose(parents, *skeleton.compose(parents, positions, orientations))
    close(result[0], positions, atol=1e-10)
    close(result[1], orientations)


def test_compose_does_all_frames_at_once(rng):
    parents = random_parents(rng, 8, shuffle=True)
    positions, orientations = random_pose(rng, 3, 8)
    result = skeleton.compose(parents, positions, orientations)
    for frame in range(3):
        expected = build_skeleton(parents, positions[frame].tolist(), orientations[frame].tolist())
        close(result[0][frame], expected[0], atol=1e-10)
        close(result[1][frame], expected[1])


def test_compose_leaves_what_it_is_given(rng):
    parents = random_parents(rng, 8)
    positions, orientations = random_pose(rng, 8)
    before = positions.copy(), orientations.copy()
    skeleton.compose(parents, positions, orientations)
    skeleton.decompose(parents, positions, orientations)
    np.testing.assert_array_equal(positions, before[0])
    np.testing.assert_array_equal(orientations, before[1])


def test_a_chain_of_2000_joints_is_no_trouble():
    count = 2000
    parents = np.arange(-1, count - 1, dtype=np.int32)[::-1].copy()
    parents = np.where(parents == -1, -1, count - 1 - parents).astype(np.int32)
    positions = np.tile([1.0, 0, 0], (count, 1))
    orientations = np.tile([-1.0, 0, 0, 0], (count, 1))
    assert parents[0] == 1
    assert parents[-1] == -1
    assert skeleton.depths(parents).tolist() == list(range(count - 1, -1, -1))
    placed, _ = skeleton.compose(parents, positions, orientations)
    close(placed[:, 0], np.arange(count, 0, -1), atol=1e-9)


def test_an_empty_skeleton_composes():
    nothing = np.empty(0, dtype=np.int32)
    positions, orientations = skeleton.compose(nothing, np.empty((0, 3)), np.empty((0, 4)))
    assert positions.shape == (0, 3)
    assert orientations.shape == (0, 4)


@pytest.mark.parametrize("parents", [[0], [1, 0], [-1, 3, 1, 2, 0], [1, 2, 3, 3]])
def test_a_cycle_is_found_and_one_of_its_joints_named(parents):
    with pytest.raises(skeleton.CyclicHierarchyError) as caught:
        skeleton.depths(np.array(parents))
    at = caught.value.joint
    for _ in parents:
        at = parents[at]
        if at == caught.value.joint:
            break
    assert at == caught.value.joint


@pytest.mark.parametrize("flags", range(64))
def test_components_are_taken_for_each_of_the_64_flags(rng, flags):
    animation = random_animation(
        rng, joints=4, frames=2, flags=np.array([63, flags, flags, 9], dtype=np.int32)
    )
    result = skeleton.components(animation)
    for frame in range(2):
        for joint in range(4):
            base = [*animation.base_positions[joint], *animation.base_orientations[joint]]
            row = animation.frames[frame].tolist()
            start = int(animation.starts[joint])
            close(
                result[frame, joint], frame_components(base, int(animation.flags[joint]), start, row), atol=0
            )


def test_joints_may_share_components(rng):
    animation = random_animation(rng, joints=2, frames=3, flags=np.array([7, 7], dtype=np.int32))
    animation.starts[:] = 0
    result = skeleton.components(animation)
    np.testing.assert_array_equal(result[:, 0, :3], animation.frames[:, :3])
    np.testing.assert_array_equal(result[:, 1, :3], animation.frames[:, :3])


def test_component_columns_tell_where_each_component_stands():
    flags, starts = np.array([0, 0b101001, 0b110], dtype=np.int32), np.array([0, 4, 1], dtype=np.int32)
    joints, bits, columns = skeleton.component_columns(flags, starts)
    found = sorted(zip(joints.tolist(), bits.tolist(), columns.tolist(), strict=True))
    assert found == [(1, 0, 4), (1, 3, 5), (1, 5, 6), (2, 1, 1), (2, 2, 2)]


def test_split_components_are_the_inverse_of_components(rng):
    animation = random_animation(rng, joints=8, frames=4)
    table = skeleton.components(animation)
    flags, starts, base, frames = encoding.split_components(table, np.zeros(table.shape[1:]))
    assert flags.tolist() == animation.flags.tolist()
    assert starts.tolist() == animation.starts.tolist()
    np.testing.assert_array_equal(base, table[0])
    animation.flags, animation.starts, animation.frames = flags, starts, frames
    animation.base_positions, animation.base_orientations = base[:, :3], base[:, 3:]
    np.testing.assert_array_equal(skeleton.components(animation), table)


def test_a_component_is_animated_if_any_later_frame_differs_from_the_first_by_more_than_the_precision():
    table = np.zeros((3, 2, 6))
    table[2, 0, 1], table[1, 1, 0], table[1, 1, 5], table[2, 1, 4] = 0.5, 0.125, 0.001, 0.01
    flags, starts, base, frames = encoding.split_components(
        table, np.tile(np.repeat([0.125, 0.005], 3), (2, 1))
    )
    assert flags.tolist() == [0b000010, 0b010000]
    assert starts.tolist() == [0, 1]
    assert not base.any()
    assert frames.tolist() == [[0, 0], [0, 0], [0.5, 0.01]]
    assert encoding.split_components(table, np.zeros(table.shape[1:]))[0].tolist() == [0b000010, 0b110001]


@pytest.mark.parametrize("shuffle", [False, True], ids=["parents first", "parents anywhere"])
def test_poses_are_the_specifications_frame_skeletons(rng, shuffle):
    animation = random_animation(rng, joints=12, frames=4, parents=random_parents(rng, 12, 2, shuffle))
    positions, orientations = skeleton.poses(animation)
    assert positions.shape == (4, 12, 3)
    for frame in range(4):
        local_positions, local_orientations = [], []
        for joint in range(12):
            base = [*animation.base_positions[joint], *animation.base_orientations[joint]]
            row = frame_components(
                base, int(animation.flags[joint]), int(animation.starts[joint]), animation.frames[frame]
            )
            local_positions.append(row[:3])
            # Over 1 in length, the specification leaves the quaternion as it is; a rotation has length 1.
            local_orientations.append(normalise([compute_w(*row[3:]), *row[3:]]))
        expected = build_skeleton(animation.parents, local_positions, local_orientations)
        close(positions[frame], expected[0], atol=1e-10)
        close(orientations[frame], expected[1])


def test_w_is_computed_after_mixing_frame_and_base_frame(rng):
    animation = random_animation(rng, joints=1, frames=1, flags=np.array([8], dtype=np.int32))
    animation.base_orientations[:] = [[0.9, 0.1, 0.2]]
    animation.frames[:] = [[0.3]]
    _, orientations = skeleton.local_poses(animation)
    close(orientations[0, 0], [compute_w(0.3, 0.1, 0.2), 0.3, 0.1, 0.2])


# Skinning


def test_skinning_is_the_specifications_sum(rng):
    mesh = random_mesh(rng, 40, 6)
    positions, orientations = random_pose(rng, 6)
    close(
        skinning.skin(mesh, positions, orientations),
        build_vertices(mesh, positions, orientations.tolist()),
        1e-10,
    )


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


@pytest.mark.parametrize(
    "counts", [[0, 2, 0, 0, 1, 0], [0, 0, 0, 0, 0, 0], [3, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 3]]
)
def test_a_vertex_without_weights_lies_in_the_origin(rng, counts):
    mesh = random_mesh(rng, 6, 4)
    mesh.weight_starts = np.array([0, 1, 3, 5, 0, 2], dtype=np.int32)
    mesh.weight_counts = np.array(counts, dtype=np.int32)
    positions, orientations = random_pose(rng, 2, 4)
    result = skinning.skin(mesh, positions, orientations)
    for frame in range(2):
        close(result[frame], build_vertices(mesh, positions[frame], orientations[frame].tolist()), atol=1e-10)
    assert (result[:, np.array(counts) == 0] == 0).all()


def test_biases_that_do_not_sum_to_1_are_used_as_they_stand(rng):
    mesh = random_mesh(rng, 10, 4)
    mesh.weight_biases = rng.uniform(-1, 2, size=len(mesh.weight_biases))
    mesh.weight_biases[0] = 0.0
    positions, orientations = random_pose(rng, 4)
    close(
        skinning.skin(mesh, positions, orientations),
        build_vertices(mesh, positions, orientations.tolist()),
        1e-10,
    )


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


def test_normals_are_doom_3s(rng):
    # A grid of places, so that many vertices share one; triangles at random, some without area.
    vertices = rng.integers(0, 3, size=(60, 3)).astype(float)
    triangles = rng.integers(0, 60, size=(80, 3))
    close(
        skinning.vertex_normals(vertices, triangles),
        build_normals(vertices.tolist(), triangles.tolist()),
        1e-10,
    )


def test_faces_count_alike_whatever_their_size():
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


def test_equal_rows_have_equal_numbers_and_no_others_however_their_bits_mix(monkeypatch):
    rows = np.array([[1, 0.5, -0.0], [2, 0.5, 0], [1, 0.5, 0], [1, 0.5, 1e-300], [2, 0.5, 0]])
    same = (rows[:, None] == rows[None]).all(axis=2)
    numbers = skinning.row_ids(rows)
    assert ((numbers[:, None] == numbers[None]) == same).all()
    monkeypatch.setattr(skinning, "_row_hashes", lambda table: np.zeros(len(table), dtype=np.uint64))
    numbers = skinning.row_ids(rows)
    assert ((numbers[:, None] == numbers[None]) == same).all()
    assert skinning.row_ids(np.empty((3, 0))).tolist() == [0, 0, 0]
    assert skinning.row_ids(np.empty((0, 3))).tolist() == []


def test_places_are_compared_as_the_floats_of_the_games():
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


def test_skinned_normals_are_the_specifications(rng):
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


# Playing


def literal_frame_pair(seconds, count, rate):
    """The specification's way: step from frame to frame while the time of one is used up."""
    if count == 1:
        return 0, 0, 0.0
    current, left = 0, seconds
    while left >= 1.0 / rate:
        left -= 1.0 / rate
        current += 1
        if current == count - 1:  # the last frame of a cycle is its first
            current = 0
    return current, current + 1, left * rate


@pytest.mark.parametrize("count", [1, 2, 3, 10])
@pytest.mark.parametrize("rate", [24.0, 60.0, 8.0])
def test_the_pair_of_frames_in_a_cycle(rng, count, rate):
    seconds = rng.uniform(0, 3, size=40)
    first, second, fraction = playback.frame_pair(seconds, count, rate)
    expected = [literal_frame_pair(time, count, rate) for time in seconds.tolist()]
    np.testing.assert_array_equal(first, [a for a, _, _ in expected])
    np.testing.assert_array_equal(second, [b for _, b, _ in expected])
    close(fraction, [c for _, _, c in expected], atol=1e-9)


def test_the_last_frame_stays_when_an_animation_does_not_repeat():
    first, second, fraction = playback.frame_pair([0.0, 0.125, 0.5, 0.75, 99.0], 4, 4.0, cyclic=False)
    assert first.tolist() == [0, 0, 2, 3, 3]
    assert second.tolist() == [1, 1, 3, 3, 3]
    close(fraction, [0, 0.5, 0, 0, 0])


def test_a_cycle_begins_again_with_its_last_frame():
    first, _, fraction = playback.frame_pair([0.75, 1.0, 7.5], 4, 4.0)
    assert first.tolist() == [0, 1, 0]
    close(fraction, 0.0)


def test_time_before_the_start_is_the_first_frame():
    first, _, fraction = playback.frame_pair(-5.0, 4, 24.0)
    assert (int(first), float(fraction)) == (0, 0.0)


def test_frames_and_fractions_stay_in_range_for_any_time(rng):
    seconds = np.concatenate([rng.uniform(0, 1e6, 1000), np.arange(1000) / 24.0, np.arange(1000) / 30.0])
    for cyclic in (False, True):
        first, second, fraction = playback.frame_pair(seconds, 7, 24.0, cyclic=cyclic)
        assert first.min() >= 0
        assert second.max() <= 6
        assert fraction.min() >= 0.0
        assert fraction.max() < 1.0


def test_slerp_is_the_textbooks(rng):
    a, b, t = unit_quaternions(rng, 50), unit_quaternions(rng, 50), rng.uniform(size=50)
    assert (np.einsum("ni,ni->n", a, b) < 0).any()
    expected = [slerp(x, y, z) for x, y, z in zip(a.tolist(), b.tolist(), t.tolist(), strict=True)]
    close(quat.slerp(a, b, t), expected, atol=1e-10)


def test_slerp_begins_and_ends_where_it_should(rng):
    a, b = unit_quaternions(rng, 2, 20)
    close(quat.slerp(a, b, np.zeros(20)), a)
    close(np.abs(np.einsum("ni,ni->n", quat.slerp(a, b, np.ones(20)), b)), 1.0)


def test_slerp_takes_the_shorter_way():
    a, b = np.array([1.0, 0, 0, 0]), np.array([-math.cos(0.1), 0, 0, -math.sin(0.1)])
    close(quat.slerp(a, b, 0.5), [math.cos(0.05), 0, 0, math.sin(0.05)])


@pytest.mark.parametrize("angle", [0.0, 1e-12, 1e-8, 1e-6, 1e-5, 1e-4, 0.01])
def test_slerp_of_hardly_any_angle_stays_a_rotation(angle):
    a, b = np.array([1.0, 0, 0, 0]), np.array([math.cos(angle), 0, math.sin(angle), 0])
    for t in (0.0, 0.25, 1.0):
        close(quat.slerp(a, b, t), [math.cos(angle * t), 0, math.sin(angle * t), 0], atol=1e-10)


def test_slerp_of_opposite_quaternions_is_no_turn():
    a = np.array([0.5, 0.5, -0.5, 0.5])
    close(quat.slerp(a, -a, 0.5), a)


def test_lerp_is_the_specifications(rng):
    a, b, t = rng.normal(size=(6, 3)), rng.normal(size=(6, 3)), rng.uniform(size=6)
    expected = [[x + s * (y - x) for x, y in zip(p, q, strict=True)] for p, q, s in zip(a, b, t, strict=True)]
    close(quat.lerp(a, b, t), expected)


def test_two_poses_are_interpolated_joint_by_joint(rng):
    positions_a, orientations_a = random_pose(rng, 4, 6)
    positions_b, orientations_b = random_pose(rng, 4, 6)
    t = rng.uniform(size=4)
    positions, orientations = playback.interpolate(
        positions_a, orientations_a, positions_b, orientations_b, t
    )
    for frame in range(4):
        for joint in range(6):
            a, b = positions_a[frame, joint], positions_b[frame, joint]
            close(positions[frame, joint], a + t[frame] * (b - a))
            expected = slerp(orientations_a[frame, joint], orientations_b[frame, joint], t[frame])
            close(orientations[frame, joint], expected)


def test_one_fraction_interpolates_one_pose(rng):
    positions, orientations = random_pose(rng, 6)
    result = playback.interpolate(positions, orientations, positions, orientations, 0.3)
    close(result[0], positions)
    close(result[1], orientations)


def test_the_pose_at_the_time_of_a_frame_is_that_frame(rng):
    animation = random_animation(rng, joints=5, frames=4)
    positions, orientations = skeleton.local_poses(animation)
    times = np.arange(4) / animation.frame_rate
    result = playback.local_pose_at(animation, times, cyclic=False)
    close(result[0], positions, atol=1e-10)
    close(np.abs(np.einsum("fji,fji->fj", result[1], orientations)), 1.0)


def test_the_pose_between_two_frames(rng):
    animation = random_animation(rng, joints=5, frames=4)
    positions, orientations = skeleton.local_poses(animation)
    result = playback.local_pose_at(animation, 1.25 / animation.frame_rate)
    for joint in range(5):
        a, b = positions[1, joint], positions[2, joint]
        close(result[0][joint], a + 0.25 * (b - a), atol=1e-10)
        close(result[1][joint], slerp(orientations[1, joint], orientations[2, joint], 0.25), atol=1e-8)
