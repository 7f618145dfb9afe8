"""Models and animations prepared for a game; the result looks the same in Blender."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace

import numpy as np

from ....io_common.skeletal.model import Animation, Joints, Mesh, Model
from ....io_common.skeletal.skeleton import Precision, components, encode_poses, with_components
from ....io_common.texts import listing
from ..validation import is_writable
from .checks import NameRule, byte_count
from .profiles import PROFILES, Comments, Game, Writing

_UNWRITABLE = re.compile("[\r\n\0\ud800-\udc7f\udd00-\udfff]")
_REPLACEMENT = "_"
REST_RATE = 24.0  # frames per second of a rest pose, as in id's files


def prepare_model(
    model: Model, game: Game = Game.ANY, *, make_names_safe: bool = True, object_names: list[str] | None = None
) -> tuple[Model, list[str]]:
    """A model prepared for a game, and warnings about what was replaced or shortened.

    With `make_names_safe`, joint names that the game does not accept are replaced. `object_names` are those of the
    meshes, for comments that the game requires; else the last parts of the shaders are used.
    """
    names, commandline, warnings = _texts(model.joints.names, model.commandline, game, make_names_safe)
    meshes = _meshes(model.meshes, PROFILES[game].writing, object_names)
    joints = replace(model.joints, names=names)
    return replace(model, joints=joints, meshes=meshes, commandline=commandline), warnings


def prepare_animation(
    animation: Animation, game: Game = Game.ANY, *, make_names_safe: bool = True
) -> tuple[Animation, list[str]]:
    """An animation prepared for a game; for the arguments and results see `prepare_model`."""
    names, commandline, warnings = _texts(animation.names, animation.commandline, game, make_names_safe)
    prepared = replace(animation, names=names, commandline=commandline)
    if PROFILES[game].writing.all_components:
        prepared = with_components(prepared, components(prepared), limits=-1.0)
    return prepared, warnings


def rest_pose(joints: Joints, bounds: np.ndarray, commandline: str = "") -> Animation:
    """An animation of one frame, the bind pose; bounds are the lower and upper corner of the model, (2, 3)."""
    return encode_poses(
        list(joints.names), joints.parents, joints.positions[None], joints.orientations[None], frame_rate=REST_RATE,
        bounds=np.asarray(bounds)[None], commandline=commandline, precision=Precision(0.0, 0.0),
    )  # fmt: skip


def shorten(text: str, max_bytes: int) -> str:
    """A text shortened to a number of bytes without splitting a character."""
    text = text[:max_bytes]
    while byte_count(text) > max_bytes:
        text = text[:-1]
    return text


def safe_names(names: list[str], rule: NameRule) -> list[str]:
    """Names that a game accepts; the same for mesh and animations, as only all names in order count."""
    valid = {name for name in names if is_writable(name) and rule.accepts(name)}
    # Some engines compare names without regard to case.
    taken = {name.casefold() for name in valid}
    result = []
    for name in names:
        safe = name
        if name not in valid:
            clean = _UNWRITABLE.sub(_REPLACEMENT, name.replace('"', "'"))
            clean = re.sub(rule.forbidden, _REPLACEMENT, clean) if rule.forbidden else clean
            number, suffix = 1, ""
            while (safe := _with_suffix(clean, suffix, rule)).casefold() in taken:
                number += 1
                suffix = f"{_REPLACEMENT}{number}"
            taken.add(safe.casefold())
        result.append(safe)
    return result


def _with_suffix(name: str, suffix: str, rule: NameRule) -> str:
    return (shorten(name, rule.max_bytes - len(suffix)) if rule.max_bytes else name) + suffix


def _texts(names: list[str], commandline: str, game: Game, make_names_safe: bool) -> tuple[list[str], str, list[str]]:
    """Joint names and a command line that a game accepts, and warnings about what was replaced or shortened."""
    writing = PROFILES[game].writing
    warnings: list[str] = []
    safe = safe_names(names, writing.names) if make_names_safe else names
    changed = [f"{old!r} became {new!r}" for old, new in zip(names, safe, strict=True) if old != new]
    if changed:
        label = PROFILES[game].label if game is not Game.ANY else "MD5"
        warnings.append(f"joint names that {label} does not accept were replaced: {listing(changed)}")
    limit, length = writing.max_commandline, byte_count(commandline)
    if limit and length > limit:
        commandline = shorten(commandline, limit)
        warnings.append(f"the command line was shortened from {length:,} to {limit:,} bytes, the limit of the game")
    return safe, commandline, warnings


def _meshes(meshes: list[Mesh], writing: Writing, object_names: list[str] | None) -> list[Mesh]:
    shared = Counter((mesh.comment_name, mesh.shader) for mesh in meshes)
    taken = {mesh.comment_name for mesh in meshes}
    made: dict[str, str] = {}
    result = []
    for index, mesh in enumerate(meshes):
        comment = mesh.comment_name
        if not writing.name_lines:
            comment = comment or mesh.name
        is_ambiguous = shared[mesh.comment_name, mesh.shader] > 1
        if not comment and (
            writing.comments is Comments.ALL or (writing.comments is Comments.AMBIGUOUS and is_ambiguous)
        ):
            last_part = mesh.shader.replace("\\", "/").rstrip("/").rpartition("/")[2]
            label = mesh.name or (object_names[index] if object_names else "") or last_part or "mesh"
            is_object = bool(object_names) and not mesh.name
            comment, number = label, 1
            while comment in taken and not (is_object and made.get(label) == comment):
                number += 1
                comment = f"{label}_{number}"
            taken.add(comment)
            if is_object:
                made[label] = comment
        result.append(replace(mesh, name=mesh.name if writing.name_lines else "", comment_name=comment))
    return result
