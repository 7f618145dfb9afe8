"""The file name suffixes of MD5 files and of the files beside them, in lower case."""

from __future__ import annotations

MESH_SUFFIX = ".md5mesh"
ANIMATION_SUFFIX = ".md5anim"
CAMERA_SUFFIX = ".md5camera"

SCALE_SUFFIX = ".md5scale"
"""The scales of joints in an animation, in the re-release of Quake II."""
