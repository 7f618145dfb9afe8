"""The shader nodes of a material, as an artist would connect them: images into a Principled BSDF.

- Without a specular map there are no highlights, as in the games; with one it is the `Specular IOR Level`.
- An alpha test is a Math node: EEVEE has no setting for it any more. Without a declaration, an alpha channel that is
  nearly all black or white, with some of both, is taken as one.
- Both sides are shown unless a declaration or cfg file makes the surface one-sided.
- Blended surfaces of one stage are what the engine computes: source × factor + what is behind × factor. `blend blend`
  stays a Principled BSDF with alpha, which glTF can hold; where nothing is drawn, alpha is 0.
- Sauerbraten's masks: red is the specular strength, green the glow; reflections, in blue, would need the map around the
  model.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...io_common.declarations.materials import BuiltIn
from ...io_common.textures.config_files import MaterialImages
from ...io_common.textures.conventions import Role
from .. import versions
from .image_nodes import Channels, NodeBuilder
from .images import ImageStore

if TYPE_CHECKING:
    from bpy.types import Image, Material

# For an alpha channel without a declared threshold.
_THRESHOLD = 0.5

_ALPHA_BLEND = "gl_src_alpha,gl_one_minus_src_alpha"
_FILTER = "gl_dst_color,gl_zero"
_BLENDS = {"add": "gl_one,gl_one", "filter": _FILTER, "modulate": _FILTER, "blend": _ALPHA_BLEND}


def build_nodes(material: Material, found: MaterialImages, store: ImageStore, warnings: list[str]) -> None:
    """Builds the nodes of a new material, which has Blender's default ones; adds to `warnings`."""
    tree = material.node_tree
    shader = principled_of(material)
    assert tree is not None
    assert shader is not None
    nodes = NodeBuilder(tree, found, store, warnings)
    if found.two_sided is not None:
        material.use_backface_culling = not found.two_sided
    if not found.is_drawn:
        shader.inputs["Alpha"].default_value = 0.0
        return
    diffuse = nodes.channels(Role.DIFFUSE)
    image = nodes.image_of(Role.DIFFUSE) if diffuse is not None else None
    blend = _BLENDS.get(found.blend, found.blend)
    is_blended = found.translucent and "," in blend and blend != _ALPHA_BLEND
    if is_blended:
        _blend_with_background(material, nodes, diffuse or nodes.constant(found.color), blend)
    elif diffuse is not None:
        nodes.link(diffuse.color, shader.inputs["Base Color"])
        is_cut_out = image is not None and not found.is_alpha_known and store.statistics(image).is_cut_out
        _connect_alpha(material, shader, nodes, found, diffuse, is_cut_out=is_cut_out)
    elif found.color is not None:
        shader.inputs["Base Color"].default_value = found.color
        material.diffuse_color = found.color
    else:
        return
    if not is_blended:
        _connect_highlights(shader, nodes, found, diffuse)
        normal = nodes.normal()
        if normal is not None:
            nodes.link(normal, shader.inputs["Normal"])
    if image is not None:
        _show_in_solid_mode(material, tree.nodes, image, store)


def _connect_highlights(shader: Any, nodes: NodeBuilder, found: MaterialImages, diffuse: Channels | None) -> None:
    specular, masks = nodes.channels(Role.SPECULAR), nodes.channels(Role.MASKS)
    level = shader.inputs["Specular IOR Level"]
    level.default_value = 0.0
    built_in = found.declaration.specular if found.declaration is not None else None
    if specular is not None:
        nodes.link(specular.color, level)
    elif isinstance(built_in, BuiltIn) and built_in.color is not None:
        level.default_value = max(built_in.color[:3])
    glow = nodes.channels(Role.GLOW)
    if glow is not None:
        nodes.link(glow.color, shader.inputs["Emission Color"])
        shader.inputs["Emission Strength"].default_value = 1.0
    if masks is not None:
        split = nodes.add("ShaderNodeSeparateColor", 3, "Masks")
        nodes.link(masks.color, split.inputs["Color"])
        if specular is None:
            nodes.link(split.outputs["Red"], level)
        if glow is None and diffuse is not None:
            nodes.link(diffuse.color, shader.inputs["Emission Color"])
            nodes.link(split.outputs["Green"], shader.inputs["Emission Strength"])


def _connect_alpha(
    material: Material, shader: Any, nodes: NodeBuilder, found: MaterialImages, diffuse: Channels, *, is_cut_out: bool
) -> None:
    """Connects alpha for an alpha test or blending, or as the image suggests where nothing is declared."""
    threshold = _THRESHOLD if is_cut_out else found.alpha_test
    if threshold is not None:
        cut = nodes.channels(Role.ALPHA) or diffuse
        if cut.alpha is not None:
            # Sharp edges in all of Blender's renderers.
            is_solid = nodes.math("GREATER_THAN", cut.alpha, threshold, label="Alpha Test")
            nodes.link(is_solid, shader.inputs["Alpha"])
    elif found.translucent:
        versions.blend_surface(material)
        if diffuse.alpha is not None:
            nodes.link(diffuse.alpha, shader.inputs["Alpha"])


def _blend_with_background(material: Material, nodes: NodeBuilder, color: Channels, blend: str) -> None:
    """Connects emission for what a stage draws, and transparency for what it leaves of what is behind."""
    # A renderer's transparency cannot brighten, so that `gl_dst_color, gl_one` leaves everything as it is.
    source, _, target = blend.partition(",")
    emission, transparent = nodes.add("ShaderNodeEmission", 1), nodes.add("ShaderNodeBsdfTransparent", 1)
    drawn, left = (shader.inputs["Color"] for shader in (emission, transparent))
    drawn.default_value = left.default_value = (0.0, 0.0, 0.0, 1.0)
    if source == "gl_dst_color":
        target = "gl_src_color" if target == "gl_zero" else target
    elif source == "gl_src_alpha" and color.alpha is not None:
        nodes.link(nodes.vector_math("MULTIPLY", color.color, color.alpha), drawn)
    elif source != "gl_zero":
        nodes.link(color.color, drawn)
    if target == "gl_one":
        left.default_value = (1.0, 1.0, 1.0, 1.0)
    elif target == "gl_src_color":
        nodes.link(color.color, left)
    elif target == "gl_one_minus_src_color":
        nodes.link(nodes.inverted(color.color), left)
    elif target == "gl_src_alpha" and color.alpha is not None:
        nodes.link(color.alpha, left)
    elif target == "gl_one_minus_src_alpha" and color.alpha is not None:
        nodes.link(nodes.math("SUBTRACT", 1.0, color.alpha), left)
    both = nodes.add("ShaderNodeAddShader", 0)
    nodes.link(emission.outputs[0], both.inputs[0])
    nodes.link(transparent.outputs[0], both.inputs[1])
    versions.blend_surface(material)
    tree: Any = material.node_tree
    output = next(node for node in tree.nodes if node.type == "OUTPUT_MATERIAL")
    nodes.link(both.outputs[0], output.inputs["Surface"])
    tree.nodes.remove(principled_of(material))


def _show_in_solid_mode(material: Material, nodes: Any, image: Image, store: ImageStore) -> None:
    """Sets the active image node and the viewport color, which Solid mode shows for Texture and Material."""
    for node in nodes:
        node.select = node.type == "TEX_IMAGE" and node.image == image
        if node.select:
            nodes.active = node
    color = store.statistics(image).color
    if color is not None:
        material.diffuse_color = (*color, 1.0)


def reset_nodes(material: Material) -> None:
    """Gives a material Blender's default nodes."""
    tree: Any = material.node_tree
    tree.nodes.clear()
    shader = tree.nodes.new("ShaderNodeBsdfPrincipled")
    output = tree.nodes.new("ShaderNodeOutputMaterial")
    output.location = (shader.width + 60.0, 0.0)
    tree.links.new(shader.outputs["BSDF"], output.inputs["Surface"])


def principled_of(material: Material) -> Any:
    """The material's Principled BSDF, None if it has none."""
    tree = material.node_tree
    nodes: Any = tree.nodes if tree is not None else ()
    return next((node for node in nodes if node.type == "BSDF_PRINCIPLED"), None)
