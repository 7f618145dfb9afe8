"""The contents of MD5 files, as dataclasses of numpy arrays; for axes and arrays see `io_common.skeletal.model`."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ...io_common.arrays import ArrayOf, Record
from ...io_common.skeletal.model import Floats, Ints, SkeletalError

Md5Error = SkeletalError
"""An MD5 file that cannot be understood, or a model that cannot be written."""

MESH_SUFFIX = ".md5mesh"
ANIMATION_SUFFIX = ".md5anim"
CAMERA_SUFFIX = ".md5camera"
SCALE_SUFFIX = ".md5scale"  # the scales of joints in an animation, in the re-release of Quake II

MAGIC = "MD5Version"
"""The word that every MD5 file begins with."""

VERSION = 10
"""The version of Doom 3 and all later games."""

OLD_VERSION = 6
"""The version before Doom 3's release, with `bone` and `channel` blocks; it is read, not written."""


@dataclass(eq=False)
class Camera(Record):
    """An .md5camera file.

    Its entries are not the frames of the timeline: see `timeline`.

    Attributes:
        cuts: the last entry of each shot except the last shot, int32 (K,).
        positions: float64 (N, 3).
        orientations: x y z of unit quaternions as in the file, float64 (N, 3); they rotate +X to the
            camera's forward, +Y to its left and +Z to its up.
        fields_of_view: horizontal angles of a 4:3 picture in degrees, float64 (N,).
        frame_rate: frames per second.
        cut_groups: the text after each cut, such as ``pos ( 1 2 3 ) rotA ( 0 90 0 )``; K texts, or an
            empty list if there are none.
        commandline: the arguments of id's exporter.
        warnings: about problems in the file.
    """

    cuts: Ints = field(default_factory=ArrayOf(np.int32, "K"))
    positions: Floats = field(default_factory=ArrayOf(np.float64, "N", 3))
    orientations: Floats = field(default_factory=ArrayOf(np.float64, "N", 3))
    fields_of_view: Floats = field(default_factory=ArrayOf(np.float64, "N"))
    frame_rate: float = 24.0
    cut_groups: list[str] = field(default_factory=list)
    commandline: str = ""
    warnings: list[str] = field(default_factory=list, compare=False)

    ERROR, PLACE = Md5Error, "Camera."

    @property
    def entry_count(self) -> int:
        """The number of entries, N: the frames of the timeline and one more for each cut."""
        return len(self.positions)
