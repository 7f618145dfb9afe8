"""How images are found for the skins or shaders of a family: what `search` has to know about it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class TextureRules:
    """The rules of a family.

    Attributes:
        config_name: the name of Sauerbraten's configuration file next to a model; empty if there is none.
        has_shaders: whether names are shaders, one for each mesh, which material declarations and .skin files resolve;
            else they are names of image files, each a skin of the whole model.
        has_player_skins: whether all images next to a player model that names none of them are its skins, as in
            Quake II.
    """

    config_name: str = ""
    has_shaders: bool = False
    has_player_skins: bool = False
