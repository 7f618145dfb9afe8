"""The import of MD5 files: everything is read and checked before the first data-block is made."""

from __future__ import annotations

from pathlib import Path

from bpy.types import Context

from ...io_blender import state
from ...io_blender.materials.library import MaterialLibrary
from ...io_blender.reports import ImportResult, Job, Progress, Report, kept_on_failure
from ...io_blender.skeletal.importing.folder import add_facts, read_animations, read_fitting, read_folders
from ...io_blender.skeletal.importing.importer import build_files, finish_import, set_scene_timing
from ...io_blender.skeletal.importing.plan import active_skeleton, read_user_map
from ...io_blender.skeletal.importing.sources import ImportSkeleton, SourceFiles, read_skeleton
from ...io_blender.skeletal.records import SHADERS
from ...io_common.companions import Companion
from ...io_common.game_tree.archives import FilesByName, readable
from ...io_common.texts import counted
from ...io_common.textures.search import Search
from ..format import Camera, Md5Error, read_camera, read_mesh, timeline
from ..format.companions import TEXTURE_RULES, companion_skins, find_companion, game_of, quake_skins
from ..format.files import FORMAT
from ..format.games.profiles import Game
from ..format.model import ANIMATION_SUFFIX, CAMERA_SUFFIX, MESH_SUFFIX, SCALE_SUFFIX
from ..format.scale_file import read_scales
from ..options import ImportOptions
from .camera import build_camera_path


def import_files(context: Context, paths: list[Path], options: ImportOptions) -> Job[ImportResult]:
    """Imports md5mesh, md5anim and md5camera files; raises Md5Error or OSError before anything is changed."""
    result = ImportResult()
    with kept_on_failure(result.report):
        search = Search(options.game_folders, TEXTURE_RULES)
        active = active_skeleton(context) if options.animation_folder is not None else None
        progress = Progress()
        files, cameras = yield from _read_files(paths, options, search, result.report, active, progress)
        progress.expect(len(cameras))
        materials = MaterialLibrary(SHADERS, search.palette)
        armatures = yield from build_files(context, files, options, materials, result, progress)
        materials.add_to_report(result.report, search.warnings)
        for path, camera in cameras.items():
            build_camera_path(context, path.stem, camera, options, result)
            yield progress.step()
        if options.use_scene_timing and cameras:
            first = next(iter(cameras.values()))
            frames, _ = timeline(first.cuts, first.entry_count)
            state.set_frame_rate(context.scene, first.frame_rate, result.report)
            state.set_frame_range(context.scene, options.frame_start, options.frame_start + len(frames) - 1)
        elif options.use_scene_timing and files.animations:
            set_scene_timing(context.scene, files.animations[0], options, result.report)
        finish_import(context, result, armatures)
    return result


def _read_files(
    paths: list[Path],
    options: ImportOptions,
    search: Search,
    report: Report,
    active: ImportSkeleton | None,
    progress: Progress,
) -> Job[tuple[SourceFiles, dict[Path, Camera]]]:
    """The models and animations of all files, in any order, and the camera paths; raises Md5Error or OSError."""
    # `active` is the active armature, which animations of a folder have to fit if there is no model.
    files = SourceFiles(FORMAT, joint_map=read_user_map(options.joint_map))
    cameras: dict[Path, Camera] = {}
    # Of a folder, the number of files is not known yet.
    is_all = options.animations == "NONE"
    progress.expect(2 * len(paths) if is_all else 0)
    for path in dict.fromkeys(paths):
        suffix = path.suffix.lower()
        yield progress.step(1 if is_all else 0)
        if suffix == MESH_SUFFIX:
            model = read_mesh(readable(path))
            files.skeletons.append(read_skeleton(path, model, search if options.use_textures else None))
            add_facts(report, path, model.warnings)
        elif suffix == ANIMATION_SUFFIX:
            files.animations += read_animations(path, FORMAT)
            add_facts(report, path, files.animations[-1].animation.warnings)
        elif suffix == CAMERA_SUFFIX:
            cameras[path] = read_camera(readable(path))
            add_facts(report, path, cameras[path].warnings)
        else:
            raise Md5Error(
                "unknown file type", path=str(path), found=repr(suffix),
                expected=f"{MESH_SUFFIX}, {ANIMATION_SUFFIX} or {CAMERA_SUFFIX}",
            )  # fmt: skip
    if options.animations != "NONE":
        yield from read_folders(options, files, report, active, progress)
    if options.use_companions:
        folders = FilesByName()
        _read_companions(paths, options, files, search, folders, report)
        for source in files.animations:
            scale_path = folders.find(source.path.parent, source.path.stem + SCALE_SUFFIX)
            if scale_path is not None:
                scales = read_scales(readable(scale_path))
                source.scales, warnings = scales.table(source.animation.names, source.animation.frame_count)
                add_facts(report, scale_path, scales.warnings + warnings)
    return files, cameras


def _read_companions(
    paths: list[Path], options: ImportOptions, files: SourceFiles, search: Search, folders: FilesByName, report: Report
) -> None:
    """Adds what belongs to models and animations of the re-releases: the animation, skins and names of frames."""
    skeletons = iter(files.skeletons)
    for path in dict.fromkeys(paths):
        suffix = path.suffix.lower()
        if suffix not in (MESH_SUFFIX, ANIMATION_SUFFIX):
            continue
        companion, problem = find_companion(path, search, folders)
        if problem:
            report.warn(f"its skins and frame names are not used: {problem}")
        animation_path: Path | None = path
        if suffix == MESH_SUFFIX:
            skeleton = next(skeletons)
            _take_skins(path, skeleton, companion, options, search)
            animation_path = folders.find(path.parent, path.stem + ANIMATION_SUFFIX)
            is_wanted = options.animations == "NONE" and (companion is not None or game_of(path) is not None)
            if animation_path is not None and not files.has(animation_path) and is_wanted:
                read_fitting(animation_path, [skeleton], files, report, ("full", "part"))
        source = next((one for one in files.animations if one.path == animation_path), None)
        if companion is None or source is None:
            continue
        source.sequences = companion.sequences
        count, wanted = source.animation.frame_count, len(companion.frame_names)
        if count != wanted:
            report.warn(f"it has {counted(count, 'frames')}, but {companion.name} has {wanted}", source.path.name)


def _take_skins(
    path: Path, skeleton: ImportSkeleton, companion: Companion | None, options: ImportOptions, search: Search
) -> None:
    """Replaces the images of the shaders by those of the game's skins, where there are any."""
    model = skeleton.model
    assert model is not None
    if game_of(path) is Game.QUAKE or (companion is not None and companion.game is Game.QUAKE):
        skins = [quake_skins(path, mesh.shader, search) if options.use_textures else [] for mesh in model.meshes]
    else:
        skins = [companion_skins(path, companion, search)] * len(model.meshes)
    skeleton.skins = [[(skin.name, skin if options.use_textures else None) for skin in found[1:]] for found in skins]
    if options.use_textures:
        images = zip(skins, skeleton.images, strict=True)
        skeleton.images = [of_mesh[0] if of_mesh else found for of_mesh, found in images]
