"""The options of imports and exports of models with frames of vertices."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from ..options import GAME, choice_option, frame_rate_option, frame_start_option, option, scene_timing_option
from ..scene import axes
from ..scene.objects import ChosenConversion, Scope
from ..verification import Verify
from .frame_plan import FrameOptions


@dataclass(frozen=True)
class FrameImportProperties:
    """The options of an import."""

    merge_vertices: bool = option(
        False,
        "Merge by Distance",
        "Merge vertices that are at the same position in every frame. This is permanent: export does not split them "
        "again",
    )
    custom_normals: bool = option(
        False, "Custom Normals", "Use the normals of the first frame in the file instead of those that Blender computes"
    )
    animation: str = choice_option(
        "Shape Keys",
        "How to import the frames",
        RELATIVE=("Relative", "Import each frame as a shape key with an animated value"),
        ABSOLUTE=("Absolute", "Import each frame as an absolute shape key, and animate the evaluation time"),
        NONE=("None", "Import only the first frame, without shape keys"),
    )
    use_textures: bool = option(
        True, "Textures", "Import the images of the materials from the model's folder or a game folder"
    )
    sequence_actions: bool = option(
        False, "Sequence Actions", "Also create an action for each sequence, such as run or pain1"
    )
    frame_start: int = frame_start_option("each file")
    use_scene_timing: bool = scene_timing_option("the first animation")
    fps: float = option(
        10.0, "Frame Rate", "Frames per second. Games play 10", min=0.01, max=1000.0, soft_min=1.0, soft_max=60.0
    )


@dataclass(frozen=True)
class FrameModelProperties:
    """The options of a model that is exported."""

    apply_modifiers: bool = option(
        True, "Apply Modifiers", "Export meshes with modifiers applied. Armature modifiers are always applied"
    )
    write_modeldef: bool = option(
        False,
        "Write MODELDEF",
        "Also write the frames, skins and states of the model into modeldef.NAME in the root of the mod, above the "
        "folder models. Of an existing file, only the actor's block is replaced. Used with GZDoom",
    )
    modeldef_actor: str = option("", "Actor", "The class that is shown as this model. Empty: named after the file")
    modeldef_sprite: str = option(
        "",
        "Sprite",
        "Four letters or digits: the sprite that the model replaces. After every 29 frames, the next one is used. "
        "Empty: named after the file",
    )
    modeldef_held: bool = option(
        False,
        "Held Weapon",
        "The model is a weapon in the view of the player: the eye is the origin and looks along +X",
    )


@dataclass(frozen=True)
class FrameProperties:
    """Which frames are exported."""

    frames: str = choice_option(
        "Frames",
        "Source of the frames",
        AUTO=(
            "Automatic",
            "The frames of an imported model or armature action as they play now; else shape keys if nothing else is "
            "animated; else the scene",
        ),
        SHAPE_KEYS=("Shape Keys", "Export each shape key as a frame"),
        LIST=(
            "Choose",
            "Export the animations that are checked in the list, one sequence after the other: actions, NLA strips, or "
            "ranges between markers",
        ),
        SCENE=("Scene Playback", "Export the frame range of the scene, with armatures, modifiers and caches"),
    )
    frame_step: int = option(1, "Frame Step", "Export every N-th frame or shape key", min=1, soft_max=10)
    frame_rate_from: str = frame_rate_option(
        "Frame for frame: Quake and Quake II show 10 of them a second, whatever the scene plays", GAME
    )
    use_frame_range: bool = option(False, "Custom Range", "Export other frames than those of the scene's range")
    frame_start: int = option(0, "Start", "First frame. Setting it in a script enables the custom range")
    frame_end: int = option(0, "End", "Last frame. Setting it in a script enables the custom range")


@dataclass(frozen=True)
class ImportOptions(FrameImportProperties):
    """The options of an import; images are searched in `game_folders` after the model's path."""

    game_folders: tuple[str, ...] = ()
    conversion: axes.Conversion = field(default_factory=axes.identity)


@dataclass(frozen=True)
class ExportOptions(FrameModelProperties):
    """The options of an export; each format adds its own."""

    scope: Scope = field(default_factory=Scope)
    frames: FrameOptions = field(default_factory=FrameOptions)
    verify: Verify = Verify.SOME  # the frames that are compared with Blender before the file is written
    # From the scene to the file; what is not set is that of the import.
    conversion: axes.Conversion | ChosenConversion = field(default_factory=axes.identity)
    game_folders: tuple[str, ...] = ()  # the user's, to which the paths of images are relative
    compares_speed: bool = True  # warn if the game plays the model slower or faster than Blender
    path: Path | None = None  # that is written, or would be
