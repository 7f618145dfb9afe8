"""Readers of MD2 files: id's Quake II, yquake2, q2pro, and those of the Cube line.

Facts: id's `ref_gl/gl_model.c`, `Mod_LoadAliasModel`, and `gl_mesh.c`, which draws the GL commands; yquake2's
`files/models.c`, `Mod_LoadMD2`, with the same limits, and an end that has to lie in the file; q2pro's `models.c`,
`MOD_ValidateMD2` and `MOD_LoadMD2`, which draws the triangles; Cube's `md2.h`, which draws the GL commands.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

import numpy as np

from .posing import Refused

_HEADER = (
    "ident", "version", "skinwidth", "skinheight", "framesize", "num_skins", "num_xyz", "num_st", "num_tris",
    "num_glcmds", "num_frames", "ofs_skins", "ofs_st", "ofs_tris", "ofs_frames", "ofs_glcmds", "ofs_end",
)  # fmt: skip
_SKIN_BYTES = 64


@dataclass
class Drawn:
    """What an engine draws.

    Attributes:
        corners: the vertex of each corner of each triangle, (T, 3).
        uvs: the place on the skin of each corner as fractions, (T, 3, 2).
        frames: the places of the vertices, (F, V, 3).
        skins: names, as far as they are read.
    """

    corners: np.ndarray
    uvs: np.ndarray
    frames: np.ndarray
    skins: list[bytes]


def quake2(data: bytes) -> Drawn:
    """id's engine."""
    h = _read_header(data)
    if h["skinheight"] > 480:
        raise Refused("skin taller than 480")
    if not 0 < h["num_xyz"] <= 2048:
        raise Refused("vertices")
    for key in ("num_st", "num_tris", "num_frames"):
        if h[key] <= 0:
            raise Refused(key)
    _triangles(data, h)
    corners, uvs = _commands(data, h)
    return Drawn(corners, uvs, _frames(data, h), _skins(data, h)[:32])


def yquake2(data: bytes) -> Drawn:
    """yquake2, which reads the file into as many bytes as its header says."""
    if not 0 <= _read_header(data)["ofs_end"] <= len(data):
        raise Refused("file size too small")
    return quake2(data)


def q2pro(data: bytes) -> Drawn:
    """q2pro and the re-release."""
    h = _read_header(data)
    if h["num_tris"] < 1 or h["num_st"] < 3 or h["num_xyz"] < 3 or h["num_frames"] < 1:
        raise Refused("taken for empty")
    for key, most in (("num_tris", 6144), ("num_frames", 1024)):
        if h[key] > most:
            raise Refused(key)
    if not (h["skinwidth"] >= 1 and h["skinheight"] >= 1):
        raise Refused("skin size")
    for key in ("ofs_tris", "ofs_st", "ofs_frames", "framesize"):
        if h[key] % 2 or (key in ("ofs_frames", "framesize") and h[key] % 4):
            raise Refused(f"odd {key}")
    vertices, st_indices = _triangles(data, h)
    good = ((vertices < h["num_xyz"]) & (st_indices < h["num_st"])).all(axis=1)
    if not good.any():
        raise Refused("too few valid indices")
    st = np.frombuffer(data, "<i2", 2 * h["num_st"], h["ofs_st"]).reshape(-1, 2)
    corners = vertices[good]
    texels = st[st_indices[good]]
    distinct = np.unique(np.concatenate([corners[..., None], texels], axis=2).reshape(-1, 3), axis=0)
    if len(distinct) > 6144:
        raise Refused("too many verts")
    skins = _skins(data, h)
    if any(b"\0" not in skin for skin in skins):
        raise Refused("a skin name is cut")
    return Drawn(corners, texels / (h["skinwidth"], h["skinheight"]), _frames(data, h), skins)


def cube(data: bytes) -> Drawn:
    """Cube, Sauerbraten, AssaultCube."""
    h = _read_header(data)
    corners, uvs = _commands(data, h)
    return Drawn(corners, uvs, _frames(data, h), [])


def _read_header(data):
    if len(data) < 68:
        raise Refused("too short")
    h = dict(zip(_HEADER, struct.unpack_from("<17i", data), strict=True))
    if data[:4] != b"IDP2" or h["version"] != 8:
        raise Refused("not an MD2 file")
    for key, size in (
        ("skins", _SKIN_BYTES), ("st", 4), ("tris", 12), ("frames", h["framesize"]), ("glcmds", 4)
    ):  # fmt: skip
        count = h[f"num_{key}"]
        if count and not 0 <= h[f"ofs_{key}"] <= len(data) - count * size:
            raise Refused(f"ofs_{key}")
    if h["framesize"] < 40 + 4 * h["num_xyz"]:
        raise Refused("framesize")
    return h


def _triangles(data, h):
    rows = np.frombuffer(data, "<u2", 6 * h["num_tris"], h["ofs_tris"]).reshape(-1, 6).astype(int)
    return rows[:, :3], rows[:, 3:]


def _frames(data, h):
    places = []
    for frame in range(h["num_frames"]):
        at = h["ofs_frames"] + frame * h["framesize"]
        scale = np.frombuffer(data, "<f4", 3, at).astype(float)
        translate = np.frombuffer(data, "<f4", 3, at + 12).astype(float)
        steps = np.frombuffer(data, np.uint8, 4 * h["num_xyz"], at + 40).reshape(-1, 4)[:, :3]
        places.append(steps * scale + translate)
    return np.array(places).reshape(h["num_frames"], h["num_xyz"], 3)


def _skins(data, h):
    at = h["ofs_skins"]
    return [data[at + _SKIN_BYTES * i : at + _SKIN_BYTES * (i + 1)] for i in range(h["num_skins"])]


def _commands(data, h):
    words = np.frombuffer(data, "<i4", h["num_glcmds"], h["ofs_glcmds"])
    floats = words.view("<f4")
    corners, uvs = [], []
    at = 0
    while at < len(words) and words[at]:
        count = int(words[at])
        rows = range(at + 1, at + 1 + 3 * abs(count), 3)
        at += 1 + 3 * abs(count)
        if at > len(words):
            raise Refused("commands run past their end")
        for k in range(abs(count) - 2):
            if count < 0:
                chosen = (rows[0], rows[k + 1], rows[k + 2])
            else:
                chosen = (rows[k + k % 2], rows[k + 1 - k % 2], rows[k + 2])
            corners.append([words[row + 2] for row in chosen])
            uvs.append([floats[row : row + 2] for row in chosen])
    if at >= len(words) and h["num_tris"]:
        raise Refused("commands do not end")
    corners = np.array(corners, dtype=int).reshape(-1, 3)
    if (corners >= h["num_xyz"]).any() or (corners < 0).any():
        raise Refused("a vertex of the commands")
    return corners, np.array(uvs, dtype=float).reshape(-1, 3, 2)
