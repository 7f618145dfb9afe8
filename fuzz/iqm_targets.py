"""What fuzzing does with the bytes of an IQM, and files to begin with. Not part of the built extension."""

from __future__ import annotations

import iqm_samples

from io_idtech.io_iqm.format import (
    Game,
    check_iqm,
    format_iqm,
    from_model,
    parse_iqm,
    to_animations,
    to_attributes,
    to_model,
)


def iqm(data: bytes) -> None:
    """A file and back; its model and animations and back; the rules of all games."""
    found = parse_iqm(data, preserve=True)
    assert format_iqm(found) == bytes(data)
    found.preserved = None
    assert parse_iqm(format_iqm(found)) == found
    for game in Game:
        check_iqm(found, game)
    model, attributes = to_model(found), to_attributes(found)
    animations = to_animations(found) if found.joint_names and len(found.pose_parents) else []
    made = from_model(model, animations, attributes)
    assert parse_iqm(format_iqm(made)) == made


def seeds() -> tuple[bytes, ...]:
    """Two meshes with animations, in our order and another."""
    return (format_iqm(iqm_samples.iqm()), iqm_samples.odd_bytes())
