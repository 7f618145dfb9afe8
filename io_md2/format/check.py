"""What a game will not take, or not draw as meant, found before a model is written.

The limits are those of Quake II: its loader stops at more triangles, vertices, frames or skins, and at
taller skins, than it has room for, and at a model that has no vertices, triangles, texture coordinates or
frames (MD2 specification, "Constants", and the game's loader). The number of texture coordinates is
limited by the specification only; real models have more, so that is a warning.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Literal

import numpy as np

from .model import FRAME_NAME_SIZE, NAME_ENCODING, SKIN_NAME_SIZE, Md2Model
from .normals import NUM_NORMALS

Severity = Literal["error", "warning"]


@dataclass(frozen=True)
class Limits:
    """The most that a game takes.

    Attributes:
        triangles: number of triangles.
        vertices: number of vertices in a frame.
        frames: number of frames.
        skins: number of skins.
        skin_height: height of the skin in texels.
        st: number of texture coordinates; exceeding it is a warning.
    """

    triangles: int = 4096
    vertices: int = 2048
    frames: int = 512
    skins: int = 32
    skin_height: int = 480
    st: int = 2048


QUAKE2_LIMITS = Limits()
"""Quake II's own."""

_FORMAT_VERTICES = 65536
_INT16 = np.iinfo(np.int16)


@dataclass(frozen=True)
class Finding:
    """One thing that was found.

    Attributes:
        code: its name, for programs: lower case with underscores.
        severity: ``"error"`` for what the game or the format refuses, ``"warning"`` for the rest.
        message: what it is, in words.
    """

    code: str
    severity: Severity
    message: str

    def __str__(self) -> str:
        return self.message


def check_model(model: Md2Model, limits: Limits | None = QUAKE2_LIMITS) -> list[Finding]:
    """Return what is wrong with a model, errors first.

    Args:
        model: the model.
        limits: the game's limits, or None for only those of the format itself.
    """
    findings = [*_format_limits(model), *find_oddities(model)]
    if limits is not None:
        findings += over_limits(model, limits)
        findings += _missing(model)
    return sorted(findings, key=lambda finding: finding.severity != "error")


def over_limits(model: Md2Model, limits: Limits = QUAKE2_LIMITS) -> list[Finding]:
    """Return a finding for each of a game's limits that a model exceeds.

    Args:
        model: the model.
        limits: the game's limits.
    """
    rows: tuple[tuple[str, Severity, str, int, int], ...] = (
        ("too_many_triangles", "error", "triangles", model.num_triangles, limits.triangles),
        ("too_many_vertices", "error", "vertices", model.num_vertices, limits.vertices),
        ("too_many_frames", "error", "frames", model.num_frames, limits.frames),
        ("too_many_skins", "error", "skins", len(model.skins), limits.skins),
        ("too_many_st", "warning", "texture coordinates", len(model.st), limits.st),
        ("skin_too_tall", "error", "texels of skin height", model.skin_height, limits.skin_height),
    )
    return [
        Finding(code, severity, f"The model has {value} {what}, the limit is {limit}")
        for code, severity, what, value, limit in rows
        if value > limit
    ]


def find_oddities(model: Md2Model) -> list[Finding]:
    """Return warnings for what is allowed but seldom meant.

    Args:
        model: the model.
    """
    found: list[Finding] = []

    def warn(code: str, message: str) -> None:
        found.append(Finding(code, "warning", message))

    if model.num_vertices == 0:
        warn("no_vertices", "The model has no vertices")
    if model.num_triangles == 0:
        warn("no_triangles", "The model has no triangles")
    bad_normals = int(np.count_nonzero(model.normals >= NUM_NORMALS))
    if bad_normals:
        warn("bad_normals", f"{bad_normals} normal indices are {NUM_NORMALS} or more")
    if model.skin_width <= 0 or model.skin_height <= 0:
        warn("empty_skin", f"The skin is {model.skin_width} x {model.skin_height} texels")
    elif len(model.st):
        outside = ((model.st < 0) | (model.st >= (model.skin_width, model.skin_height))).any(axis=1)
        if outside.any():
            warn("st_outside_skin", f"{int(outside.sum())} texture coordinates lie outside the skin")
    return found


def _missing(model: Md2Model) -> list[Finding]:
    """Return errors for the tables that Quake II's loader wants to have something in."""
    return [
        Finding(f"missing_{code}", "error", f"The game refuses a model without {what}")
        for code, what, count in (
            ("vertices", "vertices", model.num_vertices),
            ("triangles", "triangles", model.num_triangles),
            ("st", "texture coordinates", len(model.st)),
        )
        if count == 0
    ]


def _format_limits(model: Md2Model) -> list[Finding]:
    """Return findings on what the fields of the file can hold."""
    found: list[Finding] = []

    def add(code: str, severity: Severity, message: str) -> None:
        found.append(Finding(code, severity, message))

    if model.num_frames == 0:
        add("no_frames", "error", "The model has no frames")
    for code, what, count in (
        ("vertices_beyond_format", "vertices", model.num_vertices),
        ("st_beyond_format", "texture coordinates", len(model.st)),
    ):
        if count > _FORMAT_VERTICES:
            message = f"The model has {count} {what}, a triangle can name {_FORMAT_VERTICES}"
            add(code, "error", message)
    if len(model.st) and (model.st.min() < _INT16.min or model.st.max() > _INT16.max):
        add("st_beyond_format", "error", "Texture coordinates do not fit into 16 bits")
    for kind, names, size in (
        ("skin", model.skins, SKIN_NAME_SIZE),
        ("frame", model.frame_names, FRAME_NAME_SIZE),
    ):
        for name in dict.fromkeys(names):
            try:
                length = len(name.encode(NAME_ENCODING))
            except UnicodeEncodeError:
                message = f"The {kind} name {name!r} has characters that MD2 cannot hold"
                add(f"{kind}_name_characters", "error", message)
                continue
            if length > size or "\0" in name:
                message = f"The {kind} name {name!r} does not fit into {size} bytes"
                add(f"{kind}_name_too_long", "error", message)
            elif length == size:
                message = f"The {kind} name {name!r} leaves no room for its terminator in {size} bytes"
                add(f"{kind}_name_unterminated", "warning", message)
            elif kind == "frame" and not name:
                add("frame_name_empty", "warning", "Frames have no names")
    repeated = sum(count - 1 for count in Counter(model.frame_names).values())
    if repeated:
        add("frame_names_repeated", "warning", f"{repeated} frames have the name of an earlier one")
    return found
