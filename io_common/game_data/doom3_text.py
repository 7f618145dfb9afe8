"""Doom 3's declarations as text: models, skins and the entities that join heads and attachments to a body.

What the readers in `doom3` make of the text is the character that it was written from.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from .character import Character, CharacterAnimation, CharacterPart, CharacterSkin

# What Doom 3's lexer reads as one word without quotes.
_BARE = re.compile(r"[A-Za-z_][A-Za-z0-9_/.]*\Z")
_UNFIT = re.compile(r'["\x00-\x1f\x7f]')


def def_text(character: Character) -> str:
    """The text of a `.def` file: a model declaration for each part that has animations or needs one, and the entity."""
    models = [_model_text(part, name) for part, name in _declared(character)]
    return "\n".join([*models, *_entity_texts(character)])


def skin_text(character: Character) -> str:
    """The text of a `.skin` file with the skins of all parts; empty if there are none."""
    texts: dict[str, str] = {}
    for part in character.parts:
        for skin in part.skins:
            texts.setdefault(skin.name.lower(), _skin_text(skin, part.model))
    return "\n".join(texts.values())


def _declared(character: Character) -> list[tuple[CharacterPart, str]]:
    """The parts that get a model declaration, with its name; two parts of one model share it."""
    found: dict[str, tuple[CharacterPart, str]] = {}
    for index, part in enumerate(character.parts):
        name = _declaration_name(character, index)
        if name is not None:
            found.setdefault(name.lower(), (part, name))
    return list(found.values())


def _declaration_name(character: Character, index: int) -> str | None:
    """The name of the model declaration of a part; None if its file's path says all about it."""
    part = character.parts[index]
    if part.declaration is not None:
        return part.declaration
    is_loose = index == 0 and character.declaration is None
    needs_one = is_loose or part.animations or part.channels or any(part.offset)
    return (character.name if index == 0 else part.name) if needs_one else None


def _model_text(part: CharacterPart, name: str) -> str:
    lines = [f"model {_word(name)} {{", f"\tmesh\t{_word(part.model)}"]
    if part.default_skin:
        lines.append(f"\tskin\t{_word(part.default_skin)}")
    if any(part.offset):
        lines.append("\toffset\t( {} {} {} )".format(*map(_number, part.offset)))
    lines += [f"\tchannel {_word(channel)}\t( {_clean(joints)} )" for channel, joints in part.channels]
    for animation in part.animations:
        lines += _animation_lines(animation)
    return "\n".join([*lines, "}", ""])


def _animation_lines(animation: CharacterAnimation) -> list[str]:
    files = ", ".join(map(_word, animation.files))
    head = f"\tanim {_word(animation.name)}\t{files}"
    inside = [f"\t\tframe {command.frame}\t{_line(command.text)}" for command in animation.commands]
    inside += [f"\t\t{_word(flag)}" for flag in animation.flags]
    return [f"{head} {{", *inside, "\t}"] if inside else [head]


def _skin_text(skin: CharacterSkin, model: str) -> str:
    lines = [f"skin {_word(skin.name)} {{", f"\tmodel\t{_word(model)}"]
    lines += [f"\t{_word(old) if old != '*' else '*'}\t{_word(new)}" for old, new in skin.replacements]
    return "\n".join([*lines, "}", ""])


def _entity_texts(character: Character) -> list[str]:
    """The entity of a character and those of what hangs on it; none for a character that is a model declaration."""
    parts = character.parts
    if not parts or (len(parts) == 1 and _declaration_name(character, 0) == character.name):
        return []
    pairs = [("model", _model_value(character, 0))]
    others = []
    attachments = 0
    for index, part in enumerate(parts[1:], 1):
        attachment = part.attachment
        if attachment is None:
            continue
        name = f"{character.name}_{'head' if attachment.keeps_axes else f'attach{attachments + 1}'}"
        own = [("model", _model_value(character, index))]
        if part.default_skin:
            own.append(("skin", part.default_skin))
        if attachment.keeps_axes:
            pairs += [("def_head", name), ("head_joint", attachment.joint)]
        else:
            attachments += 1
            pairs.append(("def_attach" + (str(attachments) if attachments > 1 else ""), name))
            yaw, pitch, roll = attachment.rotation
            own.append(("joint", attachment.joint))
            own += _vector_pair("origin", attachment.translation)
            own += _vector_pair("angles", (pitch, yaw, roll))
        others.append(_entity_text(name, own))
    if parts[0].default_skin:
        pairs.append(("skin", parts[0].default_skin))
    return [*others, _entity_text(character.name, pairs)]


def _model_value(character: Character, index: int) -> str:
    return _declaration_name(character, index) or character.parts[index].model


def _vector_pair(key: str, vector: tuple[float, float, float]) -> list[tuple[str, str]]:
    return [(key, " ".join(map(_number, vector)))] if any(vector) else []


def _entity_text(name: str, pairs: Iterable[tuple[str, str]]) -> str:
    lines = [
        f"entityDef {_word(name)} {{",
        *(f'\t"{_clean(key)}"\t"{_clean(value)}"' for key, value in pairs),
    ]
    return "\n".join([*lines, "}", ""])


def _word(text: str) -> str:
    """A text as one token: in quotes unless it is a word or a path."""
    return text if _BARE.match(text) else f'"{_clean(text)}"'


def _clean(text: str) -> str:
    """A text that can stand between quotes on one line."""
    return _UNFIT.sub("_", text)


def _line(text: str) -> str:
    """A command on one line, which may have quotes itself; braces and comments would end it."""
    return re.sub(r"[\x00-\x1f\x7f{}]|//|/\*", " ", text).strip()


def _number(value: float) -> str:
    return f"{value:.9g}"
