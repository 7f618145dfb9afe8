"""The IQM family of formats. Importing this package needs no Blender."""
