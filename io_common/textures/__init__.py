"""Finding and reading the images that MD2 and MD5 models name; knows nothing of Blender.

- `pcx`: PCX bytes to pixels.
- `mtr`: Doom 3 material declarations and their image expressions.
- `skins`: Sauerbraten's md2.cfg and md5.cfg, and .skin files that map meshes to materials.
- `names`: what may be believed of a name that a stranger's file holds.
- `gamefolder`: folders and archives that images may come from, and nothing outside them.
- `budget`: what one import may spend on all of this.
- `dimensions`: how many pixels an image has, before they are unpacked.
- `conventions`: what the images beside a model are for, judged by their names.
- `materials`: the material declarations of game folders, found by name.
- `search`: the rules that lead from a skin or shader name to images, and back on export.
"""
