"""Armatures, meshes and actions made of files."""
