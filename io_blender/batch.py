"""How the command line converts files, the same for all families."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .scene.axes import Conversion
    from .scene.objects import ChosenConversion

NO_ANIMATIONS, SAME_FOLDER = "none", "same"


@dataclass(frozen=True)
class Settings:
    """How files are converted: what the user chose, in words that JSON can hold."""

    format: str = "blend"  # or a family, "glb", "fbx"
    animations: str = NO_ANIMATIONS  # or "same" for those next to each model, or the path of another folder
    scale: float | None = None  # None for that of the file, in a .blend that of the import
    use_textures: bool = True
    game: str = ""  # for which files are written; empty for formats without games
    game_folders: tuple[str, ...] = ()
    verify: str = "SOME"
    game_data: tuple[str, ...] = ()  # of the game whose characters are converted; empty for files
    deform_only: bool = False
    add_origin: bool = False
    max_influences: int = 0

    def animation_folder(self, source: Path) -> Path | None:
        """The folder with the animations of a model; None if animations are not converted."""
        if self.animations == NO_ANIMATIONS:
            return None
        return source.parent if self.animations == SAME_FOLDER else Path(self.animations)


@dataclass
class Scene:
    """The scene that is converted."""

    conversion: Conversion | ChosenConversion  # to the file; if it is not set, that of the import
    animated: list[tuple[Any, list[Any]]] | None = (
        None  # imported data-blocks and their actions; None for a .blend
    )
    compares_speed: bool = True  # warn of animations that the game plays slower or faster than Blender
    use_scene_range: bool = False  # export the scene as it plays, if a model and its animations are one file
