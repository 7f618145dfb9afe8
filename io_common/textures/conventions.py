"""What the images beside a model are for, judged by their names alone.

The suffixes are those of the games (Doom 3 `_local`, `_s`, `_h`, `_d`; XreaL and Unvanquished `_n`, `_s`, `_h`;
Sauerbraten `masks`, `_mask`, `_normals`) and what artists write for them. Quake II's player models list no skins: any
image beside them is one, but for the icons of the menu (`grunt_i.pcx`) and the skins of the weapons held (`weapon.pcx`,
`w_shotgun.pcx`). Sauerbraten and Quake II call a model's only skin `skin`; Egoboo numbers them after the model
(`tris0.png` for `tris.md2`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import StrEnum

from .names import extension_rank, fold, split_extension


class Role(StrEnum):
    """What an image does in a material."""

    DIFFUSE = "diffuse"
    NORMAL = "normal"
    HEIGHT = "height"
    SPECULAR = "specular"
    ALPHA = "alpha"
    """An image of its own whose alpha channel (in ALPHA alone) cuts the surface out."""
    MASKS = "masks"
    """Sauerbraten's: red is the specular strength, green the glow, blue the reflection."""
    GLOW = "glow"


# With a sign before it any suffix counts; without one only those of four letters and more (`bodynorm`).
SUFFIXES: dict[Role, tuple[str, ...]] = {
    Role.DIFFUSE: ("d", "diffuse", "diff", "albedo", "basecolor", "color", "colour", "col"),
    Role.NORMAL: ("local", "n", "nm", "nrm", "norm", "norms", "normal", "normals", "normalmap", "ddn"),
    Role.HEIGHT: ("h", "height", "heightmap", "bump", "disp"),
    Role.SPECULAR: ("s", "spec", "specular", "gloss"),
    Role.MASKS: ("masks", "mask"),
    Role.GLOW: ("glow", "g", "a", "lum", "illum", "emit", "emissive", "add"),
}

_SIGNS = "_-. "
# The letters that also end ordinary names (`tank_a`, `map_g`) say nothing about an image that stands alone.
_WEAK = frozenset(("a", "g", "d", "add", "col", "color", "colour", "bump"))
_ICON = re.compile(r"(?:^icon|icon$|[_-]i$|[_-]icon|^preview|[_-]preview$|snapshot|screenshot|thumb)")
_HELD = re.compile(r"^(?:weapon|w_|a_)")


def role_names(stem: str, role: Role) -> list[str]:
    """Names without extension that an image of this role has beside the image `stem`, likeliest first."""
    base = strip_diffuse(stem)
    names = [f"{base}_{suffix}" for suffix in SUFFIXES[role]]
    names += [base + suffix for suffix in SUFFIXES[role] if len(suffix) > 3]
    names += [f"{base}-{suffix}" for suffix in SUFFIXES[role]]
    if role is Role.MASKS and fold(base).rpartition("/")[2] == "skin":
        names.append(base[:-4] + "masks")
    return names


def strip_diffuse(stem: str) -> str:
    """The name without a suffix that says diffuse: `imp_d` is `imp`."""
    for suffix in SUFFIXES[Role.DIFFUSE]:
        if fold(stem).endswith("_" + suffix) and len(stem) > len(suffix) + 1:
            return stem[: -len(suffix) - 1]
    return stem


def is_colour(stem: str) -> bool:
    """Whether an image of this name (no folder, no extension) may show colours: no icon, normal map, mask ..."""
    folded = fold(stem)
    if _ICON.search(folded):
        return False
    for role, suffixes in SUFFIXES.items():
        for suffix in suffixes if role is not Role.DIFFUSE else ():
            if suffix in _WEAK or not folded.endswith(suffix):
                continue
            rest = folded[: -len(suffix)]
            if not rest or rest[-1] in _SIGNS or len(suffix) > 3:
                return False
    return True


def guess_skins(
    images: Iterable[str],
    models: Iterable[str],
    model: str,
    folder: str,
    *,
    anything: bool,
    player: bool = False,
) -> list[str]:
    """The images beside a model that are its skins though nothing names them, the likeliest first.

    images, models: names of the files in the folder; model: the model's own; folder: the folder's name. By name: those
    that begin with the model's name, else `skin`, else the folder's name. Nothing of another model's is taken. With
    `anything` also the only image left, for `player` all of them.
    """
    own = fold(split_extension(model)[0])
    others = {fold(split_extension(name)[0]) for name in models} - {own}
    by_stem: dict[str, str] = {}
    for name in sorted(images, key=lambda name: (extension_rank(name), fold(name))):
        stem = split_extension(fold(name))[0]
        if is_colour(stem) and not any(
            _belongs(stem, other) for other in others if not (_belongs(stem, own) and own.startswith(other))
        ):
            by_stem.setdefault(stem, name)
    for base in (own, "skin", split_extension(fold(folder))[0]):
        found = [stem for stem in by_stem if base and _belongs(stem, base)]
        if found:
            return [by_stem[stem] for stem in sorted(found, key=lambda stem: _series_key(stem, base))]
    left = sorted(stem for stem in by_stem if _HELD.match(own) or not (player and _HELD.match(stem)))
    if anything and (player or len(left) == 1):
        return [by_stem[stem] for stem in left]
    return []


def _belongs(stem: str, base: str) -> bool:
    """Whether the name is the base itself, or goes on with a digit or a sign."""
    return stem.startswith(base) and (len(stem) == len(base) or stem[len(base)] in _SIGNS + "0123456789")


def _series_key(stem: str, base: str) -> tuple[int, int, str]:
    rest = stem[len(base) :].lstrip(_SIGNS)
    if not rest:
        return (0, 0, stem)
    return (1, int(rest), stem) if rest.isascii() and rest.isdigit() and len(rest) < 10 else (2, 0, stem)
