"""Imports of a model beside damaged archives of its images and materials."""

from __future__ import annotations

from pathlib import Path

import bpy
from game_samples import BLUE, GREEN, RED, YELLOW, archive, pcx, png, quarters, square, tga, write
from installed import read_empty_scene
from mutants import mutant

SHADER = "models/imp/imp"

COLORS = quarters(RED, GREEN, BLUE, YELLOW)

DECLARATION = f"""{SHADER}
{{
    qer_editorimage models/imp/imp.tga
    bumpmap addnormals( models/imp/imp_local.tga, heightmap( models/imp/imp_h.tga, 4 ) )
    {{
        blend diffusemap
        map models/imp/imp_d.tga
        alphaTest 0.5
    }}
    specularmap models/imp/imp_s.tga
}}
"""


def orphans() -> list[str]:
    """Images that nothing uses."""
    return [image.name for image in bpy.data.images if image.users == 0]


def try_archives(folder: Path, numbers: range) -> tuple[int, int]:
    """How many damaged archives gave the model its image and how many did not; anything else fails the test.

    Half of them are damaged as a file, the others in what is packed in them.
    """
    contents = {"models/imp/imp_d.tga": tga(COLORS), "models/imp/imp_s.png": png(COLORS),
                "models/imp/imp_local.tga": tga(COLORS), "models/imp/imp_h.pcx": pcx(COLORS),
                "materials/imp.mtr": DECLARATION.encode()}  # fmt: skip
    whole = folder / "whole.pk4"
    archive(whole, contents)
    base = folder / "archives" / "base"
    write(base, {"models/imp/imp.md5mesh": square(SHADER)})
    with_image = 0
    for number in numbers:
        read_empty_scene()
        path = base / "pak000.pk4"
        path.unlink(missing_ok=True)
        if number % 2:
            name = sorted(contents)[number // 2 % len(contents)]
            archive(path, {**contents, name: mutant(contents[name], number, name.endswith(".mtr"))})
        else:
            path.write_bytes(mutant(whole.read_bytes(), number, is_text=False))
        model = base / "models/imp/imp.md5mesh"
        assert bpy.ops.import_scene.md5(filepath=str(model)) == {"FINISHED"}, number
        assert len(bpy.data.meshes) == 1, number
        assert not orphans(), number
        with_image += any(image.name.startswith("imp_d") for image in bpy.data.images)
    return with_image, len(numbers) - with_image
