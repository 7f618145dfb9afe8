"""What all families share in Blender."""
