"""Import of MD2 files: everything is read and checked before the first data-block is made. Vertex i of the mesh is
vertex i of the file, even if unused; degenerate triangles are left out, as Blender meshes cannot hold them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import bpy
import numpy as np
import numpy.typing as npt

from ...io_blender import state, versions
from ...io_blender.clips.keyframes import add_markers
from ...io_blender.clips.shape_key_frames import build_actions, require_few_frames
from ...io_blender.frame_options import ImportProperties
from ...io_blender.materials.images import size_of
from ...io_blender.materials.library import MaterialLibrary, color_image, name_for_file
from ...io_blender.records import store_warnings
from ...io_blender.reports import ImportResult, Job, Progress, Report, kept_on_failure
from ...io_blender.scene import axes, mesh_data, names
from ...io_blender.scene.shape_keys import add_frame_keys, require_shape_keys
from ...io_common.game_tree.archives import readable
from ...io_common.texts import counted
from ...io_common.textures.config_files import MaterialImages
from ...io_common.textures.search import Search
from ...io_common.triangles import FLIPPED_WINDING, drop_degenerate, flip_v, is_degenerate
from ..format import (
    FRAMES_PER_SECOND,
    Md2Error,
    Model,
    decompress,
    find_sequences,
    normal_vectors,
    read_model,
    st_fractions,
)
from ..format.frames import merge_vertices
from ..format.model import first_frame
from ..options import TEXTURE_RULES
from ..records import FRAME_RATE, GROUP, SKINS, store_attributes, store_model

if TYPE_CHECKING:
    from bpy.types import Collection, Context, Material, Mesh, Object, Scene

RELATIVE, ABSOLUTE, NONE = "RELATIVE", "ABSOLUTE", "NONE"


MAX_MATERIALS = 64
"""How many of a model's skins become materials: twice as many as the format's own tools take."""


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


@dataclass(frozen=True)
class ImportOptions(ImportProperties):
    """The options of an import; images are searched in `game_folders` after the model's path."""

    game_folders: tuple[str, ...] = ()
    conversion: axes.Conversion = field(default_factory=axes.identity)


def import_files(context: Context, paths: list[Path], options: ImportOptions) -> Job[ImportResult]:
    """Imports MD2 files; raises Md2Error or OSError before anything is changed."""
    result = ImportResult()
    with kept_on_failure(result.report):
        yield from _import(context, paths, options, result)
    return result


def _import(context: Context, paths: list[Path], options: ImportOptions, result: ImportResult) -> Job[None]:
    models: dict[Path, Model] = {}
    progress = Progress(2 * len(paths))
    for path in dict.fromkeys(paths):
        models[path] = read_model(readable(path))
        for text in models[path].warnings:
            result.report.warn(text, path.name)
        yield progress.step()
    for path, model in models.items() if options.animation != NONE else ():
        require_few_frames(model.frame_count, path, Md2Error)
    search = Search(options.game_folders, TEXTURE_RULES)
    skins = {
        path: search.model(path, model.skins[:MAX_MATERIALS]).skins() if options.use_textures else None
        for path, model in models.items()
    }
    animated = [model for model in models.values() if model.frame_count > 1 and options.animation != NONE]
    state.switch_to_object_mode(context)
    materials = MaterialLibrary(SKINS)
    for path, model in models.items():
        collection = bpy.data.collections.new(names.for_blender(path.stem, versions.MAX_ID_NAME, "Model"))
        state.target_collection(context).children.link(collection)
        found = model_materials(path, model, skins[path], materials)
        build_model(context.scene, collection, path, model, found, options, result)
        yield progress.step()
    materials.add_to_report(result.report, search.warnings)
    if animated and options.use_scene_timing:
        _set_scene_timing(context.scene, animated[0], options, result.report)
    for obj in result.objects:
        store_warnings(obj.data, GROUP, result.report.warnings)
    state.select_only(context, result.objects, result.objects[0] if result.objects else None)


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
    if options.animation == NONE:
        model = first_frame(model)
    if options.merge_vertices:
        before = model.vertex_count
        model = merge_vertices(model)
        report.count("merged vertices", before - model.vertex_count)
    degenerate = int(is_degenerate(model.triangles).sum())
    if degenerate:
        report.warn(
            f"degenerate triangles, which Blender cannot hold, were left out of the mesh: {degenerate}. An export "
            "restores them",
            path.name,
        )
    if len(model.skins) > MAX_MATERIALS:
        report.warn(
            f"materials were made for the first {MAX_MATERIALS} of {counted(len(model.skins), 'skins')}. An export "
            "keeps the names of the others",
            path.name,
        )
    positions = _positions(model, options.conversion)

    obj, mesh = build_object(path.stem, model, positions[0], materials)
    if options.custom_normals:
        set_normals(mesh, model.normals[0], options.conversion.rotation)
    collection.objects.link(obj)
    key_names: list[str] = []
    if options.animation != NONE:
        key_names = add_frame_keys(obj, model.frame_names, positions, relative=options.animation != ABSOLUTE)
        report.count("frames", model.frame_count)
        if model.frame_count > 1:
            _animate(scene, path.stem, obj, model, options, result)
    _store(mesh, model, key_names, options)
    if options.fps != FRAMES_PER_SECOND:
        FRAME_RATE.write(mesh, options.fps)
    result.objects.append(obj)
    report.count("vertices", model.vertex_count)
    report.count("triangles", len(mesh.polygons))


def _positions(model: Model, conversion: axes.Conversion) -> npt.NDArray[np.floating]:
    """In the coordinates of the scene, (F, V, 3)."""
    positions = decompress(model.vertices, model.scale, model.translate)
    return positions if conversion.is_identity else conversion.points(positions.astype(np.float64))


def _animate(scene: Scene, name: str, obj: Object, model: Model, options: ImportOptions, result: ImportResult) -> None:
    sequences = find_sequences(model.frame_names)
    chosen = sequences if options.sequence_actions else ()
    keys = [require_shape_keys(obj)]
    whole, *parts = build_actions(name, keys, model.frame_count, chosen, options.frame_start)
    result.actions += [whole, *parts]
    result.divided += [whole] if parts else []
    add_markers(scene, [(sequence.name, options.frame_start + sequence.first) for sequence in sequences])
    result.report.count("sequences", len(sequences))


def _store(mesh: Mesh, model: Model, key_names: list[str], options: ImportOptions) -> None:
    triangles = mesh_data.corner_vertices(mesh)
    store_model(
        mesh,
        model,
        triangles.reshape(-1, 3)[:, FLIPPED_WINDING],
        key_names,
        frame_start=options.frame_start,
        image_size=image_size(mesh.materials),
        material_skins=material_skins(mesh.materials, options.game_folders),
        conversion=options.conversion,
    )


def _set_scene_timing(scene: Scene, model: Model, options: ImportOptions, report: Report) -> None:
    state.set_frame_rate(scene, options.fps, report)
    state.set_frame_range(scene, options.frame_start, options.frame_start + model.frame_count - 1)


def build_object(
    name: str, model: Model, positions: npt.NDArray[np.floating], materials: list[Material]
) -> tuple[Object, Mesh]:
    """A mesh object, in no collection yet; `positions` are of the first frame, in scene coordinates."""
    triangles, triangle_st = drop_degenerate(model.triangles, model.triangle_st)
    corner_st = triangle_st[:, FLIPPED_WINDING].ravel()
    fractions = st_fractions(model.st, model.skin_width, model.skin_height).astype(np.float64)
    uvs = flip_v(fractions[corner_st])
    mesh = mesh_data.new_triangle_mesh(
        names.for_blender(name, versions.MAX_ID_NAME, "Model"),
        positions,
        triangles[:, FLIPPED_WINDING],
        uvs if len(uvs) else None,
    )
    store_attributes(mesh, corner_st)
    for material in materials:
        mesh.materials.append(material)
    return bpy.data.objects.new(mesh.name, mesh), mesh


def set_normals(mesh: Mesh, indices: npt.NDArray[np.uint8], rotation: npt.NDArray[np.float64]) -> None:
    """Sets custom normals of a frame's vertices; where an index is invalid, Blender's normal stays."""
    # `rotation` goes from the axes of the file to those of the scene.
    if len(mesh.polygons):
        normals = normal_vectors(indices).astype(np.float64) @ rotation.T
        mesh.normals_split_custom_set_from_vertices(normals.tolist())
