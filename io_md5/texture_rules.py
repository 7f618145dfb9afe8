"""How images are found for the shaders of MD5 models."""

from __future__ import annotations

from ..io_common.textures.conventions import TextureRules

TEXTURE_RULES = TextureRules(config_name="md5.cfg", has_shaders=True)
