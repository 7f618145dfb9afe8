"""What is in an MD2 file, in numbers and in words."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass
from typing import Any

from .check import check_model
from .frames import decompress
from .games import game_named
from .model import FRAMES_PER_SECOND
from .reading import read_model
from .sequences import find_sequences


@dataclass(frozen=True)
class Description:
    """What there is to tell about a file.

    Attributes:
        facts: text, numbers and lists of them, as JSON has them; "kind" and "warnings" are always there, and "findings"
            where a game was named.
        lines: the same, to be read.
    """

    facts: dict[str, Any]
    lines: list[str]


def describe_model(path: str | os.PathLike[str], game: str = "") -> Description:
    """Describes an .md2 file.

    Args:
        path: the file.
        game: the name of a game, whose findings are told besides.

    Raises:
        Md2Error: it cannot be understood.
        OSError: it cannot be read.
    """
    model = read_model(path)
    sequences = [
        {"name": sequence.name, "first": sequence.first, "last": sequence.last}
        for sequence in find_sequences(model.frame_names)
    ]
    places = decompress(model.vertices, model.scale, model.translate).reshape(-1, 3)
    facts: dict[str, Any] = {
        "kind": "md2",
        "frames": model.num_frames,
        "seconds": model.num_frames / FRAMES_PER_SECOND,
        "vertices": model.num_vertices,
        "triangles": model.num_triangles,
        "texture_coordinates": len(model.st),
        "gl_commands": len(model.gl_commands.counts),
        "skin_size": [model.skin_width, model.skin_height],
        "skins": model.skins,
        "sequences": sequences,
        "box": [places.min(axis=0).tolist(), places.max(axis=0).tolist()] if len(places) else [],
        "warnings": list(dict.fromkeys([*model.warnings, *(str(finding) for finding in check_model(model))])),
    }
    corners = [" ".join(f"{value:.6g}" for value in corner) for corner in facts["box"]]
    lines = [
        "MD2 model",
        f"{_counted(model.num_frames, 'frame')}, {model.num_vertices:,} vertices, "
        f"{_counted(model.num_triangles, 'triangle')}, {facts['gl_commands']:,} strips and fans",
        f"skin of {model.skin_width} by {model.skin_height} pixels: {', '.join(model.skins) or 'none named'}",
        *([f"box from ({corners[0]}) to ({corners[1]})"] if corners else []),
        *(
            f"sequence {sequence['name']!r}: frames {sequence['first']} to {sequence['last']}"
            for sequence in sequences
        ),
    ]
    if game:
        findings = check_model(model, game_named(game))
        texts = {finding.text for finding in findings}
        facts["warnings"] = [text for text in facts["warnings"] if text not in texts]
        facts |= {"game": game, "findings": [asdict(finding) for finding in findings]}
        told = [
            f"{game} {'error' if finding.is_error else 'warning'}: {finding.text}" for finding in findings
        ]
        lines += told or [f"{game}: nothing to complain of"]
    return Description(facts, lines)


DESCRIBERS = {".md2": describe_model}
"""What describes each kind of file, by its ending."""


def _counted(number: int, what: str) -> str:
    """A number and the word for it: "1 mesh", "2,000 joints"."""
    plural = "" if number == 1 else "es" if what.endswith("sh") else "s"
    return f"{number:,} {what}{plural}"
