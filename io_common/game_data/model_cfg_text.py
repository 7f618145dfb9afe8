"""`md5.cfg` and `md2.cfg` as text, for a character of Sauerbraten, Tesseract or Red Eclipse.

What `model_cfg` makes of the text is the character that it was written from. Scripts that the original ran are part of
it, and conditions are decided.
"""

from __future__ import annotations

import re

from ..game_tree.names import join
from .character import Character, CharacterPart, MeshTextures
from .model_cfg import CONFIGS, models_folder

_BARE = re.compile(r"[A-Za-z0-9_.*|!<>/-]+\Z")
_UNFIT = re.compile(r"[\x00-\x1f\x7f]")


def cfg_name(character: Character) -> str:
    """The name of the script: `md5.cfg` or `md2.cfg`."""
    return CONFIGS[_kind(character)]


def cfg_text(character: Character, folder: str) -> str:
    """The script of a character, which needs at least one part. `folder` is the one that the script lies in."""
    return "\n".join([*_Writer(character, folder).lines(), ""])


def _kind(character: Character) -> str:
    return "md2" if character.parts and character.parts[0].model.lower().endswith(".md2") else "md5"


class _Writer:
    def __init__(self, character: Character, folder: str) -> None:
        self._character = character
        self._kind = _kind(character)
        self._folder = self._directory = join(folder)
        self._models = models_folder(folder)
        self._lines: list[str] = []

    def lines(self) -> list[str]:
        """The lines of the script."""
        parts = self._character.parts
        general: list[tuple[str, ...]] = []
        for part in parts:
            own = [words for words in part.settings if words and words[0].startswith(self._kind)]
            general += [words for words in part.settings if words and words not in own]
            self._part(part, own)
        for index, part in enumerate(parts):
            attachment = part.attachment
            if attachment is not None and attachment.joint:
                x, y, z = attachment.translation
                offset = (x, 0.0 - y, z)
                self._command(
                    "link", attachment.parent, index, attachment.joint, *(offset if any(offset) else ())
                )
        for words in general:
            self._lines.append(" ".join(map(_word, words)))
        if parts and parts[0].scale != 1.0:
            self._lines.append(f"mdlscale {_number(parts[0].scale * 100.0)}")
        if parts and any(parts[0].offset):
            x, y, z = parts[0].offset
            self._lines.append("mdltrans {} {} {}".format(*map(_number, (x, 0.0 - y, z))))
        return self._lines

    def _part(self, part: CharacterPart, settings: list[tuple[str, ...]]) -> None:
        smooth = next(
            (words[1] for words in settings if words[0] == f"{self._kind}smooth" and len(words) > 1), ""
        )
        if self._kind == "md5":
            own = [part.skeleton, smooth] if smooth else [part.skeleton] if part.skeleton else []
            self._command("load", self._file(part.model), *own)
        for tag in part.tags:
            numbers = (*tag.translation, *tag.rotation)
            self._command("tag", tag.joint, tag.name, *(numbers if any(numbers) else ()))
        for textures in part.textures:
            self._textures(textures)
        others = [words for words in settings if words[0] != f"{self._kind}smooth"]
        self._lines += [" ".join(map(_word, words)) for words in others]
        self._animations(part)

    def _textures(self, textures: MeshTextures) -> None:
        # An MD2 finds `skin` and `masks` in its folder by itself.
        if self._kind == "md2" and textures.mesh == "*":
            return
        if textures.image:
            masks = [self._file(textures.masks)] if textures.masks else []
            image = self._file(textures.image)
            self._command("skin", textures.mesh, image, *masks, *textures.strengths)
        if textures.bump:
            self._command("bumpmap", textures.mesh, self._file(textures.bump))

    def _animations(self, part: CharacterPart) -> None:
        adjustments = list(part.adjustments)
        joints = ""
        for index, animation in enumerate(part.animations):
            while adjustments and adjustments[0].first_animation <= index:
                adjustment = adjustments.pop(0)
                self._command("adjust", adjustment.joint, *adjustment.rotation, *adjustment.translation)
            if animation.joints != joints:
                joints = animation.joints
                self._command("animpart", joints)
            speed = [animation.rate or 0.0, animation.priority]
            if animation.frames is not None and self._kind == "md2":
                self._command("anim", animation.name, *animation.frames, *speed)
            elif animation.files:
                numbers = speed if any(speed) else ()
                self._command("anim", animation.name, self._file(animation.files[0]), *numbers)
        for adjustment in adjustments:
            self._command("adjust", adjustment.joint, *adjustment.rotation, *adjustment.translation)

    def _file(self, path: str) -> str:
        """The name of a file in its folder, after a command that says which folder that is."""
        folder, _, name = path.rpartition("/")
        if folder != self._directory:
            self._directory = folder
            self._command("dir", self._relative(folder))
        return name

    def _relative(self, folder: str) -> str:
        models = self._models
        if folder == self._folder:
            return '""'
        if models is not None and folder.startswith(f"{models}/"):
            return folder[len(models) + 1 :]
        return folder

    def _command(self, name: str, *words: object) -> None:
        texts = [_number(word) if isinstance(word, float | int) else _word(str(word)) for word in words]
        self._lines.append(" ".join([self._kind + name, *texts]))


def _word(text: str) -> str:
    if text == '""' or (_BARE.match(text) and "//" not in text):
        return text
    escaped = text.replace("^", "^^").replace('"', '^"')
    return f'"{_UNFIT.sub("_", escaped)}"'


def _number(value: float) -> str:
    return f"{value:.9g}"
