"""The panels *MD3* in the Properties editor, and the properties that they edit, which scripts can use too."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy

from ...io_blender.operators import find_images, sequence_player
from ...io_blender.operators.panel_parts import ImportedPanel
from ...io_blender.operators.sequence_player import PlayedModel, PlayedSequence, Player, draw_sequences
from ...io_blender.records import has_record
from ...io_common.textures.config_files import MaterialImages
from ...io_common.textures.search import Search
from ..options import TEXTURE_RULES
from ..records import GROUP, SEQUENCES, SHADERS, load_frames, root_of

if TYPE_CHECKING:
    from bpy.types import Context, Material, Object


def _find(search: Search, model: Path, material: Material, name: str) -> MaterialImages:
    meshes = [mesh for mesh in bpy.data.meshes if has_record(mesh, GROUP) and material in mesh.materials[:]]
    return search.model(model, [name]).material(name, meshes[0].name if meshes else None)


def _played_model(obj: Object | None) -> PlayedModel | None:
    root = root_of(obj)
    frames = load_frames(root)
    found = SEQUENCES.read(root) if frames is not None else None
    if root is None or frames is None or found is None or not found.found:
        return None
    meshes = [one for one in root.children if one.type == "MESH" and has_record(one.data, GROUP)]
    sequences = [PlayedSequence(one.name, one.first, one.last, one.frame_rate) for one in found.found]
    return PlayedModel(frames, meshes, sequences)


PLAYER = Player("md3", _played_model)


class DATA_PT_md3(ImportedPanel, bpy.types.Panel):
    """The sequences and the shader of a surface of an imported model."""

    bl_label = "MD3"
    kind, group = "MESH", GROUP

    def draw_object(self, context: Context, obj: Any) -> None:
        draw_sequences(self.layout, context, PLAYER, obj)
        find_images.draw_names(self.layout, obj.data, SHADERS)


PROPERTIES: tuple[tuple[Any, str, Any], ...] = (
    *sequence_player.properties_of(PLAYER),
    (
        bpy.types.Material,
        "md3_shader",
        find_images.name_property(
            SHADERS,
            "Shader",
            "Name of the material in MD3 files: the path of an image or a shader. Empty: the name of the material",
        ),
    ),
)

CLASSES = (
    *sequence_player.classes_of(PLAYER),
    *find_images.classes_of(
        SHADERS, TEXTURE_RULES, _find, "Search the images of the shader again, and rebuild the material's nodes"
    ),
    DATA_PT_md3,
)
