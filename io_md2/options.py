"""The options of imports and exports of MD2 files that users set."""

from __future__ import annotations

from dataclasses import dataclass

from ..io_blender.options import GAME, frame_rate_option, frame_start_option, option, scene_timing_option
from ..io_common.textures.conventions import TextureRules
from .format import FRAMES_PER_SECOND
from .format.sequences import Template

DEFAULT_SKIN_SIZE = (256, 256)
# How images are found for the skins of models.
TEXTURE_RULES = TextureRules(config_name="md2.cfg", has_player_skins=True)


@dataclass(frozen=True)
class ImportProperties:
    """The options of an import."""

    merge_vertices: bool = option(
        False,
        "Merge by Distance",
        "Merge vertices that are at the same position in every frame. This is permanent: export does not split them "
        "again",
    )
    custom_normals: bool = option(
        False,
        "Custom Normals",
        "Use the normals of the first frame in the file instead of those that Blender computes",
    )
    animation: str = option(
        "RELATIVE",
        "Shape Keys",
        "How to import the frames",
        items=(
            ("RELATIVE", "Relative", "Import each frame as a shape key with an animated value"),
            (
                "ABSOLUTE",
                "Absolute",
                "Import each frame as an absolute shape key, and animate the evaluation time",
            ),
            ("NONE", "None", "Import only the first frame, without shape keys"),
        ),
    )
    use_textures: bool = option(
        True, "Textures", "Import the images of the skins from the game folder or from the model's folder"
    )
    sequence_actions: bool = option(
        False, "Sequence Actions", "Also create an action for each sequence, such as run or pain1"
    )
    frame_start: int = frame_start_option("the file")
    use_scene_timing: bool = scene_timing_option("the first animated model")
    fps: float = option(
        FRAMES_PER_SECOND,
        "Frame Rate",
        "Frames per second. Quake II plays 10",
        min=0.01,
        max=1000.0,
        soft_min=1.0,
        soft_max=60.0,
    )


@dataclass(frozen=True)
class ModelProperties:
    """The options of a model that is exported."""

    apply_modifiers: bool = option(
        True,
        "Apply Modifiers",
        "Export meshes with modifiers applied. Armature modifiers are always applied",
    )
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
    skin_size: tuple[int, int] = option(
        DEFAULT_SKIN_SIZE, "Size", "Width and height of the skin, in pixels", min=1, soft_max=1024
    )


@dataclass(frozen=True)
class FrameProperties:
    """Which frames are exported, and where the size of the skin is from."""

    frames: str = option(
        "AUTO",
        "Frames",
        "Source of the frames",
        items=(
            (
                "AUTO",
                "Automatic",
                "The frames of an imported MD2 or armature action as they play now; "
                "else shape keys if nothing else is animated; else the scene",
            ),
            ("SHAPE_KEYS", "Shape Keys", "Export each shape key as a frame"),
            (
                "LIST",
                "Choose",
                "Export the animations that are checked in the list, one sequence after the other: actions, "
                "NLA strips, or ranges between markers",
            ),
            (
                "SCENE",
                "Scene Playback",
                "Export the frame range of the scene, with armatures, modifiers and caches",
            ),
        ),
    )
    sequence_template: str = option(
        Template.NONE.value,
        "Template",
        "The sequences that a game expects. They are written in its order, and what is missing or has another number "
        "of frames is an error. Used with Choose",
        items=(
            (Template.NONE.value, "None", "Any sequences, in the order of the list"),
            (
                Template.QUAKE2_PLAYER.value,
                "Quake II Player",
                "The 20 sequences of a player model in Quake II, 198 frames: stand, run, attack, pain1 to death3",
            ),
        ),
    )
    frame_step: int = option(1, "Frame Step", "Export every N-th frame or shape key", min=1, soft_max=10)
    frame_rate_from: str = frame_rate_option(
        "Frame for frame: the game shows 10 of them a second, whatever the scene plays", GAME
    )
    use_frame_range: bool = option(
        False, "Custom Range", "Export other frames than those of the scene's range"
    )
    frame_start: int = option(0, "Start", "First frame. Setting it in a script enables the custom range")
    frame_end: int = option(0, "End", "Last frame. Setting it in a script enables the custom range")
    skin_size_from: str = option(
        "AUTO",
        "Skin Size",
        "Source of the skin size. Texture coordinates are stored in pixels of the skin",
        items=(
            (
                "AUTO",
                "Automatic",
                "Size of the material's image; else of the imported file; else the size below",
            ),
            ("CUSTOM", "Custom", "Size below"),
        ),
    )
