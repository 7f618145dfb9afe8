"""MD2 as the specification has it, one value at a time, and a model made of the result.

The functions follow the text and the C of David Henry's document (`ReadMD2Model`, `RenderFrame`,
`RenderFrameWithGLCmds`, `Animate`); none of them calls the tested code. A file that the document's reader would read
beyond its end raises `struct.error` or `IndexError`.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

MAGIC_NUMBER = (ord("2") << 24) + (ord("P") << 16) + (ord("D") << 8) + ord("I")
VERSION = 8
MAX_TRIANGLES, MAX_VERTICES, MAX_TEXCOORDS, MAX_FRAMES, MAX_SKINS, NORMALS = 4096, 2048, 2048, 512, 32, 162

HEADER = [
    "ident",
    "version",
    "skinwidth",
    "skinheight",
    "framesize",
    "num_skins",
    "num_vertices",
    "num_st",
    "num_tris",
    "num_glcmds",
    "num_frames",
    "offset_skins",
    "offset_st",
    "offset_tris",
    "offset_frames",
    "offset_glcmds",
    "offset_end",
]


@dataclass
class Frame:
    scale: tuple[float, float, float]
    translate: tuple[float, float, float]
    name: bytes
    verts: list[tuple[int, int, int, int]]


@dataclass
class Md2:
    header: dict[str, int]
    skins: list[bytes]
    texcoords: list[tuple[int, int]]
    triangles: list[tuple[int, ...]]
    frames: list[Frame]
    glcmds: list[int]


def c_string(field):
    """What C sees of a field of characters."""
    return field.split(b"\0", 1)[0]


def read(data):
    """`ReadMD2Model`."""
    header = dict(zip(HEADER, struct.unpack_from("<17i", data), strict=True))
    if header["ident"] != MAGIC_NUMBER or header["version"] != VERSION:
        raise ValueError("bad version!")

    def items(kind, layout):
        size = struct.calcsize(layout)
        first = header[f"offset_{kind}"]
        return [struct.unpack_from(layout, data, first + size * i) for i in range(header[f"num_{kind}"])]

    frames = []
    at = header["offset_frames"]
    for _ in range(header["num_frames"]):
        scale = struct.unpack_from("<3f", data, at)
        translate = struct.unpack_from("<3f", data, at + 12)
        (name,) = struct.unpack_from("<16s", data, at + 24)
        at += 40
        verts = []
        for _ in range(header["num_vertices"]):
            verts.append(struct.unpack_from("<4B", data, at))
            at += 4
        frames.append(Frame(scale, translate, c_string(name), verts))
    return Md2(
        header,
        [c_string(name) for (name,) in items("skins", "<64s")],
        items("st", "<2h"),
        items("tris", "<6H"),
        frames,
        [word for (word,) in items("glcmds", "<i")],
    )


def vertex(frame, index):
    """Section 3-6: the position of a vertex."""
    v = frame.verts[index]
    return [(v[i] * frame.scale[i]) + frame.translate[i] for i in range(3)]


def texture_coordinate(md2, index):
    """Section 3-3: s / skinwidth and t / skinheight."""
    s, t = md2.texcoords[index]
    return s / md2.header["skinwidth"], t / md2.header["skinheight"]


def render_frame(md2, n, normals):
    """`RenderFrame`: s, t, the normal and the position of each corner of each triangle."""
    frame = md2.frames[n]
    return [
        (texture_coordinate(md2, triangle[3 + j]), normals[frame.verts[triangle[j]][3]], vertex(frame, triangle[j]))
        for triangle in md2.triangles
        for j in range(3)
    ]


def gl_primitives(md2):
    """The loop of `RenderFrameWithGLCmds`: whether each primitive is a fan, and s, t and vertex of its corners."""
    primitives = []
    at = 0
    while md2.glcmds[at] != 0:
        count = md2.glcmds[at]
        at += 1
        is_fan = count < 0
        corners = []
        for _ in range(abs(count)):
            s, t = struct.unpack("<2f", struct.pack("<2i", *md2.glcmds[at : at + 2]))
            corners.append((s, t, md2.glcmds[at + 2]))
            at += 3
        primitives.append((is_fan, corners))
    return primitives


def gl_triangles(md2):
    """What OpenGL makes of the primitives: triangles of corners, in the order that keeps their winding."""
    triangles = []
    for is_fan, corners in gl_primitives(md2):
        for k in range(len(corners) - 2):
            if is_fan:
                triangles.append((corners[0], corners[k + 1], corners[k + 2]))
            elif k % 2 == 0:
                triangles.append((corners[k], corners[k + 1], corners[k + 2]))
            else:
                triangles.append((corners[k + 1], corners[k], corners[k + 2]))
    return triangles


def interpolated(md2, current, following, index, interp):
    """Section 6: the position of a vertex between two frames."""
    v_curr, v_next = vertex(md2.frames[current], index), vertex(md2.frames[following], index)
    return [v_curr[i] + interp * (v_next[i] - v_curr[i]) for i in range(3)]


def animate(start, end, frame, interp):
    """`Animate`: the current frame and the fraction after it; the last frame is left as soon as it is reached."""
    if frame < start or frame > end:
        frame = start
    if interp >= 1.0:
        interp = 0.0
        frame += 1
        if frame >= end:
            frame = start
    return frame, interp
