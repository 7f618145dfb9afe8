"""Frames from positions, reusing the source's grids, bytes and normals where they are still correct."""

from __future__ import annotations

import numpy as np

from io_idtech.io_md2.format import box_grid, decompress, normal_indices, quantise
from io_idtech.io_md2.format.source_data import FrameData, requantise

TRIANGLES = np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]], np.int32)


def some_frames(count: int = 4) -> tuple[np.ndarray, FrameData]:
    """Positions that lie on grids of no rule, with normals of no rule."""
    rng = np.random.default_rng(7)
    vertices = rng.integers(0, 256, (count, 4, 3)).astype(np.uint8)
    scale = rng.uniform(0.05, 0.5, (count, 3)).astype(np.float32)
    scale[0, 0] *= -1
    translate = rng.uniform(-40, 40, (count, 3)).astype(np.float32)
    normals = rng.integers(0, 256, (count, 4)).astype(np.uint8)
    return decompress(vertices, scale, translate), FrameData(scale, translate, vertices, normals)


def is_same(frames: FrameData, source: FrameData) -> np.ndarray:
    return np.array(
        [
            all(
                np.array_equal(getattr(frames, name)[i], getattr(source, name)[i])
                for name in ("scale", "translate", "vertices", "normals")
            )
            for i in range(len(source.scale))
        ]
    )


class TestRequantise:
    def test_untouched_frames_are_not_changed(self) -> None:
        positions, source = some_frames()
        frames, same = requantise(positions, TRIANGLES, source)
        assert same.all()
        assert is_same(frames, source).all()

    def test_a_moved_vertex_changes_its_frame_alone(self) -> None:
        positions, source = some_frames()
        positions[2, 1] += 50.03
        frames, same = requantise(positions, TRIANGLES, source)
        assert same.tolist() == [True, True, False, True]
        assert is_same(frames, source).tolist() == same.tolist()
        vertices, scale, translate = quantise(positions[2:3])
        assert np.array_equal(frames.vertices[2], vertices[0])
        assert np.array_equal(frames.scale[2], scale[0])
        assert np.array_equal(frames.translate[2], translate[0])
        assert np.array_equal(frames.normals[2], normal_indices(positions[2:3], TRIANGLES)[0])

    def test_a_vertex_moved_to_another_grid_point_keeps_the_grid(self) -> None:
        _positions, source = some_frames()
        vertices = source.vertices.copy()
        vertices[1, 3] = (9, 8, 7)
        moved = decompress(vertices, source.scale, source.translate)
        frames, same = requantise(moved, TRIANGLES, source)
        assert same.tolist() == [True, False, True, True]
        assert np.array_equal(frames.scale, source.scale)
        assert np.array_equal(frames.vertices, vertices)
        assert np.array_equal(frames.normals[1], normal_indices(moved[1:2], TRIANGLES)[0])

    def test_other_triangles_keep_the_bytes_but_not_the_normals(self) -> None:
        positions, source = some_frames()
        frames, same = requantise(positions, TRIANGLES[:, ::-1], source, same_faces=np.zeros(4, bool))
        assert not same.any()
        assert np.array_equal(frames.vertices, source.vertices)
        assert np.array_equal(frames.normals, normal_indices(positions, TRIANGLES[:, ::-1]))

    def test_vertices_away_from_an_edit_keep_their_normals(self) -> None:
        strip = np.array([[0, 1, 2], [2, 1, 3], [2, 3, 4], [4, 3, 5]], np.int32)
        rng = np.random.default_rng(5)
        vertices = rng.integers(0, 256, (2, 6, 3)).astype(np.uint8)
        scale, translate = np.full((2, 3), 0.25, np.float32), np.zeros((2, 3), np.float32)
        source = FrameData(scale, translate, vertices, np.full((2, 6), 200, np.uint8))
        positions = decompress(vertices, scale, translate)
        positions[1, 0] += 3.1
        frames, same = requantise(positions, strip, source)
        assert same.tolist() == [True, False]
        assert (frames.normals == 200).tolist() == [[True] * 6, [False] * 3 + [True] * 3]
        assert np.array_equal(frames.normals[1, :3], normal_indices(positions, strip)[1, :3])

    def test_vertices_with_other_faces_get_new_normals(self) -> None:
        positions, source = some_frames()
        same_faces = np.array([True, False, True, True])
        frames, same = requantise(positions, TRIANGLES, source, same_faces=same_faces)
        assert not same.any()
        assert np.array_equal(frames.vertices, source.vertices)
        others = [0, 2, 3]
        assert np.array_equal(frames.normals[:, others], source.normals[:, others])
        assert np.array_equal(frames.normals[:, 1], normal_indices(positions, TRIANGLES)[:, 1])

    def test_a_small_model_is_not_matched_to_a_huge_grid(self) -> None:
        positions, source = some_frames()
        huge = FrameData(np.full_like(source.scale, 1e25), source.translate, source.vertices * 0, source.normals)
        frames, same = requantise(positions, TRIANGLES, huge)
        assert not same.any()
        assert np.abs(decompress(frames.vertices, frames.scale, frames.translate) - positions).max() < 1.0

    def test_a_frame_without_a_source_is_new(self) -> None:
        positions, source = some_frames()
        frames, same = requantise(positions, TRIANGLES, source, is_source=np.array([True, False, True, True]))
        assert same.tolist() == [True, False, True, True]
        assert np.array_equal(frames.scale[1], box_grid(positions[1:2])[0][0])

    def test_one_box_puts_all_frames_on_one_grid_and_keeps_the_normals_of_untouched_ones(self) -> None:
        positions, source = some_frames()
        positions[2, 1] += 50.03
        frames, same = requantise(positions, TRIANGLES, source, shared=True)
        assert not same.any()
        assert len(np.unique(frames.scale, axis=0)) == len(np.unique(frames.translate, axis=0)) == 1
        untouched = [0, 1, 3]
        assert np.array_equal(frames.normals[untouched], source.normals[untouched])

    def test_one_box_leaves_frames_that_have_one_already(self) -> None:
        rng = np.random.default_rng(3)
        vertices = rng.integers(0, 256, (3, 4, 3)).astype(np.uint8)
        scale = np.tile(np.array([0.1, 0.2, 0.3], np.float32), (3, 1))
        source = FrameData(scale, -scale, vertices, vertices[:, :, 0])
        frames, same = requantise(decompress(vertices, scale, -scale), TRIANGLES, source, shared=True)
        assert same.all()
        assert is_same(frames, source).all()

    def test_a_part_that_does_not_move_keeps_its_bytes_in_one_box(self) -> None:
        positions = np.zeros((5, 4, 3))
        positions[:, 1] = (1.0, 0.7, 0.3)
        positions[:, 3, 2] = np.linspace(0.1, 9.0, 5)
        apart, _same = requantise(positions, TRIANGLES)
        together, _same = requantise(positions, TRIANGLES, shared=True)
        assert len(np.unique(apart.vertices[:, 1], axis=0)) > 1
        assert len(np.unique(together.vertices[:, 1], axis=0)) == 1

    def test_frames_without_vertices(self) -> None:
        frames, same = requantise(np.zeros((2, 0, 3)), np.zeros((0, 3), np.int32))
        assert frames.vertices.shape == (2, 0, 3)
        assert frames.normals.shape == (2, 0)
        assert not same.any()
