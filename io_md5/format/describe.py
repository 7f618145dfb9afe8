"""Descriptions of MD5 files, as data and as text."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ...io_common.counting import counted
from .anim_file import read_animation
from .camera_file import read_camera
from .check import Finding, check_animation, check_camera, check_model
from .errors import Md5Error
from .games import COMMON, Subject, game_named
from .mesh_file import read_mesh
from .model import ROOT, Animation, Camera, Floats, Joints, Mesh, Model
from .playback import LoopType, loop_type
from .skinning import skin
from .suffixes import ANIMATION_SUFFIX, CAMERA_SUFFIX, MESH_SUFFIX

FilePath = str | os.PathLike[str]


@dataclass(frozen=True)
class Description:
    """A description of a file.

    Attributes:
        facts: JSON values; "kind" and "warnings" are always present, "findings" if a game was given.
        lines: the same as text.
    """

    facts: dict[str, Any]
    lines: list[str]


def describe(source: FilePath | Model | Animation | Camera, game: str = "") -> Description:
    """The description of a file, or of what was read from one.

    Args:
        source: the path of a file, whose suffix tells its kind, or a model, animation or camera.
        game: the name of a game to check for; empty for none.

    Raises:
        Md5Error: the file cannot be understood, or its suffix is none of MD5.
        OSError: the file cannot be read.
    """
    if isinstance(source, Model):
        return _describe_model(source, game)
    if isinstance(source, Animation):
        return _describe_animation(source, game)
    if isinstance(source, Camera):
        return _describe_camera(source, game)
    suffix = Path(source).suffix.lower()
    if suffix not in DESCRIBERS:
        raise Md5Error(
            "unknown file type", path=os.fspath(source), found=repr(suffix), expected=", ".join(DESCRIBERS)
        )
    return DESCRIBERS[suffix](source, game)


def describe_mesh(path: FilePath, game: str = "") -> Description:
    """The description of an .md5mesh file, with findings for a game unless its name is empty.

    Raises Md5Error if the file cannot be understood.
    """
    beside = Path(path).with_suffix(ANIMATION_SUFFIX)
    animations = _animations_at(beside) if game else []
    return _describe_model(read_mesh(path), game, has_animation=beside.exists(), animations=animations)


def _describe_model(
    model: Model, game: str, *, has_animation: bool | None = None, animations: Sequence[Animation] = ()
) -> Description:
    joints = model.joints
    points = [skin(mesh, joints.positions, joints.orientations) for mesh in model.meshes]
    meshes = [_mesh_facts(mesh) for mesh in model.meshes]
    roots = [joints.names[index] for index in np.flatnonzero(joints.parents == ROOT).tolist()]
    facts: dict[str, Any] = {
        "kind": "md5mesh",
        "joints": len(joints),
        "roots": roots,
        "meshes": meshes,
        "vertices": model.vertex_count,
        "triangles": sum(len(mesh.triangles) for mesh in model.meshes),
        "box": _box(np.concatenate([np.empty((0, 3)), *points])),
        "commandline": model.commandline,
        "warnings": _warnings(model.warnings, Subject(model=model)),
    }
    findings = (
        check_model(model, game_named(game), has_animation=has_animation, animations=animations)
        if game
        else []
    )
    lines = [
        "MD5 mesh",
        f"{counted(len(joints), 'joints')} below {', '.join(roots)}; {counted(len(meshes), 'meshes')}, "
        f"{counted(facts['vertices'], 'vertices')}, {counted(facts['triangles'], 'triangles')}",
        *_box_line(facts["box"]),
        *(
            f"mesh {number}: {mesh['shader']!r}, {counted(mesh['vertices'], 'vertices')}, "
            f"{counted(mesh['triangles'], 'triangles')}, {counted(mesh['weights'], 'weights')}, "
            f"at most {mesh['weights_per_vertex']} for a vertex"
            for number, mesh in enumerate(meshes)
        ),
        *_commandline_line(model.commandline),
    ]
    return _with_findings(facts, lines, game, findings)


def _seconds(frames: int, rate: float) -> float:
    """How long frames last; 0 without a frame rate, or with one next to 0, as JSON has no infinity."""
    seconds = frames / rate if rate > 0 else 0.0
    return seconds if math.isfinite(seconds) else 0.0


def describe_animation(path: FilePath, game: str = "") -> Description:
    """The description of an .md5anim file; for the game and errors see `describe_mesh`."""
    return _describe_animation(read_animation(path), game, _joints_beside(path) if game else None)


def _describe_animation(animation: Animation, game: str, joints: Joints | None = None) -> Description:
    seconds = _seconds(animation.frame_count, animation.frame_rate)
    loop = loop_type(animation)
    moving = int((animation.flags != 0).sum())
    corners = animation.bounds.reshape(-1, 3)
    facts: dict[str, Any] = {
        "kind": "md5anim",
        "joints": len(animation.names),
        "moving_joints": moving,
        "frames": animation.frame_count,
        "frame_rate": animation.frame_rate,
        "seconds": seconds,
        "loop": loop,
        "animated_components": int(animation.frames.shape[1]),
        "box": _box(corners),
        "commandline": animation.commandline,
        "warnings": _warnings(animation.warnings, Subject(animation=animation)),
    }
    findings = check_animation(animation, joints, game_named(game)) if game else []
    lines = [
        "MD5 animation",
        f"{counted(animation.frame_count, 'frames')} at {animation.frame_rate:g} a second, {seconds:.2f} s",
        *([_LOOP_LINES[loop]] if loop in _LOOP_LINES else []),
        f"{counted(len(animation.names), 'joints')}, {moving:,} of them animated in "
        f"{counted(facts['animated_components'], 'components')}",
        *_box_line(facts["box"]),
        *_commandline_line(animation.commandline),
    ]
    return _with_findings(facts, lines, game, findings)


def describe_camera(path: FilePath, game: str = "") -> Description:
    """The description of an .md5camera file; for the game and errors see `describe_mesh`."""
    return _describe_camera(read_camera(path), game)


def _describe_camera(camera: Camera, game: str) -> Description:
    frames = camera.entry_count - len(camera.cuts)
    seconds = _seconds(frames, camera.frame_rate)
    views = camera.fields_of_view
    facts: dict[str, Any] = {
        "kind": "md5camera",
        "frames": frames,
        "frame_rate": camera.frame_rate,
        "seconds": seconds,
        "cuts": camera.cuts.tolist(),
        "fields_of_view": [float(views.min()), float(views.max())] if len(views) else [],
        "box": _box(camera.positions),
        "commandline": camera.commandline,
        "warnings": list(camera.warnings),
    }
    lines = [
        "MD5 camera",
        f"{counted(frames, 'frames')} at {camera.frame_rate:g} a second, {seconds:.2f} s; "
        f"{counted(len(camera.cuts), 'cuts')}",
        *([f"fields of view from {views.min():g}° to {views.max():g}°"] if len(views) else []),
        *_box_line(facts["box"]),
        *_commandline_line(camera.commandline),
    ]
    findings = check_camera(camera, game_named(game)) if game else []
    return _with_findings(facts, lines, game, findings)


_LOOP_LINES: dict[LoopType, str] = {
    "closed": "a loop: the last frame repeats the first",
    "open": "a loop: the last frame is one step before the first",
}

DESCRIBERS = {
    MESH_SUFFIX: describe_mesh,
    ANIMATION_SUFFIX: describe_animation,
    CAMERA_SUFFIX: describe_camera,
}
"""The function that describes each kind of file, by suffix."""


def _mesh_facts(mesh: Mesh) -> dict[str, Any]:
    return {
        "shader": mesh.shader,
        "name": mesh.name,
        "vertices": mesh.vertex_count,
        "triangles": len(mesh.triangles),
        "weights": len(mesh.weight_joints),
        "weights_per_vertex": int(mesh.weight_counts.max(initial=0)),
    }


def _warnings(warnings: list[str], subject: Subject) -> list[str]:
    """Warnings of the reader and findings of every game, without duplicates."""
    found = [finding.text for rule in COMMON for finding in rule.check(rule, subject)]
    return list(dict.fromkeys([*warnings, *found]))


def _with_findings(
    facts: dict[str, Any], lines: list[str], game: str, findings: list[Finding]
) -> Description:
    """A description with the findings for a game; a warning that is also a finding is listed once."""
    if not game:
        return Description(facts, lines)
    texts = {finding.text for finding in findings}
    facts = {
        **facts,
        "warnings": [text for text in facts["warnings"] if text not in texts],
        "game": game,
        "findings": [asdict(finding) for finding in findings],
    }
    finding_lines = [
        f"{game} {'error' if finding.is_error else 'warning'}: {finding.text}" for finding in findings
    ]
    return Description(facts, [*lines, *(finding_lines or [f"{game}: no problems found"])])


def _joints_beside(path: FilePath) -> Joints | None:
    """The joints of the mesh with the animation's name; None if it cannot be read."""
    try:
        return read_mesh(Path(path).with_suffix(MESH_SUFFIX)).joints
    except (OSError, Md5Error):
        return None


def _animations_at(path: Path) -> list[Animation]:
    """The animation in a file; none if it cannot be read."""
    try:
        return [read_animation(path)]
    except (OSError, Md5Error):
        return []


def _box(points: Floats) -> list[list[float]]:
    """The lower and upper corner around points; empty without points."""
    return [points.min(axis=0).tolist(), points.max(axis=0).tolist()] if len(points) else []


def _box_line(box: list[list[float]]) -> list[str]:
    corners = [" ".join(f"{value:.6g}" for value in corner) for corner in box]
    return [f"box from ({corners[0]}) to ({corners[1]})"] if corners else []


def _commandline_line(commandline: str) -> list[str]:
    return [f"made by: {commandline}"] if commandline else []
