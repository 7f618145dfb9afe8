"""What games declare about models, and the characters that the declarations make. Needs no Blender."""
