"""Readers of MD3 files: Ironwail and vkQuake, q2pro, yquake2, ioquake3, GZDoom, SRB2, EDGE-Classic, dhewm3, Daemon.

Facts: Ironwail's and QuakeSpasm-Spiked's `Mod_LoadMD3Model` (frames from 1 to 1,024, at least one surface, the same
frames in each, indices of 16 bits that exist); q2pro's `refresh/models.c`, `MOD_ValidateMD3` and `MOD_ValidateMD3Mesh`
(limits, and sections at multiples of the alignment of their types), and its loader, which refuses an index beyond the
vertices; yquake2's `models.c`, `Mod_LoadModel_MD3` (a file as long as it says, the same frames in each surface);
ioquake3's `tr_model.c`, `R_LoadMD3` (fewer than 1,000 vertices and 6,000 indices in a surface); the loaders of the
others check less. Normals are decoded as each does it: sines of a table (ioquake3), or steps of 1/255 or 1/256 turn.
"""

from __future__ import annotations

import math
import struct

import md3_specification as specification
from md3_specification import SpecModel

from .posing import Refused


def _header(data: bytes) -> tuple[int, ...]:
    if len(data) < 108 or data[:4] != b"IDP3" or struct.unpack_from("<i", data, 4)[0] != 15:
        raise Refused("not an MD3")
    return struct.unpack_from("<8i", data, 76)


def _surfaces(data: bytes) -> list[tuple[int, tuple[int, ...]]]:
    _, _, count, _, _, _, start, _ = _header(data)
    found = []
    for _ in range(count):
        values = struct.unpack_from("<10i", data, start + 68)
        found.append((start, values))
        start += values[9]
    return found


def _require(holds: bool, reason: str) -> None:
    if not holds:
        raise Refused(reason)


def _check_indices(data: bytes, most: int) -> None:
    for start, values in _surfaces(data):
        for index in range(3 * values[4]):
            vertex = struct.unpack_from("<i", data, start + values[5] + 4 * index)[0]
            _require(0 <= vertex < values[3] <= most, "vertex index out of bounds")


def quake(data: bytes) -> SpecModel:
    """Ironwail, vkQuake and QuakeSpasm-Spiked."""
    frames, _, surfaces, *_ = _header(data)
    _require(0 < frames <= 1024, "invalid frame count")
    _require(surfaces > 0, "no surfaces")
    for start, values in _surfaces(data):
        _require(data[start : start + 4] == b"IDP3", "corrupt surface ident")
        _require(values[1] == frames, "mismatched framecounts")
    _check_indices(data, 65535)
    return specification.read(data)


def q2pro(data: bytes) -> SpecModel:
    """q2pro, which refuses more than yquake2, and yquake2."""
    frames, _, surfaces, _, of_frames, _, of_surfaces, _ = _header(data)
    _require(1 <= frames <= 1024, "frames")
    _require(of_frames + 56 * frames <= len(data) and of_frames % 4 == 0, "frames offset")
    _require(1 <= surfaces <= 32, "meshes")
    _require(of_surfaces <= len(data) and of_surfaces % 4 == 0, "meshes offset")
    for start, (_, _, shaders, vertices, triangles, of_tri, of_sh, of_st, of_v, end) in _surfaces(data):
        length = len(data) - start
        _require(108 <= end <= length and end % 4 == 0, "mesh size")
        _require(3 <= vertices <= 6144, "verts")
        _require(1 <= triangles <= 6144, "tris")
        _require(shaders <= 256, "skins")
        _require(of_sh + 68 * shaders <= length and of_sh % 4 == 0, "skins offset")
        _require(of_v + 8 * vertices * frames <= length and of_v % 2 == 0, "verts offset")
        _require(of_st + 8 * vertices <= length and of_st % 4 == 0, "tcs offset")
        _require(of_tri + 12 * triangles <= length and of_tri % 4 == 0, "indexes offset")
    _check_indices(data, 6144)
    _require_yquake2(data)
    return specification.read(data)


def _require_yquake2(data: bytes) -> None:
    frames, _, surfaces, *_, end = _header(data)
    _require(0 <= end <= len(data), "file size too small")
    _require(surfaces >= 0 and frames >= 0, "incorrect count")
    for _, values in _surfaces(data):
        _require(values[1] == frames, "broken mesh")


def ioquake3(data: bytes) -> SpecModel:
    """ioquake3."""
    frames, *_ = _header(data)
    _require(frames >= 1, "no frames")
    for _, values in _surfaces(data):
        _require(values[3] < 1000, "more than 999 verts")
        _require(3 * values[4] < 6000, "more than 1999 triangles")
    return specification.read(data)


def gzdoom(data: bytes) -> SpecModel:
    """GZDoom, which checks nothing."""
    _header(data)
    return specification.read(data)


def srb2(data: bytes) -> SpecModel:
    """Sonic Robo Blast 2: indices of 16 bits, and names of players' frames."""
    model = specification.read(data)
    for surface in model.surfaces:
        _require(len(surface.st) <= 65536, "an index of more than 16 bits")
    return model


def edge(data: bytes) -> SpecModel:
    """EDGE-Classic, which reads the first surface."""
    _require(_header(data)[2] > 0, "no surfaces")
    model = specification.read(data)
    del model.surfaces[1:]
    return model


def dhewm3(data: bytes) -> SpecModel:
    """Doom 3, whose limits are those of Quake III but included."""
    for _, values in _surfaces(data):
        _require(values[3] <= 1000, "more than 1000 verts")
        _require(3 * values[4] <= 6000, "more than 2000 triangles")
        _require(values[2] > 0, "no shader")
    return specification.read(data)


def daemon(data: bytes) -> SpecModel:
    """Unvanquished."""
    _require(_header(data)[0] >= 1, "no frames")
    for _, values in _surfaces(data):
        _require(values[3] <= 10000, "more than 10000 verts")
        _require(3 * values[4] <= 60000, "more than 20000 triangles")
    return specification.read(data)


GAMES = {
    "QUAKE": quake, "QUAKE2": q2pro, "QUAKE3": ioquake3, "GZDOOM": gzdoom, "SRB2": srb2, "EDGE": edge,
    "DOOM3": dhewm3, "UNVANQUISHED": daemon,
}  # fmt: skip


def normal(game: str, latitude: int, longitude: int) -> tuple[float, float, float]:
    """The normal of two bytes in a game, as its own code decodes it."""
    if game == "QUAKE3":
        # `tr_surface.c`, `LerpMeshVertexes_scalar`; `tr_init.c`, `R_Init`.
        table = [math.sin(math.radians(index * 360.0 / 1023.0)) for index in range(1024)]
        lat, lng = 4 * latitude, 4 * longitude
        return (table[(lng + 256) & 1023] * table[lat], table[lng] * table[lat], table[(lat + 256) & 1023])
    turn = 256 if game in ("QUAKE2", "GZDOOM", "SRB2", "EDGE") else 255
    lat, lng = latitude * 2 * math.pi / turn, longitude * 2 * math.pi / turn
    return math.cos(lng) * math.sin(lat), math.sin(lng) * math.sin(lat), math.cos(lat)
