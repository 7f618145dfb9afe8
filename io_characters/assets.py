"""An imported character as an asset: its collection and its actions, with pictures, tags and catalogs."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.types import Action, Collection

from ..io_blender import versions
from ..io_blender.clips.playing import PlayedData
from ..io_blender.scene.pictures import Studio, set_preview, studio
from ..io_common import names
from ..io_common.asset_library import asset_name, catalog_id, catalog_of_animations
from ..io_common.texts import counted
from . import scene

Plays = list[tuple[Any, Action]]  # what plays together: data-blocks, each with its action

# The size of a picture in pixels, and the samples of each pixel. Of actions there may be a hundred.
_OF_MODEL, _OF_ACTION = (256, 8), (96, 4)


def make_asset(name: str, kind: str, game: str, source: str, catalog: str) -> None:
    """Makes assets of a character that was imported into an empty scene, and of its actions."""
    # The name and the kind are those in the list of the game.
    actions = list(bpy.data.actions)
    played = _played(actions)
    with studio(bpy.context.scene) as place:
        picture = place.take(*_OF_MODEL, bpy.context.scene.frame_current)
        pictures = _action_pictures(place, list(played.values()))
    _keep(actions)
    collection = _collection(asset_name(name, catalog))
    numbers = [
        counted(sum(len(one.bones) for one in bpy.data.armatures), "joints"),
        counted(sum(len(one.loops) - 2 * len(one.polygons) for one in bpy.data.meshes), "triangles"),
        counted(len(played), "animations"),
    ]
    about = f"{kind.capitalize()} {name} of {game}: {', '.join(numbers)}. From {source}"
    _mark(collection, picture, catalog, about, [game, kind, *numbers])
    for action, picture in pictures.items():
        start, end = versions.action_range(action)
        about = f"Animation of {name} of {game}: {counted(round(end - start) + 1, 'frames')}"
        _mark(action, picture, catalog_of_animations(name, catalog), about, [game, kind, collection.name])


def _mark(data: Any, picture: Any, catalog: str, description: str, tags: list[str]) -> None:
    data.asset_mark()
    set_preview(data, picture)
    data.asset_data.description, data.asset_data.catalog_id = description, catalog_id(catalog)
    for tag in tags:
        data.asset_data.tags.new(names.for_blender(tag, versions.MAX_NAME, "-"), skip_if_exists=True)


def _collection(name: str) -> Collection:
    whole = bpy.context.scene.collection
    found = whole.children[0] if len(whole.children) == 1 and not whole.objects else bpy.data.collections.new(name)
    if found.name not in whole.children:
        for inside, target in ((whole.children, found.children), (whole.objects, found.objects)):
            for one in list(inside):
                inside.unlink(one)
                target.link(one)
        whole.children.link(found)
    other = bpy.data.collections.get(name)
    if other not in (None, found):
        other.name = f"{name} parts"
    found.name = name
    return found


def _played(actions: list[Action]) -> dict[str, Plays]:
    """The animations of meshes and armatures by name, with what they animate."""
    found: dict[str, Plays] = {}
    owners = [(obj, data) for obj in bpy.data.objects if (data := scene.animated_data(obj)) is not None]
    for obj, data in owners:
        for name, action in scene.actions_of(obj):
            found.setdefault(name, []).append((data, action))
    named = {action for pairs in found.values() for _, action in pairs}
    for action in actions:
        if action not in named:
            # Of a model that knows its actions by what these animate.
            found[action.name] = [(data, action) for _, data in owners if versions.can_play(action, data.id_type)]
    return {name: pairs for name, pairs in found.items() if pairs}


def _action_pictures(place: Studio, animations: list[Plays]) -> dict[Action, Any]:
    """Pictures of the middle frames, all at the same scale; what played before plays again."""
    owners = {data: data.animation_data_create() for pairs in animations for data, _ in pairs}
    before = [PlayedData(data) for data in owners]
    extent = max((place.extent(_show_middle(pairs)) for pairs in animations), default=0.0)
    pictures: dict[Action, Any] = {}
    for pairs in animations:
        picture = place.take(*_OF_ACTION, _show_middle(pairs), extent)
        pictures |= {action: picture for _, action in pairs}
    for one in before:
        one.restore()
    return pictures


def _show_middle(pairs: Plays) -> int:
    for data, action in pairs:
        versions.assign_action(data.animation_data, action, data.id_type)
    return round(sum(versions.action_range(pairs[0][1])) / 2.0)


def _keep(actions: list[Action]) -> None:
    """Lets the actions come with the objects when these are appended, and no object with an action."""
    own = {obj: [action for _, action in scene.actions_of(obj)] for obj in bpy.data.objects}
    others = [action for action in actions if action not in {one for found in own.values() for one in found}]
    root = next((obj for obj in own if obj.parent is None), None)
    for obj, found in own.items():
        scene.keep_actions(obj, [*found, *others] if obj == root else found)
