"""The panels *MD3* in the Properties editor, and the properties that they edit, which scripts can use too."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy

from ...io_blender.operators import find_images, sequence_player
from ...io_blender.operators.panel_parts import ImportedPanel
from ...io_blender.operators.sequence_player import PlayedSequence, draw_sequences
from ...io_blender.records import SourceFrames, has_record
from ...io_common.textures.config_files import MaterialImages
from ...io_common.textures.search import Search
from ..options import TEXTURE_RULES
from ..records import GROUP, SEQUENCES, SHADERS, load_frames, root_of

if TYPE_CHECKING:
    from bpy.types import Context, Material, Object


def _find(search: Search, model: Path, material: Material, name: str) -> MaterialImages:
    meshes = [mesh for mesh in bpy.data.meshes if has_record(mesh, GROUP) and material in mesh.materials[:]]
    return search.model(model, [name]).material(name, meshes[0].name if meshes else None)


class MATERIAL_OT_md3_find_images(find_images.FindImages, bpy.types.Operator):
    """Search the images of the shader again, and rebuild the material's nodes"""

    bl_idname = "material.md3_find_images"
    bl_label = "Look Up Images (MD3)"

    record = SHADERS
    rules = TEXTURE_RULES
    find = staticmethod(_find)


class _Player(sequence_player.Player):
    family, label = "md3", "MD3"

    def sequences(self, obj: Object | None) -> list[PlayedSequence]:
        root = root_of(obj)
        frames = load_frames(root)
        found = SEQUENCES.read(root) if frames is not None else None
        if frames is None or found is None:
            return []
        start = frames.frame_start
        return [PlayedSequence(one.name, one.first, one.last, start, one.frame_rate) for one in found.found]

    def shown(self, obj: Object) -> list[tuple[Object, SourceFrames]]:
        root = root_of(obj)
        frames = load_frames(root)
        if root is None or frames is None:
            return []
        meshes = [one for one in root.children if one.type == "MESH" and has_record(one.data, GROUP)]
        return [(one, frames) for one in meshes]


PLAYER = _Player()


class OBJECT_OT_md3_play_sequence(sequence_player.PlaySequence, bpy.types.Operator):
    """Set the frame rate and range of the scene to those of a sequence of the active MD3 model"""

    bl_idname = "object.md3_play_sequence"
    bl_label = "Play Sequence (MD3)"
    player = PLAYER


class OBJECT_OT_md3_step_sequence(sequence_player.StepSequence, bpy.types.Operator):
    """Play the next or previous sequence of the active MD3 model"""

    bl_idname = "object.md3_step_sequence"
    bl_label = "Step Through Sequences (MD3)"
    player = PLAYER


class IO_MD3_UL_sequences(sequence_player.SequenceList, bpy.types.UIList):
    """The sequences of a model."""


class DATA_PT_md3(ImportedPanel, bpy.types.Panel):
    """The sequences and the shader of a surface of an imported model."""

    bl_label = "MD3"
    kind, group = "MESH", GROUP

    def draw_object(self, context: Context, obj: Any) -> None:
        draw_sequences(self.layout, context, PLAYER, obj)
        find_images.draw_names(self.layout, obj.data, "md3_shader", MATERIAL_OT_md3_find_images)


class MATERIAL_PT_md3(find_images.MaterialPanel, bpy.types.Panel):
    """The shader of an imported material."""

    bl_label = "MD3"

    record = SHADERS
    attribute = "md3_shader"
    button = MATERIAL_OT_md3_find_images.bl_idname


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
    OBJECT_OT_md3_play_sequence,
    OBJECT_OT_md3_step_sequence,
    IO_MD3_UL_sequences,
    MATERIAL_OT_md3_find_images,
    DATA_PT_md3,
    MATERIAL_PT_md3,
)
