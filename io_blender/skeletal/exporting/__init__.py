"""Models and animations made of what Blender shows."""
