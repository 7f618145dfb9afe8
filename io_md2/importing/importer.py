"""Import of MD2 files: everything is read and checked before the first data-block is made."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import bpy
import numpy as np
import numpy.typing as npt

from ...io_blender import state, versions
from ...io_blender.clips.markers import add_markers
from ...io_blender.materials.library import MaterialLibrary
from ...io_blender.records import store_warnings
from ...io_blender.reports import Report, kept_on_failure, progress
from ...io_blender.results import ImportResult
from ...io_blender.scene import axes, mesh_data, names
from ...io_blender.scene.shape_keys import add_frame_keys
from ...io_common.counting import counted
from ...io_common.game_data.paths import readable
from ...io_common.textures.material_images import MaterialImages
from ...io_common.textures.search import Search
from ...io_common.triangles import FLIPPED_WINDING, is_degenerate
from ..format import (
    FRAMES_PER_SECOND,
    Md2Error,
    Model,
    decompress,
    find_sequences,
    merge_vertices,
    read_model,
)
from ..format.model import first_frame
from ..records import FRAME_RATE, GROUP, SKINS, store_model
from .frames import ABSOLUTE, NONE, RELATIVE, build_actions
from .mesh import build_object, set_normals
from .skins import MAX_MATERIALS, image_size, material_skins
from .texture_rules import TEXTURE_RULES

if TYPE_CHECKING:
    from bpy.types import Collection, Context, Material, Mesh, Object, Scene

# Many times the limit of any game. Blender's time grows with the square of their number.
_MAX_KEYS = 10_000


@dataclass(frozen=True)
class ImportOptions:
    """What the user asks for.

    Attributes:
        merge_vertices: merge vertices that have the same position in every frame.
        custom_normals: use the normals of the file, those of its first frame, instead of Blender's own.
        animation: 'RELATIVE' or 'ABSOLUTE' shape keys, or 'NONE': the first frame alone, without keys.
        frame_start: the scene frame of the first frame of the file.
        fps: the scene's frames a second, if `use_scene_timing` is set.
        sequence_actions: make an action for each sequence, besides the one of all frames.
        use_scene_timing: set the scene's frame rate and range by the first model that has several frames.
        use_textures: load the images of the skins.
        game_folders: where images are searched, besides the game folder in a model's path.
        conversion: scale and axes.
    """

    merge_vertices: bool = False
    custom_normals: bool = False
    animation: str = RELATIVE
    frame_start: int = 0
    fps: float = FRAMES_PER_SECOND
    sequence_actions: bool = False
    use_scene_timing: bool = True
    use_textures: bool = True
    game_folders: tuple[str, ...] = ()
    conversion: axes.Conversion = field(default_factory=axes.identity)


def import_files(context: Context, paths: list[Path], options: ImportOptions) -> ImportResult:
    """Imports MD2 files.

    Raises Md2Error if a file is not a valid MD2 model, and OSError if one cannot be read; nothing is changed then.
    """
    result = ImportResult()
    with kept_on_failure(result.report):
        _import(context, paths, options, result)
    return result


def _import(context: Context, paths: list[Path], options: ImportOptions, result: ImportResult) -> None:
    models: dict[Path, Model] = {}
    for path in dict.fromkeys(paths):
        models[path] = read_model(readable(path))
        for text in models[path].warnings:
            result.report.warn(text, path.name)
    if options.animation != NONE:
        check_size(models)
    search = Search(options.game_folders, TEXTURE_RULES)
    skins = {
        path: search.model(path, model.skins[:MAX_MATERIALS]).skins() if options.use_textures else None
        for path, model in models.items()
    }
    animated = [model for model in models.values() if model.frame_count > 1 and options.animation != NONE]
    with progress(len(models)) as steps:
        state.switch_to_object_mode(context)
        materials = MaterialLibrary(SKINS)
        for path, model in models.items():
            collection = bpy.data.collections.new(names.for_blender(path.stem, versions.MAX_ID_NAME, "Model"))
            state.target_collection(context).children.link(collection)
            found = model_materials(path, model, skins[path], materials)
            build_model(context.scene, collection, path, model, found, options, result)
            steps.step()
        materials.add_to_report(result.report, search.warnings)
    if animated and options.use_scene_timing:
        _set_scene_timing(context.scene, animated[0], options, result.report)
    for obj in result.objects:
        store_warnings(obj.data, GROUP, result.report.warnings)
    state.select_only(context, result.objects, result.objects[0] if result.objects else None)


def check_size(models: dict[Path, Model]) -> None:
    """Raises Md2Error if the models have more frames than Blender can hold as shape keys."""
    for path, model in models.items():
        if model.frame_count > _MAX_KEYS:
            raise Md2Error(
                "too many frames for shape keys", path=str(path), found=str(model.frame_count),
                expected=f"at most {_MAX_KEYS}: set Animation to None to import the first frame alone",
            )  # fmt: skip


def model_materials(
    path: Path, model: Model, found: list[MaterialImages] | None, library: MaterialLibrary
) -> list[Material]:
    """The materials of a model's skins; without images, those of the names that the file lists."""
    if found is not None:
        return library.skins(found, path.stem, str(path))
    return [
        library.get(name, path.stem, model=str(path)) for name in dict.fromkeys(model.skins[:MAX_MATERIALS])
    ]


def build_model(
    scene: Scene,
    collection: Collection,
    path: Path,
    model: Model,
    materials: list[Material],
    options: ImportOptions,
    result: ImportResult,
) -> None:
    """Builds the object of a model, its shape keys and actions, and adds the markers to the scene.

    The object is named after the file and linked to `collection`. `model` is as in the file; all faces get the first
    material.
    """
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
    """Every vertex of every frame in the coordinates of the scene, (F, V, 3)."""
    positions = decompress(model.vertices, model.scale, model.translate)
    return positions if conversion.is_identity else conversion.points(positions.astype(np.float64))


def _animate(
    scene: Scene, name: str, obj: Object, model: Model, options: ImportOptions, result: ImportResult
) -> None:
    """Builds the actions and markers of a model with several frames."""
    whole, *parts = build_actions(
        name, obj, model, frame_start=options.frame_start, per_sequence=options.sequence_actions
    )
    result.actions += [whole, *parts]
    result.divided += [whole] if parts else []
    sequences = find_sequences(model.frame_names)
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
    """Sets the frame rate and range of the scene to those of a model."""
    state.set_frame_rate(scene, options.fps, report)
    state.set_frame_range(scene, options.frame_start, options.frame_start + model.frame_count - 1)
