"""The panels *MD2* in the Properties editor, and the properties that they edit, which scripts can use too."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import CollectionProperty, FloatProperty, IntProperty, IntVectorProperty

from ...io_blender import reports, versions
from ...io_blender.operators import find_images
from ...io_blender.operators.panel_parts import (
    ImportedPanel,
    RowList,
    draw_player,
    fail,
    set_timing,
    step_option,
    stepped,
)
from ...io_blender.options import option, properties
from ...io_blender.reports import printable
from ...io_blender.scene.shape_keys import shape_keys
from ...io_common.textures.config_files import MaterialImages
from ...io_common.textures.search import Search
from ..format import FRAMES_PER_SECOND, FrameSequence, find_sequences
from ..options import TEXTURE_RULES
from ..records import (
    CHOSEN_SKIN_SIZE,
    FRAME_RATE,
    GROUP,
    MAX_RATE,
    MAX_SKIN_SIZE,
    SKINS,
    StoredModel,
    load_model,
    load_skin_size,
)

if TYPE_CHECKING:
    from bpy.types import Action, Context, Material, Object

    from ...io_blender.operators.panel_parts import OperatorResult


def _find(search: Search, model: Path, material: Material, name: str) -> MaterialImages:
    del material
    return search.model(model, [name]).skins()[0]


class MATERIAL_OT_md2_find_images(find_images.FindImages, bpy.types.Operator):
    """Search the image of the skin again, and rebuild the material's nodes"""

    bl_idname = "material.md2_find_images"
    bl_label = "Look Up Images (MD2)"

    record = SKINS
    rules = TEXTURE_RULES
    find = staticmethod(_find)


def stored_model(obj: Object | None) -> StoredModel | None:
    """The model that a mesh object was imported from; None if it was not."""
    return load_model(obj.data) if obj is not None and obj.type == "MESH" else None


def playable_sequences(model: StoredModel | None) -> list[FrameSequence]:
    """The sequences of a model that has shape keys."""
    return find_sequences(model.frame_names) if model is not None and model.key_names else []


def active_object(context: Context) -> Object | None:
    """The object of the panel, else the active one."""
    return getattr(context, "object", None) or context.view_layer.objects.active


def _played_index(context: Context, model: StoredModel, found: list[FrameSequence]) -> int:
    """The sequence whose range is that of the scene, or -1."""
    first = context.scene.frame_start - model.frame_start
    last = context.scene.frame_end - model.frame_start
    ranges = [(sequence.first, sequence.last) for sequence in found]
    return ranges.index((first, last)) if (first, last) in ranges else -1


def _plays_all(action: Action, model: StoredModel) -> bool:
    """Whether an action of shape keys plays every frame of a model at its place."""
    # The stubs say that a range is a Vector, which has no iterator there.
    in_scene: Any = action
    last = model.frame_start + len(model.frame_names) - 1
    start, end = in_scene.frame_range
    paths = {curve.data_path for curve in versions.action_fcurves(action, "KEY")}
    names = {f'key_blocks["{bpy.utils.escape_identifier(name)}"].value' for name in model.key_names[1:]}
    return (start, end) == (model.frame_start, last) and ("eval_time" in paths or names <= paths)


def _show_all_frames(obj: Object, model: StoredModel) -> bool:
    """Makes an action that plays all frames the active one of the shape keys; whether there is one."""
    keys = shape_keys(obj)
    if keys is None:
        return False
    data = keys.animation_data or keys.animation_data_create()
    active = data.action
    if active is not None and _plays_all(active, model):
        return True
    # That of the model has its name or begins with it.
    others = sorted(bpy.data.actions, key=lambda action: not action.name.startswith(obj.data.name))
    found = next((action for action in others if _plays_all(action, model)), None)
    if found is None:
        return False
    versions.assign_action(data, found, "KEY")
    return True


def _play(operator: Any, context: Context, obj: Object, index: int) -> OperatorResult:
    model = stored_model(obj)
    found = playable_sequences(model)
    if model is None or not 0 <= index < len(found):
        return fail(operator, f"{obj.name} has no such sequence")
    sequence = found[index]
    if not _show_all_frames(obj, model):
        reports.report_message(
            operator,
            "WARNING",
            f"no action plays all frames of {obj.name} in their order, so this may not be {sequence.name}",
        )
    start, end = model.frame_start + sequence.first, model.frame_start + sequence.last
    set_timing(operator, context, start, end, FRAME_RATE.read(obj.data) or FRAMES_PER_SECOND)
    context.scene.frame_set(start)
    return {"FINISHED"}


def _is_mesh_active(cls: type, context: Context) -> bool:
    del cls
    obj = active_object(context)
    return obj is not None and obj.type == "MESH"


@properties
class OBJECT_OT_md2_play_sequence(bpy.types.Operator):
    """Set the frame rate and range of the scene to those of a sequence of the active MD2 model"""

    bl_idname = "object.md2_play_sequence"
    bl_label = "Play Sequence (MD2)"
    bl_options = {"REGISTER", "UNDO"}

    sequence: str = option("", "Sequence", "Name of the sequence, such as run", options={"SKIP_SAVE"})
    index: int = option(
        0,
        "Index",
        "Which of the model's sequences, from 0, if no name is given",
        min=0,
        options={"SKIP_SAVE"},
    )
    poll: Any = classmethod(_is_mesh_active)

    def execute(self, context: Context) -> OperatorResult:
        obj = active_object(context)
        assert obj is not None
        if not self.sequence:
            return _play(self, context, obj, self.index)
        found = playable_sequences(stored_model(obj))
        names = [printable(sequence.name) for sequence in found]
        if self.sequence not in names:
            return fail(self, f"{obj.name} has no sequence {self.sequence!r}")
        return _play(self, context, obj, names.index(self.sequence))


@properties
class OBJECT_OT_md2_step_sequence(bpy.types.Operator):
    """Play the next or previous sequence of the active MD2 model"""

    bl_idname = "object.md2_step_sequence"
    bl_label = "Step Through Sequences (MD2)"
    bl_options = {"REGISTER", "UNDO"}

    step: int = step_option("sequences")
    poll: Any = classmethod(_is_mesh_active)

    def execute(self, context: Context) -> OperatorResult:
        obj = active_object(context)
        model = stored_model(obj)
        found = playable_sequences(model)
        if obj is None or model is None or not found:
            return fail(self, "The object has no sequences: select an imported MD2 model")
        index = stepped(_played_index(context, model, found), self.step, len(found))
        return _play(self, context, obj, index)


@properties
class IO_MD2_PG_sequence(bpy.types.PropertyGroup):
    """A sequence of the active model."""

    name: str = option("", "Name", "Name of the sequence")
    first: int = option(0, "First Frame", "First frame in the file, counted from 0")
    frame_count: int = option(0, "Frames", "Number of frames")


class IO_MD2_UL_sequences(RowList, bpy.types.UIList):
    """The sequences of a model."""

    def draw_row(self, layout: Any, item: Any, index: int) -> None:
        del index
        row = layout.row(align=True)
        row.label(text=item.name or "(no name)", icon="ACTION")
        numbers = row.row()
        numbers.alignment = "RIGHT"
        numbers.label(text=f"{item.first} to {item.first + item.frame_count - 1}")


def _draw_sequences(layout: Any, context: Context, model: StoredModel) -> None:
    found = playable_sequences(model)
    if not found:
        layout.label(text="Imported without shape keys", icon="INFO")
        return
    manager: Any = context.window_manager
    # The window manager may be changed while a panel is drawn.
    _fill(manager, found)
    names = ("md2_sequences", manager, "md2_active_sequence")
    layout.template_list("IO_MD2_UL_sequences", "", manager, *names, rows=4)
    step = OBJECT_OT_md2_step_sequence.bl_idname
    draw_player(layout, step, _played_index(context, model, found), len(found), "sequences")


def _fill(manager: Any, found: list[FrameSequence]) -> None:
    rows = [(printable(sequence.name), sequence.first, sequence.frame_count) for sequence in found]
    if rows == [(item.name, item.first, item.frame_count) for item in manager.md2_sequences]:
        return
    manager.md2_sequences.clear()
    for name, first, count in rows:
        item = manager.md2_sequences.add()
        item.name, item.first, item.frame_count = name, first, count


def _index(manager: Any) -> int:
    del manager
    model = stored_model(active_object(bpy.context))
    return _played_index(bpy.context, model, playable_sequences(model)) if model is not None else -1


def _click(manager: Any, index: int) -> None:
    del manager
    if index >= 0 and OBJECT_OT_md2_play_sequence.poll(bpy.context):
        operators: Any = bpy.ops.object
        operators.md2_play_sequence("EXEC_DEFAULT", True, index=index)


def key_of_frame(obj: Object, model: StoredModel, frame: int) -> int:
    """The index of the shape key that an imported model shows at a frame of the scene, or -1."""
    keys = shape_keys(obj)
    index = frame - model.frame_start
    if keys is None or not 0 <= index < len(model.key_names):
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
        model = load_model(obj.data)
        index = key_of_frame(obj, model, context.scene.frame_current) if model is not None else -1
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


class DATA_PT_md2(ImportedPanel, bpy.types.Panel):
    """The sequences and the skin of an imported model."""

    bl_label = "MD2"
    kind, group = "MESH", GROUP

    def draw_object(self, context: Context, obj: Any) -> None:
        layout: Any = self.layout
        model = load_model(obj.data)
        if model is None:
            layout.label(text="The stored data is damaged: it is not used", icon="ERROR")
        else:
            _draw_sequences(layout, context, model)
            index = key_of_frame(obj, model, context.scene.frame_current)
            if index >= 0:
                text = f"Select Shape Key {obj.data.shape_keys.key_blocks[index].name}"
                layout.operator(OBJECT_OT_md2_select_key.bl_idname, text=text, icon="SHAPEKEY_DATA")
        column = layout.column()
        column.use_property_split = True
        column.use_property_decorate = False
        column.prop(obj.data, "md2_frame_rate")
        column.prop(obj.data, "md2_skin_size")
        find_images.draw_names(column, obj.data, "md2_skin", MATERIAL_OT_md2_find_images)


class MATERIAL_PT_md2(find_images.MaterialPanel, bpy.types.Panel):
    """The skin of an imported material."""

    bl_label = "MD2"

    record = SKINS
    attribute = "md2_skin"
    button = MATERIAL_OT_md2_find_images.bl_idname


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


PROPERTIES: tuple[tuple[Any, str, Any], ...] = (
    (
        bpy.types.WindowManager,
        "md2_sequences",
        CollectionProperty(type=IO_MD2_PG_sequence, options={"SKIP_SAVE"}),
    ),
    (
        bpy.types.WindowManager,
        "md2_active_sequence",
        IntProperty(
            name="Active Sequence",
            description="Index of the sequence that plays among those of the active model. Setting it plays one",
            get=_index,
            set=_click,
            options={"SKIP_SAVE"},
        ),
    ),
    (
        bpy.types.Material,
        "md2_skin",
        find_images.name_property(
            SKINS,
            "Skin",
            "Name of the material in MD2 files: the path of an image. Empty: the name of the material",
        ),
    ),
    (
        bpy.types.Mesh,
        "md2_frame_rate",
        FloatProperty(
            name="Frame Rate",
            description="Frames per second at which the sequences are played. The file has none; Quake II plays 10",
            min=0.01,
            max=MAX_RATE,
            soft_min=1.0,
            soft_max=60.0,
            get=lambda mesh: FRAME_RATE.read(mesh) or FRAMES_PER_SECOND,
            # Blender takes functions, but no methods.
            set=lambda mesh, rate: FRAME_RATE.write(mesh, rate),
        ),
    ),
    (
        bpy.types.Mesh,
        "md2_skin_size",
        IntVectorProperty(
            name="Skin Size",
            description="Width and height of the skin in pixels, to which exports fit the texture coordinates. "
            "Zeros: the size of the file",
            size=2,
            min=0,
            max=MAX_SKIN_SIZE,
            get=_skin_size,
            set=_set_skin_size,
        ),
    ),
)

CLASSES = (
    IO_MD2_PG_sequence,
    OBJECT_OT_md2_play_sequence,
    OBJECT_OT_md2_step_sequence,
    IO_MD2_UL_sequences,
    OBJECT_OT_md2_select_key,
    MATERIAL_OT_md2_find_images,
    DATA_PT_md2,
    MATERIAL_PT_md2,
)
