"""The import of IQM files: everything is read and checked before the first data-block is made."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..io_blender.materials.library import MaterialLibrary
from ..io_blender.reports import ImportResult, Job, Progress, kept_on_failure
from ..io_blender.skeletal.importing.folder import add_facts, named_animations, read_folders
from ..io_blender.skeletal.importing.importer import build_files, finish_import, set_scene_timing
from ..io_blender.skeletal.importing.model import set_normals
from ..io_blender.skeletal.importing.plan import active_skeleton, read_user_map
from ..io_blender.skeletal.importing.sources import ImportSkeleton, SourceAnimation, SourceFiles, read_skeleton
from ..io_blender.skeletal.options import ImportOptions
from ..io_blender.skeletal.records import MESH_INDEX, SHADERS
from ..io_common.files import read_source
from ..io_common.game_tree.archives import listed_files, readable
from ..io_common.skeletal.channels import without_bind_scales
from ..io_common.texts import counted
from ..io_common.textures.search import Search
from .format import Iqm, IqmError, bind_scales, parse_iqm, to_attributes, to_model
from .format.files import FORMAT, SUFFIX, animations_in
from .options import TEXTURE_RULES
from .records import load_file, store_action, store_file

if TYPE_CHECKING:
    from bpy.types import Context


def import_files(context: Context, paths: list[Path], options: ImportOptions) -> Job[ImportResult]:
    """Imports models and animations; raises IqmError or OSError before anything is changed."""
    result = ImportResult()
    with kept_on_failure(result.report):
        search, progress = Search(options.game_folders, TEXTURE_RULES), Progress()
        active = active_skeleton(context)
        files = SourceFiles(FORMAT, joint_map=read_user_map(options.joint_map))
        read: dict[Path, Iqm] = {}
        progress.expect(2 * len(paths))
        for path in dict.fromkeys(paths):
            iqm = read[path] = _read(path)
            if iqm.holds_model:
                model = to_model(iqm)
                files.skeletons.append(read_skeleton(path, model, search if options.use_textures else None))
                for mesh in model.meshes:
                    # It follows the name of the object.
                    mesh.comment_name = mesh.name
            if not iqm.holds_model and not iqm.animations:
                raise IqmError("the file is empty: it has no model and no animations", path=str(path))
            files.animations += named_animations(path, FORMAT, animations_in(iqm) if iqm.animations else [])
            add_facts(result.report, path, iqm.warnings)
            yield progress.step()
        if options.animations != "NONE":
            in_folder = active if options.animation_folder is not None else None
            yield from read_folders(options, files, result.report, in_folder, progress)
        known = [*read.values(), load_file(active.obj.data) if active is not None and active.obj else None]
        for source in files.animations:
            _name_joints(source, known, active)
        materials = MaterialLibrary(SHADERS, search.palette)
        armatures = yield from build_files(context, files, options, materials, result, progress)
        materials.add_to_report(result.report, search.warnings)
        for skeleton in files.skeletons:
            assert skeleton.path is not None
            finish_model(skeleton, read[skeleton.path], options)
        _store_animations(files, read)
        if options.use_scene_timing and files.animations:
            set_scene_timing(context.scene, files.animations[0], options, result.report)
        finish_import(context, result, armatures)
    return result


def _read(path: Path) -> Iqm:
    if path.suffix.lower() != SUFFIX:
        raise IqmError("unknown file type", path=str(path), found=repr(path.suffix), expected=SUFFIX)
    return parse_iqm(*read_source(readable(path), str(path)), preserve=True)


def _name_joints(source: SourceAnimation, known: list[Iqm | None], active: ImportSkeleton | None) -> None:
    """Gives an animation without names of joints those of its model, and scales relative to the bind pose of that;
    raises IqmError if there is no such model, and the active armature has other bones."""
    parents = source.animation.parents
    if any(source.animation.names):
        return
    for iqm in chain(known, _read_beside(source.path)):
        if iqm is not None and iqm.joint_names and np.array_equal(iqm.joint_parents, parents):
            source.animation.names = list(iqm.joint_names)
            if source.scales is not None:
                source.scales = without_bind_scales(source.scales, iqm.joint_parents, bind_scales(iqm))
            return
    if active is None or not np.array_equal(active.joints.parents, parents):
        reason = "its joints have no names, and no model beside it has the same joints: import its model first"
        raise IqmError(reason, path=str(source.path), found=counted(len(parents), "joints"))


def _read_beside(path: Path) -> Iterator[Iqm]:
    for other in listed_files(path.parent, SUFFIX):
        with suppress(IqmError, OSError):
            yield _read(other)


def finish_model(skeleton: ImportSkeleton, iqm: Iqm, options: ImportOptions) -> None:
    """Stores the file, and gives the meshes what only IQM has."""
    armature, model, attributes = skeleton.obj, skeleton.model, to_attributes(iqm)
    assert armature is not None
    assert model is not None
    store_file(armature.data, iqm)
    for obj in armature.children:
        index = MESH_INDEX.read(obj.data)
        if index is not None:
            one = attributes[index]
            assert one.normals is not None
            set_normals(obj.data, model.meshes[index], one.normals @ options.conversion.rotation.T, one.colors)


def _store_animations(files: SourceFiles, read: dict[Path, Iqm]) -> None:
    """Stores on each action which animation of which file it is."""
    models = {skeleton.path for skeleton in files.skeletons}
    numbers: dict[Path, Iterator[int]] = {}
    for source in files.animations:
        path = source.path
        iqm = read[path] = read.get(path) or _read(path)
        number = next(numbers.setdefault(path, (n for n, one in enumerate(iqm.animations) if one.frame_count)))
        for action in source.actions:
            store_action(action, source.name, iqm, number, in_model=path in models)
