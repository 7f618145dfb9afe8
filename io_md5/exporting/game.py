"""What a game requires of an export: findings, names, files beside the mesh, and all sequences in one animation."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import bpy
import numpy as np
from bpy.types import Context, Object

from ...io_blender import reports, state
from ...io_blender.reports import Progress, Report, finish, listing, raise_errors
from ...io_blender.scene.mesh_data import faces_of_corners
from ...io_blender.skeletal.exporting import build
from ...io_blender.skeletal.exporting.build import Build, Builder
from ...io_blender.skeletal.exporting.clips import AnimationOptions, Clip, clips_by_file
from ...io_blender.skeletal.exporting.source import find_source, require_meshes
from ...io_blender.skeletal.records import MESH_INDEX, StoredAction, load_comment_name
from ...io_blender.verification import Verify
from ...io_common.companions import Companion, match_sequences
from ...io_common.game_tree.archives import listed_files
from ...io_common.names import fold
from ...io_common.rules import Finding
from ...io_common.skeletal.joint_map import words_of
from ...io_common.skeletal.scales import ScaleTable
from ...io_common.skeletal.skeleton import components, with_components
from ...io_common.skeletal.weights import pose_bounds
from ...io_common.texts import counted
from ...io_common.textures.search import Search
from ..format import Md5Error, Model, format_animation, read_animation
from ..format.check import check_animation, check_model
from ..format.companions import MD2_SUFFIX, TEXTURE_RULES, find_companion, game_of, quake_skin_path, skin_path
from ..format.games.profiles import PROFILES, Game, Writing, mesh_limits
from ..format.games.writing import prepare_animation, prepare_model, rest_pose
from ..format.model import ANIMATION_SUFFIX, MESH_SUFFIX, SCALE_SUFFIX
from ..format.scale_file import Scales, format_scales, scales_of_table
from ..options import ModelProperties

# How a finding names its mesh: by the index in the file.
_MESH = re.compile(r"^mesh \d+ \(.*?\): ")

_DEFORM_ONLY = "Deform Bones Only"
# Words in the names of bones of fingers and faces.
_DETAILS = {
    "brow", "cheek", "chin", "ear", "eye", "eyelid", "finger", "forehead", "index", "jaw", "lid", "lip", "middle",
    "mouth", "nose", "palm", "pinky", "ring", "teeth", "temple", "thumb", "tongue",
}  # fmt: skip


@dataclass(frozen=True)
class ModelOptions(build.ModelOptions, ModelProperties):
    """The options of a model, with the game and what users do not set."""

    game: Game = Game.ANY

    @property
    def writing(self) -> Writing:
        """How files for the game are written."""
        return PROFILES[self.game].writing

    @property
    def mesh_limits(self) -> dict[str, int]:
        """How much a mesh for the game can have."""
        return mesh_limits(self.game)


@dataclass(frozen=True)
class ExportOptions(build.ExportOptions):
    """The options of an export of meshes or animations."""

    model: ModelOptions
    # In games that replace an MD2 or MDL, the animations have to be its sequences.
    match_companion: bool = True


def prepare(built: Build, game: Game, report: Report, *, make_names_safe: bool = True) -> None:
    """Prepares a model and animations for a game, in place; what is replaced or shortened is a warning."""
    labels = []
    stored_names = _comment_names(dict.fromkeys(obj for obj, _ in built.parts))
    taken = {stored or obj.name for obj, stored in stored_names.items()}
    names: dict[tuple[Object, int], str] = {}
    for obj, block in built.parts:
        stored = stored_names[obj]
        name = stored or obj.name
        # The parts of a mesh that was split share its name, and so its skin.
        if block.slot and (obj, block.slot) not in names:
            # Meshes of one object are distinguished by the index of their material slot.
            number = next(n for n in itertools.count(block.slot) if f"{name}_{n}" not in taken)
            names[obj, block.slot] = f"{name}_{number}"
            taken.add(names[obj, block.slot])
        name = names.get((obj, block.slot), name)
        block.mesh.comment_name = name if stored is not None else ""
        labels.append(name)
    built.model, warnings = prepare_model(built.model, game, make_names_safe=make_names_safe, object_names=labels)
    for path, animation in built.animations.items():
        built.animations[path], more = prepare_animation(animation, game, make_names_safe=make_names_safe)
        warnings += more
    for text in warnings:
        report.warn(text)


def _comment_names(objects: Iterable[Object]) -> dict[Object, str | None]:
    """The name in the comment of each object's mesh block; copies of an object have their own names."""
    result: dict[Object, str | None] = {}
    owners: set[tuple[int | None, str]] = set()
    for obj in sorted(objects, key=lambda obj: (len(obj.name), obj.name)):
        stored = load_comment_name(obj.data, obj.name)
        if stored is not None:
            block = MESH_INDEX.read(obj.data), stored
            stored = obj.name if block in owners else stored
            owners.add(block)
        result[obj] = stored
    return result


def companion_of(path: Path, options: ExportOptions, report: Report) -> Companion | None:
    """The model that the game replaces by the animation at `path`, if the export has to fit it."""
    if not options.model.writing.needs_animation or not options.match_companion:
        return None
    companion, problem = find_companion(path, Search(options.model.game_folders, TEXTURE_RULES))
    if problem:
        report.warn(f"its sequences are not compared: {problem}")
    return companion if companion is not None and companion.game is options.model.game else None


def find_by_file(built: Build, game: Game, mesh: Path | None) -> dict[Path, list[Finding]]:
    """The findings about each file of an export, with the mesh first, if it is written."""
    found = {}
    if mesh is not None:
        animations = list(built.animations.values())
        found[mesh] = check_model(built.model, game, has_animation=True, animations=animations)
    for path, animation in built.animations.items():
        found[path] = check_animation(animation, built.model.joints, game, scales=built.scales.get(path))
    return found


def animation_files(built: Build, game: Game, report: Report) -> dict[Path, bytes]:
    """The files of finished animations, and of the scales of joints beside them, if the game reads those."""
    # An existing file of scales is emptied where no joint is scaled any more, because the game would use it.
    files = {path: format_animation(animation) for path, animation in built.animations.items()}
    for path, animation in built.animations.items() if PROFILES[game].writing.joint_scales else ():
        scale_path = path.with_suffix(SCALE_SUFFIX)
        table = built.scales.get(path)
        if table is not None:
            files[scale_path] = format_scales(scales_of_table(animation.names, table))
        elif scale_path.exists():
            files[scale_path] = format_scales(Scales())
            report.warn("emptied, because no bone is scaled any more", scale_path.name)
    return files


def with_object_name(finding: Finding, built: Build) -> Finding:
    """A finding that names the object of its mesh, or says how many joints other options would leave."""
    if finding.code == "joint_count":
        bones = [bone.name for part in built.skeleton.parts for bone in part.armature.data.bones if bone.use_deform]
        others = [name for name in bones if _DETAILS.isdisjoint(words_of(name))]
        fewer = f", {len(others)} without fingers and face" if len(others) < len(bones) else ""
        counts = f"{_DEFORM_ONLY} ({counted(len(bones), 'joints')}{fewer})"
        return replace(finding, text=finding.text.replace(_DEFORM_ONLY, counts))
    if not 0 <= finding.mesh < len(built.parts):
        return finding
    obj, _ = built.parts[finding.mesh]
    return replace(finding, text=f"{obj.name}: {_MESH.sub('', finding.text)}")


def rest_animation(
    path: Path, built: Build, options: ModelOptions, files: dict[Path, bytes], report: Report
) -> dict[Path, bytes]:
    """The rest pose as an animation, with a warning, if the game requires one; raises Md5Error."""
    # `path` is the mesh, and `files` has all files of the export; an existing animation that does not fit is a warning.
    animation_path = path.with_suffix(ANIMATION_SUFFIX)
    if not options.writing.needs_animation or animation_path in files:
        return {}
    label = PROFILES[options.game].label
    if animation_path.exists():
        _warn_of_existing(animation_path, built.model, options.game, report)
        return {}
    model, joints = built.model, built.model.joints
    bounds = pose_bounds(model.meshes, joints.positions[None], joints.orientations[None])[0]
    rest = rest_pose(joints, bounds, model.commandline)
    animation, _ = prepare_animation(rest, options.game, make_names_safe=options.make_names_safe)
    raise_errors(check_animation(animation, joints, options.game), Md5Error, animation_path.name, report)
    report.warn(f"{label} needs an animation beside the mesh: {animation_path.name} was written with the rest pose")
    return {animation_path: format_animation(animation)}


def _warn_of_existing(animation_path: Path, model: Model, game: Game, report: Report) -> None:
    """Warns if the game would refuse an existing animation beside a mesh."""
    try:
        findings = check_animation(read_animation(animation_path), model.joints, game)
    except (Md5Error, OSError) as error:
        report.warn(f"not overwritten, but the game will refuse it: {error}")
        return
    for finding in findings:
        if finding.is_error:
            report.warn(f"not overwritten, but the game will refuse it: {finding.text}", animation_path.name)


def find(
    context: Context, options: ExportOptions, *, path: Path | None = None, has_mesh: bool = True
) -> list[reports.LocatedFinding]:
    """The findings of a game about an export, not verified; raises NothingToExportError."""
    # Names that an export replaces are only warnings. `path` is the file that would be written; None for a file beside
    # the .blend, with the name of the armature. A model there that the game would replace, such as the MDL with its
    # name, has to have the same sequences. Warnings of the export itself are not findings.
    report = Report()
    model_options = replace(options.model, verify=Verify.NONE)
    game = model_options.game
    with state.temporary_object_mode(context):
        source = find_source(context, model_options.scope, report, model_options)
        if has_mesh:
            require_meshes(context, model_options.scope, source)
        if path is None:
            folder = Path(bpy.path.abspath("//")) if bpy.data.filepath else Path()
            path = folder / f"{source.armature.name if source.armature is not None else 'model'}{ANIMATION_SUFFIX}"
        clips = clips_by_file(context, source, options.actions, path.with_suffix(ANIMATION_SUFFIX), report)
        progress = Progress(len(source.meshes) + len(clips))
        builder = Builder(context, source, model_options, options.animation, report, progress, writes_meshes=has_mesh)
        built = finish(builder.build(clips))
    model, animations = built.model, dict(built.animations)
    prepare(built, game, report, make_names_safe=False)
    mesh = path.with_suffix(MESH_SUFFIX) if has_mesh else None
    found = _findings(built, game, mesh)
    if model_options.make_names_safe:
        built.model, built.animations = model, animations
        prepare(built, game, report)
        left = {(finding.code, subject) for subject, finding in _findings(built, game, mesh)}
        found = [
            (subject, finding if (finding.code, subject) in left else replace(finding, is_error=False))
            for subject, finding in found
        ]
    if model_options.writing.needs_animation and source.armature is not None:
        companion = companion_of(path.with_suffix(ANIMATION_SUFFIX), options, report)
        found += [("", finding) for finding in _find_sequence_problems(clips, companion, options)]
    # The same one in several animations is shown once.
    alike: dict[tuple[str, bool, str, bool], list[tuple[str, Finding]]] = {}
    for subject, finding in found:
        alike.setdefault((finding.code, finding.is_error, finding.text, bool(subject)), []).append((subject, finding))
    result = []
    for group in alike.values():
        subjects, finding = [subject for subject, _ in group if subject], group[0][1]
        text = f"{listing(subjects, 3)}: {finding.text}" if subjects else finding.text
        result.append((replace(finding, text=text), _location(finding, built)))
    return sorted(result, key=lambda found: not found[0].is_error)


def _findings(built: Build, game: Game, mesh: Path | None) -> list[tuple[str, Finding]]:
    """Findings of the model, and those of each animation, with its name, that the model does not have."""
    by_file = find_by_file(built, game, mesh)
    known = {finding.text for path, found in by_file.items() if path == mesh for finding in found}
    return [
        ("" if path == mesh else path.stem, finding)
        for path, found in by_file.items()
        for finding in found
        if path == mesh or finding.text not in known
    ]


def _find_sequence_problems(
    clips: dict[Path, Clip], companion: Companion | None, options: ExportOptions
) -> Iterator[Finding]:
    """The findings about all clips, by file, as one animation, for a game that takes one."""
    game = options.model.game
    order = list(clips)
    if companion is not None and clips:
        order, problems, _ = match_clips(clips, companion, options.animation)
        for problem in problems:
            yield Finding(
                "companion_frames", True,
                f"{problem}; the game counts the frames of {companion.name}: change the action",
                engine=PROFILES[game].engines, remedy="change the action",
            )  # fmt: skip
    total = sum(len(clips[key].samples(options.animation)[0]) for key in order)
    rule = next((rule for rule in PROFILES[game].rules if rule.code == "frame_count"), None)
    if rule is not None and total > rule.limit and len(order) > 1:
        yield rule.finding(
            f"{counted(total, 'frames')} in all actions together", total, remedy="export fewer or shorter actions"
        )


def _location(finding: Finding, built: Build) -> reports.Location:
    skeleton = built.skeleton
    if finding.joints and skeleton.parts:
        skeleton = skeleton.of_part(skeleton.parts[0])
        bones = skeleton.bones[np.array(finding.joints)]
        names = tuple(skeleton.rig.bone_names[bone] for bone in bones if bone >= 0)
        return reports.Location(skeleton.armature, reports.BONES, names)
    if not 0 <= finding.mesh < len(built.parts):
        return reports.Location()
    obj, block = built.parts[finding.mesh]
    if block.vertex_count != len(obj.data.vertices):
        # Modifiers changed the number of vertices.
        return reports.Location(obj)
    if finding.vertices:
        vertices = np.unique(block.vertices[np.array(finding.vertices)])
        return reports.Location(obj, reports.VERTICES, tuple(vertices.tolist()))
    if finding.triangles:
        corners = block.corners[np.array(finding.triangles), 0]
        return reports.Location(obj, reports.FACES, tuple(faces_of_corners(obj.data, corners).tolist()))
    return reports.Location(obj)


def hint_names(path: Path, model: Model, game: Game, companion: Companion | None, report: Report) -> None:
    """Adds what the game looks for to the hints of a report, and warnings about what it would not find."""
    # `companion` is None if the replaced model is unknown.
    if game is Game.QUAKE:
        shaders = dict.fromkeys(mesh.shader for mesh in model.meshes)
        skins = listing([quake_skin_path(shader) for shader in shaders])
        report.hints.append(f"Quake looks for {skins} (.tga, .png, .jpg or .lmp), beside progs/{path.stem}.mdl")
    elif game is Game.SAUERBRATEN and len(model.meshes) > 1:
        meshes = dict.fromkeys(mesh.comment_name for mesh in model.meshes)
        report.hints.append(f"md5skin in md5.cfg finds the meshes {listing(list(meshes))}")
    elif game is Game.QUAKE2:
        _hint_quake2_names(path, companion, report)


def _hint_quake2_names(path: Path, companion: Companion | None, report: Report) -> None:
    if companion is not None:
        skins = [skin_path(skin) for skin in dict.fromkeys(companion.skins) if skin]
        if skins:
            report.hints.append(f"Quake II looks for the skins {listing(skins)} (.tga, .png, .jpg or .pcx)")
        return
    if game_of(path) is not Game.QUAKE2:
        report.hints.append(f"Quake II looks for md5/{path.name} in the folder of the MD2 that it replaces")
        return
    others = [other.name for other in listed_files(path.parent.parent, MD2_SUFFIX)]
    if not others:
        report.hints.append(f"Quake II shows it in place of {path.stem}{MD2_SUFFIX}, which is not in the folder above")
    elif fold(path.stem) not in {fold(Path(name).stem) for name in others}:
        wanted = [f"md5/{Path(name).stem}{path.suffix}" for name in others]
        report.warn(
            f"Quake II looks for {listing(wanted)}, as the folder above has {listing(others)}: export under that name",
            path.name,
            is_important=True,
        )


def arrange(
    clips: dict[Path, Clip], path: Path, companion: Companion | None, options: AnimationOptions, report: Report
) -> dict[Path, Clip]:
    """Clips in the order of a companion, else in the user's; raises Md5Error for all that do not fit."""
    # The paths of the result, which `join` makes one, differ, as a clip may occur twice; a single clip has `path`.
    order = list(clips)
    if companion is not None:
        order, problems, left_out = match_clips(clips, companion, options)
        if problems:
            raise Md5Error(companion.misfit(listing(problems, 40), "Match MD2 or MDL"), path=path.name)
        if left_out:
            report.warn(f"no sequences of {companion.name}, so not exported: {listing(left_out)}")
    # The translations of a joint are multiplied by its scales in all of them or in none.
    stored = [clips[key].stored or StoredAction(clips[key].name, "", None, None) for key in order]
    scaled = frozenset(name for one in stored for name in one.scales_position)
    chosen = [
        replace(clips[key], stored=replace(one, scales_position=scaled)) for key, one in zip(order, stored, strict=True)
    ]
    if len(chosen) == 1:
        return {path: chosen[0]}
    return {path.with_name(f"{index:05d} {path.name}"): clip for index, clip in enumerate(chosen)}


def match_clips(
    clips: dict[Path, Clip], companion: Companion, options: AnimationOptions
) -> tuple[list[Path], list[str], list[str]]:
    """The keys of a companion's sequences, in order, what does not fit, and the names of other clips."""
    keys = list(clips)
    found = [((key.stem, clip.name), len(clip.samples(options)[0])) for key, clip in clips.items()]
    order, problems, left_out = match_sequences(companion, found)
    return [keys[index] for index in order], problems, left_out


def join(built: Build, path: Path, report: Report) -> None:
    """Puts the animations of a build, at least one, one after the other into one at `path`."""
    parts = built.animations
    if len(parts) == 1:
        return
    table = np.concatenate([components(animation) for animation in parts.values()])
    bounds = np.concatenate([animation.bounds for animation in parts.values()])
    built.animations = {path: with_components(next(iter(parts.values())), table, bounds=bounds)}
    if built.scales:
        joint_count = len(built.skeleton.joints)
        values = [
            built.scales[key].values if key in built.scales else np.ones((part.frame_count, joint_count))
            for key, part in parts.items()
        ]
        scales_position = next(iter(built.scales.values())).scales_position
        built.scales = {path: ScaleTable(np.concatenate(values), scales_position)}
    report.counts["animations"] = 1
