"""What Blender cannot hold of an MD2 model, on the mesh that it became.

Shape keys hold positions; the file holds bytes on a grid for each frame, an index for each normal, texture
coordinates in texels of a skin of some size, some of which nothing uses. They are custom properties of the mesh, so
that what was not touched goes out as it came, and count only as long as they still agree with what the mesh shows.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .format import Md2Model
from .format.requantise import FrameData

if TYPE_CHECKING:
    from bpy.types import Mesh

VERTEX = "md2_vertex"
"""Attribute of vertices: which vertex of the file each is."""
CORNER_ST = "md2_corner_st"
"""Attribute of corners of faces: which texture coordinate of the file each has."""

FRAME_NAMES = "md2_frame_names"
KEY_NAMES = "md2_key_names"
FRAME_START = "md2_frame_start"
_GRIDS = "md2_grids"
_VERTICES = "md2_vertices"
_NORMALS = "md2_normals"
_TRIANGLES = "md2_triangles"
_ST = "md2_st"
SKIN_SIZE = "md2_skin_size"
IMAGE_SIZE = "md2_image_size"
SKINS = "md2_skins"
MATERIAL_SKINS = "md2_material_skins"


@dataclass(frozen=True, eq=False)
class Kept:
    """A model as it was imported, without what the mesh itself holds. F frames, V vertices.

    Attributes:
        frame_names: as in the file.
        key_names: what Blender called the shape key of each frame; empty if none were made.
        frame_start: the scene frame of the first frame.
        frames: grids, bytes and normal indices.
        triangles: clockwise, without degenerate ones, int32 (T, 3).
        st: texture coordinates in texels, int16 (S, 2).
        skin_size: width and height of the skin.
        image_size: width and height of the image that import put on the model; zeros if there was none.
        skins: names as in the file.
        material_skins: the name that export gave each material of the mesh when it was imported.
    """

    frame_names: list[str]
    key_names: list[str]
    frame_start: int
    frames: FrameData
    triangles: npt.NDArray[np.int32]
    st: npt.NDArray[np.int16]
    skin_size: tuple[int, int]
    image_size: tuple[int, int]
    skins: list[str]
    material_skins: list[str]


def keep(
    mesh: Mesh,
    model: Md2Model,
    triangles: npt.NDArray[np.int32],
    key_names: list[str],
    *,
    frame_start: int,
    image_size: tuple[int, int],
    material_skins: list[str],
) -> None:
    """Remembers a model on its mesh.

    Args:
        mesh: what it became.
        model: as in the file, with the vertices that the mesh has.
        triangles: those of the mesh, clockwise (T, 3).
        key_names: Blender's name of each frame's shape key; empty if there are none.
        frame_start: the scene frame of the first frame.
        image_size: of the image on the model; zeros if there is none.
        material_skins: the name that export would give each material of the mesh.
    """
    mesh[FRAME_NAMES] = model.frame_names
    mesh[KEY_NAMES] = key_names
    mesh[FRAME_START] = frame_start
    mesh[_GRIDS] = np.hstack([model.scale, model.translate]).astype("<f4").tobytes()
    mesh[_VERTICES] = model.vertices.tobytes()
    mesh[_NORMALS] = model.normals.tobytes()
    mesh[_TRIANGLES] = triangles.astype("<i4").tobytes()
    mesh[_ST] = model.st.astype("<i2").tobytes()
    mesh[SKIN_SIZE] = [model.skin_width, model.skin_height]
    mesh[IMAGE_SIZE] = list(image_size)
    mesh[SKINS] = model.skins
    mesh[MATERIAL_SKINS] = material_skins


def kept(mesh: Mesh) -> Kept | None:
    """What `keep` remembered; None if that is nothing, or was tampered with."""
    try:
        return _read(mesh)
    except (KeyError, TypeError, ValueError):
        return None


def _read(mesh: Mesh) -> Kept:
    frame_names = _texts(mesh[FRAME_NAMES])
    count = len(frame_names)
    grids = np.frombuffer(mesh[_GRIDS], "<f4").reshape(count, 6)
    normals = np.frombuffer(mesh[_NORMALS], np.uint8).reshape(count, -1)
    width, height = mesh[SKIN_SIZE]
    image_width, image_height = mesh[IMAGE_SIZE]
    return Kept(
        frame_names=frame_names,
        key_names=_texts(mesh[KEY_NAMES]),
        frame_start=int(mesh[FRAME_START]),
        frames=FrameData(
            scale=grids[:, :3],
            translate=grids[:, 3:],
            vertices=np.frombuffer(mesh[_VERTICES], np.uint8).reshape(*normals.shape, 3),
            normals=normals,
        ),
        triangles=np.frombuffer(mesh[_TRIANGLES], "<i4").reshape(-1, 3),
        st=np.frombuffer(mesh[_ST], "<i2").reshape(-1, 2),
        skin_size=(int(width), int(height)),
        image_size=(int(image_width), int(image_height)),
        skins=_texts(mesh[SKINS]),
        material_skins=_texts(mesh[MATERIAL_SKINS]),
    )


def _texts(values: Iterable[Any]) -> list[str]:
    """The strings of a property that holds several."""
    return [str(value) for value in values]


def first_frame(model: Md2Model) -> Md2Model:
    """The model with its first frame alone."""
    return replace(
        model,
        scale=model.scale[:1],
        translate=model.translate[:1],
        frame_names=model.frame_names[:1],
        vertices=model.vertices[:1],
        normals=model.normals[:1],
    )
