"""The options of imports and exports of skeletal models that users set."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from ...io_common.skeletal.skeleton import PRECISION
from ..options import (
    GAME,
    SCENE,
    choice_option,
    frame_rate_option,
    frame_start_option,
    option,
    scene_timing_option,
    split_surfaces_option,
)
from ..scene import axes


@dataclass(frozen=True)
class RigProperties:
    """The options of a model that is imported."""

    merge_vertices: bool = option(
        True,
        "Merge Vertices",
        "Merge the copies of vertices along UV seams, so that the mesh does not tear when edited. Export splits them "
        "again",
    )
    bone_direction: str = choice_option(
        "Bone Direction",
        "Direction of the bones. It does not affect poses, animations or export",
        CHILD=("To Child", "Point bones to their children, so that they look like a skeleton"),
        JOINT=("Original Axes", "Give bones the axes of the joints in the file"),
    )


@dataclass(frozen=True)
class ImportProperties(RigProperties):
    """The options of an import."""

    animations: str = choice_option(
        "Animations",
        "Animations to import with a model",
        NONE=("None", "Import only the selected files"),
        FOLDER=("From Folder", "Also import the animations in the model's folder that have its joints"),
        CHOOSE=(
            "Choose",
            "List the animations in the folder and import those that are checked, also onto the active armature",
        ),
    )
    animation_filter: str = option(
        "",
        "Filter",
        "Import only animations of the folder with this in their names. With * and ? it is a pattern "
        "for the whole name, such as walk*. Setting it in a script enables From Folder",
        options={"SKIP_SAVE"},
    )
    nla_tracks: bool = option(False, "NLA Tracks", "Put each animation onto an NLA track of its own, as a muted strip")
    existing_actions: str = choice_option(
        "If Name Exists",
        "What to do with an animation if the armature has an action of the same name",
        CREATE=("Create New", "Create another action, whose name gets a number"),
        REPLACE=("Replace", "Replace the action everywhere it is used"),
        SKIP=("Skip", "Keep the action and do not import the animation"),
    )
    joint_map: str = option(
        "",
        "Joint Map",
        "File that says which joints of animations of another skeleton move which bones. Empty: the map of the "
        "armature, else one found by names",
        subtype="FILE_PATH",
        options={"SKIP_SAVE"},
    )
    keep_feet: bool = option(
        False, "Keep Feet", "Bend the legs so that feet stand still where those of the other skeleton do"
    )
    frame_start: int = frame_start_option("each file")
    use_scene_timing: bool = scene_timing_option("the first camera path, else of the first animation")
    use_textures: bool = option(
        True, "Textures", "Import the images of the materials from the model's folder or a game folder"
    )


AUTOMATIC, MERGE, SEPARATE = "AUTOMATIC", "MERGE", "SEPARATE"
ALWAYS, NEVER = "ALWAYS", "NEVER"


@dataclass(frozen=True)
class ModelProperties:
    """The options of a model that is exported."""

    apply_modifiers: bool = option(
        True, "Apply Modifiers", "Export meshes with all modifiers applied except Armature modifiers"
    )
    split_surfaces: bool = split_surfaces_option("meshes")
    deform_only: bool = option(False, "Deform Bones Only", "Export only bones that deform meshes")
    rebuild_hierarchy: bool = option(
        True,
        "Rebuild Hierarchy",
        "With Deform Bones Only, parent each bone that loses its parent to the deforming bone that its controls "
        "follow. Poses stay the same",
    )
    fit_weights: bool = option(
        False,
        "Fit Weights",
        "Find weights for meshes that something other than bones moves with the armature, such as Surface Deform or a "
        "vertex parent",
    )
    attached_armatures: str = choice_option(
        "Attached Armatures",
        "What to do with armatures that hang on a bone of the exported one, such as a weapon in a hand",
        AUTOMATIC=("Automatic", "Merge those that were made in Blender; imported models stay separate"),
        MERGE=("Merge", "Export all as one model: their root joints become children of that bone"),
        SEPARATE=("Separate", "Export only one armature: the active one"),
    )
    objects_as_joints: bool = option(
        True,
        "Objects as Joints",
        "Without an armature, make a joint of every object that moves or has children, such as a door. If disabled, "
        "all meshes are bound to one joint that stands still",
    )
    add_origin: str = choice_option(
        "Add Root Bone",
        "Whether to add a root joint named origin above all others",
        AUTOMATIC=(
            "Automatic",
            "Add it to models made in Blender that the game would refuse or move without it. Imported skeletons stay "
            "as they are",
        ),
        ALWAYS=("Always", "Add it unless the only root has this name and is at the origin"),
        NEVER=("Never", "Export the bones as they are"),
    )


@dataclass(frozen=True)
class WeightOptions:
    """The weights that are exported."""

    max_influences: int = option(
        0,
        "Bone Influences",
        "Most bones per vertex; 0 = unlimited. The largest weights are kept. Doom 3 takes any number, BFG and most "
        "ports 4",
        min=0,
        soft_max=8,
    )
    min_weight: float = option(0.0, "Min Weight", "Drop smaller weights", min=0.0, max=1.0, precision=4)

    @property
    def keeps_all_weights(self) -> bool:
        """Whether all weights are kept."""
        return self.max_influences == 0 and self.min_weight == 0.0


@dataclass(frozen=True)
class AnimationProperties:
    """The options of animations that are exported."""

    frame_step: int = option(1, "Frame Step", "Export every N-th frame", min=1, soft_max=10)
    position_precision: float = option(
        PRECISION.position,
        "Location Tolerance",
        "Drop smaller changes of joint positions, in units. Larger: smaller files. id's exporter uses 0.125",
        min=0.0,
        soft_max=0.125,
        precision=6,
    )
    orientation_precision: float = option(
        PRECISION.orientation,
        "Rotation Tolerance",
        "Drop smaller changes of joint quaternions. Larger: smaller files. id's exporter uses 0.000122",
        min=0.0,
        soft_max=0.001,
        precision=7,
    )


ACTIONS = (
    ("ACTIVE", "Active Action", "Export the active action of the armature"),
    ("ALL", "All Actions", "Export each action that animates bones of the armature, with its name"),
    (
        "LIST",
        "Choose",
        "Export what is checked in the list of the armature: actions, NLA strips, or ranges between markers",
    ),
    ("SCENE", "Scene Playback", "Export the frame range of the scene as it plays, with constraints, drivers and NLA"),
)


@dataclass(frozen=True)
class ClipProperties:
    """Which animations are exported, and at which rate."""

    actions: str = option("ACTIVE", "Actions", "Animations to export", items=ACTIONS)
    frame_rate_from: str = frame_rate_option(
        "Frame for frame, at the rate of the imported action, else of the scene", SCENE, GAME
    )
    use_frame_rate: bool = option(
        False, "Custom Rate", "Export another frame rate than that of the imported action, else of the scene"
    )
    frame_rate: float = option(
        24.0,
        "Custom Rate",
        "Frames per second to sample, before Frame Step is applied. Setting it in a script enables it; 0 is the rate "
        "of the action",
        min=0.0,
        max=1000.0,
        soft_min=1.0,
        soft_max=120.0,
    )


@dataclass(frozen=True)
class ImportOptions(ImportProperties):
    """The options of an import."""

    # Searched for animations for the active armature, if not the mesh's own.
    animation_folder: Path | None = None
    chosen: tuple[str, ...] | None = None  # names of files for 'CHOOSE'; None for the same as 'FOLDER'
    game_folders: tuple[str, ...] = ()  # searched for images besides the one in the model's path
    sequence_actions: bool = False  # also make an action of each sequence of an animation
    conversion: axes.Conversion = field(default_factory=axes.identity)  # from the file to the scene
    # For animations: the scale and axes that their armature was imported with.
    use_conversion_of_armature: bool = True
