"""What an image is for, judged by its name."""

from __future__ import annotations

import pytest

from io_idtech.io_common.textures.conventions import guess_skins, is_color


def test_another_models_image_is_not_taken() -> None:
    images = ["dolphin_f.bmp"]
    models = ["dolphin.md2", "horse.md2"]
    assert guess_skins(images, models, "horse.md2", "MD2", anything=True) == []
    assert guess_skins(images, models, "dolphin.md2", "MD2", anything=True) == images


@pytest.mark.parametrize("stem", ["grunt_i", "icon0", "imp_local", "bodynormals", "masks", "x_s", "preview", "a_h"])
def test_names_that_show_no_colors(stem: str) -> None:
    assert not is_color(stem)


@pytest.mark.parametrize("stem", ["grunt", "imp_d", "blasterz_a", "boss", "skin", "tris0", "hands", "wolf-brown"])
def test_names_that_may_show_colors(stem: str) -> None:
    assert is_color(stem)
