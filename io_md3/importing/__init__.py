"""MD3 files into Blender."""
