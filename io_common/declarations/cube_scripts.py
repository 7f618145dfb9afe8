"""The scripts of models of Sauerbraten, Tesseract and Red Eclipse: `md5.cfg`, `md2.cfg`, and what they run.

From Sauerbraten (`command.cpp`, `md5.h`, `vertmodel.h`, `skelmodel.h`, `animmodel.h`):

- A statement is a line, or ends with `;`. A word is bare, a string in double quotes, a block in `[ ]`, `( )` with a
  statement whose result it is, or `$NAME` for an alias. `//` begins a comment. An open string ends with its line.
- Commands, `exec`, aliases, and `if` with comparisons of numbers, `strstr` and `mdlname` are understood. Anything else
  is left out with a warning, and a condition that is not understood does not hold.
- `md5load MESH [SKELETON] [SMOOTH]` begins a part, which the commands after it are about. Models that name the same
  SKELETON share it and its animations. An MD2 has one part, which is not loaded by a command.
- `md5dir DIR` names a folder of models for the commands that follow. The path of `exec` begins at the game's folder.
- `md5skin MESH IMAGE [MASKS ...]`, `md5bumpmap`, `md5alphatest`, `md5alphablend`, `md5cullface`: of a mesh, or of all
  with `*`. MESH is the name in `// meshes: NAME` of an md5mesh. Later commands replace earlier ones. `mdlalphatest`,
  `mdlalphablend` and `mdlcullface` apply to the whole model.
- Images may have modifiers (`<dds>skin.png`). Of masks, red is the specular strength, green the glow, blue the
  reflection; numbers directly after the image are strengths of reflections.
- `md5anim NAMES FILE [SPEED] [PRIORITY]`: NAMES may be alternatives, `idle|hold 1`. Without a SPEED, or with 0, the
  game plays 10 frames a second. Several files of one name are variants. `md2anim NAMES FIRST COUNT [SPEED] [PRIORITY]`.
- `md5animpart JOINTS`: the animations after it move these joints and those below them alone.
- `md5adjust JOINT yaw pitch roll tx ty tz`: about the animations that are loaded after it.
- `md5tag JOINT TAG tx ty tz rx ry rz`, `md5link PARENT CHILD TAG tx ty tz`: a part hangs on a tag of another.
- `mdlscale PERCENT`, `mdltrans x y z`: of the whole model.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import NamedTuple

from ..game_tree.files import FileReadError
from ..names import ancestors, clean_name, fold, fold_slashes, join, short
from ..texts import counted
from .characters import Attachment, CharacterAnimation, JointAdjustment, Tag, Vector

MAX_WORDS = 100_000  # words of all statements that a script runs, those of other scripts and aliases included
MAX_DEPTH = 48  # blocks, aliases and scripts within each other
_LONGEST_PATH = 4096  # Windows and Linux open no longer ones
_MODEL_FOLDERS = ("models", "model")
# The settings of surfaces, and where they are kept.
_SURFACE = {"alphatest": "alpha_test", "alphablend": "alpha_blend", "cullface": "cull_face"}


@dataclass
class MeshSkin:
    """The images and settings of a mesh; None where the script gives none."""

    mesh: str = "*"  # its name, or `*`
    image: str | None = None  # a name in `folder`, like `masks`
    masks: str | None = None
    bump: str | None = None
    strengths: tuple[float, ...] = ()  # of reflections
    alpha_test: float | None = None  # the threshold in 0...1
    alpha_blend: bool | None = None
    cull_face: bool | None = None
    folder: str | None = None  # as `md5dir` names it; None for that of the script
    bump_folder: str | None = None

    def set_surface(self, setting: str, value: str) -> None:
        """Sets `alphatest`, `alphablend` or `cullface`; others are ignored."""
        if setting in _SURFACE and _NUMBER.fullmatch(value):
            given = number(value)
            setattr(self, _SURFACE[setting], min(max(given, 0.0), 1.0) if setting == "alphatest" else given != 0.0)


@dataclass
class ScriptPart:
    """A model that a script loads, and what the script says about it."""

    model: str = ""  # empty for an MD2, which is found by its folder
    skeleton: str = ""
    skins: dict[str, MeshSkin] = field(default_factory=dict)  # by the folded name of the mesh, or `*`
    animations: list[CharacterAnimation] = field(default_factory=list)
    adjustments: list[JointAdjustment] = field(default_factory=list)
    tags: list[Tag] = field(default_factory=list)
    settings: list[tuple[str, ...]] = field(default_factory=list)
    joints: str = ""  # those that the animations read next move
    attachment: Attachment | None = None

    def skin(self, mesh: str) -> MeshSkin:
        """The images and settings of a mesh, to be changed."""
        return self.skins.setdefault(fold(mesh), MeshSkin(mesh))


@dataclass
class ModelScript:
    """What a script says about a model."""

    parts: list[ScriptPart] = field(default_factory=list)
    surface: MeshSkin = field(default_factory=MeshSkin)  # the settings of meshes that have none of their own
    scale: float = 1.0
    translation: Vector = (0.0, 0.0, 0.0)
    settings: list[tuple[str, ...]] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)  # paths of scripts that it runs
    warnings: list[str] = field(default_factory=list)

    def skin(self, model_file: str, mesh: str | None) -> MeshSkin | None:
        """The skin of a mesh in the parts that load the file, else in those that load none."""
        named = [one for one in self.parts if fold(one.model).rpartition("/")[2] == fold(model_file)]
        for part in reversed(named or [one for one in self.parts if not one.model]):
            found = part.skins.get(fold(mesh)) if mesh else None
            if not mesh and len(part.skins) == 1:
                (found,) = part.skins.values()
            others = part.skins.get("*")
            if found is not None or others is not None:
                layers = [vars(one) for one in (self.surface, others, found) if one is not None]
                values = {name: value for one in layers for name, value in one.items() if value is not None}
                return MeshSkin(**values)
        return None


_Read = Callable[[str], str | None]


def read_script(
    text: str, path: str, kind: str, read: _Read, find_folder: Callable[[str], str] = lambda name: name
) -> ModelScript:
    """Reads a model's script, skipping invalid text with a warning; `read` may raise FileReadError."""
    reader = _ScriptReader(path, kind, read, find_folder)
    try:
        reader.run(text)
    except _LimitError as error:
        reader.warn(f"stopped: {error}")
    return reader.script


# A bare word ends before brackets, quotes and comments. `++` and `*+` never go back, and need no memory for that.
_TOKEN = re.compile(
    r"""(?P<comment>//[^\n]*)
      | "(?P<string>(?:[^"^\r\n]++|\^.)*+)"?
      | (?P<open>[\[(])
      | (?P<close>[\])])
      | (?P<end>[\n;])
      | (?P<word>(?:[^\s"/;()\[\]]|/(?!/))++)
    """,
    re.VERBOSE | re.DOTALL,
)
_ESCAPES = {"n": "\n", "t": "\t", "f": "\f"}
_NUMBER = re.compile(r"[ \t\n\v\f\r]*[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?", re.ASCII)
_COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    "=": operator.eq, "!=": operator.ne, "<": operator.lt, ">": operator.gt, "<=": operator.le, ">=": operator.ge,
}  # fmt: skip


class _LimitError(ValueError):
    """A script runs too long or too deep."""


class _StatementError(ValueError):
    """A statement is not understood, or cannot be run."""


class _Variable(NamedTuple):
    name: str


class _Group(list["tuple[int, _Word | None]"]):
    """What stands in brackets: words, each with its line; None ends a statement."""

    bracket = ""


_Word = str | _Variable | _Group


def _parse(text: str) -> _Group:
    """The statements of a script; _LimitError for too many brackets within each other."""
    groups = [_Group()]
    line, position = 1, 0
    for match in _TOKEN.finditer(text):
        line += text.count("\n", position, match.start())
        position = match.start()
        group, kind, word = groups[-1], match.lastgroup, match[0]
        if kind == "close" and group.bracket + word in ("[]", "()"):
            groups.pop()
        elif kind in ("close", "end"):
            group.append((line, None))
        elif kind == "open":
            groups.append(_Group())
            groups[-1].bracket = word
            group.append((line, groups[-1]))
            if len(groups) > MAX_DEPTH:
                raise _LimitError("too many brackets within each other")
        elif kind == "string":
            string = re.sub(r"\^(.)", lambda one: _ESCAPES.get(one[1], one[1]), match["string"], flags=re.DOTALL)
            group.append((line, string))
        elif kind == "word":
            group.append((line, _Variable(word[1:]) if word.startswith("$") else word))
    return groups[0]


class _ScriptReader:
    def __init__(self, path: str, kind: str, read: _Read, find_folder: Callable[[str], str]) -> None:
        self.script = ModelScript([ScriptPart()] if kind == "md2" else [])
        self._folder = path.rpartition("/")[0]
        self._kind = kind
        self._read = read
        self._find_folder = find_folder
        self._directory = ""
        self._aliases: dict[str, str | _Group] = {}
        self._file, self._line = path, 1
        self._words = self._depth = 0

    def warn(self, text: str) -> None:
        self.script.warnings.append(f"{self._file}, line {self._line}: {text}")

    def run(self, block: str | _Group) -> None:
        """Runs a block, or a text as a script; _LimitError if it runs too long or too deep."""
        if self._depth == MAX_DEPTH:
            raise _LimitError("too many blocks and files within each other")
        self._depth += 1
        group = _parse(block) if isinstance(block, str) else block
        for _, statement in groupby(group, key=lambda one: one[1] is None):
            lines, words = zip(*statement, strict=True)
            self._line = lines[0]
            self._count(len(words))
            try:
                self._run_statement([word for word in words if word is not None])
            except _StatementError as error:
                self.warn(str(error))
        self._depth -= 1

    def _count(self, words: int) -> None:
        self._words += words
        if self._words > MAX_WORDS:
            raise _LimitError("too many statements")

    def _run_statement(self, words: list[_Word]) -> None:
        if words[:1] == ["if"]:
            branches = words[2:3] if self._is_true(words[1:2]) else words[3:4]
            for branch in branches:
                self._run_value(self._value(branch))
            return
        if words[1:2] == ["="]:
            words = ["alias", words[0], *words[2:3]]
        values = [self._value(word) for word in words]
        name, *texts = [value if isinstance(value, str) else "" for value in values] or [""]
        if name == "alias":
            self._aliases[_word(texts, 0)] = values[2] if len(values) > 2 else ""
        elif name == "exec":
            self._exec(join(_word(texts, 0)))
        elif name in self._aliases:
            self._run_value(self._aliases[name])
        elif not all(isinstance(value, str) for value in values):
            raise _StatementError(f"'{short(name)}' is not understood")
        elif name:
            self._run_command(name, texts)

    def _run_value(self, value: str | _Group) -> None:
        self._count(len(value))
        self.run(value)

    def _is_true(self, condition: list[_Word]) -> bool:
        try:
            value = self._value(condition[0]) if condition else ""
        except _StatementError as error:
            self.warn(str(error))
            return False
        return bool(value) and not (isinstance(value, str) and _NUMBER.fullmatch(value) and float(value) == 0.0)

    def _value(self, word: _Word) -> str | _Group:
        """The value of a word; _StatementError if it is not known."""
        if isinstance(word, _Variable):
            if word.name not in self._aliases:
                raise _StatementError(f"'${short(word.name)}' is not known")
            return self._aliases[word.name]
        if isinstance(word, str) or word.bracket == "[":
            return word
        self._count(len(word))
        words = [str(self._value(one)) for _, one in word if one is not None]
        name, first, second = (_word(words, index) for index in range(3))
        if name == "mdlname":
            return split_folder(self._folder)[1]
        if name == "strstr":
            return str(first.find(second))
        if name in _COMPARISONS:
            return str(int(_COMPARISONS[name](number(first), number(second))))
        raise _StatementError(f"'{short(name)}' is not understood")

    def _exec(self, path: str) -> None:
        """Runs a script, whose path begins at the game's folder, perhaps above the one that is searched."""
        if not path:
            raise _StatementError("exec without a file")
        parts = path.split("/") if len(path) <= _LONGEST_PATH else []
        outer = self._file, self._line
        try:
            for base in reversed(ancestors(self._folder)):
                for count in range(len(parts)):
                    self._file = join(base, *parts[count:])
                    text = self._read(self._file)
                    if text is not None:
                        self.run(text)
                        return
        except FileReadError as error:
            raise _StatementError(f"stopped: {error}") from error
        finally:
            self._file, self._line = outer
        self.script.missing.append(path)

    def _run_command(self, name: str, words: list[str]) -> None:
        if name == "mdlscale":
            percent = number(_word(words, 0))
            self.script.scale = percent / 100.0 if percent > 0.0 else 1.0
        elif name == "mdltrans":
            self.script.translation = _vector(words, 0)
        elif name.startswith(("mdl", "rd")):
            self.script.settings.append((name, *words))
            self.script.surface.set_surface(name.removeprefix("mdl"), _word(words, 0))
        elif name == f"{self._kind}dir":
            self._directory = _word(words, 0)
        elif name.startswith(self._kind):
            self._run_part_command(name, name.removeprefix(self._kind), words)
        else:
            raise _StatementError(f"'{short(name)}' is not understood")

    def _run_part_command(self, name: str, action: str, words: list[str]) -> None:
        needed = _NEEDED.get(action, 0)
        parts = self.script.parts
        if not parts and action != "load":
            raise _StatementError(f"{name} before {self._kind}load")
        if not all(_word(words, index) for index in range(needed)):
            raise _StatementError(f"{name} needs {counted(needed, 'words')}")
        if action == "load":
            smooth = [(f"{self._kind}smooth", words[2])] if _word(words, 2) else []
            parts.append(ScriptPart(self._path(words[0]), _word(words, 1), settings=[*smooth]))
            return
        part = parts[-1]
        if action == "skin":
            skin = part.skin(words[0])
            # Numbers directly after the image are the strengths of reflections.
            has_masks = _word(words, 2) != "" and not _NUMBER.fullmatch(words[2])
            skin.image, skin.folder = words[1], self._directory or None
            skin.masks = words[2] if has_masks else None
            skin.strengths = tuple(number(word) for word in words[2:] if _NUMBER.fullmatch(word))
        elif action == "bumpmap":
            skin = part.skin(words[0])
            skin.bump, skin.bump_folder = words[1], self._directory or None
        elif action == "anim":
            part.animations.append(self._animation(words, part.joints))
        elif action == "animpart":
            part.joints = words[0]
        elif action == "adjust":
            turned, moved = _vector(words, 1), _vector(words, 4)
            part.adjustments.append(JointAdjustment(words[0], turned, moved, len(part.animations)))
        elif action == "tag":
            part.tags.append(Tag(words[1], words[0], _vector(words, 5), _vector(words, 2)))
        elif action == "link":
            self._link(words)
        else:
            part.settings.append((name, *words))
            if action in _SURFACE and len(words) > 1:
                part.skin(words[0]).set_surface(action, words[1])

    def _path(self, name: str) -> str:
        return join(self._find_folder(self._directory), name)

    def _animation(self, words: list[str], joints: str) -> CharacterAnimation:
        if self._kind == "md2":
            frames = max(int(number(words[1])), 0), max(int(number(_word(words, 2))), 1)
            animation = CharacterAnimation(words[0], frames=frames)
        else:
            animation = CharacterAnimation(words[0], (self._path(words[1]),))
        speed, priority = (number(_word(words, index + (self._kind == "md2"))) for index in (2, 3))
        return replace(animation, rate=speed or None, priority=int(priority), joints=joints)

    def _link(self, words: list[str]) -> None:
        parts = self.script.parts
        parent, child = int(number(words[0])), int(number(words[1]))
        if not 0 <= parent < child < len(parts):
            raise _StatementError(f"{self._kind}link of parts {parent} and {child}, of {len(parts)}")
        if parts[child].attachment is not None:
            raise _StatementError(f"part {child} hangs on another part already")
        parts[child].attachment = Attachment(parent, _word(words, 2), translation=mirrored(_vector(words, 3)))


# Words that a command needs.
_NEEDED = {"load": 1, "skin": 2, "bumpmap": 2, "anim": 2, "animpart": 1, "adjust": 1, "tag": 2, "link": 2}
_MODIFIERS = re.compile(r"^(?:<[^<>]*>\s*)++")


def image_name(name: str) -> str:
    """A name without modifiers, with forward slashes and perhaps `..`; of an absolute one the base name."""
    text = fold_slashes(_MODIFIERS.sub("", name.strip())).rstrip("/")
    return clean_name(text).base if text.startswith("/") or ":" in text else text


def split_folder(folder: str) -> tuple[str | None, str]:
    """The folder of all models, None if it is not known, and the name of a model, which is its path in there."""
    parts = folder.split("/") if folder else []
    for index, part in enumerate(parts[:-1]):
        if part.lower() in _MODEL_FOLDERS:
            return "/".join(parts[: index + 1]), "/".join(parts[index + 1 :])
    return None, parts[-1] if parts else ""


def number(text: str) -> float:
    """The number that a text begins with; 0 if it begins with none."""
    match = _NUMBER.match(text)
    value = float(match[0]) if match is not None else 0.0
    return value if math.isfinite(value) else 0.0


def mirrored(vector: Vector) -> Vector:
    """A vector in the axes of the game, or back: there the y axis points to the other side."""
    x, y, z = vector
    return x, 0.0 - y, z


def _word(words: Sequence[str], index: int) -> str:
    return words[index] if index < len(words) else ""


def _vector(words: Sequence[str], index: int) -> Vector:
    x, y, z = (number(_word(words, index + axis)) for axis in range(3))
    return x, y, z
