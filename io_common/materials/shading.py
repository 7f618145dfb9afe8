"""The shader nodes of a material, as an artist would connect them: images into a Principled BSDF.

- Without a specular map there are no highlights, as in the games, whose artists painted them. With one it is the
  `Specular IOR Level`, called so in all of 4.2 to 5.2.
- Surfaces are cut out by a Math node and not by a setting of the material, which EEVEE has no more: an alpha test
  discards what is not above its threshold. Without a declaration nothing says what an alpha channel is for; one
  that is black or white nearly everywhere, and not all one of them, cuts the surface out.
- Both sides are shown unless a declaration or cfg file says that the surface has one.
- Sauerbraten's masks: red is the specular strength, green how much the skin itself glows; its reflections (blue)
  would need the level around.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..scene import versions
from ..textures.conventions import Role
from ..textures.image_expressions import BuiltIn
from ..textures.material_images import MaterialImages
from .image_nodes import Channels, NodeBuilder
from .images import ImageStore

if TYPE_CHECKING:
    from bpy.types import Image, Material

# For an alpha channel that no one set a threshold for.
_THRESHOLD = 0.5

_ADDED = ("add", "gl_one,gl_one", "gl_src_alpha,gl_one")
_MULTIPLIED = ("filter", "modulate", "gl_dst_color,gl_zero", "gl_zero,gl_src_color")


def dress(material: Material, found: MaterialImages, store: ImageStore, warnings: list[str]) -> None:
    """Gives a new material its images and settings.

    Args:
        material: with the nodes that Blender gave it.
        found: what was found for it.
        store: loads the images.
        warnings: what cannot be loaded is added here.
    """
    tree = material.node_tree
    shader = principled_of(material)
    assert tree is not None
    assert shader is not None
    build = NodeBuilder(tree, found, store, warnings)
    if found.two_sided is not None:
        material.use_backface_culling = not found.two_sided
    diffuse = build.channels(Role.DIFFUSE)
    if diffuse is not None:
        build.link(diffuse.colour, shader.inputs["Base Color"])
    elif found.colour is not None:
        shader.inputs["Base Color"].default_value = found.colour
        material.diffuse_color = found.colour
    else:
        return
    image = build.image_of(Role.DIFFUSE) if diffuse is not None else None
    _connect_alpha(material, shader, build, found, diffuse, image, store)
    _connect_highlights(shader, build, found, diffuse)
    normal = build.normal()
    if normal is not None:
        build.link(normal, shader.inputs["Normal"])
    if image is not None:
        _show_in_solid_mode(material, tree.nodes, image, store)


def _connect_highlights(
    shader: Any, build: NodeBuilder, found: MaterialImages, diffuse: Channels | None
) -> None:
    """Specular map, Sauerbraten's masks, glow."""
    specular, masks = build.channels(Role.SPECULAR), build.channels(Role.MASKS)
    level = shader.inputs["Specular IOR Level"]
    level.default_value = 0.0
    built_in = found.declaration.specular if found.declaration is not None else None
    if specular is not None:
        build.link(specular.colour, level)
    elif isinstance(built_in, BuiltIn) and built_in.colour is not None:
        level.default_value = max(built_in.colour[:3])
    glow = build.channels(Role.GLOW)
    if glow is not None:
        build.link(glow.colour, shader.inputs["Emission Color"])
        shader.inputs["Emission Strength"].default_value = 1.0
    if masks is not None:
        split = build.add("ShaderNodeSeparateColor", 3, "Masks")
        build.link(masks.colour, split.inputs["Color"])
        if specular is None:
            build.link(split.outputs["Red"], level)
        if glow is None and diffuse is not None:
            build.link(diffuse.colour, shader.inputs["Emission Color"])
            build.link(split.outputs["Green"], shader.inputs["Emission Strength"])


def _connect_alpha(
    material: Material,
    shader: Any,
    build: NodeBuilder,
    found: MaterialImages,
    diffuse: Channels | None,
    image: Image | None,
    store: ImageStore,
) -> None:
    """Alpha test, blending, or what the image itself says where nothing is declared."""
    if diffuse is None:
        return
    alpha = shader.inputs["Alpha"]
    threshold = found.alpha_test
    if (
        threshold is None
        and found.declaration is None
        and image is not None
        and store.impression(image).is_cut_out
    ):
        threshold = _THRESHOLD
    if threshold is not None:
        cut = build.channels(Role.ALPHA) or diffuse
        if cut.alpha is not None:
            build.link(build.greater_than(cut.alpha, threshold), alpha)
    elif found.translucent:
        versions.blend_surface(material)
        if found.blend in _ADDED:
            # Light is added: nothing is reflected, and black is not seen.
            for link in list(shader.inputs["Base Color"].links):
                material.node_tree.links.remove(link)
            shader.inputs["Base Color"].default_value = (0.0, 0.0, 0.0, 1.0)
            build.link(diffuse.colour, shader.inputs["Emission Color"])
            shader.inputs["Emission Strength"].default_value = 1.0
            build.link(build.brightness(diffuse.colour), alpha)
        elif found.blend in _MULTIPLIED:
            build.link(build.one_minus(build.brightness(diffuse.colour)), alpha)
        elif diffuse.alpha is not None:
            build.link(diffuse.alpha, alpha)


def _show_in_solid_mode(material: Material, nodes: Any, image: Image, store: ImageStore) -> None:
    """Solid mode shows the active image node ('Texture'), or one colour ('Material')."""
    for node in nodes:
        node.select = node.type == "TEX_IMAGE" and node.image == image
        if node.select:
            nodes.active = node
    colour = store.impression(image).colour
    if colour is not None:
        material.diffuse_color = (*colour, 1.0)


def principled_of(material: Material) -> Any:
    """The material's Principled BSDF, None if it has none."""
    tree = material.node_tree
    nodes = tree.nodes if tree is not None else ()
    return next((node for node in nodes if node.type == "BSDF_PRINCIPLED"), None)
