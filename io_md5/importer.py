"""Files into the scene: everything is read and checked before the first data-block is made."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import bpy
import numpy as np

from ..io_common.error_messages import message_for
from ..io_common.materials.library import MaterialLibrary
from ..io_common.materials.source import MD5
from ..io_common.reports import Progress, Report, listing, progress
from ..io_common.scene import axes, names, state, versions
from ..io_common.textures.search import MaterialImages, Search
from .conversion import convert_animation, convert_joints, convert_model
from .format import Animation, Camera, Joints, Md5Error, Model, read_animation, read_camera, read_mesh
from .format import quaternions as quat
from .format.model import Floats
from .format.skeleton import compose, depths
from .format.skinning import bind_pose
from .import_anim import Match, build_action, match_joints
from .import_armature import build_armature
from .import_camera import build_camera, frame_count, set_render_size
from .import_mesh import build_mesh
from .import_verification import verify_import
from .rig import read_rig
from .source.armatures import read_conversion, store_armature

if TYPE_CHECKING:
    from bpy.types import Action, Context, Object

MESH_SUFFIX = ".md5mesh"
ANIMATION_SUFFIX = ".md5anim"
CAMERA_SUFFIX = ".md5camera"

# Many times what any game takes. Blender's time grows with the square of the first two; and it goes down a skeleton by
# calling itself, which ends it some ten thousand joints down.
_MOST_JOINTS, _MOST_MESHES, _DEEPEST = 4096, 4096, 1000

# Weights that disagree about a vertex by more than this part of the model's size are reported.
_NOTABLE_DISAGREEMENT = 1e-5


@dataclass(frozen=True)
class ImportOptions:
    """What the user asks for.

    Attributes:
        merge_vertices: make one vertex of the copies along UV seams.
        bone_direction: 'CHILD' (bones point to their children) or 'JOINT' (bones have the axes of the joints).
        animations: 'NONE', or 'FOLDER' for those beside a mesh whose joints are the same.
        animation_folder: the folder to look in instead of the mesh's own.
        frame_start: the scene frame of the first frame of an animation.
        use_scene_timing: set the scene's frame rate and range by the first camera, else the first animation.
        use_render_size: make the scene's picture 4:3, which a camera's field of view is for.
        use_textures: give the materials their images.
        game_folders: where images are looked for, besides the game folder that a model's path shows.
        conversion: scale and axes.
        use_conversion_of_armature: an animation takes the scale and axes that its armature was imported with.
    """

    merge_vertices: bool = True
    bone_direction: str = "CHILD"
    animations: str = "NONE"
    animation_folder: Path | None = None
    frame_start: int = 0
    use_scene_timing: bool = True
    use_render_size: bool = False
    use_textures: bool = True
    game_folders: tuple[str, ...] = ()
    conversion: axes.Conversion = field(default_factory=axes.identity)
    use_conversion_of_armature: bool = True


@dataclass(eq=False)
class ImportResult:
    """What was made.

    Attributes:
        objects: armatures, each followed by its meshes, then cameras.
        actions: one for each animation.
        report: counts and warnings.
    """

    objects: list[Object] = field(default_factory=list)
    actions: list[Action] = field(default_factory=list)
    report: Report = field(default_factory=Report)


@dataclass(eq=False)
class _Skeleton:
    """A skeleton that animations may be for: in the scene already, or about to be made.

    Attributes:
        name: of the file or object.
        joints: names and parents say what fits; places are those of the file.
        obj: the armature, once it is there.
        model: the file with its meshes, where there is one.
        images: what was found for the shader of each mesh; empty if textures are left out.
    """

    name: str
    joints: Joints
    obj: Object | None = None
    model: Model | None = None
    images: list[MaterialImages] = field(default_factory=list)


def import_files(context: Context, paths: list[Path], options: ImportOptions) -> ImportResult:
    """Imports md5mesh, md5anim and md5camera files.

    An animation goes to the models of the same call that it fits best, else to the active armature, else to the
    one armature of the scene that it fits; where there is none at all, it makes its own.

    Args:
        context: of the scene and view layer.
        paths: the files, in any order.
        options: what the user asks for.

    Raises:
        Md5Error: a file cannot be understood, or an animation fits no armature; nothing was changed.
        OSError: a file cannot be read; nothing was changed.
    """
    result = ImportResult()
    search = Search(options.game_folders)
    skeletons, animations, cameras = _read(paths, options, search, result.report)
    plan = _plan(context, skeletons, animations)
    steps = sum(len(skeleton.model.meshes) + 1 for skeleton in skeletons if skeleton.model)
    with progress(steps + len(plan) + len(cameras)) as shown:
        state.switch_to_object_mode(context)
        materials = MaterialLibrary(MD5)
        for skeleton in dict.fromkeys([*skeletons, *(target for _, target in plan)]):
            if skeleton.obj is None:
                _build_model(context, skeleton, options, materials, result, shown)
        materials.add_to_report(result.report, search.warnings)
        for path, target in plan:
            _build_animation(context, path.stem, animations[path], target, options, result)
            shown.step()
        for path, camera in cameras.items():
            _build_camera(context, path.stem, camera, options, result)
            shown.step()
    _set_scene_timing(context.scene, cameras, animations, options, result.report)
    if result.objects:
        state.select_only(context, result.objects, result.objects[0])
    return result


# Reading and planning: nothing of Blender is changed


def _read(
    paths: list[Path], options: ImportOptions, search: Search, report: Report
) -> tuple[list[_Skeleton], dict[Path, Animation], dict[Path, Camera]]:
    """Reads all files."""
    skeletons: list[_Skeleton] = []
    animations: dict[Path, Animation] = {}
    cameras: dict[Path, Camera] = {}
    for path in dict.fromkeys(paths):
        suffix = path.suffix.lower()
        if suffix == MESH_SUFFIX:
            model = read_mesh(path)
            _check_size(model.joints, len(model.meshes), path)
            skeletons.append(_Skeleton(path.stem, model.joints, model=model))
            if options.use_textures:
                skeletons[-1].images = _find_images(path, model, search)
            _warn_all(report, path, model.warnings)
        elif suffix == ANIMATION_SUFFIX:
            animations[path] = read_animation(path)
            _warn_all(report, path, animations[path].warnings)
        elif suffix == CAMERA_SUFFIX:
            cameras[path] = read_camera(path)
            _warn_all(report, path, cameras[path].warnings)
        else:
            raise Md5Error(
                "unknown kind of file", path=str(path), found=repr(suffix),
                expected=f"{MESH_SUFFIX}, {ANIMATION_SUFFIX} or {CAMERA_SUFFIX}",
            )  # fmt: skip
    if options.animations == "FOLDER":
        meshes = [path for path in paths if path.suffix.lower() == MESH_SUFFIX]
        for folder in dict.fromkeys(options.animation_folder or path.parent for path in meshes):
            _read_folder(folder, skeletons, animations, report)
    return skeletons, animations, cameras


def _check_size(joints: Joints, mesh_count: int, path: Path) -> None:
    """Checks that Blender can show a model: it would freeze over too many bones or objects, and crash on deep ones.

    Raises:
        Md5Error: there is too much of something.
    """
    deepest = int(depths(joints.parents).max(initial=-1)) + 1
    for found, most, what in (
        (len(joints), _MOST_JOINTS, "joints"),
        (mesh_count, _MOST_MESHES, "meshes"),
        (deepest, _DEEPEST, "joints hanging on each other"),
    ):
        if found > most:
            raise Md5Error(
                f"more {what} than Blender can show",
                path=str(path),
                found=str(found),
                expected=f"at most {most}",
            )


def _read_folder(
    folder: Path, skeletons: list[_Skeleton], animations: dict[Path, Animation], report: Report
) -> None:
    """Adds the animations of a folder that are for exactly one of the skeletons; a bad file is only a warning."""
    for path in sorted(folder.iterdir()):
        if path.suffix.lower() != ANIMATION_SUFFIX or path in animations:
            continue
        try:
            animation = read_animation(path)
        except (Md5Error, OSError) as error:
            report.warn(f"left out: {message_for(error, (Md5Error,))}")
            continue
        if any(match_joints(animation, skeleton.joints).is_complete for skeleton in skeletons):
            animations[path] = animation
            _warn_all(report, path, animation.warnings)


def _find_images(path: Path, model: Model, search: Search) -> list[MaterialImages]:
    """Finds the images of each mesh's shader."""
    place = search.model(path, [mesh.shader for mesh in model.meshes])
    return [place.md5_material(mesh.shader, mesh.name or mesh.comment_name or None) for mesh in model.meshes]


def _warn_all(report: Report, path: Path, warnings: list[str]) -> None:
    for text in warnings:
        report.warn(text, path.name)


def _plan(
    context: Context, skeletons: list[_Skeleton], animations: dict[Path, Animation]
) -> list[tuple[Path, _Skeleton]]:
    """Which skeleton each animation is for.

    Raises:
        Md5Error: an animation fits none, or several equally well.
    """
    active, others = _armatures_of_scene(context) if animations else (None, [])
    plan: list[tuple[Path, _Skeleton]] = []
    made: list[_Skeleton] = []
    for path, animation in animations.items():
        # Models of one skeleton, such as a man and his armour, all get it.
        targets = _best([*skeletons, *made], animation)
        if not targets and active is not None:
            targets = _best([active], animation)
        if not targets:
            targets = _best(others, animation)
            if len(targets) > 1:
                raise Md5Error(
                    "the animation fits several armatures", path=str(path),
                    found=listing([skeleton.name for skeleton in targets]), expected="one of them made active",
                )  # fmt: skip
        if not targets:
            present = [skeleton.name for skeleton in [*skeletons, *([active] if active else []), *others]]
            if present:
                raise Md5Error(
                    "no joint of the animation has the name of a bone", path=str(path),
                    found=listing(animation.names), expected=f"joints of {listing(present)}",
                )  # fmt: skip
            targets = [_Skeleton(path.stem, _bind_of(animation))]
            _check_size(targets[0].joints, 0, path)
            made += targets
        for target in targets:
            if target.obj is not None:
                _check_editable(target.obj, path)
            plan.append((path, target))
    return plan


def _check_editable(armature: Object, path: Path) -> None:
    """Checks that an armature can be given an action that stays when the .blend is saved.

    Raises:
        Md5Error: it is another file's.
    """
    override = armature.override_library
    if armature.library is not None:
        where = f"is linked from {Path(armature.library.filepath).name}"
    elif override is not None and override.is_system_override:
        where = "is a library override that cannot be edited"
    else:
        return
    raise Md5Error(
        "the armature cannot be animated here", path=str(path), found=f"that {armature.name} {where}",
        expected="an armature of this .blend, or an editable library override of it",
    )  # fmt: skip


def _armatures_of_scene(context: Context) -> tuple[_Skeleton | None, list[_Skeleton]]:
    """The active armature, or that of the active mesh; and the others."""
    active = context.view_layer.objects.active
    if active is not None and active.type != "ARMATURE":
        active = active.find_armature()
    found = [
        _Skeleton(obj.name_full, read_rig(obj.data).joints, obj=obj)
        for obj in context.view_layer.objects
        if obj.type == "ARMATURE" and obj.data.bones
    ]
    first = next((skeleton for skeleton in found if skeleton.obj == active), None)
    return first, [skeleton for skeleton in found if skeleton is not first]


def _best(skeletons: list[_Skeleton], animation: Animation) -> list[_Skeleton]:
    """The skeletons that have most of the joints; none if none has any."""
    scores = [len(match_joints(animation, skeleton.joints).joints) for skeleton in skeletons]
    best = max(scores, default=0)
    if best == 0:
        return []
    return [skeleton for skeleton, score in zip(skeletons, scores, strict=True) if score == best]


def _bind_of(animation: Animation) -> Joints:
    """A bind pose for an animation without a model: its base frame."""
    orientations = quat.with_w(animation.base_orientations)
    positions, orientations = compose(animation.parents, animation.base_positions, orientations)
    return Joints(animation.names, animation.parents, positions, orientations)


# Building


def _build_model(
    context: Context,
    skeleton: _Skeleton,
    options: ImportOptions,
    materials: MaterialLibrary,
    result: ImportResult,
    shown: Progress,
) -> None:
    """Makes the armature of a skeleton, and the meshes that hang on it, in a collection of its own."""
    conversion = options.conversion
    model = convert_model(skeleton.model or Model(skeleton.joints, []), conversion)
    if skeleton.model is None:
        model.joints = convert_joints(model.joints, conversion)
    collection = bpy.data.collections.new(names.for_blender(skeleton.name, versions.MAX_ID_NAME, "Model"))
    state.target_collection(context).children.link(collection)
    joints = model.joints
    poses = [bind_pose(mesh, joints.positions, joints.orientations) for mesh in model.meshes]
    size = _size(joints, [vertices for vertices, _ in poses])
    obj, bone_names = build_armature(
        context, skeleton.name, joints, collection, size=size, direction=options.bone_direction
    )
    store_armature(obj.data, model.commandline, conversion)
    versions.expect_slot(obj.animation_data_create())
    skeleton.obj = obj
    result.objects.append(obj)
    result.report.count("joints", len(joints))
    shown.step()
    _warn_of_disagreements([distances for _, distances in poses], size, skeleton.name, result.report)
    for index, mesh in enumerate(model.meshes):
        name = mesh.comment_name or mesh.name or _base_name(mesh.shader) or skeleton.name
        images = skeleton.images[index] if skeleton.images else None
        material = materials.get(mesh.shader, skeleton.name, images)
        part = build_mesh(
            name,
            index,
            mesh,
            poses[index][0],
            obj,
            bone_names,
            material,
            merge_vertices=options.merge_vertices,
        )
        collection.objects.link(part)
        result.objects.append(part)
        result.report.count("meshes")
        result.report.count("vertices", len(part.data.vertices))
        result.report.count("triangles", len(part.data.polygons))
        shown.step()


def _size(joints: Joints, vertices: list[Floats]) -> float:
    """The diagonal of the box around vertices and joints."""
    cloud = np.concatenate([joints.positions, *vertices])
    return float(np.linalg.norm(np.ptp(cloud, axis=0))) if len(cloud) else 0.0


def _base_name(shader: str) -> str:
    """The last part of a shader's name without its extension."""
    last = shader.replace("\\", "/").rstrip("/").rpartition("/")[2]
    return last.rpartition(".")[0] or last


def _warn_of_disagreements(off: list[Floats], size: float, name: str, report: Report) -> None:
    distances = np.concatenate([np.empty(0), *off])
    notable = distances > _NOTABLE_DISAGREEMENT * size
    if notable.any():
        report.warn(
            f"the weights of {int(notable.sum())} vertices disagree about their place in the bind pose, by up to "
            f"{distances.max():.4g} units ({distances.max() / size:.2%} of the model): in motion Blender draws them "
            "off by as much",
            name,
        )


def _build_animation(
    context: Context,
    name: str,
    animation: Animation,
    target: _Skeleton,
    options: ImportOptions,
    result: ImportResult,
) -> None:
    """Makes the action of an animation; the first of an armature becomes its active one."""
    obj = target.obj
    assert obj is not None
    conversion = read_conversion(obj.data) if options.use_conversion_of_armature else options.conversion
    rig = read_rig(obj.data)
    match = match_joints(animation, rig.joints)
    _warn_of_mismatch(match, name, result.report)
    converted = convert_animation(animation, conversion)
    action = build_action(name, converted, rig, match, frame_start=options.frame_start)
    for bone in match.bones:
        obj.pose.bones[rig.bone_names[bone]].rotation_mode = "QUATERNION"
    data = obj.animation_data or obj.animation_data_create()
    is_new = obj in result.objects
    if data.action not in result.actions:
        versions.assign_action(data, action, "OBJECT")
    result.actions.append(action)
    if not is_new:
        verify_import(context, obj, rig, action, converted, match, result.report)
    result.report.count("animations")
    result.report.count("frames", animation.frame_count)


def _warn_of_mismatch(match: Match, name: str, report: Report) -> None:
    for joints, text in (
        (match.extra, "joints of the animation that the armature does not have"),
        (match.missing, "bones that the animation does not move"),
        (match.differing, "joints that hang under another parent, not moved"),
    ):
        if joints:
            report.warn(f"{text}: {listing(joints)}", name)


def _build_camera(
    context: Context, name: str, camera: Camera, options: ImportOptions, result: ImportResult
) -> None:
    """Makes the camera of a camera path and its markers; it becomes the scene's active one."""
    scene = context.scene
    obj = build_camera(
        name,
        camera,
        scene,
        state.target_collection(context),
        frame_start=options.frame_start,
        conversion=options.conversion,
        report=result.report,
    )
    if options.use_render_size:
        set_render_size(scene)
    result.objects.append(obj)
    result.report.count("cameras")
    result.report.count("cuts", len(camera.cuts))
    result.report.count("frames", frame_count(camera))


def _set_scene_timing(
    scene: bpy.types.Scene,
    cameras: dict[Path, Camera],
    animations: dict[Path, Animation],
    options: ImportOptions,
    report: Report,
) -> None:
    """The scene plays at the rate of what was imported, over its range; a cut scene is as long as its camera."""
    if not options.use_scene_timing:
        return
    if cameras:
        camera = next(iter(cameras.values()))
        rate, count = camera.frame_rate, frame_count(camera)
    elif animations:
        animation = next(iter(animations.values()))
        rate, count = animation.frame_rate, animation.frame_count
    else:
        return
    state.set_frame_rate(scene, rate, report)
    scene.frame_start = options.frame_start
    scene.frame_end = options.frame_start + count - 1
