"""The file name suffixes of the three kinds of MD5 file, in lower case."""

from __future__ import annotations

MESH_SUFFIX = ".md5mesh"
ANIMATION_SUFFIX = ".md5anim"
CAMERA_SUFFIX = ".md5camera"
