"""Frames: decompression, quantising, frames of a time, normals, sequences, limits."""

from __future__ import annotations

import math

import numpy as np
import pytest

from io_md2.format import (
    NORMALS,
    PLAYER_SEQUENCES,
    FrameSequence,
    Md2Error,
    box_grid,
    decompress,
    face_normals,
    find_sequences,
    frame_at,
    interpolate,
    match_grid,
    nearest_normals,
    normal_indices,
    normal_vectors,
    quantise,
    quantise_on_grid,
    split_frame_name,
    vertex_normals,
)


def slow_compress(frame: np.ndarray) -> tuple[list[list[int]], list[float], list[float]]:
    """The compiler's rule for one frame, vertex by vertex."""
    low = [min(float(v[axis]) for v in frame) for axis in range(3)]
    high = [max(float(v[axis]) for v in frame) for axis in range(3)]
    scale = [float(np.float32((high[axis] - low[axis]) / 255)) for axis in range(3)]
    translate = [float(np.float32(low[axis])) for axis in range(3)]
    rows = []
    for vertex in frame:
        row = []
        for axis in range(3):
            step = 0
            if scale[axis]:
                step = math.floor((float(vertex[axis]) - translate[axis]) / scale[axis] + 0.5)
            row.append(min(max(step, 0), 255))
        rows.append(row)
    return rows, scale, translate


def slow_normal_indices(frame: np.ndarray, triangles: np.ndarray) -> list[int]:
    """The compiler's rule for one frame, triangle by triangle."""
    sums = [[0.0, 0.0, 0.0, 0] for _ in frame]
    for triangle in triangles.tolist():
        v0, v1, v2 = ([float(x) for x in frame[i]] for i in triangle)
        a = [v0[i] - v1[i] for i in range(3)]
        b = [v2[i] - v1[i] for i in range(3)]
        normal = [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
        length = math.sqrt(sum(x * x for x in normal))
        for vertex in triangle:
            for axis in range(3):
                sums[vertex][axis] += normal[axis] / length if length else 0.0
            sums[vertex][3] += 1
    result = []
    for x, y, z, count in sums:
        best, best_product = 0, -math.inf
        if count:
            x, y, z = x / count, y / count, z / count
            length = math.sqrt(x * x + y * y + z * z)
            if length:
                x, y, z = x / length, y / length, z / length
            for index, (a, b, c) in enumerate(NORMALS.tolist()):
                product = x * a + y * b + z * c
                if product > best_product:
                    best, best_product = index, product
        result.append(best)
    return result


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(5)


class TestDecompression:
    def test_the_formula(self) -> None:
        vertices = np.array([[[0, 1, 255], [2, 0, 10]]], np.uint8)
        positions = decompress(vertices, np.array([[0.5, 2, -1]]), np.array([[1, -1, 0.25]]))
        assert positions.dtype == np.float32
        assert positions.tolist() == [[[1, 1, -254.75], [2, -1, -9.75]]]

    def test_one_frame_alone(self) -> None:
        vertices = np.array([[0, 1, 255]], np.uint8)
        assert decompress(vertices, np.ones(3), np.zeros(3)).tolist() == [[0, 1, 255]]


class TestQuantising:
    def test_it_is_the_compilers_rule(self, rng: np.random.Generator) -> None:
        positions = (rng.normal(size=(4, 30, 3)) * [10, 0.01, 300] + [0, 50, -7]).astype(np.float32)
        vertices, scale, translate = quantise(positions)
        for i, frame in enumerate(positions):
            rows, slow_scale, slow_translate = slow_compress(frame)
            assert vertices[i].tolist() == rows
            assert scale[i].tolist() == slow_scale
            assert translate[i].tolist() == slow_translate

    def test_positions_come_back_within_half_a_step(self, rng: np.random.Generator) -> None:
        positions = rng.normal(size=(3, 50, 3)) * 40
        vertices, scale, translate = quantise(positions)
        error = np.abs(decompress(vertices, scale, translate) - positions)
        assert (error <= scale[:, None] * 0.5001 + 1e-5).all()

    def test_a_flat_frame(self) -> None:
        positions = np.array([[[1, 2, 3], [1, 5, 3]]], np.float32)
        vertices, scale, translate = quantise(positions)
        assert scale[0, [0, 2]].tolist() == [0, 0]
        assert decompress(vertices, scale, translate).tolist() == positions.tolist()

    def test_a_frame_flatter_than_a_float_can_say(self) -> None:
        positions = np.array([[[0, 0, 0], [1e-44, 0, 0]]])
        vertices, _scale, _translate = quantise(positions)
        assert vertices.shape == (1, 2, 3)

    def test_one_box_for_all_frames(self) -> None:
        positions = np.array([[[0, 0, 0], [1, 1, 1]], [[0, 0, 0], [5, 1, 1]]], np.float32)
        vertices, scale, translate = quantise(positions, shared=True)
        assert scale[0].tolist() == scale[1].tolist()
        assert translate[0].tolist() == translate[1].tolist()
        assert vertices[:, 0].tolist() == [[0, 0, 0]] * 2
        assert vertices[0, 1].tolist() == [51, 255, 255]

    def test_no_vertices(self) -> None:
        vertices, scale, translate = quantise(np.zeros((2, 0, 3)))
        assert vertices.shape == (2, 0, 3)
        assert not scale.any()
        assert not translate.any()

    @pytest.mark.parametrize("value", [np.nan, np.inf, 1e39])
    def test_positions_that_no_frame_can_have(self, value: float) -> None:
        with pytest.raises(Md2Error):
            box_grid(np.full((1, 2, 3), value))

    def test_positions_without_a_place_are_on_no_grid(self) -> None:
        with pytest.raises(Md2Error, match="finite"):
            match_grid(np.full((1, 2, 3), np.nan), np.ones(3), np.zeros(3))

    def test_what_lies_outside_the_grid_goes_to_its_edge(self) -> None:
        positions = np.array([[-5, 300, 127.5]])
        assert quantise_on_grid(positions, np.ones(3), np.zeros(3)).tolist() == [[0, 255, 128]]


class TestMatchingAGrid:
    def test_untouched_frames_give_the_bytes_they_came_from(self, rng: np.random.Generator) -> None:
        vertices = rng.integers(0, 256, (5, 40, 3), np.uint8)
        scale = (rng.normal(size=(5, 3)) * 0.2).astype(np.float32)
        translate = (rng.normal(size=(5, 3)) * 30).astype(np.float32)
        again, on_grid = match_grid(decompress(vertices, scale, translate), scale, translate)
        assert np.array_equal(again, vertices)
        assert on_grid.shape == (5, 40)
        assert on_grid.all()

    def test_a_moved_vertex_is_off_the_grid_and_the_others_are_not(self) -> None:
        vertices = np.arange(24, dtype=np.uint8).reshape(2, 4, 3)
        scale, translate = np.full((2, 3), 0.1, np.float32), np.ones((2, 3), np.float32)
        positions = decompress(vertices, scale, translate)
        positions[1, 2, 0] += 0.03
        again, on_grid = match_grid(positions, scale, translate)
        assert np.array_equal(again, vertices)
        assert np.argwhere(~on_grid).tolist() == [[1, 2]]
        assert match_grid(positions, scale, translate, tolerance=0.04)[1].all()

    def test_a_vertex_outside_the_grid_is_off_it(self) -> None:
        _vertices, on_grid = match_grid(np.array([[256.0, 0, 0]]), np.ones(3), np.zeros(3))
        assert not on_grid.any()

    def test_a_moved_vertex_far_from_the_origin_is_noticed(self) -> None:
        scale, translate = np.full((1, 3), 1e-3), np.full((1, 3), 1e5)
        _vertices, on_grid = match_grid(np.full((1, 1, 3), 1e5 + 0.0005), scale, translate)
        assert not on_grid.any()

    def test_bytes_on_a_flat_axis_are_kept(self) -> None:
        vertices = np.array([[[7, 1, 2], [200, 3, 4]]], np.uint8)
        scale, translate = np.array([[0, 1, 1]], np.float32), np.array([[5, 0, 0]], np.float32)
        positions = decompress(vertices, scale, translate)
        again, on_grid = match_grid(positions, scale, translate, previous=vertices)
        assert again.tolist() == vertices.tolist()
        assert on_grid.all()
        positions[0, 0, 1] += 1
        again, on_grid = match_grid(positions, scale, translate, previous=vertices)
        assert again.tolist() == [[[7, 2, 2], [200, 3, 4]]]
        assert on_grid.all()


class TestTime:
    @pytest.mark.parametrize(
        ("time", "wrap", "expected"),
        [
            (0.0, "blend", (40, 41, 0.0)),
            (0.25, "blend", (42, 43, 0.5)),
            (0.55, "blend", (45, 40, 0.5)),
            (0.6, "blend", (40, 41, 0.0)),
            (-0.05, "blend", (45, 40, 0.5)),
            (0.45, "jump", (44, 45, 0.5)),
            (0.55, "jump", (40, 41, 0.5)),
            (0.45, "hold", (44, 45, 0.5)),
            (9.0, "hold", (45, 45, 0.0)),
            (-1.0, "hold", (40, 41, 0.0)),
        ],
    )
    def test_frames_of_the_run_sequence(
        self, time: float, wrap: str, expected: tuple[int, int, float]
    ) -> None:
        current, following, fraction = frame_at(time, 40, 45, wrap=wrap)  # type: ignore[arg-type]
        assert (current, following) == expected[:2]
        assert fraction == pytest.approx(expected[2], abs=1e-9)

    @pytest.mark.parametrize("wrap", ["blend", "jump", "hold"])
    def test_a_sequence_of_one_frame(self, wrap: str) -> None:
        for time in (0.0, 0.05, 3.3, -1e-300):
            current, following, fraction = frame_at(time, 7, 7, wrap=wrap)  # type: ignore[arg-type]
            assert (current, following) == (7, 7)
            assert 0 <= fraction < 1

    @pytest.mark.parametrize("wrap", ["blend", "jump", "hold"])
    def test_frames_stay_within_the_sequence(self, wrap: str) -> None:
        for time in np.linspace(-3, 3, 1001):
            current, following, fraction = frame_at(float(time), 3, 9, fps=7.0, wrap=wrap)  # type: ignore[arg-type]
            assert 3 <= current <= 9
            assert 3 <= following <= 9
            assert 0 <= fraction < 1

    def test_what_has_no_meaning_is_refused(self) -> None:
        for arguments in ((math.nan, 0, 1), (0.0, 1, 0), (0.0, 0, 1, 0.0), (0.0, 0, 1, math.inf)):
            with pytest.raises(Md2Error):
                frame_at(*arguments)

    def test_interpolation_is_linear(self) -> None:
        a, b = np.array([[0, 0, 8]], np.float32), np.array([[4, -2, 8]], np.float32)
        assert interpolate(a, b, 0).tolist() == a.tolist()
        assert interpolate(a, b, 1).tolist() == b.tolist()
        assert interpolate(a, b, 0.25).tolist() == [[1, -0.5, 8]]


class TestNormals:
    def test_the_table(self) -> None:
        assert NORMALS.shape == (162, 3)
        assert np.allclose(np.linalg.norm(NORMALS, axis=1), 1, atol=2e-6)
        assert len(np.unique(NORMALS, axis=0)) == 162
        assert NORMALS[0].tolist() == [-0.525731, 0.0, 0.850651]
        assert NORMALS[161].tolist() == [-0.688191, -0.587785, -0.425325]

    def test_every_normal_is_nearest_to_itself(self) -> None:
        assert nearest_normals(NORMALS * 3).tolist() == list(range(162))

    def test_lookup_beyond_the_table_gives_no_normal(self) -> None:
        vectors = normal_vectors(np.array([[0, 161], [162, 255]], np.uint8))
        assert vectors.shape == (2, 2, 3)
        assert vectors.dtype == np.float32
        assert np.allclose(vectors[0], NORMALS[[0, 161]])
        assert not vectors[1].any()

    def test_the_first_of_equals(self) -> None:
        up = np.array([0.0, 0.0, 1.0])
        products = NORMALS @ up
        assert nearest_normals(up) == np.flatnonzero(products == products.max())[0]
        # Half way between two entries, which rounding must not decide.
        for a, b in ((0, 1), (10, 11), (40, 47)):
            between = NORMALS[a] + NORMALS[b]
            ties = NORMALS @ (between / np.linalg.norm(between))
            assert nearest_normals(between) == np.flatnonzero(ties > ties.max() - 1e-9)[0]

    def test_it_is_the_compilers_rule(self, rng: np.random.Generator) -> None:
        positions = rng.normal(size=(3, 40, 3)) * 20
        triangles = rng.integers(0, 38, (60, 3))
        expected = [slow_normal_indices(frame, triangles) for frame in positions]
        assert normal_indices(positions, triangles).tolist() == expected

    def test_clockwise_triangles_face_the_viewer(self) -> None:
        # Seen from above (+Z), with +X right and +Y up: left, top, right is clockwise.
        positions = np.array([[-1, 0, 0], [0, 1, 0], [1, 0, 0]], float)
        assert face_normals(positions, np.array([[0, 1, 2]])).tolist() == [[0, 0, 1]]

    def test_faces_count_alike_whatever_their_size(self) -> None:
        positions = np.array([[0, 0, 0], [0, 1, 0], [1, 0, 0], [0, 0, 99], [0, 99, 0]], float)
        mean = vertex_normals(positions, np.array([[0, 1, 2], [0, 3, 4]]))[0]
        assert np.allclose(np.abs(mean), [0.5, 0, 0.5])

    def test_vertices_without_a_normal_get_the_first(self) -> None:
        positions = np.array([[[0, 0, 0], [0, 1, 0], [1, 0, 0], [5, 5, 5], [6, 6, 6]]], float)
        double_sided = np.array([[0, 1, 2], [2, 1, 0], [3, 3, 4]])
        assert normal_indices(positions, double_sided).tolist() == [[0, 0, 0, 0, 0]]

    def test_no_triangles_and_no_vertices(self) -> None:
        none = np.zeros((0, 3), int)
        assert normal_indices(np.ones((2, 3, 3)), none).tolist() == [[0] * 3] * 2
        assert normal_indices(np.ones((2, 0, 3)), none).shape == (2, 0)

    def test_many_frames_are_the_same_as_one_by_one(self, rng: np.random.Generator) -> None:
        positions = rng.normal(size=(300, 120, 3))
        triangles = rng.integers(0, 120, (200, 3))
        together = normal_indices(positions, triangles)
        for i in (0, 135, 136, 137, 299):
            assert np.array_equal(together[i], normal_indices(positions[i : i + 1], triangles)[0])


class TestSequences:
    @pytest.mark.parametrize(
        ("name", "expected"),
        [
            ("stand01", ("stand", 1)),
            ("run1", ("run", 1)),
            ("pain101", ("pain1", 1)),
            ("death308", ("death3", 8)),
            ("hold", ("hold", None)),
            ("", ("", None)),
            ("12", ("", 12)),
            ("UA05S000", ("UA05S0", 0)),
            ("frame 7", ("frame ", 7)),
            ("line01\n", ("line01\n", None)),
            ("x\u0663", ("x\u0663", None)),
        ],
    )
    def test_names_and_numbers(self, name: str, expected: tuple[str, int | None]) -> None:
        assert split_frame_name(name) == expected

    def test_the_players_sequences_are_found(self) -> None:
        names = [f"{s.name}{i + 1:02d}" for s in PLAYER_SEQUENCES for i in range(s.frame_count)]
        assert len(names) == 198
        assert tuple(find_sequences(names)) == PLAYER_SEQUENCES

    def test_odd_names(self) -> None:
        names = ["hold", "hold", "", "", "run1", "run1", "run9", "jump", "run2"]
        assert find_sequences(names) == [
            FrameSequence("hold", 0, 1),
            FrameSequence("", 2, 3),
            FrameSequence("run", 4, 6),
            FrameSequence("jump", 7, 7),
            FrameSequence("run", 8, 8),
        ]

    def test_no_frames(self) -> None:
        assert find_sequences([]) == []
