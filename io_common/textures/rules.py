"""How a family's names of skins or shaders lead to images: what `search` has to know about it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class TextureRules:
    """The rules of a family.

    Attributes:
        config_name: of the file beside a model in which Sauerbraten configures it; empty if there is none.
        has_shaders: names are shaders, which material declarations and .skin files explain; else they are image files.
        keeps_suffix: names written by an export keep the suffix of the image file.
    """

    config_name: str = ""
    has_shaders: bool = False
    keeps_suffix: bool = True
