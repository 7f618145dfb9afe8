"""An MD3 model with the shape and frames of an MD2."""

from __future__ import annotations

import numpy as np

from io_idtech.io_md2.format import Model as Md2Model
from io_idtech.io_md2.format import decompress, normal_vectors, st_fractions
from io_idtech.io_md3.format import Model, Surface, frame_bounds, nearest_normals, quantise


def same_model(source: Md2Model) -> Model:
    """The model as one surface, with a vertex for each vertex and texture coordinate of the MD2."""
    corners = np.stack([source.triangles.ravel(), source.triangle_st.ravel()], axis=1)
    used, triangles = np.unique(corners, axis=0, return_inverse=True)
    points = decompress(source.vertices, source.scale, source.translate)[:, used[:, 0]]
    bounds, origins, radii = frame_bounds(points)
    frames = source.frame_count
    surface = Surface(
        name="body",
        shaders=list(source.skins[:1]) or ["skin"],
        triangles=triangles.reshape(-1, 3).astype(np.int32),
        st=st_fractions(source.st, source.skin_width, source.skin_height)[used[:, 1]],
        vertices=quantise(points),
        normals=nearest_normals(normal_vectors(source.normals[:, used[:, 0]])),
    )
    return Model(
        frame_names=source.frame_names, bounds=bounds, origins=origins, radii=radii, tag_names=[],
        tag_origins=np.zeros((frames, 0, 3), np.float32), tag_axes=np.zeros((frames, 0, 3, 3), np.float32),
        surfaces=[surface], name="player",
    )  # fmt: skip
