"""Blender's own evaluation of an armature and its meshes, frame by frame."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np

from ..io_common import versions
from ..io_common.animated_state import AnimatedState, reset_pose
from .clips import Clip, Playing

if TYPE_CHECKING:
    from bpy.types import Context, Depsgraph, Object, Scene

_CLOCK = ("fps", "fps_base", "frame_map_old", "frame_map_new", "use_simplify", "simplify_subdivision")


class Player:
    """Plays clips on an armature, and shows the frames that it is asked for.

    To be spared the rest of the scene, which costs most of the time, scenes of its own show only what is exported and
    what that depends on. Where drivers read the user's scene, that scene is played.

    Args:
        context: of the user's scene.
        armature: what the clips move.
        meshes: what it moves.

    Attributes:
        remaps_time: whether the scene plays its animation at another pace than its frames.
    """

    def __init__(self, context: Context, armature: Object, meshes: list[Object]) -> None:
        self._context = context
        self._user_scene: Scene = context.scene  # type: ignore[assignment] # an operator has a scene
        self._armature = armature
        self._meshes = meshes
        self._before: AnimatedState | None = None
        self._scenes: dict[bool, Scene] = {}
        render = self._user_scene.render
        self.remaps_time = render.frame_map_old != render.frame_map_new
        self._needs_user_scene = _reads_scene(self._user_scene, [armature, *meshes])

    def play(self, clip: Clip) -> None:
        """Sets up a clip, to be shown by `show`."""
        armature = self._armature
        if self._before is None:
            self._before = AnimatedState(self._user_scene, [armature])
        # An armature that is shown at rest has its animation all the same.
        armature.data.pose_position = "POSE"
        if clip.playing is not Playing.ALONE:
            return
        data = armature.animation_data or armature.animation_data_create()
        data.use_tweak_mode = False
        data.use_nla = False
        reset_pose(armature)
        versions.play(data, clip.action, clip.slot)

    def show(self, frame: float, *, meshes: bool) -> Depsgraph:
        """The evaluated armature at a frame of the scene, on request with its meshes."""
        scene = self._scene(meshes)
        whole = int(np.floor(frame))
        scene.frame_set(whole, subframe=frame - whole)
        if scene == self._user_scene:
            return self._context.evaluated_depsgraph_get()
        graph = scene.view_layers[0].depsgraph
        assert graph is not None
        return graph

    def close(self) -> None:
        """Removes the scenes and puts back what was changed."""
        for scene in self._scenes.values():
            bpy.data.scenes.remove(scene)
        if self._before is not None:
            self._before.restore()

    def _scene(self, meshes: bool) -> Scene:
        if self._needs_user_scene:
            return self._user_scene
        # An armature that is disabled in viewports is only evaluated for the meshes that it moves.
        meshes = meshes or self._armature.hide_viewport
        if meshes not in self._scenes:
            scene = bpy.data.scenes.new("io_idtech")
            self._scenes[meshes] = scene
            for obj in [self._armature, *(self._meshes if meshes else [])]:
                scene.collection.objects.link(obj)
            for name in _CLOCK:
                setattr(scene.render, name, getattr(self._user_scene.render, name))
            # A view layer has its dependency graph once it was updated.
            scene.view_layers[0].update()
        return self._scenes[meshes]


@contextmanager
def playback(context: Context, armature: Object, meshes: list[Object]) -> Iterator[Player]:
    """A player whose traces are removed at the end, on errors too."""
    player = Player(context, armature, meshes)
    try:
        yield player
    finally:
        player.close()


def _reads_scene(scene: Scene, objects: list[Object]) -> bool:
    """Whether a driver takes a value from a scene."""
    owners: list[Any] = []
    for obj in dict.fromkeys([*scene.objects, *objects]):
        owners += [obj, obj.data, getattr(obj.data, "shape_keys", None)]
    return any(
        variable.type == "CONTEXT_PROP" or any(target.id_type == "SCENE" for target in variable.targets)
        for owner in owners
        if owner is not None and owner.animation_data is not None
        for driver in owner.animation_data.drivers
        for variable in driver.driver.variables
    )
