"""The options of the import of a character."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..io_blender.reports import printable
from ..io_blender.scene import axes
from ..io_common.name_patterns import matches


@dataclass(frozen=True)
class CharacterOptions:
    """The options of the import of a character.

    Attributes:
        animation_filter: which animations to import, by their declared names; see `name_filter.matches`.
        left_out: names of animations that are not imported, as the interface shows them.
        merge_vertices: merge vertices that a model splits along UV seams.
        bone_direction: 'CHILD' (bones point to their children) or 'JOINT' (bones have the axes of the joints).
        use_textures: add images to the materials, and import skins.
        use_placement: move and scale the model as the game does.
        all_weapons: import all weapons of a Quake II player, not only the one it usually holds.
        frame_start: the scene frame of the first frame of each animation.
        use_scene_timing: set the scene's frame rate and range to those of the first animation.
        game_folders: folders to search for images, besides those of the game.
        conversion: scale and axes, from the files to the scene.
    """

    animation_filter: str = ""
    left_out: frozenset[str] = frozenset()
    merge_vertices: bool = True
    bone_direction: str = "CHILD"
    use_textures: bool = True
    use_placement: bool = True
    all_weapons: bool = False
    frame_start: int = 0
    use_scene_timing: bool = True
    game_folders: tuple[str, ...] = ()
    conversion: axes.Conversion = field(default_factory=axes.identity)

    def takes(self, animation: str) -> bool:
        """Whether the animation of a declared name is imported."""
        return matches(animation, self.animation_filter) and printable(animation) not in self.left_out
