"""Sauerbraten and related games, Unvanquished, and the target Any."""

from __future__ import annotations

from . import mesh_checks as meshes
from . import skeleton_checks as joints
from .common import (
    UNNAMED,
    as_warning,
    bias_sums,
    influences,
    joint_count,
    name_line,
    no_cameras,
    no_meshes,
    unsafe_names,
    vertex_count,
)
from .names import NameRule
from .profile import Comments, Game, Profile, Writing
from .rules import Rule

_SAUER_NAMES = NameRule(98, '["\t\n\v\f\r ]', "contain white space or quotes, or are longer than 98 bytes")
_SAUER = "Sauerbraten `md5.h`"
_DAEMON = "Daemon `tr_model_md5.cpp`, `R_LoadMD5`"
_LAST_PARENT = 127
_IQM = "iqm `iqm.cpp`"

ANY = Profile(
    Game.ANY, "Any", "Rules of every game, and warnings from the rules of iqm's compiler", "iqm's compiler",
    (
        as_warning(joint_count("iqm's compiler", 255, f"{_IQM}: indices of joints are bytes")),
        Rule(
            "equal_meshes", False, meshes.equal_meshes, "iqm's compiler",
            "meshes differ in name or shader", "iqm's compiler keeps only one of them",
            "rename the objects", f"{_IQM}, `makemeshes`",
        ),
    ),
    Writing(comments=Comments.AMBIGUOUS),
    (
        "meshes with the same shader get a comment `// meshes: NAME`, so that iqm's compiler keeps all of "
        "them",
    ),
)  # fmt: skip

SAUERBRATEN = Profile(
    Game.SAUERBRATEN, "Sauerbraten", "Sauerbraten, Tesseract, Red Eclipse", "Red Eclipse `md5.h`",
    (
        UNNAMED,
        unsafe_names(
            "Sauerbraten", _SAUER_NAMES,
            "no white space and no quotes in joint names, and at most 98 bytes",
            "Sauerbraten crashes on the animation", f"{_SAUER}: `sscanf(\" %100s %d %d %d\")`",
        ),
        no_meshes("Sauerbraten", _SAUER),
        joint_count("Sauerbraten", 256, f"{_SAUER}: indices of joints are bytes"),
        vertex_count("Sauerbraten", 65535, f"{_SAUER}: indices of 16 bits"),
        Rule(
            "total_vertices", False, meshes.total_vertices, "Sauerbraten", "at most 65,535 vertices in all meshes",
            "Sauerbraten draws further triangles elsewhere", "remove vertices, or export two models",
            "Sauerbraten `skelmodel.h`, `genvbo`: indices of 16 bits for all meshes", 65535,
        ),
        Rule(
            "weight_count", True, meshes.weight_count, "Sauerbraten", "at most 65,535 weights in a mesh",
            "Sauerbraten takes 65,535 in a mesh", "split the object, or export with fewer Bone Influences",
            f"{_SAUER}: `ushort start`", 65535,
        ),
        influences("Sauerbraten", "Sauerbraten `skelmodel.h`, `blendcombo`"),
        bias_sums(
            "Sauerbraten", 0.0001, "Sauerbraten scales them", "Sauerbraten `skelmodel.h`, `blendcombo`"
        ),
        Rule(
            "unnamed_mesh", False, meshes.unnamed_mesh, "Sauerbraten", "a comment `// meshes: NAME` in every mesh",
            "md5skin in md5.cfg finds meshes by it", "export it for this game, which adds the comment",
            f"{_SAUER}, `md5mesh::load`",
        ),
        no_cameras("Sauerbraten"),
    ),
    Writing(comments=Comments.ALL, names=_SAUER_NAMES),
    ("a comment `// meshes: NAME` in every mesh, for `md5skin NAME …` in `md5.cfg`",),
)  # fmt: skip

UNVANQUISHED = Profile(
    Game.UNVANQUISHED, "Unvanquished", "Unvanquished and other games of the Daemon engine", "Daemon",
    (
        UNNAMED,
        name_line("Unvanquished", _DAEMON),
        no_meshes("Unvanquished", _DAEMON),
        joint_count("Unvanquished", 255, "Daemon `tr_local.h`: `numChannels` is an unsigned byte"),
        Rule(
            "parent_indices", True, joints.parent_indices, "Unvanquished",
            "parents among the first 128 joints", "Unvanquished would detach them",
            "remove bones, or export with Deform Bones Only",
            "Daemon `tr_local.h`: `parentIndex` is a signed byte", _LAST_PARENT,
        ),
        influences("Unvanquished", f"{_DAEMON}: `MAX_WEIGHTS`", is_error=True),
        no_cameras("Unvanquished"),
    ),
    Writing(name_lines=False, last_parent=_LAST_PARENT),
    (
        "no line `name`; the name is written as a comment",
        "joints without children last, where that brings all parents among the first 128",
    ),
)  # fmt: skip
