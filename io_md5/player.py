"""Blender's own evaluation of an armature and its meshes, frame by frame.

The user's scene is played, with everything in it: drivers, constraints, physics and nodes may read anything of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from ..io_common import versions
from ..io_common.animated_state import AnimatedState, reset_pose
from .clips import Clip, Playing

if TYPE_CHECKING:
    from bpy.types import Context, Depsgraph, Object, Scene


class Player:
    """Plays clips on an armature, and shows the frames that it is asked for.

    Args:
        context: of the user's scene.
        armature: what the clips move.
        clips: all that are going to be played.

    Attributes:
        remaps_time: whether the scene plays its animation at another pace than its frames.
    """

    def __init__(self, context: Context, armature: Object, clips: Iterable[Clip]) -> None:
        self._context = context
        self._scene: Scene = context.scene  # type: ignore[assignment] # an operator has a scene
        self._armature = armature
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
        whole = int(np.floor(frame))
        self._scene.frame_set(whole, subframe=frame - whole)
        return self._context.evaluated_depsgraph_get()

    def close(self) -> None:
        """Puts back what was changed."""
        if self._before is not None:
            self._before.restore()


@contextmanager
def playback(context: Context, armature: Object, clips: Iterable[Clip]) -> Iterator[Player]:
    """A player whose traces are removed at the end, on errors too."""
    player = Player(context, armature, clips)
    try:
        yield player
    finally:
        player.close()
