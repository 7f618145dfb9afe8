"""Whether a game accepts files, by the rules in `games.profiles`, and descriptions of their contents."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from ...io_common.files import Source, read_source
from ...io_common.rules import Description, Finding, box_line, box_of, describe_findings, find, find_invalid
from ...io_common.skeletal.model import ROOT, Animation, Joints, Model
from ...io_common.skeletal.playback import loop_type
from ...io_common.skeletal.scales import ScaleTable
from ...io_common.skeletal.validation import check_arrays
from ...io_common.skeletal.weights import model_bounds
from ...io_common.texts import counted
from .games.checks import Subject
from .games.profiles import COMMON, Game, game_named, rules_of
from .model import ANIMATION_SUFFIX, CAMERA_SUFFIX, MESH_SUFFIX, Camera, Md5Error
from .text.anim_file import parse_animation, read_animation
from .text.camera_file import parse_camera
from .text.mesh_file import parse_mesh, read_mesh
from .validation import validate_animation, validate_camera, validate_model

_LOOP_LINES = {
    "closed": ["a loop: the last frame repeats the first"],
    "open": ["a loop: the last frame is one step before the first"],
    "none": [],
}


def check_model(
    model: Model, game: Game = Game.ANY, *, has_animation: bool | None = None, animations: Sequence[Animation] = ()
) -> list[Finding]:
    """The findings about a model, by the rules of a game, errors first; empty if there are none.

    `has_animation` is whether there is an animation of the same name beside it, None if unknown. In the poses of
    `animations`, the model is compared with what games keep of it.
    """
    return _check(model, validate_model, Subject(model, has_animation=has_animation, animations=animations), game)


def check_animation(
    animation: Animation, model_joints: Joints | None = None, game: Game = Game.ANY, *, scales: ScaleTable | None = None
) -> list[Finding]:
    """The findings about an animation, errors first, by the rules of a game; it has to fit the joints of its mesh.

    `model_joints` are None if unknown, as `scales` of joints are, in games that have them.
    """
    subject = Subject(animation=animation, mesh_joints=model_joints, scales=scales)
    return _check(animation, validate_animation, subject, game)


def check_camera(camera: Camera, game: Game = Game.ANY) -> list[Finding]:
    """The findings about a camera path, by the rules of a game, errors first; empty if there are none."""
    return _check(camera, validate_camera, Subject(camera=camera), game)


def _check(file: Any, validate: Callable[[Any], None], subject: Subject, game: Game) -> list[Finding]:
    # The rules rely on the shapes of arrays.
    if invalid := find_invalid("invalid", lambda: check_arrays(file)):
        return invalid
    found = find(rules_of(game), subject)
    if any(finding.is_error for finding in found):
        return found
    return [*find_invalid("invalid", lambda: validate(file)), *found]


def describe(source: Source | Model | Animation | Camera, game: str = "", name: str = "") -> Description:
    """The description of a file, or of what was read from one, with the findings of a game if one is named.

    A mesh at a path is checked together with the animation of its name, and the reverse. The source and its name are
    those of `read_mesh`. Raises Md5Error if a file cannot be understood as the kind that its name says, or as any;
    OSError if it cannot be read.
    """
    file = source if isinstance(source, Model | Animation | Camera) else _parse(*read_source(source, name))
    path = Path(source) if game and isinstance(source, str | os.PathLike) else None
    if isinstance(file, Camera):
        return _describe_camera(file, game)
    if isinstance(file, Model):
        return _describe_model(file, game, path.with_suffix(ANIMATION_SUFFIX) if path is not None else None)
    joints = None
    with suppress(OSError, Md5Error):
        joints = read_mesh(path.with_suffix(MESH_SUFFIX)).joints if path is not None else None
    return _describe_animation(file, game, joints)


def _parse(data: bytes, name: str) -> Model | Animation | Camera:
    """What is in a file: what its name says, or what its content is."""
    kinds: dict[str, Callable[[bytes, str], Model | Animation | Camera]]
    kinds = {MESH_SUFFIX: parse_mesh, ANIMATION_SUFFIX: parse_animation, CAMERA_SUFFIX: parse_camera}
    suffix = Path(name).suffix.lower()
    errors = []
    for parse in [kinds[suffix]] if suffix in kinds else kinds.values():
        try:
            return parse(data, name)
        except Md5Error as error:
            errors.append(error)
    raise errors[0]


def _describe_model(model: Model, game: str, companion: Path | None) -> Description:
    """A description of a model; `companion` is where its animation would be, None if unknown."""
    joints = model.joints
    meshes: list[dict[str, Any]] = [
        {
            "shader": mesh.shader,
            "name": mesh.name,
            "vertices": mesh.vertex_count,
            "triangles": len(mesh.triangles),
            "weights": len(mesh.weight_joints),
            "weights_per_vertex": int(mesh.weight_counts.max(initial=0)),
        }
        for mesh in model.meshes
    ]
    roots = [joints.names[index] for index in np.flatnonzero(joints.parents == ROOT).tolist()]
    facts: dict[str, Any] = {
        "kind": "md5mesh",
        "joints": len(joints),
        "roots": roots,
        "meshes": meshes,
        "vertices": model.vertex_count,
        "triangles": sum(len(mesh.triangles) for mesh in model.meshes),
        "box": model_bounds(model).tolist() if model.vertex_count else [],
        "commandline": model.commandline,
        "warnings": _warnings(model.warnings, Subject(model=model)),
    }
    lines = [
        "MD5 mesh",
        f"{counted(len(joints), 'joints')} below {', '.join(roots)}; {counted(len(meshes), 'meshes')}, "
        f"{counted(facts['vertices'], 'vertices')}, {counted(facts['triangles'], 'triangles')}",
        *box_line(facts["box"]),
        *(
            f"mesh {number}: {mesh['shader']!r}, {counted(mesh['vertices'], 'vertices')}, "
            f"{counted(mesh['triangles'], 'triangles')}, {counted(mesh['weights'], 'weights')}, "
            f"at most {mesh['weights_per_vertex']} for a vertex"
            for number, mesh in enumerate(meshes)
        ),
        *_commandline_line(model.commandline),
    ]
    if not game:
        return Description(facts, lines)
    has_animation, animations = None, []
    if companion is not None:
        has_animation = companion.exists()
        with suppress(OSError, Md5Error):
            animations = [read_animation(companion)]
    found = check_model(model, game_named(game), has_animation=has_animation, animations=animations)
    return describe_findings(facts, lines, game, found)


def _describe_animation(animation: Animation, game: str, joints: Joints | None) -> Description:
    playing, words = _playing(animation.frame_count, animation.frame_rate)
    moving = int((animation.flags != 0).sum())
    facts: dict[str, Any] = {
        "kind": "md5anim",
        "joints": len(animation.names),
        "moving_joints": moving,
        **playing,
        "loop": loop_type(animation),
        "animated_components": int(animation.frames.shape[1]),
        "box": box_of(animation.bounds.reshape(-1, 3)),
        "commandline": animation.commandline,
        "warnings": _warnings(animation.warnings, Subject(animation=animation)),
    }
    lines = [
        "MD5 animation",
        words,
        *_LOOP_LINES[facts["loop"]],
        f"{counted(len(animation.names), 'joints')}, {moving:,} of them animated in "
        f"{counted(facts['animated_components'], 'components')}",
        *box_line(facts["box"]),
        *_commandline_line(animation.commandline),
    ]
    found = check_animation(animation, joints, game_named(game)) if game else None
    return describe_findings(facts, lines, game, found)


def _describe_camera(camera: Camera, game: str) -> Description:
    frames = camera.entry_count - len(camera.cuts)
    playing, words = _playing(frames, camera.frame_rate)
    views = camera.fields_of_view
    facts: dict[str, Any] = {
        "kind": "md5camera",
        **playing,
        "cuts": camera.cuts.tolist(),
        "fields_of_view": [float(views.min()), float(views.max())] if len(views) else [],
        "box": box_of(camera.positions),
        "commandline": camera.commandline,
        "warnings": list(camera.warnings),
    }
    lines = [
        "MD5 camera",
        f"{words}; {counted(len(camera.cuts), 'cuts')}",
        *([f"fields of view from {views.min():g}° to {views.max():g}°"] if len(views) else []),
        *box_line(facts["box"]),
        *_commandline_line(camera.commandline),
    ]
    return describe_findings(facts, lines, game, check_camera(camera, game_named(game)) if game else None)


def _playing(frames: int, rate: float) -> tuple[dict[str, float], str]:
    """How long frames last, as facts and in words; 0 s without a frame rate, or with one next to 0."""
    seconds = frames / rate if rate > 0 else 0.0
    # JSON has no infinity.
    seconds = seconds if math.isfinite(seconds) else 0.0
    words = f"{counted(frames, 'frames')} at {rate:g} a second, {seconds:.2f} s"
    return {"frames": frames, "frame_rate": rate, "seconds": seconds}, words


def _warnings(warnings: list[str], subject: Subject) -> list[str]:
    """Warnings of the reader and findings of every game, without duplicates."""
    found = [finding.text for rule in COMMON for finding in rule.check(rule, subject)]
    return list(dict.fromkeys([*warnings, *found]))


def _commandline_line(commandline: str) -> list[str]:
    return [f"made by: {commandline}"] if commandline else []
