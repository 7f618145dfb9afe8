"""The options of imports and exports of MD3 files that users set."""

from __future__ import annotations

from dataclasses import dataclass

from ..io_blender.frames import options as frame_options
from ..io_blender.frames.options import FrameImportProperties, FrameModelProperties
from ..io_blender.options import choice_option, option, split_surfaces_option
from .format.games import Game


@dataclass(frozen=True)
class ImportProperties(FrameImportProperties):
    """The options of an import."""

    merge_vertices: bool = option(
        False,
        "Merge by Distance",
        "Merge vertices of a surface that are at the same position in every frame, such as those along UV seams. "
        "Export splits them again",
    )
    custom_normals: bool = option(
        True, "Custom Normals", "Use the normals of the first frame in the file instead of those that Blender computes"
    )
    tags: str = choice_option(
        "Tags",
        "How to import the tags, at which games attach other models",
        EMPTIES=("Empties", "Import each tag as an empty with keyframes"),
        BONES=("Bones", "Import each tag as a bone of an armature with keyframes"),
    )


@dataclass(frozen=True)
class ImportOptions(ImportProperties, frame_options.ImportOptions):
    """The options of an import."""


@dataclass(frozen=True)
class ModelProperties(FrameModelProperties):
    """The options of a model that is exported."""

    split_surfaces: bool = split_surfaces_option("surfaces")
    match_companion: bool = option(
        True,
        "Match MDL",
        "For Quake, put the animations of Choose in the order of the MDL that the model replaces, and write nothing "
        "if a sequence has no animation or another number of frames",
    )
    write_skins: bool = option(
        False,
        "Write .skin Files",
        "For Quake, also write NAME.md3_0.skin with the materials of all surfaces, so that images need no special "
        "names, and a file for each further skin: materials of a mesh that no face uses",
    )


@dataclass(frozen=True)
class ExportOptions(ModelProperties, frame_options.ExportOptions):
    """The options of an export."""

    game: Game = Game.ANY
