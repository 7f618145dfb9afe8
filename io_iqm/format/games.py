"""The games: what each accepts, by the published sources of the loaders.

A rule is an error where the loader refuses the file, a warning where the result looks different from Blender.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from enum import Enum
from typing import Any

import numpy as np
import numpy.typing as npt

from ...io_common.rules import Check, Finding, Profile, Rule, Subject, find, find_invalid
from ...io_common.texts import counted, listing
from .model import FORMATS, PORTABLE, ArrayType, Iqm, VertexArray, validate_iqm


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


Search = Callable[[Iqm, float], list[str]]
"""Finds what breaks a rule with a limit, in words."""


def _check(title: str, search: Search) -> Check:
    def check(rule: Rule, subject: Subject) -> Iterator[Finding]:
        found = search(subject.model, rule.limit)
        if found:
            is_in_source = subject.source is not None and bool(search(subject.source, rule.limit))
            limit = f" ({rule.requirement})" if rule.limit else ""
            yield rule.finding(f"{title}: {listing(found)}{limit}", found[0], is_in_source=is_in_source)

    return check


def _over(counts: Callable[[Iqm], Iterable[tuple[float, str]]]) -> Search:
    """Counts that are over a limit, each with the words for what or where."""
    return lambda iqm, most: [f"{count:,}{words}" for count, words in counts(iqm) if count > most]


def _of_meshes(count: Callable[[Iqm, Any], int]) -> Callable[[Iqm], list[tuple[float, str]]]:
    return lambda iqm: [(count(iqm, one), f" in the mesh {one.name or one.material!r}") for one in iqm.meshes]


def _joint_names(iqm: Iqm, marks: npt.ArrayLike) -> list[str]:
    names = iqm.joint_names
    return [names[joint] if joint < len(names) else f"pose {joint}" for joint in np.flatnonzero(marks).tolist()]


def _late_parents(iqm: Iqm, _: float) -> list[str]:
    parents = iqm.joint_parents if iqm.joint_names else iqm.pose_parents
    return _joint_names(iqm, parents >= np.arange(len(parents)))


def _missing(*kinds: ArrayType, of: str = "meshes") -> Search:
    """Arrays that a file with meshes does not have, though it has a part, such as joints."""

    def search(iqm: Iqm, _: float) -> list[str]:
        is_needed = iqm.meshes and len(getattr(iqm, of))
        return [kind.name for kind in kinds if is_needed and iqm.array(kind) is None]

    return search


def _not_portable(*kinds: ArrayType, **also: tuple[int, ...]) -> Search:
    """Arrays whose format is neither that of iqm.txt nor one of `also`, by their names; without `kinds` of all."""

    def is_other(one: VertexArray) -> bool:
        code, width = PORTABLE[ArrayType(one.type)]
        codes = (code, *also.get(ArrayType(one.type).name, ()))
        return FORMATS.index(one.values.dtype) not in codes or one.values.shape[1] != width

    return lambda iqm, _: [_described(one) for one in iqm.arrays if one.type in (kinds or PORTABLE) and is_other(one)]


def _described(one: VertexArray) -> str:
    name = one.name or next((kind.name for kind in ArrayType if kind == one.type), f"type {one.type}")
    return f"{name} has {one.values.shape[1]} × {one.values.dtype}"


def _wide(iqm: Iqm, most: float) -> list[str]:
    return [_described(one) for one in iqm.arrays if one.values.itemsize in (2, 8) or one.values.shape[1] > most]


def _other_poses(iqm: Iqm, least: float) -> list[str]:
    poses, joints = len(iqm.pose_parents), len(iqm.joint_names)
    return [f"{poses} for {counted(joints, 'joints')}"] if poses != joints and joints and poses >= least else []


def _absent(iqm: Iqm, _: float) -> list[str]:
    missing = {"adjacency": len(iqm.triangles) - len(iqm.adjacency), "bounds": len(iqm.frames) - len(iqm.bounds)}
    return [what for what, count in missing.items() if count]


def _scaled(is_found: Callable[[npt.NDArray[np.floating]], npt.NDArray[np.bool_]]) -> Search:
    """Joints whose scale in the frames or in the bind pose is one that is searched."""

    def search(iqm: Iqm, _: float) -> list[str]:
        moves = iqm.pose_scales[:, 7:].astype(np.float64) * iqm.moving_channels[:, 7:] * (2**16 - 1)
        tables = (iqm.pose_offsets[:, 7:], iqm.pose_offsets[:, 7:] + moves, iqm.joint_channels[:, 7:])
        return list(dict.fromkeys(name for one in tables for name in _joint_names(iqm, is_found(one).any(axis=1))))

    return search


def _unweighted(iqm: Iqm, mesh: Any) -> int:
    weights = iqm.array(ArrayType.BLEND_WEIGHTS)
    rows = slice(mesh.first_vertex, mesh.first_vertex + mesh.vertex_count)
    free = mesh.vertex_count if weights is None else int((~(weights[rows] > 0).any(axis=1)).sum())
    return free if iqm.joint_names else 0


def _megabytes(iqm: Iqm) -> list[tuple[float, str]]:
    tables: list[npt.NDArray[Any]] = [iqm.triangles, iqm.adjacency, iqm.frames, iqm.bounds]
    size = sum(table.nbytes for table in [*tables, *(one.values for one in iqm.arrays)])
    return [(round((size + sum(len(one.data) for one in iqm.extensions)) / 2**20, 1), " MB")]


def _repeated(iqm: Iqm, _: float) -> list[str]:
    names = [one.name for one in iqm.animations]
    return [name for name in dict.fromkeys(names) if names.count(name) > 1]


_BLEND = (ArrayType.BLEND_INDEXES, ArrayType.BLEND_WEIGHTS)
_BASIC = (ArrayType.POSITION, ArrayType.TEXCOORD)

# What is searched, what is wrong, what engines do with the file, unless it is told otherwise, and what to do; the last
# are warnings.
_REFUSES, _AGAIN, _SPLIT = "refuses the file", "export it again", "reduce the mesh, or split it into more materials"
_POSES = "Poses are not those of the joints"
INCOMPLETE = ("arrays_missing", "weights_missing", "parts_missing")
"""The rules about what only some games need."""
_RULES: dict[str, tuple[Search, str, str, str]] = {
    "too_many_joints": (_over(lambda iqm: [(max(len(iqm.joint_names), len(iqm.pose_parents)), "")]),
                        "Too many joints", _REFUSES, "remove bones"),
    "too_many_vertices": (_over(_of_meshes(lambda _, one: one.vertex_count)), "Too many vertices", _REFUSES, _SPLIT),
    "too_many_triangles": (_over(_of_meshes(lambda _, one: one.triangle_count)), "Too many triangles", _REFUSES,
                           _SPLIT),
    "file_vertices": (_over(lambda iqm: [(iqm.vertex_count, "")]), "Too many vertices", _REFUSES, "reduce the mesh"),
    "file_too_large": (_over(_megabytes), "The file is too large", _REFUSES, "reduce the mesh"),
    "arrays_missing": (_missing(*_BASIC, ArrayType.NORMAL), "Arrays are missing", _REFUSES, _AGAIN),
    "weights_missing": (_missing(*_BLEND, of="joint_names"), "Arrays are missing", _REFUSES, _AGAIN),
    "not_portable": (_not_portable(), "Arrays have another format than in iqm.txt", _REFUSES, _AGAIN),
    "array_wide": (_wide, "Arrays have another format", _REFUSES, "remove them"),
    "parts_missing": (_absent, "Parts are missing", "reads other data", _AGAIN),
    "poses_differ": (_other_poses, _POSES, _REFUSES, _AGAIN),
    "animation_missing": (_other_poses, _POSES, _REFUSES, "export an animation with the model"),
    "animation_empty": (lambda iqm, _: [one.name for one in iqm.animations if not one.frame_count],
                        "Animations have no frames", _REFUSES, "remove them"),
    "parent_after_child": (_late_parents, "Parents come after their children", _REFUSES, _AGAIN),
    "negative_scale": (_scaled(lambda one: one < 0.0), "Joints have a negative scale", _REFUSES, "apply the scale"),
    "joint_scale": (_scaled(lambda one: np.abs(one - 1.0) > 1e-4), "Joints are scaled", "ignores scales",
                    "delete the scale keys of the bones, or apply the scale"),
    "mesh_empty": (
        lambda iqm, _: [one.name or one.material for one in iqm.meshes if not one.vertex_count * one.triangle_count],
        "Meshes are empty", "leaves them out", "remove the objects"),
    "no_weights": (_over(_of_meshes(_unweighted)), "Vertices have no weights", "move them differently or not at all",
                   "assign them to a bone"),
    "animation_names_repeated": (_repeated, "Several animations have one name", "find the first alone",
                                 "rename the actions"),
}  # fmt: skip
_WARNINGS = ("joint_scale", "mesh_empty", "no_weights", "animation_names_repeated")

Row = tuple[Any, ...]
"""A rule: its code, requirement, and, if they are others, the limit, what the engine does and the search."""


def _rules(engine: str, source: str, *rows: Row) -> tuple[Rule, ...]:
    result = []
    for code, requirement, *more in rows:
        usual, title, does, remedy = _RULES[code]
        others: list[Any] = [*more, *(0, does, usual)[len(more) :]]
        limit, why, search = others
        words = (requirement, f"{engine} {why}", remedy, source)
        result.append(Rule(code, code not in _WARNINGS, _check(title, search), engine, *words, limit))
    return tuple(result)


def _profile(
    game: Game, label: str, programs: str, engine: str, source: str, *rows: Row, written: tuple[str, ...] = ()
) -> Profile:
    return Profile(game, label, programs, engine, _rules(engine, source, *rows), written)


COMMON: tuple[Rule, ...] = _rules(
    "engines", "iqm.txt of lsalzman/iqm", ("no_weights", "vertices of a model with joints have weights"),
    ("animation_names_repeated", "every animation has a name of its own"),
)  # fmt: skip
"""The rules of every game."""

_LARGE: Row = ("file_too_large", "at most 16 MB", 16)
_LATE: Row = ("parent_after_child", "parents come before their children")
_SCALE: Row = ("joint_scale", "no scales of joints")
_LIT: Row = ("arrays_missing", "positions, texture coordinates and normals")
_SAME_POSES, _PORTABLE = "as many poses as joints, or none", "arrays as iqm.txt recommends"

PROFILES: dict[Game, Profile] = {
    profile.game: profile
    for profile in (
        Profile(Game.ANY, "Any", "Everything that the format can hold", "the format"),
        _profile(
            Game.GZDOOM, "GZDoom", "GZDoom and UZDoom", "GZDoom", "GZDoom `models_iqm.cpp`, `IQMModel::Load`", _LATE,
            ("parts_missing", "adjacency of all triangles and bounds of all frames"),
        ),
        _profile(
            Game.QUAKE3, "Quake III", "ioquake3", "ioquake3", "ioquake3 `tr_model_iqm.c`, `R_LoadIQM`", _LARGE,
            ("too_many_joints", "at most 128 joints", 128), ("poses_differ", _SAME_POSES, 1),
            ("too_many_vertices", "at most 999 vertices in a mesh", 999),
            ("too_many_triangles", "at most 1,999 triangles in a mesh", 1999), _LIT,
            ("weights_missing", "blend indexes and weights with joints"),
            ("not_portable", _PORTABLE, 0, _REFUSES, _not_portable(BLEND_INDEXES=(4,), BLEND_WEIGHTS=(7,))),
            ("array_wide", "at most 4 components, of 1 or 4 bytes", 4),
        ),
        _profile(
            Game.UNVANQUISHED, "Unvanquished", "Unvanquished (Daemon)", "Daemon", "Daemon `tr_model_iqm.cpp`", _LARGE,
            _LATE, ("negative_scale", "no negative scale"),
            ("not_portable", "blend indexes and weights of 4 bytes", 0, _REFUSES, _not_portable(*_BLEND)),
            ("animation_empty", "frames in every animation"),
        ),
        _profile(
            Game.SAUERBRATEN, "Sauerbraten", "Sauerbraten, Tesseract, Red Eclipse", "Sauerbraten",
            "Sauerbraten, Tesseract and Red Eclipse `iqm.h`", _LARGE, _SCALE, ("not_portable", _PORTABLE),
            ("mesh_empty", "vertices and triangles in every mesh"),
            written=("animations are files of their own, which `iqm.cfg` names",),
        ),
        _profile(
            Game.DARKPLACES, "DarkPlaces (Xonotic)", "DarkPlaces and Xonotic", "DarkPlaces",
            "DarkPlaces `model_alias.c`, `Mod_INTERQUAKEMODEL_Load`", _LATE, _SCALE,
            ("arrays_missing", "positions and texture coordinates", 0, _REFUSES, _missing(*_BASIC)),
            ("weights_missing", "blend indexes and weights with animations", 0, _REFUSES,
             _missing(*_BLEND, of="frames")),
            ("not_portable", _PORTABLE, 0, "does not read others", _not_portable(COLOR=(7,))),
            ("poses_differ", _SAME_POSES, 1, "mixes up frames then"),
            written=("colors of 128 are full brightness; translations have 16 bits of the largest in the file",),
        ),
        _profile(
            Game.FTEQW, "FTEQW", "FTEQW", "FTEQW", "FTEQW `com_mesh.c`, `Mod_ParseIQMMeshModel`",
            ("too_many_vertices", "at most 65,536 vertices in a mesh", 65536, "drops triangles then"),
            written=("extensions of an imported file stay; a frame rate of 0 plays at 10",),
        ),
        _profile(
            Game.QFUSION, "Qfusion (Warfork)", "Warfork, Warsow", "Qfusion",
            "Qfusion `r_skm.c`, `Mod_LoadSkeletalModel`; `r_program.h`, `MAX_GLSL_UNIFORM_BONES`", _LATE, _SCALE,
            ("too_many_joints", "at most 100 joints", 100), ("file_vertices", "at most 65,534 vertices", 65534),
            ("animation_missing", "as many poses as joints"), _LIT,
            ("not_portable", _PORTABLE, 0, "does not read others",
             _not_portable(BLEND_INDEXES=(0, 4, 5), BLEND_WEIGHTS=(7,))),
        ),
        _profile(
            Game.RAYLIB, "raylib", "raylib", "raylib",
            "raylib `rmodels.c`, `LoadIQM`, `LoadModelAnimationsIQM`, `UpdateModelAnimation`", _LATE,
            ("too_many_vertices", "at most 65,536 vertices in a mesh", 65536, "has indices of 16 bits"),
            ("poses_differ", _SAME_POSES, 1, "does not play the animations"),
            ("joint_scale", "no scales of joints", 0, "scales about the origin of the model"),
            written=("frame rates are not read: the program decides",),
        ),
    )
}  # fmt: skip
"""The games, by identifier."""


def mesh_limits(game: Game) -> dict[str, int]:
    """How many vertices and triangles a mesh for a game can have."""
    codes = {"too_many_vertices": "vertex_count", "too_many_triangles": "triangle_count"}
    return {codes[rule.code]: int(rule.limit) for rule in PROFILES[game].rules if rule.code in codes}


def check_iqm(iqm: Iqm, game: Game = Game.ANY, source: Iqm | None = None) -> list[Finding]:
    """What a game would refuse or show differently, errors first.

    What the file that it was imported from, `source`, already broke is no error.
    """
    invalid = find_invalid("not_valid", lambda: validate_iqm(iqm))
    return invalid or find(PROFILES[game].rules_with(COMMON), Subject(iqm, source))
