"""Which images a model's skins and shaders mean. Needs no Blender.

- `search`: the rules by which images are found, with `material_images` for the results and `config_files` for what lies
  near the model.
- `conventions`: the roles of the images next to a model, judged by their names, and the rules of each family.
- `materials`: the material declarations of game folders, by name.
- `mtr`: Doom 3 material files: `mtr_tokens`, `material_parser` and `image_expressions`.
- `skins`: Sauerbraten's md2.cfg and md5.cfg, and .skin files that assign materials to meshes.
- `image_files`: PCX and LMP images as pixels, and what any image takes in memory.
"""
