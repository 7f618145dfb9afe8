"""Which images a model's skins and shaders mean, and the materials of games. Needs no Blender."""
