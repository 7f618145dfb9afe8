"""The MD3 family in Blender: operators, panels, and the imports and exports of the command line."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy

from ...io_blender.frames.operators.frame_operators import FrameExport, FrameExportFile, FrameFormat, FrameImport
from ...io_blender.frames.operators.sequence_player import Playable, SequencePlayer, playable_keys
from ...io_blender.operators import find_images, panel_parts
from ...io_blender.operators.panel_parts import ImportedPanel
from ...io_blender.options import game_option, mixin_of, option, properties
from ...io_blender.records import has_record
from ...io_common.companions import match_sequences
from ...io_common.names import without_copy_suffix
from ...io_common.textures.conventions import MaterialImages
from ...io_common.textures.search import Search
from ...io_md5.format.companions import find_companion
from ..exporting import build_model
from ..family import FAMILY
from ..format import PROFILES, Game
from ..format.games import TEXTURE_RULES
from ..importing import import_files
from ..options import ExportOptions, ImportOptions, ImportProperties, ModelProperties
from ..players import find_player
from ..records import GROUP, NUMBER, SHADERS, load_frames, load_sequences, root_of

if TYPE_CHECKING:
    from bpy.types import Context, Material, Object, UILayout

    _ImportOptions = ImportProperties
    _ModelOptions = ModelProperties
else:
    _ImportOptions = mixin_of(ImportProperties)
    _ModelOptions = mixin_of(ModelProperties)

FORMAT = FrameFormat(FAMILY, ImportOptions, import_files, ExportOptions, build_model)


@properties
class IMPORT_SCENE_OT_md3(_ImportOptions, FrameImport, bpy.types.Operator):
    """Import MD3 models of Quake III and related games, with frames as shape keys and tags as empties"""

    bl_idname = "import_scene.md3"
    bl_label = "Import MD3"

    format, filename_ext = FORMAT, ".md3"
    model_options = ("merge_vertices", "custom_normals", "tags")
    filter_glob: str = option("*.md3", options={"HIDDEN"})


@properties
class BuildOptions(_ModelOptions, FrameExport):
    """The properties that decide what is exported, and the options made from them."""

    format, family, profiles = FORMAT, "md3", PROFILES
    game: str = game_option(PROFILES)


@properties
class EXPORT_SCENE_OT_md3(BuildOptions, FrameExportFile, bpy.types.Operator):
    """Export meshes as the surfaces of one MD3 model, and empties and bones named tag_… as its tags"""

    bl_idname = "export_scene.md3"
    bl_label = "Export MD3"

    filename_ext = ".md3"
    filter_glob: str = option("*.md3", options={"HIDDEN"})

    def draw_model(self, layout: UILayout) -> None:
        panel_parts.draw_wide(layout, self, "split_surfaces")
        if self.game_or_default() == Game.QUAKE.value:
            layout.prop(self, "write_skins")

    def draw_template(self, layout: UILayout) -> None:
        if self.game_or_default() == Game.QUAKE.value:
            layout.prop(self, "match_companion")

    def problems_of(self, path: Path, chosen: list[tuple[str, int]]) -> tuple[str, list[str]]:
        replaced = None
        if self.game_or_default() == Game.QUAKE.value and self.match_companion:
            replaced = find_companion(path)[0]
        if replaced is None:
            return "", []
        clips = [((name,), count) for name, count in chosen]
        return f"Does not fit {replaced.name}:", match_sequences(replaced, clips)[1]


# The panels in the Properties editor, and the properties that they edit, which scripts can use too


def _find(search: Search, model: Path, material: Material, name: str) -> MaterialImages:
    meshes = [mesh for mesh in bpy.data.meshes if has_record(mesh, GROUP) and material in mesh.materials[:]]
    found = search.model(model, [name])
    if not meshes:
        return found.material(name)
    return found.material(name, without_copy_suffix(meshes[0].name), NUMBER.read(meshes[0]) or 0)


def _played_model(obj: Object | None) -> Playable | None:
    player = find_player(bpy.context.scene, obj)
    if player is not None and player.sequences:
        return Playable(player.sequences, player.played, player.show)
    root = root_of(obj)
    frames, found = load_frames(root), load_sequences(root)
    if root is None or frames is None or not found:
        return None
    meshes = [one for one in root.children if one.type == "MESH" and has_record(one.data, GROUP)]
    return playable_keys(frames, meshes, found, [one.frame_rate for one in found])


PLAYER = SequencePlayer("md3", _played_model)


class DATA_PT_md3(ImportedPanel, bpy.types.Panel):
    """The shaders of a surface of an imported model."""

    bl_label = "MD3"
    kind, group = "MESH", GROUP

    def draw(self, context: Context) -> None:
        obj: Any = context.object
        find_images.draw_names(self.layout, obj.data, SHADERS)


_SHADER = find_images.name_property(
    SHADERS,
    "Shader",
    "Name of the material in MD3 files: the path of an image or a shader. Empty: the name of the material",
)
_PROPERTIES = ((bpy.types.Material, "md3_shader", _SHADER),)

_CLASSES = (
    *find_images.classes_of(
        SHADERS, TEXTURE_RULES, _find, "Search for the images of the shader again, and rebuild the material's nodes"
    ),
    DATA_PT_md3,
)

BLENDER = FORMAT.blender_part(IMPORT_SCENE_OT_md3, EXPORT_SCENE_OT_md3, BuildOptions, PLAYER, _CLASSES, _PROPERTIES)
