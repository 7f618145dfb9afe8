"""The values of animated properties, captured and restored around changes of the scene's frame.

A change of frame evaluates every animated property again and would discard changes that the user has not keyed yet.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import bpy

from .. import state, versions

if TYPE_CHECKING:
    from bpy.types import Action, Scene


class AnimatedValues:
    """The values of all animated properties, captured to be restored later.

    `others` are data-blocks with the actions that are going to be played on them. `skips` is true for the paths of
    properties that are left out, as they are restored elsewhere.
    """

    def __init__(
        self, others: Iterable[tuple[Any, Action]] = (), skips: Callable[[str], bool] = lambda path: False
    ) -> None:
        self._values = [
            (owner, path, _value(owner, path)) for owner, path in _animated_paths(others) if not skips(path)
        ]

    def restore(self) -> bool:
        """Restores the values that have changed, and returns whether there were any."""
        changed = False
        for owner, path, value in self._values:
            if value is not None and _value(owner, path) != value:
                _set(owner, path, value)
                changed = True
                if isinstance(owner, bpy.types.ID):
                    # A custom property alone does not tell its drivers.
                    owner.update_tag()
        return changed


@contextmanager
def restored_frame_and_values(scene: Scene) -> Iterator[None]:
    """Restores the scene's frame and camera, and the values of animated properties."""
    values = AnimatedValues()
    try:
        with state.restored_frame(scene):
            yield
    finally:
        if values.restore():
            # Drivers follow the properties that they read.
            for layer in scene.view_layers:
                layer.update()


def _animated_paths(others: Iterable[tuple[Any, Action]]) -> list[tuple[Any, str]]:
    """Every data-block with an action or NLA strips, and the paths of the properties that their curves set."""
    paths: dict[tuple[int, str], tuple[Any, str]] = {}
    owners = list(_owners())
    curves = [(owner, _curves(owner.animation_data)) for owner in owners]
    curves += [(owner, versions.all_fcurves(action)) for owner, action in others]
    for owner, own_curves in curves:
        pointer = owner.as_pointer()
        for path in dict.fromkeys(curve.data_path for curve in own_curves):
            paths[pointer, path] = (owner, path)
    strips = [
        strip for owner in owners for track in owner.animation_data.nla_tracks for strip in track.strips
    ]
    for strip in strips:
        for name in ("influence", "strip_time"):
            paths[strip.as_pointer(), name] = (strip, name)
    return list(paths.values())


def _owners() -> Iterator[Any]:
    """The data-blocks that have animation, including embedded node trees."""
    for data in state.data_blocks():
        for owner in (data, getattr(data, "node_tree", None)):
            if owner is not None and getattr(owner, "animation_data", None) is not None:
                yield owner


def _curves(animation_data: Any) -> Iterator[Any]:
    yield from versions.played_fcurves(animation_data)
    for track in animation_data.nla_tracks:
        for strip in track.strips:
            if strip.action is not None:
                yield from versions.all_fcurves(strip.action)


def _value(owner: Any, path: str) -> Any:
    """The value of a property as plain data; None if there is no such property."""
    try:
        value = owner.path_resolve(path)
        if path.endswith('"]') and isinstance(value, float):
            # `path_resolve` rounds custom properties to single precision.
            holder, name = _custom_property(owner, path)
            value = holder[name]
    except (KeyError, ValueError):
        return None
    return value if isinstance(value, bool | int | float | str) else tuple(value)


def _set(owner: Any, path: str, value: Any) -> None:
    if path.endswith('"]'):
        custom, key = _custom_property(owner, path)
        custom[key] = value
        return
    holder, _, name = path.rpartition(".")
    target = owner.path_resolve(holder) if holder else owner
    setattr(target, name, value)


def _custom_property(owner: Any, path: str) -> tuple[Any, str]:
    """The holder and the name of a custom property, such as the path pose.bones["a"]["b"]."""
    holder, _, name = path.rpartition('["')
    return owner.path_resolve(holder) if holder else owner, bpy.utils.unescape_identifier(name[:-2])
