"""The text files that assign images to meshes: Sauerbraten's .cfg files, and `.skin` files.

From the published sources of Sauerbraten (`md5.h`, `vertmodel.h`, `skelmodel.h`, `texture.cpp`), Quake III and XreaL:

- `md5.cfg` and `md2.cfg` are scripts. `md5load FILE [NAME]` starts a part; `md5skin MESH IMAGE [MASKS ...]`,
  `md5bumpmap MESH IMAGE`, `md5alphatest MESH X`, `md5alphablend MESH 0|1`, `md5cullface MESH 0|1` apply to the
  meshes of the part loaded last; MESH may be `*`; a later command replaces an earlier one. `mdlalphatest X`,
  `mdlalphablend` and `mdlcullface` apply to the whole model. The same commands exist for md3, iqm, smd, obj.
- Images are relative to `packages/models/DIR`, with DIR from `md5dir`, else to the folder of the .cfg file, and may
  have modifiers (`<dds>skin.png`). MESH is the name in the comment `// meshes: NAME` of an md5mesh.
- Masks: red is the specular strength, green the glow, blue the reflection.
- `.skin`: lines `mesh,material`; lines without a material, `tag_...` and comments are ignored.

Only plain commands are read, not scripts: of the branches of an `if` the last one is used, which is usually the one
for the standard model; commands with a variable (`$name`) are ignored.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field, replace

from ..game_tree.names import clean_name, fold, fold_slashes


@dataclass
class MeshSkin:
    """The images and settings of a mesh.

    Attributes:
        image, masks, bump: names of images, relative to `folder` in the game's `packages/models`.
        alpha_test: the threshold in 0...1.
        alpha_blend: whether the surface is blended with what is behind it.
        cull_face: whether back faces are hidden.
        folder: from `md5dir`; None for the folder of the .cfg file.
    """

    image: str | None = None
    masks: str | None = None
    bump: str | None = None
    alpha_test: float | None = None
    alpha_blend: bool | None = None
    cull_face: bool | None = None
    folder: str | None = None


@dataclass
class ModelPart:
    """A loaded model file, and the skins of its meshes.

    Attributes:
        file: its name; None for the model in the folder.
        skins: by the folded name of the mesh, or `*`.
    """

    file: str | None = None
    skins: dict[str, MeshSkin] = field(default_factory=dict)


@dataclass
class ModelConfig:
    """The contents of a .cfg file: parts in order, and the settings of the whole model, None if not given."""

    parts: list[ModelPart] = field(default_factory=list)
    alpha_test: float | None = None
    alpha_blend: bool | None = None
    cull_face: bool | None = None

    def skin(self, model_file: str, mesh: str | None) -> MeshSkin | None:
        """The skin of a mesh, or None.

        `model_file` is the base name of the model: parts that load it are used, else parts that load no file. If `mesh`
        is None, the only skin of the part is used.
        """
        named = [
            part
            for part in self.parts
            if part.file and fold(part.file).rpartition("/")[2] == fold(model_file)
        ]
        parts = named or [part for part in self.parts if part.file is None]
        for part in reversed(parts):
            found = part.skins.get(fold(mesh)) if mesh else None
            if found is None and not mesh and len(part.skins) == 1:
                found = next(iter(part.skins.values()))
            found = _merged(part.skins.get("*"), found)
            if found is not None:
                return replace(
                    found,
                    alpha_test=found.alpha_test if found.alpha_test is not None else self.alpha_test,
                    alpha_blend=found.alpha_blend if found.alpha_blend is not None else self.alpha_blend,
                    cull_face=found.cull_face if found.cull_face is not None else self.cull_face,
                )
        return None


def _merged(base: MeshSkin | None, top: MeshSkin | None) -> MeshSkin | None:
    """`top`, with the values of `base` where it has none."""
    if base is None or top is None:
        return top or base
    inherited = {name: value for name, value in vars(base).items() if getattr(top, name) is None}
    return replace(top, **inherited)


_COMMAND = re.compile(
    r"(?:md2|md3|md5|iqm|smd|obj)(load|dir|skin|bumpmap|alphatest|alphablend|cullface)", re.I
)
_MODEL_COMMAND = re.compile(r"mdl(alphatest|alphablend|cullface)", re.I)
# A string without a closing quote ends with the line.
_CFG_TOKEN = re.compile(
    r'"([^"\n]*)"?|(//[^\n]*)|([\[\](){};\n])|([^\s"\[\](){};/]+(?:/(?!/)[^\s"\[\](){};/]*)*+|/)'
)


def parse_model_cfg(text: str) -> ModelConfig:
    """Reads a .cfg file. Invalid text raises no error: everything but plain commands is ignored."""
    config = ModelConfig()
    state = _CfgState(config)
    words: list[str] = []
    for match in _CFG_TOKEN.finditer(text):
        string, comment, punctuation, word = match.groups()
        if comment is not None:
            continue
        if punctuation is not None:
            state.run(words)
            words = []
        else:
            words.append(string if string is not None else word)
    state.run(words)
    return config


@dataclass
class _CfgState:
    config: ModelConfig
    folder: str | None = None

    def run(self, words: list[str]) -> None:
        if not words:
            return
        arguments = words[1:]
        if any(argument.startswith(("$", "@")) for argument in arguments):
            return
        if match := _COMMAND.fullmatch(words[0]):
            self._command(match[1].lower(), arguments)
        elif (match := _MODEL_COMMAND.fullmatch(words[0])) and arguments:
            _set(self.config, match[1].lower(), arguments[0])

    def _command(self, command: str, arguments: list[str]) -> None:
        if not arguments or not arguments[0]:
            return
        if command == "dir":
            self.folder = arguments[0]
        elif command == "load":
            self.config.parts.append(ModelPart(arguments[0]))
        elif len(arguments) > 1:
            if not self.config.parts:
                self.config.parts.append(ModelPart())
            skin = self.config.parts[-1].skins.setdefault(fold(arguments[0]), MeshSkin())
            if command == "skin":
                skin.image, skin.folder = arguments[1], self.folder
                masks = arguments[2] if len(arguments) > 2 else None
                # Numbers directly after the image are light levels.
                skin.masks = masks if masks and _number(masks) is None else None
            elif command == "bumpmap":
                skin.bump, skin.folder = arguments[1], self.folder
            else:
                _set(skin, command, arguments[1])


def _set(target: ModelConfig | MeshSkin, command: str, argument: str) -> None:
    number = _number(argument)
    if number is None:
        return
    if command == "alphatest":
        target.alpha_test = min(max(number, 0.0), 1.0)
    elif command == "alphablend":
        target.alpha_blend = number != 0
    else:
        target.cull_face = number != 0


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


_MODIFIERS = re.compile(r"^(?:<[^<>]*>\s*)++")


def cfg_image(name: str) -> str:
    """The name of an image or folder in a .cfg file, without modifiers and with forward slashes; may contain `..`.

    Of an absolute name, only the base name is returned.
    """
    text = fold_slashes(_MODIFIERS.sub("", name.strip())).rstrip("/")
    return clean_name(text).base if text.startswith("/") or ":" in text else text


def parse_skin(text: str) -> dict[str, str]:
    """Reads a .skin file: the names of materials by folded mesh name; the first line of each mesh is used."""
    materials: dict[str, str] = {}
    for line in text.splitlines():
        mesh, comma, material = line.partition("//")[0].partition(",")
        mesh, material = mesh.strip().strip('"'), material.strip().strip('"').strip()
        if comma and mesh and material and not mesh.lower().startswith("tag_"):
            materials.setdefault(fold(mesh), material)
    return materials
