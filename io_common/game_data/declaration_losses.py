"""What would be lost if a file of declarations were replaced by another."""

from __future__ import annotations

from .declarations import ENTITY, RawDeclaration, canonical_name, parse_declarations
from .doom3_models import read_entity

_Key = tuple[str, str]


def lost_declarations(old: str, new: str, default_type: str) -> list[str]:
    """Declarations of a file that its new text does not have, and values of entities that it leaves out.

    `default_type`, in lower case, is that of declarations without a type.
    """
    kept = _by_name(new, default_type)
    lost: list[str] = []
    for key, declaration in _by_name(old, default_type).items():
        if key not in kept:
            lost.append(f"{declaration.type} {declaration.name}")
        elif declaration.type == ENTITY:
            values = read_entity(kept[key], []).values
            lost += [
                f"{name!r} of {declaration.name}"
                for name in read_entity(declaration, []).values
                if name not in values
            ]
    return lost


def _by_name(text: str, default_type: str) -> dict[_Key, RawDeclaration]:
    found: dict[_Key, RawDeclaration] = {}
    for declaration in parse_declarations(text, "", default_type).declarations:
        found.setdefault((declaration.type, canonical_name(declaration.name)), declaration)
    return found
