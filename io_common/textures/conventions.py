"""The roles of the images next to a model, judged by their names.

The suffixes are those of the games (Doom 3 `_local`, `_s`, `_h`, `_d`; XreaL and Unvanquished `_n`, `_s`, `_h`;
Sauerbraten `masks`, `_mask`, `_normals`; Quake `_glow`, `_luma`) and others that artists use. Quake II's player models
list no skins: every image next to them is one, except icons (`grunt_i.pcx`) and skins of held weapons (`weapon.pcx`,
`w_shotgun.pcx`). Sauerbraten and Quake II name a model's only skin `skin`; Egoboo numbers them (`tris0.png`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from ..game_tree.names import AssetName, extension_rank, fold, split_extension, without_image_extension


@dataclass(frozen=True)
class TextureRules:
    """How images are found for the skins or shaders of a family."""

    config_name: str = ""  # of Sauerbraten's configuration file next to a model; empty if there is none
    # One for each mesh, found by declarations and .skin files; else images for the whole model.
    has_shaders: bool = False
    # Whether all images next to a player model that names none are its skins, as in Quake II.
    has_player_skins: bool = False


_GAME_PATHS = ("models", "players", "textures", "progs", "packages", "sprites", "gfx", "maps")


class Role(StrEnum):
    """The role of an image in a material."""

    DIFFUSE = "diffuse"
    NORMAL = "normal"
    HEIGHT = "height"
    SPECULAR = "specular"
    ALPHA = "alpha"
    """An image of which only the alpha channel is used, as a cutout."""
    MASKS = "masks"
    """Sauerbraten's masks: red is the specular strength, green the glow, blue the reflection."""
    GLOW = "glow"


# After a separator all suffixes count; without one, only those of four letters and more (`bodynorm`).
SUFFIXES: dict[Role, tuple[str, ...]] = {
    Role.DIFFUSE: ("d", "diffuse", "diff", "albedo", "basecolor", "color", "colour", "col"),
    Role.NORMAL: ("local", "n", "nm", "nrm", "norm", "norms", "normal", "normals", "normalmap", "ddn"),
    Role.HEIGHT: ("h", "height", "heightmap", "bump", "disp"),
    Role.SPECULAR: ("s", "spec", "specular", "gloss"),
    Role.MASKS: ("masks", "mask"),
    Role.GLOW: ("glow", "luma", "g", "a", "lum", "illum", "emit", "emissive", "add"),
}

_SEPARATORS = "_-. "
_DIFFUSE_END = re.compile(f"(?<=.)_(?:{'|'.join(SUFFIXES[Role.DIFFUSE])})\\Z", re.IGNORECASE | re.DOTALL)
# Suffixes that also end ordinary names (`tank_a`, `map_g`).
_AMBIGUOUS = frozenset(("a", "g", "d", "add", "col", "color", "colour", "bump"))
_OTHERS = {one for role, suffixes in SUFFIXES.items() if role is not Role.DIFFUSE for one in suffixes} - _AMBIGUOUS
_LONG = {suffix for suffix in _OTHERS if len(suffix) > 3}
_OTHER_END = re.compile(f"(?:(?:^|[{re.escape(_SEPARATORS)}])(?:{'|'.join(_OTHERS)})|{'|'.join(_LONG)})\\Z")
_ICON = re.compile(r"(?:^icon|icon$|[_-]i$|[_-]icon|^preview|[_-]preview$|snapshot|screenshot|thumb)")
_WEAPON = re.compile(r"^(?:weapon|w_|a_)")


def role_names(stem: str, role: Role) -> list[str]:
    """The names without extension that an image with a role may have next to the diffuse image `stem`."""
    # Of `imp_d`, the others begin with `imp`.
    base = _DIFFUSE_END.sub("", stem)
    names = [f"{base}_{suffix}" for suffix in SUFFIXES[role]]
    names += [base + suffix for suffix in SUFFIXES[role] if len(suffix) > 3]
    names += [f"{base}-{suffix}" for suffix in SUFFIXES[role]]
    if role is Role.MASKS and fold(base).rpartition("/")[2] == "skin":
        names.append(base[:-4] + "masks")
    return names


def is_color(stem: str) -> bool:
    """Whether an image with this name, without folder and extension, may be a diffuse image."""
    folded = fold(stem)
    return not _ICON.search(folded) and not _OTHER_END.search(folded)


def guess_skins(
    images: Iterable[str], models: Iterable[str], model: str, folder: str, *, anything: bool, player: bool = False
) -> list[str]:
    """The likely skins next to a model, best first: named after it, `skin` or the folder."""
    # Without any such image, `anything` allows a single remaining one, and `player` all of them.
    model_stem = fold(split_extension(model)[0])
    others = {fold(split_extension(name)[0]) for name in models} - {model_stem}
    by_stem: dict[str, str] = {}
    for name in sorted(images, key=lambda name: (extension_rank(name), fold(name))):
        stem = split_extension(fold(name))[0]
        if is_color(stem) and not any(
            _belongs(stem, other)
            for other in others
            if not (_belongs(stem, model_stem) and model_stem.startswith(other))
        ):
            by_stem.setdefault(stem, name)
    for base in (model_stem, "skin", split_extension(fold(folder))[0]):
        found = [stem for stem in by_stem if base and _belongs(stem, base)]
        if found:
            return [by_stem[stem] for stem in sorted(found, key=lambda stem: _series_key(stem, base))]
    remaining = sorted(stem for stem in by_stem if _WEAPON.match(model_stem) or not (player and _WEAPON.match(stem)))
    if anything and (player or len(remaining) == 1):
        return [by_stem[stem] for stem in remaining]
    return []


def _belongs(stem: str, base: str) -> bool:
    """Whether a name is a base name, or continues it with a digit or a separator."""
    return stem.startswith(base) and (len(stem) == len(base) or stem[len(base)] in _SEPARATORS + "0123456789")


def _series_key(stem: str, base: str) -> tuple[int, int, str]:
    rest = stem[len(base) :].lstrip(_SEPARATORS)
    if not rest:
        return (0, 0, stem)
    return (1, int(rest), stem) if rest.isascii() and rest.isdigit() and len(rest) < 10 else (2, 0, stem)


def is_game_path(name: AssetName) -> bool:
    """Whether a name is clearly a path in a game, so that an image with another name cannot be meant."""
    return bool(name.folder) and fold(name.folder).split("/")[0] in _GAME_PATHS


def with_suffixes(path: str) -> list[str]:
    """A path, then the path with the suffixes of diffuse images."""
    return [path, *(f"{without_image_extension(path)}_{suffix}" for suffix in SUFFIXES[Role.DIFFUSE])]
