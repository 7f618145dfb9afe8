"""Vertices that are copies of each other are merged."""

from __future__ import annotations

import numpy as np

from io_idtech.io_md2.format import Model, decompress, merge_vertices, normal_indices


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
        merged = merge_vertices(model)
        assert merged.vertex_count == 4
        assert merged.triangles.tolist() == [[0, 1, 2], [1, 0, 3]]
        assert np.array_equal(merged.vertices, vertices[:, [0, 1, 2, 4]])
        # Vertex 3 had another normal than vertex 1, so that neither counts.
        positions = decompress(merged.vertices, merged.scale, merged.translate)
        assert np.array_equal(merged.normals[:, 1], normal_indices(positions, merged.triangles)[:, 1])
        assert (merged.normals[:, [0, 2, 3]] == 200).all()
        assert model.vertex_count == 5

    def test_nothing_to_merge(self) -> None:
        assert merge_vertices(Model(frame_names=["a"], vertices=np.zeros((1, 0, 3), np.uint8))).vertex_count == 0
