"""A model and its animations from a scene, verified against what Blender shows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from bpy.types import Context, Modifier, Object

from ....io_common.errors import extension_version
from ....io_common.skeletal import quaternions as quat
from ....io_common.skeletal.formats import Writing
from ....io_common.skeletal.model import Animation, Floats, Model
from ....io_common.skeletal.scales import ScaleTable
from ....io_common.skeletal.skeleton import PRECISION
from ....io_common.skeletal.weights import bounds_of_weights, fit_weights
from ... import state
from ...clips.actions import suitable_actions
from ...clips.clip import Played, warn_of_speed
from ...clips.playing import Player, restored_frame_and_values
from ...materials.library import name_for_file
from ...records import has_record
from ...reports import Job, Progress, Report, listing
from ...scene import axes, mesh_data
from ...scene.objects import ChosenConversion, Scope, export_conversion, warn_of_instances
from ...scene.time_dependence import warn_of_simulations
from ...verification import Verify
from ..options import ALWAYS, AUTOMATIC, ModelProperties, WeightOptions
from ..records import COMMANDLINE, GROUP, SHADERS
from ..rig import read_rig
from .animation import SampledClip, encode_clip, sample_clip
from .clips import AnimationOptions, Clip, warn_of_missing_bones
from .hierarchy import bones_to_leave_out
from .mesh import Block, export_object, split_block
from .skeleton import ORIGIN_TOLERANCE, ArmaturePart, Skeleton, build_object_skeleton, build_skeleton
from .source import Source, armatures_of, carrying_bones, warn_of_missing_targets
from .verification import RestMesh, Verifier
from .weights import Integers, WeightTable, fitted_weights

# Fit Weights finds at most so many weights for a vertex, from so many frames of all clips together.
_MOST_FITTED, _FITTED_FRAMES = 4, 48
# How many frames of the scene are compared to find the parents of bones that no control links.
_HIERARCHY_FRAMES = 24


@dataclass(frozen=True)
class ModelOptions(ModelProperties):
    """The options of a model."""

    scope: Scope = field(default_factory=Scope)
    # From the scene to the file; a scale or axes that are not set are those of the import.
    conversion: axes.Conversion | ChosenConversion = field(default_factory=axes.identity)
    weights: WeightOptions = field(default_factory=WeightOptions)
    verify: Verify = Verify.SOME  # the frames on which the result is compared with Blender
    game_folders: tuple[str, ...] = ()  # the user's, to which the paths of images are relative

    @property
    def writing(self) -> Writing:
        """How files for the game are written."""
        return Writing()

    @property
    def mesh_limits(self) -> dict[str, int]:
        """The limits of the game for a mesh, as `split_block` takes them."""
        return {}


@dataclass(frozen=True)
class ExportOptions:
    """The options of an export of meshes or animations."""

    model: ModelOptions
    # Which animations: 'NONE' (meshes only), 'ACTIVE', 'ALL', 'LIST' (those that are checked in the list of the
    # armature) or 'SCENE'.
    actions: str
    animation: AnimationOptions = field(default_factory=AnimationOptions)


@dataclass(eq=False)
class Build:
    """A model and its animations before they are written."""

    model: Model
    animations: dict[Path, Animation]  # by path
    parts: list[tuple[Object, Block]]  # each block of a mesh, with its object
    skeleton: Skeleton  # the joints and their bones
    # The scales of joints, by the path of the animation, if they are not all 1.
    scales: dict[Path, ScaleTable] = field(default_factory=dict)


@dataclass(eq=False)
class Builder:
    """Builds the model of a source and its animations, verified; Blender must not be in Edit Mode."""

    context: Context
    source: Source
    options: ModelOptions
    animation_options: AnimationOptions
    report: Report
    progress: Progress
    rounding = ""  # how files of the format round vertices, in words
    has_bounds = True  # whether animations get bounds here, and not when their file is made
    # If False, meshes only serve to compute bounds and to verify animations.
    writes_meshes: bool
    skeleton: Skeleton = field(init=False)
    rest: dict[Object, RestMesh] = field(init=False)
    sampled: dict[Path, SampledClip] = field(default_factory=dict)
    animations: dict[Path, Animation] = field(default_factory=dict)
    verifier: Verifier | None = None  # None if nothing is verified

    def build(self, clips: dict[Path, Clip]) -> Job[Build]:
        """Builds all; raises NothingToExportError if no bone is left, or meshes were imported with different scales."""
        source, options = self.source, self.options
        self.skeleton = _skeleton(self.context, source, options, self.report)
        self.rest = self._build_rest(source.meshes)
        yield self.progress.step(len(source.meshes))
        if options.verify is not Verify.NONE:
            self.verifier = Verifier(
                self.skeleton, self.rest, options.verify, options.writing, self.progress,
                writes_meshes=self.writes_meshes,
            )  # fmt: skip
        causes = _causes_of_options(options, self.animation_options) + ([self.rounding] if self.rounding else [])
        fitted: dict[Object, WeightTable] = {}
        if clips:
            causes += self._warn_of_playback(clips.values())
            with self._playback(clips) as player:
                yield from self._sample(clips, player)
                if options.fit_weights and self.verifier is not None:
                    fitted = self._fit_weights(self.verifier.moved_otherwise(), player)
            if self.animation_options.compares_speed:
                self._warn_of_speed()
        if self.verifier is not None:
            yield from self._improve(self.verifier, clips, fitted)
            self.verifier.warn(causes, self.report)
        return self._result()

    def _playback(self, clips: dict[Path, Clip]) -> Player:
        if self.source.armature is None:
            return Player(self.context, [], clips.values())
        meshes = None if self.source.attached else self.source.meshes
        return Player(self.context, [self.source.armature], clips.values(), meshes)

    def _warn_of_playback(self, clips: Iterable[Clip]) -> list[str]:
        """Warns of what keeps the armatures from moving; returns causes of differences that are already known."""
        for armature in self.source.armatures:
            warn_of_missing_targets(armature, self.report)
            warn_of_missing_bones(clips, armature, self.report)
        if self.source.armature is not None and self.source.armature.data.pose_position == "REST":
            self.report.warn(
                "it is in Rest Position, so Blender shows no motion; animations are exported as in Pose Position",
                self.source.armature.name,
            )
        if warn_of_simulations(self.source.objects, self.context.scene, self.report):
            return ["a simulation that is not baked: bake it first"]
        return []

    def _sample(self, clips: dict[Path, Clip], player: Player) -> Job[None]:
        """Samples and encodes the clips, and compares each with what Blender shows."""
        for path, clip in clips.items():
            sampled = self.sampled[path] = yield from sample_clip(
                clip, self.skeleton, player, self.animation_options, self.report, self.progress,
                with_scales=self.options.writing.joint_scales,
            )  # fmt: skip
            commandline = clip.stored.commandline if clip.stored is not None else ""
            self.animations[path] = encode_clip(
                sampled, self.skeleton, self.animation_options, commandline or _made_by()
            )
            yield self.progress.step()
        self.round_animations()
        if self.verifier is not None:
            for path, one in self.sampled.items():
                yield from self.verifier.check(one, self.animations[path], player, self.rest)

    def _warn_of_speed(self) -> None:
        """Warns of clips that the game plays slower or faster: at `game_rate` or, if that is 0, at the file's rate."""
        game_rate, scene_rate, played = self.options.writing.frame_rate, self.animation_options.scene_rate, []
        for one in self.sampled.values():
            # A pose that is held has no duration.
            is_held = not np.ptp(one.positions, axis=0).any() and not np.ptp(one.orientations, axis=0).any()
            count, step = 1 if is_held else len(one.frames), (scene_rate or one.clip.rate) / one.frame_rate
            played.append(Played(one.clip.name, count, step, game_rate or one.frame_rate))
        warn_of_speed(played, state.frame_rate(self.context.scene), self.report, is_fixed=bool(game_rate))

    def round_animations(self) -> None:
        """Rounds all animations as files of the format do."""

    def round_mesh(self, block: Block) -> None:
        """Rounds a mesh, whose shader is set, as files of the format do."""

    def sides_of(self, obj: Object, triangles: mesh_data.TriangleMesh) -> Integers | None:
        """What splits the vertices of an object at rest besides texture coordinates, see `export_object`."""
        return None

    def _improve(self, verifier: Verifier, clips: dict[Path, Clip], fitted: dict[Object, WeightTable]) -> Job[None]:
        """Builds objects again that differ from what Blender shows, without what their import stored."""
        objects = list(dict.fromkeys([*verifier.objects_to_rebuild(), *fitted]))
        if not objects:
            return
        improved = verifier.accept_improvements(self._build_rest(objects, fitted))
        self.rest |= improved
        if clips and improved:
            with self._playback(clips) as player:
                for path, animation in self.animations.items():
                    yield from verifier.check(self.sampled[path], animation, player, improved)
        for obj in improved.keys() & fitted.keys():
            remainder = verifier.remainder(obj)
            self.report.warn(f"{obj.name}: its weights were fitted to its motion; {remainder} is left")

    def _result(self) -> Build:
        parts = [(obj, block) for obj, part in self.rest.items() for block in part.blocks]
        if self.writes_meshes and self.options.split_surfaces:
            parts = self._split(parts)
        for path, animation in self.animations.items():
            if self.has_bounds:
                one = self.sampled[path]
                table = one.scales.values if one.scales else None
                weights = [block.weights_by_joint for _, block in parts]
                bounds = bounds_of_weights(weights, one.positions, one.orientations, table)
                self.animations[path] = replace(animation, bounds=bounds)
            self.report.count("animations")
            self.report.count("frames", animation.frame_count)
        armature = self.source.armature
        imported = COMMANDLINE.read(armature.data) if armature is not None else None
        model = Model(self.skeleton.joints, [block.mesh for _, block in parts], imported or _made_by())
        scales = {path: one.scales for path, one in self.sampled.items() if one.scales is not None}
        if self.writes_meshes:
            self.report.count("joints", len(model.joints))
            self.report.count("meshes", len(model.meshes))
            self.report.count("vertices", model.vertex_count)
            self.report.count("triangles", sum(len(mesh.triangles) for mesh in model.meshes))
        return Build(model, self.animations, parts, self.skeleton, scales)

    def _split(self, parts: list[tuple[Object, Block]]) -> list[tuple[Object, Block]]:
        """The parts within the limits of the game, with a hint that says into how many they were split."""
        limits = self.options.mesh_limits
        split = [(obj, split_block(block, limits)) for obj, block in parts]
        counts: Counter[str] = Counter()
        for obj, pieces in split:
            counts[obj.name] += len(pieces) if len(pieces) > 1 else 0
        self.report.hint_split(counts)
        return [(obj, piece) for obj, pieces in split for piece in pieces]

    def _fit_weights(self, objects: list[Object], player: Player) -> dict[Object, WeightTable]:
        """Weights that move objects as closely as possible to what Blender shows on frames of all clips."""
        if not objects:
            return {}
        skeleton, sampled = self.skeleton, self.sampled
        points = {obj: skeleton.conversion.points(self.rest[obj].triangles.vertices) for obj in objects}
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
                    most=min(self.options.weights.max_influences or _MOST_FITTED, _MOST_FITTED),
                )  # fmt: skip
                result[obj] = fitted_weights(points[obj], joints, weights)
        return result

    def _build_rest(
        self, objects: list[Object], fitted: dict[Object, WeightTable] | None = None
    ) -> dict[Object, RestMesh]:
        """The objects at rest, as their import stored them where that holds, unless there are `fitted` weights."""
        skeleton, options, report = self.skeleton, self.options, self.report

        def hides(modifier: Modifier) -> bool:
            return not options.apply_modifiers or modifier.type == "ARMATURE"

        result: dict[Object, RestMesh] = {}
        armatures: set[Any] = {part.armature.data for part in skeleton.parts}
        with state.rest_position(armatures), state.hidden_modifiers(objects, hides):
            graph = self.context.evaluated_depsgraph_get()
            for obj in objects:
                triangles = mesh_data.triangle_mesh(obj, graph)
                blocks = export_object(
                    obj, triangles, skeleton.of_mesh(obj), options.weights, report,
                    use_stored=fitted is None, fitted=(fitted or {}).get(obj), sides=self.sides_of(obj, triangles),
                )  # fmt: skip
                for block in blocks:
                    material = triangles.slots[block.slot] if block.slot < len(triangles.slots) else None
                    if material is None:
                        report.warn("no material: the object's name is used instead", obj.name)
                        block.mesh.shader = obj.name
                    else:
                        block.mesh.shader = name_for_file(material, SHADERS, options.game_folders, report)
                    self.round_mesh(block)
                warn_of_instances(obj, graph, report)
                result[obj] = RestMesh(triangles, blocks)
        return result


def _made_by() -> str:
    return f"io_idtech {extension_version()}"


def _skeleton(context: Context, source: Source, options: ModelOptions, report: Report) -> Skeleton:
    conversion = export_conversion(options.conversion, source.objects, report)
    if source.armature is None:
        graph = context.evaluated_depsgraph_get()
        joint_objects = {obj: mesh_data.world_matrix(obj.evaluated_get(graph)) for obj in source.joint_objects}
        return build_object_skeleton(joint_objects, conversion)
    parts = _armature_parts(context, source, report)
    for part in parts if options.deform_only else ():
        actions = [action for action, _ in suitable_actions(part.armature).chosen]
        others = {one for one in source.armatures if one != part.armature}
        meshes = [obj for obj in source.meshes if others.isdisjoint(armatures_of(obj)[:1])]
        part.left_out = bones_to_leave_out(part.armature, meshes, actions, report)
    is_rebuilt = options.deform_only and options.rebuild_hierarchy
    return build_skeleton(
        parts,
        conversion,
        report,
        sample=partial(_sample_bones, context, source.armature) if is_rebuilt else None,
        needs_origin=partial(_needs_origin, source.armature, options),
        last_parent=options.writing.last_parent,
    )


def _needs_origin(armature: Object, options: ModelOptions, root_count: int, distance: float) -> bool:
    """Whether to add a joint named origin; `distance` is that of the first root from the origin."""
    if options.add_origin != AUTOMATIC:
        return options.add_origin == ALWAYS
    writing, is_away = options.writing, distance > ORIGIN_TOLERANCE
    is_refused = (writing.single_root and root_count > 1) or (writing.root_at_origin and is_away)
    return is_refused and not has_record(armature.data, GROUP)


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
    # One that is parented to a bone is placed where that bone is at rest.
    resting: set[Any] = {one.data for one in source.armatures} if source.attached else set()
    with state.rest_position(resting):
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


def _causes_of_options(options: ModelOptions, animation_options: AnimationOptions) -> list[str]:
    is_coarse = (
        animation_options.position_precision > PRECISION.position
        or animation_options.orientation_precision > PRECISION.orientation
    )
    causes = {
        "Bone Influences or Min Weight removes weights": not options.weights.keeps_all_weights,
        "Apply Modifiers is off": not options.apply_modifiers,
        "Location Tolerance or Rotation Tolerance is high": is_coarse,
    }
    return [words for words, is_set in causes.items() if is_set]
