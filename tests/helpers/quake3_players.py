"""A player of Quake III made by code: boxes with tags that turn, a table of sequences, skins, and a weapon."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from io_idtech.io_md3.format import Model, Surface, format_model, frame_bounds, nearest_normals, positions

NAMES = (
    "BOTH_DEATH1", "BOTH_DEAD1", "BOTH_DEATH2", "BOTH_DEAD2", "BOTH_DEATH3", "BOTH_DEAD3", "TORSO_GESTURE",
    "TORSO_ATTACK", "TORSO_ATTACK2", "TORSO_DROP", "TORSO_RAISE", "TORSO_STAND", "TORSO_STAND2", "LEGS_WALKCR",
    "LEGS_WALK", "LEGS_RUN", "LEGS_BACK", "LEGS_SWIM", "LEGS_JUMP", "LEGS_LAND", "LEGS_JUMPB", "LEGS_LANDB",
    "LEGS_IDLE", "LEGS_IDLECR", "LEGS_TURN",
)  # fmt: skip

CONFIG = """// animation config file
sex\tf
footsteps\tboot
headoffset 0 2 -1

// first, frames, looping, rate
0\t5\t0\t25\t\t// BOTH_DEATH1
4\t1\t0\t25\t\t// BOTH_DEAD1
5\t4\t0\t20\t\t// BOTH_DEATH2
8\t1\t0\t20\t\t// BOTH_DEAD2
9\t3\t0\t15\t\t// BOTH_DEATH3
11\t1\t0\t15\t\t// BOTH_DEAD3

12\t6\t0\t15\t\t// TORSO_GESTURE (fine)
18\t4\t0\t15\t\t// TORSO_ATTACK
22\t4\t0\t12\t\t// TORSO_ATTACK2
26\t3\t0\t20\t\t// TORSO_DROP
29\t3\t0\t20\t\t// TORSO_RAISE
32\t1\t0\t15\t\t// TORSO_STAND
33\t5\t3\t10\t\t// TORSO_STAND2

38\t5\t5\t20\t\t// LEGS_WALKCR
43\t6\t6\t20\t\t// LEGS_WALK
49\t7\t7\t18\t\t// LEGS_RUN
56\t4\t4\t20\t\t// LEGS_BACK
60\t5\t5\t15\t\t// LEGS_SWIM
65\t4\t0\t15\t\t// LEGS_JUMP
69\t2\t0\t15\t\t// LEGS_LAND
71\t4\t0\t15\t\t// LEGS_JUMPB
75\t2\t0\t15\t\t// LEGS_LANDB
77\t6\t6\t15\t\t// LEGS_IDLE
83\t3\t3\t15\t\t// LEGS_IDLECR
86\t4\t4\t15\t\t// LEGS_TURN"""
"""Without a line end, and with comments."""

PAIRS = (
    ("LEGS_RUN", "TORSO_ATTACK"), ("LEGS_WALK", "TORSO_GESTURE"), ("LEGS_IDLE", "TORSO_STAND2"),
    ("LEGS_IDLECR", "TORSO_ATTACK2"), ("LEGS_SWIM", "TORSO_DROP"), ("LEGS_JUMP", "TORSO_RAISE"),
    ("LEGS_TURN", "TORSO_STAND"), ("LEGS_WALKCR", "TORSO_STAND2"), ("BOTH_DEATH1", "BOTH_DEATH1"),
    ("BOTH_DEAD3", "BOTH_DEAD3"),
)  # fmt: skip

_FACES = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))


def turned(angles) -> np.ndarray:
    """Rotations around z, y and x, (F, 3, 3), whose columns are the axes."""
    result = np.broadcast_to(np.eye(3), (len(angles), 3, 3))
    for axis, angle in zip((2, 1, 0), np.radians(angles).T, strict=True):
        c, s, turn = np.cos(angle), np.sin(angle), np.tile(np.eye(3), (len(angle), 1, 1))
        i, j = [(1, 2), (2, 0), (0, 1)][axis]
        turn[:, i, i], turn[:, j, j], turn[:, i, j], turn[:, j, i] = c, c, -s, s
        result = result @ turn
    return result


def box(name: str, low, high, turns: np.ndarray, moves: np.ndarray) -> Surface:
    """A box whose upper corners turn and move over the frames."""
    corners = np.array([(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)], float)
    points = np.array(low) + corners * (np.array(high) - low)
    upper = corners[:, 2] > 0.5
    moved = np.where(upper[:, None], points @ turns.transpose(0, 2, 1) + moves[:, None], points)
    order = [index for face in _FACES for index in face]
    triangles = [(4 * face, 4 * face + b, 4 * face + b + 1) for face in range(6) for b in (1, 2)]
    st = np.tile([(0, 0), (1, 0), (1, 1), (0, 1)], (6, 1)).astype(np.float32)
    placed = moved[:, order]
    normals = placed - placed.mean(axis=1, keepdims=True)
    return Surface(
        name, [f"models/players/boxer/{name}.tga"], np.array(triangles, np.int32), st,
        np.rint(placed * 64).astype(np.int16), nearest_normals(normals),
    )  # fmt: skip


def _model(name: str, surfaces: list[Surface], tags: dict[str, tuple[np.ndarray, np.ndarray]]) -> Model:
    count = len(surfaces[0].vertices)
    bounds, centers, radii = frame_bounds(np.concatenate([positions(one.vertices) for one in surfaces], axis=1))
    axes = [np.broadcast_to(turns, (count, 3, 3)).transpose(0, 2, 1) for turns, _ in tags.values()]
    origins = [np.broadcast_to(places, (count, 3)) for _, places in tags.values()]
    return Model(
        f"models/players/boxer/{name}.md3", [f"frame{frame}" for frame in range(count)], bounds, centers, radii,
        list(tags), np.stack(origins, 1).astype(np.float32), np.stack(axes, 1).astype(np.float32), surfaces,
    )  # fmt: skip


def _swing(part: str, *steps: float) -> np.ndarray:
    """Angles of all frames of a part, (F, 3), which come back to the first at the end of each sequence."""
    rows = [line.split() for line in CONFIG.splitlines() if "\t//" in line]
    shift = 26 if part == "lower" else 0
    other = "TORSO_" if part == "lower" else "LEGS_"
    angles = np.zeros(({"lower": 64, "upper": 38}[part], 3))
    for number, (name, row) in enumerate(zip(NAMES, rows, strict=True)):
        if not name.startswith((other, "BOTH_DEAD")):
            first, count = int(row[0]) - shift * name.startswith("LEGS_"), int(row[1])
            phases = 2 * np.pi * np.arange(count)[:, None] / count + number + np.array(steps)
            angles[first : first + count] = 2.5 * np.sin(phases) + number % 4
    return angles


def models() -> dict[str, Model]:
    """Legs, torso, head and weapon."""
    legs, torso = turned(_swing("lower", 0.5, 0.3, 0.7)), turned(_swing("upper", 0.4, 0.6, 0.2))
    step, lean = _swing("lower", 0.9, 0.4, 0.6) / 3, _swing("upper", 0.7, 0.2, 0.5) / 3
    still, zero = np.eye(3)[None], np.zeros((1, 3))
    lower = [box("l_legs", (-6, -8, -24), (6, 8, 0), legs, step), box("l_belt", (-7, -9, -2), (7, 9, 1), legs, step)]
    return {
        "lower": _model("lower", lower, {"tag_torso": (legs, step)}),
        "upper": _model(
            "upper", [box("u_torso", (-5, -10, 0), (5, 10, 20), torso, lean)],
            {
                "tag_torso": (still, zero), "tag_weapon": (torso @ torso, lean + np.array([9, -8, 12])),
                "tag_head": (torso, lean + torso @ np.array([0, 0, 22.0])),
            },
        ),
        "head": _model("head", [box("h_head", (-4, -4, 0), (4, 4, 9), still, zero)], {"tag_head": (still, zero)}),
        "stick": _model("stick", [box("w_stick", (-1, -1, -1), (24, 1, 1), still, zero)], {"tag_flash": (still, zero)}),
    }  # fmt: skip


def files(folder: str = "models/players/boxer") -> dict[str, bytes]:
    """The files of the player and of his weapon by their paths in the game."""
    made = models()
    found = {f"{folder}/{part}.md3": format_model(made[part]) for part in ("lower", "upper", "head")}
    for skin in ("default", "blue"):
        for part in ("lower", "upper", "head"):
            lines = [f"{one.name},{folder}/{skin}_{one.name}.tga\r\n" for one in made[part].surfaces]
            tags = [f"{tag},\r\n" for tag in made[part].tag_names]
            found[f"{folder}/{part}_{skin}.skin"] = "".join([*tags, *lines]).encode()
    found[f"{folder}/animation.cfg"] = CONFIG.encode()
    found["models/weapons2/stick/stick.md3"] = format_model(made["stick"])
    return found


def write(game: Path) -> dict[str, Path]:
    """Writes all files below a game folder; returns their paths by their paths in the game."""
    paths = {name: game / name for name in files()}
    for name, data in files().items():
        paths[name].parent.mkdir(parents=True, exist_ok=True)
        paths[name].write_bytes(data)
    return paths
