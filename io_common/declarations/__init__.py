"""What games declare about models, and the characters that the declarations make. Needs no Blender.

- `declaration_files`: Doom 3's files of declarations; `materials` and `doom3_models` read what is in them.
- `material_files`: the materials of game folders by name, and the images that are found for them.
- `characters`: what all games' declarations are turned into: models with animations, skins and attachments.
- `doom3_characters`, `doom3_text`: characters out of Doom 3's declarations, and back.
- `cube_scripts`: Sauerbraten's `md5.cfg` and `md2.cfg`; `cube_models` makes characters of them, and writes them.
"""
