"""The import of a character: everything is read and checked before the first data-block is made."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import bpy
from bpy.types import Action, Collection, Context, Material, Object

from ..io_blender import state, versions
from ..io_blender.clips.keyframes import build_frame_action
from ..io_blender.frames.options import ImportOptions as Md2Options
from ..io_blender.frames.shape_keys import shape_keys
from ..io_blender.materials.library import MaterialLibrary
from ..io_blender.reports import ImportResult, Job, Progress, Report, listing
from ..io_blender.skeletal.importing.action import ActionBuilder
from ..io_blender.skeletal.importing.model import build_model
from ..io_blender.skeletal.importing.sources import ImportSkeleton, SourceAnimation
from ..io_blender.skeletal.records import SHADERS
from ..io_blender.skeletal.rig import read_rig
from ..io_common import names
from ..io_common.declarations.characters import Character, CharacterAnimation, CharacterPart
from ..io_common.frames import FrameSequence
from ..io_common.game_tree.files import FileReadError
from ..io_common.game_tree.tree import GameTree
from ..io_common.names import fold, without_image_extension
from ..io_common.textures.conventions import MaterialImages, Role
from ..io_common.textures.search import ModelSearch, Search
from ..io_iqm.importing import finish_model as finish_iqm
from ..io_iqm.records import store_action as store_iqm_action
from ..io_md2.format import FRAMES_PER_SECOND, find_sequences
from ..io_md2.format import Model as Md2Model
from ..io_md2.format.games import TEXTURE_RULES as MD2_RULES
from ..io_md2.importing import MAX_MATERIALS, model_materials
from ..io_md2.importing import build_model as build_md2
from ..io_md2.records import SKINS
from ..io_md3.format import MAGIC as MD3_MAGIC
from ..io_md3.importing import import_files as import_md3
from ..io_md3.options import ImportOptions as Md3Options
from ..io_md5.format import Model
from ..io_md5.format.companions import TEXTURE_RULES as MD5_RULES
from ..io_md5.options import ImportOptions as Md5Options
from . import CharacterError, scene
from .joints import channel_joints
from .placement import Skeleton, add_tags, attach, placement_matrix
from .reading import CharacterOptions, PartFiles, read_parts

_MAX_LISTED = 30  # names of missing files in one warning
_EMPTY_SIZE = 8.0  # the size of an empty for an attachment, in units of the file
_ALL = "*"  # in declarations, stands for all other names


def import_character(
    context: Context, character: Character, files: GameTree, options: CharacterOptions
) -> Job[ImportResult]:
    """The objects and actions of a character; CharacterError, before any change, if it has no model."""
    if character.parts and all(_is_md3(part, files) for part in character.parts):
        return (yield from _import_md3(context, character, files, options))
    result = ImportResult()
    parts, missing = read_parts(character, files, options, result.report)
    builder = _Builder(context, character, files, options, result)
    # The steps of an MD5 are its armature, meshes and animations.
    steps = sum(1 + len(getattr(part.model, "meshes", ())) + len(part.animations) for part in parts)
    state.switch_to_object_mode(context)
    yield from builder.build(parts, Progress(steps))
    if missing:
        result.report.warn(f"not found in the game's folders: {listing(sorted(missing), _MAX_LISTED)}", character.name)
    if options.use_scene_timing:
        _set_scene_timing(context, parts, options, result.report)
    state.select_only(context, result.objects, result.objects[0])
    return result


def _is_md3(part: CharacterPart, files: GameTree) -> bool:
    if not part.model.lower().endswith(".md2"):
        return part.is_md3
    # Some mods of Quake II name MD3 models .md2.
    try:
        return files.read(part.model).startswith(MD3_MAGIC)
    except FileReadError:
        # The reader of the part says why.
        return False


def _import_md3(
    context: Context, character: Character, files: GameTree, options: CharacterOptions
) -> Job[ImportResult]:
    """Imports a Quake III player, whose models are joined at their tags, or a single model, with the sequences."""
    models = [*(part.model for part in character.parts), *([options.weapon] if options.weapon else [])]
    paths = [path for model in models if (path := files.path(model)) is not None]
    if options.weapon and files.path(options.weapon) is None:
        raise CharacterError(f"{options.weapon}: the game has no such weapon")
    md3_options = Md3Options(
        frame_start=options.frame_start,
        use_scene_timing=options.use_scene_timing,
        sequence_actions=True,
        use_textures=options.use_textures,
        game_folders=(*map(str, files.folders), *options.game_folders),
        conversion=options.conversion,
    )
    return (yield from import_md3(context, paths, md3_options))


class _Builder:
    def __init__(
        self, context: Context, character: Character, files: GameTree, options: CharacterOptions, result: ImportResult
    ) -> None:
        self._context = context
        self._character = character
        self._files = files
        self._options = options
        self._result = result
        folders = [*map(str, files.folders), *options.game_folders]
        self._md5_search = Search(folders, MD5_RULES, files)
        self._md2_search = Search(folders, MD2_RULES, files)
        self._md5_materials, self._md2_materials = MaterialLibrary(SHADERS), MaterialLibrary(SKINS)
        self._name = names.for_blender(character.name, versions.MAX_ID_NAME, "Character")
        self._collection: Collection = context.scene.collection
        self._is_single = False
        self._roots: dict[int, Object] = {}
        self._skeletons: dict[int, Skeleton] = {}

    def build(self, parts: list[PartFiles], progress: Progress) -> Job[None]:
        # An MD5 has a collection of its own, which is enough for a single part.
        self._is_single = len(parts) == 1 and isinstance(parts[0].model, Model)
        if not self._is_single:
            self._collection = bpy.data.collections.new(self._name)
            state.target_collection(self._context).children.link(self._collection)
        for part in parts:
            if isinstance(part.model, Model):
                yield from self._build_md5(part, part.model, progress)
                continue
            if part.model is not None:
                self._build_md2(part, part.model)
            else:
                self._build_empty(part)
            yield progress.step()
        for library, search in ((self._md5_materials, self._md5_search), (self._md2_materials, self._md2_search)):
            library.add_to_report(self._result.report, search.warnings)
        self._attach(parts)
        first = self._roots[parts[0].index]
        for index, root in self._roots.items():
            scene.store_part(root, first, index, self._options.conversion, self._character if root == first else None)
        # Parts refer to each other, so this has to wait until all exist.
        for part in parts:
            if part.part.default_skin:
                scene.show_skin(scene.meshes_of(self._roots[part.index]), part.part.default_skin)
        for name in scene.animation_names(self._roots.values())[:1]:
            scene.show_animation(self._roots.values(), name)

    def _build_md5(self, part: PartFiles, model: Model, progress: Progress) -> Job[None]:
        options, result = self._options, self._result
        md5_options = Md5Options(
            merge_vertices=options.merge_vertices,
            bone_direction=options.bone_direction,
            frame_start=options.frame_start,
            conversion=options.conversion,
            use_conversion_of_armature=False,
        )
        imported = ImportSkeleton(part.part.name, model.joints, model=model)
        search = self._md5_search.model(part.path, [mesh.shader for mesh in model.meshes])
        mesh_names = [mesh.name or mesh.comment_name for mesh in model.meshes]
        if options.use_textures:
            imported.images = [
                self._declared_images(part.part, name, mesh.shader, search)
                for mesh, name in zip(model.meshes, mesh_names, strict=True)
            ]
        count = len(result.objects)
        yield from build_model(self._context, imported, md5_options, self._md5_materials, result, progress)
        armature, *meshes = result.objects[count:]
        collection = armature.users_collection[0]
        self._move(collection)
        if part.iqm is not None:
            finish_iqm(imported, part.iqm, md5_options)
        if options.use_textures:
            for obj, mesh, name in zip(meshes, model.meshes, mesh_names, strict=True):
                scene.store_skins(obj, self._shader_skins(part.part, mesh.shader, name, search))
        self._roots[part.index] = armature
        skeleton = self._skeletons[part.index] = Skeleton(armature, read_rig(armature.data), part.attaching_pose)
        self._add_channels(part, skeleton)
        missing = add_tags(skeleton, part.part, collection, options.conversion)
        if missing:
            result.report.warn(f"tags on joints that the model does not have: {listing(missing)}", part.path.name)
        builder = ActionBuilder(self._context, armature, md5_options, result)
        for one in part.animations:
            builder.build(SourceAnimation(Path(one.file), one.animation, one.name, one.scales, is_loop=one.is_loop))
            self._store(one.declared, result.actions[-1], armature, one.name, one.file)
            if one.iqm is not None:
                in_model = one.file.partition(":")[0].lower() == part.part.model.lower()
                store_iqm_action(result.actions[-1], one.name, one.iqm, one.number, in_model=in_model)
            yield progress.step()

    def _build_md2(self, part: PartFiles, model: Md2Model) -> None:
        options, result = self._options, self._result
        md2_options = Md2Options(
            merge_vertices=False,
            frame_start=options.frame_start,
            sequence_actions=True,
            use_textures=options.use_textures,
            game_folders=options.game_folders,
            conversion=options.conversion,
        )
        found = None
        if options.use_textures:
            found = self._md2_search.model(part.path, model.skins[:MAX_MATERIALS]).skins()
        if part.part.skins:
            # A file that was copied from another player still names that one's skins.
            for images in found or ():
                images.missing.clear()
        materials = model_materials(part.path, model, found, self._md2_materials)
        skins = self._image_skins(part.part) if options.use_textures else {}
        materials = materials or list(skins.values())[:1]
        count = len(result.actions)
        build_md2(self._context.scene, self._collection, part.path, model, materials, md2_options, result)
        obj = self._roots[part.index] = result.objects[-1]
        # All parts play all their frames, and sequences of equal names, together.
        names_of = [scene.ALL_FRAMES, *(sequence.name for sequence in find_sequences(model.frame_names))]
        for action, name in zip(result.actions[count:], names_of, strict=False):
            self._store(CharacterAnimation(name), action, obj, name, part.part.model)
        self._build_declared_sequences(part, model, obj)
        scene.store_skins(obj, skins)
        if found and found[0].diffuse is None and skins:
            scene.show_skin([obj], next(iter(skins)))

    def _build_empty(self, part: PartFiles) -> None:
        name = names.for_blender(part.part.name, versions.MAX_ID_NAME, "attachment")
        empty = bpy.data.objects.new(name, None)
        empty.empty_display_type = "ARROWS"
        empty.empty_display_size = _EMPTY_SIZE * self._options.conversion.scale
        self._collection.objects.link(empty)
        self._roots[part.index] = empty
        self._result.objects.append(empty)

    def _build_declared_sequences(self, part: PartFiles, model: Md2Model, obj: Object) -> None:
        for declared in part.part.animations:
            if declared.frames is None or not self._options.takes(declared.name):
                continue
            first, count = declared.frames
            last = min(first + count, model.frame_count) - 1
            if first > last:
                text = f"{declared.name}: frames from {first} on, but the model has {model.frame_count}"
                self._result.report.warn(text, part.path.name)
                continue
            keys = shape_keys(obj)
            action = build_frame_action(FrameSequence(declared.name, first, last), keys, self._options.frame_start)
            action.use_fake_user = True
            self._result.actions.append(action)
            self._store(declared, action, obj, declared.name, part.part.model)

    def _store(self, declared: CharacterAnimation, action: Action, owner: Object, name: str, file: str) -> None:
        index, start = self._result.actions.index(action), self._options.frame_start
        scene.store_animation(action, declared, owner=owner, index=index, name=name, file=file, frame_start=start)

    def _move(self, collection: Collection) -> None:
        """Puts the collection of a part into that of the character, or makes it that one."""
        if self._is_single:
            collection.name = self._name
            return
        target = state.target_collection(self._context)
        if collection.name in target.children:
            target.children.unlink(collection)
        self._collection.children.link(collection)

    def _add_channels(self, part: PartFiles, skeleton: Skeleton) -> None:
        """Makes a bone collection of each channel; in the game, a joint in several belongs to the first."""
        bones, joints = skeleton.obj.data, skeleton.rig.joints
        for name, expression in part.part.channels:
            found, unknown = channel_joints(expression, joints.names, joints.parents.tolist())
            collection = bones.collections.new(names.for_blender(name, versions.MAX_NAME, "channel"))
            for joint in found:
                collection.assign(bones.bones[skeleton.rig.bone_names[joint]])
            if unknown:
                self._result.report.warn(
                    f"channel {name} names joints that the model does not have: {listing(unknown)}", part.path.name
                )

    def _attach(self, parts: list[PartFiles]) -> None:
        empties = []
        for one in (part.part for part in parts if part.model is None):
            joint = f" on {one.attachment.joint}" if one.attachment is not None and one.attachment.joint else ""
            empties.append(f"{one.name} ({one.model or 'no model'}){joint}")
        if empties:
            self._result.report.warn(
                f"empties stand for what cannot be imported: {listing(empties, _MAX_LISTED)}", self._character.name
            )
        for part in parts:
            obj = self._roots[part.index]
            parent = part.part.attachment.parent if part.part.attachment is not None else None
            if parent is None or parent not in self._roots or parent == part.index:
                if self._options.use_placement:
                    obj.matrix_basis = placement_matrix(part.part, self._options.conversion)
                continue
            skeleton = self._skeletons.get(parent)
            missing = attach(obj, part.part, self._roots[parent], skeleton, self._options.conversion)
            if missing:
                self._result.report.warn(
                    f"is attached to the joint {missing}, which is missing: it was put at the origin",
                    part.path.name or part.part.name,
                )

    def _declared_images(self, part: CharacterPart, mesh: str, shader: str, search: ModelSearch) -> MaterialImages:
        """The images that a part's declaration gives a mesh; the result of the search if it gives none."""
        found = search.material(shader, mesh or None)
        by_mesh = {fold(one.mesh): one for one in reversed(part.textures)}
        textures = by_mesh.get(fold(mesh)) or by_mesh.get(_ALL)
        if textures is None:
            return found
        paths = {Role.DIFFUSE: textures.image, Role.NORMAL: textures.bump, Role.MASKS: textures.masks}
        files = {role: self._files.find(path) for role, path in paths.items() if path}
        images = {role: file for role, file in files.items() if file is not None}
        # What is missing is reported with the character's other files.
        found.missing.clear()
        # The alpha test and the like are those of the configuration file.
        return replace(found, name=shader, images=images, game_folder="") if Role.DIFFUSE in images else found

    def _shader_skins(self, part: CharacterPart, shader: str, mesh: str, search: ModelSearch) -> dict[str, Material]:
        """The materials by skin; the first match counts (`DeclSkin.cpp`, `RemapShaderBySkin`)."""
        result: dict[str, Material] = {}
        wanted = (_ALL, fold(without_image_extension(shader)))
        for skin in part.skins:
            new = next((new for old, new in skin.replacements if fold(without_image_extension(old)) in wanted), None)
            if new is not None:
                result[skin.name] = self._md5_materials.get(new, skin.name, search.material(new, mesh or None))
        return result

    def _image_skins(self, part: CharacterPart) -> dict[str, Material]:
        result: dict[str, Material] = {}
        for skin in part.skins:
            path = next((new for _, new in skin.replacements), "")
            file = self._files.find(path) if path else None
            if file is not None:
                found = MaterialImages(path, images={Role.DIFFUSE: file})
                result[skin.name] = self._md2_materials.get(path, skin.name, found)
        return result


def _set_scene_timing(context: Context, parts: list[PartFiles], options: CharacterOptions, report: Report) -> None:
    """Sets the scene's frame rate and range to those of the first animation, or of an MD2 with several frames."""
    for part in parts:
        if part.animations:
            first = part.animations[0]
            rate = first.declared.rate or first.animation.frame_rate
            count = first.animation.frame_count
        elif isinstance(part.model, Md2Model) and part.model.frame_count > 1:
            rate, count = FRAMES_PER_SECOND, part.model.frame_count
        else:
            continue
        state.set_frame_rate(context.scene, rate, report)
        state.set_frame_range(context.scene, options.frame_start, options.frame_start + count - 1)
        return
