"""A character as it is in the scene now: what was imported, with what the user has changed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..io_blender.clips.suitable_actions import suitable_actions
from ..io_blender.scene import names
from ..io_common.game_data.character import SAUERBRATEN, Character, CharacterAnimation, CharacterPart
from ..io_md5.format.model import ANIMATION_SUFFIX
from .placement import in_scene, part_matrix
from .records import OWNER, SPEED, load_animation, load_commands, load_conversion, load_flags
from .scene import SceneCharacter, meshes_of
from .skins import shown_skin, skin_names

if TYPE_CHECKING:
    from bpy.types import Action, Object

_TOLERANCE = 1e-4


def current_character(found: SceneCharacter) -> Character:
    """The character with the names, commands and flags of its actions, new actions, its skins and its place."""
    parts = [
        _current_part(found, index, part, found.roots[index]) if index in found.roots else part
        for index, part in enumerate(found.character.parts)
    ]
    return replace(found.character, parts=tuple(parts))


def _current_part(found: SceneCharacter, index: int, part: CharacterPart, root: Object) -> CharacterPart:
    part = replace(part, animations=tuple(_animations(found.character, part, root)))
    meshes = meshes_of(root)
    # Without textures, no skins were imported.
    if skin_names(meshes):
        part = replace(part, default_skin=shown_skin(meshes) or None)
    return _placed(part, root) if index == 0 else part


def own_actions(root: Object) -> list[Action]:
    """The actions that belong to a part: those that were imported for it, and new ones that move its armature."""
    if root.type != "ARMATURE":
        return []
    actions = [action for action, _ in suitable_actions(root).chosen]
    imported = [
        action for action in actions if load_animation(action) is not None and OWNER.read(action) == root
    ]
    new = [action for action in actions if load_animation(action) is None]
    return [*sorted(imported, key=_index), *new]


def _index(action: Action) -> int:
    stored = load_animation(action)
    return stored.index if stored is not None else 0


def file_of(action: Action, part: CharacterPart) -> str:
    """The game path of the file of an action: the one it was imported from, else one beside the model."""
    stored = load_animation(action)
    # A .blend file from elsewhere may hold any name.
    if stored is not None and stored.file.lower().endswith(ANIMATION_SUFFIX) and ":" not in stored.file:
        return stored.file
    folder = part.model.rpartition("/")[0]
    name = f"{names.for_files(action.name, 'animation')}{ANIMATION_SUFFIX}"
    return f"{folder}/{name}" if folder else name


def _animations(character: Character, part: CharacterPart, root: Object) -> list[CharacterAnimation]:
    """The declared animations, changed as their actions are, and those of new actions."""
    if root.type != "ARMATURE":
        return list(part.animations)
    edited: dict[tuple[str, str], Action] = {}
    new: list[CharacterAnimation] = []
    for action in own_actions(root):
        stored = load_animation(action)
        if stored is None:
            rate = SPEED.read(action) if character.game == SAUERBRATEN else None
            new.append(
                CharacterAnimation(
                    action.name, (file_of(action, part),), rate, load_commands(action), load_flags(action)
                )
            )
        else:
            edited.setdefault((stored.declared, stored.file.lower()), action)
    result = []
    for animation in part.animations:
        key = (animation.name, animation.files[0].lower()) if animation.files else None
        result.append(_edited(animation, edited[key]) if key in edited else animation)
    return [*result, *new]


def _edited(animation: CharacterAnimation, action: Action) -> CharacterAnimation:
    stored = load_animation(action)
    speed = SPEED.read(action)
    commands = load_commands(action)
    # The order in the declaration, and commands before the first frame, are not in Blender.
    imported = [command for command in animation.commands if command.frame >= 1]
    if list(commands) == sorted(imported, key=lambda command: command.frame):
        commands = animation.commands
    return replace(
        animation,
        name=stored.name if stored is not None else animation.name,
        # One action stands for all declarations of a name and file, which may have several speeds.
        rate=animation.rate if stored is None or speed == stored.speed else speed,
        commands=commands,
        flags=load_flags(action),
    )


def _placed(part: CharacterPart, root: Object) -> CharacterPart:
    """The part with the offset and scale of its object, if that was moved since the import and not turned."""
    matrix = np.array(root.matrix_basis, dtype=np.float64)
    conversion = load_conversion(root)
    if any(
        np.allclose(matrix, expected, atol=_TOLERANCE)
        for expected in (np.eye(4), in_scene(part_matrix(part), conversion))
    ):
        return part
    scale = matrix[0, 0]
    if scale <= 0.0 or not np.allclose(matrix[:3, :3], np.eye(3) * scale, atol=_TOLERANCE):
        return part
    offset = conversion.rotation.T @ matrix[:3, 3] / (conversion.scale * scale)
    x, y, z = (round(float(value), 6) + 0.0 for value in offset)
    return replace(part, offset=(x, y, z), scale=round(float(scale), 6))
