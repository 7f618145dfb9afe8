"""The games: what each accepts, by the published sources of the loaders.

A rule is an error where the loader refuses the file, a warning where the result looks different from Blender.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import Enum
from typing import Any

import numpy as np
import numpy.typing as npt

from ...io_common.rules import Check, Finding, Profile, Rule, Subject, find, find_invalid
from ...io_common.texts import counted, listing
from .model import FORMATS, PORTABLE, ArrayType, Iqm, validate_iqm


class Game(Enum):
    """The game that is to load a file."""

    ANY = "ANY"
    GZDOOM = "GZDOOM"
    QUAKE3 = "QUAKE3"
    UNVANQUISHED = "UNVANQUISHED"
    SAUERBRATEN = "SAUERBRATEN"
    DARKPLACES = "DARKPLACES"
    FTEQW = "FTEQW"
    QFUSION = "QFUSION"
    RAYLIB = "RAYLIB"


Broken = Iterator[tuple[str, object]]
"""What breaks a rule: the beginnings of messages, and the values."""

Search = Callable[[Iqm, float], Broken]
"""Finds what breaks a rule with a limit."""


def _check(search: Search) -> Check:
    def check(rule: Rule, subject: Subject) -> Iterator[Finding]:
        is_in_source = subject.source is not None and any(True for _ in search(subject.source, rule.limit))
        for text, found in search(subject.model, rule.limit):
            yield rule.finding(text, found, is_in_source=is_in_source)

    return check


def _joints(iqm: Iqm, most: float) -> Broken:
    count = max(len(iqm.joint_names), len(iqm.pose_parents))
    if count > most:
        yield f"The model has {counted(count, 'joints')}", count


def _vertices(iqm: Iqm, most: float) -> Broken:
    if iqm.vertex_count > most:
        yield f"The model has {counted(iqm.vertex_count, 'vertices')}", iqm.vertex_count


def _in_mesh(what: str) -> Search:
    def search(iqm: Iqm, most: float) -> Broken:
        for one in iqm.meshes:
            count = one.vertex_count if what == "vertices" else one.triangle_count
            if count > most:
                yield f"The mesh {one.name or one.material!r} has {counted(count, what)}", count

    return search


def _size(iqm: Iqm, most: float) -> Broken:
    tables: list[npt.NDArray[Any]] = [iqm.triangles, iqm.adjacency, iqm.frames, iqm.bounds]
    tables += [one.values for one in iqm.arrays]
    size = (sum(table.nbytes for table in tables) + sum(len(one.data) for one in iqm.extensions)) / 2**20
    if size > most:
        yield f"The file has {size:.1f} MB", size


def _later_parents(iqm: Iqm, _: float) -> Broken:
    parents = iqm.joint_parents if iqm.joint_names else iqm.pose_parents
    late = np.flatnonzero(parents >= np.arange(len(parents)))
    if len(late):
        yield f"Parents come after their children: {_names(iqm, late)}", len(late)


def _names(iqm: Iqm, joints: npt.NDArray[np.int64]) -> str:
    return listing([iqm.joint_names[joint] if iqm.joint_names else f"pose {joint}" for joint in joints.tolist()])


def _missing(*kinds: ArrayType, of: str = "meshes") -> Search:
    """Arrays that a file with meshes does not have, though it has a part, such as joints."""

    def search(iqm: Iqm, _: float) -> Broken:
        counts = {"meshes": len(iqm.meshes), "joints": len(iqm.joint_names), "frames": iqm.frame_count}
        missing = [kind.name for kind in kinds if iqm.meshes and counts[of] and iqm.array(kind) is None]
        if missing:
            yield f"The file has no array {listing(missing)}", len(missing)

    return search


def _not_portable(*kinds: ArrayType, **also: tuple[int, ...]) -> Search:
    """Arrays whose format is neither that of iqm.txt nor one of `also`, by their names; without `kinds` of all."""

    def search(iqm: Iqm, _: float) -> Broken:
        for one in iqm.arrays:
            if one.type not in (kinds or PORTABLE):
                continue
            kind = ArrayType(one.type)
            code, width = PORTABLE[kind]
            found = f"{one.values.shape[1]} × {one.values.dtype}"
            is_known = FORMATS.index(one.values.dtype) in (code, *also.get(kind.name, ()))
            if not is_known or one.values.shape[1] != width:
                yield f"The array {kind.name} has {found} for a vertex instead of {width} × {FORMATS[code]}", found

    return search


def _wide(iqm: Iqm, most: float) -> Broken:
    for one in iqm.arrays:
        size = one.values.dtype.itemsize
        if size in (2, 8) or one.values.shape[1] > most:
            found = f"{one.values.shape[1]} × {counted(size, 'bytes')}"
            yield f"The array {one.name or one.type} has {found} for a vertex", found


def _other_poses(iqm: Iqm, least: float) -> Broken:
    poses, joints = len(iqm.pose_parents), len(iqm.joint_names)
    if poses != joints and joints and poses >= least:
        yield f"The file has {counted(poses, 'poses')} and {counted(joints, 'joints')}", poses


def _no_adjacency(iqm: Iqm, _: float) -> Broken:
    if len(iqm.adjacency) < len(iqm.triangles) or len(iqm.bounds) < iqm.frame_count:
        yield "The file has no adjacency or no bounds", 0


def _scaled(iqm: Iqm, _: float) -> Broken:
    moves = (iqm.pose_masks[:, None] >> np.arange(7, 10) & 1).any(axis=1)
    for marks in (moves | _differs(iqm.pose_offsets), _differs(iqm.joint_channels)):
        if marks.any():
            yield f"Joints are scaled: {_names(iqm, np.flatnonzero(marks))}", int(marks.sum())
            return


def _differs(channels: npt.NDArray[np.float32]) -> npt.NDArray[np.bool_]:
    return np.asarray((np.abs(channels[:, 7:] - 1.0) > _SCALED).any(axis=1))


_SCALED = 1e-4


def _negative_scale(iqm: Iqm, _: float) -> Broken:
    lowest = min(table[:, 7:].min(initial=0.0) for table in (iqm.joint_channels, iqm.pose_offsets))
    if lowest < 0.0:
        yield "Joints have a negative scale", float(lowest)


def _empty(iqm: Iqm, _: float) -> Broken:
    for one in iqm.meshes:
        if not one.vertex_count or not one.triangle_count:
            yield f"The mesh {one.name or one.material!r} is empty", 0


def _no_frames(iqm: Iqm, _: float) -> Broken:
    for one in iqm.animations:
        if not one.frame_count:
            yield f"The animation {one.name!r} has no frames", 0


def _unweighted(iqm: Iqm, _: float) -> Broken:
    weights = iqm.array(ArrayType.BLEND_WEIGHTS)
    for one in iqm.meshes if iqm.joint_names else ():
        rows = slice(one.first_vertex, one.first_vertex + one.vertex_count)
        free = one.vertex_count if weights is None else int((~(weights[rows] > 0).any(axis=1)).sum())
        if free:
            yield f"{counted(free, 'vertices', 'have')} no weights in the mesh {one.name or one.material!r}", free


def _repeated(iqm: Iqm, _: float) -> Broken:
    names = [one.name for one in iqm.animations]
    repeated = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if repeated:
        yield f"Several animations are named {listing(repeated)}", len(repeated)


_BLEND = (ArrayType.BLEND_INDEXES, ArrayType.BLEND_WEIGHTS)
_BASIC = (ArrayType.POSITION, ArrayType.TEXCOORD)
_LIT = (*_BASIC, ArrayType.NORMAL)

# What engines do with a file that breaks a rule, unless it is told otherwise, and what to do.
_REFUSES, _AGAIN, _SPLIT = "refuses the file", "export it again", "reduce the mesh, or split it into more materials"
_WORDS: dict[str, tuple[str, str]] = {
    "too_many_joints": (_REFUSES, "remove bones"),
    "too_many_vertices": (_REFUSES, _SPLIT),
    "too_many_triangles": (_REFUSES, _SPLIT),
    "file_too_large": (_REFUSES, "reduce the mesh"),
    "animation_missing": (_REFUSES, "export an animation with the model"),
    "animation_empty": (_REFUSES, "remove the animation"),
    "negative_scale": (_REFUSES, "apply the scale"),
    "joint_scale": ("ignores scales", "apply the scale"),
    "mesh_empty": ("leaves it out", "remove the object"),
    "no_weights": ("move them differently or not at all", "assign them to a bone"),
    "animation_names_repeated": ("find the first alone", "rename the actions"),
}
_WARNINGS = ("joint_scale", "mesh_empty", "no_weights", "animation_names_repeated")

Row = tuple[Any, ...]
"""A rule: code, search, requirement, and, if needed, the limit and what the engine does."""


def _rules(engine: str, source: str, *rows: Row) -> tuple[Rule, ...]:
    result = []
    for row in rows:
        code, search, requirement, limit, why = (*row, *(0, "")[len(row) - 3 :])
        usual, remedy = _WORDS.get(code, (_REFUSES, _AGAIN))
        words = (requirement, f"{engine} {why or usual}", remedy, source)
        result.append(Rule(code, code not in _WARNINGS, _check(search), engine, *words, limit))
    return tuple(result)


COMMON: tuple[Rule, ...] = _rules(
    "engines", "iqm.txt of lsalzman/iqm",
    ("no_weights", _unweighted, "vertices of a model with joints have weights"),
    ("animation_names_repeated", _repeated, "every animation has a name of its own"),
)  # fmt: skip
"""The rules of every game."""

_LARGE: Row = ("file_too_large", _size, "at most 16 MB", 16)
_LATE: Row = ("parent_after_child", _later_parents, "parents come before their children")
_SCALE: Row = ("joint_scale", _scaled, "no scales of joints")
_GZDOOM = _rules(
    "GZDoom", "GZDoom `models_iqm.cpp`, `IQMModel::Load`", _LATE,
    ("no_adjacency", _no_adjacency, "adjacency of all triangles and bounds of all frames", 0, "reads other data then"),
)  # fmt: skip
_QUAKE3 = _rules(
    "ioquake3", "ioquake3 `tr_model_iqm.c`, `R_LoadIQM`", _LARGE,
    ("too_many_joints", _joints, "at most 128 joints", 128),
    ("poses_differ", _other_poses, "as many poses as joints, or none", 1),
    ("too_many_vertices", _in_mesh("vertices"), "at most 999 vertices in a mesh", 999),
    ("too_many_triangles", _in_mesh("triangles"), "at most 1,999 triangles in a mesh", 1999),
    ("arrays_missing", _missing(*_LIT), "positions, texture coordinates and normals"),
    ("weights_missing", _missing(*_BLEND, of="joints"), "blend indexes and weights with joints"),
    ("not_portable", _not_portable(BLEND_INDEXES=(4,), BLEND_WEIGHTS=(7,)), "arrays as iqm.txt recommends"),
    ("array_wide", _wide, "at most 4 components, of 1 or 4 bytes", 4),
)  # fmt: skip
_UNVANQUISHED = _rules(
    "Daemon", "Daemon `tr_model_iqm.cpp`", _LARGE, _LATE,
    ("not_portable", _not_portable(*_BLEND), "blend indexes and weights of 4 bytes"),
    ("negative_scale", _negative_scale, "no negative scale"),
    ("animation_empty", _no_frames, "frames in every animation"),
)  # fmt: skip
_SAUERBRATEN = _rules(
    "Sauerbraten", "Sauerbraten, Tesseract and Red Eclipse `iqm.h`", _LARGE, _SCALE,
    ("not_portable", _not_portable(), "arrays as iqm.txt recommends"),
    ("mesh_empty", _empty, "vertices and triangles in every mesh"),
)  # fmt: skip
_DARKPLACES = _rules(
    "DarkPlaces", "DarkPlaces `model_alias.c`, `Mod_INTERQUAKEMODEL_Load`", _LATE, _SCALE,
    ("arrays_missing", _missing(*_BASIC), "positions and texture coordinates"),
    ("weights_missing", _missing(*_BLEND, of="frames"), "blend indexes and weights with animations"),
    ("not_portable", _not_portable(COLOR=(7,)), "arrays as iqm.txt recommends", 0, "does not read others"),
    ("poses_differ", _other_poses, "as many poses as joints, or none", 1, "mixes up frames then"),
)  # fmt: skip
_FTEQW = _rules(
    "FTEQW",
    "FTEQW `com_mesh.c`, `Mod_ParseIQMMeshModel`",
    ("too_many_vertices", _in_mesh("vertices"), "at most 65,536 vertices in a mesh", 65536, "drops triangles then"),
)
_QFUSION = _rules(
    "Qfusion", "Qfusion `r_skm.c`, `Mod_LoadSkeletalModel`; `r_program.h`, `MAX_GLSL_UNIFORM_BONES`", _LATE, _SCALE,
    ("too_many_joints", _joints, "at most 100 joints", 100),
    ("too_many_vertices", _vertices, "at most 65,534 vertices", 65534),
    ("animation_missing", _other_poses, "as many poses as joints"),
    ("arrays_missing", _missing(*_LIT), "positions, texture coordinates and normals"),
    ("not_portable", _not_portable(BLEND_INDEXES=(0, 4, 5), BLEND_WEIGHTS=(7,)), "arrays as iqm.txt recommends", 0,
     "does not read others"),
)  # fmt: skip
_RAYLIB = _rules(
    "raylib", "raylib `rmodels.c`, `LoadIQM`, `LoadModelAnimationsIQM`, `UpdateModelAnimation`", _LATE,
    ("too_many_vertices", _in_mesh("vertices"), "at most 65,536 vertices in a mesh", 65536, "has indices of 16 bits"),
    ("poses_differ", _other_poses, "as many poses as joints, or none", 1, "does not play the animations"),
    ("joint_scale", _scaled, "no scales of joints", 0, "scales about the origin of the model"),
)  # fmt: skip

PROFILES: dict[Game, Profile] = {
    profile.game: profile
    for profile in (
        Profile(Game.ANY, "Any", "Everything that the format can hold", "the format"),
        Profile(Game.GZDOOM, "GZDoom", "GZDoom and UZDoom", "GZDoom", _GZDOOM),
        Profile(Game.QUAKE3, "Quake III", "ioquake3", "ioquake3", _QUAKE3),
        Profile(Game.UNVANQUISHED, "Unvanquished", "Unvanquished (Daemon)", "Daemon", _UNVANQUISHED),
        Profile(
            Game.SAUERBRATEN, "Sauerbraten", "Sauerbraten, Tesseract, Red Eclipse", "Sauerbraten", _SAUERBRATEN,
            ("animations are files of their own, which `iqm.cfg` names",),
        ),
        Profile(
            Game.DARKPLACES, "DarkPlaces", "DarkPlaces and Xonotic", "DarkPlaces", _DARKPLACES,
            ("colors of 128 are full brightness; translations have 16 bits of the largest in the file",),
        ),
        Profile(
            Game.FTEQW, "FTEQW", "FTEQW", "FTEQW", _FTEQW,
            ("extensions of an imported file stay; a frame rate of 0 plays at 10",),
        ),
        Profile(Game.QFUSION, "Qfusion", "Warfork, Warsow", "Qfusion", _QFUSION),
        Profile(
            Game.RAYLIB, "raylib", "raylib", "raylib", _RAYLIB,
            ("frame rates are not read: the program decides",),
        ),
    )
}  # fmt: skip
"""The games, by identifier."""


def game_named(name: str) -> Game:
    """The game with an identifier; ANY for that of another family."""
    return Game(name) if name in {game.value for game in Game} else Game.ANY


def check_iqm(iqm: Iqm, game: Game = Game.ANY, source: Iqm | None = None) -> list[Finding]:
    """What a game would refuse or show differently.

    Args:
        iqm: it is not changed.
        game: whose rules are checked.
        source: the file that it was imported from; what that already broke is no error.

    Returns:
        The findings, errors first.
    """
    invalid = find_invalid("not_valid", lambda: validate_iqm(iqm))
    return invalid or find(PROFILES[game].rules_with(COMMON), Subject(iqm, source))
