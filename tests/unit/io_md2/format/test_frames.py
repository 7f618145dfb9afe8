"""Frames: decompression, quantising, grids, and frames at a time."""

from __future__ import annotations

import math

import numpy as np
import pytest

from io_idtech.io_md2.format import (
    Md2Error,
    box_grid,
    decompress,
    frame_pair,
    interpolate,
    match_grid,
    quantise,
    quantise_on_grid,
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


class TestDecompression:
    def test_decompression_follows_the_specification(self) -> None:
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

    def test_a_frame_too_flat_for_a_float_scale(self) -> None:
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

    def test_positions_outside_the_grid_are_clamped(self) -> None:
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
    def test_frames_of_the_run_sequence(self, time: float, wrap: str, expected: tuple[int, int, float]) -> None:
        current, following, fraction = frame_pair(time, 40, 45, wrap=wrap)  # type: ignore[arg-type]
        assert (current, following) == expected[:2]
        assert fraction == pytest.approx(expected[2], abs=1e-9)

    @pytest.mark.parametrize("wrap", ["blend", "jump", "hold"])
    def test_a_sequence_of_one_frame(self, wrap: str) -> None:
        for time in (0.0, 0.05, 3.3, -1e-300):
            current, following, fraction = frame_pair(time, 7, 7, wrap=wrap)  # type: ignore[arg-type]
            assert (current, following) == (7, 7)
            assert 0 <= fraction < 1

    @pytest.mark.parametrize("wrap", ["blend", "jump", "hold"])
    def test_frames_stay_within_the_sequence(self, wrap: str) -> None:
        for time in np.linspace(-3, 3, 1001):
            current, following, fraction = frame_pair(float(time), 3, 9, frame_rate=7.0, wrap=wrap)  # type: ignore[arg-type]
            assert 3 <= current <= 9
            assert 3 <= following <= 9
            assert 0 <= fraction < 1

    def test_invalid_arguments_are_refused(self) -> None:
        for arguments in ((math.nan, 0, 1), (0.0, 1, 0), (0.0, 0, 1, 0.0), (0.0, 0, 1, math.inf)):
            with pytest.raises(Md2Error):
                frame_pair(*arguments)

    def test_interpolation_is_linear(self) -> None:
        a, b = np.array([[0, 0, 8]], np.float32), np.array([[4, -2, 8]], np.float32)
        assert interpolate(a, b, 0).tolist() == a.tolist()
        assert interpolate(a, b, 1).tolist() == b.tolist()
        assert interpolate(a, b, 0.25).tolist() == [[1, -0.5, 8]]
