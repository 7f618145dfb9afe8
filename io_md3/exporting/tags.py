"""Empties and bones as tags."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ...io_blender import versions
from ...io_blender.records import NONE
from ...io_blender.scene import mesh_data, names
from ...io_blender.scene.time_dependence import depends_on_time
from ..format import Model
from ..importing.tags import channels, shown_matrices, tag_matrices
from ..records import NUMBER
from .surfaces import fitting_name

if TYPE_CHECKING:
    from bpy.types import Depsgraph, Object

    from ...io_blender.reports import Report
    from ...io_blender.scene.axes import Conversion

Floats = npt.NDArray[np.float64]

_PREFIX = "tag_"
# What rounding to single precision changes: in the axes, and in the origin by its distance.
_AXES_TOLERANCE, _ORIGIN_TOLERANCE = 1e-4, 1e-5


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
    def moves(self) -> bool:
        """Whether it may move over time."""
        return depends_on_time(self.obj)

    def matrix(self, depsgraph: Depsgraph) -> Floats:
        """Its transform in the space of the scene, (4, 4)."""
        evaluated = self.obj.evaluated_get(depsgraph)
        matrix = mesh_data.world_matrix(evaluated)
        if self.bone:
            matrix = matrix @ np.array(evaluated.pose.bones[self.bone].matrix, dtype=np.float64)
        return matrix

    def name(self, source: Model | None, report: Report) -> str:
        """That of the file unless it was renamed since."""
        shown = self.bone or self.obj.name
        if source is not None and 0 <= self.number < len(source.tag_names):
            name = source.tag_names[self.number]
            before = names.for_blender(name, versions.MAX_ID_NAME, "tag")
            if names.without_copy_suffix(shown) == names.without_copy_suffix(before):
                return name
        return fitting_name(names.without_copy_suffix(shown), report)


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


def build_tags(
    tags: Sequence[Tag], shown: Floats, source: Model | None, frames: npt.NDArray[np.int64], conversion: Conversion
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    """Origins (F, N, 3) and axes (F, N, 3, 3) of transforms in the scene, (F, N, 4, 4): those of the file where Blender
    still shows them. `frames` are the frames of the file, or NONE, (F,)."""
    rotation = conversion.rotation
    origins = conversion.points(shown[..., :3, 3]).astype(np.float32)
    axes = np.swapaxes(rotation @ shown[..., :3, :3] @ rotation.T, 2, 3).astype(np.float32)
    known = np.flatnonzero(frames != NONE)
    if source is None or not len(known):
        return origins, axes
    before = tag_matrices(source, conversion.inverse())
    for index, tag in enumerate(tags):
        if not 0 <= tag.number < len(source.tag_names):
            continue
        expected = shown_matrices(channels(before[frames[known], tag.number]))
        off = np.abs(shown[known, index] - expected)
        reach = 1.0 + np.abs(expected[:, :3, 3]).max(axis=1)
        same = (off[:, :3, :3].max(axis=(1, 2)) <= _AXES_TOLERANCE) & (
            off[:, :3, 3].max(axis=1) <= _ORIGIN_TOLERANCE * reach
        )
        rows = known[same]
        origins[rows, index] = source.tag_origins[frames[rows], tag.number]
        axes[rows, index] = source.tag_axes[frames[rows], tag.number]
    return origins, axes
