"""The texture rules of a family with skins and of one with shaders, for tests without the families themselves."""

from __future__ import annotations

from io_idtech.io_common.textures.conventions import TextureRules

MD2_RULES = TextureRules(config_name="md2.cfg", has_player_skins=True)
MD5_RULES = TextureRules(config_name="md5.cfg", has_shaders=True)
