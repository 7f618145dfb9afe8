"""The export of IQM files. The model is rounded as in the file, verified and checked before anything is written."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..io_blender import reports, state
from ..io_blender.records import NONE
from ..io_blender.reports import ExportResult, Job, Progress, Report, finish, kept_on_failure, raise_all
from ..io_blender.scene.mesh_data import TriangleMesh
from ..io_blender.skeletal.exporting import build
from ..io_blender.skeletal.exporting.clips import clips_by_file, warn_of_file_names
from ..io_blender.skeletal.exporting.corners import Corners, corner_of_vertices, read_corners, tangents_of
from ..io_blender.skeletal.exporting.mesh import Block
from ..io_blender.skeletal.exporting.source import find_model
from ..io_blender.skeletal.records import MESH_INDEX, Integers, load_comment_name
from ..io_blender.verification import Verify
from ..io_common import names
from ..io_common.files import write_files
from ..io_common.skeletal.channels import SAME
from ..io_common.skeletal.formats import Writing
from ..io_common.skeletal.model import Floats
from ..io_common.skeletal.playback import loop_type
from ..io_common.skeletal.scales import NamedAnimation, Poses
from ..io_common.skeletal.skinning import bind_pose
from ..io_common.skeletal.weights import largest_weights, set_weights
from . import format as iqm
from .format import ArrayType, Attributes, Game, Iqm, IqmError
from .format.convert import check_joint_count, parts_of
from .format.files import SUFFIX
from .format.games import INCOMPLETE, mesh_limits
from .options import IN_MODEL
from .records import NAME, load_action, load_file

if TYPE_CHECKING:
    from bpy.types import Context, Object

WRITING = Writing(joint_scales=True, max_influences=4, precision=2e-3)
"""How files are written: the same for all games."""


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
        """The limits of the game for a mesh."""
        return mesh_limits(self.game)


@dataclass(frozen=True)
class ExportOptions(build.ExportOptions):
    """The options of an export of a model and its animations."""

    model: ModelOptions
    animation_files: str = IN_MODEL


@dataclass(eq=False)
class Builder(build.Builder):
    """Builds a model and its animations as an IQM holds them."""

    rounding = "files hold only the four largest weights of a vertex, as bytes"
    has_bounds = False
    is_separate: bool = False
    imported: Iqm | None = None  # the file that the armature was made of
    parts: list[tuple[Integers, Attributes]] = field(default_factory=list)  # its meshes: vertices, and what they have
    corners: dict[Object, Corners] = field(default_factory=dict)
    # By the path of the first, files with one animation each or with all, and the poses of each animation in it.
    encoded: dict[Path, tuple[Iqm, list[Poses]]] = field(default_factory=dict)
    alone: dict[Path, Iqm] = field(default_factory=dict)  # by path, a file with an imported animation alone
    found: set[Any] = field(default_factory=set)  # which imported animations are exported

    def part(self, obj: Object) -> tuple[Integers, Attributes]:
        """The mesh of the imported file that an object was made of."""
        index = MESH_INDEX.read(obj.data)
        if index is None or index >= len(self.parts):
            return np.zeros(0, np.int64), Attributes()
        return self.parts[index]

    def sides_of(self, obj: Object, triangles: TriangleMesh) -> Integers:
        """Which normals and colors the corners have, and where images are mirrored on new faces."""
        self.corners[obj] = read_corners(obj, triangles, self.skeleton, self.part(obj)[1].normals)
        return self.corners[obj].sides

    def points(self, block: Block) -> Floats:
        """The vertices of a block at rest."""
        joints = self.skeleton.joints
        return bind_pose(block.mesh, joints.positions, joints.orientations)[0]

    def round_mesh(self, block: Block) -> None:
        """Rounds weights to the four largest, as bytes."""
        check_joint_count(self.skeleton.joints)
        points, (indices, weights) = self.points(block), largest_weights(block.mesh)
        used = vertices, _ = np.nonzero(weights)
        bones, biases = indices[used].astype(np.int64), weights[used] / 255.0
        set_weights(block.mesh, self.skeleton.joints, vertices, bones, biases, points)
        block.disagreements = np.zeros(len(points))

    def round_animations(self) -> None:
        """Rounds channels to 16 bits."""
        joints, scales = self.skeleton.joints, self.scales()
        found = {path: self._named(path) for path in self.sampled}
        order = sorted(found, key=lambda path: found[path][1])
        for paths in [[path] for path in order] if self.is_separate else [order]:
            named, _, sources = zip(*(found[path] for path in paths), strict=True)
            encoded, poses = iqm.encode_animations(joints, named, scales, sources), []
            for path, one in zip(paths, iqm.to_animations(encoded, joints, scales), strict=True):
                self.animations[path], sampled = one.animation, self.sampled[path]
                sampled.scales, values = one.scales, None if one.scales is None else one.scales.values
                poses.append((sampled.positions, sampled.orientations, values))
            self.encoded[paths[0]] = encoded, poses

    def _named(self, path: Path) -> tuple[NamedAnimation, float, Iqm | None]:
        """An animation with its name, its number in the imported file, and the file with it alone."""
        sampled, clip = self.sampled[path], self.sampled[path].clip
        animation, action = self.animations[path], clip.action
        shown = clip.stored.name if clip.stored is not None else clip.name
        # Names in a file may differ in case alone, those of files get a number then.
        stems = (path.stem, "" if self.is_separate else path.stem.rpartition("_")[0])
        name = next((one for one in (shown, clip.name) if names.for_files(one, "animation") in stems), path.stem)
        alone, number = load_action(action, self.imported)
        key = alone.preserved if alone is not None and number is None else number
        # Copies of an imported action are others.
        if alone is not None and key not in self.found:
            self.found.add(key)
            self.alone[path] = alone
            if shown == NAME.read(action) and (self.is_separate or number is not None):
                # A file of one animation may name it otherwise.
                name = alone.animations[0].name
        else:
            number = None
        has_range = action is not None and action.use_frame_range
        is_loop = action.use_cyclic if has_range else loop_type(animation) == "closed"
        return NamedAnimation(name, animation, sampled.scales, is_loop), np.inf if number is None else number, alone

    def scales(self) -> Floats:
        """The scales of the joints in the bind pose: those of the imported file."""
        file = self.imported or Iqm()
        stored = dict(zip(file.joint_names, iqm.bind_scales(file), strict=True))
        return np.array([stored.get(name, np.ones(3)) for name in self.skeleton.joints.names]).reshape(-1, 3)

    def files(self, built: build.Build, path: Path, game: Game) -> dict[Path, Iqm]:
        """The contents of the files for a game by path, first the model."""
        made, files = [self._attributes(obj, block) for obj, block in built.parts], {}
        whole = iqm.from_model(built.model, attributes=[one for one, _ in made], scales=self.scales())
        for first, (encoded, poses) in self.encoded.items():
            played = iqm.with_animations(whole, encoded, poses, built.model.meshes)
            if self.is_separate:
                alone, source = iqm.animations_alone(played), self.alone.get(first)
                files[first] = alone if source is None else iqm.keep_source(alone, source, [])
            else:
                whole = played
        if self.imported is not None:
            rows, new = [rows for _, rows in made], whole
            whole = iqm.keep_source(new, self.imported, rows)
            if game is not Game.ANY and any(one.code in INCOMPLETE for one in iqm.check_iqm(whole, game)):
                whole = iqm.keep_source(new, self.imported, rows, is_complete=True)
        return {path: whole} | files

    def _attributes(self, obj: Object, block: Block) -> tuple[Attributes, Integers]:
        """The normals, tangents, colors and custom arrays of a block, and which vertices of the imported file its own
        still are, or NONE."""
        points, (members, old), corners = self.points(block), self.part(obj), self.corners[obj]
        if not (np.isfinite(points).all() and np.isfinite(block.mesh.uvs).all()):
            raise IqmError(f"{obj.name} has vertices or UVs that are not finite numbers: repair or delete them")
        block.mesh.name = load_comment_name(obj.data, obj.name) or ("" if len(members) else obj.name)
        sources = np.where(block.sources < len(members), block.sources, NONE)
        rows = np.append(members, NONE)[sources]
        positions = self.imported.array(ArrayType.POSITION) if self.imported is not None else None
        if positions is not None and len(positions):
            off = np.abs(points - positions[rows, :3])
            rows[(off > SAME * np.abs(positions).max()).any(axis=1)] = NONE
        chosen, known = corner_of_vertices(block), sources != NONE
        is_unused = chosen < 0
        normals = np.where(is_unused[:, None], (0.0, 0.0, 1.0), corners.normals[chosen]).astype(np.float64)
        if old.normals is not None:
            is_kept = (rows != NONE) & (is_unused | corners.is_kept[chosen])
            normals[is_kept] = old.normals[sources[is_kept]]
        result = Attributes(normals, tangents_of(points, block.mesh, normals))
        if corners.colors is not None:
            result.colors = np.where(is_unused[:, None], np.uint8(255), corners.colors[chosen])
            if old.colors is not None:
                result.colors[known & is_unused] = old.colors[sources[known & is_unused]]
        for array in old.custom:
            values = np.zeros((len(sources), array.values.shape[1]), array.values.dtype)
            values[known] = array.values[sources[known]]
            result.custom.append(replace(array, values=values))
        return result, rows


def export_model(context: Context, path: Path, options: ExportOptions) -> Job[ExportResult]:
    """Writes a model and its animations; IqmError, NothingToExportError and OSError leave existing files alone."""
    report, game = Report(), options.model.game
    with kept_on_failure(report), state.temporary_object_mode(context):
        builder, files = yield from _build(context, path, options, report)
        sources = {path: builder.imported}
        findings = {target.name: iqm.check_iqm(one, game, sources.get(target)) for target, one in files.items()}
        raise_all(findings, IqmError, report)
        written = {target: iqm.format_iqm(one) for target, one in files.items()}
        # The model last, so that its animations exist as soon as it does.
        write_files(dict(reversed(written.items())))
    return ExportResult(list(files), report)


def _build(
    context: Context, path: Path, options: ExportOptions, report: Report
) -> Job[tuple[Builder, dict[Path, Iqm]]]:
    model, is_separate = options.model, options.animation_files != IN_MODEL
    source = find_model(context, model.scope, report, model)
    clips = clips_by_file(context, source, options.actions, path, report)
    if is_separate:
        clips = {one if one != path else path.with_stem(f"{path.stem}_anim"): clip for one, clip in clips.items()}
        if options.actions in ("ALL", "ACTIVE"):
            warn_of_file_names(clips, report)
    progress = Progress(len(source.meshes) + len(clips))
    imported = load_file(source.armature.data) if source.armature is not None else None
    parts = [] if imported is None else [members for members, _ in parts_of(imported)]
    builder = Builder(
        context, source, model, options.animation, report, progress, writes_meshes=True, is_separate=is_separate,
        imported=imported, parts=list(zip(parts, iqm.to_attributes(imported or Iqm()), strict=True)),
    )  # fmt: skip
    built = yield from builder.build(clips)
    return builder, builder.files(built, path, model.game)


def find(context: Context, options: ExportOptions) -> list[reports.LocatedFinding]:
    """The findings of a game about an export, without verification; raises NothingToExportError."""
    options = replace(options, model=replace(options.model, verify=Verify.NONE))
    with state.temporary_object_mode(context):
        builder, files = finish(_build(context, Path(f"model{SUFFIX}"), options, Report()))
    location, game = reports.Location(builder.source.armature), options.model.game
    return [(finding, location) for one in files.values() for finding in iqm.check_iqm(one, game, builder.imported)]
