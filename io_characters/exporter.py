"""The export of a character: its models, its animations, and the declarations that its game needs.

Files get their game paths below a folder. Where the game or Blender places a part does not matter: models are written
in their own coordinates, with their own materials, as they were imported.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mathutils import Matrix

from ..io_blender import state, versions
from ..io_blender.reports import Report, kept_on_failure, listing, progress
from ..io_blender.results import ExportResult
from ..io_blender.scene import names
from ..io_blender.scene.objects import Scope
from ..io_blender.validation import raise_all, raise_errors
from ..io_blender.verify_option import Verify
from ..io_common.files import atomic
from ..io_common.game_data.character import DOOM3, SAUERBRATEN, Character
from ..io_common.game_data.declaration_losses import lost_declarations
from ..io_common.game_data.declarations import ENTITY, SKIN
from ..io_common.game_data.doom3_text import def_text, skin_text
from ..io_common.game_data.game_paths import join
from ..io_common.game_data.model_cfg_text import cfg_name, cfg_text
from ..io_common.game_data.places import existing_places
from ..io_common.textures.game_files import FileReadError, GameFile
from ..io_md2.exporting.exporter import ExportOptions as Md2Options
from ..io_md2.exporting.exporter import build_model as build_md2
from ..io_md2.format import Md2Error, format_model
from ..io_md2.format import check_model as check_md2
from ..io_md5.exporting.build import ModelOptions, build
from ..io_md5.exporting.clips import AnimationOptions, Clip, all_clips
from ..io_md5.exporting.game import prepare, with_object_name
from ..io_md5.exporting.source import Source, file_order
from ..io_md5.format import Md5Error, format_animation, format_mesh
from ..io_md5.format.check import check_animation, check_model
from ..io_md5.format.games import game_named
from ..io_md5.format.model import ANIMATION_SUFFIX, MESH_SUFFIX
from .adjustments import adjustments_of, unadjusted
from .animations import ALL_FRAMES, show_animation
from .errors import CharacterError
from .export_source import current_character, file_of, own_actions
from .records import load_conversion
from .scene import SceneCharacter, meshes_of
from .skins import show_skin, shown_skin

if TYPE_CHECKING:
    from bpy.types import Context, Object

# Of models and animations.
_SUFFIXES = (MESH_SUFFIX, ANIMATION_SUFFIX, ".md2")
_DECLARATION_TYPES = {".def": ENTITY, ".skin": SKIN}
_CHANNELS = ("location", "rotation_euler", "rotation_quaternion", "rotation_axis_angle", "scale")


@dataclass(frozen=True)
class CharacterExport:
    """The options of the export of a character.

    Attributes:
        use_models: write the models and animations.
        use_declarations: write the declarations.
        verify: the frames on which the result is compared with Blender.
        game_folders: the user's, to which the paths of images are relative.
    """

    use_models: bool = True
    use_declarations: bool = True
    verify: Verify = Verify.SOME
    game_folders: tuple[str, ...] = ()


def export_character(
    context: Context, found: SceneCharacter, folder: Path, options: CharacterExport
) -> ExportResult:
    """Writes a character below a folder, which stands for the game folder; folders below it are made.

    Raises CharacterError, with nothing written, if there is nothing to write or a part cannot be written. If a file
    cannot be written, existing files are unchanged.
    """
    report = Report()
    files: dict[str, bytes] = {}
    with kept_on_failure(report), state.temporary_object_mode(context):
        character = current_character(found)
        if options.use_models:
            _write_models(context, found, character, files, options, report)
            _check_names(files)
        if options.use_declarations:
            declared = declaration_files(character)
            report.count("declarations", len(declared))
            if not declared:
                report.warn("Quake II needs no declarations: none were written", character.name)
            files |= declared
        if not files:
            raise CharacterError("nothing to export: turn on Models and Animations, or Declarations")
        places = existing_places(folder, map(join, files))
        paths = {places[join(name)]: data for name, data in files.items()}
        _require_nothing_lost(paths)
        for path in paths:
            path.parent.mkdir(parents=True, exist_ok=True)
        atomic.write_files(paths)
    return ExportResult(list(paths), report)


def _require_nothing_lost(files: dict[Path, bytes]) -> None:
    """Raises CharacterError if a file would lose declarations that the character does not have, or cannot be read."""
    for path, data in files.items():
        default_type = _DECLARATION_TYPES.get(path.suffix.lower())
        if default_type is None or not path.exists():
            continue
        try:
            old = GameFile(path).read_text()
        except FileReadError as error:
            raise CharacterError(str(error)) from error
        new = data.decode("utf-8", "surrogateescape")
        lost = lost_declarations(old, new, default_type)
        if lost:
            raise CharacterError(
                f"{path} would lose {listing(lost)}. Choose another folder, or turn off Declarations"
            )


def _check_names(paths: Iterable[str]) -> None:
    """Raises CharacterError if a stored name is not that of a model: a .blend file from elsewhere may hold any."""
    for path in paths:
        if ":" in path or not path.lower().endswith(_SUFFIXES):
            raise CharacterError(f"{path} is no name of a model: import the character again")


def declaration_files(character: Character) -> dict[str, bytes]:
    """The declarations of a character, by game path; none for games that have none."""
    texts: dict[str, str] = {}
    if character.game == DOOM3:
        name = names.for_files(character.name.rpartition("/")[2], "character")
        texts[f"def/{name}.def"] = def_text(character)
        skins = skin_text(character)
        if skins:
            texts[f"skins/{name}.skin"] = skins
    elif character.game == SAUERBRATEN and character.parts:
        source = character.declaration.file if character.declaration is not None else character.parts[0].model
        folder = source.rpartition("/")[0]
        texts[join(folder, cfg_name(character))] = cfg_text(character, folder)
    return {path: text.encode("utf-8", "surrogateescape") for path, text in texts.items()}


def _write_models(
    context: Context,
    found: SceneCharacter,
    character: Character,
    files: dict[str, bytes],
    options: CharacterExport,
    report: Report,
) -> None:
    """Adds the files of all parts that are in the scene."""
    with progress(len(found.roots)) as progress_bar:
        for index, root in sorted(found.roots.items()):
            with _as_imported(context, root):
                if root.type == "ARMATURE":
                    files |= _md5_files(context, character, index, root, options, report)
                elif root.type == "MESH":
                    files |= _md2_files(context, character, index, root, options, report)
            progress_bar.step()
    report.count("files", len(files))


@contextmanager
def _as_imported(context: Context, root: Object) -> Iterator[None]:
    """Puts a part where its file has it, with its own materials, while the block runs; it is the only one selected."""
    view = context.view_layer.objects
    active, selected = view.active, [obj for obj in view if obj.select_get()]
    parent, parent_type, bone = root.parent, root.parent_type, root.parent_bone
    inverse = root.matrix_parent_inverse.copy()
    # Not its matrix, which Blender would take apart again.
    channels = {name: tuple(getattr(root, name)) for name in _CHANNELS}
    meshes = meshes_of(root)
    skin = shown_skin(meshes)
    show_skin(meshes, "")
    root.parent = None
    root.matrix_parent_inverse = Matrix()
    root.matrix_basis = Matrix()
    state.select_only(context, [root, *meshes], root)
    try:
        yield
    finally:
        root.parent, root.parent_type, root.parent_bone = parent, parent_type, bone
        root.matrix_parent_inverse = inverse
        for name, value in channels.items():
            setattr(root, name, value)
        show_skin(meshes, skin)
        state.select_only(context, selected, active)


def _md5_files(
    context: Context, character: Character, index: int, root: Object, options: CharacterExport, report: Report
) -> dict[str, bytes]:
    part = character.parts[index]
    clips: dict[Path, Clip] = {}
    by_action = {clip.action: clip for clip in all_clips(root, context.scene, Report())}
    for action in own_actions(root):
        if action in by_action:
            # Several names may be declared for one file.
            clips.setdefault(Path(file_of(action, part)), by_action[action])
    model_options = ModelOptions(
        scope=Scope(use_selection=True),
        conversion=load_conversion(root).inverse(),
        game=game_named(character.game),
        verify=options.verify,
        game_folders=options.game_folders,
    )
    with progress(len(clips) + 1) as progress_bar:
        built = build(
            context,
            Source(root, sorted(meshes_of(root), key=file_order)),
            model_options,
            clips,
            AnimationOptions(compares_speed=False),
            report,
            progress_bar,
            writes_meshes=True,
        )
    prepare(built, model_options.target, report)
    animations = {
        path: unadjusted(animation, adjustments_of(part.adjustments, _declared_index(character, index, path)))
        for path, animation in built.animations.items()
    }
    findings = {
        part.model: [
            with_object_name(one, built)
            for one in check_model(
                built.model, model_options.game, has_animation=True, animations=list(animations.values())
            )
        ]
    }
    for path, animation in animations.items():
        findings[path.as_posix()] = check_animation(animation, built.model.joints, model_options.game)
    raise_all(findings, Md5Error, report)
    files = {path.as_posix(): format_animation(animation) for path, animation in animations.items()}
    return files | {part.model: format_mesh(built.model)}


def _declared_index(character: Character, index: int, path: Path) -> int:
    """The index of the first animation of a part that names a file; that of the last for none."""
    wanted = path.as_posix().lower()
    animations = character.parts[index].animations
    return next(
        (number for number, one in enumerate(animations) if wanted in (file.lower() for file in one.files)),
        len(animations),
    )


def _md2_files(
    context: Context, character: Character, index: int, root: Object, options: CharacterExport, report: Report
) -> dict[str, bytes]:
    part = character.parts[index]
    keys = root.data.shape_keys
    data = keys.animation_data if keys is not None else None
    playing = versions.AssignedAction(data) if data is not None else None
    show_animation([root], ALL_FRAMES)
    md2_options = Md2Options(
        scope=Scope(use_selection=True),
        conversion=load_conversion(root).inverse(),
        verify=options.verify,
        game_folders=options.game_folders,
        compares_speed=False,
    )
    try:
        built = build_md2(context, md2_options, report)
    finally:
        if playing is not None:
            playing.restore()
    findings = check_md2(built.model, md2_options.game, built.source_counts)
    raise_errors(findings, Md2Error, part.model, report)
    return {part.model: format_model(built.model)}
