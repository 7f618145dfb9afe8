"""A description of an MD2 file, as values and as text."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from ...io_common.counting import counted
from ...io_common.files.sources import Source
from .boxes import model_bounds
from .check import check_model
from .games import game_named
from .model import FRAMES_PER_SECOND, Model
from .reading import read_model
from .sequences import find_sequences
from .validation import validate_structure


@dataclass(frozen=True)
class Description:
    """A description of a file.

    Attributes:
        facts: values for JSON; "kind" and "warnings" are always present, and "findings" if a game was given.
        lines: the same as text.
    """

    facts: dict[str, Any]
    lines: list[str]


def describe(source: Source | Model, game: str = "") -> Description:
    """Describes an .md2 file or a model.

    Args:
        source: a model, or what ``read_model`` reads: a path, bytes, or a binary file object.
        game: the name of a game, whose findings are included.

    Raises:
        Md2Error: it cannot be understood, or the model is not valid.
        OSError: it cannot be read.
    """
    model = source if isinstance(source, Model) else read_model(source)
    validate_structure(model)
    sequences = [
        {"name": sequence.name, "first": sequence.first, "last": sequence.last}
        for sequence in find_sequences(model.frame_names)
    ]
    facts: dict[str, Any] = {
        "kind": "md2",
        "frames": model.frame_count,
        "seconds": model.frame_count / FRAMES_PER_SECOND,
        "vertices": model.vertex_count,
        "triangles": model.triangle_count,
        "texture_coordinates": len(model.st),
        "gl_commands": len(model.gl_commands.counts),
        "skin_size": [model.skin_width, model.skin_height],
        "skins": model.skins,
        "sequences": sequences,
        "box": model_bounds(model).tolist() if model.frame_count and model.vertex_count else [],
        "warnings": list(dict.fromkeys([*model.warnings, *(str(finding) for finding in check_model(model))])),
    }
    corners = [" ".join(f"{value:.6g}" for value in corner) for corner in facts["box"]]
    lines = [
        "MD2 model",
        f"{counted(model.frame_count, 'frames')}, {counted(model.vertex_count, 'vertices')}, "
        f"{counted(model.triangle_count, 'triangles')}, {counted(facts['gl_commands'], 'GL commands')}",
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
        texts_of_game = [
            f"{game} {'error' if finding.is_error else 'warning'}: {finding.text}" for finding in findings
        ]
        lines += texts_of_game or [f"{game}: no problems found"]
    return Description(facts, lines)


DESCRIBERS = {".md2": describe}
"""The function that describes each kind of file, by suffix."""
