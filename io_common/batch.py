"""How the command line converts files, the same for all families."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .scene.axes import Conversion
    from .scene.imported_conversion import ChosenConversion

NO_ANIMATIONS, ANIMATIONS_BESIDE = "none", "same"


@dataclass(frozen=True)
class Settings:
    """How files are converted.

    Attributes:
        format: 'blend', the name of a family, 'glb' or 'fbx'.
        animations: 'none', 'same' for the animations next to each model, or the path of another folder.
        scale: factor for all lengths; None for that of the file, in a .blend that of the import.
        use_textures: load images for materials.
        game: the identifier of the game to export for; empty for formats without games.
        game_folders: where to search for images.
        verify: the frames on which exports are compared with Blender: 'SOME', 'ALL' or 'NONE'.
        game_data: the folders and archives of the game whose characters are converted; empty for a conversion of files.
        deform_only: leave out bones that do not deform.
        add_origin: add a root joint where a game needs one.
        max_influences: the number of weights to keep for each vertex; 0 for all.
    """

    format: str = "blend"
    animations: str = NO_ANIMATIONS
    scale: float | None = None
    use_textures: bool = True
    game: str = ""
    game_folders: tuple[str, ...] = ()
    verify: str = "SOME"
    game_data: tuple[str, ...] = ()
    deform_only: bool = False
    add_origin: bool = False
    max_influences: int = 0

    def animation_folder(self, source: Path) -> Path | None:
        """The folder with the animations of a model; None if animations are not converted."""
        if self.animations == NO_ANIMATIONS:
            return None
        return source.parent if self.animations == ANIMATIONS_BESIDE else Path(self.animations)


@dataclass
class Scene:
    """The scene that is converted.

    Attributes:
        conversion: scale and axes from the scene to the file; if some are not set, those of the import.
        animated: the data-blocks with imported actions, each with these; None for a .blend file.
        compares_speed: warn of animations that the game plays slower or faster than Blender.
        use_scene_range: export the scene as it plays over its frame range, if a model and its animations are one file.
    """

    conversion: Conversion | ChosenConversion
    animated: list[tuple[Any, list[Any]]] | None = None
    compares_speed: bool = True
    use_scene_range: bool = False
