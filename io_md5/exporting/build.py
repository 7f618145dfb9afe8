"""A model and its animations from a scene, verified against what Blender shows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from ...io_blender import state
from ...io_blender.clips.actions import suitable_actions
from ...io_blender.clips.clip import Played, warn_of_speed
from ...io_blender.clips.playing import Player, playback, restored_frame_and_values
from ...io_blender.materials.library import name_for_file
from ...io_blender.reports import Job, Progress, Report, listing
from ...io_blender.scene import axes, mesh_data
from ...io_blender.scene.axes import Conversion
from ...io_blender.scene.objects import ChosenConversion, Scope, export_conversion, warn_of_instances
from ...io_blender.scene.time_dependence import warn_of_simulations
from ...io_blender.verification import Verify
from ...io_common.errors import extension_version
from ..format import Animation, Model
from ..format import quaternions as quat
from ..format.games import PROFILES, Game, Writing
from ..format.model import Floats
from ..format.scale_file import ScaleTable
from ..format.skeleton import ORIENTATION_PRECISION, POSITION_PRECISION
from ..format.weights import bounds_of_weights, fit_weights
from ..importing.rig import read_rig
from ..options import ModelProperties, WeightOptions
from ..records import COMMANDLINE, SHADERS
from .animation import SampledClip, encode_clip, sample_clip
from .binding import armatures_of, bones_to_leave_out, warn_of_missing_targets
from .clips import AnimationOptions, Clip
from .hierarchy import carrying_bones
from .mesh import Block, export_object
from .skeleton import ArmaturePart, Skeleton, build_object_skeleton, build_skeleton
from .source import Source
from .verification import RestMesh, Verifier
from .weights import WeightTable, fitted_weights

if TYPE_CHECKING:
    from bpy.types import Context, Material, Modifier, Object, Scene


# The weights of a vertex, and the frames that they are fitted to, of all clips together.
_MOST_FITTED, _FITTED_FRAMES = 4, 48
# Frames of the scene on which bones are compared that no control links.
_HIERARCHY_FRAMES = 24


@dataclass(frozen=True)
class ModelOptions(ModelProperties):
    """The options of a model."""

    scope: Scope = field(default_factory=Scope)
    # From the scene to the file; what is not set is that of the import.
    conversion: Conversion | ChosenConversion = field(default_factory=axes.identity)
    weights: WeightOptions = field(default_factory=WeightOptions)
    game: Game = Game.ANY
    verify: Verify = Verify.SOME  # the frames on which the result is compared with Blender
    game_folders: tuple[str, ...] = ()  # the user's, to which the paths of images are relative

    @property
    def writing(self) -> Writing:
        """How files for the game are written."""
        return PROFILES[self.game].writing


@dataclass(frozen=True)
class ExportOptions:
    """The options of an export of meshes or animations."""

    model: ModelOptions
    # Which animations: 'NONE' (meshes only), 'ACTIVE', 'ALL', 'LIST' (those that are checked in the list of the
    # armature) or 'SCENE'.
    actions: str
    animation: AnimationOptions = field(default_factory=AnimationOptions)
    # In games that replace an MD2 or MDL, the animations have to be its sequences.
    match_companion: bool = True


@dataclass(eq=False)
class Build:
    """A model and its animations before they are written."""

    model: Model  # the model
    animations: dict[Path, Animation]  # by path
    parts: list[tuple[Object, Block]]  # the object of each mesh block, with the block
    skeleton: Skeleton  # the joints and their bones
    # Of the joints, by the path of the animation, where they are not all 1.
    scales: dict[Path, ScaleTable] = field(default_factory=dict)


def build(
    context: Context,
    source: Source,
    options: ModelOptions,
    clips: dict[Path, Clip],
    animation_options: AnimationOptions,
    report: Report,
    progress: Progress,
    *,
    writes_meshes: bool,
) -> Job[Build]:
    """The model of a source and its animations, verified; Blender must not be in Edit Mode."""
    # Without `writes_meshes`, the meshes are only used for the bounds and to verify the animations. Raises
    # NothingToExportError if no bone is left, or if the meshes were imported with different scales.
    skeleton = _skeleton(context, source, options, report)
    rest = _build_rest(context, source.meshes, skeleton, options, report)
    yield progress.step(len(source.meshes))
    verifier = None
    if options.verify is not Verify.NONE:
        verifier = Verifier(skeleton, rest, options.verify, writes_meshes=writes_meshes)
    other_causes = _causes_of_options(options, animation_options)
    fitted: dict[Object, WeightTable] = {}
    sampled: dict[Path, SampledClip] = {}
    animations: dict[Path, Animation] = {}
    if clips:
        if source.armature is not None:
            for armature in source.armatures:
                warn_of_missing_targets(armature, report)
            if source.armature.data.pose_position == "REST":
                report.warn(
                    "it is in Rest Position, so Blender shows no motion; animations are exported as in Pose Position",
                    source.armature.name,
                )
        if warn_of_simulations(source.objects, context.scene, report):
            other_causes.append("a simulation that is not baked: bake it first")
        with _playback(context, source, clips) as player:
            for path, clip in clips.items():
                sampled[path] = yield from sample_clip(
                    clip, skeleton, player, animation_options, report, progress,
                    with_scales=options.writing.joint_scales,
                )  # fmt: skip
                commandline = _commandline(source.armature, clip)
                animations[path] = encode_clip(sampled[path], skeleton, animation_options, commandline)
                if verifier is not None:
                    yield from verifier.check(sampled[path], animations[path], player, rest, progress)
                yield progress.step()
            if options.fit_weights and verifier is not None:
                fitted = _fit_weights(verifier.moved_otherwise(), rest, skeleton, sampled, player, options)
        if animation_options.compares_speed:
            game_rate = options.writing.frame_rate
            _warn_of_speed(sampled.values(), game_rate, animation_options, context.scene, report)
    if verifier is not None:
        objects_to_rebuild = list(dict.fromkeys([*verifier.objects_to_rebuild(), *fitted]))
        if objects_to_rebuild:
            rebuilt = _build_rest(
                context, objects_to_rebuild, skeleton, options, report, use_stored=False, fitted=fitted
            )
            improved = verifier.accept_improvements(rebuilt)
            rest |= improved
            if clips and improved:
                with _playback(context, source, clips) as player:
                    for path, animation in animations.items():
                        yield from verifier.check(sampled[path], animation, player, improved, progress)
            for obj in improved.keys() & fitted.keys():
                report.warn(f"{obj.name}: its weights were fitted to its motion; {verifier.remainder(obj)} is left")
        verifier.warn(other_causes, report)
    parts = [(obj, block) for obj, part in rest.items() for block in part.blocks]
    meshes = [block.mesh for _, block in parts]
    for path, animation in animations.items():
        one = sampled[path]
        table = one.scales.values if one.scales else None
        bounds = bounds_of_weights(
            [block.weights_by_joint for _, block in parts], one.positions, one.orientations, table
        )
        animations[path] = replace(animation, bounds=bounds)
        report.count("animations")
        report.count("frames", animation.frame_count)
    model = Model(skeleton.joints, meshes, _commandline(source.armature, None))
    scales = {path: one.scales for path, one in sampled.items() if one.scales is not None}
    return Build(model, animations, parts, skeleton, scales)


def _fit_weights(
    objects: list[Object],
    rest: dict[Object, RestMesh],
    skeleton: Skeleton,
    sampled: dict[Path, SampledClip],
    player: Player,
    options: ModelOptions,
) -> dict[Object, WeightTable]:
    """Weights with which the joints move objects as shown on frames of all clips."""
    if not objects:
        return {}
    points = {obj: skeleton.conversion.points(rest[obj].triangles.vertices) for obj in objects}
    targets: dict[Object, list[Floats]] = {obj: [] for obj in objects}
    moves: list[Floats] = []
    inverse = np.linalg.inv(quat.transforms(skeleton.joints.positions, skeleton.joints.orientations))
    for one in sampled.values():
        player.play(one.clip)
        count = len(one.frames)
        chosen = np.unique(np.linspace(0, count - 1, max(2, _FITTED_FRAMES // len(sampled))).astype(int))
        moves.append(quat.transforms(one.positions[chosen], one.orientations[chosen]) @ inverse)
        for frame in one.frames[chosen].tolist():
            graph = player.evaluate(frame)
            for obj, found in targets.items():
                vertices = mesh_data.world_vertices(obj.evaluated_get(graph))
                found.append(skeleton.conversion.points(vertices))
    matrices = np.concatenate(moves)
    result = {}
    for obj, found in targets.items():
        # A modifier may add vertices on some frames.
        if all(one.shape == points[obj].shape and np.isfinite(one).all() for one in found):
            joints, weights, _ = fit_weights(
                points[obj], matrices[..., :3, :3], matrices[..., :3, 3], np.array(found),
                most=min(options.weights.max_influences or _MOST_FITTED, _MOST_FITTED),
            )  # fmt: skip
            result[obj] = fitted_weights(points[obj], joints, weights)
    return result


def _playback(context: Context, source: Source, clips: dict[Path, Clip]) -> AbstractContextManager[Player]:
    """A player of the armature, or of the whole scene if objects move."""
    if source.armature is None:
        return playback(context, [], None, clips.values())
    meshes = None if source.attached else source.meshes
    return playback(context, [source.armature], meshes, clips.values())


def _warn_of_speed(
    clips: Iterable[SampledClip], game_rate: float, options: AnimationOptions, scene: Scene, report: Report
) -> None:
    """Warns of clips that a game plays slower or faster, at its rate, or if that is 0, the file's."""
    played = [
        Played(
            one.clip.name,
            # A pose that is held has no duration.
            len(one.frames) if np.ptp(one.positions, axis=0).any() or np.ptp(one.orientations, axis=0).any() else 1,
            (options.scene_rate or one.clip.rate) / one.frame_rate,
            game_rate or one.frame_rate,
        )
        for one in clips
    ]
    warn_of_speed(played, state.frame_rate(scene), report, is_fixed=bool(game_rate))


def _skeleton(context: Context, source: Source, options: ModelOptions, report: Report) -> Skeleton:
    conversion = export_conversion(options.conversion, source.objects, report)
    if source.armature is None:
        graph = context.evaluated_depsgraph_get()
        joint_objects = {obj: mesh_data.world_matrix(obj.evaluated_get(graph)) for obj in source.joint_objects}
        return build_object_skeleton(joint_objects, conversion, report)
    parts = _armature_parts(context, source, report)
    for part in parts if options.deform_only else ():
        actions = [action for action, _ in suitable_actions(part.armature).chosen]
        others = {one for one in source.armatures if one != part.armature}
        meshes = [obj for obj in source.meshes if others.isdisjoint(armatures_of(obj)[:1])]
        part.left_out = bones_to_leave_out(part.armature, meshes, actions, report)

    def sample(names: list[str]) -> Floats:
        return _sample_bones(context, source.armature, names)

    return build_skeleton(
        parts,
        conversion,
        report,
        sample=sample if options.deform_only and options.rebuild_hierarchy else None,
        add_origin=options.add_origin,
        last_parent=options.writing.last_parent,
    )


def _sample_bones(context: Context, armature: Any, names: list[str]) -> Floats:
    """The matrices of bones in the space of their armature on some frames of the scene, (F, n, 4, 4)."""
    scene: Any = context.scene
    frames = np.unique(np.linspace(scene.frame_start, scene.frame_end, _HIERARCHY_FRAMES).astype(int))
    result = []
    with restored_frame_and_values(scene):
        for frame in frames.tolist():
            state.set_frame(scene, frame)
            posed = armature.evaluated_get(context.evaluated_depsgraph_get()).pose.bones
            # Blender's matrices change with the next frame.
            result.append(np.array([posed[name].matrix for name in names], dtype=np.float64))
    return np.array(result)


def _armature_parts(context: Context, source: Source, report: Report) -> list[ArmaturePart]:
    """The armatures of a source at rest."""
    parts: list[ArmaturePart] = []
    # One that hangs on a bone has the place that this bone has at rest.
    with state.rest_position(_data_of(source.armatures if source.attached else [])):
        graph = context.evaluated_depsgraph_get()
        for armature in source.armatures:
            carriers = [
                (number, bone) for number, part in enumerate(parts) for bone in carrying_bones(armature, part.armature)
            ]
            if len(carriers) > 1:
                followed = listing([bone for _, bone in carriers])
                report.warn(f"follows several bones ({followed}): its joints hang on {carriers[0][1]}", armature.name)
            world = mesh_data.world_matrix(armature.evaluated_get(graph))
            carrier = next(iter(carriers), None)
            parts.append(ArmaturePart(armature, read_rig(armature.data), world, carrier=carrier))
    return parts


def _data_of(armatures: Iterable[Object]) -> list[Any]:
    """What armatures show, once each."""
    return list(dict.fromkeys(one.data for one in armatures))


def _build_rest(
    context: Context,
    objects: list[Object],
    skeleton: Skeleton,
    options: ModelOptions,
    report: Report,
    *,
    use_stored: bool = True,
    fitted: Mapping[Object, WeightTable] = MappingProxyType({}),
) -> dict[Object, RestMesh]:

    def hides(modifier: Modifier) -> bool:
        return not options.apply_modifiers or modifier.type == "ARMATURE"

    result: dict[Object, RestMesh] = {}
    armatures = _data_of(part.armature for part in skeleton.parts)
    with state.rest_position(armatures), state.hidden_modifiers(objects, hides):
        graph = context.evaluated_depsgraph_get()
        for obj in objects:
            triangles = mesh_data.triangle_mesh(obj, graph)
            blocks = export_object(
                obj,
                triangles,
                skeleton.of_mesh(obj),
                options.weights,
                report,
                use_stored=use_stored,
                fitted=fitted.get(obj),
            )
            for block in blocks:
                block.mesh.shader = _shader(obj, triangles.slots, block.slot, options.game_folders, report)
            warn_of_instances(obj, graph, report)
            result[obj] = RestMesh(triangles, blocks)
    return result


def _shader(obj: Object, slots: list[Material | None], slot: int, game_folders: tuple[str, ...], report: Report) -> str:
    material = slots[slot] if slot < len(slots) else None
    if material is None:
        report.warn("no material: the object's name is used as the shader", obj.name)
        return str(obj.name)
    return name_for_file(material, SHADERS, game_folders, report)


def _commandline(armature: Object | None, clip: Clip | None) -> str:
    """The stored command line of the model or of a clip; else the name and version of the add-on."""
    stored = ""
    if clip is not None:
        stored = clip.stored.commandline if clip.stored is not None else ""
    elif armature is not None:
        stored = COMMANDLINE.read(armature.data) or ""
    return stored or f"io_idtech {extension_version()}"


def _causes_of_options(options: ModelOptions, animation_options: AnimationOptions) -> list[str]:
    causes = []
    if not options.weights.keeps_all_weights:
        causes.append("Bone Influences or Min Weight removes weights")
    if not options.apply_modifiers:
        causes.append("Apply Modifiers is off")
    if (
        animation_options.position_precision > POSITION_PRECISION
        or animation_options.orientation_precision > ORIENTATION_PRECISION
    ):
        causes.append("the precision of positions or orientations is coarse")
    return causes
