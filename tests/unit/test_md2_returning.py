"""Frames on their way back: what stays as it was, what is made anew, and what new frames are called."""

from __future__ import annotations

import numpy as np
import pytest

from io_md2.format import Model, box_grid, decompress, normal_indices, quantise
from io_md2.format.naming import clean_name, make_unique, number_frames
from io_md2.format.requantise import FrameData, requantise
from io_md2.format.welding import weld

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
    def test_untouched_frames_stay_with_all_their_oddities(self) -> None:
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

    def test_a_huge_grid_does_not_take_in_a_small_model(self) -> None:
        positions, source = some_frames()
        huge = FrameData(
            np.full_like(source.scale, 1e25), source.translate, source.vertices * 0, source.normals
        )
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


class TestMerging:
    def test_vertices_in_the_same_place_in_every_frame_become_one(self) -> None:
        vertices = np.zeros((2, 5, 3), np.uint8)
        vertices[:, 1, 0] = vertices[:, 3, 0] = 10
        vertices[:, 2, 1] = vertices[:, 4, 1] = 20
        vertices[1, 4, 2] = 1
        normals = np.full((2, 5), 200, np.uint8)
        normals[1, 3] = 7
        model = Model(
            triangles=np.array([[0, 1, 2], [3, 0, 4]], np.int32),
            triangle_st=np.zeros((2, 3), np.int32),
            scale=np.ones((2, 3), np.float32),
            translate=np.zeros((2, 3), np.float32),
            frame_names=["a", "b"],
            vertices=vertices,
            normals=normals,
        )
        merged = weld(model)
        assert merged.vertex_count == 4
        assert merged.triangles.tolist() == [[0, 1, 2], [1, 0, 3]]
        assert np.array_equal(merged.vertices, vertices[:, [0, 1, 2, 4]])
        # Vertex 3 had another normal than vertex 1, so that neither counts.
        positions = decompress(merged.vertices, merged.scale, merged.translate)
        assert np.array_equal(merged.normals[:, 1], normal_indices(positions, merged.triangles)[:, 1])
        assert (merged.normals[:, [0, 2, 3]] == 200).all()
        assert model.vertex_count == 5

    def test_nothing_to_merge(self) -> None:
        assert weld(Model(frame_names=["a"], vertices=np.zeros((1, 0, 3), np.uint8))).vertex_count == 0


class TestNaming:
    @pytest.mark.parametrize(
        ("name", "cleaned"),
        [
            ("stand01", "stand01"),
            ("Key 1", "Key_1"),
            ("  run\t1 \n", "run_1"),
            ("日本1", "__1"),
            ("café", "café"),
            ("what?", "what?"),
            ("a_name_that_is_longer", "a_name_that_is_"),
            ("", ""),
        ],
    )
    def test_names_are_made_fit(self, name: str, cleaned: str) -> None:
        assert clean_name(name) == cleaned

    def test_numbers_are_those_of_ids_models(self) -> None:
        names = number_frames(["run"] * 6 + ["stand"] * 12 + ["pain1"] * 2)
        assert names[:2] == ["run1", "run2"]
        assert names[6] == "stand01"
        assert names[17] == "stand12"
        assert names[18:] == ["pain101", "pain102"]

    def test_frames_of_nothing_are_frame001_and_so_on(self) -> None:
        assert number_frames(["", ""]) == ["frame001", "frame002"]

    def test_a_sequence_that_comes_again_goes_on_counting(self) -> None:
        assert number_frames(["run", "jump", "run"]) == ["run1", "jump1", "run2"]

    def test_long_prefixes_are_cut_before_the_number(self) -> None:
        names = number_frames(["a_very_long_sequence"] * 120)
        assert names[0] == "a_very_long_001"
        assert names[-1] == "a_very_long_120"
        assert max(map(len, names)) == 15

    def test_repeated_and_empty_names_are_changed(self) -> None:
        names = make_unique(["run1", "run1", "", "x", "x"], taken=["run1", "x"])
        assert len({*names, "run1", "x"}) == 7
        assert all(0 < len(name) <= 15 for name in names)
        assert names[2].startswith("frame")
