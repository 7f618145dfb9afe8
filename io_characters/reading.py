"""The first steps of the import of a character: it is found in a game, and its files are read and checked."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import TypeVar

from ..io_blender.frames.models import require_few_frames
from ..io_blender.options import frame_start_option, option, scene_timing_option
from ..io_blender.reports import Report, listing, printable
from ..io_blender.scene import axes
from ..io_blender.skeletal.importing.sources import check_size
from ..io_blender.skeletal.options import RigProperties
from ..io_common.catalogue import Catalogue, kept_catalogue
from ..io_common.declarations.characters import IQM_SUFFIX, Character, CharacterAnimation, CharacterPart
from ..io_common.declarations.doom3_characters import ATTACHING_ANIMATION
from ..io_common.errors import message_for
from ..io_common.game_tree.archives import MemberStream
from ..io_common.game_tree.files import FileReadError
from ..io_common.game_tree.folders import folders_of
from ..io_common.game_tree.tree import GameTree
from ..io_common.names import fold
from ..io_common.skeletal.model import Floats
from ..io_common.skeletal.scales import NamedAnimation, ScaleTable
from ..io_common.skeletal.skeleton import match_joints, poses
from ..io_common.texts import matches
from ..io_iqm.format import Iqm, bind_scales, read_iqm, to_animations, to_model
from ..io_md2.format import Md2Error, read_model
from ..io_md2.format import Model as Md2Model
from ..io_md5.format import Animation, Md5Error, Model, read_animation, read_mesh
from . import CharacterError
from .joints import adjusted, adjustments_of

_Content = TypeVar("_Content")
_Read = tuple[NamedAnimation, Iqm | None, int]  # an animation, its file if that is an IQM, and its number in this


def game_folder(game: str, known: Sequence[str]) -> Path:
    """The folder that a path, or the last part of a known one, names; empty names the first known one."""
    wanted = game.strip().rstrip("/\\")
    if not wanted and not known:
        raise CharacterError("no game: add its folder in the add-on's preferences, or give its path")
    cleaned = [folder.rstrip("/\\") for folder in known]
    for folder, clean in zip(known, cleaned, strict=True):
        if not wanted or fold(wanted) in (fold(clean), fold(Path(clean).name)):
            return Path(folder)
    if os.path.exists(wanted):
        return Path(wanted)
    names = listing([Path(clean).name for clean in cleaned]) or "none"
    raise CharacterError(
        f"{game}: there is no such folder. Give the path of a game folder, or one of the preferences ({names})"
    )


def catalogue(folder: Path, base: Path | None = None) -> Catalogue:
    """The list of what can be imported; CharacterError if the game folder is inside `folder` instead."""
    found = kept_catalogue(folders_of(folder, base))
    if found.problem:
        raise CharacterError(found.problem)
    return found


@dataclass(frozen=True)
class CharacterProperties(RigProperties):
    """The options of the import of a character that users set."""

    animation_filter: str = option(
        "",
        "Animation Filter",
        "Import only animations with this text in their name, or that fit a pattern with * and ?. Empty for all",
    )
    use_textures: bool = option(
        True, "Textures and Skins", "Import the images of the materials, and the skins to switch between"
    )
    use_placement: bool = option(
        True, "Place as in Game", "Move and scale the character by the offset and scale of its declaration"
    )
    all_weapons: bool = option(False, "All Weapons", "Import all weapons of a Quake II player, not only weapon.md2")
    frame_start: int = frame_start_option("each file")
    use_scene_timing: bool = scene_timing_option("the first animation")


@dataclass(frozen=True)
class CharacterOptions(CharacterProperties):
    """The options of the import of a character."""

    weapon: str = ""  # the path of a weapon that a player of Quake III holds
    left_out: frozenset[str] = frozenset()  # names of animations, as the interface shows them
    game_folders: tuple[str, ...] = ()  # searched for images, besides those of the game
    conversion: axes.Conversion = field(default_factory=axes.identity)  # from the files to the scene

    def takes(self, animation: str) -> bool:
        """Whether the animation of a declared name is imported."""
        return matches(animation, self.animation_filter) and printable(animation) not in self.left_out


@dataclass(eq=False)
class AnimationFile:
    """An animation file of a part."""

    declared: CharacterAnimation
    name: str  # of its action: the declared one, with the file's for further files
    file: str  # game path
    animation: Animation  # with the joints adjusted
    scales: ScaleTable | None = None
    is_loop: bool | None = None  # whether games repeat it, None if the file does not say
    iqm: Iqm | None = None  # the file if it is an IQM, and the number in it
    number: int = 0


@dataclass(eq=False)
class PartFiles:
    """The files of a part."""

    index: int  # in `Character.parts`
    part: CharacterPart
    path: Path  # on disk or leading into an archive
    model: Model | Md2Model | None  # None for an attachment that is no model, shown as an empty
    # One for each file; none for an MD2, which holds its frames itself.
    animations: list[AnimationFile] = field(default_factory=list)
    # Orientations of the joints while the game attaches parts, w x y z, (J, 4); None: bind pose.
    attaching_pose: Floats | None = None
    iqm: Iqm | None = None  # the file, if it is an IQM


def read_parts(
    character: Character, files: GameTree, options: CharacterOptions, report: Report
) -> tuple[list[PartFiles], set[str]]:
    """The files of all parts and names of missing ones; CharacterError if the first model cannot be read."""
    reader = _Reader(files, report)
    reader.missing.update(character.missing)
    parts = []
    carrying = {one.attachment.parent for one in character.parts if one.attachment is not None}
    for index, part in enumerate(character.parts):
        # The weapon that a player of Quake II usually holds is part 1.
        is_spare = character.game == "QUAKE2" and index > 1 and not options.all_weapons
        if is_spare and part.attachment is not None and not part.attachment.joint:
            continue
        found = reader.read_part(index, part, options, is_carrying=index in carrying)
        if found is None and index == 0:
            break
        if found is not None:
            parts.append(found)
    if not parts:
        missing = [f"missing: {listing(sorted(reader.missing))}"] if reader.missing else []
        reasons = [*reader.broken, *missing]
        raise CharacterError(f"{character.name}: its model cannot be read: {'; '.join(reasons) or 'it names none'}")
    for text in (*reader.broken, *character.warnings):
        report.warn(text)
    return parts, reader.missing


class _Reader:
    def __init__(self, files: GameTree, report: Report) -> None:
        self._files = files
        self._report = report
        self._animations: dict[tuple[str, bytes], list[_Read]] = {}
        self.missing: set[str] = set()
        self.broken: list[str] = []

    def read_part(
        self, index: int, part: CharacterPart, options: CharacterOptions, *, is_carrying: bool
    ) -> PartFiles | None:
        if not part.is_model or part.is_md3:
            return PartFiles(index, part, Path(part.model), None)
        contents, path = self._read(part.model, _read_model), self._files.path(part.model)
        if contents is None or path is None:
            return None
        model, iqm = contents
        for text in model.warnings:
            self._report.add_fact(text, path.name)
        found = PartFiles(index, part, path, model, iqm=iqm)
        if isinstance(model, Model):
            if iqm is not None:
                for mesh in model.meshes:
                    mesh.comment_name = mesh.name
                # Those of its file that no script names.
                named = {file.lower() for one in part.animations for file in one.files}
                files = {one.name: f"{part.model}:{one.name}" for one in iqm.animations if one.frame_count}
                own = [CharacterAnimation(name, (file,)) for name, file in files.items() if file.lower() not in named]
                part = replace(part, animations=(*part.animations, *own))
            found.animations = self._animations_of(part, model, options, iqm)
            found.attaching_pose = self._attaching_pose(part, model) if is_carrying else None
        return found

    def _attaching_pose(self, part: CharacterPart, model: Model) -> Floats | None:
        declared = next((one for one in part.animations if one.name == ATTACHING_ANIMATION), None)
        read = self._animation(declared.files[0], model, None) if declared is not None else None
        if read is None or not read[0].animation.frame_count:
            return None
        animation = read[0].animation
        orientations = model.joints.orientations.copy()
        match = match_joints(animation, model.joints)
        orientations[match.bones] = poses(animation, [0])[1][0, match.joints]
        return orientations

    def _animations_of(
        self, part: CharacterPart, model: Model, options: CharacterOptions, iqm: Iqm | None
    ) -> list[AnimationFile]:
        result: list[AnimationFile] = []
        # Games play some files under one name at once on several joints: they are one action.
        known: set[tuple[object, ...]] = set()
        by_name = {one.name: one for one in part.animations}
        for index, declared in enumerate(part.animations):
            if not options.takes(declared.name):
                continue
            if declared.replacement:
                played = by_name.get(declared.replacement, declared)
                declared = replace(played, name=declared.name)
            adjustments = adjustments_of(part.adjustments, index)
            for number, file in enumerate(declared.files):
                key = (declared.name, file.lower(), declared.commands, declared.flags, *adjustments.values())
                if key in known:
                    continue
                known.add(key)
                read = self._animation(file, model, iqm)
                if read is None or not match_joints(read[0].animation, model.joints).joints:
                    continue
                found, *place = read
                name = f"{declared.name} ({PurePosixPath(file).stem})" if number else declared.name
                animation = adjusted(found.animation, adjustments)
                result.append(AnimationFile(declared, name, file, animation, found.scales, found.is_loop, *place))
        return result

    def _animation(self, file: str, model: Model, iqm: Iqm | None) -> _Read | None:
        """The animation of a file, or with a name after a colon that of an IQM."""
        path, _, name = file.partition(":")
        scales = None if iqm is None or not iqm.joint_names else bind_scales(iqm)

        def read(stream: MemberStream) -> list[_Read]:
            if not path.lower().endswith(IQM_SUFFIX):
                return [(NamedAnimation("", read_animation(stream)), None, 0)]
            whole = read_iqm(stream, preserve=True)
            numbers = [number for number, one in enumerate(whole.animations) if one.frame_count]
            found = zip(to_animations(whole, model.joints, scales), numbers, strict=True)
            return [(one, whole, number) for one, number in found]

        key = path.lower(), b"" if scales is None else scales.tobytes()
        if key not in self._animations:
            self._animations[key] = self._read(path, read) or []
        found = self._animations[key]
        named = next((one for one in found if name in ("", one[0].name)), None)
        if found and named is None:
            self.missing.add(file)
        return named

    def _read(self, game_path: str, read: Callable[[MemberStream], _Content]) -> _Content | None:
        path = self._files.path(game_path)
        if path is None:
            self.missing.add(game_path)
            return None
        try:
            return read(MemberStream(self._files.read(game_path), str(path)))
        except (Md5Error, Md2Error, FileReadError) as error:
            self.broken.append(f"skipped: {message_for(error, (Md5Error, Md2Error, FileReadError))}")
            return None


def _read_model(stream: MemberStream) -> tuple[Model | Md2Model, Iqm | None]:
    """The model in a file, and the file if it is an IQM."""
    name = stream.name.lower()
    if name.endswith(".md2"):
        frames = read_model(stream)
        require_few_frames(frames.frame_count, Path(stream.name), Md2Error)
        return frames, None
    iqm = read_iqm(stream, preserve=True) if name.endswith(IQM_SUFFIX) else None
    model = to_model(iqm) if iqm is not None else read_mesh(stream)
    check_size(model.joints, len(model.meshes), Path(stream.name))
    return model, iqm
