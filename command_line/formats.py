"""The formats that files can be converted to, and the suffixes of the files that each can be made from."""

from __future__ import annotations

from ..families import FAMILIES
from ..io_common.family import Family, FileKind, Role, kinds_by_suffix

BLEND = ".blend"

KINDS: dict[str, FileKind] = kinds_by_suffix(FAMILIES)
"""The kinds of files of all families, by suffix."""

FAMILY_FORMATS: dict[str, Family] = {family.name: family for family in FAMILIES}
"""The output formats that are format families."""

FORMATS: tuple[str, ...] = ("blend", *FAMILY_FORMATS, "glb", "fbx")

INPUT_SUFFIXES: tuple[str, ...] = (
    *sorted(KINDS, key=lambda suffix: list(Role).index(KINDS[suffix].role)),
    BLEND,
)
"""The suffixes of all files that can be converted, models first."""


def role_of(suffix: str) -> Role | None:
    """The role of files with a suffix, in any case; None for .blend files and unknown suffixes."""
    kind = KINDS.get(suffix.lower())
    return kind.role if kind is not None else None


def source_suffixes(format_name: str) -> tuple[str, ...]:
    """The suffixes of the files that a format can be made from.

    Only the families accept .blend files. A family accepts models of every family, but only its own animations and
    cameras.
    """
    family = FAMILY_FORMATS.get(format_name)
    if family is None:
        return INPUT_SUFFIXES[:-1]
    return tuple(
        suffix
        for suffix in INPUT_SUFFIXES
        if suffix == BLEND or role_of(suffix) is Role.MODEL or suffix in family.suffixes
    )


def result_suffix(source_suffix: str, format_name: str) -> str:
    """The suffix of a converted file; a family's own animations and cameras keep theirs."""
    family = FAMILY_FORMATS.get(format_name)
    if family is None:
        return f".{format_name}"
    suffix = source_suffix.lower()
    return suffix if suffix in family.suffixes else family.model_suffix
