"""The files of games: loose and in archives, as one tree. Needs no Blender."""
