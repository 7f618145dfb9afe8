"""The user's state: mode, selection, frame and visibility. Context managers restore it, on errors too."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import bpy
from bpy.types import AnimData, Area, Armature, Collection, Context, Modifier, NlaStrip, Object, Scene, Window

from .reports import Report

# The modes in which the mesh or the bones of an object are not as in Object Mode.
_CHANGING_MODES = {"EDIT", "SCULPT", "WEIGHT_PAINT", "VERTEX_PAINT", "TEXTURE_PAINT"}

# Blender's limits for fps and fps_base.
_LOWEST_FPS, _HIGHEST_FPS = 1, 32767
_LOWEST_BASE, _HIGHEST_BASE = 1e-5, 1e6


def switch_to_object_mode(context: Context) -> None:
    """Switches to Object Mode for good, as Blender's own importers do before they add objects."""
    if context.mode != "OBJECT" and bpy.ops.object.mode_set.poll():  # type: ignore[call-arg] # the stubs have no self
        bpy.ops.object.mode_set(mode="OBJECT")


def select_only(context: Context, objects: list[Object], active: Object | None) -> None:
    """Selects these objects and no others."""
    # Newly linked objects are in the view layer after an update only.
    context.view_layer.update()
    for obj in context.view_layer.objects:
        if obj.select_get():
            obj.select_set(False)
    present = set(context.view_layer.objects)
    for obj in objects:
        if obj in present:
            obj.select_set(True)
    if active in present:
        context.view_layer.objects.active = active


@contextmanager
def edit_mode(context: Context, obj: Object) -> Iterator[None]:
    """Edit Mode on one object alone, then Object Mode."""
    select_only(context, [obj], obj)
    _set_mode(context, obj, "EDIT")
    try:
        yield
    finally:
        _set_mode(context, obj, "OBJECT")


def target_collection(context: Context) -> Collection:
    """The collection for new objects: the active one, or the scene's if that is hidden or linked."""
    layer = context.view_layer.active_layer_collection
    usable = (
        layer is not None
        and layer.is_visible
        and not layer.exclude
        and not layer.collection.hide_viewport
        and layer.collection.library is None
        and layer.collection.override_library is None
    )
    return layer.collection if usable else context.scene.collection


@contextmanager
def temporary_object_mode(context: Context) -> Iterator[None]:
    """Object Mode while the block runs, so that edits are in the data-blocks."""
    # With *Lock Object Modes* off, several objects may be in Edit Mode. Pose Mode and the modes of hair and
    # Grease Pencil change nothing that is exported, and are kept.
    objects = context.view_layer.objects
    modes = {obj: obj.mode for obj in objects if obj.mode in _CHANGING_MODES}
    if not modes:
        yield
        return
    active, selected = objects.active, {obj for obj in objects if obj.select_get()}
    posed = {obj for obj in objects if obj.mode == "POSE"}
    try:
        for obj in modes:
            if obj.mode != "OBJECT":
                # Others of its type leave Edit Mode too.
                _set_mode(context, obj, "OBJECT")
        yield
    finally:
        for kind, mode in dict.fromkeys((obj.type, mode) for obj, mode in modes.items()):
            members = [obj for obj in modes if (obj.type, modes[obj]) == (kind, mode)]
            # All selected objects of a type enter Edit Mode, and with Weight Paint all selected armatures Pose Mode.
            entering = {*members, *posed} if mode == "WEIGHT_PAINT" else set(members)
            for obj in objects:
                obj.select_set(obj in entering)
            _set_mode(context, members[0], mode)
        for obj in objects:
            obj.select_set(obj in selected)
        objects.active = active


def _set_mode(context: Context, obj: Object, mode: str) -> None:
    context.view_layer.objects.active = obj
    with context.temp_override(active_object=obj, object=obj):
        bpy.ops.object.mode_set(mode=mode)


def set_frame(scene: Scene, frame: float) -> None:
    """Shows a frame, whole or not."""
    # Blender counts subframes of negative frames downwards, but takes none below 0.
    whole = math.floor(frame)
    scene.frame_set(whole, subframe=frame - whole)


def set_frame_range(scene: Scene, start: int, end: int, *, is_closed_loop: bool = False) -> None:
    """Sets the range of a scene, and shows its first frame if the current one is outside."""
    # A closed loop ends as it begins: its preview range is a frame shorter, or that pose would play twice.
    scene.frame_start, scene.frame_end = start, end
    scene.use_preview_range = is_closed_loop and end > start
    if scene.use_preview_range:
        scene.frame_preview_start, scene.frame_preview_end = start, end - 1
    if not start <= scene.frame_current <= end:
        scene.frame_set(start)


def show_selected(context: Context) -> None:
    """Frames the selected objects in the 3D viewports of all windows; there are none in background mode."""
    for window, area in viewport_areas(context):
        region = next(region for region in area.regions if region.type == "WINDOW")
        with context.temp_override(window=window, area=area, region=region):
            if bpy.ops.view3d.view_selected.poll():  # type: ignore[call-arg] # as in all operators
                bpy.ops.view3d.view_selected()


def viewport_areas(context: Context) -> list[tuple[Window, Area]]:
    """The 3D viewports of all windows; none in background mode."""
    windows = [] if bpy.app.background else context.window_manager.windows
    return [(window, area) for window in windows for area in window.screen.areas if area.type == "VIEW_3D"]


def viewing_hints(spaces: Iterable[Any], objects: Iterable[Object]) -> list[str]:
    """How to see the textures of new objects, if 3D viewports (`SpaceView3D`) do not show them."""
    hides_textures = any(
        shading.type not in ("MATERIAL", "RENDERED") and (shading.type != "SOLID" or shading.color_type != "TEXTURE")
        for shading in (space.shading for space in spaces)
    )
    slots = [slot for obj in objects for slot in obj.material_slots if slot.material is not None]
    trees = [slot.material.node_tree for slot in slots if slot.material.node_tree is not None]
    has_image = any(isinstance(node, bpy.types.ShaderNodeTexImage) for tree in trees for node in tree.nodes)
    return ["Textures: choose Material Preview"] if hides_textures and has_image else []


def frame_rate(scene: Scene) -> float:
    """Frames per second of a scene."""
    return float(scene.render.fps / scene.render.fps_base)


def set_frame_rate(scene: Scene, rate: float, report: Report) -> None:
    """Sets the frames per second of a scene, with a warning if Blender can only hold a rate near it."""
    render = scene.render
    render.fps = whole = round(min(max(rate, _LOWEST_FPS), _HIGHEST_FPS))
    render.fps_base = min(max(whole / rate, _LOWEST_BASE), _HIGHEST_BASE)
    plays = frame_rate(scene)
    if not math.isclose(plays, rate, rel_tol=1e-4):
        report.warn(f"Blender cannot play a frame rate of {rate:g}: the scene was set to {plays:g}, the nearest it can")


class Saved:
    """Values of attributes, captured to be restored later."""

    def __init__(self, owners: Iterable[Any], *names: str) -> None:
        self._values = [(owner, name, getattr(owner, name)) for owner in owners for name in names]

    def restore(self) -> bool:
        """Restores what has changed, and returns whether anything had."""
        changed = False
        for owner, name, value in self._values:
            if getattr(owner, name) != value:
                setattr(owner, name, value)
                changed = True
        return changed


@contextmanager
def _temporarily(owners: Iterable[Any], name: str, value: Any) -> Iterator[None]:
    changed = list(owners)
    saved = Saved(changed, name)
    for owner in changed:
        setattr(owner, name, value)
    try:
        yield
    finally:
        saved.restore()


def rest_position(armatures: Iterable[Armature]) -> AbstractContextManager[None]:
    """Puts armatures in rest position while the block runs."""
    return _temporarily(armatures, "pose_position", "REST")


def hidden_modifiers(objects: Iterable[Object], hide: Callable[[Modifier], bool]) -> AbstractContextManager[None]:
    """Disables modifiers in the viewport while the block runs."""
    modifiers = [one for obj in objects for one in obj.modifiers if one.show_viewport and hide(one)]
    return _temporarily(modifiers, "show_viewport", False)


def strips_of(animation_data: AnimData | None) -> list[NlaStrip]:
    """The strips of all NLA tracks; none without animation data."""
    tracks = animation_data.nla_tracks if animation_data is not None else ()
    return [strip for track in tracks for strip in track.strips]


def data_blocks() -> Iterator[Any]:
    """All data-blocks of the .blend file."""
    for prop in bpy.data.bl_rna.properties:
        # From 5.2 there is one collection of all.
        if prop.type == "COLLECTION" and prop.identifier != "all_ids":
            yield from getattr(bpy.data, prop.identifier)
