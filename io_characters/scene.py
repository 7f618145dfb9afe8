"""An imported character in the scene: what is stored about it, and the skin and animation that it shows.

The declaration is on the root object of each part, what is declared about an action on the action, and the materials of
skins on mesh objects, in the property group ``idtech_character``. Loaded values are valid but may be outdated. Flags
are custom properties of the action, so that users see and change them (`action["ai_no_turn"]` is true), and so is
Sauerbraten's `action["speed"]`. Commands are pose markers; those that are too long for a marker's name are stored as a
whole.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import bpy
from bpy.types import Action, Context, Material, Object

from ..io_blender import records, versions
from ..io_blender.scene.axes import Conversion, identity
from ..io_common import names
from ..io_common.declarations.characters import Character, CharacterAnimation, FrameCommand
from ..io_common.declarations.doom3_models import FLAGS
from . import CharacterError

GROUP = "idtech_character"  # the name of the property group

# Of the root object of each part; the character, as JSON, is on that of the first.
PART = records.Integer(GROUP, "part", highest=4096)
FIRST = records.Pointer(GROUP, "first", "Object")
CHARACTER = records.Json(GROUP, "character", Character)
_CONVERSION = records.ConversionField(GROUP, "scale")


@dataclass(frozen=True)
class ImportedAnimations:
    """The declared names and the files of the animations that an import made actions of."""

    pairs: tuple[tuple[str, str], ...] = ()


_IMPORTED = records.Json(GROUP, "animations", ImportedAnimations)

# Of mesh objects, in a group in the group. A pointer keeps a material in the .blend file, even while no face shows it.
_SKINS, _SKIN_NAMES, _SKIN_MATERIALS = "skins", "names", "materials"
_MAX_SKINS = 4096

# Of actions.
OWNER = records.Pointer(GROUP, "owner", "Object")
SPEED = records.Number("", "speed", 1e-6, 1e6)
_NAME = records.Name(GROUP, "name")
_DECLARED = records.Text(GROUP, "declared")
_FILE = records.Text(GROUP, "file")
_INDEX = records.Integer(GROUP, "index")
_FLAGS = records.Text(GROUP, "flags", is_quoted=False)
_IMPORTED_SPEED = records.Number(GROUP, "speed", 1e-6, 1e6)
_MAX_FRAME = 1 << 20
_START = records.Integer(GROUP, "frame_start", 1 - _MAX_FRAME, _MAX_FRAME - 1)
_COMMANDS = "commands"
_ACTIONS = "actions"  # in the group of a root object
_LONGEST_KEY = 63
ALL_FRAMES = "all frames"  # the name of the animation of an MD2 that plays all sequences in a row


def store_part(
    obj: Object, first: Object, index: int, conversion: Conversion, character: Character | None = None
) -> None:
    """Stores which part a root object is, whose actions are stored; the `character` is on that of the `first` part."""
    PART.write(obj, index)
    FIRST.write(obj, first)
    _IMPORTED.write(obj, ImportedAnimations(tuple(_declared_pairs(obj))))
    if not conversion.is_identity:
        _CONVERSION.write(obj, conversion)
    if character is not None:
        CHARACTER.write(obj, character)


def load_conversion(obj: Object) -> Conversion:
    """The scale and axes that a part was imported with; the identity if they are missing or not valid."""
    return _CONVERSION.read(obj) or identity()


def store_skins(obj: Object, skins: dict[str, Material]) -> None:
    """Stores the material of each skin that changes that of an object's first slot."""
    if not skins:
        return
    group = records.group_on(records.group_on(obj, GROUP), _SKINS)
    for index, (name, material) in enumerate(skins.items()):
        records.Text(_SKIN_NAMES, str(index)).write(group, name)
        records.Pointer(_SKIN_MATERIALS, str(index), "Material").write(group, material)


def load_skins(obj: Object) -> dict[str, Material]:
    """The material of each skin that changes an object; empty if none is stored."""
    group = records.read_group(records.read_group(obj, GROUP), _SKINS)
    found: dict[str, Material] = {}
    for key in list(records.read_group(group, _SKIN_NAMES).keys())[:_MAX_SKINS]:
        name = records.Text(_SKIN_NAMES, key).read(group)
        material = records.Pointer(_SKIN_MATERIALS, key, "Material").read(group)
        if name and material is not None:
            found[name] = material
    return found


@dataclass(frozen=True)
class StoredAnimation:
    """What is stored on an action."""

    name: str  # declared; that of the action if it was renamed
    file: str  # game path of the animation file, or of the MD2 that has the sequence
    index: int  # among those of its part
    declared: str  # the name that was imported, whatever the action is called now
    is_renamed: bool  # whether it has another name than the import gave it, but for a number
    speed: float | None  # that was imported


def store_animation(
    action: Action, animation: CharacterAnimation, *, owner: Object, index: int, name: str, file: str, frame_start: int
) -> None:
    """Stores an animation's declaration on its action, which has its final name and should have been called `name`."""
    action[GROUP] = {}
    _START.write(action, frame_start)
    _INDEX.write(action, index)
    OWNER.write(action, owner)
    _NAME.store(action, name, action.name)
    _FILE.write(action, file)
    _DECLARED.write(action, animation.name)
    for command in animation.commands:
        marker = action.pose_markers.new(_marker_name(command.text))
        marker.frame = frame_start + min(command.frame, _MAX_FRAME) - 1
        if _marker_name(command.text) != command.text:
            texts = records.group_on(action[GROUP], _COMMANDS)
            records.Text("", str(len(texts))).write(texts, command.text)
    for flag in filter(_fits, animation.flags):
        action[flag] = True
    _FLAGS.write(action, "\n".join(animation.flags) or None)
    if animation.rate is not None:
        SPEED.write(action, animation.rate)
        _IMPORTED_SPEED.write(action, animation.rate)


def load_animation(action: Action) -> StoredAnimation | None:
    """What is stored on an action; None if it is of no character."""
    name, file = _NAME.read(action), _FILE.read(action)
    if name is None or file is None:
        return None
    current = _NAME.current(action, action.name)
    return StoredAnimation(
        name=current,
        file=file,
        index=_INDEX.read(action) or 0,
        declared=_DECLARED.read(action) or name,
        is_renamed=current != name,
        speed=_IMPORTED_SPEED.read(action),
    )


def keep_actions(obj: Object, actions: Iterable[Action]) -> None:
    """Stores the actions of an object on it instead of it on them: who appends the object gets them, and who appends an
    action gets no objects."""
    for index, action in enumerate(actions):
        OWNER.write(action, None)
        group = records.group_on(records.group_on(obj, GROUP), _ACTIONS)
        records.Pointer("", str(index), "Action").write(group, action)


def load_commands(action: Action) -> tuple[FrameCommand, ...]:
    """The commands on the pose markers of an action, in the order of their frames."""
    first = _START.read(action) or 0
    group = records.read_group(records.read_group(action, GROUP), _COMMANDS)
    texts = [records.Text("", key, is_quoted=False).read(group) for key in group]
    whole = {_marker_name(text): text for text in texts if text and records.is_quotable(text.replace('"', ""))}
    commands = [
        FrameCommand(marker.frame - first + 1, whole.get(marker.name, marker.name))
        for marker in action.pose_markers
        if marker.frame >= first and marker.name.strip()
    ]
    return tuple(sorted(commands, key=lambda command: command.frame))


def _marker_name(command: str) -> str:
    return names.for_blender(command, versions.MAX_NAME, "command")


def load_flags(action: Action) -> tuple[str, ...]:
    """The flags of an action whose custom property is true: those that were imported first, then others of the game."""
    known = dict.fromkeys((*(_FLAGS.read(action) or "").split("\n"), *FLAGS))
    return tuple(flag for flag in known if flag and (not _fits(flag) or _is_true(action.get(flag))))


def _fits(flag: str) -> bool:
    return 0 < len(flag.encode("utf-8", "surrogateescape")) < _LONGEST_KEY and flag != GROUP


def _is_true(value: object) -> bool:
    return type(value) in (bool, int, float) and bool(value)


@dataclass(eq=False)
class SceneCharacter:
    """An imported character."""

    first: Object  # the root object of its first part
    character: Character  # as it was imported
    roots: dict[int, Object]  # of the parts that are in the scene, by their index


def find_character(context: Context, obj: Object | None = None) -> SceneCharacter | None:
    """The character that an object is of or hangs on, by default the active one; None if there is none."""
    current = obj if obj is not None else context.view_layer.objects.active
    while current is not None:
        first = FIRST.read(current) if PART.read(current) is not None else None
        character = CHARACTER.read(first) if first is not None else None
        if character is not None:
            roots: dict[int, Object] = {}
            for one in context.scene.objects:
                index = PART.read(one)
                if index is not None and index < len(character.parts) and FIRST.read(one) == first:
                    roots.setdefault(index, one)
            return SceneCharacter(first, character, roots)
        current = current.parent
    return None


def meshes_of(root: Object) -> list[Object]:
    """The mesh objects of a part: its root object if that is a mesh, else the meshes that it is the parent of."""
    if root.type == "MESH":
        return [root]
    # Other parts of the character may hang on its bones.
    return [child for child in root.children if child.type == "MESH" and PART.read(child) is None]


def all_meshes(found: SceneCharacter) -> list[Object]:
    """The mesh objects of all parts."""
    return [mesh for root in found.roots.values() for mesh in meshes_of(root)]


# Skins: the materials of the objects' first slots


def skin_names(objects: Iterable[Object]) -> list[str]:
    """The names of all skins of some mesh objects, in the order of their declaration."""
    return list(dict.fromkeys(name for obj in objects for name in load_skins(obj)))


def show_skin(objects: Iterable[Object], skin: str) -> None:
    """Shows a skin, or with an empty name the mesh's own materials; CharacterError if an object is linked."""
    objects = list(objects)
    # Other parts, such as a head, have skins of their own.
    parts = {_part_of(obj) for obj in objects if not skin or skin in load_skins(obj)}
    for obj in objects:
        if not obj.material_slots:
            continue
        slot, skins = obj.material_slots[0], load_skins(obj)
        material = skins.get(skin) if skin else None
        shows_other = slot.link == "OBJECT" and bool(skins) and _part_of(obj) in parts
        if obj.library is not None and (material is not None or shows_other):
            raise CharacterError(
                f"{obj.name} is linked, so its skin cannot be switched: use Object > Library Override > Make first"
            )
        if material is not None:
            slot.link = "OBJECT"
            slot.material = material
        elif shows_other:
            slot.link = "DATA"


def _part_of(obj: Object) -> Object:
    return obj.find_armature() or obj.parent or obj


def shown_skin(objects: Iterable[Object]) -> str:
    """The name of the skin that some mesh objects show; empty for their own materials."""
    for obj in objects:
        if obj.material_slots and obj.material_slots[0].link == "OBJECT":
            shown = obj.material_slots[0].material
            found = next((name for name, material in load_skins(obj).items() if material == shown), None)
            if found is not None:
                return found
    return ""


# Animations: actions of all parts that bear the same name play together


def animated_data(root: Object) -> Any:
    """What the actions of an imported model animate: an armature, or the shape keys of a mesh; else None."""
    if root.type == "MESH":
        return root.data.shape_keys
    return root if root.type == "ARMATURE" else None


def own_actions(root: Object) -> list[tuple[Action, StoredAnimation]]:
    """The actions of a part: imported for it, or for what it overrides or shares its data with."""
    group = records.read_group(records.read_group(root, GROUP), _ACTIONS)
    kept = {records.Pointer("", key, "Action").read(group) for key in group}
    loaded = ((action, load_animation(action)) for action in bpy.data.actions if action in kept or _owns(root, action))
    return [(action, stored) for action, stored in loaded if stored is not None]


def _owns(root: Object, action: Action) -> bool:
    owner = OWNER.read(action)
    overridden = root.override_library.reference if root.override_library is not None else root
    return owner is not None and (owner in (root, overridden) or owner.data == root.data)


def actions_of(root: Object) -> list[tuple[str, Action]]:
    """The actions of a part with their declared names, in the order of the declaration."""
    found = ((stored.index, stored.name, action) for action, stored in own_actions(root))
    return [(name, action) for _, name, action in sorted(found, key=lambda one: one[:2])]


def _declared_pairs(root: Object) -> Iterable[tuple[str, str]]:
    """The declared name and the file of each action of a part, each pair once."""
    return dict.fromkeys((stored.declared, stored.file.lower()) for _, stored in own_actions(root))


def deleted_animations(root: Object) -> list[tuple[str, str]]:
    """The declared names and the files of animations that a part was imported with and has no action of any more."""
    imported = _IMPORTED.read(root) or ImportedAnimations()
    own = set(_declared_pairs(root))
    return [pair for pair in imported.pairs if pair not in own]


def animation_names(roots: Iterable[Object]) -> list[str]:
    """The names of the animations of some parts, each once."""
    return list(dict.fromkeys(name for root in roots for name, _ in actions_of(root)))


def show_animation(roots: Iterable[Object], name: str) -> list[Action]:
    """Plays an animation on all parts that have one of this declared name; returns its actions."""
    shown = []
    for root in roots:
        action, data = dict(reversed(actions_of(root))).get(name), animated_data(root)
        if action is not None and data is not None:
            versions.assign_action(data.animation_data_create(), action, data.id_type)
            shown.append(action)
    return shown


def shown_animation(root: Object) -> str:
    """The declared name of the animation that a part plays; empty if it is none of the character's."""
    data = animated_data(root)
    action = data.animation_data.action if data is not None and data.animation_data is not None else None
    stored = load_animation(action) if action is not None else None
    return stored.name if stored is not None else ""
