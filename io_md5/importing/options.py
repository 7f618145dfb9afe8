"""The options of an import."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from ...io_blender.scene import axes
from ..options import ImportProperties


@dataclass(frozen=True)
class ImportOptions(ImportProperties):
    """The options of an import.

    Attributes:
        animation_folder: the folder to search for animations for the active armature, if not the mesh's own.
        chosen: the names of the files to import with the animations 'CHOOSE'; None for the same as with 'FOLDER'.
        game_folders: folders to search for images, besides the game folder found in the model's own path.
        conversion: scale and axes, from the file to the scene.
        use_conversion_of_armature: animations use the scale and axes that their armature was imported with.
    """

    animation_folder: Path | None = None
    chosen: tuple[str, ...] | None = None
    game_folders: tuple[str, ...] = ()
    conversion: axes.Conversion = field(default_factory=axes.identity)
    use_conversion_of_armature: bool = True
