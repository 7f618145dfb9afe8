"""A reader of MD3 files by the letter of id's `qfiles.h`, one number at a time, which shares nothing with ours."""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass


@dataclass
class SpecSurface:
    name: str
    shaders: list[str]
    triangles: list[tuple[int, int, int]]
    st: list[tuple[float, float]]
    points: list[list[tuple[float, float, float]]]  # by frame
    normals: list[list[tuple[float, float, float]]]


@dataclass
class SpecModel:
    frames: list[tuple]  # min, max, origin, radius, name
    tags: list[dict[str, tuple]]  # by frame: origin and the three axes
    surfaces: list[SpecSurface]


def text(data: bytes) -> str:
    return data.split(b"\0")[0].decode("latin-1")


def normal(latitude: int, longitude: int) -> tuple[float, float, float]:
    lat, lng = latitude * 2 * math.pi / 255, longitude * 2 * math.pi / 255
    return math.cos(lng) * math.sin(lat), math.sin(lng) * math.sin(lat), math.cos(lat)


def read(data: bytes) -> SpecModel:
    assert data[:4] == b"IDP3"
    assert struct.unpack_from("<i", data, 4) == (15,)
    frames, tags, surfaces, _, of_frames, of_tags, of_surfaces, _ = struct.unpack_from("<8i", data, 76)
    model = SpecModel([], [], [])
    for frame in range(frames):
        values = struct.unpack_from("<10f16s", data, of_frames + 56 * frame)
        model.frames.append((values[:3], values[3:6], values[6:9], values[9], text(values[10])))
        found = {}
        for tag in range(tags):
            values = struct.unpack_from("<64s12f", data, of_tags + 112 * (frame * tags + tag))
            found[text(values[0])] = (values[1:4], values[4:7], values[7:10], values[10:13])
        model.tags.append(found)
    start = of_surfaces
    for _ in range(surfaces):
        name = text(data[start + 4 : start + 68])
        _, own, shaders, vertices, triangles, of_tri, of_sh, of_st, of_v, end = struct.unpack_from(
            "<10i", data, start + 68
        )
        surface = SpecSurface(name, [], [], [], [], [])
        for index in range(shaders):
            at = start + of_sh + 68 * index
            surface.shaders.append(text(data[at : at + 64]))
        for index in range(triangles):
            surface.triangles.append(struct.unpack_from("<3i", data, start + of_tri + 12 * index))
        for index in range(vertices):
            surface.st.append(struct.unpack_from("<2f", data, start + of_st + 8 * index))
        for frame in range(own):
            points, normals = [], []
            for index in range(vertices):
                at = start + of_v + 8 * (frame * vertices + index)
                x, y, z, latitude, longitude = struct.unpack_from("<3h2B", data, at)
                points.append((x / 64, y / 64, z / 64))
                normals.append(normal(latitude, longitude))
            surface.points.append(points)
            surface.normals.append(normals)
        model.surfaces.append(surface)
        start += end
    return model
