"""The command line: ``blender --command idtech convert`` and ``… info``, for whole trees of files."""
