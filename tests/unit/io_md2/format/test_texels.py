"""Texture coordinates as texels and as fractions."""

from __future__ import annotations

import numpy as np
import pytest

from io_idtech.io_md2.format import CENTRE, CORNER, flip_t, st_fractions, st_texels

ALL = np.stack(np.meshgrid(np.arange(-40, 300), np.arange(-40, 300)), axis=-1)


def test_the_middle_of_a_texel_is_the_compilers_rule_and_its_corner_the_specifications():
    st = np.array([[0, 0], [63, 31]])
    np.testing.assert_array_equal(st_fractions(st, 64, 32), np.float32([[0.5 / 64, 0.5 / 32], [63.5 / 64, 31.5 / 32]]))
    np.testing.assert_array_equal(st_fractions(st, 64, 32, CORNER), np.float32([[0, 0], [63 / 64, 31 / 32]]))


@pytest.mark.parametrize("centre", [CENTRE, CORNER])
@pytest.mark.parametrize("size", [(256, 256), (136, 60), (97, 300)])
def test_texels_are_the_reverse_of_fractions(size, centre):
    texels = st_texels(st_fractions(ALL, *size, centre), *size, centre)
    # With the corner, the fraction of one past the skin is the far edge, of which the inner texel is taken.
    expected = ALL - (size == ALL) if centre == CORNER else ALL
    np.testing.assert_array_equal(texels, expected)


def test_any_fraction_has_a_texel():
    values = np.array([[0, 1], [np.nan, np.inf], [-1e30, 0.999]])
    assert st_texels(values, 64, 32).tolist() == [[0, 31], [0, 2**31 - 1], [-(2**31), 31]]
    assert np.isfinite(st_fractions(np.array([[3, 4]]), 0, 0)).all()


def test_t_is_counted_from_the_other_edge_and_back():
    values = np.array([[0.25, 0.25], [0.0, 1.0]])
    assert flip_t(values).tolist() == [[0.25, 0.75], [0.0, 0.0]]
    assert flip_t(flip_t(values)).tolist() == values.tolist()
    assert values[0, 1] == 0.25
