"""The materials of a character's meshes: of its files, of its declaration, and of its skins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..io_common.declarations.characters import CharacterPart, CharacterSkin, MeshTextures
from ..io_common.game_tree.names import fold, without_image_extension
from ..io_common.game_tree.tree import GameTree
from ..io_common.materials.library import MaterialLibrary
from ..io_common.textures.conventions import Role
from ..io_common.textures.material_images import MaterialImages, Rule

if TYPE_CHECKING:
    from bpy.types import Material

    from ..io_common.textures.search import ModelSearch

ALL = "*"
"""The name that stands for all others."""


def declared_images(
    part: CharacterPart, mesh: str, shader: str, files: GameTree, found: MaterialImages
) -> MaterialImages:
    """The images that a part's declaration gives a mesh; `found`, the result of the search, if it gives none."""
    textures = _textures_of(part.textures, mesh)
    if textures is None:
        return found
    result = MaterialImages(shader, rule=Rule.CONFIG)
    for role, image in (
        (Role.DIFFUSE, textures.image),
        (Role.NORMAL, textures.bump),
        (Role.MASKS, textures.masks),
    ):
        file = files.find(image) if image else None
        if file is not None:
            result.images[role] = file
    # What is missing is reported with the character's other files.
    found.missing.clear()
    return result if result.diffuse is not None else found


def _textures_of(textures: Sequence[MeshTextures], mesh: str) -> MeshTextures | None:
    own = next((one for one in textures if fold(one.mesh) == fold(mesh)), None)
    return own or next((one for one in textures if one.mesh == ALL), None)


def replacement(skin: CharacterSkin, shader: str) -> str | None:
    """What a skin shows instead of a shader; None if it does not change it.

    The first pair that fits counts (`DeclSkin.cpp`, `RemapShaderBySkin`).
    """
    name = fold(without_image_extension(shader))
    return next(
        (new for old, new in skin.replacements if old == ALL or fold(without_image_extension(old)) == name),
        None,
    )


def skin_materials(
    skins: Sequence[CharacterSkin], shader: str, mesh: str, search: ModelSearch, library: MaterialLibrary
) -> dict[str, Material]:
    """The material of each skin that changes a shader, by the skin's name; `mesh` is empty if it has no name."""
    result: dict[str, Material] = {}
    for skin in skins:
        new = replacement(skin, shader)
        if new is not None:
            result[skin.name] = library.get(new, skin.name, search.material(new, mesh or None))
    return result


def image_skins(
    skins: Sequence[CharacterSkin], files: GameTree, library: MaterialLibrary
) -> dict[str, Material]:
    """The material of each skin of an MD2, which is an image."""
    result: dict[str, Material] = {}
    for skin in skins:
        path = next((new for _, new in skin.replacements), "")
        file = files.find(path) if path else None
        if file is not None:
            found = MaterialImages(path, rule=Rule.GAME_PATH, images={Role.DIFFUSE: file})
            result[skin.name] = library.get(path, skin.name, found)
    return result
