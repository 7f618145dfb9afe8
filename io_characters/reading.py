"""The first step of the import of a character: its files are read and checked; the scene is not changed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import TypeVar

from ..io_blender.reports import Report, listing
from ..io_common.error_messages import message_for
from ..io_common.game_data.character import Character, CharacterAnimation, CharacterPart
from ..io_common.game_data.doom3_attachments import ATTACHING_ANIMATION
from ..io_common.game_data.files import GameFiles
from ..io_common.game_data.paths import MemberStream
from ..io_common.textures.game_files import FileReadError
from ..io_md2.format import Md2Error, read_model
from ..io_md2.format import Model as Md2Model
from ..io_md2.importing.importer import check_size as check_md2_size
from ..io_md5.format import Animation, Md5Error, Model, read_animation, read_mesh
from ..io_md5.format.model import Floats
from ..io_md5.format.skeleton import match_joints, poses
from ..io_md5.importing.read import check_size
from .adjustments import adjusted, adjustments_of
from .errors import CharacterError
from .options import CharacterOptions

_Content = TypeVar("_Content")


@dataclass(eq=False)
class AnimationFile:
    """An animation file of a part.

    Attributes:
        declared: the animation that the file belongs to.
        name: that its action gets: the declared one; of further files of an animation with the file's name.
        file: its game path.
        animation: its content, with the joints adjusted.
    """

    declared: CharacterAnimation
    name: str
    file: str
    animation: Animation


@dataclass(eq=False)
class PartFiles:
    """The files of a part.

    Attributes:
        index: of the part in `Character.parts`.
        part: as declared.
        path: of the model, on disk or leading into an archive.
        model: its content; None for an attachment that is no model, which an empty stands for.
        animations: one for each file; none for an MD2, which holds its frames itself.
        attaching_pose: the orientations of its joints while the game attaches other parts, w x y z, (J, 4); None for
            those of the bind pose.
    """

    index: int
    part: CharacterPart
    path: Path
    model: Model | Md2Model | None
    animations: list[AnimationFile] = field(default_factory=list)
    attaching_pose: Floats | None = None


def read_parts(
    character: Character, files: GameFiles, options: CharacterOptions, report: Report
) -> tuple[list[PartFiles], set[str]]:
    """The files of all parts that are there, and the names of those that are missing; what is damaged is a warning.

    Raises CharacterError if the first model is missing or damaged.
    """
    reader = _Reader(files, report)
    reader.missing.update(character.missing)
    parts = []
    for index, part in enumerate(character.parts):
        if part.attachment is not None and not part.attachment.joint and _is_spare(character, index, options):
            continue
        carries = any(
            one.attachment is not None and one.attachment.parent == index for one in character.parts
        )
        found = reader.part(index, part, options, carries=carries)
        if found is None and index == 0:
            break
        if found is not None:
            parts.append(found)
    if not parts:
        reasons = [
            *reader.broken,
            *([f"missing: {listing(sorted(reader.missing))}"] if reader.missing else []),
        ]
        raise CharacterError(
            f"{character.name}: its model cannot be read: {'; '.join(reasons) or 'it names none'}"
        )
    for text in (*reader.broken, *character.warnings):
        report.warn(text)
    return parts, reader.missing


def _is_spare(character: Character, index: int, options: CharacterOptions) -> bool:
    """Whether a part is a weapon that the character does not usually hold."""
    return character.game == "QUAKE2" and index > 1 and not options.all_weapons


class _Reader:
    """Reads files, and collects those that are missing and damaged."""

    def __init__(self, files: GameFiles, report: Report) -> None:
        self._files = files
        self._report = report
        self._animations: dict[str, Animation | None] = {}
        self.missing: set[str] = set()
        self.broken: list[str] = []

    def part(
        self, index: int, part: CharacterPart, options: CharacterOptions, *, carries: bool
    ) -> PartFiles | None:
        if not part.is_model:
            return PartFiles(index, part, Path(part.model), None)
        is_md2 = part.model.lower().endswith(".md2")
        model: Model | Md2Model | None
        model = self._read(part.model, _read_md2) if is_md2 else self._read(part.model, _read_md5)
        path = self._files.path(part.model)
        if model is None or path is None:
            return None
        for text in model.warnings:
            self._report.warn(text, path.name)
        found = PartFiles(index, part, path, model)
        if isinstance(model, Model):
            found.animations = self._animations_of(part, model, options)
            found.attaching_pose = self._attaching_pose(part, model) if carries else None
        return found

    def _attaching_pose(self, part: CharacterPart, model: Model) -> Floats | None:
        declared = next((one for one in part.animations if one.name == ATTACHING_ANIMATION), None)
        animation = self._animation(declared.files[0]) if declared is not None else None
        if animation is None or not animation.frame_count:
            return None
        orientations = model.joints.orientations.copy()
        match = match_joints(animation, model.joints)
        orientations[match.bones] = poses(animation, [0])[1][0, match.joints]
        return orientations

    def _animations_of(
        self, part: CharacterPart, model: Model, options: CharacterOptions
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
                animation = self._animation(file)
                if animation is None or not match_joints(animation, model.joints).joints:
                    continue
                name = f"{declared.name} ({PurePosixPath(file).stem})" if number else declared.name
                result.append(AnimationFile(declared, name, file, adjusted(animation, adjustments)))
        return result

    def _animation(self, file: str) -> Animation | None:
        key = file.lower()
        if key not in self._animations:
            self._animations[key] = self._read(file, read_animation)
        return self._animations[key]

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


def _read_md5(stream: MemberStream) -> Model:
    model = read_mesh(stream)
    check_size(model.joints, len(model.meshes), Path(stream.name))
    return model


def _read_md2(stream: MemberStream) -> Md2Model:
    model = read_model(stream)
    check_md2_size({Path(stream.name): model})
    return model
