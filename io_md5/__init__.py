"""The MD5 family: skeletons, skinned meshes, animations and cameras of Doom 3 and related games."""
