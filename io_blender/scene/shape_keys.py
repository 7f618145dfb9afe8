"""Shape keys as the frames of a model, relative to the first, the basis: making, reading and showing them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import bpy
import numpy as np
import numpy.typing as npt

from .. import state, versions
from . import names

if TYPE_CHECKING:
    from bpy.types import Key, Object, ShapeKey

_NAMELESS = "frame"


def shape_keys(obj: Object) -> Key | None:
    """The shape keys of a mesh object; None if it has none."""
    return obj.data.shape_keys  # type: ignore[union-attr, no-any-return]


def require_shape_keys(obj: Object) -> Key:
    """The shape keys of a mesh object that is known to have some."""
    keys = shape_keys(obj)
    assert keys is not None
    return keys


def frame_keys(obj: Object) -> list[ShapeKey]:
    """The shape keys that are frames: those that are not muted."""
    keys = shape_keys(obj)
    return [key for key in keys.key_blocks if not key.mute] if keys is not None else []


def value_path(name: str) -> str:
    """The data path of the value of a shape key with that name."""
    return f'key_blocks["{bpy.utils.escape_identifier(name)}"].value'


def has_effect(key: ShapeKey) -> bool:
    """Whether a shape key differs from the one that it is relative to."""
    count = 3 * len(key.data)
    points, other = np.empty(count, dtype=np.float32), np.empty(count, dtype=np.float32)
    key.points.foreach_get("co", points)
    key.relative_key.points.foreach_get("co", other)
    return not np.array_equal(points, other)


def add_frame_keys(
    obj: Object, frame_names: Sequence[str], positions: npt.NDArray[np.floating], *, relative: bool
) -> list[str]:
    """Makes a shape key of each frame, (F, V, 3) in the scene's space; returns their names in Blender."""
    # The object has no shape keys, and its mesh has the shape of the first frame.
    points = np.ascontiguousarray(positions, dtype=np.float32).reshape(len(frame_names), -1)
    wanted = [names.for_blender(name, versions.MAX_NAME, _NAMELESS) for name in frame_names]
    key_names = []
    for name, coordinates in zip(names.distinct(wanted, versions.MAX_NAME), points, strict=True):
        key = obj.shape_key_add(name=name, from_mix=False)
        # `points` is `data` without a wrapper for every point: forty times as fast.
        key.points.foreach_set("co", coordinates)
        key_names.append(key.name)
    keys = require_shape_keys(obj)
    # Blender 5 gives new keys the value 1.
    keys.key_blocks.foreach_set("value", np.zeros(len(key_names), dtype=np.float32))
    keys.use_relative = relative
    obj.active_shape_key_index = 0
    return key_names


# One key alone


def full_value(key: ShapeKey) -> float:
    """The value at which a shape key has its whole effect: 1, or what its range has nearest to that."""
    return min(max(1.0, key.slider_min), key.slider_max)


def differs_from_stored(keys: Key, key: ShapeKey) -> bool:
    """Whether a shape key at its full value gives other positions than those stored in it."""
    # A vertex group, a range of values without 1, or another key than the basis to be relative to do that.
    if not keys.use_relative or key == keys.reference_key:
        return False
    return bool(key.vertex_group) or key.relative_key != keys.reference_key or full_value(key) != 1.0


@contextmanager
def solo_keys(objects: Sequence[Object]) -> Iterator[Callable[[Object, int], None]]:
    """Yields a function that shows a shape key of an object alone; restores what was shown before."""
    all_keys = [keys for obj in objects if (keys := shape_keys(obj)) is not None]
    drivers = [driver for keys in all_keys if keys.animation_data is not None for driver in keys.animation_data.drivers]
    before = [
        state.Saved(objects, "active_shape_key_index", "show_only_shape_key"),
        state.Saved((key for keys in all_keys for key in keys.key_blocks), "value"),
        state.Saved(drivers, "mute"),
    ]
    try:
        for driver in drivers:
            driver.mute = True
        yield _show_alone
    finally:
        for saved in before:
            saved.restore()


def _show_alone(obj: Object, index: int) -> None:
    """Shows one shape key of an object: pinned, or at its full value where that gives other positions."""
    keys = require_shape_keys(obj)
    key = keys.key_blocks[index]
    obj.show_only_shape_key = not differs_from_stored(keys, key)
    obj.active_shape_key_index = index
    if not obj.show_only_shape_key:
        for other in keys.key_blocks:
            other.value = 0.0
        key.value = full_value(key)
