"""Armatures, meshes and cameras of Blender as MD5 files."""
