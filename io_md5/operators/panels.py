"""The panels *MD5* in the Properties editor and the sidebar of the dope sheet, and the properties that they edit.

The properties read and write what an import stores, and scripts can use them too. Without such data they have the value
that an export would use.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import FloatProperty, IntProperty, StringProperty

from ...io_common.counting import counted
from ...io_common.materials import source as material_source
from ...io_common.operators import find_images
from ...io_common.operators.warnings_panel import draw_warnings
from ...io_common.reports import printable
from ...io_common.scene import stored_values
from ...io_common.scene.stored_warnings import load_warnings
from ...io_common.textures.material_images import MaterialImages
from ...io_common.textures.search import Search
from ..shaders import SHADERS
from ..source import GROUP, actions, bones, camera, meshes
from ..texture_rules import TEXTURE_RULES
from . import animations

if TYPE_CHECKING:
    from bpy.types import Context, Material

_MAX_RATE = 1e4
_MAX_INDEX = 65_535


def _is_imported(data: Any) -> bool:
    """Whether an import of this family made a data-block, or the user has stored something for its files."""
    return bool(data is not None and stored_values.read_group(data, GROUP))


def _find(search: Search, model: Path, material: Material, name: str) -> MaterialImages:
    mesh = next((mesh for mesh in bpy.data.meshes if material.name in mesh.materials), None)
    mesh_name = meshes.load_name(mesh) if mesh is not None else ""
    return search.model(model, [name]).material(name, mesh_name or None)


class MATERIAL_OT_md5_find_images(find_images.FindImages, bpy.types.Operator):
    """Search the images of the shader again, and build the nodes of the material anew"""

    bl_idname = "material.md5_find_images"
    bl_label = "Look Up Images (MD5)"
    bl_options = {"REGISTER", "UNDO"}

    family = SHADERS
    rules = TEXTURE_RULES
    find = staticmethod(_find)


def _split(panel: bpy.types.Panel) -> Any:
    """The layout of a panel, with labels beside the values."""
    layout: Any = panel.layout
    layout.use_property_split = True
    layout.use_property_decorate = False
    return layout


class DATA_PT_md5_armature(bpy.types.Panel):
    """The animations of an imported armature, and the warnings of the last import."""

    bl_label = "MD5"
    bl_space_type = "PROPERTIES"
    bl_region_type = "WINDOW"
    bl_context = "data"

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Whether the active object is an armature that was imported, or has imported actions."""
        obj = context.object
        if obj is None or obj.type != "ARMATURE":
            return False
        return _is_imported(obj.data) or _is_imported(animations.active_action(obj))

    def draw(self, context: Context) -> None:
        """Draws the list of animations and the warnings."""
        obj = context.object
        assert obj is not None
        animations.draw(self.layout, context, obj)
        action = animations.active_action(obj)
        if action is not None:
            _split(self).prop(action, "md5_frame_rate")
        draw_warnings(self.layout, context, "DATA_PT_md5_warnings", load_warnings(obj.data, GROUP))


class DATA_PT_md5_mesh(bpy.types.Panel):
    """The shaders of an imported mesh."""

    bl_label = "MD5"
    bl_space_type = "PROPERTIES"
    bl_region_type = "WINDOW"
    bl_context = "data"

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Whether the active object is a mesh that was imported."""
        return (
            context.object is not None and context.object.type == "MESH" and _is_imported(context.object.data)
        )

    def draw(self, context: Context) -> None:
        """Draws the index and name in the file, and the shaders."""
        layout = _split(self)
        obj = context.object
        assert obj is not None
        mesh: Any = obj.data
        index = meshes.load_index(mesh)
        name = printable(meshes.load_name(mesh))
        if index is not None:
            layout.label(text=f"Mesh {index} of the file{f', {name}' if name else ''}")
        for material in dict.fromkeys(mesh.materials):
            if material is not None:
                find_images.draw_name(layout, material, "md5_shader", MATERIAL_OT_md5_find_images.bl_idname)
        armature = obj.find_armature()
        if armature is not None:
            draw_warnings(layout, context, "DATA_PT_md5_warnings", load_warnings(armature.data, GROUP))


class MATERIAL_PT_md5(find_images.MaterialPanel, bpy.types.Panel):
    """The shader of an imported material."""

    bl_label = "MD5"

    family = SHADERS
    group = GROUP
    attribute = "md5_shader"
    button = MATERIAL_OT_md5_find_images.bl_idname


class BONE_PT_md5(bpy.types.Panel):
    """The joint of an imported bone."""

    bl_label = "MD5"
    bl_space_type = "PROPERTIES"
    bl_region_type = "WINDOW"
    bl_context = "bone"

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Whether a bone of an imported armature is active, in Object or Pose Mode."""
        if context.bone is None or context.object is None:
            return False
        return _is_imported(context.bone) or _is_imported(context.object.data)

    def draw(self, context: Context) -> None:
        """Draws the name and index of the joint."""
        layout = _split(self)
        layout.prop(context.bone, "md5_joint_name")
        layout.prop(context.bone, "md5_joint_index")


class DATA_PT_md5_camera(bpy.types.Panel):
    """The path of an imported camera."""

    bl_label = "MD5"
    bl_space_type = "PROPERTIES"
    bl_region_type = "WINDOW"
    bl_context = "data"

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Whether the active object is a camera that was imported."""
        return (
            context.object is not None
            and context.object.type == "CAMERA"
            and _is_imported(context.object.data)
        )

    def draw(self, context: Context) -> None:
        """Draws the frame rate and the warnings."""
        obj = context.object
        assert obj is not None
        layout = _split(self)
        layout.prop(obj.data, "md5_frame_rate")
        marker = camera.load_cut_marker(obj.data)
        if marker:
            layout.label(text=f'Cuts are the timeline markers "{printable(marker)}"', icon="MARKER")
        draw_warnings(layout, context, "DATA_PT_md5_warnings", load_warnings(obj.data, GROUP))


class DOPESHEET_PT_md5_action(bpy.types.Panel):
    """The frame rate of an imported action; Blender's Properties editor has no tab for actions."""

    bl_label = "MD5"
    bl_space_type = "DOPESHEET_EDITOR"
    bl_region_type = "UI"
    bl_category = "Action"

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Whether the active action was imported."""
        return _is_imported(_active_action(context))

    def draw(self, context: Context) -> None:
        """Draws the frame rate, and how it repeats."""
        layout = _split(self)
        action: Any = _active_action(context)
        layout.prop(action, "md5_frame_rate")
        start, end = animations.frames_of(action, context)
        repeats = ", the last repeats the first" if action.use_cyclic else ""
        layout.label(text=counted(round(end - start) + 1, "frames") + repeats)


def _active_action(context: Context) -> Any:
    found = getattr(context, "active_action", None)
    if found is not None:
        return found
    armature = animations.armature_in(context)
    return animations.active_action(armature) if armature is not None else None


def _set_shader(material: Any, name: str) -> None:
    material_source.change_name(material, SHADERS, name)


_PROPERTIES: tuple[tuple[Any, str, Any], ...] = (
    (
        bpy.types.Material,
        "md5_shader",
        StringProperty(
            name="Shader",
            description="Name of the material in .md5mesh files. Empty: the name of the material",
            get=lambda material: printable(find_images.file_name(material, SHADERS)),
            set=_set_shader,
        ),
    ),
    (
        bpy.types.Action,
        "md5_frame_rate",
        FloatProperty(
            name="Frame Rate",
            description="Frames per second in .md5anim files; 0 for the frame rate of the scene",
            min=0.0,
            max=_MAX_RATE,
            soft_max=120.0,
            get=lambda action: actions.load_action(action).frame_rate or 0.0,
            set=actions.change_frame_rate,
        ),
    ),
    (
        bpy.types.Camera,
        "md5_frame_rate",
        FloatProperty(
            name="Frame Rate",
            description="Frames per second in .md5camera files; 0 for the frame rate of the scene",
            min=0.0,
            max=_MAX_RATE,
            soft_max=120.0,
            get=lambda data: camera.load_frame_rate(data) or 0.0,
            set=camera.change_frame_rate,
        ),
    ),
    (
        bpy.types.Bone,
        "md5_joint_name",
        StringProperty(
            name="Joint",
            description="Name of the joint in MD5 files. Empty: the name of the bone",
            get=lambda bone: printable(bones.load_joint_name(bone)),
            set=bones.change_joint_name,
        ),
    ),
    (
        bpy.types.Bone,
        "md5_joint_index",
        IntProperty(
            name="Index",
            description="Index of the joint in MD5 files, counted from 0. -1: after its parent",
            min=-1,
            max=_MAX_INDEX,
            get=bones.load_joint_index,
            set=bones.change_joint_index,
        ),
    ),
)

PROPERTIES = (*animations.PROPERTIES, *_PROPERTIES)

CLASSES = (
    *animations.CLASSES,
    MATERIAL_OT_md5_find_images,
    DATA_PT_md5_armature,
    DATA_PT_md5_mesh,
    MATERIAL_PT_md5,
    BONE_PT_md5,
    DATA_PT_md5_camera,
    DOPESHEET_PT_md5_action,
)
