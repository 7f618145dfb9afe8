"""The import of IQM files: everything is read and checked before the first data-block is made."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..io_blender.materials.library import MaterialLibrary
from ..io_blender.reports import ImportResult, Job, Progress, kept_on_failure
from ..io_blender.skeletal.importing.folder import add_facts, read_animations, read_folders
from ..io_blender.skeletal.importing.importer import build_files, finish_import, set_scene_timing
from ..io_blender.skeletal.importing.model import set_normals
from ..io_blender.skeletal.importing.plan import active_skeleton, read_user_map
from ..io_blender.skeletal.importing.sources import ImportSkeleton, SourceAnimation, SourceFiles, read_skeleton
from ..io_blender.skeletal.options import ImportOptions
from ..io_blender.skeletal.records import MESH_INDEX, SHADERS
from ..io_common.files import read_source
from ..io_common.game_tree.archives import files_in, readable
from ..io_common.skeletal.channels import without_bind_scales
from ..io_common.skeletal.skinning import bind_pose, vertex_normals
from ..io_common.textures.search import Search
from .format import Iqm, IqmError, animations_alone, bind_scales, parse_iqm, to_attributes, to_model
from .format.files import FORMAT, SUFFIX, holds_model
from .options import TEXTURE_RULES
from .records import load_file, store_action, store_file

if TYPE_CHECKING:
    from bpy.types import Context


def import_files(context: Context, paths: list[Path], options: ImportOptions) -> Job[ImportResult]:
    """Imports models and animations; raises IqmError or OSError before anything is changed."""
    result = ImportResult()
    with kept_on_failure(result.report):
        search, progress = Search(options.game_folders, TEXTURE_RULES), Progress()
        active = active_skeleton(context) if options.animation_folder is not None else None
        files = SourceFiles(FORMAT, joint_map=read_user_map(options.joint_map))
        models: dict[ImportSkeleton, Iqm] = {}
        progress.expect(2 * len(paths))
        for path in dict.fromkeys(paths):
            iqm = _read(path)
            if holds_model(iqm):
                model = to_model(iqm)
                files.skeletons.append(read_skeleton(path, model, search if options.use_textures else None))
                models[files.skeletons[-1]] = iqm
                for mesh in model.meshes:
                    # It follows the name of the object.
                    mesh.comment_name = mesh.name
            if iqm.animations:
                files.animations += read_animations(path, FORMAT)
            add_facts(result.report, path, iqm.warnings)
            yield progress.step()
        if options.animations != "NONE":
            yield from read_folders(options, files, result.report, active, progress)
        target = active_skeleton(context)
        known = [*models.values(), load_file(target.obj.data) if target is not None and target.obj else None]
        for source in files.animations:
            _remove_bind_scales(source, filter(None, known))
        materials = MaterialLibrary(SHADERS, search.palette)
        armatures = yield from build_files(context, files, options, materials, result, progress)
        materials.add_to_report(result.report, search.warnings)
        for skeleton, iqm in models.items():
            finish_model(skeleton, iqm, options)
        _store_animations(files.animations, {skeleton.path: iqm for skeleton, iqm in models.items()})
        if options.use_scene_timing and files.animations:
            set_scene_timing(context.scene, files.animations[0], options, result.report)
        finish_import(context, result, armatures)
    return result


def _read(path: Path) -> Iqm:
    if path.suffix.lower() != SUFFIX:
        raise IqmError("unknown file type", path=str(path), found=repr(path.suffix), expected=SUFFIX)
    return parse_iqm(*read_source(readable(path), str(path)), preserve=True)


def _remove_bind_scales(source: SourceAnimation, models: Iterable[Iqm]) -> None:
    """Makes the scales of an animation whose joints have no names relative to the bind pose of its model."""
    if source.scales is None or any(source.animation.names):
        return
    beside = []
    for path in files_in(source.path.parent):
        if path.suffix.lower() == SUFFIX:
            with suppress(IqmError, OSError):
                beside.append(_read(path))
    for iqm in (*models, *beside):
        if holds_model(iqm) and np.array_equal(iqm.joint_parents, source.animation.parents):
            source.scales = without_bind_scales(source.scales, iqm.joint_parents, bind_scales(iqm))
            return


def finish_model(skeleton: ImportSkeleton, iqm: Iqm, options: ImportOptions) -> None:
    """Stores the file, and gives the meshes what only IQM has."""
    armature, model, attributes = skeleton.obj, skeleton.model, to_attributes(iqm)
    assert armature is not None
    assert model is not None
    store_file(armature.data, iqm)
    for obj in armature.children:
        index = MESH_INDEX.read(obj.data)
        if index is not None:
            mesh, one = model.meshes[index], attributes[index]
            points = bind_pose(mesh, model.joints.positions, model.joints.orientations)[0]
            normals = vertex_normals(points, mesh.triangles) if one.normals is None else one.normals
            set_normals(obj.data, mesh, normals @ options.conversion.rotation.T, one.colors)


def _store_animations(animations: list[SourceAnimation], models: dict[Path | None, Iqm]) -> None:
    """Stores on each action which animation of which file it is."""
    by_path: dict[Path, list[SourceAnimation]] = {}
    for source in animations:
        by_path.setdefault(source.path, []).append(source)
    for path, sources in by_path.items():
        iqm = models.get(path) or _read(path)
        numbers = [number for number, one in enumerate(iqm.animations) if one.frame_count]
        is_alone = len(iqm.animations) == 1 and not holds_model(iqm)
        for number, source in zip(numbers, sources, strict=True):
            alone = iqm if is_alone else None if path in models else animations_alone(iqm, number)
            for action in source.actions:
                store_action(action, number, source.name, alone)
