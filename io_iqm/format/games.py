"""The games: what each accepts, by the published sources of the loaders.

A rule is an error where the loader refuses the file, a warning where the result looks different from Blender.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import Enum
from typing import Any

import numpy as np

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


Broken = tuple[str, object]
"""What breaks a rule: the begin of a message, and the value."""

Search = Callable[[Iqm, float], Iterator[Broken]]
"""Finds what breaks a rule with a limit."""


def _check(search: Search) -> Check:
    def check(rule: Rule, subject: Subject) -> Iterator[Finding]:
        is_in_source = subject.source is not None and any(True for _ in search(subject.source, rule.limit))
        for text, found in search(subject.model, rule.limit):
            yield rule.finding(text, found, is_in_source=is_in_source)

    return check


def _joints(iqm: Iqm, most: float) -> Iterator[Broken]:
    count = max(len(iqm.joint_names), len(iqm.pose_parents))
    if count > most:
        yield f"The model has {counted(count, 'joints')}", count


def _mesh_counts(attribute: str, what: str) -> Search:
    def search(iqm: Iqm, most: float) -> Iterator[Broken]:
        for one in iqm.meshes:
            if getattr(one, attribute) > most:
                count = getattr(one, attribute)
                yield f"The mesh {one.name or one.material!r} has {counted(count, what)}", count

    return search


def _vertices(iqm: Iqm, most: float) -> Iterator[Broken]:
    if iqm.vertex_count > most:
        yield f"The model has {counted(iqm.vertex_count, 'vertices')}", iqm.vertex_count


def _size(iqm: Iqm, most: float) -> Iterator[Broken]:
    tables = (iqm.triangles, iqm.adjacency, iqm.frames, iqm.bounds, *(one.values for one in iqm.arrays))
    size = sum(table.nbytes for table in tables) + sum(len(one.data) for one in iqm.extensions) + len(iqm.comment)
    if size > most * 2**20:
        yield f"The file has {size / 2**20:.1f} MB", size


def _later_parents(iqm: Iqm, _: float) -> Iterator[Broken]:
    for parents, what in ((iqm.joint_parents, "joint"), (iqm.pose_parents, "pose")):
        late = np.flatnonzero(parents >= np.arange(len(parents)))
        if len(late):
            names = [iqm.joint_names[joint] if what == "joint" else joint for joint in late.tolist()]
            yield f"Parents come after their children, of the {what} {listing(names)}", len(late)
            return


def _missing(*kinds: ArrayType, of: str = "") -> Search:
    def search(iqm: Iqm, _: float) -> Iterator[Broken]:
        has_use = {"": True, "joints": bool(iqm.joint_names), "frames": bool(iqm.frame_count)}[of]
        missing = [kind.name for kind in kinds if iqm.meshes and has_use and iqm.array(kind) is None]
        if missing:
            yield f"The file has no array {listing(missing)}", len(missing)

    return search


_BLEND = (ArrayType.BLEND_INDEXES, ArrayType.BLEND_WEIGHTS)


def _not_portable(kinds: tuple[ArrayType, ...] = tuple(PORTABLE), **also: tuple[int, ...]) -> Search:
    """Arrays of types whose format is neither that of iqm.txt nor one of `also`, by the names of the types."""

    def search(iqm: Iqm, _: float) -> Iterator[Broken]:
        for one in iqm.arrays:
            if one.type in kinds:
                kind = ArrayType(one.type)
                code, width = PORTABLE[kind]
                is_known = FORMATS.index(one.values.dtype) in (code, *also.get(kind.name, ()))
                if not is_known or one.values.shape[1] != width:
                    found = f"{one.values.shape[1]} × {one.values.dtype}"
                    yield f"The array {kind.name} has the format {found} instead of {width} × {FORMATS[code]}", found

    return search


def _wide_components(iqm: Iqm, most: float) -> Iterator[Broken]:
    for one in iqm.arrays:
        if one.values.dtype.itemsize in (2, 8) or one.values.shape[1] > most:
            name = one.name or one.type
            yield f"The array {name} has components of {counted(one.values.dtype.itemsize, 'bytes')}", name


def _other_poses(iqm: Iqm, _: float) -> Iterator[Broken]:
    poses, joints = len(iqm.pose_parents), len(iqm.joint_names)
    if poses and joints and poses != joints:
        yield f"The file has {counted(poses, 'poses')} and {counted(joints, 'joints')}", poses


def _no_poses(iqm: Iqm, _: float) -> Iterator[Broken]:
    if len(iqm.pose_parents) != len(iqm.joint_names):
        poses, joints = len(iqm.pose_parents), len(iqm.joint_names)
        yield f"The file has {counted(poses, 'poses')} and {counted(joints, 'joints')}", poses


def _no_adjacency(iqm: Iqm, _: float) -> Iterator[Broken]:
    if len(iqm.adjacency) < len(iqm.triangles) or len(iqm.bounds) < iqm.frame_count:
        yield "The file has no adjacency or bounds", 0


def _scaled(iqm: Iqm, _: float) -> Iterator[Broken]:
    lows = iqm.pose_offsets[:, 7:]
    highs = lows + iqm.pose_scales[:, 7:] * np.where(iqm.pose_masks[:, None] >> np.arange(7, 10) & 1, 65535.0, 0.0)
    is_scaled = (np.abs(np.stack([lows, highs]) - 1.0) > 1e-4).any(axis=(0, 2))
    is_in_bind = (np.abs(iqm.joint_channels[:, 7:] - 1.0) > 1e-4).any(axis=1)
    for marks, what in ((is_scaled, "animated"), (is_in_bind, "in the bind pose")):
        if marks.any():
            joints = np.flatnonzero(marks).tolist()
            names = [iqm.joint_names[joint] if joint < len(iqm.joint_names) else joint for joint in joints]
            yield f"Joints are scaled {what}: {listing(names)}", len(names)


def _negative_scale(iqm: Iqm, _: float) -> Iterator[Broken]:
    if (iqm.joint_channels[:, 7:] < 0.0).any() or (iqm.pose_offsets[:, 7:] < 0.0).any():
        yield "Joints have a negative scale", -1


def _empty_animation(iqm: Iqm, _: float) -> Iterator[Broken]:
    for one in iqm.animations:
        if not one.frame_count:
            yield f"The animation {one.name!r} has no frames", 0


def _empty_mesh(iqm: Iqm, _: float) -> Iterator[Broken]:
    for one in iqm.meshes:
        if not one.vertex_count or not one.triangle_count:
            yield f"The mesh {one.name or one.material!r} is empty", 0


def _unweighted(iqm: Iqm, _: float) -> Iterator[Broken]:
    weights = iqm.array(ArrayType.BLEND_WEIGHTS)
    if not iqm.joint_names:
        return
    for one in iqm.meshes:
        rows = slice(one.first_vertex, one.first_vertex + one.vertex_count)
        free = one.vertex_count if weights is None else int((~(weights[rows] > 0).any(axis=1)).sum())
        if free:
            yield f"{counted(free, 'vertices', 'have')} no weights in the mesh {one.name or one.material!r}", free


def _repeated(iqm: Iqm, _: float) -> Iterator[Broken]:
    names = [one.name for one in iqm.animations]
    repeated = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if repeated:
        yield f"Several animations are named {listing(repeated)}", len(repeated)


def _rule(
    code: str, engine: str, search: Search, requirement: str, why: str, remedy: str, source: str, limit: float = 0, *,
    is_error: bool = True,
) -> Rule:  # fmt: skip
    return Rule(code, is_error, _check(search), engine, requirement, why, remedy, source, limit)


_SPECIFICATION = "iqm.txt of lsalzman/iqm"
COMMON: tuple[Rule, ...] = (
    _rule("no_weights", "all", _unweighted, "vertices of a model with joints have weights",
          "engines move them differently or not at all", "assign them to a bone", _SPECIFICATION, is_error=False),
    _rule("animation_names_repeated", "all", _repeated, "every animation has a name of its own",
          "engines find the first alone", "rename the actions", _SPECIFICATION, is_error=False),
)  # fmt: skip
"""The rules of every game."""


def _of(engine: str, source: str) -> Callable[..., Rule]:
    """Makes rules of an engine."""

    def rule(code: str, search: Search, requirement: str, why: str, remedy: str, limit: float = 0, **more: Any) -> Rule:
        return _rule(code, engine, search, requirement, f"{engine} {why}", remedy, source, limit, **more)

    return rule


def _large(rule: Callable[..., Rule]) -> Rule:
    return rule("file_too_large", _size, "at most 16 MB", "refuses it", "reduce the mesh", 16)


def _late(rule: Callable[..., Rule], why: str = "refuses it") -> Rule:
    return rule("parent_after_child", _later_parents, "parents come before their children", why, "export it again")


def _unscaled(rule: Callable[..., Rule], why: str = "ignores scales") -> Rule:
    return rule("joint_scale", _scaled, "joints have no scale", why, "apply the scale", is_error=False)


_gzdoom = _of("GZDoom", "GZDoom `models_iqm.cpp`, `IQMModel::Load`")
_ioquake3 = _of("ioquake3", "ioquake3 `tr_model_iqm.c`, `R_LoadIQM`")
_daemon = _of("Daemon", "Daemon `tr_model_iqm.cpp`")
_cube = _of("Sauerbraten", "Sauerbraten, Tesseract and Red Eclipse `iqm.h`")
_darkplaces = _of("DarkPlaces", "DarkPlaces `model_alias.c`, `Mod_INTERQUAKEMODEL_Load`")
_fteqw = _of("FTEQW", "FTEQW `com_mesh.c`, `Mod_ParseIQMMeshModel`")
_qfusion = _of("Qfusion", "Qfusion `r_skm.c`, `Mod_LoadSkeletalModel`")
_raylib = _of("raylib", "raylib `rmodels.c`, `LoadIQM`, `LoadModelAnimationsIQM`")

_BASIC = (ArrayType.POSITION, ArrayType.TEXCOORD)
_SPLIT = "reduce the mesh, or split it into several materials"
_AGAIN = "export it again"

PROFILES: dict[Game, Profile] = {
    profile.game: profile
    for profile in (
        Profile(Game.ANY, "Any", "Everything that the format can hold", "the format"),
        Profile(
            Game.GZDOOM, "GZDoom", "GZDoom and UZDoom", "GZDoom",
            (
                _gzdoom("no_adjacency", _no_adjacency, "adjacency of all triangles and bounds of all frames",
                        "reads beyond the end of the file without", _AGAIN),
                _late(_gzdoom, "ends with an error"),
            ),
            ("the name of a material is that of an image in the folder of the model",),
        ),
        Profile(
            Game.QUAKE3, "Quake III", "ioquake3 and games based on it", "ioquake3",
            (
                _large(_ioquake3),
                _ioquake3("too_many_joints", _joints, "at most 128 joints", "takes 128", "remove bones", 128),
                _ioquake3("other_poses", _other_poses, "as many poses as joints, or none", "refuses it", _AGAIN),
                _ioquake3("too_many_vertices", _mesh_counts("vertex_count", "vertices"),
                          "at most 999 vertices in a mesh", "takes 999", _SPLIT, 999),
                _ioquake3("too_many_triangles", _mesh_counts("triangle_count", "triangles"),
                          "at most 1,999 triangles in a mesh", "takes 1,999", _SPLIT, 1999),
                _ioquake3("missing_arrays", _missing(*_BASIC, ArrayType.NORMAL),
                          "positions, texture coordinates and normals", "refuses it", _AGAIN),
                _ioquake3("missing_weights", _missing(*_BLEND, of="joints"), "blend indexes and weights with joints",
                          "refuses it", _AGAIN),
                _ioquake3("not_portable", _not_portable(BLEND_INDEXES=(4,), BLEND_WEIGHTS=(7,)),
                          "arrays as iqm.txt recommends", "refuses it", _AGAIN),
                _ioquake3("wide_components", _wide_components, "at most 4 components, of 1 or 4 bytes", "refuses it",
                          "remove the array", 4),
            ),
        ),
        Profile(
            Game.UNVANQUISHED, "Unvanquished", "Unvanquished (Daemon)", "Daemon",
            (
                _large(_daemon),
                _daemon("not_portable", _not_portable(_BLEND), "blend indexes and weights of 4 bytes", "refuses it",
                        _AGAIN),
                _daemon("negative_scale", _negative_scale, "no negative scale", "refuses it", "apply the scale"),
                _daemon("empty_animation", _empty_animation, "frames in every animation", "refuses it",
                        "remove the animation"),
                _late(_daemon),
            ),
        ),
        Profile(
            Game.SAUERBRATEN, "Sauerbraten", "Sauerbraten, Tesseract, Red Eclipse", "Sauerbraten",
            (
                _large(_cube),
                _cube("not_portable", _not_portable(), "arrays as iqm.txt recommends", "refuses it", _AGAIN),
                _unscaled(_cube),
                _cube("empty_mesh", _empty_mesh, "vertices and triangles in every mesh", "leaves it out",
                      "remove the object", is_error=False),
            ),
            ("animations are files of their own, which `iqm.cfg` names",),
        ),
        Profile(
            Game.DARKPLACES, "DarkPlaces", "DarkPlaces and Xonotic", "DarkPlaces",
            (
                _darkplaces("missing_arrays", _missing(*_BASIC), "positions and texture coordinates", "refuses it",
                            _AGAIN),
                _darkplaces("missing_weights", _missing(*_BLEND, of="frames"),
                            "blend indexes and weights with animations", "refuses it", _AGAIN),
                _darkplaces("not_portable", _not_portable(COLOR=(7,)), "arrays as iqm.txt recommends",
                            "leaves others out", _AGAIN),
                _darkplaces("other_poses", _other_poses, "as many poses as joints", "mixes up the frames", _AGAIN),
                _late(_darkplaces, "ends with an error"),
                _unscaled(_darkplaces),
            ),
            ("colors of 128 are full brightness; translations have 16 bits of the largest in the file",),
        ),
        Profile(
            Game.FTEQW, "FTEQW", "FTEQW", "FTEQW",
            (
                _fteqw("too_many_vertices", _mesh_counts("vertex_count", "vertices"),
                       "at most 65,536 vertices in a mesh", "drops triangles beyond them", _SPLIT, 65536,
                       is_error=False),
            ),
            ("extensions `FTE_MESH`, `FTE_EVENT` and `FTE_SKINS` of an imported file stay; a rate of 0 plays at 10",),
        ),
        Profile(
            Game.QFUSION, "Qfusion", "Warfork, Warsow and Qfusion", "Qfusion",
            (
                _qfusion("too_many_vertices", _vertices, "at most 65,534 vertices", "takes 65,534", "reduce the mesh",
                         65534),
                _qfusion("other_poses", _no_poses, "as many poses as joints", "refuses it",
                         "export an animation with the model"),
                _qfusion("too_many_joints", _joints, "at most 100 joints", "takes 100", "remove bones", 100),
                _qfusion("missing_arrays", _missing(*_BASIC, ArrayType.NORMAL),
                         "positions, texture coordinates and normals", "refuses it", _AGAIN),
                _qfusion("not_portable", _not_portable(BLEND_INDEXES=(0, 4, 5), BLEND_WEIGHTS=(7,)),
                         "arrays as iqm.txt recommends", "leaves others out", _AGAIN),
                _late(_qfusion),
                _unscaled(_qfusion),
            ),
        ),
        Profile(
            Game.RAYLIB, "raylib", "raylib", "raylib",
            (
                _raylib("too_many_vertices", _mesh_counts("vertex_count", "vertices"),
                        "at most 65,536 vertices in a mesh", "has indices of 16 bits", _SPLIT, 65536),
                _raylib("other_poses", _other_poses, "as many poses as joints", "does not play the animations",
                        _AGAIN),
                _late(_raylib, "poses it wrong"),
                _unscaled(_raylib, "scales vertices about the origin of the model"),
            ),
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
