"""Import of MD3 files: everything is read and checked before the first data-block is made. A model is an empty with a
mesh object for each surface; vertex i of a mesh is vertex i of its surface, unless vertices are merged."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import numpy.typing as npt
from bpy.types import Collection, Context, LayerCollection, Material, Mesh, Object

from ...io_blender import state, versions
from ...io_blender.clips.keyframes import SequenceActions
from ...io_blender.frames import models as frame_models
from ...io_blender.materials.library import MaterialLibrary, name_for_file
from ...io_blender.reports import ImportResult, Job
from ...io_blender.scene import mesh_data
from ...io_common import names
from ...io_common.files import read_source
from ...io_common.game_tree.archives import readable
from ...io_common.game_tree.files import FileReadError
from ...io_common.textures.search import ModelSearch, Search
from ...io_common.triangles import FLIPPED_WINDING, flip_v, is_degenerate
from ...io_md5.format.companions import find_companion
from .. import format as md3
from .. import records
from ..format import Md3Error, Surface
from ..format.games import TEXTURE_RULES
from ..format.model import same_positions
from ..format.sequences import CONFIG_NAME, Sequence, is_played_by, parse_animation_config, sequences_of
from ..options import ImportOptions
from ..players import HEAD, JOINTS, LOWER, PARTS, UPPER, find_player
from ..records import PlayerFiles
from ..tags import build_tags, hang_on_tag

# The share of normals that are wrong in whole, not at some sharp edges.
_MANY = 0.1

# Of detail, at the end of the names of files: Quake III loads up to three (`tr_model.c`, `MD3_MAX_LODS`).
_LEVELS = ("1", "2")

_MAX_TEXT = 1 << 20


@dataclass(eq=False)
class _File(frame_models.ModelFile):
    """A file that was read; the model has its first frame alone if no shape keys are made."""

    data: bytes = b""
    sequences: list[Sequence] = field(default_factory=list)
    materials: list[list[Any]] = field(default_factory=list)  # of each surface, the images of each material
    player: PlayerFiles | None = None  # if it is a part of a player


def import_files(context: Context, paths: list[Path], options: ImportOptions) -> Job[ImportResult]:
    """Imports MD3 files; raises Md3Error or OSError before anything is changed."""
    roots: dict[Path, Object] = {}
    # The parts of a player share theirs.
    actions: dict[Path, SequenceActions] = defaultdict(SequenceActions)

    def read(path: Path, search: Search) -> _File:
        file = _read(path, search, options)
        if options.animation != frame_models.NONE and _is_part(path, paths):
            file.player = _player_files(file, search)
        return file

    def build(collection: Collection, file: _File, library: MaterialLibrary, result: ImportResult) -> None:
        key = file.path.parent if file.player is not None else file.path
        roots[file.path] = _build(context, collection, file, library, options, result, actions[key])
        _join_players(roots)

    paths = sorted(paths, key=lambda path: _level_of_detail(path, paths))
    result = yield from frame_models.import_models(
        context, paths, options, records.SHADERS, TEXTURE_RULES, read, build, are_parts=True
    )
    for path, root in roots.items():
        player = find_player(context.scene, root) if path.stem.lower() == LOWER and records.PLAYER.read(root) else None
        if player is not None:
            rate, first, last = player.begin(context)
            if options.use_scene_timing:
                state.set_frame_rate(context.scene, rate, result.report)
                state.set_frame_range(context.scene, first, last)
    details = {root.users_collection[0] for path, root in roots.items() if _level_of_detail(path, paths)}
    for layer in _layers(context.view_layer.layer_collection) if details else ():
        if layer.collection in details:
            layer.hide_viewport = layer.collection.hide_render = True
    return result


def _level_of_detail(path: Path, paths: Iterable[Path]) -> int:
    """Which level of detail a model is of another one of the files, such as 1 for `gun_1.md3`; 0 for none."""
    stem, _, number = path.stem.rpartition("_")
    return int(number) if number in _LEVELS and path.with_name(stem + path.suffix) in paths else 0


def _is_part(path: Path, paths: Iterable[Path]) -> bool:
    """Whether a file is a part of a player of which at least legs and torso are imported."""
    names = {one.stem.lower() for one in paths if one.parent == path.parent}
    return path.stem.lower() in PARTS and names >= {LOWER, UPPER}


def _player_files(file: _File, search: Search) -> PlayerFiles | None:
    """What is stored of a part of a player; None without its sequences."""
    part, tree = file.path.stem.lower(), search.folder_of(file.path).files
    known = [is_played_by(part, one.name) for one in file.sequences]
    is_player = part == HEAD or (bool(known) and all(known))
    config, skins = tree.get(CONFIG_NAME), tree.files("", ".skin")
    found = [*([config] if config is not None else []), *(skins[key] for key in skins if key.startswith(f"{part}_"))]
    try:
        texts = tuple((one.name, one.read(_MAX_TEXT).decode("latin-1")) for one in found if is_player)
    except FileReadError as error:
        file.model.warnings.append(str(error))
        return None
    return PlayerFiles(part, file.path.parent.name, texts) if is_player else None


def _layers(layer: LayerCollection) -> Iterator[LayerCollection]:
    yield layer
    for child in layer.children:
        yield from _layers(child)


def _read(path: Path, search: Search, options: ImportOptions) -> _File:
    data, name = read_source(readable(path), str(path))
    model = md3.parse_model(data, name)
    if options.animation == frame_models.NONE:
        model = md3.first_frame(model)
        data = md3.format_model(model)
    else:
        frame_models.require_few_frames(model.frame_count, path, Md3Error)
    config: list[Sequence] = []
    file = search.folder_of(path).files.get(CONFIG_NAME)
    if file is not None:
        try:
            config = parse_animation_config(file.read_text())
        except FileReadError as error:
            model.warnings.append(str(error))
    shaders = [shader for surface in model.surfaces for shader in surface.shaders]
    found = search.model(path, shaders)
    materials = [
        _materials(found, surface, number, use_textures=options.use_textures)
        for number, surface in enumerate(model.surfaces)
    ]
    # Quake counts the frames of the MDL that the model replaces.
    replaced = find_companion(path, search)[0]
    is_replaced = replaced is not None and len(replaced.frame_names) == model.frame_count
    frame_names = replaced.frame_names if replaced is not None and is_replaced else model.frame_names
    sequences = sequences_of(path.stem, frame_names, options.fps, config, model.warnings)
    rate = sequences[0].frame_rate if sequences else None
    return _File(path, model, rate, data, sequences, materials)


def _materials(found: ModelSearch, surface: Surface, number: int, *, use_textures: bool) -> list[tuple[str, Any]]:
    """The names of the materials of a surface, with their images."""
    # Games show the images of a .skin file instead of those of the surface.
    named = found.skin_materials(surface.name)
    wanted = named or list(dict.fromkeys(surface.shaders))
    if not use_textures:
        return [(name, None) for name in wanted]
    images = [found.material(name, surface.name, number) for name in wanted]
    skins = [] if named else found.mesh_skins(surface.name, number)
    if skins and not any(one.diffuse is not None and one.diffuse != skins[0].diffuse for one in images):
        # The first skin is the image of all shaders; without any, it is a material of its own.
        images += skins[1 if images else 0 :]
    return [(one.name, one) for one in images]


def _build(
    context: Context,
    collection: Collection,
    file: _File,
    library: MaterialLibrary,
    options: ImportOptions,
    result: ImportResult,
    actions: SequenceActions,
) -> Object:
    """The empty of a model, with the objects of its surfaces and tags."""
    model = file.model
    shapes: dict[Object, npt.NDArray[np.floating]] = {}
    name = names.for_blender(file.path.stem, versions.MAX_ID_NAME, "Model")
    # Surfaces come first, so that they have their names, and not a file of the same name.
    for number, surface in enumerate(model.surfaces):
        materials = [library.get(one, name, found, str(file.path)) for one, found in file.materials[number]]
        obj, points = _build_surface(surface, number, materials, options, result)
        shapes[obj] = points
    root = bpy.data.objects.new(name, None)
    root.empty_display_type = "PLAIN_AXES"
    result.objects.append(root)
    for obj in (root, *shapes):
        collection.objects.link(obj)
    for obj in shapes:
        obj.parent = root
    player = ""
    if file.player is not None:
        records.PLAYER.write(root, file.player)
        player, options = root.name, replace(options, sequence_actions=True)
    key_names = frame_models.add_frames(
        context.scene, name, shapes, model.frame_names, file.sequences, options, result, actions, player
    )
    build_tags(context, root, model, file.sequences if options.sequence_actions else [], options, result, actions)
    records.store_model(root, file.data, key_names, options.frame_start, tuple(file.sequences))
    records.CONVERSION.write(root, options.conversion)
    for obj in shapes:
        found = [name_for_file(material, records.SHADERS, options.game_folders) for material in obj.data.materials]
        records.MATERIAL_NAMES.write(obj.data, found)
    return root


def _build_surface(
    surface: Surface, number: int, materials: list[Material], options: ImportOptions, result: ImportResult
) -> tuple[Object, npt.NDArray[np.floating]]:
    """The object of a surface, with the shape of the first frame, and its vertices in the scene, (F, V, 3)."""
    report, conversion = result.report, options.conversion
    vertices, triangles, shown = np.arange(surface.vertex_count), surface.triangles, surface.vertices
    if options.merge_vertices:
        vertices = same_positions(surface.vertices)
        shown = shown[:, np.unique(vertices, return_index=True)[1]]
        report.count("merged vertices", surface.vertex_count - shown.shape[1])
    points: npt.NDArray[np.floating] = md3.positions(shown)
    if not conversion.is_identity:
        points = conversion.points(points.astype(np.float64))
    kept = ~is_degenerate(vertices[triangles])
    frame_models.warn_of_degenerate(triangles, surface.name, report, " while the surface is not edited")
    corners = triangles[kept][:, FLIPPED_WINDING].ravel()
    uvs = flip_v(surface.st.astype(np.float64))[corners]
    name = names.for_blender(surface.name, versions.MAX_ID_NAME, "Surface")
    mesh = mesh_data.new_triangle_mesh(name, points[0], vertices[corners].reshape(-1, 3), uvs if len(uvs) else None)
    if len(corners):
        mesh_data.set_integers(mesh, records.CORNER_VERTEX, "CORNER", corners)
    if not options.merge_vertices:
        mesh_data.set_integers(mesh, records.VERTEX, "POINT", vertices)
    for material in materials:
        mesh.materials.append(material)
    if len(corners):
        normals = md3.normal_vectors(surface.normals[0])[corners]
        if options.custom_normals and _set_normals(mesh, normals, conversion.rotation) > _MANY:
            report.warn(
                "many normals of the file point into the surface: turn off Custom Normals if it looks wrong",
                surface.name,
            )
        _store_shown_normals(mesh, normals, conversion.rotation)
    records.NUMBER.write(mesh, number)
    records.CONVERSION.write(mesh, conversion)
    obj = bpy.data.objects.new(name, mesh)
    result.objects.append(obj)
    report.count("vertices", len(mesh.vertices))
    report.count("triangles", len(mesh.polygons))
    return obj, points


def _set_normals(mesh: Mesh, normals: npt.NDArray[np.float32], rotation: npt.NDArray[np.float64]) -> float:
    """Sets custom normals of corners (L, 3) in the axes of the file; the share that points into the surface."""
    in_scene = (normals @ rotation.T).astype(np.float32)
    mesh.normals_split_custom_set(in_scene.tolist())
    facing = mesh_data.read_array(mesh.polygon_normals, "vector", 3)[:, None]
    return float(((in_scene.reshape(-1, 3, 3) * facing).sum(axis=2) < 0.0).mean())


def _store_shown_normals(mesh: Mesh, normals: npt.NDArray[np.float32], rotation: npt.NDArray[np.float64]) -> None:
    """Stores by which normals Blender shades corners (L, 3), in the axes of the file, where those differ from it."""
    in_file = mesh_data.read_array(mesh.corner_normals, "vector", 3) @ rotation
    if ((in_file * normals).sum(axis=1) < records.SAME_NORMAL).any():
        records.SHOWN_NORMALS.write(mesh, md3.nearest_normals(in_file))


def _join_players(roots: dict[Path, Object]) -> None:
    """Hangs the parts of a Quake III player, if they were imported together, on the tags of each other."""
    for path, root in roots.items():
        is_weapon = path.parent.parent.name.lower() == "weapons2"
        below, tag_name = (UPPER, "tag_weapon") if is_weapon else JOINTS.get(path.stem.lower(), ("", ""))
        for other, other_root in roots.items():
            if (is_weapon or other.parent == path.parent) and other.stem.lower() == below:
                hang_on_tag(root, other_root, tag_name)
