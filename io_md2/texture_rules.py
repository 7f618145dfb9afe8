"""How images are found for the skins of MD2 models."""

from __future__ import annotations

from ..io_common.textures.conventions import TextureRules

TEXTURE_RULES = TextureRules(config_name="md2.cfg", has_player_skins=True)
