"""Blender's own evaluation of an armature and its meshes, frame by frame.

The user's scene is played, with everything in it: drivers, constraints, physics and nodes may read anything of it. Only
where nothing but keyframes and Armature modifiers is at work, a scene of its own spares Blender all other objects.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import bpy

from ..io_common.scene import state, versions
from ..io_common.scene.animated_state import AnimatedState, reset_pose
from .clips import Clip, Playing

if TYPE_CHECKING:
    from bpy.types import Context, Depsgraph, Object, Scene


class Player:
    """Plays clips on an armature, and shows the frames that it is asked for.

    Args:
        context: of the user's scene.
        armature: what the clips move.
        meshes: what it moves.
        clips: all that are going to be played.

    Attributes:
        remaps_time: whether the scene plays its animation at another pace than its frames.
    """

    def __init__(
        self, context: Context, armature: Object, meshes: list[Object], clips: Iterable[Clip]
    ) -> None:
        self._context = context
        self._scene: Scene = context.scene  # type: ignore[assignment] # an operator has a scene
        self._own_scene: Scene | None = None
        self._armature = armature
        self._meshes = meshes
        self._clips = list(clips)
        self._before: AnimatedState | None = None
        render = self._scene.render
        self.remaps_time = render.frame_map_old != render.frame_map_new

    def play(self, clip: Clip) -> None:
        """Sets up a clip, to be shown by `show`."""
        armature = self._armature
        if self._before is None:
            self._before = AnimatedState(
                self._scene, armature, [other.action for other in self._clips if other.action is not None]
            )
            if not self.remaps_time and _reads_nothing_else(armature, self._meshes):
                self._own_scene = self._new_scene()
        # An armature that is shown at rest has its animation all the same.
        armature.data.pose_position = "POSE"
        if clip.playing is not Playing.ALONE:
            return
        data = armature.animation_data or armature.animation_data_create()
        data.use_tweak_mode = False
        data.use_nla = False
        # What another action has set, and this one does not, is as it was before any of them.
        self._before.restore_values()
        reset_pose(armature)
        versions.play(data, clip.action, clip.slot)

    def show(self, frame: float) -> Depsgraph:
        """Everything evaluated at a frame of the scene."""
        scene = self._own_scene or self._scene
        state.set_frame(scene, frame)
        if self._own_scene is None:
            return self._context.evaluated_depsgraph_get()
        graph = self._own_scene.view_layers[0].depsgraph
        assert graph is not None
        return graph

    def _new_scene(self) -> Scene:
        """A scene of the armature and its meshes alone."""
        scene = bpy.data.scenes.new("io_idtech")
        for obj in (self._armature, *self._meshes):
            scene.collection.objects.link(obj)
        for name in ("fps", "fps_base", "use_simplify", "simplify_subdivision"):
            setattr(scene.render, name, getattr(self._scene.render, name))
        # A view layer has its dependency graph once it was updated.
        scene.view_layers[0].update()
        return scene

    def close(self) -> None:
        """Puts back what was changed."""
        if self._own_scene is not None:
            bpy.data.scenes.remove(self._own_scene)
        if self._before is not None:
            self._before.restore()


@contextmanager
def playback(
    context: Context, armature: Object, meshes: list[Object], clips: Iterable[Clip]
) -> Iterator[Player]:
    """A player whose traces are removed at the end, on errors too."""
    player = Player(context, armature, meshes, clips)
    try:
        yield player
    finally:
        player.close()


def _reads_nothing_else(armature: Object, meshes: list[Object]) -> bool:
    """Whether nothing of an armature and its meshes can depend on other objects, or on the scene."""
    objects = [armature, *meshes]
    owners = [owner for obj in objects for owner in (obj, obj.data, getattr(obj.data, "shape_keys", None))]
    data = [owner.animation_data for owner in owners if owner is not None]
    return (
        not bpy.app.handlers.frame_change_pre
        and not bpy.app.handlers.frame_change_post
        and not any(found is not None and found.drivers for found in data)
        and not any(obj.constraints for obj in objects)
        and not any(bone.constraints for bone in armature.pose.bones)
        and armature.parent is None
        and all(obj.parent in (None, armature) for obj in meshes)
        and all(
            modifier.type == "ARMATURE" and modifier.object in (None, armature)
            for obj in meshes
            for modifier in obj.modifiers
        )
        and all(obj.rigid_body is None for obj in objects)
    )
