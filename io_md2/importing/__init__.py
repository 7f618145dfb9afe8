"""Import of MD2 files: everything is read and checked before the first data-block is made. Vertex i of the mesh is
vertex i of the file, even if unused; degenerate triangles are left out, as Blender meshes cannot hold them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import bpy
import numpy as np
import numpy.typing as npt
from bpy.types import Collection, Context, Material, Mesh, Object, Scene

from ...io_blender import versions
from ...io_blender.frames import models as frame_models
from ...io_blender.frames.options import ImportOptions
from ...io_blender.materials.library import MaterialLibrary
from ...io_blender.reports import ImportResult, Job
from ...io_blender.scene import mesh_data
from ...io_common import names
from ...io_common.game_tree.archives import readable
from ...io_common.texts import counted
from ...io_common.textures.conventions import MaterialImages
from ...io_common.textures.search import Search
from ...io_common.triangles import FLIPPED_WINDING, drop_degenerate, flip_v
from .. import format as md2
from ..format import Md2Error, Model
from ..format.frames import merge_vertices
from ..format.games import TEXTURE_RULES
from ..format.model import first_frame
from ..records import CORNER_ST, FRAME_RATE, SKINS, VERTEX, store_model

MAX_MATERIALS = 64
"""How many of a model's skins become materials: twice as many as the format's own tools take."""


@dataclass(eq=False)
class _File(frame_models.ModelFile):
    skins: list[MaterialImages] | None = None  # the images of the skins; None if they are not wanted


def import_files(context: Context, paths: list[Path], options: ImportOptions) -> Job[ImportResult]:
    """Imports MD2 files; raises Md2Error or OSError before anything is changed."""

    def read(path: Path, search: Search) -> _File:
        model = md2.read_model(readable(path))
        if options.animation != frame_models.NONE:
            frame_models.require_few_frames(model.frame_count, path, Md2Error)
        wanted = model.skins[:MAX_MATERIALS]
        return _File(path, model, skins=search.model(path, wanted).skins() if options.use_textures else None)

    def build(collection: Collection, file: _File, library: MaterialLibrary, result: ImportResult) -> None:
        materials = model_materials(file.path, file.model, file.skins, library)
        build_model(context.scene, collection, file.path, file.model, materials, options, result)

    return frame_models.import_models(context, paths, options, SKINS, TEXTURE_RULES, read, build)


def model_materials(
    path: Path, model: Model, found: list[MaterialImages] | None, library: MaterialLibrary
) -> list[Material]:
    """The materials of a model's skins; without images, those of the names that the file lists."""
    if found is not None:
        return library.skins(found, path.stem, str(path))
    return [library.get(name, path.stem, model=str(path)) for name in dict.fromkeys(model.skins[:MAX_MATERIALS])]


def build_model(
    scene: Scene,
    collection: Collection,
    path: Path,
    model: Model,
    materials: list[Material],
    options: ImportOptions,
    result: ImportResult,
) -> None:
    """Builds the object of a model of the file, named after it, with shape keys, actions and markers."""
    report = result.report
    if options.animation == frame_models.NONE:
        model = first_frame(model)
    if options.merge_vertices:
        before = model.vertex_count
        model = merge_vertices(model)
        report.count("merged vertices", before - model.vertex_count)
    frame_models.warn_of_degenerate(model.triangles, path.name, report)
    if len(model.skins) > MAX_MATERIALS:
        report.warn(
            f"materials were made for the first {MAX_MATERIALS} of {counted(len(model.skins), 'skins')}. An export "
            "keeps the names of the others",
            path.name,
        )
    positions: npt.NDArray[np.floating] = md2.decompress(model.vertices, model.scale, model.translate)
    if not options.conversion.is_identity:
        positions = options.conversion.points(positions.astype(np.float64))
    obj, mesh = _build_object(path.stem, model, positions[0], materials)
    if options.custom_normals and len(mesh.polygons):
        # Where an index is invalid, Blender's normal stays.
        normals = md2.normal_vectors(model.normals[0]).astype(np.float64) @ options.conversion.rotation.T
        mesh.normals_split_custom_set_from_vertices(normals.tolist())
    collection.objects.link(obj)
    sequences = md2.find_sequences(model.frame_names)
    key_names = frame_models.add_frames(
        scene, path.stem, {obj: positions}, model.frame_names, sequences, options, result
    )
    triangles = mesh_data.corner_vertices(mesh).reshape(-1, 3)[:, FLIPPED_WINDING]
    store_model(mesh, model, triangles, key_names, options)
    if options.fps != md2.FRAMES_PER_SECOND:
        FRAME_RATE.write(mesh, options.fps)
    result.objects.append(obj)
    report.count("vertices", model.vertex_count)
    report.count("triangles", len(mesh.polygons))


def _build_object(
    name: str, model: Model, positions: npt.NDArray[np.floating], materials: list[Material]
) -> tuple[Object, Mesh]:
    """A mesh object, in no collection yet; `positions` are of the first frame, in scene coordinates."""
    triangles, triangle_st = drop_degenerate(model.triangles, model.triangle_st)
    corner_st = triangle_st[:, FLIPPED_WINDING].ravel()
    fractions = md2.st_fractions(model.st, model.skin_width, model.skin_height).astype(np.float64)
    uvs = flip_v(fractions[corner_st])
    mesh = mesh_data.new_triangle_mesh(
        names.for_blender(name, versions.MAX_ID_NAME, "Model"),
        positions,
        triangles[:, FLIPPED_WINDING],
        uvs if len(uvs) else None,
    )
    mesh_data.set_integers(mesh, VERTEX, "POINT", np.arange(len(mesh.vertices)))
    if len(corner_st):
        mesh_data.set_integers(mesh, CORNER_ST, "CORNER", corner_st)
    for material in materials:
        mesh.materials.append(material)
    return bpy.data.objects.new(mesh.name, mesh), mesh
