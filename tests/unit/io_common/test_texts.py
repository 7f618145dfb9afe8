"""Numbers with what they count, in every message."""

from __future__ import annotations

import ast
import re

import pytest
from paths import PACKAGES, ROOT

from io_idtech.io_common.texts import counted


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ((1, "vertices"), "1 vertex"),
        ((2, "vertices"), "2 vertices"),
        ((0, "frames"), "0 frames"),
        ((2000, "joint names"), "2,000 joint names"),
        ((1, "joint names", "occur"), "1 joint name occurs"),
        ((2, "joint names", "occur"), "2 joint names occur"),
        ((1, "normal indices", "are not"), "1 normal index is not"),
        ((1, "meshes", "have"), "1 mesh has"),
    ],
)
def test_a_single_one_is_in_the_singular(arguments, text):
    assert counted(*arguments) == text


NOUNS = (
    "vertices|triangles|frames|joints|meshes|bones|faces|weights|objects|images|actions|warnings|errors|corners|numbers|"
    "words|indices|coordinates|components|keys|materials|animations|cuts|edges|characters|folders|skins|"
    "heads|attachments|sequences|declarations|layers|shaders|strips|markers|cameras|vertex groups|curves|seconds|"
    "lines|rows|textures|archives|entries|groups|slots|collections|steps|samples"
)
PLURAL = re.compile(rf" ((joint|normal|such|texture) )?({NOUNS})\b")
# Limits, and numbers that are checked to be more than one.
NEVER_ONE = re.compile(r"(at most|more than|faces have|there are) $")
MESSAGES = [path for folder in PACKAGES for path in (ROOT / folder).rglob("*.py")]


def uncounted(source: str) -> list[str]:
    """The parts of formatted texts in which a plural follows a value that is not from `counted`."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.JoinedStr):
            continue
        for before, value, after in zip([None, *node.values], node.values, node.values[1:], strict=False):
            is_constant = isinstance(after, ast.Constant) and isinstance(value, ast.FormattedValue)
            plural = PLURAL.match(after.value) if is_constant else None
            lead = before.value if isinstance(before, ast.Constant) else ""
            if plural and not NEVER_ONE.search(lead):
                found.append(f"{lead}{{{ast.unparse(value.value)}}}{after.value}")
    return found


def test_a_count_that_ignores_the_singular_is_found():
    assert uncounted('f"{n} vertices have no weight"') == ["{n} vertices have no weight"]
    assert uncounted("f\"at most {n} vertices, of {counted(n, 'frames')}\"") == []


@pytest.mark.slow
def test_no_message_says_1_vertices():
    found = {
        str(path.relative_to(ROOT)): texts
        for path in MESSAGES
        if (texts := uncounted(path.read_text(encoding="utf-8")))
    }
    assert found == {}
