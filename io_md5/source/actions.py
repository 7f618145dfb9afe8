"""Data stored on actions: the name of the file, its command line, frame rate and range, and what joint scales do."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...io_blender import stored_values as values
from ...io_blender.scene import names
from . import GROUP

if TYPE_CHECKING:
    from bpy.types import Action

_NAME = "name"
_COMMANDLINE = "commandline"
_FRAME_RATE = "frame_rate"
_FRAME_RANGE = "frame_range"
_SCALES_POSITION = "scale_positions"
# Names that can be quoted hold no line break, but may hold anything else.
_SEPARATOR = "\t"
_MAX_RATE = 1e6
# A longer one cannot be the name of a file.
_LONGEST_NAME = 240


@dataclass(frozen=True)
class StoredAction:
    """The stored data of an action.

    Attributes:
        name: of the file without its extension; the action's name unless Blender could not hold it.
        commandline: of the file; empty if there is none.
        frame_rate: frames per second; None if unknown.
        frame_range: the first and last frame that the import set on the action; None if unknown.
        scales_position: the joints whose scale also applies to their translation.
    """

    name: str
    commandline: str
    frame_rate: float | None
    frame_range: tuple[int, int] | None
    scales_position: frozenset[str] = frozenset()


def store_action(
    action: Action, name: str, commandline: str, frame_rate: float, scales_position: Iterable[str] = ()
) -> None:
    """Stores the data of a file on its action, whose name and frame range must be set."""
    frames = [round(action.frame_start), round(action.frame_end)]
    action[GROUP] = {_FRAME_RATE: float(frame_rate), _FRAME_RANGE: frames}
    # Always, as Blender renames an action that is appended to a file with another of its name.
    names.store_text(action[GROUP], _NAME, name)
    action[GROUP][f"{_NAME}_shown"] = action.name
    if commandline:
        names.store_text(action[GROUP], _COMMANDLINE, commandline)
    joints = _SEPARATOR.join(scales_position)
    if joints:
        names.store_text(action[GROUP], _SCALES_POSITION, joints)


def change_frame_rate(action: Action, rate: float) -> None:
    """Stores another frame rate; 0 removes it, so that the scene's is used."""
    group = values.own_group(action, GROUP)
    if rate > 0.0:
        group[_FRAME_RATE] = float(rate)
    elif _FRAME_RATE in group:
        del group[_FRAME_RATE]


def load_action(action: Action) -> StoredAction:
    """The stored data of an action."""
    group = values.read_group(action, GROUP)
    stored = values.read_text(group, _NAME)
    has_name = stored is not None and len(stored.encode("utf-8", "surrogateescape")) <= _LONGEST_NAME
    name = names.load_name(group, _NAME, action.name) if has_name else action.name
    frames = group.get(_FRAME_RANGE)
    joints = values.read_text(group, _SCALES_POSITION) or ""
    is_range = getattr(frames, "typecode", "") == "i" and len(frames) == 2
    return StoredAction(
        name=name,
        commandline=values.read_text(group, _COMMANDLINE) or "",
        frame_rate=values.read_number(group, _FRAME_RATE, lowest=1e-6, highest=_MAX_RATE),
        frame_range=(int(frames[0]), int(frames[1])) if is_range else None,
        scales_position=frozenset(filter(None, joints.split(_SEPARATOR))),
    )
