"""The export of IQM files: built as the file holds it, verified and checked before the first file is written."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..io_blender import state
from ..io_blender.findings import LocatedFinding, Location
from ..io_blender.records import NONE
from ..io_blender.reports import ExportResult, Job, Progress, Report, finish, kept_on_failure, raise_all
from ..io_blender.scene import mesh_data
from ..io_blender.scene.objects import warn_of_left_out
from ..io_blender.skeletal.exporting import build
from ..io_blender.skeletal.exporting.clips import clips_by_file, warn_of_file_names
from ..io_blender.skeletal.exporting.corners import Corners, corner_of_vertices, read_corners, tangents_of
from ..io_blender.skeletal.exporting.mesh import Block
from ..io_blender.skeletal.exporting.source import find_source, require_meshes, warn_of_hidden
from ..io_blender.skeletal.records import MESH_INDEX, load_comment_name
from ..io_blender.verification import Verify
from ..io_common import names
from ..io_common.files import write_files
from ..io_common.skeletal.formats import Writing
from ..io_common.skeletal.model import Floats
from ..io_common.skeletal.playback import loop_type
from ..io_common.skeletal.scales import NamedAnimation
from ..io_common.skeletal.skinning import bind_pose
from ..io_common.skeletal.weights import largest_weights, set_weights
from .format import (
    Attributes,
    Game,
    Iqm,
    IqmError,
    animations_alone,
    bind_scales,
    check_iqm,
    encode_animations,
    format_iqm,
    from_model,
    keep_source,
    to_animations,
    to_attributes,
    with_animations,
)
from .format.convert import parts_of
from .format.files import SUFFIX
from .format.games import mesh_limits
from .options import IN_MODEL
from .records import NUMBER, load_action, load_file

if TYPE_CHECKING:
    from bpy.types import Context, Object

Integers = npt.NDArray[np.int64]


WRITING = Writing(joint_scales=True, max_influences=4, precision=2e-3)
"""How files are written: alike for all games."""


@dataclass(frozen=True)
class ModelOptions(build.ModelOptions):
    """The options of a model."""

    game: Game = Game.ANY

    @property
    def writing(self) -> Writing:
        """How files are written."""
        return WRITING

    @property
    def mesh_limits(self) -> dict[str, int]:
        """How much a mesh for the game can have."""
        return mesh_limits(self.game)


@dataclass(frozen=True)
class ExportOptions(build.ExportOptions):
    """The options of an export of a model and its animations."""

    model: ModelOptions
    animation_files: str = IN_MODEL


@dataclass(eq=False)
class Builder(build.Builder):
    """Builds a model and its animations as an IQM holds them."""

    rounding = "files have the four largest weights of a vertex, as bytes"
    is_separate: bool = False
    imported: Iqm | None = None  # the file that the armature was made of
    attributes: list[Attributes] = field(default_factory=list)  # of its meshes
    corners: dict[Object, Corners] = field(default_factory=dict)
    poses: dict[Path, Iqm] = field(default_factory=dict)  # with one animation each, or all, by the first's path
    alone: dict[Path, Iqm] = field(default_factory=dict)  # the files with the animations that imported actions were

    def sides_of(self, obj: Object, triangles: mesh_data.TriangleMesh) -> Integers:
        """Which normals and colors the corners have, and where images are mirrored on new faces."""
        self.corners[obj] = read_corners(obj, triangles, self.skeleton, self._imported(obj).normals)
        return self.corners[obj].sides

    def _imported(self, obj: Object) -> Attributes:
        """Those of the mesh in the imported file that an object was made of."""
        index = MESH_INDEX.read(obj.data)
        return self.attributes[index] if index is not None and index < len(self.attributes) else Attributes()

    def round_mesh(self, block: Block) -> None:
        """Rounds weights to the four largest, as bytes."""
        mesh, joints = block.mesh, self.skeleton.joints
        points = bind_pose(mesh, joints.positions, joints.orientations)[0]
        indices, weights = largest_weights(mesh)
        vertices, columns = np.nonzero(weights)
        used = vertices, columns
        set_weights(mesh, joints, vertices, indices[used].astype(np.int64), weights[used] / 255.0, points)
        block.disagreements = np.zeros(mesh.vertex_count)

    def round_animations(self) -> None:
        """Rounds channels to 16 bits."""
        joints, scales = self.skeleton.joints, self.scales()
        found = {path: self._named(path) for path in self.sampled}
        order = sorted(found, key=lambda path: found[path][1])
        for paths in [[path] for path in order] if self.is_separate else [order]:
            poses = encode_animations(
                joints, [found[path][0] for path in paths], scales, [found[path][2] for path in paths]
            )
            self.poses[paths[0]] = poses
            for path, one in zip(paths, to_animations(poses, joints, scales), strict=True):
                self.animations[path] = one.animation
                self.sampled[path].scales = one.scales

    def _named(self, path: Path) -> tuple[NamedAnimation, float, Iqm | None]:
        """An animation with its name, its number in the imported file, and the file with it alone."""
        sampled, clip = self.sampled[path], self.sampled[path].clip
        animation, action = self.animations[path], clip.action
        shown = clip.stored.name if clip.stored is not None else clip.name
        name = next((one for one in (shown, clip.name) if names.for_files(one, "animation") == path.stem), path.stem)
        alone, number = load_action(action, shown, self.imported), np.inf
        if alone is not None and name == shown:
            found = NUMBER.read(action)
            number = np.inf if found is None else found
            self.alone[path] = alone
            # In a file of its own it may have another name than that.
            name = alone.animations[0].name if self.is_separate else name
        is_loop = loop_type(animation) == "closed"
        if action is not None and action.use_frame_range:
            is_loop = action.use_cyclic
        return NamedAnimation(name, animation, sampled.scales, is_loop), number, alone

    def scales(self) -> Floats:
        """The scales of the joints in the bind pose: those of the imported file."""
        result = np.ones((len(self.skeleton.joints), 3))
        if self.imported is not None:
            stored = dict(zip(self.imported.joint_names, bind_scales(self.imported), strict=True))
            for joint, name in enumerate(self.skeleton.joints.names):
                result[joint] = stored.get(name, 1.0)
        return result

    def files(self, built: build.Build, path: Path) -> dict[Path, Iqm]:
        """The contents of the files, that of the model at a path first."""
        meshes, rows = [], []
        parts = [] if self.imported is None else parts_of(self.imported)
        for obj, block in built.parts:
            index = MESH_INDEX.read(obj.data)
            members = parts[index][0] if index is not None and index < len(parts) else np.zeros(0, np.int64)
            is_known = (block.sources != NONE) & (block.sources < len(members))
            sources = np.where(is_known, block.sources, NONE)
            block.mesh.name = load_comment_name(obj.data, obj.name) or ("" if len(members) else obj.name)
            meshes.append(self._attributes(obj, block, sources))
            rows.append(members[sources] if len(members) else sources)
            rows[-1] = np.where(is_known, rows[-1], -1)
        iqm = from_model(built.model, attributes=meshes, scales=self.scales())
        files = {}
        for first, poses in self.poses.items():
            whole = with_animations(iqm, poses, built.model.meshes)
            if self.is_separate:
                alone, source = animations_alone(whole), self.alone.get(first)
                files[first] = alone if source is None else keep_source(alone, source, [])
            else:
                iqm = whole
        if self.imported is not None:
            iqm = keep_source(iqm, self.imported, rows)
        return {path: iqm} | files

    def _attributes(self, obj: Object, block: Block, sources: Integers) -> Attributes:
        """The normals, tangents, colors and custom arrays of a block."""
        corners, mesh, old = self.corners[obj], block.mesh, self._imported(obj)
        chosen = corner_of_vertices(block)
        known, is_used = sources != NONE, (chosen >= 0)[:, None]
        normals = np.where(is_used, corners.normals[chosen], (0.0, 0.0, 1.0)).astype(np.float64)
        if old.normals is not None:
            is_kept = known & (~is_used[:, 0] | corners.is_kept[chosen])
            normals[is_kept] = old.normals[sources[is_kept]]
        points = bind_pose(mesh, self.skeleton.joints.positions, self.skeleton.joints.orientations)[0]
        result = Attributes(normals, tangents_of(points, mesh, normals))
        if corners.colors is not None:
            result.colors = np.where(is_used, corners.colors[chosen], np.uint8(255))
            if old.colors is not None:
                is_unused = known & ~is_used[:, 0]
                result.colors[is_unused] = old.colors[sources[is_unused]]
        for array in old.custom:
            values = np.zeros((mesh.vertex_count, array.values.shape[1]), array.values.dtype)
            values[known] = array.values[sources[known]]
            result.custom.append(replace(array, values=values))
        return result


def export_model(context: Context, path: Path, options: ExportOptions) -> Job[ExportResult]:
    """Writes a model and its animations; raises IqmError or NothingToExportError before it writes."""
    # Raises OSError if a file cannot be written; existing files are unchanged.
    report = Report()
    with kept_on_failure(report), state.temporary_object_mode(context):
        builder, built, files = yield from _build(context, path, options, report)
        findings = {
            target.name: check_iqm(iqm, options.model.game, builder.imported if target == path else None)
            for target, iqm in files.items()
        }
        raise_all(findings, IqmError, report)
        written = {target: format_iqm(iqm) for target, iqm in files.items()}
        # The model last, so that its animations exist as soon as it does.
        write_files(dict(reversed(written.items())))
        report.count("joints", len(built.model.joints))
        report.count("meshes", len(built.model.meshes))
        report.count("vertices", files[path].vertex_count)
        report.count("triangles", len(files[path].triangles))
    return ExportResult(list(files), report)


def _build(
    context: Context, path: Path, options: ExportOptions, report: Report
) -> Job[tuple[Builder, build.Build, dict[Path, Iqm]]]:
    model, is_separate = options.model, options.animation_files != IN_MODEL
    source = find_source(context, model.scope, report, model)
    require_meshes(context, model.scope, source)
    warn_of_left_out(context, model.scope, report)
    warn_of_hidden(context, model.scope, source, report)
    clips = clips_by_file(context, source, options.actions, path, report)
    if is_separate:
        clips = {one if one != path else path.with_stem(f"{path.stem}_anim"): clip for one, clip in clips.items()}
        if options.actions in ("ALL", "ACTIVE"):
            warn_of_file_names(clips, report)
    progress = Progress(len(source.meshes) + len(clips))
    imported = load_file(source.armature.data) if source.armature is not None else None
    builder = Builder(
        context, source, model, options.animation, report, progress, writes_meshes=True, is_separate=is_separate,
        imported=imported, attributes=[] if imported is None else to_attributes(imported),
    )  # fmt: skip
    built = yield from builder.build(clips)
    return builder, built, builder.files(built, path)


def find(context: Context, options: ExportOptions) -> list[LocatedFinding]:
    """The findings of a game about an export, not verified; raises NothingToExportError."""
    options = replace(options, model=replace(options.model, verify=Verify.NONE))
    with state.temporary_object_mode(context):
        builder, _, files = finish(_build(context, Path(f"model{SUFFIX}"), options, Report()))
    location = Location(builder.source.armature)
    game = options.model.game
    return [(finding, location) for iqm in files.values() for finding in check_iqm(iqm, game, builder.imported)]
