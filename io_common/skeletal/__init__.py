"""Skeletal models without Blender: joints, meshes by weights, animations, and the arithmetic of their poses."""
