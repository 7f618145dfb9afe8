"""The shader nodes of a material, as an artist would connect them: images into a Principled BSDF.

- Without a specular map there are no highlights, as in the games. A specular map is the `Specular IOR Level`.
- An alpha test is a Math node: EEVEE no longer has a setting for it. Without a declaration, an alpha channel that is
  nearly all black or white, with some of both, is taken as one.
- Both sides are shown unless a declaration or cfg file makes the surface one-sided.
- Blended surfaces of one stage show what the engine computes: source × factor + background × factor. `blend blend`
  stays a Principled BSDF with alpha, which glTF can hold; where nothing is drawn, alpha is 0.
- Sauerbraten's masks: red is the specular strength, green the glow; reflections, in blue, would need the map around the
  model.

Image expressions of Doom 3 materials become nodes, by its published source (`Image_program.cpp`):

- `scale(x, r, g, b, a)` multiplies the bytes of the file, `add(a, b)` adds them: files are sRGB, Blender is linear, so
  a factor becomes a power of itself.
- `heightmap(x, s)`: white is near; a step from black to white between two pixels has a slope of s.
- `addnormals(a, b)` adds x and y of b to a and normalizes; `smoothnormals(x)` blurs a little and is left out.
- The green of normal maps points down ('DirectX'): in `R_HeightmapToNormalMap` it is -(height of the line below -
  height of this line), line 0 at the top; the second tangent goes along t, downwards. The Dark Mod's wiki ("Inverting
  Normalmaps"), Daemon's issue 274 and real maps agree: only so is their gradient free of curl.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import bpy
from bpy.types import Image, Material

from ...io_common.declarations.materials import BuiltIn, Call, ImageExpression, MapImage, map_uses
from ...io_common.game_tree.files import GameFile
from ...io_common.textures.conventions import MaterialImages, Role
from .. import versions
from .images import ImageError, ImageStore

Socket = Any  # an output of a node; its type in the stubs differs between versions

_GAMMA = 2.2  # the exponent that stands for the sRGB curve
_HEIGHT_UNIT = 0.1  # the height of a step of `heightmap(x, 1)` in units, for a texture of ten pixels per unit
_DEFAULT_HEIGHT_SCALE = 2.0  # for height maps that were found beside an image and have no declared scale

_COLUMN_WIDTH = 300.0
_ROW_HEIGHT = 300.0
_THRESHOLD = 0.5  # for an alpha channel without a declared threshold

_ALPHA_BLEND = "gl_src_alpha,gl_one_minus_src_alpha"
_FILTER = "gl_dst_color,gl_zero"
_BLENDS = {"add": "gl_one,gl_one", "filter": _FILTER, "modulate": _FILTER, "blend": _ALPHA_BLEND}


@dataclass
class _Channels:
    """The outputs of an expression; no alpha means opaque."""

    color: Socket
    alpha: Socket = None


@dataclass
class _Relief:
    """The parts of a bump map: normals (as colors, green down) and heights with their scales."""

    normals: Socket = None
    heights: list[tuple[Socket, float]] = field(default_factory=list)


def build_nodes(material: Material, found: MaterialImages, store: ImageStore, warnings: list[str]) -> None:
    """Builds the nodes of a new material, which has Blender's default ones; adds to `warnings`."""
    _NodeBuilder(material, found, store, warnings).build()


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


class _NodeBuilder:
    """Adds the nodes of one material, and a message to `warnings` for each image that cannot be loaded."""

    def __init__(self, material: Material, found: MaterialImages, store: ImageStore, warnings: list[str]) -> None:
        self._material = material
        self._tree: Any = material.node_tree
        self._shader = principled_of(material)
        self._found, self._store = found, store
        # By their names in a declaration, else by their own.
        self._files = {str(image): image for image in found.images.values()} | found.maps
        self._warnings = warnings
        self._rows: dict[int, int] = {}
        self._images: dict[Image, Any] = {}

    def build(self) -> None:
        found, inputs = self._found, self._shader.inputs
        if found.two_sided is not None:
            self._material.use_backface_culling = not found.two_sided
        if not found.is_drawn:
            inputs["Alpha"].default_value = 0.0
            return
        diffuse = self.channels(Role.DIFFUSE)
        file = found.diffuse if diffuse is not None else None
        image = self._load(file, Role.DIFFUSE) if file is not None else None
        blend = _BLENDS.get(found.blend, found.blend)
        if found.translucent and "," in blend and blend != _ALPHA_BLEND:
            self._blend_with_background(diffuse or self.constant(found.color), blend)
        else:
            if diffuse is not None:
                self.link(diffuse.color, inputs["Base Color"])
                self._connect_alpha(diffuse, image)
            elif found.color is not None:
                inputs["Base Color"].default_value = self._material.diffuse_color = found.color
            else:
                return
            self._connect_highlights(diffuse)
            normal = self.normal()
            if normal is not None:
                self.link(normal, inputs["Normal"])
        if image is not None:
            self._show_in_solid_mode(image)

    def _connect_highlights(self, diffuse: _Channels | None) -> None:
        specular, masks = self.channels(Role.SPECULAR), self.channels(Role.MASKS)
        inputs = self._shader.inputs
        level = inputs["Specular IOR Level"]
        level.default_value = 0.0
        declared = self._found.declaration
        built_in = declared.specular if declared is not None else None
        if specular is not None:
            self.link(specular.color, level)
        elif isinstance(built_in, BuiltIn) and built_in.color is not None:
            level.default_value = max(built_in.color[:3])
        glow = self.channels(Role.GLOW)
        if glow is not None:
            self.link(glow.color, inputs["Emission Color"])
            inputs["Emission Strength"].default_value = 1.0
        if masks is not None:
            split = self.add("ShaderNodeSeparateColor", 3, "Masks")
            self.link(masks.color, split.inputs["Color"])
            if specular is None:
                self.link(split.outputs["Red"], level)
            if glow is None and diffuse is not None:
                self.link(diffuse.color, inputs["Emission Color"])
                self.link(split.outputs["Green"], inputs["Emission Strength"])

    def _connect_alpha(self, diffuse: _Channels, image: Image | None) -> None:
        """Connects alpha for an alpha test or blending, or as the image suggests where nothing is declared."""
        found, target = self._found, self._shader.inputs["Alpha"]
        is_cut_out = image is not None and not found.is_alpha_known and self._store.statistics(image).is_cut_out
        threshold = _THRESHOLD if is_cut_out else found.alpha_test
        if threshold is not None:
            cut = self.channels(Role.ALPHA) or diffuse
            if cut.alpha is not None:
                # Sharp edges in all of Blender's renderers.
                self.link(self.math("GREATER_THAN", cut.alpha, threshold, label="Alpha Test"), target)
        elif found.translucent:
            self._material.surface_render_method = "BLENDED"
            if diffuse.alpha is not None:
                self.link(diffuse.alpha, target)

    def _blend_with_background(self, color: _Channels, blend: str) -> None:
        """Connects emission for what a stage draws, and transparency for what it leaves of the background."""
        # Transparency cannot brighten, so `gl_dst_color, gl_one` changes nothing.
        source, _, target = blend.partition(",")
        emission, transparent = self.add("ShaderNodeEmission", 1), self.add("ShaderNodeBsdfTransparent", 1)
        drawn, left = (shader.inputs["Color"] for shader in (emission, transparent))
        drawn.default_value = left.default_value = (0.0, 0.0, 0.0, 1.0)
        if source == "gl_dst_color":
            target = "gl_src_color" if target == "gl_zero" else target
        elif source == "gl_src_alpha" and color.alpha is not None:
            self.link(self.vector_math("MULTIPLY", color.color, color.alpha), drawn)
        elif source != "gl_zero":
            self.link(color.color, drawn)
        if target == "gl_one":
            left.default_value = (1.0, 1.0, 1.0, 1.0)
        elif target == "gl_src_color":
            self.link(color.color, left)
        elif target == "gl_one_minus_src_color":
            self.link(self.inverted(color.color), left)
        elif target == "gl_src_alpha" and color.alpha is not None:
            self.link(color.alpha, left)
        elif target == "gl_one_minus_src_alpha" and color.alpha is not None:
            self.link(self.math("SUBTRACT", 1.0, color.alpha), left)
        both = self.add("ShaderNodeAddShader", 0)
        self.link(emission.outputs[0], both.inputs[0])
        self.link(transparent.outputs[0], both.inputs[1])
        self._material.surface_render_method = "BLENDED"
        output = next(node for node in self._tree.nodes if node.type == "OUTPUT_MATERIAL")
        self.link(both.outputs[0], output.inputs["Surface"])
        self._tree.nodes.remove(self._shader)

    def _show_in_solid_mode(self, image: Image) -> None:
        """Sets the active image node and the viewport color, which Solid mode shows for Texture and Material."""
        for node in self._tree.nodes:
            node.select = node.type == "TEX_IMAGE" and node.image == image
            if node.select:
                self._tree.nodes.active = node
        color = self._store.statistics(image).color
        if color is not None:
            self._material.diffuse_color = (*color, 1.0)

    def add(self, kind: str, column: int, label: str = "") -> Any:
        # Columns are counted from the shader to the left.
        node = self._tree.nodes.new(kind)
        row = self._rows.get(column, 0)
        self._rows[column] = row + 1
        node.location = (-column * _COLUMN_WIDTH - 200.0, 300.0 - row * _ROW_HEIGHT)
        node.label = label
        node.select = False
        return node

    def link(self, output: Socket, target: Socket) -> None:
        self._tree.links.new(output, target)

    def channels(self, role: Role) -> _Channels | None:
        """The color and alpha of a role; None if none of its images can be loaded."""
        expression = self._expression(role)
        return self._channels(expression, role) if expression is not None else None

    def normal(self) -> Socket:
        """The normal of the normal and height maps; None if there are none."""
        expression = self._expression(Role.NORMAL)
        relief = self._relief(expression) if expression is not None else _Relief()
        if self._declared(Role.NORMAL) is None:
            height = self.channels(Role.HEIGHT)
            if height is not None:
                relief.heights.append((height.color, _DEFAULT_HEIGHT_SCALE))
        normal = self._normal_map(relief.normals) if relief.normals is not None else None
        for height_socket, scale in relief.heights:
            bump = self.add("ShaderNodeBump", 1)
            bump.invert = scale < 0
            bump.inputs["Distance"].default_value = abs(scale) * _HEIGHT_UNIT
            self.link(height_socket, bump.inputs["Height"])
            if normal is not None:
                self.link(normal, bump.inputs["Normal"])
            normal = bump.outputs["Normal"]
        return normal

    def _declared(self, role: Role) -> ImageExpression | None:
        """The expression of the declaration for a role, if its images were found and are used."""
        found, declaration = self._found, self._found.declaration
        if declaration is None:
            return None
        expression = {
            Role.DIFFUSE: declaration.diffuse if declaration.diffuse is not None else declaration.fallback,
            Role.SPECULAR: declaration.specular,
            Role.GLOW: declaration.glow,
            Role.NORMAL: declaration.bump,
            Role.ALPHA: declaration.alpha_image,
        }.get(role)
        files = {found.maps.get(use.name) for use in map_uses(expression)} - {None}
        used = found.images.values() if role is Role.NORMAL else [found.images.get(role)]
        return None if files.isdisjoint(used) else expression

    def _expression(self, role: Role) -> ImageExpression | None:
        """The declared expression of a role, else its image."""
        image = self._found.images.get(role)
        return self._declared(role) or (MapImage(str(image)) if image is not None else None)

    def _load(self, file: GameFile, role: Role) -> Image | None:
        is_data = role in (Role.NORMAL, Role.HEIGHT, Role.SPECULAR, Role.MASKS)
        try:
            return self._store.get(file, is_data=is_data)
        except ImageError as error:
            if str(error) not in self._warnings:
                self._warnings.append(str(error))
            return None

    def _image(self, file: GameFile, role: Role) -> _Channels | None:
        image = self._load(file, role)
        if image is None:
            return None
        if image not in self._images:
            node = self.add("ShaderNodeTexImage", 4, role.value.title())
            node.image = image
            self._images[image] = node
        outputs = self._images[image].outputs
        return _Channels(outputs["Color"], outputs["Alpha"])

    def _channels(self, expression: ImageExpression, role: Role) -> _Channels | None:
        if isinstance(expression, MapImage):
            file = self._files.get(expression.name)
            return self._image(file, role) if file is not None else None
        if isinstance(expression, BuiltIn):
            if expression.color is None:
                return None
            return self.constant(expression.color, expression.name)
        parts = [part for image in expression.images if (part := self._channels(image, role)) is not None]
        if not parts:
            return None
        return self._call(expression, parts, role)

    def _call(self, call: Call, parts: list[_Channels], role: Role) -> _Channels:
        first = parts[0]
        if call.function == "scale":
            return self._scale(first, (*call.numbers, 1.0, 1.0, 1.0, 1.0)[:4], role)
        if call.function == "add" and len(parts) > 1:
            return _Channels(self.vector_math("ADD", first.color, parts[1].color), first.alpha)
        if call.function == "invertcolor":
            return _Channels(self.inverted(first.color), first.alpha)
        if call.function == "invertalpha" and first.alpha is not None:
            return _Channels(first.color, self.math("SUBTRACT", 1.0, first.alpha))
        if call.function == "makeintensity":
            node = self.add("ShaderNodeSeparateColor", 3)
            self.link(first.color, node.inputs["Color"])
            return _Channels(node.outputs["Red"], node.outputs["Red"])
        if call.function == "makealpha":
            brightness = self._output("ShaderNodeRGBToBW", 2, first.color)
            return _Channels(self.constant((1.0, 1.0, 1.0, 1.0)).color, brightness)
        return first

    def _scale(self, channels: _Channels, factors: tuple[float, ...], role: Role) -> _Channels:
        is_color = role in (Role.DIFFUSE, Role.ALPHA)
        color, alpha = channels.color, channels.alpha
        if factors[:3] != (1.0, 1.0, 1.0):
            linear = [max(factor, 0.0) ** _GAMMA if is_color else factor for factor in factors[:3]]
            color = self.vector_math("MULTIPLY", color, linear)
        if alpha is not None and factors[3] != 1.0:
            alpha = self.math("MULTIPLY", alpha, factors[3])
        return _Channels(color, alpha)

    def _output(self, kind: str, column: int, *inputs: Any, operation: str = "", label: str = "") -> Socket:
        """The output of a new node, whose first inputs are outputs of others or values."""
        node = self.add(kind, column, label)
        if operation:
            node.operation = operation
        for target, value in zip(node.inputs, inputs, strict=False):
            if isinstance(value, bpy.types.NodeSocket):
                self.link(value, target)
            else:
                target.default_value = value
        return node.outputs[0]

    def math(self, operation: str, *inputs: Any, label: str = "") -> Socket:
        return self._output("ShaderNodeMath", 2, *inputs, operation=operation, label=label)

    def vector_math(self, operation: str, *inputs: Any) -> Socket:
        return self._output("ShaderNodeVectorMath", 3, *inputs, operation=operation)

    def inverted(self, color: Socket) -> Socket:
        return self._output("ShaderNodeInvert", 3, 1.0, color)

    def constant(self, color: tuple[float, float, float, float] | None, label: str = "") -> _Channels:
        node = self.add("ShaderNodeRGB", 3, label)
        node.outputs[0].default_value = color or (0.0, 0.0, 0.0, 1.0)
        return _Channels(node.outputs[0])

    def _relief(self, expression: ImageExpression) -> _Relief:
        if isinstance(expression, BuiltIn):
            return _Relief()
        if isinstance(expression, MapImage):
            image = self._channels(expression, Role.NORMAL)
            return _Relief(image.color if image is not None else None)
        if expression.function == "heightmap":
            image = self._channels(expression.images[0], Role.HEIGHT) if expression.images else None
            scale = expression.numbers[0] if expression.numbers else 1.0
            return _Relief(heights=[(image.color, scale)] if image is not None else [])
        parts = [self._relief(image) for image in expression.images]
        if expression.function != "addnormals":
            # XreaL's displaceMap keeps the heights in the alpha channel, for another effect.
            return parts[0] if parts else _Relief()
        result = _Relief()
        for part in parts:
            result.heights += part.heights
            if result.normals is None:
                result.normals = part.normals
            elif part.normals is not None:
                # Adds x and y of the second: its red and green minus the middle.
                middle = self.vector_math("SUBTRACT", part.normals, (0.5, 0.5, 0.0))
                result.normals = self.vector_math("MULTIPLY_ADD", middle, (1.0, 1.0, 0.0), result.normals)
        return result

    def _normal_map(self, color: Socket) -> Socket:
        node = self.add("ShaderNodeNormalMap", 1)
        if not versions.set_green_down(node):
            flip = self.add("ShaderNodeRGBCurve", 2, "Green Down to Up")
            green = flip.mapping.curves[1]
            green.points[0].location = (0.0, 1.0)
            green.points[1].location = (1.0, 0.0)
            flip.mapping.update()
            self.link(color, flip.inputs["Color"])
            color = flip.outputs["Color"]
        self.link(color, node.inputs["Color"])
        return node.outputs["Normal"]
