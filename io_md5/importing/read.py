"""The first step of an import: all files are read and checked; the scene is not changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from ...io_blender.reports import Job, Progress, Report, printable
from ...io_common.errors import message_for
from ...io_common.game_tree import files as game_files
from ...io_common.game_tree.archives import FilesByName, files_in, readable, unpacked_size
from ...io_common.game_tree.files import Budget
from ...io_common.skeletal.skeleton import Fit, Match, depths, match_joints
from ...io_common.texts import counted, matches
from ...io_common.textures.conventions import MaterialImages
from ...io_common.textures.search import Search
from ..format import (
    Animation,
    AnimationHeader,
    Camera,
    Joints,
    Md5Error,
    Model,
    read_animation,
    read_animation_header,
    read_camera,
    read_mesh,
)
from ..format.games import Game
from ..format.model import ANIMATION_SUFFIX, CAMERA_SUFFIX, MESH_SUFFIX, SCALE_SUFFIX
from ..format.scale_file import Scales, read_scales
from ..options import ImportOptions
from .companions import Companion, companion_skins, find_companion, game_of, quake_skins
from .transfer import UserMap, count_mapped, read_user_map

if TYPE_CHECKING:
    from bpy.types import Object

# Many times what any game accepts. Blender's time grows with the square of the first two, and it visits child bones
# recursively: a chain of some ten thousand bones crashes it.
_MAX_JOINTS, _MAX_MESHES, _MAX_DEPTH = 4096, 4096, 1000

_REMEDY = ". Animation Between Skeletons (Properties > Object Data > MD5) transfers those of other skeletons"


@dataclass(eq=False)
class ImportSkeleton:
    """A skeleton that an animation can be imported onto: an armature of the scene, or one to be built."""

    name: str  # of the file or object
    joints: Joints  # in the coordinates of the file
    obj: Object | None = None  # None until it is built
    is_edited: bool = False  # whether bones of the import have another rest pose than the file
    model: Model | None = None
    # Found for each mesh's shader; empty if textures are off.
    images: list[MaterialImages] = field(default_factory=list)
    # For each mesh, the names of further skins and their images, None if textures are off.
    skins: list[list[tuple[str, MaterialImages | None]]] = field(default_factory=list)
    path: Path | None = None  # None for an armature of the scene


@dataclass(eq=False)
class SourceFiles:
    """The contents of the files to import."""

    skeletons: list[ImportSkeleton] = field(default_factory=list)
    animations: dict[Path, Animation] = field(default_factory=dict)
    cameras: dict[Path, Camera] = field(default_factory=dict)
    scales: dict[Path, Scales] = field(default_factory=dict)  # of joints, by the path of the animation
    joint_map: UserMap | None = None
    # The model whose frames those of an animation are, by the path of the animation.
    companions: dict[Path, Companion] = field(default_factory=dict)


def read_files(
    paths: list[Path],
    options: ImportOptions,
    search: Search,
    report: Report,
    active: ImportSkeleton | None,
    progress: Progress,
) -> Job[SourceFiles]:
    """The contents of all files, in any order; raises Md5Error or OSError."""
    # `active` is the active armature, which animations of a folder have to fit if there is no model.
    files = SourceFiles(joint_map=read_user_map(options.joint_map))
    # Of a folder, the number of files is not known yet.
    is_all = options.animations == "NONE"
    progress.expect(2 * len(paths) if is_all else 0)
    for path in dict.fromkeys(paths):
        suffix = path.suffix.lower()
        yield progress.step(1 if is_all else 0)
        if suffix == MESH_SUFFIX:
            model = read_mesh(readable(path))
            check_size(model.joints, len(model.meshes), path)
            files.skeletons.append(ImportSkeleton(path.stem, model.joints, model=model, path=path))
            if options.use_textures:
                images = search.model(path, [mesh.shader for mesh in model.meshes])
                files.skeletons[-1].images = [
                    images.material(mesh.shader, mesh.name or mesh.comment_name or None) for mesh in model.meshes
                ]
            _warn_all(report, path, model.warnings)
        elif suffix == ANIMATION_SUFFIX:
            files.animations[path] = read_animation(readable(path))
            _warn_all(report, path, files.animations[path].warnings)
        elif suffix == CAMERA_SUFFIX:
            files.cameras[path] = read_camera(readable(path))
            _warn_all(report, path, files.cameras[path].warnings)
        else:
            raise Md5Error(
                "unknown file type", path=str(path), found=repr(suffix),
                expected=f"{MESH_SUFFIX}, {ANIMATION_SUFFIX} or {CAMERA_SUFFIX}",
            )  # fmt: skip
    if options.animations != "NONE":
        yield from _read_folders(paths, options, files, report, active, progress)
    if options.use_companions:
        folders = FilesByName()
        _read_companions(paths, options, files, search, folders, report)
        for path, animation in files.animations.items():
            scale_path = folders.find(path.parent, path.stem + SCALE_SUFFIX)
            if scale_path is not None:
                scales = files.scales[path] = read_scales(readable(scale_path))
                _warn_all(report, scale_path, scales.warnings)
                _warn_all(report, scale_path, scales.table(animation.names, animation.frame_count)[1])
    return files


def check_size(joints: Joints, mesh_count: int, path: Path) -> None:
    """Raises Md5Error if too many bones or objects would freeze Blender, or too deep a hierarchy crash it."""
    depth = int(depths(joints.parents).max(initial=-1)) + 1
    for count, limit, reason in (
        (len(joints), _MAX_JOINTS, "too many joints"),
        (mesh_count, _MAX_MESHES, "too many meshes"),
        (depth, _MAX_DEPTH, "parent chain too deep"),
    ):
        if count > limit:
            raise Md5Error(reason, path=str(path), found=str(count), expected=f"at most {limit}")


def _read_folders(
    paths: list[Path],
    options: ImportOptions,
    files: SourceFiles,
    report: Report,
    active: ImportSkeleton | None,
    progress: Progress,
) -> Job[None]:
    """Adds the animations of the models' folders, or of a folder for the active armature."""
    folders = [path.parent for path in paths if path.suffix.lower() == MESH_SUFFIX]
    skeletons = files.skeletons
    if not folders and active is not None and options.animation_folder is not None:
        folders, skeletons = [options.animation_folder], [active]
    chosen = options.chosen if options.animations == "CHOOSE" else None
    before, limits = len(files.animations), Budget()
    for folder in dict.fromkeys(options.animation_folder or folder for folder in folders):
        paths = [
            path
            for path in animation_paths(folder)
            if matches(path.stem, options.animation_filter)
            and (chosen is None or printable(path.name) in chosen)
            and path not in files.animations
        ]
        read = within_budget(paths, limits)
        if len(read) < len(paths):
            report.warn(
                f"{counted(len(paths) - len(read), 'animations')} left out: the archives hold more than"
                f" {game_files.MAX_DATA >> 20} MB of them"
            )
        # Then an action is made of each.
        progress.expect(2 * len(read))
        for path in read:
            _read_fitting(path, skeletons, files, report, ("full",) if chosen is None else ("full", "part", "none"))
            yield progress.step()
    if not folders or len(files.animations) > before:
        return
    if files.joint_map is not None and files.joint_map.pairs:
        report.warn("no animation was imported: the joint map names none of their joints and the bones of the model")
    elif active is not None or options.animation_filter.strip():
        matching = f" and matches {options.animation_filter!r}" if options.animation_filter.strip() else ""
        report.warn(f"no animation was imported: none in the folder fits{matching}{_REMEDY if active else ''}")


def _read_fitting(
    path: Path, skeletons: list[ImportSkeleton], files: SourceFiles, report: Report, fits: tuple[Fit, ...]
) -> None:
    """Adds an animation if it fits well enough; an unreadable file is only a warning."""
    # One without an equal joint fits if it can be transferred. A joint map that names joints of both makes any fit. Of
    # one that does not fit, only the head has to be valid.
    found = read_animation_file(path, [skeleton.joints for skeleton in skeletons])
    error, animation = found.error, None
    sources = set(found.header.names) if found.header is not None else set()
    pairs = files.joint_map.pairs if files.joint_map is not None else {}
    bones = {name for skeleton in skeletons for name in skeleton.joints.names}
    is_mapped = any(source in sources and bone in bones for bone, source in pairs.items())
    if error is None and (is_mapped or found.fit in fits):
        try:
            animation = read_animation(readable(path))
        except (Md5Error, OSError) as problem:
            error = problem
    if error is not None:
        report.warn(f"skipped: {message_for(error, (Md5Error,))}")
    elif animation is not None and (
        is_mapped or found.fit != "none" or any(count_mapped(path, animation, one) for one in skeletons)
    ):
        files.animations[path] = animation
        _warn_all(report, path, animation.warnings)
    elif "part" in fits and found.fit == "none":
        report.warn(f"skipped: no bone matches a joint of the animation{_REMEDY}", path.name)


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
            if animation_path is not None and animation_path not in files.animations and is_wanted:
                _read_fitting(animation_path, [skeleton], files, report, ("full", "part"))
        if companion is None or animation_path not in files.animations:
            continue
        assert animation_path is not None
        files.companions[animation_path] = companion
        count, wanted = files.animations[animation_path].frame_count, len(companion.frame_names)
        if count != wanted:
            report.warn(f"it has {counted(count, 'frames')}, but {companion.name} has {wanted}", animation_path.name)


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
    skeleton.skins = [
        [(skin.name, skin if options.use_textures else None) for skin in of_mesh[1:]] for of_mesh in skins
    ]
    if options.use_textures:
        images = zip(skins, skeleton.images, strict=True)
        skeleton.images = [of_mesh[0] if of_mesh else found for of_mesh, found in images]


def _warn_all(report: Report, path: Path, warnings: list[str]) -> None:
    for text in warnings:
        report.warn(text, path.name)


@dataclass(frozen=True, eq=False)
class AnimationFile:
    """A file in a list of animations."""

    path: Path
    header: AnimationHeader | None = None  # None if it cannot be read
    match: Match | None = None  # with the skeleton that it fits best
    error: Exception | None = None  # why it cannot be read

    @property
    def fit(self) -> Fit:
        """How it fits; not at all if it cannot be read."""
        return self.match.fit if self.match is not None else "none"


def animation_paths(folder: Path) -> list[Path]:
    """The animations in a folder on disk or in an archive, by name; raises OSError."""
    return [path for path in files_in(folder) if path.suffix.lower() == ANIMATION_SUFFIX]


def within_budget(paths: Sequence[Path], budget: Budget) -> list[Path]:
    """The first of some files, as many as may be unpacked from archives; those on disk do not count."""
    for index, path in enumerate(paths):
        try:
            size = unpacked_size(path)
        except OSError:
            # Reading it tells why.
            continue
        if not budget.take("data", size):
            return list(paths[:index])
    return list(paths)


def read_animation_file(path: Path, skeletons: Sequence[Joints]) -> AnimationFile:
    """An animation of which only the head is read, with its best fit; errors are in the result."""
    try:
        return match_file(path, read_animation_header(readable(path)), skeletons)
    except (Md5Error, OSError) as error:
        # A traceback holds the text of the file.
        return AnimationFile(path, error=error.with_traceback(None))


def match_file(path: Path, header: AnimationHeader, skeletons: Sequence[Joints]) -> AnimationFile:
    """An animation whose head has been read; for the arguments see `read_animation_file`."""
    matches = [match_joints(header, joints) for joints in skeletons]
    best = max(matches, key=lambda match: (match.is_complete, len(match.joints)), default=None)
    return AnimationFile(path, header, best)
