"""What both families need and Blender does not give."""
