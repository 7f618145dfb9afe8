"""What an armature has without any action: what one action sets must not last into the next."""

from __future__ import annotations

_CHANNELS = (
    "location",
    "rotation_quaternion",
    "rotation_euler",
    "rotation_axis_angle",
    "scale",
    "delta_location",
    "delta_rotation_euler",
    "delta_rotation_quaternion",
    "delta_scale",
)
_REST = {
    "location": (0, 0, 0),
    "rotation_quaternion": (1, 0, 0, 0),
    "rotation_euler": (0, 0, 0),
    "rotation_axis_angle": (0, 0, 1, 0),
    "scale": (1, 1, 1),
}


class Unkeyed:
    """The channels of an armature object, and the custom properties and constraints of it and of its bones.

    Args:
        armature: in the state that is to come back.
    """

    def __init__(self, armature) -> None:
        self._armature = armature
        owners = [armature, *armature.pose.bones]
        self._values = [(armature, name, tuple(getattr(armature, name))) for name in _CHANNELS]
        self._values += [
            (constraint, name, getattr(constraint, name))
            for owner in owners
            for constraint in owner.constraints
            for name in ("mute", "influence")
        ]
        self._properties = [
            (owner, name, value)
            for owner in owners
            for name, value in owner.items()
            if isinstance(value, (bool, int, float, str))
        ]

    def restore(self) -> None:
        """Puts everything back, with all bones at rest."""
        for owner, name, value in self._values:
            setattr(owner, name, value)
        for owner, name, value in self._properties:
            owner[name] = value
        for bone in self._armature.pose.bones:
            for name, value in _REST.items():
                setattr(bone, name, value)
        self._armature.update_tag(refresh={"OBJECT", "DATA"})
