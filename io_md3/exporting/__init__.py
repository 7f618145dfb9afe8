"""Objects of Blender as MD3 files."""
