"""Blender's evaluation of an armature and its meshes, frame by frame.

The user's scene is played with all its objects, because drivers, constraints, physics and nodes may depend on any of
them. If only keyframes and Armature modifiers are used, a temporary scene without the other objects is faster.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, cast

import bpy

from ...io_blender import state
from ...io_blender.clips.animated_state import AnimatedState, play_alone, play_strip_alone, reset_pose
from ...io_blender.scene.time_dependence import has_frame_handlers
from .clips import Clip

if TYPE_CHECKING:
    from bpy.types import ArmatureModifier, Context, Depsgraph, Object, Scene


class Player:
    """Evaluates frames of clips on an armature.

    `context` is that of the user's scene, `meshes` are those that the armature moves, and `clips` must have all that
    will be played.

    Attributes:
        remaps_time: whether the scene uses Time Stretching.
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
        self._saved_state: AnimatedState | None = None
        render = self._scene.render
        self.remaps_time = render.frame_map_old != render.frame_map_new

    def play(self, clip: Clip) -> None:
        """Sets up a clip for `evaluate`."""
        armature = self._armature
        if self._saved_state is None:
            self._saved_state = AnimatedState(
                self._scene, armature, [other.action for other in self._clips if other.action is not None]
            )
            has_others = len(self._scene.objects) > 1 + len(self._meshes)
            if has_others and not self.remaps_time and _is_self_contained(armature, self._meshes):
                self._own_scene = self._new_scene()
        # The armature may be in Rest Position.
        armature.data.pose_position = "POSE"
        if not clip.is_alone:
            return
        # Undoes values that another action has set and this one does not.
        self._saved_state.restore_values()
        reset_pose(armature)
        if clip.strip is not None:
            play_strip_alone(armature, clip.strip)
        else:
            play_alone(armature, clip.action, clip.slot)

    def evaluate(self, frame: float) -> Depsgraph:
        """The dependency graph, evaluated at a frame of the scene."""
        scene = self._own_scene or self._scene
        state.set_frame(scene, frame)
        if self._own_scene is None:
            return self._context.evaluated_depsgraph_get()
        graph = self._own_scene.view_layers[0].depsgraph
        assert graph is not None
        return graph

    def _new_scene(self) -> Scene:
        """A temporary scene with only the armature and its meshes."""
        scene = bpy.data.scenes.new("io_idtech")
        for obj in (self._armature, *self._meshes):
            scene.collection.objects.link(obj)
        for name in ("fps", "fps_base", "use_simplify", "simplify_subdivision"):
            setattr(scene.render, name, getattr(self._scene.render, name))
        # A view layer has no dependency graph before its first update.
        scene.view_layers[0].update()
        return scene

    def close(self) -> None:
        """Restores what was changed."""
        if self._own_scene is not None:
            bpy.data.scenes.remove(self._own_scene)
        if self._saved_state is not None:
            self._saved_state.restore()


@contextmanager
def playback(
    context: Context, armature: Object, meshes: list[Object], clips: Iterable[Clip]
) -> Iterator[Player]:
    """A player whose changes are undone at the end, even after errors."""
    player = Player(context, armature, meshes, clips)
    try:
        yield player
    finally:
        player.close()


def _is_self_contained(armature: Object, meshes: list[Object]) -> bool:
    """Whether an armature and its meshes cannot depend on other objects or on the scene."""
    objects = [armature, *meshes]
    owners = [owner for obj in objects for owner in (obj, obj.data, getattr(obj.data, "shape_keys", None))]
    data = [owner.animation_data for owner in owners if owner is not None]
    return (
        not has_frame_handlers()
        and not any(found is not None and found.drivers for found in data)
        and not any(obj.constraints for obj in objects)
        and not any(bone.constraints for bone in armature.pose.bones)
        and armature.parent is None
        and all(obj.parent in (None, armature) for obj in meshes)
        and all(
            modifier.type == "ARMATURE" and cast("ArmatureModifier", modifier).object in (None, armature)
            for obj in meshes
            for modifier in obj.modifiers
        )
        and all(obj.rigid_body is None for obj in objects)
    )
