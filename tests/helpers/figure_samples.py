"""A game folder with a person made of round parts: with head, hair, flashlight and window, all made by code."""

from __future__ import annotations

from pathlib import Path

import game_folders
import numpy as np
from game_samples import tga

JOINTS = (
    ("origin", -1, (0, 0, 0)), ("Waist", 0, (0, 0, 34)), ("Neck", 1, (0, 0, 56)), ("larm", 1, (0, 9, 52)),
    ("rarm", 1, (0, -9, 52)), ("lhand", 3, (4, 14, 30)), ("lleg", 0, (0, 4, 32)), ("rleg", 0, (0, -4, 32)),
)  # fmt: skip

DECLARATIONS = """
model person { mesh person/person.md5mesh }
model person_head { mesh person/head.md5mesh }
entityDef person {
    "model" "person" "def_head" "person_head" "head_joint" "Neck" "def_attach" "flashlight"
}
entityDef flashlight { "model" "person/light.md5mesh" "joint" "lhand" "origin" "3 0 0" }
"""

BURN = """
    {{ if parm7  blend gl_zero, gl_one  map person/burn  alphaTest 0.03 * (time - parm7) }}
    {{ if parm7  blend add  map person/burn  alphaTest 0.03 * (time - parm7) }}
"""

MATERIALS = f"""
person/coat {{ diffusemap person/coat {BURN} }}
person/trousers {{ diffusemap person/trousers {BURN} }}
person/skin {{ diffusemap person/skin }}
person/hair {{ twosided {{ blend diffusemap map person/hair alphaTest 0.5 }} }}
person/metal {{ diffusemap person/metal }}
person/beam {{ twosided noshadows {{ blend add map person/beam rgb 0.6 }} }}
person/window {{ twosided translucent {{ blend filter map person/window }} }}
person/field {{ twosided noshadows {{ if parm0 blend add map person/field }} {{ if parm7 blend add map person/burn }} }}
""".replace("{{", "{").replace("}}", "}")


def ball(centre, radii, detail: int = 20) -> tuple[np.ndarray, np.ndarray, list[tuple[int, int, int]]]:
    """Vertices, texture coordinates and triangles of an ellipsoid."""
    rows, columns = detail // 2, detail
    v, u = np.mgrid[0 : rows + 1, 0 : columns + 1]
    polar, around = np.pi * v / rows, 2 * np.pi * u / columns
    unit = np.stack([np.sin(polar) * np.cos(around), np.sin(polar) * np.sin(around), np.cos(polar)], -1)
    points = (np.array(centre) + unit * np.array(radii)).reshape(-1, 3)
    uvs = np.stack([u / columns, v / rows], -1).reshape(-1, 2)
    return points, uvs, _grid(rows, columns)


def beam(start, length: float, width: float, detail: int = 24) -> tuple:
    """The same of a cone that widens along +X and ends in nothing at its far end."""
    v, u = np.mgrid[0:2, 0 : detail + 1]
    around = 2 * np.pi * u / detail
    reach = 0.5 + v * width
    points = np.stack([v * length, reach * np.cos(around), reach * np.sin(around)], -1) + np.array(start)
    return points.reshape(-1, 3), np.stack([u / detail, 0.02 + 0.96 * v], -1).reshape(-1, 2), _grid(1, detail)


def plane(x: float, y: float, z: float, width: float, height: float) -> tuple:
    """The same of a rectangle that looks along +X."""
    corners = [
        (x, y - width, z + height),
        (x, y + width, z + height),
        (x, y - width, z - height),
        (x, y + width, z - height),
    ]
    return np.array(corners), np.array([(0, 0), (1, 0), (0, 1), (1, 1)]), _grid(1, 1)


def _grid(rows: int, columns: int) -> list[tuple[int, int, int]]:
    step = columns + 1
    triangles = []
    for row in range(rows):
        for column in range(columns):
            a = row * step + column
            # Clockwise, seen from outside.
            triangles += [(a, a + 1, a + step), (a + 1, a + step + 1, a + step)]
    return triangles


def md5mesh(joints, *meshes) -> str:
    """A model: each mesh is a shader and pieces, each of which is a joint and what `ball` returns."""
    lines = [f'\t"{name}"\t{parent} ( {x} {y} {z} ) ( 0 0 0 )\t//' for name, parent, (x, y, z) in joints]
    blocks = []
    for shader, *pieces in meshes:
        verts, tris, weights = [], [], []
        for joint, (points, uvs, triangles) in pieces:
            first = len(verts)
            for (x, y, z), (s, t) in zip(points - np.array(joints[joint][2]), uvs, strict=True):
                verts.append(f"vert {len(verts)} ( {s:.5f} {t:.5f} ) {len(weights)} 1")
                weights.append(f"weight {len(weights)} {joint} 1 ( {x:.5f} {y:.5f} {z:.5f} )")
            tris += [(first + a, first + b, first + c) for a, b, c in triangles]
        rows = [f'shader "{shader}"', f"numverts {len(verts)}", *verts, f"numtris {len(tris)}"]
        rows += [f"tri {index} {a} {b} {c}" for index, (a, b, c) in enumerate(tris)]
        blocks.append("mesh {\n\t" + "\n\t".join([*rows, f"numweights {len(weights)}", *weights]) + "\n}\n")
    return (
        f'MD5Version 10\ncommandline ""\n\nnumJoints {len(joints)}\nnumMeshes {len(blocks)}\n\njoints {{\n'
        + "\n".join(lines) + "\n}\n\n" + "\n".join(blocks)
    )  # fmt: skip


def stripes(first, second, count: int = 8, size: int = 64) -> np.ndarray:
    """An image with bands of two colors."""
    rows = (np.arange(size) * count // size) % 2
    return np.where(rows[:, None, None], np.uint8(second), np.uint8(first)).repeat(size, 1)


def faded(color, size: int = 64) -> np.ndarray:
    """An image that is a color at its top and black at its bottom."""
    share = np.linspace(1, 0, size)[:, None, None]
    return (share * np.array(color)).astype(np.uint8).repeat(size, 1)


def person(folder: Path) -> Path:
    """The game folder."""
    head = (("origin", -1, (0, 0, 0)),)
    hair = stripes((60, 30, 10, 255), (60, 30, 10, 0), 24).swapaxes(0, 1)
    return game_folders.loose(
        folder,
        {
            "def/person.def": DECLARATIONS,
            "materials/person.mtr": MATERIALS,
            "person/person.md5mesh": md5mesh(
                JOINTS,
                ("person/coat", (1, ball((0, 0, 46), (5, 8, 11)))),
                ("person/coat", (3, ball((2, 11, 42), (3, 3, 12))), (4, ball((0, -11, 42), (3, 3, 12)))),
                ("person/trousers", (6, ball((0, 4, 18), (4, 4, 18))), (7, ball((0, -4, 18), (4, 4, 18)))),
                ("person/skin", (5, ball((4, 13, 30), (2.5, 2.5, 2.5))), (4, ball((1, -12, 30), (2.5, 2.5, 2.5)))),
                ("textures/common/nodraw", (1, ball((0, 0, 46), (14, 18, 18)))),
            ),
            "person/head.md5mesh": md5mesh(
                head,
                ("person/skin", (0, ball((0, 0, 7), (5.5, 5, 7)))),
                ("person/hair", (0, ball((-0.8, 0, 8.6), (5.6, 5.6, 7)))),
            ),
            "person/light.md5mesh": md5mesh(
                head,
                ("person/metal", (0, ball((2, 0, 0), (6, 1.8, 1.8)))),
                ("person/beam", (0, beam((8, 0, 0), 40, 12))),
            ),
            "person/panes.md5mesh": md5mesh(
                head,
                ("person/window", (0, plane(0, -14, 0, 10, 14))),
                ("person/field", (0, plane(0, 14, 0, 10, 14))),
            ),
            **{
                f"person/{name}.tga": tga(pixels)
                for name, pixels in {
                    "coat": stripes((150, 40, 30), (170, 60, 40)),
                    "trousers": stripes((40, 50, 90), (50, 60, 110)),
                    "skin": stripes((220, 170, 140), (225, 175, 145)),
                    "metal": stripes((120, 120, 130), (90, 90, 100)),
                    "hair": hair,
                    "beam": faded((255, 240, 180)),
                    "window": stripes((60, 160, 60), (200, 120, 40), 4),
                    "field": stripes((20, 60, 160), (10, 20, 60), 12),
                    "burn": faded((255, 120, 0)),
                }.items()
            },
        },
    )  # fmt: skip
