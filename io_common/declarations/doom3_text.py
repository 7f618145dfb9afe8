"""Doom 3's declarations as text: models, skins and the entities that join heads and attachments to a body.

What `doom3_characters` makes of the text is the character that it was written from.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from .characters import Attachment, Character, CharacterPart, Vector
from .declaration_files import ENTITY, Declaration, parse_declarations
from .doom3_models import read_entity

# What Doom 3's lexer reads as one word without quotes.
_BARE = re.compile(r"[A-Za-z_][A-Za-z0-9_/.]*\Z")
_UNFIT = re.compile(r'["\x00-\x1f\x7f]')

_Pairs = list[tuple[str, str]]


def def_text(character: Character) -> str:
    """The text of a `.def` file: a model declaration for each part that has animations or needs one, and the entity."""
    models: dict[str, str] = {}
    for index, part in enumerate(character.parts):
        name = _declaration_name(character, index)
        if name is not None:
            # Two parts of one model share it.
            models.setdefault(name.lower(), _model_text(part, name))
    return "\n".join([*models.values(), *_entity_texts(character)])


def skin_text(character: Character) -> str:
    """The text of a `.skin` file with the skins of all parts; empty if there are none."""
    texts: dict[str, str] = {}
    for part in character.parts:
        for skin in part.skins:
            lines = [f"\t{_word(old) if old != '*' else '*'}\t{_word(new)}" for old, new in skin.replacements]
            text = _block(f"skin {_word(skin.name)}", [f"\tmodel\t{_word(part.model)}", *lines])
            texts.setdefault(skin.name.lower(), text)
    return "\n".join(texts.values())


def lost_declarations(old: str, new: str, default_type: str) -> list[str]:
    """Declarations, and values of entities, that the new text of a file leaves out."""

    def by_name(text: str) -> dict[tuple[str, str], Declaration]:
        found: dict[tuple[str, str], Declaration] = {}
        for one in parse_declarations(text, "", default_type).declarations:
            found.setdefault((one.type, one.key), one)
        return found

    kept = by_name(new)
    lost: list[str] = []
    for key, declaration in by_name(old).items():
        if key not in kept:
            lost.append(f"{declaration.type} {declaration.name}")
        elif declaration.type == ENTITY:
            before, after = read_entity(declaration), read_entity(kept[key])
            lost += [f"{name!r} of {declaration.name}" for name in before if name not in after]
    return lost


def _declaration_name(character: Character, index: int) -> str | None:
    """The name of the model declaration of a part; None if its file's path says all about it."""
    part = character.parts[index]
    if part.declaration is not None:
        return part.declaration
    is_loose = index == 0 and character.declaration is None
    needs_one = is_loose or part.animations or part.channels or any(part.offset)
    return (character.name if index == 0 else part.name) if needs_one else None


def _model_text(part: CharacterPart, name: str) -> str:
    lines = [f"\tmesh\t{_word(part.model)}"]
    if part.default_skin:
        lines.append(f"\tskin\t{_word(part.default_skin)}")
    if any(part.offset):
        lines.append("\toffset\t( {} {} {} )".format(*map(_number, part.offset)))
    lines += [f"\tchannel {_word(channel)}\t( {_clean(joints)} )" for channel, joints in part.channels]
    for animation in part.animations:
        head = f"\tanim {_word(animation.name)}\t{', '.join(map(_word, animation.files))}"
        inside = [f"\t\tframe {command.frame}\t{_line(command.text)}" for command in animation.commands]
        inside += [f"\t\t{_word(flag)}" for flag in animation.flags]
        lines += [f"{head} {{", *inside, "\t}"] if inside else [head]
    return _block(f"model {_word(name)}", lines)


def _entity_texts(character: Character) -> list[str]:
    """The entity of a character and those of what hangs on it; none for a model declaration."""
    parts = character.parts
    own = parts[0].animations if parts else ()
    replacements = [(f"replace_anim_{one.name}", one.replacement) for one in own if one.replacement]
    is_model = len(parts) == 1 and not replacements and _declaration_name(character, 0) == character.name
    if not parts or is_model:
        return []
    pairs = {0: [("model", _model_value(character, 0)), *replacements]}
    names = {0: character.name}
    attached = 0
    for index, part in enumerate(parts[1:], 1):
        attachment = part.attachment
        if attachment is None or attachment.parent not in pairs:
            continue
        body = pairs[attachment.parent]
        part_pairs: _Pairs = [("model", _model_value(character, index))]
        if part.default_skin:
            part_pairs.append(("skin", part.default_skin))
        if attachment.keeps_axes:
            is_entity = bool(attachment.entity)
            name = f"{names[attachment.parent]}_head" if is_entity else _model_value(character, index)
            body += [("def_head", name), ("head_joint", attachment.joint)]
            body += _vector_pair(name, attachment.translation)
        else:
            attached += 1
            is_entity = part.is_model
            name = f"{character.name}_attach{attached}"
            if not is_entity:
                # A light, an effect or a model of another format is what the game has declared.
                name, part_pairs = attachment.entity, []
            suffix = str(attached) if attached > 1 else ""
            body.append((f"def_attach{suffix}", name))
            (part_pairs if attachment.along_model else body).extend(_place_pairs(attachment, attached, suffix))
            part_pairs += _vector_pair(f"origin_place{attached}", attachment.part_translation)
            part_pairs += _vector_pair(f"angles_place{attached}", _pitch_first(attachment.part_rotation))
        if is_entity:
            names[index], pairs[index] = name, part_pairs
    if parts[0].default_skin:
        pairs[0].append(("skin", parts[0].default_skin))
    return [_entity_text(names[index], pairs[index]) for index in (*range(1, len(parts)), 0) if index in pairs]


def _place_pairs(attachment: Attachment, number: int, suffix: str) -> _Pairs:
    """Where something hangs: as its own values, or as a place of the body, as The Dark Mod has them."""
    place, angles = attachment.translation, _pitch_first(attachment.rotation)
    if attachment.along_model:
        pairs = [("joint", attachment.joint)]
        return [*pairs, *_vector_pair("origin", place), *_vector_pair("angles", angles)]
    pairs = [(f"pos_attach{suffix}", f"place{number}"), (f"attach_pos_name_{number}", f"place{number}")]
    if attachment.joint:
        pairs.append((f"attach_pos_joint_{number}", attachment.joint))
    pairs += _vector_pair(f"attach_pos_origin_{number}", place)
    return [*pairs, *_vector_pair(f"attach_pos_angles_{number}", angles)]


def _pitch_first(rotation: Vector) -> Vector:
    yaw, pitch, roll = rotation
    return pitch, yaw, roll


def _model_value(character: Character, index: int) -> str:
    return _declaration_name(character, index) or character.parts[index].model


def _vector_pair(key: str, vector: Vector) -> _Pairs:
    return [(key, " ".join(map(_number, vector)))] if any(vector) else []


def _entity_text(name: str, pairs: Iterable[tuple[str, str]]) -> str:
    return _block(f"entityDef {_word(name)}", [f'\t"{_clean(key)}"\t"{_clean(value)}"' for key, value in pairs])


def _block(head: str, lines: list[str]) -> str:
    return "\n".join([f"{head} {{", *lines, "}", ""])


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
