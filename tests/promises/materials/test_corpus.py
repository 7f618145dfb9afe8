"""Real models are imported with the images beside them, and look as they should."""

from __future__ import annotations

import os
import re
from pathlib import Path

import bpy
import numpy as np
import pytest
from game_samples import light_evenly, region, render
from installed import read_empty_scene

IMAGES = {".pcx", ".png", ".jpg", ".jpeg", ".tga", ".bmp", ".dds"}
# Pictures of players for Quake II's menu, and of objects for Egoboo's.
ICON = re.compile(r"_i$|^icon")
# What belongs to an image of colors and is none.
MAP = re.compile(r"(_local|_n|_s|_h|_?norms?|_?normals|_?masks?)$")


def is_image_of_colors(path: Path) -> bool:
    stem = path.stem.lower()
    return path.suffix.lower() in IMAGES and not ICON.search(stem) and not MAP.search(stem)


def images_beside(model: Path) -> list[Path]:
    return [path for path in sorted(model.parent.iterdir()) if is_image_of_colors(path)]


def load(path: Path) -> list[bpy.types.Object] | None:
    """The mesh objects of a model, None if it is refused."""
    operator = bpy.ops.import_scene.md5 if path.suffix.lower() == ".md5mesh" else bpy.ops.import_scene.md2
    before = set(bpy.data.objects)
    try:
        operator(filepath=str(path))
    except RuntimeError:
        return None
    return [obj for obj in bpy.data.objects if obj not in before and obj.type == "MESH"]


def shown(material: bpy.types.Material) -> bpy.types.Image | None:
    """The image that is linked straight to Base Color."""
    for link in material.node_tree.links:
        if link.to_socket.name == "Base Color" and link.from_node.type == "TEX_IMAGE":
            return link.from_node.image
    return None


def file_of(image: bpy.types.Image) -> Path:
    kept = image.get("md5") or image.get("md2")
    return Path(kept["file"] if kept else os.path.abspath(image.filepath))


def is_own(file: Path, model: Path, names: list[str]) -> bool:
    """Whether an image is the model's: named by it, or lying beside it and not another model's."""
    named = {Path(name.replace("\\", "/")).stem.lower() for name in names}
    if file.stem.lower() in named:
        return True
    others = {path.stem.lower() for path in model.parent.iterdir() if path.suffix.lower() == model.suffix.lower()}
    others -= {model.stem.lower()}
    return is_image_of_colors(file) and file.stem.lower() not in others


def shown_files(objects: list[bpy.types.Object]) -> set[Path]:
    """The files of the images that faces show; materials that wait in other slots do not count."""
    files = set()
    for obj in objects:
        used = {polygon.material_index for polygon in obj.data.polygons}
        for index in used & set(range(len(obj.data.materials))):
            image = shown(obj.data.materials[index])
            if image is not None and image.has_data:
                files.add(file_of(image))
    return files


@pytest.mark.slow
def test_nine_of_ten_models_with_an_image_beside_them_show_one_of_theirs(corpus):
    textured, bare = [], []
    for model in sorted(path for path in corpus.rglob("*") if path.suffix.lower() in (".md5mesh", ".md2")):
        read_empty_scene()
        if not images_beside(model) or (objects := load(model)) is None:
            continue
        materials = [material for obj in objects for material in obj.data.materials]
        names = [
            str(material[group][key])
            for material in materials
            for group, key in (("md5", "shader"), ("md2", "skin"))
            if group in material
        ]
        source = corpus.joinpath(*model.relative_to(corpus).parts[:2])
        files = shown_files(objects)
        for file in files:
            assert file.is_relative_to(source), (model, file)
            assert is_own(file, model, names), (model, file)
        (textured if files else bare).append(str(model.relative_to(corpus)))
    print(f"\n{len(textured)} of {len(textured) + len(bare)} models with an image beside them show one; not: {bare}")
    assert len(textured) > 100
    assert len(textured) >= 0.9 * (len(textured) + len(bare))


# Places (top, bottom, left, right) as parts of the picture, and their mean sRGB colors, noted from pictures that were
# looked at.
PICTURES = [
    pytest.param(
        "md5/assimp+assimp/test/models-nonbsd/MD5/Bob.md5mesh",
        {
            (0.28, 0.31, 0.50, 0.54): (181, 117, 109),  # the badge on the shoulder
            (0.385, 0.41, 0.345, 0.375): (198, 172, 78),  # the hilt
            (0.50, 0.53, 0.54, 0.60): (11, 2, 0),  # the belt
            (0.70, 0.78, 0.40, 0.45): (43, 56, 52),  # the coat
        },
        id="MD5 by its shaders",
    ),
    pytest.param(
        "md5/aunali1+sauerbraten-ios/packages/models/captaincannon/captaincannon.md5mesh",
        {
            (0.39, 0.45, 0.46, 0.54): (42, 88, 44),  # the chest
            (0.54, 0.56, 0.47, 0.53): (105, 56, 39),  # the belt
            (0.44, 0.47, 0.12, 0.17): (112, 81, 54),  # a hand
            (0.265, 0.28, 0.48, 0.52): (47, 93, 39),  # the brow
        },
        id="MD5 by its cfg, with normals and masks",
    ),
    pytest.param(
        "md2/assimp+assimp/test/models/MD2/faerie.md2",
        {
            (0.42, 0.50, 0.48, 0.56): (152, 209, 173),  # the dress
            (0.06, 0.11, 0.27, 0.31): (143, 108, 20),  # the tip of a wing
            (0.19, 0.22, 0.40, 0.43): (95, 25, 9),  # its root
            (0.60, 0.68, 0.48, 0.51): (62, 49, 14),  # a leg
        },
        id="MD2 without a skin",
    ),
]


def turned_over(objects, axis):
    """Mirrors the texture coordinates."""
    for obj in objects:
        layer = obj.data.uv_layers[0].uv
        coordinates = np.empty(2 * len(layer), dtype=np.float32)
        layer.foreach_get("vector", coordinates)
        coordinates = coordinates.reshape(-1, 2)
        coordinates[:, axis] = 1 - coordinates[:, axis]
        layer.foreach_set("vector", coordinates.ravel())


def worst(picture, places):
    """The greatest difference of a channel from what is expected, in 0...255."""
    differences = [np.abs(region(picture, *place)[:3] * 255 - color).max() for place, color in places.items()]
    return max(differences)


TOLERANCE = 12


@pytest.mark.parametrize(("path", "places"), PICTURES)
@pytest.mark.slow
def test_a_render_has_the_colors_of_the_model(corpus, tmp_path, path, places):
    objects = load(corpus / path)
    light_evenly()
    picture = render(tmp_path / "right.png", size=96)
    for place in places:
        assert region(picture, *place)[3] > 0.95, place
    assert worst(picture, places) < TOLERANCE
    # The tolerance is one that sees the difference.
    for axis in (0, 1):
        turned_over(objects, axis)
        assert worst(render(tmp_path / "wrong.png", size=96), places) > 3 * TOLERANCE
        turned_over(objects, axis)
