"""The model of a file in the property group ``md2`` of its mesh.

Anyone can edit custom properties, so all values are validated: if one has the wrong type, size or range, the whole
group is ignored.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ...io_blender.scene.imported_conversion import store_conversion
from ..format import Counts, GlCommands, Model
from ..format.counts import repeated_names
from ..format.degenerate import degenerate_rows
from ..format.model import FRAME_NAME_SIZE, SKIN_NAME_SIZE
from ..format.requantise import FrameData

if TYPE_CHECKING:
    from bpy.types import Mesh

    from ...io_blender.scene.axes import Conversion

_GROUP = "md2"

_MAX_FRAMES = 65_536
_MAX_VERTICES = 65_536
_MAX_SKINS = 65_536
_MAX_SIZE = 65_536
_MAX_LABEL = 1_024
# Larger than any coordinate in a game, and small enough to calculate with in single precision.
_MAX_COORDINATE = 1e30


@dataclass(frozen=True, eq=False)
class StoredModel:
    """A model as it was imported, without the data that the mesh itself holds. F frames, V vertices.

    Attributes:
        frame_names: as in the file.
        key_names: what Blender called the shape key of each frame; empty if none were made.
        frame_start: the scene frame of the first frame.
        frames: grids, bytes and normal indices.
        triangles: clockwise, without degenerate ones, int32 (T, 3).
        degenerate: index in the file, three vertices and three texture coordinates of each, int32 (n, 7).
        st: texture coordinates in texels, int16 (S, 2).
        gl_commands: as in the file; none if the vertices were welded.
        skin_size: width and height of the skin.
        image_size: width and height of the image that import found; zeros if there was none.
        skins: names as in the file.
        material_skins: the skin name of each material of the mesh at the time of the import.
    """

    frame_names: list[str]
    key_names: list[str]
    frame_start: int
    frames: FrameData
    triangles: npt.NDArray[np.int32]
    degenerate: npt.NDArray[np.int32]
    st: npt.NDArray[np.int16]
    gl_commands: GlCommands
    skin_size: tuple[int, int]
    image_size: tuple[int, int]
    skins: list[str]
    material_skins: list[str]

    @property
    def vertex_count(self) -> int:
        """V."""
        return int(self.frames.normals.shape[1])

    @property
    def counts(self) -> Counts:
        """The numbers of the file."""
        return Counts(
            triangles=len(self.triangles) + len(self.degenerate),
            vertices=self.vertex_count,
            frames=len(self.frame_names),
            skins=len(self.skins),
            skin_width=self.skin_size[0],
            skin_height=self.skin_size[1],
            st=len(self.st),
            repeated_names=repeated_names(self.frame_names),
        )


def store_model(
    mesh: Mesh,
    model: Model,
    triangles: npt.NDArray[np.int32],
    key_names: list[str],
    *,
    frame_start: int,
    image_size: tuple[int, int],
    material_skins: list[str],
    conversion: Conversion,
) -> None:
    """Stores a model on the mesh that was made of it.

    `model` is as in the file, with the vertices that the mesh has; `triangles` are those of the mesh, clockwise (T, 3).
    `key_names` has Blender's name of each frame's shape key, and is empty if there are none; the first frame is at
    `frame_start`. `image_size` is that of the image on the model; zeros if there is none. `material_skins` has the name
    that export would give each material of the mesh. `conversion` is that of the import.
    """
    mesh[_GROUP] = {
        "frame_names": model.frame_names,
        "key_names": key_names,
        "frame_start": frame_start,
        "grids": np.hstack([model.scale, model.translate]).astype("<f4").tobytes(),
        "vertices": model.vertices.tobytes(),
        "normals": model.normals.tobytes(),
        "triangles": triangles.astype("<i4").tobytes(),
        "degenerate": degenerate_rows(model).astype("<i4").tobytes(),
        "st": model.st.astype("<i2").tobytes(),
        "gl_counts": model.gl_commands.counts.astype("<i4").tobytes(),
        "gl_st": model.gl_commands.st.astype("<f4").tobytes(),
        "gl_vertices": model.gl_commands.vertices.astype("<i4").tobytes(),
        "skin_size": [model.skin_width, model.skin_height],
        "image_size": list(image_size),
        "skins": model.skins,
        "material_skins": material_skins,
    }
    store_conversion(mesh[_GROUP], conversion)


class _InvalidError(ValueError):
    """A stored value is not valid."""


def load_model(mesh: Mesh) -> StoredModel | None:
    """The model that `store_model` stored; None if there is none, or if any of its values is not valid.

    The time is bounded by the size of the properties, whatever their values.
    """
    group = mesh.get(_GROUP)
    if not hasattr(group, "keys"):
        return None
    try:
        return _load(group)
    except _InvalidError:
        return None


def _load(group: Any) -> StoredModel:
    frame_names = _names(group, "frame_names", _MAX_FRAMES, FRAME_NAME_SIZE)
    frame_count = len(frame_names)
    _require(frame_count > 0)
    key_names = _texts(group, "key_names", _MAX_FRAMES)
    _require(not key_names or len(key_names) == frame_count)

    normals = _array(group, "normals", np.uint8, frame_count)
    vertex_count = normals.shape[1]
    _require(vertex_count <= _MAX_VERTICES)
    grids = _array(group, "grids", "<f4", frame_count)
    _require(grids.shape[1] == 6 and bool((np.abs(grids) <= _MAX_COORDINATE).all()))
    vertices = _array(group, "vertices", np.uint8, frame_count)
    _require(vertices.shape[1] == 3 * vertex_count)

    triangles = _array(group, "triangles", "<i4").reshape(-1)
    _require(len(triangles) % 3 == 0 and _is_within(triangles, vertex_count))
    st = _array(group, "st", "<i2").reshape(-1)
    _require(len(st) % 2 == 0)
    flat = _array(group, "degenerate", "<i4").reshape(-1)
    _require(len(flat) % 7 == 0)
    degenerate = flat.reshape(-1, 7)
    _require(bool((degenerate[:, 0] >= 0).all()) and _is_within(degenerate[:, 1:4], vertex_count))
    _require(_is_within(degenerate[:, 4:], len(st) // 2))
    return StoredModel(
        frame_names=frame_names,
        key_names=key_names,
        frame_start=_integer(group, "frame_start"),
        frames=FrameData(
            scale=grids[:, :3],
            translate=grids[:, 3:],
            vertices=vertices.reshape(frame_count, vertex_count, 3),
            normals=normals,
        ),
        triangles=triangles.reshape(-1, 3),
        degenerate=degenerate,
        st=st.reshape(-1, 2),
        gl_commands=_gl_commands(group, vertex_count),
        skin_size=_size(group, "skin_size"),
        image_size=_size(group, "image_size"),
        skins=_names(group, "skins", _MAX_SKINS, SKIN_NAME_SIZE),
        material_skins=_texts(group, "material_skins", _MAX_SKINS),
    )


def _gl_commands(group: Any, vertex_count: int) -> GlCommands:
    counts = _array(group, "gl_counts", "<i4")
    vertices = _array(group, "gl_vertices", "<i4")
    st = _array(group, "gl_st", "<f4")
    corners = int(np.abs(counts.astype(np.int64)).sum())
    _require(bool((counts != 0).all()) and len(vertices) == corners and len(st) == 2 * corners)
    _require(_is_within(vertices, vertex_count))
    return GlCommands(counts, st.reshape(-1, 2), vertices)


def _require(is_valid: bool) -> None:
    if not is_valid:
        raise _InvalidError


def _array(group: Any, key: str, dtype: Any, rows: int | None = None) -> npt.NDArray[Any]:
    """Bytes as an array (rows, n), or (n,) if `rows` is None."""
    data = group.get(key)
    _require(isinstance(data, bytes))
    _require(len(data) % (np.dtype(dtype).itemsize * (rows or 1)) == 0)
    values = np.frombuffer(data, dtype)
    return values if rows is None else values.reshape(rows, len(values) // rows)


def _texts(group: Any, key: str, limit: int) -> list[str]:
    """A list of strings; Blender reads an empty list as an array without elements."""
    values = group.get(key)
    if isinstance(values, str | bytes) or not hasattr(values, "__len__"):
        raise _InvalidError
    _require(len(values) <= limit)
    texts = list(values)
    _require(all(isinstance(text, str) and len(text) <= _MAX_LABEL for text in texts))
    return texts


def _names(group: Any, key: str, limit: int, size: int) -> list[str]:
    """A list of names that fit into `size` bytes of the file."""
    names = _texts(group, key, limit)
    _require(all(len(name) <= size and max(name, default=" ") <= "\xff" for name in names))
    _require(not any("\0" in name for name in names))
    return names


def _integer(group: Any, key: str) -> int:
    value = group.get(key)
    if isinstance(value, bool) or not isinstance(value, int):
        raise _InvalidError
    return value


def _size(group: Any, key: str) -> tuple[int, int]:
    """Width and height."""
    values = group.get(key)
    if isinstance(values, str | bytes) or not hasattr(values, "__len__"):
        raise _InvalidError
    _require(len(values) == 2)
    width, height = values
    for value in (width, height):
        _require(isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MAX_SIZE)
    return width, height


def _is_within(indices: npt.NDArray[np.int32], count: int) -> bool:
    return bool(((indices >= 0) & (indices < count)).all())
