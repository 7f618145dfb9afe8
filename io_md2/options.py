"""The options of imports and exports of MD2 files that users set."""

from __future__ import annotations

from dataclasses import dataclass

from ..io_blender.frames import options as frame_options
from ..io_blender.frames.options import FrameModelProperties
from ..io_blender.options import choice_option, option
from .format.games import Game


@dataclass(frozen=True)
class ModelProperties(FrameModelProperties):
    """The options of a model that is exported."""

    split_sharp: bool = option(
        False,
        "Split at Sharp Edges",
        "Make a vertex for each side of sharp edges and flat faces, so that games shade them as Blender does. Quake "
        "II takes 2,048 vertices",
    )
    one_box: bool = option(
        False,
        "Prevent Vertex Wobble",
        "Round the vertices of all frames to the same grid, so that parts that do not move stay still. It is coarser "
        "than a grid for each frame",
    )
    skin_size: tuple[int, int] = option((256, 256), "Size", "Width and height in pixels", min=1, soft_max=1024)
    sequence_template: str = choice_option(
        "Template",
        "The sequences that a game expects. They are written in its order, and what is missing or has another number "
        "of frames is an error. Used with Choose",
        NONE=("None", "Any sequences, in the order of the list"),
        QUAKE2_PLAYER=(
            "Quake II Player",
            "The 20 sequences of a player model in Quake II, 198 frames: stand, run, attack, pain1 to death3",
        ),
    )
    skin_size_from: str = choice_option(
        "Skin Size",
        "Source of the skin size. Texture coordinates are stored in pixels of the skin",
        AUTO=("Automatic", "Size of the material's image; else of the imported file; else the size below"),
        CUSTOM=("Custom", "Size below"),
    )


@dataclass(frozen=True)
class ExportOptions(ModelProperties, frame_options.ExportOptions):
    """The options of an export."""

    game: Game = Game.ANY
