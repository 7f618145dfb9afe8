"""The options of imports and exports that only MD5 has."""

from __future__ import annotations

from dataclasses import dataclass

from ..io_blender.options import option
from ..io_blender.skeletal import options as skeletal


@dataclass(frozen=True)
class ImportProperties(skeletal.ImportProperties):
    """The options of an import."""

    sequence_actions: bool = option(
        False, "Sequence Actions", "Also create an action for each sequence of the MD2 or MDL, such as run or pain1"
    )
    use_render_size: bool = option(
        False,
        "4:3 Render Size",
        "Set a 4:3 resolution when importing a camera path. The field of view in the file is for 4:3",
    )
    use_companions: bool = option(
        True,
        "Quake Re-release Extras",
        "With models and animations of the re-releases of Quake and Quake II, also import the files that belong to "
        "them: the animation, joint scales (.md5scale), and the skins and frame names of the MD2 or MDL",
    )


@dataclass(frozen=True)
class ImportOptions(ImportProperties, skeletal.ImportOptions):
    """The options of an import, with what users do not set."""


@dataclass(frozen=True)
class ModelProperties(skeletal.ModelProperties):
    """The options of a model that is exported."""

    make_names_safe: bool = option(
        True,
        "Make Names Safe",
        "Replace joint names that the game cannot read, in the mesh and all animations. If disabled, they are errors",
    )


@dataclass(frozen=True)
class ClipProperties(skeletal.ClipProperties):
    """Which animations are exported, and at which rate."""

    match_companion: bool = option(
        True,
        "Match MD2 or MDL",
        "For the re-releases of Quake and Quake II, put the animations in the order of the MD2 or MDL that the model "
        "replaces, and write nothing if a sequence has no animation or another number of frames",
    )


@dataclass(frozen=True)
class CameraProperties:
    """The options of a camera path that is exported."""

    use_markers: bool = option(
        True,
        "Camera Markers",
        "Switch between the cameras bound to timeline markers, with a cut at each. Markers whose names begin with the "
        'word "cut" are always cuts',
    )
