"""The MD2 family in Blender: operators, panels, and the imports and exports of the command line."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import FloatProperty, IntVectorProperty

from ...io_blender import reports
from ...io_blender.frames.operators.frame_operators import FrameExport, FrameExportFile, FrameFormat, FrameImport
from ...io_blender.frames.operators.sequence_player import Playable, SequencePlayer, playable_keys
from ...io_blender.frames.options import FrameImportProperties, ImportOptions
from ...io_blender.frames.shape_keys import shape_keys
from ...io_blender.operators import find_images, panel_parts
from ...io_blender.operators.panel_parts import ImportedPanel, OperatorResult, fail, split_layout
from ...io_blender.options import game_option, mixin_of, option, properties
from ...io_common.textures.conventions import MaterialImages
from ...io_common.textures.search import Search
from ..exporting import build_model
from ..family import FAMILY
from ..format import FRAMES_PER_SECOND, PROFILES, find_sequences
from ..format.games import TEXTURE_RULES, match_template
from ..importing import import_files
from ..options import ExportOptions, ModelProperties
from ..records import CHOSEN_SKIN_SIZE, FRAME_RATE, GROUP, MAX_RATE, MAX_SKIN_SIZE, SKINS, load_model, load_skin_size

if TYPE_CHECKING:
    from bpy.types import Context, Material, Object, UILayout

    _ImportOptions = FrameImportProperties
    _ModelOptions = ModelProperties
else:
    _ImportOptions = mixin_of(FrameImportProperties)
    _ModelOptions = mixin_of(ModelProperties)

FORMAT = FrameFormat(FAMILY, ImportOptions, import_files, ExportOptions, build_model)


@properties
class IMPORT_SCENE_OT_md2(_ImportOptions, FrameImport, bpy.types.Operator):
    """Import MD2 models of Quake II and related games, with frames as shape keys"""

    bl_idname = "import_scene.md2"
    bl_label = "Import MD2"

    format, filename_ext = FORMAT, ".md2"
    filter_glob: str = option("*.md2", options={"HIDDEN"})


@properties
class BuildOptions(_ModelOptions, FrameExport):
    """The properties that decide what is exported, and the options made from them."""

    format, family, profiles = FORMAT, "md2", PROFILES
    game: str = game_option(PROFILES)


@properties
class EXPORT_SCENE_OT_md2(BuildOptions, FrameExportFile, bpy.types.Operator):
    """Export meshes as one MD2 model, with frames from shape keys or from the scene"""

    bl_idname = "export_scene.md2"
    bl_label = "Export MD2"

    filename_ext = ".md2"
    filter_glob: str = option("*.md2", options={"HIDDEN"})

    def draw_frames(self, layout: UILayout) -> None:
        panel_parts.draw_wide(layout, self, "one_box")

    def draw_model(self, layout: UILayout) -> None:
        panel_parts.draw_wide(layout, self, "split_sharp")
        layout.prop(self, "skin_size_from")
        layout.prop(self, "skin_size", text="Fallback Size" if self.skin_size_from == "AUTO" else "Size")

    def draw_template(self, layout: UILayout) -> None:
        layout.prop(self, "sequence_template")

    def problems_of(self, path: Path, chosen: list[tuple[str, int]]) -> tuple[str, list[str]]:
        return "Not yet a Quake II player:", match_template(self.sequence_template, chosen)[1]


# The panels in the Properties editor, and the properties that they edit, which scripts can use too


def _find(search: Search, model: Path, material: Material, name: str) -> MaterialImages:
    return search.model(model, [name]).skins()[0]


def _played_model(obj: Object | None) -> Playable | None:
    model = load_model(obj.data) if obj is not None and obj.type == "MESH" else None
    if obj is None or model is None or not model.key_names:
        return None
    found, rate = find_sequences(model.frame_names), FRAME_RATE.read(obj.data) or FRAMES_PER_SECOND
    return playable_keys(model, [obj], found, [rate] * len(found))


def _current_key(obj: Object, context: Context) -> int:
    """The index of the shape key that an imported model shows at the frame of the scene, or -1."""
    keys, model = shape_keys(obj), load_model(obj.data)
    index = context.scene.frame_current - model.frame_start if model is not None else -1
    if keys is None or model is None or not 0 <= index < len(model.key_names):
        return -1
    return int(keys.key_blocks.find(model.key_names[index]))


class OBJECT_OT_md2_select_key(bpy.types.Operator):
    """Select the shape key of the current frame, so that an edit in Edit Mode changes this frame only"""

    bl_idname = "object.md2_select_key"
    bl_label = "Select Shape Key of Frame (MD2)"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        obj = context.view_layer.objects.active
        return obj is not None and obj.type == "MESH" and shape_keys(obj) is not None

    def execute(self, context: Context) -> OperatorResult:
        obj = context.view_layer.objects.active
        assert obj is not None
        index = _current_key(obj, context)
        if index < 0:
            return fail(self, f"{obj.name} has no shape key for frame {context.scene.frame_current}")
        obj.active_shape_key_index = index
        keys: Any = shape_keys(obj)
        if index == 0 and keys.use_relative:
            reports.report_message(
                self,
                "WARNING",
                f"{keys.key_blocks[0].name} is the basis: an edit of it changes all frames. To change this frame "
                "alone, import with Shape Keys: Absolute",
            )
        return {"FINISHED"}


def _draw_key(layout: Any, context: Context, obj: Any) -> None:
    """Draws the button that selects the shape key of the frame, if another one is active."""
    index = _current_key(obj, context)
    if index >= 0 and index != obj.active_shape_key_index:
        keys = obj.data.shape_keys.key_blocks
        layout.label(text=f"Edit Mode edits {keys[obj.active_shape_key_index].name}", icon="ERROR")
        text = f"Select Shape Key {keys[index].name}"
        layout.operator(OBJECT_OT_md2_select_key.bl_idname, text=text, icon="SHAPEKEY_DATA")


PLAYER = SequencePlayer("md2", _played_model, _draw_key)


class DATA_PT_md2(ImportedPanel, bpy.types.Panel):
    """The frame rate and the size of the skin of an imported model."""

    bl_label = "MD2"
    kind, group = "MESH", GROUP

    def draw(self, context: Context) -> None:
        obj: Any = context.object
        layout = split_layout(self)
        if load_model(obj.data) is None:
            layout.label(text="The stored data is damaged: it is not used", icon="ERROR")
        layout.prop(obj.data, "md2_frame_rate")
        layout.prop(obj.data, "md2_skin_size")


def _skin_size(mesh: Any) -> tuple[int, int]:
    """The size that the user has set, else that of the file; zeros if there is neither."""
    chosen = load_skin_size(mesh)
    if chosen is not None:
        return chosen
    model = load_model(mesh)
    return model.skin_size if model is not None else (0, 0)


def _set_skin_size(mesh: Any, size: tuple[int, int]) -> None:
    """Stores a size that differs from that of the file; zeros and the size of the file remove it."""
    model = load_model(mesh)
    differs = all(size) and (model is None or tuple(size) != model.skin_size)
    CHOSEN_SKIN_SIZE.write(mesh, size if differs else None)


_SKIN = find_images.name_property(
    SKINS, "Skin", "Name of the material in MD2 files: the path of an image. Empty: the name of the material"
)
_FRAME_RATE = FloatProperty(
    name="Frame Rate",
    description="Frames per second at which the sequences are played. The file has none; Quake II plays 10",
    min=0.01,
    max=MAX_RATE,
    soft_min=1.0,
    soft_max=60.0,
    get=lambda mesh: FRAME_RATE.read(mesh) or FRAMES_PER_SECOND,
    # Blender takes functions, but no methods.
    set=lambda mesh, rate: FRAME_RATE.write(mesh, rate),
)
_SKIN_SIZE = IntVectorProperty(
    name="Skin Size",
    description="Width and height of the skin in pixels, to which exports fit the texture coordinates. Zeros: the size "
    "of the file",
    size=2,
    min=0,
    max=MAX_SKIN_SIZE,
    get=_skin_size,
    set=_set_skin_size,
)
_PROPERTIES: tuple[tuple[Any, str, Any], ...] = (
    (bpy.types.Material, "md2_skin", _SKIN),
    (bpy.types.Mesh, "md2_frame_rate", _FRAME_RATE),
    (bpy.types.Mesh, "md2_skin_size", _SKIN_SIZE),
)

_CLASSES = (
    *find_images.classes_of(
        SKINS, TEXTURE_RULES, _find, "Search the image of the skin again, and rebuild the material's nodes"
    ),
    OBJECT_OT_md2_select_key,
    DATA_PT_md2,
)

BLENDER = FORMAT.blender_part(IMPORT_SCENE_OT_md2, EXPORT_SCENE_OT_md2, BuildOptions, PLAYER, _CLASSES, _PROPERTIES)
