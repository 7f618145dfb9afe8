"""The options of an import."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from ...io_blender.scene import axes


@dataclass(frozen=True)
class ImportOptions:
    """The options of an import.

    Attributes:
        merge_vertices: merge vertices that the file splits along UV seams.
        bone_direction: 'CHILD' (bones point to their children) or 'JOINT' (bones have the axes of the joints).
        animations: 'NONE', 'FOLDER' for the animations beside a mesh that have exactly its joints, or 'CHOOSE' for
            those in `chosen`; without a mesh, in `animation_folder` and with joints of the active armature.
        animation_folder: the folder to search for animations, if not the mesh's own.
        animation_filter: which of these to import: a pattern, see `name_filter.matches`.
        chosen: the names of the files to import with 'CHOOSE'; None for the same as with 'FOLDER'.
        nla_tracks: put each animation onto an NLA track of its own, muted.
        existing_actions: what to do if an action of the armature has the name already: 'CREATE', 'REPLACE' or 'SKIP'.
        frame_start: the scene frame of the first frame of an animation.
        use_scene_timing: set the scene's frame rate and range from the first camera, else from the first animation.
        use_render_size: set a 4:3 render size, which the field of view of a camera file is for.
        use_companions: models and animations of the re-releases also use the files beside them; see `companions`.
        sequence_actions: also make an action of each sequence of a companion's frames.
        use_textures: add images to the materials.
        game_folders: folders to search for images, besides the game folder found in the model's own path.
        conversion: scale and axes, from the file to the scene.
        use_conversion_of_armature: animations use the scale and axes that their armature was imported with.
    """

    merge_vertices: bool = True
    bone_direction: str = "CHILD"
    animations: str = "NONE"
    animation_folder: Path | None = None
    animation_filter: str = ""
    chosen: tuple[str, ...] | None = None
    nla_tracks: bool = False
    existing_actions: str = "CREATE"
    frame_start: int = 0
    use_scene_timing: bool = True
    use_render_size: bool = False
    use_companions: bool = True
    sequence_actions: bool = False
    use_textures: bool = True
    game_folders: tuple[str, ...] = ()
    conversion: axes.Conversion = field(default_factory=axes.identity)
    use_conversion_of_armature: bool = True
