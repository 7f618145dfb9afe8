"""Import of MD3 files: everything is read and checked before the first data-block is made. A model is an empty with a
mesh object for each surface; vertex i of a mesh is vertex i of its surface, unless vertices are merged."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
import numpy.typing as npt

from ...io_blender import state, versions
from ...io_blender.clips.keyframes import add_markers
from ...io_blender.clips.shape_key_frames import build_actions, require_few_frames
from ...io_blender.materials.library import MaterialLibrary, name_for_file
from ...io_blender.records import store_warnings
from ...io_blender.reports import ImportResult, Job, Progress, kept_on_failure
from ...io_blender.scene import axes, mesh_data, names
from ...io_blender.scene.shape_keys import add_frame_keys, require_shape_keys
from ...io_common.files.reading import read_source
from ...io_common.game_tree.archives import readable
from ...io_common.game_tree.files import FileReadError
from ...io_common.textures.search import Search
from ...io_common.triangles import FLIPPED_WINDING, flip_v, is_degenerate
from ..format import (
    Md3Error,
    Model,
    Surface,
    first_frame,
    format_model,
    nearest_normals,
    normal_vectors,
    parse_model,
    positions,
)
from ..format.frames import same_positions
from ..format.sequences import CONFIG_NAME, Sequence, parse_animation_config, sequences_of
from ..options import TEXTURE_RULES, ImportProperties
from ..records import (
    CONVERSION,
    CORNER_VERTEX,
    GROUP,
    MATERIAL_NAMES,
    SAME_NORMAL,
    SHADERS,
    SHOWN_NORMALS,
    VERTEX,
    store_model,
    store_number,
)
from .tags import build_tags

if TYPE_CHECKING:
    from bpy.types import Collection, Context, Material, Mesh, Object

ABSOLUTE, NONE = "ABSOLUTE", "NONE"

# The share of normals that are wrong in whole, not at some sharp edges.
_MANY = 0.1

# The part of a Quake III player that hangs on another one, and the tag that it hangs on.
_JOINTS = {"upper": ("lower", "tag_torso"), "head": ("upper", "tag_head")}


@dataclass(frozen=True)
class ImportOptions(ImportProperties):
    """The options of an import; images are searched in `game_folders` after the model's path."""

    game_folders: tuple[str, ...] = ()
    conversion: axes.Conversion = field(default_factory=axes.identity)


@dataclass(eq=False)
class _File:
    """A file that was read."""

    path: Path
    data: bytes
    model: Model  # with its first frame alone if no shape keys are made
    sequences: list[Sequence]
    materials: list[list[Any]]  # of each surface, the images of each material

    @property
    def frame_rate(self) -> float | None:
        """That of the animation.cfg, None without one."""
        return self.sequences[0].frame_rate if self.sequences else None


def import_files(context: Context, paths: list[Path], options: ImportOptions) -> Job[ImportResult]:
    """Imports MD3 files; raises Md3Error or OSError before anything is changed."""
    result = ImportResult()
    with kept_on_failure(result.report):
        yield from _import(context, paths, options, result)
    return result


def _import(context: Context, paths: list[Path], options: ImportOptions, result: ImportResult) -> Job[None]:
    report = result.report
    progress = Progress(2 * len(paths))
    search = Search(options.game_folders, TEXTURE_RULES)
    files: list[_File] = []
    for path in dict.fromkeys(paths):
        files.append(_read(path, search, options))
        for text in files[-1].model.warnings:
            report.warn(text, path.name)
        yield progress.step()
    state.switch_to_object_mode(context)
    library = MaterialLibrary(SHADERS)
    roots: dict[Path, Object] = {}
    for file in files:
        name = names.for_blender(file.path.stem, versions.MAX_ID_NAME, "Model")
        collection = bpy.data.collections.new(name)
        state.target_collection(context).children.link(collection)
        roots[file.path] = _build(context, collection, name, file, library, options, result)
        yield progress.step()
    _join_players(roots)
    library.add_to_report(report, search.warnings)
    animated = [file for file in files if file.model.frame_count > 1 and options.animation != NONE]
    if animated and options.use_scene_timing:
        last = options.frame_start + max(file.model.frame_count for file in animated) - 1
        state.set_frame_rate(context.scene, animated[0].frame_rate or options.fps, report)
        state.set_frame_range(context.scene, options.frame_start, last)
    for obj in result.objects:
        if obj.type == "MESH":
            store_warnings(obj.data, GROUP, report.warnings)
    active = next((obj for obj in result.objects if obj.type == "MESH"), None)
    state.select_only(context, result.objects, active or next(iter(roots.values()), None))


def _read(path: Path, search: Search, options: ImportOptions) -> _File:
    data, name = read_source(readable(path), str(path))
    model = parse_model(data, name)
    if options.animation == NONE:
        model = first_frame(model)
        data = format_model(model)
    else:
        require_few_frames(model.frame_count, path, Md3Error)
    config: list[Sequence] = []
    file = search.folder_of(path).files.get(CONFIG_NAME)
    if file is not None:
        try:
            config = parse_animation_config(file.read_text())
        except FileReadError as error:
            model.warnings.append(str(error))
    shaders = [shader for surface in model.surfaces for shader in surface.shaders]
    found = search.model(path, shaders)
    materials: list[list[Any]] = []
    for surface in model.surfaces:
        # Games show the images of a .skin file instead of those of the surface.
        wanted = found.skin_materials(surface.name) or list(dict.fromkeys(surface.shaders))
        images = [found.material(name, surface.name) if options.use_textures else None for name in wanted]
        materials.append(list(zip(wanted, images, strict=True)))
    sequences = sequences_of(path.stem, model.frame_names, options.fps, config)
    return _File(path, data, model, sequences, materials)


def _build(
    context: Context,
    collection: Collection,
    name: str,
    file: _File,
    library: MaterialLibrary,
    options: ImportOptions,
    result: ImportResult,
) -> Object:
    """The empty of a model, with the objects of its surfaces and tags."""
    model, report = file.model, result.report
    meshes = []
    # Surfaces come first, so that they have their names, and not a file of the same name.
    for number, surface in enumerate(model.surfaces):
        materials = [library.get(one, name, found, str(file.path)) for one, found in file.materials[number]]
        meshes.append(_build_surface(surface, number, materials, options, result))
    root = bpy.data.objects.new(name, None)
    root.empty_display_type = "PLAIN_AXES"
    result.objects.append(root)
    for obj in (root, *meshes):
        collection.objects.link(obj)
    for obj in meshes:
        obj.parent = root
    key_names: list[str] = []
    if options.animation != NONE:
        for obj, surface in zip(meshes, model.surfaces, strict=True):
            key_names = _add_keys(obj, model, surface, options)
        report.count("frames", model.frame_count)
    is_moving = options.animation != NONE and model.frame_count > 1
    if is_moving and meshes:
        chosen = file.sequences if options.sequence_actions else ()
        keys = [require_shape_keys(obj) for obj in meshes]
        whole, *parts = build_actions(name, keys, model.frame_count, chosen, options.frame_start)
        result.actions += [whole, *parts]
        result.divided += [whole] if parts else []
    if is_moving:
        starts = [(one.name, options.frame_start + one.first) for one in file.sequences]
        add_markers(context.scene, starts)
        report.count("sequences", len(starts))
    build_tags(context, collection, root, model, options.tags, options.frame_start, options.conversion, result)
    rate = file.frame_rate or options.fps
    store_model(root, file.data, key_names, options.frame_start, tuple(file.sequences), rate)
    CONVERSION.write(root, options.conversion)
    for obj in meshes:
        found = [name_for_file(material, SHADERS, options.game_folders) for material in obj.data.materials]
        MATERIAL_NAMES.write(obj.data, found)
    return root


def _build_surface(
    surface: Surface, number: int, materials: list[Material], options: ImportOptions, result: ImportResult
) -> Object:
    """The object of a surface, with the shape of the first frame."""
    report = result.report
    points = options.conversion.points(positions(surface.vertices[0]).astype(np.float64))
    vertices, triangles = np.arange(surface.vertex_count), surface.triangles
    if options.merge_vertices:
        vertices = same_positions(surface.vertices)
        report.count("merged vertices", surface.vertex_count - len(np.unique(vertices)))
    firsts = np.unique(vertices, return_index=True)[1]
    kept = ~is_degenerate(vertices[triangles])
    degenerate = int(is_degenerate(triangles).sum())
    if degenerate:
        report.warn(
            f"degenerate triangles, which Blender cannot hold, were left out of the mesh: {degenerate}. An export "
            "restores them while the surface is not edited",
            surface.name,
        )
    corners = triangles[kept][:, FLIPPED_WINDING].ravel()
    uvs = flip_v(surface.st.astype(np.float64))[corners]
    name = names.for_blender(surface.name, versions.MAX_ID_NAME, "Surface")
    mesh = mesh_data.new_triangle_mesh(
        name, points[firsts], vertices[corners].reshape(-1, 3), uvs if len(uvs) else None
    )
    if len(corners):
        mesh_data.set_integers(mesh, CORNER_VERTEX, "CORNER", corners)
    if not options.merge_vertices:
        mesh_data.set_integers(mesh, VERTEX, "POINT", vertices)
    for material in materials:
        mesh.materials.append(material)
    if options.custom_normals and len(corners):
        normals = normal_vectors(surface.normals[0])[corners]
        if _set_normals(mesh, normals, options.conversion.rotation) > _MANY:
            report.warn(
                "many normals of the file point into the surface: turn off Custom Normals if it looks wrong",
                surface.name,
            )
    store_number(mesh, number, options.conversion)
    obj = bpy.data.objects.new(name, mesh)
    result.objects.append(obj)
    report.count("vertices", len(mesh.vertices))
    report.count("triangles", len(mesh.polygons))
    return obj


def _set_normals(mesh: Mesh, normals: npt.NDArray[np.float32], rotation: npt.NDArray[np.float64]) -> float:
    """Sets custom normals of corners (L, 3) in the axes of the file; the share that points into the surface."""
    # Those that Blender makes of them are stored where they differ.
    in_scene = (normals @ rotation.T).astype(np.float32)
    mesh.normals_split_custom_set(in_scene.tolist())
    shown = np.empty_like(normals)
    mesh.corner_normals.foreach_get("vector", shown.ravel())
    in_file = shown @ rotation
    if ((in_file * normals).sum(axis=1) < SAME_NORMAL).any():
        SHOWN_NORMALS.write(mesh, nearest_normals(in_file))
    facing = np.empty((len(mesh.polygons), 1, 3), dtype=np.float32)
    mesh.polygon_normals.foreach_get("vector", facing.ravel())
    return float(((in_scene.reshape(-1, 3, 3) * facing).sum(axis=2) < 0.0).mean())


def _add_keys(obj: Object, model: Model, surface: Surface, options: ImportOptions) -> list[str]:
    """Makes the shape keys of a surface; the names that they have in Blender."""
    points: npt.NDArray[np.floating] = positions(surface.vertices)
    if options.merge_vertices:
        points = points[:, np.unique(same_positions(surface.vertices), return_index=True)[1]]
    if not options.conversion.is_identity:
        points = options.conversion.points(points.astype(np.float64))
    return add_frame_keys(obj, model.frame_names, points, relative=options.animation != ABSOLUTE)


def _join_players(roots: dict[Path, Object]) -> None:
    """Hangs the parts of a Quake III player, if they were imported together, on the tags of each other."""
    for path, root in roots.items():
        below, tag_name = _JOINTS.get(path.stem.lower(), ("", ""))
        for other, other_root in roots.items():
            if other.parent == path.parent and other.stem.lower() == below:
                tags = [tag for tag in other_root.children if names.without_copy_suffix(tag.name) == tag_name]
                if tags and tags[0].type == "EMPTY":
                    root.parent = tags[0]
