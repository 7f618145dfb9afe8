"""MD5 files into Blender."""
