"""The options of the import of a character."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..io_blender.options import frame_start_option, option, scene_timing_option
from ..io_blender.reports import printable
from ..io_blender.scene import axes
from ..io_common.name_filter import matches
from ..io_md5.options import RigProperties


@dataclass(frozen=True)
class CharacterProperties(RigProperties):
    """The options of the import of a character that users set."""

    animation_filter: str = option(
        "",
        "Animation Filter",
        "Import only animations with this text in their name, or that fit a pattern with * and ?. Empty for all",
    )
    use_textures: bool = option(
        True,
        "Textures and Skins",
        "Import the images of the materials, and the skins to switch between",
    )
    use_placement: bool = option(
        True, "Place as in Game", "Move and scale the character by the offset and scale of its declaration"
    )
    all_weapons: bool = option(
        False, "All Weapons", "Import all weapons of a Quake II player, not only weapon.md2"
    )
    frame_start: int = frame_start_option("each animation")
    use_scene_timing: bool = scene_timing_option("the first animation")


@dataclass(frozen=True)
class CharacterOptions(CharacterProperties):
    """The options of the import of a character.

    Attributes:
        left_out: names of animations that are not imported, as the interface shows them.
        game_folders: folders to search for images, besides those of the game.
        conversion: scale and axes, from the files to the scene.
    """

    left_out: frozenset[str] = frozenset()
    game_folders: tuple[str, ...] = ()
    conversion: axes.Conversion = field(default_factory=axes.identity)

    def takes(self, animation: str) -> bool:
        """Whether the animation of a declared name is imported."""
        return matches(animation, self.animation_filter) and printable(animation) not in self.left_out
