"""MD2 files into Blender."""
