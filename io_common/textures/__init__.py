"""The search for the images that models name. Needs no Blender.

- `search`: the rules by which images are found for a model's skins and shaders, with `rules` for each family,
  `material_images` for the results, `model_folder` and `config_files` for what lies near the model.
- `export_names`: the names under which exported models mention images.
- `search_paths`: the folders that are searched: `folders`, `archives`, `listings` and the `game_files` in them.
- `materials`: the material declarations of game folders, by name.
- `mtr`: Doom 3 material files: `mtr_tokens`, `material_parser` and `image_expressions`.
- `skins`: Sauerbraten's md2.cfg and md5.cfg, and .skin files that assign materials to meshes.
- `names`: names of images and shaders, which may hold anything.
- `conventions`: the roles of the images next to a model, judged by their names.
- `budget`: limits of time, memory and file sizes for one import.
- `dimensions`: the number of pixels of an image, from its header.
- `pcx`, `lmp`: PCX and LMP images as pixels.
"""
