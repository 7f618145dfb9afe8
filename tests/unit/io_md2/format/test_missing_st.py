"""Texture coordinates that triangles refer to and the file does not have."""

from __future__ import annotations

import numpy as np
from md2_samples import fan

from io_idtech.io_md2.format import Game, GlCommands, check_model, format_model, generate_commands, parse_model


def with_missing(commands: GlCommands | None = None) -> bytes:
    """A file of two triangles, the second of which refers to texture coordinates that do not exist."""
    model = fan(2)
    model.st = np.array([(3, 4), (10, 20), (30, 40), (50, 60)], np.int16)
    if commands is None:
        commands = generate_commands(model.triangles, model.triangle_st, model.st, 64, 64)
    model.gl_commands = commands
    model.triangle_st = np.array([(0, 1, 2), (0, 2, 3)], np.int32)
    data = bytearray(format_model(model))
    place = data.index(np.array([0, 2, 3, 0, 2, 3], "<u2").tobytes())
    data[place + 6 : place + 12] = np.array([65535, 2, 65535], "<u2").tobytes()
    return bytes(data)


def test_missing_texture_coordinates_are_taken_from_the_commands_with_a_warning():
    model = parse_model(with_missing())
    assert model.st[model.triangle_st[1]].tolist() == [[3, 4], [30, 40], [50, 60]]
    assert any("taken from the GL commands" in text for text in model.warnings)
    assert check_model(model, Game.QUAKE2) == []


def test_without_commands_they_are_in_the_corner_with_a_warning():
    model = parse_model(with_missing(GlCommands()))
    assert model.st[model.triangle_st[1]].tolist() == [[0, 0], [30, 40], [0, 0]]
    assert any("2 corners are in the upper left corner" in text for text in model.warnings)


def test_an_edge_of_the_table_is_not_missing():
    model = fan(2)
    model.gl_commands = generate_commands(model.triangles, model.triangle_st, model.st, 64, 64)
    again = parse_model(format_model(model))
    assert again == model
    assert again.warnings == []
