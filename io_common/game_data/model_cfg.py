"""The characters of Sauerbraten, Tesseract and Red Eclipse: `md5.cfg` and `md2.cfg` in a model's folder.

From the published sources of Sauerbraten (`md5.h`, `skelmodel.h`, `animmodel.h`, `rendermodel.cpp`):

- A model's folder lies below `packages/models` (Sauerbraten), `media/model` (Tesseract) or `models` (Red Eclipse).
  `md5dir DIR` names another folder there, for the files of all commands that follow. `exec FILE` runs another script;
  its path begins at the game's folder.
- `md5load MESH [SKELETON] [SMOOTH]` begins a part, which the commands after it are about. Models that name the same
  SKELETON share it and its animations.
- `md5skin`, `md5bumpmap`: images of a mesh, or of all with `*`. A later command takes the place of an earlier one.
- `md5anim NAMES FILE [SPEED] [PRIORITY]`: the names may be alternatives, `idle|hold 1`. Without a SPEED, or with 0, the
  game plays 10 frames a second. Several files of one name are variants.
- `md5animpart JOINTS`: the animations after it move these joints and those below them alone.
- `md5adjust JOINT yaw pitch roll tx ty tz`: about the animations that are loaded after it.
- `md5tag JOINT TAG tx ty tz rx ry rz`, `md5link PARENT CHILD TAG tx ty tz`: a part hangs on a tag of another.
- `mdlscale PERCENT`, `mdltrans x y z`: of the whole model.
- In the game the y axis points to the other side than in the files.

An MD2 has one part: `tris.md2` in the folder, else in the folder above.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from ..counting import counted
from ..game_tree.files import FileReadError
from ..game_tree.names import ancestors, join
from ..game_tree.tree import GameTree
from ..textures.skins import cfg_image
from .character import (
    SAUERBRATEN,
    Attachment,
    Character,
    CharacterAnimation,
    CharacterPart,
    Declaration,
    JointAdjustment,
    MeshTextures,
    Tag,
)
from .cubescript import Command, Interpreter, ScriptLimitError, number

CONFIGS = {"md5": "md5.cfg", "md2": "md2.cfg"}
"""The name of the script of each kind of model."""

_MODEL_FOLDERS = ("models", "model")
_MAX_PARTS = 256
_MAX_IMAGES = 1024
# Windows and Linux open no longer ones.
_LONGEST_PATH = 4096


def cfg_character(files: GameTree, folder: str) -> Character:
    """The character that a model's folder describes.

    What the script has wrong is a warning. If even the first model is missing, there are no parts. `files` may also be
    those of any folder of the game; `folder` is the one with `md5.cfg` or `md2.cfg`. Raises FileReadError if there is
    no script, or it cannot be read.
    """
    folder = join(folder)
    for kind, config in CONFIGS.items():
        if files.has(join(folder, config)):
            return _Config(files, folder, kind).character()
    raise FileReadError(f"{folder}: neither {' nor '.join(CONFIGS.values())} is there")


@dataclass
class _Part:
    """A part while its commands are read."""

    model: str
    is_there: bool
    skeleton: str = ""
    animations: list[CharacterAnimation] = field(default_factory=list)
    textures: dict[str, MeshTextures] = field(default_factory=dict)
    adjustments: list[JointAdjustment] = field(default_factory=list)
    tags: list[Tag] = field(default_factory=list)
    settings: list[tuple[str, ...]] = field(default_factory=list)
    joints: str = ""
    attachment: Attachment | None = None


class _Config:
    """Runs a script and collects what it says about the model."""

    def __init__(self, files: GameTree, folder: str, kind: str) -> None:
        self._files = files
        self._folder = folder
        self._kind = kind
        self._models, self._name = _split_folder(folder)
        self._directory = folder
        self._parts: list[_Part] = []
        self._images: dict[str, str | None] = {}
        self._missing: set[str] = set()
        self._warnings: list[str] = []
        self._scale = 1.0
        self._translation = (0.0, 0.0, 0.0)
        self._settings: list[tuple[str, ...]] = []
        self._file = join(folder, CONFIGS[kind])
        own: dict[str, Command] = {
            "dir": self._dir, "load": self._load, "skin": self._skin, "bumpmap": self._bump, "anim": self._anim,
            "animpart": self._anim_part, "adjust": self._adjust, "tag": self._tag, "link": self._link,
        }  # fmt: skip
        commands: dict[str, Command] = {kind + name: command for name, command in own.items()}
        commands |= {
            "exec": self._exec,
            "mdlname": lambda arguments, line: self._name,
            "mdlscale": self._set_scale,
            "mdltrans": self._set_translation,
        }
        self._script = Interpreter(commands, self._other)

    def character(self) -> Character:
        """Runs the script."""
        if self._kind == "md2":
            self._load_md2()
        declaration = Declaration(self._file, 1)
        self._run(self._file)
        # The number of each part without those whose model is missing.
        kept = [part for part in self._parts if part.is_there]
        if not self._parts:
            self._warn("no model is loaded: there is no md5load", 1)
        if self._parts and not self._parts[0].is_there:
            kept = []
        numbers = {id(part): number for number, part in enumerate(kept)}
        parts = [self._finished(part, numbers) for part in kept]
        if parts:
            parts[0] = replace(parts[0], settings=(*parts[0].settings, *self._settings))
        return Character(
            name=self._name or "model",
            game=SAUERBRATEN,
            parts=tuple(parts),
            missing=tuple(sorted(self._missing)),
            declaration=declaration,
            warnings=tuple(dict.fromkeys(self._warnings)),
        )

    def _finished(self, part: _Part, numbers: dict[int, int]) -> CharacterPart:
        attachment = part.attachment
        if attachment is not None:
            parent = numbers.get(id(self._parts[attachment.parent]))
            attachment = replace(attachment, parent=parent) if parent is not None else None
        index = numbers[id(part)]
        if attachment is None and index:
            attachment = Attachment(0)
        x, y, z = self._translation
        return CharacterPart(
            name=part.model.rpartition("/")[2].rpartition(".")[0],
            model=part.model,
            animations=tuple(part.animations),
            textures=tuple(part.textures.values()),
            # In the files' own axes. The parts that hang on the first one move with it.
            offset=(x, 0.0 - y, z) if not index else (0.0, 0.0, 0.0),
            scale=self._scale if not index else 1.0,
            adjustments=tuple(part.adjustments),
            attachment=attachment,
            tags=tuple(part.tags),
            skeleton=part.skeleton,
            settings=tuple(part.settings),
        )

    def _load_md2(self) -> None:
        for folder in (self._folder, *ancestors(self._folder)[1:2]):
            model = join(folder, "tris.md2")
            if self._files.has(model):
                break
        else:
            model = join(self._folder, "tris.md2")
            self._missing.add(model)
        self._parts.append(_Part(model, self._files.has(model)))
        for folder in dict.fromkeys((self._folder, model.rpartition("/")[0])):
            image = self._files.image_path(join(folder, "skin"))
            if image is not None:
                masks = self._files.image_path(join(folder, "masks"))
                self._parts[0].textures["*"] = MeshTextures("*", image, masks)
                break

    # --- Running scripts

    def _run(self, path: str) -> None:
        found = self._files.find(path)
        if found is None:
            self._missing.add(path)
            return
        outer, self._file = self._file, path
        try:
            self._script.run(self._files.read_text(path))
        except (ScriptLimitError, FileReadError) as error:
            self._warn(f"stopped: {error}", 1)
        finally:
            self._file = outer

    def _exec(self, arguments: list[str], line: int) -> None:
        path = join(arguments[0]) if arguments else ""
        if not path:
            self._warn("exec without a file", line)
            return
        if len(path) > _LONGEST_PATH:
            self._missing.add(path)
            return
        parts = path.split("/")
        # The script's path begins at the game's folder, which may lie above the one that is searched.
        shorter = ["/".join(parts[count:]) for count in range(len(parts))]
        for base in reversed(ancestors(self._folder)):
            for candidate in shorter:
                if candidate and self._files.has(join(base, candidate)):
                    self._run(join(base, candidate))
                    return
        self._missing.add(path)

    def _other(self, name: str, arguments: list[str], line: int) -> None:
        del line
        words = (name, *arguments)
        if name.startswith(self._kind) and self._parts:
            self._parts[-1].settings.append(words)
        elif name.startswith(("mdl", "rd")):
            self._settings.append(words)

    def _warn(self, text: str, line: int) -> None:
        self._warnings.append(f"{self._file}, line {line}: {text}")

    # --- Commands

    def _dir(self, arguments: list[str], line: int) -> None:
        del line
        name = join(arguments[0]) if arguments else ""
        if not name:
            self._directory = self._folder
            return
        if name == self._name:
            self._directory = self._folder
            return
        # Where the folder of all models is not known, it is one above this one.
        bases = ancestors(self._folder) if self._models is None else [self._models]
        folders = [join(base, name) for base in bases]
        listings = ((folder, self._files.listing(folder)) for folder in folders)
        found = next(
            (folder for folder, listing in listings if listing is not None and listing.files), folders[0]
        )
        self._directory = found

    def _load(self, arguments: list[str], line: int) -> None:
        if not arguments or not arguments[0]:
            self._warn(f"{self._kind}load without a file", line)
            return
        if len(self._parts) >= _MAX_PARTS:
            return
        model = join(self._directory, arguments[0])
        is_there = self._files.has(model)
        if not is_there:
            self._missing.add(model)
        part = _Part(model, is_there, skeleton=_word(arguments, 1))
        if _word(arguments, 2):
            part.settings.append((f"{self._kind}smooth", _word(arguments, 2)))
        self._parts.append(part)

    def _last(self, command: str, arguments: list[str], needed: int, line: int) -> _Part | None:
        """The part that a command is about; None, with a warning, if it cannot be run."""
        if not self._parts:
            self._warn(f"{self._kind}{command} before {self._kind}load", line)
            return None
        if len([word for word in arguments[:needed] if word]) < needed:
            self._warn(f"{self._kind}{command} needs {counted(needed, 'words')}", line)
            return None
        return self._parts[-1]

    def _image(self, name: str, line: int) -> str:
        path = join(self._directory, cfg_image(name))
        if path not in self._images:
            if len(self._images) >= _MAX_IMAGES:
                self._warn(f"no more than {counted(_MAX_IMAGES, 'images')} are looked for", line)
                return path
            self._images[path] = self._files.image_path(path)
        found = self._images[path]
        if found is None:
            self._missing.add(path)
        return found or path

    def _skin(self, arguments: list[str], line: int) -> None:
        part = self._last("skin", arguments, 2, line)
        if part is None:
            return
        mesh, masks = arguments[0], _word(arguments, 2)
        # Numbers directly after the image are the strengths of reflections.
        is_name = masks != "" and not _is_number(masks)
        before = part.textures.get(mesh, MeshTextures(mesh))
        part.textures[mesh] = replace(
            before,
            image=self._image(arguments[1], line),
            masks=self._image(masks, line) if is_name else None,
            strengths=tuple(number(word) for word in arguments[2:] if _is_number(word)),
        )

    def _bump(self, arguments: list[str], line: int) -> None:
        part = self._last("bumpmap", arguments, 2, line)
        if part is not None:
            before = part.textures.get(arguments[0], MeshTextures(arguments[0]))
            part.textures[arguments[0]] = replace(before, bump=self._image(arguments[1], line))

    def _anim(self, arguments: list[str], line: int) -> None:
        part = self._last("anim", arguments, 2, line)
        if part is None:
            return
        if self._kind == "md2":
            first, count = int(number(arguments[1])), max(int(number(_word(arguments, 2))), 1)
            speed, priority = number(_word(arguments, 3)), int(number(_word(arguments, 4)))
            animation = CharacterAnimation(arguments[0], (), speed or None, frames=(max(first, 0), count))
        else:
            path = join(self._directory, arguments[1])
            if not self._files.has(path):
                self._missing.add(path)
            speed, priority = number(_word(arguments, 2)), int(number(_word(arguments, 3)))
            animation = CharacterAnimation(arguments[0], (path,), speed or None)
        part.animations.append(replace(animation, priority=priority, joints=part.joints))

    def _anim_part(self, arguments: list[str], line: int) -> None:
        part = self._last("animpart", arguments, 1, line)
        if part is not None:
            part.joints = arguments[0]

    def _adjust(self, arguments: list[str], line: int) -> None:
        part = self._last("adjust", arguments, 1, line)
        if part is not None:
            part.adjustments.append(
                JointAdjustment(
                    arguments[0], _three(arguments, 1), _three(arguments, 4), len(part.animations)
                )
            )

    def _tag(self, arguments: list[str], line: int) -> None:
        part = self._last("tag", arguments, 2, line)
        if part is not None:
            part.tags.append(Tag(arguments[1], arguments[0], _three(arguments, 5), _three(arguments, 2)))

    def _link(self, arguments: list[str], line: int) -> None:
        if self._last("link", arguments, 2, line) is None:
            return
        parent, child = int(number(arguments[0])), int(number(arguments[1]))
        if not 0 <= parent < child < len(self._parts):
            self._warn(f"md5link of parts {parent} and {child}, of {len(self._parts)}", line)
            return
        if self._parts[child].attachment is not None:
            self._warn(f"part {child} hangs on another part already", line)
            return
        x, y, z = _three(arguments, 3)
        self._parts[child].attachment = Attachment(parent, _word(arguments, 2), translation=(x, 0.0 - y, z))

    def _set_scale(self, arguments: list[str], line: int) -> None:
        del line
        percent = number(_word(arguments, 0))
        self._scale = percent / 100.0 if percent > 0.0 else 1.0

    def _set_translation(self, arguments: list[str], line: int) -> None:
        del line
        self._translation = _three(arguments, 0)


def models_folder(folder: str) -> str | None:
    """The folder of all models that a model's folder lies in; None if it is not known."""
    return _split_folder(join(folder))[0]


def _split_folder(folder: str) -> tuple[str | None, str]:
    """The folder of all models, None if it is not known, and the name of a model, which is its path in there."""
    parts = folder.split("/") if folder else []
    for index, part in enumerate(parts[:-1]):
        if part.lower() in _MODEL_FOLDERS:
            return "/".join(parts[: index + 1]), "/".join(parts[index + 1 :])
    return None, parts[-1] if parts else ""


def _word(words: list[str], index: int) -> str:
    return words[index] if index < len(words) else ""


def _three(words: list[str], index: int) -> tuple[float, float, float]:
    x, y, z = (number(_word(words, index + axis)) for axis in range(3))
    return x, y, z


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True
