"""Meshes of Blender as MD2 files."""
