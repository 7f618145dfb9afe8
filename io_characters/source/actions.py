"""What a character's declaration says about an action: its name there, its file, its flags and long commands.

Flags are custom properties of the action, so that users see and change them: `action["ai_no_turn"]` is true. So is the
speed that Sauerbraten plays it with, `action["speed"]`. Commands are pose markers; those that are too long for the name
of a marker are stored as a whole.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...io_common.declarations.characters import CharacterAnimation, FrameCommand
from ...io_common.scene import names, versions
from ...io_common.scene import stored_values as values
from . import GROUP

if TYPE_CHECKING:
    from bpy.types import Action, Object

FLAGS = ("prevent_idle_override", "random_cycle_start", "ai_no_turn", "anim_turn")
"""The flags of Doom 3's animations (`Anim_Blend.cpp`)."""

SPEED = "speed"
"""The custom property with Sauerbraten's frames a second."""

_NAME, _FILE, _COMMANDS, _FLAGS, _START = "name", "file", "commands", "flags", "frame_start"
_INDEX, _OWNER, _DECLARED, _SPEED = "index", "owner", "declared", "speed"
_LOWEST_SPEED, _HIGHEST_SPEED = 1e-6, 1e6
_HIGHEST = 1 << 20
_LONGEST_KEY = 63


@dataclass(frozen=True)
class StoredAnimation:
    """What is stored on an action.

    Attributes:
        name: declared; that of the action if it was renamed.
        file: game path of the animation file; that of the model for a sequence of an MD2.
        index: of the animation among those of its part.
        declared: the name that was imported, whatever the action is called now.
        speed: that was imported; None if there was none.
    """

    name: str
    file: str
    index: int
    declared: str
    speed: float | None


def store_animation(
    action: Action,
    animation: CharacterAnimation,
    *,
    owner: Object,
    index: int,
    name: str,
    file: str,
    frame_start: int,
) -> None:
    """Stores the declaration of an animation on its action, as properties and pose markers.

    The action must have its final name. `owner` is the root object of the part that the action moves, `index` the
    action's among those of the part. `name` is what the action should be called: the declared name, or one for another
    file of the same animation. `file` is the game path of the file it was made of, and `frame_start` the frame of the
    action that is the file's first.
    """
    action[GROUP] = {_START: frame_start, _INDEX: index}
    group = action[GROUP]
    group[_OWNER] = owner
    names.store_text(group, _NAME, name)
    group[_NAME + "_shown"] = action.name
    names.store_text(group, _FILE, file)
    texts: dict[str, str] = {}
    for command in animation.commands:
        marker_name = names.for_blender(command.text, versions.MAX_NAME, "command")
        marker = action.pose_markers.new(marker_name)
        marker.frame = frame_start + min(command.frame, _HIGHEST) - 1
        if marker_name != command.text:
            texts[str(len(texts))] = command.text
    if texts:
        group[_COMMANDS] = texts
    for flag in animation.flags:
        if _fits(flag):
            action[flag] = True
    if animation.flags:
        group[_FLAGS] = "\n".join(animation.flags)
    if animation.rate is not None:
        action[SPEED] = float(animation.rate)
        group[_SPEED] = float(animation.rate)
    names.store_text(group, _DECLARED, animation.name)


def load_animation(action: Action) -> StoredAnimation | None:
    """What is stored on an action; None if it is of no character."""
    group = values.read_group(action, GROUP)
    name, file = values.read_text(group, _NAME), values.read_text(group, _FILE)
    if name is None or file is None:
        return None
    index = values.read_integer(group, _INDEX)
    return StoredAnimation(
        name=names.load_name(group, _NAME, action.name),
        file=file,
        index=index or 0,
        declared=values.read_text(group, _DECLARED) or name,
        speed=values.read_number(group, _SPEED, lowest=_LOWEST_SPEED, highest=_HIGHEST_SPEED),
    )


def load_owner(action: Action) -> Object | None:
    """The root object of the part that an action moves; None if there is none."""
    owner = values.read_group(action, GROUP).get(_OWNER)
    return owner if getattr(getattr(owner, "bl_rna", None), "identifier", "") == "Object" else None


def load_commands(action: Action) -> tuple[FrameCommand, ...]:
    """The commands on the pose markers of an action, in the order of their frames."""
    group = values.read_group(action, GROUP)
    start = group.get(_START)
    first = start if type(start) is int and abs(start) < _HIGHEST else 0
    stored = group.get(_COMMANDS)
    whole = {}
    for text in stored.values() if hasattr(stored, "values") else ():
        if isinstance(text, str) and values.is_quotable(text.replace('"', "")):
            whole[names.for_blender(text, versions.MAX_NAME, "command")] = text
    commands = [
        FrameCommand(marker.frame - first + 1, whole.get(marker.name, marker.name))
        for marker in action.pose_markers
        if marker.frame >= first and marker.name.strip()
    ]
    return tuple(sorted(commands, key=lambda command: command.frame))


def load_flags(action: Action) -> tuple[str, ...]:
    """The flags of an action whose custom property is true: those that were imported first, then others of the game."""
    stored = values.read_group(action, GROUP).get(_FLAGS)
    known = dict.fromkeys((*(stored.split("\n") if isinstance(stored, str) else ()), *FLAGS))
    return tuple(flag for flag in known if flag and (not _fits(flag) or _is_true(action.get(flag))))


def _fits(flag: str) -> bool:
    """Whether a custom property can have this name."""
    return 0 < len(flag.encode("utf-8", "surrogateescape")) < _LONGEST_KEY and flag != GROUP


def load_speed(action: Action) -> float | None:
    """The speed of an action in Sauerbraten; None if it has none."""
    return values.read_number(action, SPEED, lowest=_LOWEST_SPEED, highest=_HIGHEST_SPEED)


def _is_true(value: object) -> bool:
    return type(value) in (bool, int, float) and bool(value)
