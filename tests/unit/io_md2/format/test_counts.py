"""The numbers of a model that games limit."""

from __future__ import annotations

from md2_samples import model_of

from io_idtech.io_md2.format import Counts, Model


def test_everything_that_games_limit_is_counted():
    counts = Counts.of(model_of(triangles=2, vertices=5, frames=4, st=6, skins=3))
    assert counts == Counts(triangles=2, vertices=5, frames=4, skins=3, skin_width=64, skin_height=64, st=6)


def test_an_empty_model_has_nothing():
    assert Counts.of(Model()) == Counts()
