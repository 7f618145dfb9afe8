"""The export of a character: its models, its animations, and the declarations that its game needs.

Where the game or Blender places a part does not matter: models are written as they were imported.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from bpy.types import Action, Context, Object
from mathutils import Matrix

from ..io_blender import state
from ..io_blender.clips.actions import suitable_actions
from ..io_blender.clips.playing import PlayedData
from ..io_blender.reports import ExportResult, Job, Progress, Report, kept_on_failure, listing, raise_all, raise_errors
from ..io_blender.scene.objects import Scope
from ..io_blender.skeletal.exporting.build import Builder
from ..io_blender.skeletal.exporting.clips import AnimationOptions, Clip, all_clips
from ..io_blender.skeletal.exporting.source import Source, armatures_of, file_order, parents_of
from ..io_blender.skeletal.records import renamed_mesh
from ..io_blender.skeletal.rig import read_rig
from ..io_blender.verification import Verify
from ..io_common import names
from ..io_common.declarations import characters
from ..io_common.declarations.characters import DOOM3, SAUERBRATEN, Character, CharacterAnimation, CharacterPart
from ..io_common.declarations.cube_models import cfg_name, cfg_text, with_renamed_meshes
from ..io_common.declarations.declaration_files import ENTITY, SKIN
from ..io_common.declarations.doom3_text import def_text, lost_declarations, skin_text
from ..io_common.files import write_files
from ..io_common.game_tree.files import GameFile
from ..io_common.game_tree.tree import existing_paths
from ..io_common.names import fold, join
from ..io_common.texts import distinct_file_names
from ..io_md2.exporting import build_model as build_md2
from ..io_md2.format import Md2Error
from ..io_md2.options import ExportOptions as Md2Options
from ..io_md5.exporting.game import ModelOptions, prepare, with_object_name
from ..io_md5.format import Md5Error, format_animation, format_mesh
from ..io_md5.format.check import check_animation, check_model
from ..io_md5.format.games.profiles import game_named
from ..io_md5.format.model import ANIMATION_SUFFIX, MESH_SUFFIX
from . import CharacterError, scene
from .joints import adjusted, adjustments_of, named_joints
from .placement import placement_matrix

# Of models and animations.
_SUFFIXES = (MESH_SUFFIX, ANIMATION_SUFFIX, ".md2")
_DECLARATION_TYPES = {".def": ENTITY, ".skin": SKIN}
_TOLERANCE = 1e-4
_CHANNELS = ("location", "rotation_euler", "rotation_quaternion", "rotation_axis_angle", "scale")


@dataclass(frozen=True)
class CharacterExport:
    """The options of the export of a character."""

    use_models: bool = True
    use_declarations: bool = True
    verify: Verify = Verify.SOME  # the frames on which the result is compared with Blender
    game_folders: tuple[str, ...] = ()  # the user's, to which the paths of images are relative


def export_character(
    context: Context, found: scene.SceneCharacter, folder: Path, options: CharacterExport
) -> Job[ExportResult]:
    """Writes a character below a game folder; CharacterError or that of a file, with nothing written, if it cannot."""
    report = Report()
    files: dict[str, bytes] = {}
    with kept_on_failure(report), state.temporary_object_mode(context):
        character = current_character(found)
        if options.use_models:
            files = yield from _model_files(context, found, character, options, report)
            report.count("files", len(files))
        if options.use_declarations:
            _warn_of_missing_joints(found, character, report)
            deleted = dict.fromkeys(name for root in found.roots.values() for name, _ in scene.deleted_animations(root))
            if deleted:
                report.hints.append(f"Not declared, as their actions are gone: {listing(list(deleted))}")
            declared = _declaration_files(character)
            report.count("declarations", len(declared))
            if not declared:
                report.hints.append("Quake II needs no declarations")
            files |= declared
        if not files:
            raise CharacterError("nothing to export: turn on Models and Animations, or Declarations")
        places = existing_paths(folder, map(join, files))
        paths = {places[join(name)]: data for name, data in files.items()}
        for path, data in paths.items():
            if path.suffix.lower() in _DECLARATION_TYPES and path.exists():
                text = data.decode("utf-8", "surrogateescape")
                before = GameFile(path.parent, path.name).read_text()
                lost = lost_declarations(before, text, _DECLARATION_TYPES[path.suffix.lower()])
                if lost:
                    what = f"{path} would lose {listing(lost)}"
                    raise CharacterError(f"{what}. Choose another folder, or turn off Declarations")
        for path in paths:
            path.parent.mkdir(parents=True, exist_ok=True)
        write_files(paths)
    return ExportResult(list(paths), report)


def _warn_of_missing_joints(found: scene.SceneCharacter, character: Character, report: Report) -> None:
    """Warns of joints that the declarations name and the bones of a part do not have, as after renaming them."""
    for index, root in found.roots.items():
        if root.type != "ARMATURE":
            continue
        part = character.parts[index]
        wanted = named_joints(part)
        if character.game == DOOM3:
            attachments = [one.attachment for one in character.parts if one.attachment is not None]
            wanted += [one.joint for one in attachments if one.parent == index and one.joint]
        present = {fold(name) for name in read_rig(root.data).joints.names}
        missing = [name for name in dict.fromkeys(wanted) if fold(name) not in present]
        if missing:
            report.warn(
                f"the declarations name joints that {part.model} does not have: {listing(missing)}. Rename bones, or "
                "change the declarations",
                character.name,
            )


def _declaration_files(character: Character) -> dict[str, bytes]:
    texts: dict[str, str] = {}
    if character.game == DOOM3:
        name = names.for_files(character.name.rpartition("/")[2], "character")
        texts = {f"def/{name}.def": def_text(character), f"skins/{name}.skin": skin_text(character)}
    elif character.game == SAUERBRATEN and character.parts:
        source = character.declaration.file if character.declaration is not None else character.parts[0].model
        folder = source.rpartition("/")[0]
        texts[join(folder, cfg_name(character))] = cfg_text(character, folder)
    return {path: text.encode("utf-8", "surrogateescape") for path, text in texts.items() if text}


def _model_files(
    context: Context, found: scene.SceneCharacter, character: Character, options: CharacterExport, report: Report
) -> Job[dict[str, bytes]]:
    """The models and animations of all parts that are in the scene, by game path."""
    _warn_of_others(context, found, report)
    files: dict[str, bytes] = {}
    for index, root in sorted(found.roots.items()):
        part = character.parts[index]
        if part.model.lower().endswith(".iqm"):
            raise CharacterError(
                f"{part.model} is an IQM, which is not exported with a character: use Export IQM for its armature"
            )
        with _as_imported(context, root):
            if root.type == "ARMATURE":
                actions = _actions(root, found.character.parts[index])
                files |= yield from _md5_files(context, character.game, part, root, actions, options, report)
            elif root.type == "MESH":
                files[part.model] = yield from _md2_file(context, part, root, options, report)
    for path in files:
        # A .blend file from elsewhere may hold any name.
        if ":" in path or not path.lower().endswith(_SUFFIXES):
            raise CharacterError(f"{path} is no name of a model: import the character again")
    return files


def _warn_of_others(context: Context, found: scene.SceneCharacter, report: Report) -> None:
    """Warns of meshes that move with a part and are not exported with it."""
    roots = set(found.roots.values())
    exported = roots.union(scene.all_meshes(found))
    others = []
    for obj in context.scene.objects:
        if obj.type == "MESH" and obj not in exported and obj.visible_get():
            # What hangs on another armature is a model of its own.
            above = armatures_of(obj)[:1] or parents_of(obj)
            others += [obj.name] if roots.intersection(above) else []
    if others:
        report.warn(
            f"not exported, as none of its meshes: {listing(others)}. Parent them to an armature of it, or join them "
            "with one of its meshes",
            found.character.name,
        )


@contextmanager
def _as_imported(context: Context, root: Object) -> Iterator[None]:
    """Puts a part where its file has it, with its own materials, while the block runs; it is the only one selected."""
    view = context.view_layer.objects
    active, selected = view.active, [obj for obj in view if obj.select_get()]
    parent, parent_type, bone = root.parent, root.parent_type, root.parent_bone
    inverse = root.matrix_parent_inverse.copy()
    # Not its matrix, which Blender would take apart again.
    channels = {name: tuple(getattr(root, name)) for name in _CHANNELS}
    meshes = scene.meshes_of(root)
    skin = scene.shown_skin(meshes)
    scene.show_skin(meshes, "")
    root.parent = None
    root.matrix_parent_inverse = root.matrix_basis = Matrix()
    state.select_only(context, [root, *meshes], root)
    try:
        yield
    finally:
        root.parent, root.parent_type, root.parent_bone = parent, parent_type, bone
        root.matrix_parent_inverse = inverse
        for name, value in channels.items():
            setattr(root, name, value)
        scene.show_skin(meshes, skin)
        state.select_only(context, selected, active)


def _md5_files(
    context: Context,
    game: str,
    part: CharacterPart,
    root: Object,
    actions: Iterable[_OwnAction],
    options: CharacterExport,
    report: Report,
) -> Job[dict[str, bytes]]:
    clips: dict[Path, Clip] = {}
    by_action = {clip.action: clip for clip in all_clips(root, context.scene, Report())}
    for action, _, file in actions:
        if action in by_action:
            # Several names may be declared for one file.
            clips.setdefault(Path(file), by_action[action])
    model_options = ModelOptions(
        scope=Scope(use_selection=True),
        conversion=scene.load_conversion(root).inverse(),
        game=game_named(game),
        verify=options.verify,
        game_folders=options.game_folders,
    )
    source = Source(root, sorted(scene.meshes_of(root), key=file_order))
    animation_options = AnimationOptions(compares_speed=False)
    progress = Progress(len(source.meshes) + len(clips))
    builder = Builder(context, source, model_options, animation_options, report, progress, writes_meshes=True)
    built = yield from builder.build(clips)
    prepare(built, model_options.game, report)
    numbers: dict[str, int] = {}
    for number, declared in enumerate(part.animations):
        for file in declared.files:
            numbers.setdefault(file.lower(), number)
    animations = {}
    for path, animation in built.animations.items():
        number = numbers.get(path.as_posix().lower(), len(part.animations))
        animations[path.as_posix()] = adjusted(animation, adjustments_of(part.adjustments, number), reverse=True)
    of_model = check_model(built.model, model_options.game, has_animation=True, animations=list(animations.values()))
    findings = {part.model: [with_object_name(one, built) for one in of_model]}
    for name, animation in animations.items():
        findings[name] = check_animation(animation, built.model.joints, model_options.game)
    raise_all(findings, Md5Error, report)
    files = {name: format_animation(animation) for name, animation in animations.items()}
    return files | {part.model: format_mesh(built.model)}


def _md2_file(
    context: Context, part: CharacterPart, root: Object, options: CharacterExport, report: Report
) -> Job[bytes]:
    keys = root.data.shape_keys
    playing = PlayedData(keys) if keys is not None and keys.animation_data is not None else None
    scene.show_animation([root], scene.ALL_FRAMES)
    md2_options = Md2Options(
        scope=Scope(use_selection=True),
        conversion=scene.load_conversion(root).inverse(),
        verify=options.verify,
        game_folders=options.game_folders,
        compares_speed=False,
    )
    try:
        built = yield from build_md2(context, md2_options, report)
    finally:
        if playing is not None:
            playing.restore()
    raise_errors(built.findings, Md2Error, part.model, report)
    return built.to_bytes()


# The character as it is in the scene now: what was imported, with what the user has changed


def current_character(found: scene.SceneCharacter) -> Character:
    """The character with the names, commands and flags of the actions that it has, its skins and its place."""
    parts = list(found.character.parts)
    for index, root in found.roots.items():
        part = characters.without_animations(parts[index], scene.deleted_animations(root))
        meshes = scene.meshes_of(root)
        # Without textures, no skins were imported.
        skin = (scene.shown_skin(meshes) or None) if scene.skin_names(meshes) else part.default_skin
        part = replace(part, default_skin=skin)
        if root.type == "ARMATURE":
            part = _with_current_animations(found.character.game, part, root)
            if found.character.game == SAUERBRATEN:
                # Of copies of a mesh, the first one has its name.
                pairs = [renamed_mesh(mesh.data, mesh.name) for mesh in sorted(meshes, key=file_order, reverse=True)]
                part = with_renamed_meshes(part, dict(filter(None, pairs)))
        parts[index] = _move(part, root) if index == 0 else part
    return replace(found.character, parts=tuple(parts))


class _OwnAction(NamedTuple):
    action: Action
    stored: scene.StoredAnimation | None  # None for one that was not imported
    file: str  # game path


def _actions(root: Object, part: CharacterPart) -> list[_OwnAction]:
    """The actions of an armature: those that were imported for it in order, and new ones, also copies of these."""
    # `part` is the imported one, without new animations.
    found = [(action, scene.load_animation(action)) for action, _ in suitable_actions(root).chosen]
    of_part = dict(scene.own_actions(root))
    own = [(action, one) for action, one in found if one is not None and action in of_part]
    # Copies of an action store what it does.
    groups: dict[tuple[int, str, str], list[tuple[Action, scene.StoredAnimation]]] = {}
    for action, one in own:
        groups.setdefault((one.index, one.declared, one.file.lower()), []).append((action, one))
    originals = dict(min(group, key=lambda pair: (pair[1].is_renamed, pair[0].name)) for group in groups.values())
    added = [action for action, one in found if one is None] + [action for action, _ in own if action not in originals]
    # A .blend file from elsewhere may hold any name.
    files = {
        action: one.file
        for action, one in originals.items()
        if one.file.lower().endswith(ANIMATION_SUFFIX) and ":" not in one.file
    }
    files |= _files_beside(part, [action for action in (*originals, *added) if action not in files], files.values())
    imported = sorted(originals.items(), key=lambda pair: pair[1].index)
    return [
        _OwnAction(action, stored, files[action]) for action, stored in (*imported, *((one, None) for one in added))
    ]


def _files_beside(part: CharacterPart, actions: list[Action], others: Iterable[str]) -> dict[Action, str]:
    """Game paths for actions beside the model, after their names, that no other animation has."""
    folder = part.model.rpartition("/")[0]
    known = [*others, *(file for animation in part.animations for file in animation.files)]
    places = (fold(file).rpartition("/") for file in known)
    taken = list(dict.fromkeys(name.removesuffix(ANIMATION_SUFFIX) for of, _, name in places if of == fold(folder)))
    stems = distinct_file_names([*taken, *(names.for_files(action.name, "animation") for action in actions)])
    return {
        action: join(folder, f"{stem}{ANIMATION_SUFFIX}")
        for action, stem in zip(actions, stems[len(taken) :], strict=True)
    }


def _with_current_animations(game: str, part: CharacterPart, root: Object) -> CharacterPart:
    """A part with the declared animations, changed as their actions are, and those of new actions."""
    edited: dict[tuple[str, str], tuple[Action, scene.StoredAnimation]] = {}
    new: list[CharacterAnimation] = []
    for action, stored, file in _actions(root, part):
        if stored is not None:
            edited.setdefault((stored.declared, stored.file.lower()), (action, stored))
            continue
        rate = scene.SPEED.read(action) if game == SAUERBRATEN else None
        commands, flags = scene.load_commands(action), scene.load_flags(action)
        new.append(CharacterAnimation(action.name, (file,), rate, commands, flags))
    animations = []
    for animation in part.animations:
        key = (animation.name, animation.files[0].lower()) if animation.files else None
        animations.append(_edit(animation, *edited[key]) if key in edited else animation)
    return characters.with_animations(replace(part, animations=tuple(animations)), new)


def _edit(animation: CharacterAnimation, action: Action, stored: scene.StoredAnimation) -> CharacterAnimation:
    speed, commands = scene.SPEED.read(action), scene.load_commands(action)
    # The order in the declaration, and commands before the first frame, are not in Blender.
    imported = [command for command in animation.commands if command.frame >= 1]
    if list(commands) == sorted(imported, key=lambda command: command.frame):
        commands = animation.commands
    # One action stands for all declarations of a name and file, which may have several speeds.
    rate = animation.rate if speed == stored.speed else speed
    return replace(animation, name=stored.name, rate=rate, commands=commands, flags=scene.load_flags(action))


def _move(part: CharacterPart, root: Object) -> CharacterPart:
    """The part with the offset and scale of its object, if that was moved since the import and not turned."""
    matrix = np.array(root.matrix_basis, dtype=np.float64)
    conversion = scene.load_conversion(root)
    expected = (Matrix(), placement_matrix(part, conversion))
    if any(np.allclose(matrix, np.array(one), atol=_TOLERANCE) for one in expected):
        return part
    scale = matrix[0, 0]
    if scale <= 0.0 or not np.allclose(matrix[:3, :3], np.eye(3) * scale, atol=_TOLERANCE):
        return part
    offset = conversion.rotation.T @ matrix[:3, 3] / (conversion.scale * scale)
    x, y, z = (round(float(value), 6) + 0.0 for value in offset)
    return replace(part, offset=(x, y, z), scale=round(float(scale), 6))
