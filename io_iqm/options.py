"""The options of imports and exports of IQM files that users set."""

from __future__ import annotations

from dataclasses import dataclass

from ..io_blender.options import choice_option
from ..io_blender.skeletal import options as skeletal
from ..io_common.textures.conventions import TextureRules

# How images are found for the materials of meshes.
TEXTURE_RULES = TextureRules(config_name="iqm.cfg", has_shaders=True)

IN_MODEL, SEPARATE = "MODEL", "SEPARATE"


@dataclass(frozen=True)
class ExportProperties(
    skeletal.ModelProperties, skeletal.WeightOptions, skeletal.AnimationProperties, skeletal.ClipProperties
):
    """The options of an export."""

    animation_files: str = choice_option(
        "Animation Files",
        "Where to write the animations",
        MODEL=("In the Model", "Write all animations into the file of the model"),
        SEPARATE=("Separate", "Write each animation to a file of its name, for iqm.cfg of the Cube engines"),
    )
