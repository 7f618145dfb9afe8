"""An imported character as an asset: its collection and its actions, with pictures, tags and catalogs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import bpy

from ..io_blender import versions
from ..io_blender.clips.playing import PlayedData
from ..io_blender.scene.pictures import Studio, set_preview, studio
from ..io_common import names
from ..io_common.asset_library import asset_name, catalog_id, catalog_of_animations
from ..io_common.texts import counted
from . import scene

if TYPE_CHECKING:
    from bpy.types import Action, Collection

# The size of a picture in pixels, and the samples of each pixel. Of actions there may be a hundred.
_OF_MODEL, _OF_ACTION = (256, 8), (128, 4)


@dataclass(frozen=True)
class Asset:
    """What a library tells about a character."""

    name: str  # in the list of the game
    kind: str
    game: str
    source: str  # the declaration or the folder that it comes from
    catalog: str


def make_asset(asset: Asset) -> None:
    """Makes assets of a character that was imported into an empty scene, and of its actions."""
    actions = list(bpy.data.actions)
    played = _played(actions)
    with studio(bpy.context.scene) as place:
        picture = place.take(*_OF_MODEL, bpy.context.scene.frame_current)
        pictures = dict.fromkeys(actions, picture) | _action_pictures(place, played)
    _keep(actions)
    collection = _collection(asset_name(asset.name, asset.catalog))
    numbers = [
        counted(sum(len(one.bones) for one in bpy.data.armatures), "joints"),
        counted(sum(len(one.loops) - 2 * len(one.polygons) for one in bpy.data.meshes), "triangles"),
        counted(len(played), "animations"),
    ]
    about = f"{asset.kind.capitalize()} {asset.name} of {asset.game}: {', '.join(numbers)}. From {asset.source}"
    _mark(collection, picture, asset.catalog, about, [asset.game, asset.kind, *numbers])
    for action in actions:
        start, end = versions.action_range(action)
        about = f"Animation of {asset.name} of {asset.game}: {counted(round(end - start) + 1, 'frames')}"
        catalog = catalog_of_animations(asset.name, asset.catalog)
        _mark(action, pictures[action], catalog, about, [asset.game, asset.kind, collection.name])


def _collection(name: str) -> Collection:
    """The collection of all that was imported, with a name."""
    whole = bpy.context.scene.collection
    if len(whole.children) == 1 and not whole.objects:
        found = whole.children[0]
    else:
        found = bpy.data.collections.new(name)
        for child in list(whole.children):
            whole.children.unlink(child)
            found.children.link(child)
        for obj in list(whole.objects):
            whole.objects.unlink(obj)
            found.objects.link(obj)
        whole.children.link(found)
    other = bpy.data.collections.get(name)
    if other not in (None, found):
        # That of a part.
        other.name = f"{name} parts"
    found.name = name
    return found


def _played(actions: list[Action]) -> dict[str, list[tuple[Any, Action]]]:
    """The animations by name, each with its actions and what they animate."""
    found: dict[str, list[tuple[Any, Action]]] = {}
    owners = [(obj, data) for obj in bpy.data.objects if (data := scene.animated_data(obj)) is not None]
    for obj, data in owners:
        for name, action in scene.actions_of(obj):
            found.setdefault(name, []).append((data, action))
    named = {action for pairs in found.values() for _, action in pairs}
    for action in actions:
        if action not in named:
            fitting = [(data, action) for _, data in owners if versions.can_play(action, data.id_type)]
            found.setdefault(action.name, []).extend(fitting)
    return found


def _action_pictures(place: Studio, played: dict[str, list[tuple[Any, Action]]]) -> dict[Action, Any]:
    """Pictures of the middle frames; what played before plays again."""
    pictures: dict[Action, Any] = {}
    owners = {data: None for pairs in played.values() for data, _ in pairs}
    before = [PlayedData(data) for data in owners if data.animation_data_create() is not None]
    # All of them at the same scale.
    extent = 0.0
    for pairs in filter(None, played.values()):
        extent = max(extent, place.extent(_show_middle(pairs)))
    for pairs in filter(None, played.values()):
        picture = place.take(*_OF_ACTION, _show_middle(pairs), extent)
        pictures |= {action: picture for _, action in pairs}
    for one in before:
        one.restore()
    return pictures


def _show_middle(pairs: list[tuple[Any, Action]]) -> int:
    """Plays an animation; returns its middle frame."""
    for data, action in pairs:
        versions.assign_action(data.animation_data, action, data.id_type)
    start, end = versions.action_range(pairs[0][1])
    return round((start + end) / 2.0)


def _keep(actions: list[Action]) -> None:
    """Lets the actions come with the objects when these are appended, and no object with an action."""
    kept: set[Action] = set()
    for obj in bpy.data.objects:
        own = [action for _, action in scene.actions_of(obj)]
        scene.keep_actions(obj, own)
        kept.update(own)
    others = [action for action in actions if action not in kept]
    if others and len(bpy.data.objects):
        # Of models that know their actions by what these animate.
        first = next((obj for obj in bpy.data.objects if obj.parent is None), bpy.data.objects[0])
        scene.keep_actions(first, [*scene.kept_actions(first), *others])


def _mark(data: Any, picture: Any, catalog: str, description: str, tags: list[str]) -> None:
    data.asset_mark()
    set_preview(data, picture)
    details = data.asset_data
    details.description = description
    details.catalog_id = catalog_id(catalog)
    for tag in tags:
        details.tags.new(names.for_blender(tag, versions.MAX_NAME, "-"), skip_if_exists=True)
