"""All that a user would miss: every data-block, and the state of scene and view layer, as plain values to compare."""

from __future__ import annotations

import bpy

_SCENE = ("frame_float", "frame_start", "frame_end", "frame_step")
_RENDER = ("fps", "fps_base", "resolution_x", "resolution_y", "pixel_aspect_x", "pixel_aspect_y", "filepath")


def collections_of_data():
    """The collections of `bpy.data`, by name."""
    return {
        prop.identifier: getattr(bpy.data, prop.identifier)
        for prop in bpy.data.bl_rna.properties
        if prop.type == "COLLECTION" and prop.identifier != "all_ids"
    }


def is_brush(data):
    """Whether a data-block belongs to Blender's own brushes, which a paint mode loads whenever it needs them."""
    return data.id_type == "BRUSH" or data.name.startswith("essentials_brushes")


def whole_state(context=None):
    """Everything, as a dictionary of plain values."""
    context = context or bpy.context
    scene, layer = context.scene, context.view_layer
    active = layer.objects.active
    result = {
        name: sorted((data.name_full, data.users, data.use_fake_user) for data in collection if not is_brush(data))
        for name, collection in collections_of_data().items()
    }
    result["scene"] = [getattr(scene, name) for name in _SCENE]
    result["render"] = [getattr(scene.render, name) for name in _RENDER]
    result["camera"] = scene.camera and scene.camera.name_full
    result["markers"] = sorted((marker.name, marker.frame) for marker in scene.timeline_markers)
    result["cursor"] = list(scene.cursor.location)
    result["active"] = active and active.name_full
    result["selected"] = sorted(obj.name_full for obj in layer.objects if obj.select_get())
    result["mode"] = context.mode
    result["edited"] = sorted(obj.name_full for obj in bpy.data.objects if obj.mode != "OBJECT")
    result["active collection"] = layer.active_layer_collection.name
    result["actions"] = [
        (obj.name_full, obj.animation_data.action and obj.animation_data.action.name_full)
        for obj in bpy.data.objects
        if obj.animation_data
    ]
    result["bones"] = {
        obj.name_full: [(bone.name, bone.rotation_mode, [list(row) for row in bone.matrix]) for bone in obj.pose.bones]
        for obj in bpy.data.objects
        if obj.pose
    }
    result["modifiers"] = [
        (obj.name_full, modifier.name, modifier.show_viewport) for obj in bpy.data.objects for modifier in obj.modifiers
    ]
    result["hidden"] = [(obj.name_full, obj.hide_get(), obj.hide_viewport) for obj in layer.objects]
    result["unit"] = [scene.unit_settings.system, scene.unit_settings.scale_length]
    return result
