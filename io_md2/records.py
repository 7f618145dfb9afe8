"""What an import stores in the property group ``md2`` of a mesh and in two attributes, and how it is read.
Values that are loaded are valid, but may be outdated: export uses them only where they reproduce what Blender shows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..io_blender import records
from ..io_blender.materials.images import size_of
from ..io_blender.materials.library import color_image, name_for_file
from .format import GlCommands, Md2Error, Model, find_sequences, validate_model
from .format.source_data import degenerate_rows

if TYPE_CHECKING:
    from bpy.types import Material, Mesh

    from ..io_blender.frames.options import ImportOptions

GROUP = "md2"  # the name of the property group

SKINS = records.MaterialRecord(GROUP, "skin", names_are_images=True)
"""What is stored on materials: the skin is the path of an image."""

MAX_RATE = 1000.0  # of frames
MAX_SKIN_SIZE = 32_767  # of its width and height

# What users can change.
FRAME_RATE = records.Number(GROUP, "frame_rate", 1e-2, MAX_RATE)
CHOSEN_SKIN_SIZE = records.Table(GROUP, "own_skin_size", "i4", 2, rows=1, lowest=1, highest=MAX_SKIN_SIZE)

# The file; if one of the values is not valid, none is used. Its coordinates can be calculated with in single precision.
_FIELDS: tuple[records.Field[Any], ...] = (
    records.Texts(GROUP, "frame_names"),
    records.Texts(GROUP, "key_names"),
    records.Integer(GROUP, "frame_start", lowest=-(2**31)),
    records.Bytes(GROUP, "grids", "<f4", 6, highest=1e30),
    records.Bytes(GROUP, "vertices", "u1"),
    records.Bytes(GROUP, "normals", "u1"),
    records.Bytes(GROUP, "triangles", "<i4", 3, lowest=0),
    records.Bytes(GROUP, "degenerate", "<i4", 7, lowest=0),
    records.Bytes(GROUP, "st", "<i2", 2),
    records.Bytes(GROUP, "gl_counts", "<i4"),
    records.Bytes(GROUP, "gl_st", "<f4", 2, highest=None),
    records.Bytes(GROUP, "gl_vertices", "<i4"),
    records.Table(GROUP, "skin_size", "i4", 2, rows=1, lowest=0, highest=65_536),
    records.Table(GROUP, "image_size", "i4", 2, rows=1, lowest=0, highest=65_536),
    records.Texts(GROUP, "skins"),
    records.Texts(GROUP, "material_skins"),
)
_CONVERSION = records.ConversionField(GROUP)

VERTEX = "md2_vertex"
"""The attribute with the vertex of the file that each vertex is."""

CORNER_ST = "md2_corner_st"
"""The attribute with the texture coordinate of the file that each corner of a face has."""

Ints = npt.NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class StoredModel(records.SourceFrames):
    """A model as it was imported, without the data that the mesh itself holds."""

    model: Model  # of its triangles the degenerate ones alone; without GL commands if vertices were merged
    triangles: Ints  # clockwise, without degenerate ones, (T, 3)
    degenerate: Ints  # index in the file, three vertices and three texture coordinates, (n, 7)
    image_size: tuple[int, int]  # of the image that import found; zeros if there was none
    material_skins: list[str]  # the skin name of each material of the mesh at the time of the import

    @property
    def skin_size(self) -> tuple[int, int]:
        """Of the file."""
        return self.model.skin_width, self.model.skin_height

    @property
    def source(self) -> Model:
        """The file, with all its triangles in another order."""
        return replace(self.model, triangles=np.concatenate([self.triangles, self.model.triangles]))


def image_size(materials: Iterable[Material | None]) -> tuple[int, int]:
    """Width and height of the first color image; zeros if there is none."""
    for material in materials:
        image = color_image(material) if material is not None else None
        size = size_of(image) if image is not None else (0, 0)
        if all(size):
            return size
    return 0, 0


def material_skins(materials: Iterable[Material | None], game_folders: Sequence[str]) -> list[str]:
    """The skins that an MD2 model names for materials."""
    return [name_for_file(material, SKINS, game_folders) for material in materials if material is not None]


def store_model(mesh: Mesh, model: Model, triangles: Ints, key_names: list[str], options: ImportOptions) -> None:
    """Stores a model of the file on the mesh that was made of it, which has its vertices and all its materials."""
    # `triangles` are those of the mesh, clockwise; `key_names` is empty without shape keys.
    values = {
        "frame_names": model.frame_names,
        "key_names": key_names,
        "frame_start": options.frame_start,
        "grids": np.hstack([model.scale, model.translate]),
        "vertices": model.vertices,
        "normals": model.normals,
        "triangles": triangles,
        "degenerate": degenerate_rows(model),
        "st": model.st,
        "gl_counts": model.gl_commands.counts,
        "gl_st": model.gl_commands.st,
        "gl_vertices": model.gl_commands.vertices,
        "skin_size": (model.skin_width, model.skin_height),
        "image_size": image_size(mesh.materials),
        "skins": model.skins,
        "material_skins": material_skins(mesh.materials, options.game_folders),
    }
    mesh[GROUP] = {}
    for field in _FIELDS:
        field.write(mesh, values[field.key])
    _CONVERSION.write(mesh, options.conversion)


def load_model(mesh: Mesh) -> StoredModel | None:
    """The stored model; None if a value is invalid. The size of the properties bounds the time it takes."""
    values: dict[str, Any] = {field.key: field.read(mesh) for field in _FIELDS}
    if any(value is None for value in values.values()):
        return None
    frame_names, key_names, degenerate = values["frame_names"], values["key_names"], values["degenerate"]
    skin_size, image_size = (tuple(values[key][0].tolist()) for key in ("skin_size", "image_size"))
    try:
        # The mesh has the corners of the other triangles.
        model = Model(
            skin_width=skin_size[0],
            skin_height=skin_size[1],
            skins=values["skins"],
            st=values["st"],
            triangles=degenerate[:, 1:4],
            triangle_st=degenerate[:, 4:],
            scale=values["grids"][:, :3],
            translate=values["grids"][:, 3:],
            frame_names=frame_names,
            vertices=values["vertices"].reshape(len(frame_names), -1, 3),
            normals=values["normals"].reshape(len(frame_names), -1),
            gl_commands=GlCommands(values["gl_counts"].ravel(), values["gl_st"], values["gl_vertices"].ravel()),
        )
        validate_model(model)
    except (Md2Error, ValueError):
        return None
    triangles = values["triangles"]
    if (triangles >= model.vertex_count).any() or len(key_names) not in (0, model.frame_count):
        return None
    return StoredModel(
        frame_names=frame_names,
        key_names=key_names,
        frame_start=values["frame_start"],
        sequence_names=[one.name for one in find_sequences(frame_names)],
        model=model,
        triangles=triangles,
        degenerate=degenerate,
        image_size=image_size,
        material_skins=values["material_skins"],
    )


def load_skin_size(mesh: Mesh) -> tuple[int, int] | None:
    """The width and height of the skin that the user has set; None if there is none."""
    size = CHOSEN_SKIN_SIZE.read(mesh)
    return None if size is None else (int(size[0, 0]), int(size[0, 1]))
