"""Data of an imported MD2 file, stored on its mesh for export.

Blender has no place for some of what a file holds: bytes on a grid for each frame, normal indices, texture coordinates
in texels of a skin of some size, some of which no triangle uses. `model` stores them as the property group ``md2`` of
the mesh, `attributes` as two attributes of its vertices and corners. Nothing else reads or writes these.

What is read here is valid, but not necessarily true: the mesh may have been edited, joined or copied since. Export
uses a stored value only where it reproduces what Blender shows now.
"""

from .attributes import load_corner_st, load_vertices, store_attributes
from .model import StoredModel, load_model, store_model

__all__ = ["StoredModel", "load_corner_st", "load_model", "load_vertices", "store_attributes", "store_model"]
