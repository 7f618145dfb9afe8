"""Texts of MD5 files that are read, read with a warning, or refused."""

from __future__ import annotations

import pytest
from md5_samples import ANIMATION, MESH, assert_same_animation, assert_same_model, line_of

from io_idtech.io_md5.format import Md5Error, parse_animation, parse_mesh


def mesh_of(text):
    return parse_mesh(text.encode() if isinstance(text, str) else text, "box.md5mesh")


def animation_of(text):
    return parse_animation(text.encode() if isinstance(text, str) else text, "walk.md5anim")


def assert_warned(result, *words):
    """Exactly one warning, holding all the words."""
    assert len(result.warnings) == 1, result.warnings
    for word in words:
        assert word in result.warnings[0]


def assert_reads_alike(text, sample):
    """The text is read without a warning as what the sample is."""
    if sample is MESH:
        result = mesh_of(text)
        assert_same_model(result, mesh_of(sample))
    else:
        result = animation_of(text)
        assert_same_animation(result, animation_of(sample))
    assert result.warnings == []


both = pytest.mark.parametrize("sample", [MESH, ANIMATION], ids=["mesh", "animation"])


def refusal_of(parse, text):
    with pytest.raises(Md5Error) as caught:
        parse(text.encode() if isinstance(text, str) else text, "folder/model.md5")
    return caught.value


def refused(parse, text, line, *, reason, found, expected):
    """The file is refused at a line; reason, found and expected hold the given words, and so does the message."""
    error = refusal_of(parse, text)
    message = str(error)
    assert error.path == "folder/model.md5"
    assert error.line == line, message
    assert reason in error.reason
    assert found in error.found
    assert expected in error.expected
    assert message == (
        f"{error.reason}; found {error.found}; expected {error.expected} (folder/model.md5, line {line})"
    )


def mesh_refused(text, at, **words):
    refused(parse_mesh, text, line_of(text, at), **words)


def animation_refused(text, at, **words):
    refused(parse_animation, text, line_of(text, at), **words)


def last_line(text):
    return text.count("\n") + 1


both_parsers = pytest.mark.parametrize(
    ("parse", "sample"), [(parse_mesh, MESH), (parse_animation, ANIMATION)], ids=["mesh", "animation"]
)
