"""Names of images as files hold them."""

from __future__ import annotations

import pytest

from io_idtech.io_common.names import clean_name


@pytest.mark.parametrize(
    ("raw", "path", "base"),
    [
        ("models/a/skin.pcx", "models/a/skin.pcx", "skin.pcx"),
        ("models\\a\\skin.pcx\0garbage", "models/a/skin.pcx", "skin.pcx"),
        ("./models//a/skin", "models/a/skin", "skin"),
        ("<dds>skin.png", "skin.png", "skin.png"),
        ("/home/x/skin.tga", None, "skin.tga"),
        ("//server/share/skin.tga", None, "skin.tga"),
        ("f:\\data\\skin.tga", None, "skin.tga"),
        ("players/E:/mod/skin.jpg", None, "skin.jpg"),
        ("C:skin.tga", None, "skin.tga"),
        ("../../secret/skin.tga", None, "skin.tga"),
        ("models/../skin.tga", None, "skin.tga"),
        ("..", None, ""),
        ("", None, ""),
        ("\x01\x02 ", None, ""),
    ],
)
def test_only_plainly_relative_names_are_paths(raw: str, path: str | None, base: str) -> None:
    name = clean_name(raw)
    assert (name.path, name.base) == (path, base)
