"""The characters of Sauerbraten, Tesseract and Red Eclipse, out of the scripts of their models and back.

From Sauerbraten (`rendermodel.cpp`, `skelmodel.h`):

- A model's folder lies below `packages/models` (Sauerbraten), `media/model` (Tesseract) or `models` (Red Eclipse).
- An MD2 has one part: `tris.md2` in the folder, else in the folder above, with the images `skin` and `masks`.
- In the game the y axis points to the other side than in the files.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache

from ..game_tree.files import FileReadError
from ..game_tree.tree import GameTree
from ..names import ancestors, join
from . import characters
from .characters import Attachment, Character, CharacterPart, JointAdjustment, MeshTextures, SourceLine
from .cube_scripts import MeshSkin, ScriptPart, image_name, mirrored, read_script, split_folder

# The name of the script of each kind of model. The commands of IQM and MD5 are the same but for their names.
CONFIGS = {"md5": "md5.cfg", "iqm": "iqm.cfg", "md2": "md2.cfg"}


def cfg_character(files: GameTree, folder: str) -> Character:
    """The character of a folder; no parts if the first is missing, FileReadError without a script."""
    folder = join(folder)
    for kind, config in CONFIGS.items():
        if files.has(join(folder, config)):
            return _CharacterReader(files, folder, kind).character()
    raise FileReadError(f"{folder}: neither {' nor '.join(CONFIGS.values())} is there")


class _CharacterReader:
    def __init__(self, files: GameTree, folder: str, kind: str) -> None:
        self._files = files
        self._folder = folder
        self._kind = kind
        self._missing: set[str] = set()
        self._find_folder = cache(self._search_folder)

    def character(self) -> Character:
        path = join(self._folder, CONFIGS[self._kind])
        script = read_script(self._files.read_text(path), path, self._kind, self._read, self._find_folder)
        self._missing.update(script.missing)
        if not script.parts:
            script.warnings.append(f"{path}, line 1: no model is loaded: there is no {self._kind}load")
        finished = [self._part(part) for part in script.parts]
        # Without its first model nothing is left, and without another one the rest.
        kept = [index for index, part in enumerate(finished) if self._files.has(part.model)]
        numbers = {old: new for new, old in enumerate(kept if kept[:1] == [0] else [])}
        parts: list[CharacterPart] = []
        for index in numbers:
            attachment = script.parts[index].attachment
            if attachment is not None and attachment.parent in numbers:
                attachment = replace(attachment, parent=numbers[attachment.parent])
            else:
                attachment = Attachment(0) if index else None
            parts.append(replace(finished[index], attachment=attachment))
        if parts:
            # The parts that hang on the first one move with it.
            offset, settings = mirrored(script.translation), (*parts[0].settings, *script.settings)
            parts[0] = replace(parts[0], offset=offset, scale=script.scale, settings=settings)
        return Character(
            name=split_folder(self._folder)[1] or "model",
            game=characters.SAUERBRATEN,
            parts=tuple(parts),
            missing=tuple(sorted(self._missing)),
            declaration=SourceLine(path, 1),
            warnings=tuple(dict.fromkeys(script.warnings)),
        )

    def _read(self, path: str) -> str | None:
        return self._files.read_text(path) if self._files.has(path) else None

    def _part(self, part: ScriptPart) -> CharacterPart:
        models = [part.model] if part.model else [join(folder, "tris.md2") for folder in ancestors(self._folder)[:2]]
        model = next(filter(self._files.has, models), models[0])
        named = [model, *(file.partition(":")[0] for one in part.animations for file in one.files)]
        self._missing.update(path for path in named if not self._files.has(path))
        textures = {one.mesh: self._textures(one) for one in part.skins.values() if one.image or one.bump}
        default = self._md2_textures(model) if not part.model else None
        if default is not None:
            every_mesh = textures.pop("*", default)
            textures = {"*": every_mesh if every_mesh.image else replace(default, bump=every_mesh.bump)} | textures
        return CharacterPart(
            name=model.rpartition("/")[2].rpartition(".")[0],
            model=model,
            animations=tuple(part.animations),
            textures=tuple(textures.values()),
            adjustments=tuple(part.adjustments),
            tags=tuple(part.tags),
            skeleton=part.skeleton,
            # They are written for MD5, whose commands are the same.
            settings=tuple((words[0].replace("iqm", "md5", 1), *words[1:]) for words in part.settings),
        )

    def _textures(self, skin: MeshSkin) -> MeshTextures:
        image, masks = (self._image(skin.folder, name) for name in (skin.image, skin.masks))
        return MeshTextures(skin.mesh, image, masks, self._image(skin.bump_folder, skin.bump), skin.strengths)

    def _image(self, folder: str | None, name: str | None) -> str | None:
        if not name:
            return None
        path = join(self._find_folder(folder or ""), image_name(name))
        found = self._files.image_path(path)
        if found is None:
            self._missing.add(path)
        return found or path

    def _md2_textures(self, model: str) -> MeshTextures | None:
        for folder in (self._folder, model.rpartition("/")[0]):
            image = self._files.image_path(join(folder, "skin"))
            if image is not None:
                masks = self._files.image_path(join(folder, "masks"))
                return MeshTextures("*", image, masks)
        return None

    def _search_folder(self, name: str) -> str:
        """A model's folder in that of all models, which is the one above if it is not known."""
        name = join(name)
        models, folder_name = split_folder(self._folder)
        if name in ("", folder_name):
            return self._folder
        bases = ancestors(self._folder) if models is None else [models]
        folders = [join(base, name) for base in bases]
        return next((folder for folder in folders if self._files.files(folder)), folders[0])


_BARE = re.compile(r"[A-Za-z0-9_.*|!<>/-]+\Z")
_UNFIT = re.compile(r"[\x00-\x1f\x7f]")


def cfg_name(character: Character) -> str:
    """The name of the script: `md5.cfg` or `md2.cfg`."""
    return CONFIGS[_kind(character)]


def cfg_text(character: Character, folder: str) -> str:
    """The script of a character, which needs at least one part, to be put into a folder."""
    return "\n".join([*_Writer(character, folder).lines(), ""])


def with_renamed_meshes(part: CharacterPart, new_names: Mapping[str, str]) -> CharacterPart:
    """A part whose commands are about meshes under other names."""

    def renamed(words: tuple[str, ...]) -> tuple[str, ...]:
        # The first word of all other commands about a part is a mesh.
        if len(words) < 2 or words[0] == "md5pitch":
            return words
        return (words[0], new_names.get(words[1], words[1]), *words[2:])

    textures = tuple(replace(one, mesh=new_names.get(one.mesh, one.mesh)) for one in part.textures)
    return replace(part, textures=textures, settings=tuple(map(renamed, part.settings)))


def _kind(character: Character) -> str:
    return "md2" if character.parts and character.parts[0].model.lower().endswith(".md2") else "md5"


class _Writer:
    def __init__(self, character: Character, folder: str) -> None:
        self._parts = character.parts
        self._kind = _kind(character)
        self._folder = self._directory = join(folder)
        self._models = split_folder(self._folder)[0]
        self._lines: list[str] = []

    def lines(self) -> list[str]:
        for part in self._parts:
            self._write_part(part)
        for index, part in enumerate(self._parts):
            attachment = part.attachment
            if attachment is not None and attachment.joint:
                numbers = _numbers(mirrored(attachment.translation))
                self._write("link", attachment.parent, index, attachment.joint, *numbers)
        for part in self._parts:
            self._lines += [_line(words) for words in part.settings if not words[0].startswith(self._kind)]
        if self._parts[0].scale != 1.0:
            self._lines.append(_line(("mdlscale", self._parts[0].scale * 100.0)))
        if any(self._parts[0].offset):
            self._lines.append(_line(("mdltrans", *mirrored(self._parts[0].offset))))
        return self._lines

    def _write_part(self, part: CharacterPart) -> None:
        smooth = f"{self._kind}smooth"
        settings = [words for words in part.settings if words[0].startswith(self._kind)]
        if self._kind == "md5":
            angle = next((words[1] for words in settings if words[0] == smooth and len(words) > 1), "")
            words = (part.skeleton, angle) if angle else (part.skeleton,) if part.skeleton else ()
            self._write("load", self._file(part.model), *words)
        for tag in part.tags:
            self._write("tag", tag.joint, tag.name, *_numbers((*tag.translation, *tag.rotation)))
        for textures in part.textures:
            # An MD2 finds `skin` and `masks` in its folder by itself.
            if self._kind != "md2" or textures.mesh != "*":
                self._write_textures(textures)
        self._lines += [_line(words) for words in settings if words[0] != smooth]
        adjustments = list(part.adjustments)
        joints = ""
        for index, animation in enumerate(part.animations):
            while adjustments and adjustments[0].first_animation <= index:
                self._write_adjustment(adjustments.pop(0))
            if animation.joints != joints:
                joints = animation.joints
                self._write("animpart", joints)
            speed = (animation.rate or 0.0, animation.priority)
            if animation.frames is not None and self._kind == "md2":
                self._write("anim", animation.name, *animation.frames, *speed)
            elif animation.files:
                self._write("anim", animation.name, self._file(animation.files[0]), *_numbers(speed))
        for adjustment in adjustments:
            self._write_adjustment(adjustment)

    def _write_textures(self, textures: MeshTextures) -> None:
        if textures.image:
            # The folder of the masks would replace that of the image.
            masks = [self._file(textures.masks)] if textures.masks else []
            self._write("skin", textures.mesh, self._file(textures.image), *masks, *textures.strengths)
        if textures.bump:
            self._write("bumpmap", textures.mesh, self._file(textures.bump))

    def _write_adjustment(self, adjustment: JointAdjustment) -> None:
        self._write("adjust", adjustment.joint, *adjustment.rotation, *adjustment.translation)

    def _file(self, path: str) -> str:
        """The name of a file in its folder, after a command that says which folder that is."""
        folder, _, name = path.rpartition("/")
        if folder != self._directory:
            self._directory = folder
            in_models = self._models is not None and folder.startswith(f"{self._models}/")
            known = folder[len(self._models or "") + 1 :] if in_models else folder
            self._write("dir", "" if folder == self._folder else known)
        return name

    def _write(self, name: str, *words: object) -> None:
        self._lines.append(_line((self._kind + name, *words)))


def _line(words: Iterable[object]) -> str:
    return " ".join(f"{word:.9g}" if isinstance(word, float | int) else _word(str(word)) for word in words)


def _word(text: str) -> str:
    if _BARE.match(text) and "//" not in text:
        return text
    escaped = text.replace("^", "^^").replace('"', '^"')
    return f'"{_UNFIT.sub("_", escaped)}"'


def _numbers(numbers: tuple[float, ...]) -> tuple[float, ...]:
    """Numbers at the end of a command, which may be left out if all are 0."""
    return numbers if any(numbers) else ()
