"""Tags in Blender: as empties or bones with keyframes. A model that hangs on one needs no other transform."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import bpy
import numpy as np
import numpy.typing as npt
from bpy.types import Action, Context, Depsgraph, Object
from mathutils import Matrix, Quaternion

from ..io_blender import state, versions
from ..io_blender.clips.keyframes import KeyframeWriter, SequenceActions
from ..io_blender.records import NONE
from ..io_blender.reports import ImportResult, Report
from ..io_blender.scene import mesh_data
from ..io_blender.scene.axes import Conversion
from ..io_common import names
from ..io_common.frames import FrameSequence, to_latin1
from ..io_common.rules import box_of
from .format import NAME_SIZE, Model
from .options import ImportOptions
from .records import NUMBER, SLOT

Floats = npt.NDArray[np.float64]
# The prefix of their paths, their group, and the channels of all frames, (F, 10).
_Curves: TypeAlias = tuple[str, str, Floats]

_CHANNELS = (("location", slice(0, 3)), ("rotation_quaternion", slice(3, 7)), ("scale", slice(7, 10)))
# Of the size of the model.
_DISPLAY_SIZE = 0.1
_PREFIX = "tag_"
# What rounding to single precision changes: in the axes, and in the origin by its distance.
_AXES_TOLERANCE, _ORIGIN_TOLERANCE = 1e-4, 1e-5
# Degrees of shear that nobody sees.
_SHEAR_TOLERANCE = 0.1


def tag_matrices(model: Model, conversion: Conversion) -> Floats:
    """The transforms of tags in the scene, (F, N, 4, 4); that of a tag without a finite one is the identity."""
    frames, count = model.tag_origins.shape[:2]
    result = np.tile(np.eye(4), (frames, count, 1, 1))
    # The rows of a tag are its axes. A model that hangs on it is in coordinates of the scene as well.
    turned = conversion.rotation @ np.swapaxes(model.tag_axes.astype(np.float64), 2, 3) @ conversion.rotation.T
    result[..., :3, :3] = turned
    result[..., :3, 3] = conversion.points(model.tag_origins.astype(np.float64))
    result[~(np.abs(result) < 1e15).all(axis=(2, 3))] = np.eye(4)
    return result


def channels(matrices: Floats) -> Floats:
    """Location, rotation and scale of transforms (F, 4, 4), as Blender has them, (F, 10)."""
    result = np.empty((len(matrices), 10))
    before = None
    for row, matrix in zip(result, matrices, strict=True):
        parts: Any = Matrix(matrix.tolist()).decompose()
        location, rotation, scale = parts
        if before is not None:
            rotation.make_compatible(before)
        before = rotation
        row[:] = [*location, *rotation, *scale]
    return result


def shown_matrices(values: Floats) -> Floats:
    """The transforms (F, 4, 4) that Blender makes of channels (F, 10)."""
    parts = values.astype(np.float32).tolist()
    return np.array([Matrix.LocRotScale(row[:3], Quaternion(row[3:7]).normalized(), row[7:]) for row in parts]).reshape(
        -1, 4, 4
    )


# Import


def build_tags(
    context: Context,
    root: Object,
    model: Model,
    sequences: Sequence[FrameSequence],
    options: ImportOptions,
    result: ImportResult,
    actions: SequenceActions,
) -> None:
    """Makes the tags of a model below its parent, animated if they move; with an action of each of some sequences."""
    if not model.tag_names:
        return
    matrices = tag_matrices(model, options.conversion)
    bounds = model.bounds[:1].reshape(-1, 3)
    corners = box_of(bounds[np.isfinite(bounds).all(axis=1)].astype(np.float64))
    extent = float(np.ptp(np.array(corners or [[0.0], [1.0]]), axis=0).max())
    size = extent * options.conversion.scale * _DISPLAY_SIZE or 1.0
    if options.tags == "BONES":
        animated = [_add_bones(context, root, model.tag_names, matrices, size, result)]
    else:
        animated = [
            _add_empty(root, name, number, channels(matrices[:, number]), size, result)
            for number, name in enumerate(model.tag_names)
        ]
    whole = FrameSequence(root.name, 0, len(matrices) - 1)
    for owner, curves in animated:
        SLOT.write(owner, owner.name)
        if any((values != values[:1]).any() for _, _, values in curves):
            for sequence in (whole, *sequences):
                action = _build_action(owner, sequence, curves, options.frame_start, actions)
                result.add_action(action)
                if sequence == whole:
                    versions.assign_action(owner.animation_data_create(), action, "OBJECT", owner.name)
                else:
                    action.use_fake_user = True
    result.report.count("tags", len(model.tag_names))


def hang_on_tag(obj: Object, root: Object, name: str) -> None:
    """Parents an object to the tag of that name of a model, if there is one."""
    for tag in root.children:
        bone = tag.data.bones.get(name) if tag.type == "ARMATURE" else None
        if bone is not None:
            obj.parent, obj.parent_type, obj.parent_bone = tag, "BONE", name
            # Children are at the tail of a bone.
            obj.matrix_parent_inverse = Matrix.Translation((0.0, -bone.length, 0.0))
        elif tag.type == "EMPTY" and names.without_copy_suffix(tag.name) == name:
            obj.parent = tag


def _add_object(root: Object, name: str, data: Any, result: ImportResult) -> Object:
    """An object below the parent of a model, in its collection."""
    obj = bpy.data.objects.new(name, data)
    obj.parent = root
    root.users_collection[0].objects.link(obj)
    result.objects.append(obj)
    return obj


def _add_empty(
    root: Object, name: str, number: int, values: Floats, size: float, result: ImportResult
) -> tuple[Object, list[_Curves]]:
    tag = _add_object(root, names.for_blender(name, versions.MAX_ID_NAME, "tag"), None, result)
    tag.empty_display_type = "ARROWS"
    tag.rotation_mode = "QUATERNION"
    _set_channels(tag, values[0])
    # Some files have axes of another length than 1.
    tag.empty_display_size = size / max(float(np.abs(values[0, 7:]).max()), 1e-6)
    NUMBER.write(tag, number)
    return tag, [("", "Object Transforms", values)]


def _add_bones(
    context: Context, root: Object, tag_names: list[str], matrices: Floats, size: float, result: ImportResult
) -> tuple[Object, list[_Curves]]:
    name = names.for_blender(f"{root.name} tags", versions.MAX_ID_NAME, "tags")
    armature = _add_object(root, name, bpy.data.armatures.new(name), result)
    shown = names.distinct([names.for_blender(one, versions.MAX_NAME, "tag") for one in tag_names], versions.MAX_NAME)
    with state.edit_mode(context, armature):
        for bone_name, matrix in zip(shown, matrices[0], strict=True):
            bone = armature.data.edit_bones.new(bone_name)
            bone.length = size
            bone.matrix = Matrix(matrix.tolist()).normalized()
    curves = []
    for number, bone_name in enumerate(shown):
        pose_bone = armature.pose.bones[bone_name]
        NUMBER.write(pose_bone.bone, number)
        rest = np.array(pose_bone.bone.matrix_local, dtype=np.float64)
        values = channels(np.linalg.inv(rest) @ matrices[:, number])
        _set_channels(pose_bone, values[0])
        curves.append((f'pose.bones["{bpy.utils.escape_identifier(bone_name)}"].', bone_name, values))
    return armature, curves


def _set_channels(owner: Any, values: Floats) -> None:
    for path, part in _CHANNELS:
        setattr(owner, path, values[part])


def _build_action(
    owner: Object, sequence: FrameSequence, curves: list[_Curves], frame_start: int, actions: SequenceActions
) -> Action:
    """The action of a sequence, which begins at the first frame, with what an object plays."""
    following, count = sequence.following, sequence.frame_count
    rows = [*range(sequence.first, sequence.last + 1), *([] if following is None else [following])]
    action = actions.get(sequence.name, owner.name, frame_start, count, is_loop=following is not None)
    channel_curves = versions.ActionCurves(action, "OBJECT", owner.name)
    for prefix, group, values in curves:
        writer = KeyframeWriter(frame_start, len(rows))
        for path, part in _CHANNELS:
            for index, column in enumerate(values[rows, part].T):
                writer.write(channel_curves.new(prefix + path, index, group), column)
    return action


# Export


@dataclass(frozen=True, eq=False)
class Tag:
    """An empty, or a bone of an armature."""

    obj: Object
    bone: str = ""

    @property
    def _owner(self) -> Any:
        return self.obj.data.bones[self.bone] if self.bone else self.obj  # type: ignore[union-attr]

    @property
    def number(self) -> int:
        """Which tag of the imported file it is, or NONE."""
        found = NUMBER.read(self._owner)
        return NONE if found is None else found

    @property
    def shown_name(self) -> str:
        """Its name in Blender, without the number of a copy."""
        return names.without_copy_suffix(self.bone or self.obj.name)

    def matrix(self, depsgraph: Depsgraph) -> Floats:
        """Its transform in the space of the scene, (4, 4)."""
        evaluated = self.obj.evaluated_get(depsgraph)
        matrix = mesh_data.world_matrix(evaluated)
        if self.bone:
            matrix = matrix @ np.array(evaluated.pose.bones[self.bone].matrix, dtype=np.float64)
        return matrix

    def name(self, source: Model | None, report: Report) -> str:
        """That of the file unless it was renamed since."""
        if source is not None and 0 <= self.number < len(source.tag_names):
            name = source.tag_names[self.number]
            before = names.for_blender(name, versions.MAX_ID_NAME, "tag")
            if self.shown_name == names.without_copy_suffix(before):
                return name
        return fitting_name(self.shown_name, report)


def find_tags(objects: Sequence[Object]) -> list[Tag]:
    """The tags among objects: empties and bones that were imported as one, or whose name begins with `tag_`."""
    found = [Tag(obj) for obj in objects if obj.type == "EMPTY" and _is_tag(obj, obj.name)]
    for obj in objects:
        if obj.type == "ARMATURE":
            found += [Tag(obj, bone.name) for bone in obj.data.bones if _is_tag(bone, bone.name)]
    numbers = {tag: tag.number if tag.number != NONE else len(found) for tag in found}
    return sorted(found, key=lambda tag: (numbers[tag], tag.bone or tag.obj.name))


def _is_tag(owner: Any, name: str) -> bool:
    return NUMBER.read(owner) is not None or name.lower().startswith(_PREFIX)


def tag_tables(
    tags: Sequence[Tag],
    shown: Floats,
    source: Model | None,
    frames: npt.NDArray[np.int64],
    conversion: Conversion,
    report: Report,
    *,
    noise: float,
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    """Origins (F, N, 3) and axes (F, N, 3, 3) of transforms in the scene, (F, N, 4, 4): those of the file where Blender
    still shows them, else without scale. `frames` are the frames of the file, or NONE, (F,); `noise` is that of places.
    """
    rotation = conversion.rotation
    rotations, angles = nearest_rotations(shown[..., :3, :3])
    origins = conversion.points(shown[..., :3, 3]).astype(np.float32)
    axes = np.swapaxes(rotation @ rotations @ rotation.T, 2, 3).astype(np.float32)
    known = np.flatnonzero(frames != NONE)
    before = tag_matrices(source, conversion.inverse()) if source is not None and len(known) else None
    for index, tag in enumerate(tags):
        if source is not None and before is not None and 0 <= tag.number < len(source.tag_names):
            expected = shown_matrices(channels(before[frames[known], tag.number]))
            off = np.abs(shown[known, index] - expected)
            reach = 1.0 + np.abs(expected[:, :3, 3]).max(axis=1)
            same = (off[:, :3, :3].max(axis=(1, 2)) <= _AXES_TOLERANCE) & (
                off[:, :3, 3].max(axis=1) <= _ORIGIN_TOLERANCE * reach + noise
            )
            rows = known[same]
            origins[rows, index] = source.tag_origins[frames[rows], tag.number]
            axes[rows, index] = source.tag_axes[frames[rows], tag.number]
            angles[rows, index] = 0.0
        angle = float(angles[:, index].max(initial=0.0))
        if angle > _SHEAR_TOLERANCE:
            report.warn(
                f"sheared or mirrored, which tags in games cannot be, so its axes were written up to {angle:.3g} "
                "degrees off. Apply the scale of its parents, or make it positive and even",
                tag.bone or tag.obj.name,
            )
    return origins, axes


def nearest_rotations(matrices: Floats) -> tuple[Floats, npt.NDArray[np.float64]]:
    """The rotations nearest to matrices (F, N, 3, 3), and how far in degrees the axes are off at most, (F, N)."""
    # As Blender does, a matrix that mirrors is taken as the rotation of its negative.
    finite = np.nan_to_num(matrices, nan=0.0, posinf=0.0, neginf=0.0)
    left, _, right = np.linalg.svd(finite * np.where(np.linalg.det(finite) < 0.0, -1.0, 1.0)[..., None, None])
    # Without a size along an axis, its sign is open.
    left[..., 2] *= np.linalg.det(left @ right)[..., None]
    rotations = left @ right
    lengths = np.linalg.norm(finite, axis=2)
    cosines = (finite * rotations).sum(axis=2) / np.where(lengths > 0.0, lengths, 1.0)
    cosines[lengths == 0.0] = 1.0
    angles = np.degrees(np.arccos(np.clip(cosines, -1.0, 1.0))).max(axis=2)
    return rotations, angles


def fitting_name(name: str, report: Report) -> str:
    """A name as the file can have it, with a warning if it had to change."""
    fit = to_latin1(name)[: NAME_SIZE - 1]
    if fit != name:
        report.warn(f"names have at most {NAME_SIZE - 1} Latin-1 characters, so it was written as {fit}", name)
    return fit
