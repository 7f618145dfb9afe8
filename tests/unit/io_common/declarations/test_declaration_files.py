"""Declarations are found in files as the engine finds them; what is wrong is skipped and said with file and line."""

from __future__ import annotations

import pytest

from io_idtech.io_common.declarations.declaration_files import ENTITY, SKIN, parse_declarations


def found(text: str, default: str = ENTITY) -> list[tuple[str, str, int, list[str]]]:
    return [
        (one.type, one.name, one.line, [token.text for token in one.tokens])
        for one in parse_declarations(text, "def/a.def", default).declarations
    ]


def warnings(text: str) -> list[str]:
    file = parse_declarations(text, "def/a.def", ENTITY)
    return [*file.warnings, *(warning for one in file.declarations for warning in one.warnings)]


def test_types_are_compared_without_case_and_the_folder_has_a_default() -> None:
    assert found("Model a { x }\nENTITYDEF b { }\nc { y }", SKIN) == [
        ("model", "a", 1, ["x"]),
        ("entitydef", "b", 2, []),
        ("skin", "c", 3, ["y"]),
    ]


def test_comments_strings_and_words_are_told_apart() -> None:
    text = 'model "a b" { // { "x\n/* } */ mesh models/a.md5mesh anim a"b c"d /* end'
    assert found(text)[0][1:] == ("a b", 1, ["mesh", "models/a.md5mesh", "anim", "a", "b c", "d"])


def test_strings_have_no_escapes_and_end_with_their_line() -> None:
    assert found('a { "c:\\x" "open\nb }')[0][3] == ["c:\\x", "open", "b"]


def test_a_backslash_joins_strings() -> None:
    assert found('a { "one " \\\n "two" "three" }')[0][3] == ["one two", "three"]


def test_braces_are_counted_and_need_no_spaces() -> None:
    assert found("model a{b{c}d}model e{f}") == [("model", "a", 1, ["b", "{", "c", "}", "d"]), ("model", "e", 1, ["f"])]


def test_unknown_types_are_skipped() -> None:
    assert [name for _, name, *_ in found("widget a { x }\nmodel b { y }")] == ["b"]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("model a { }\n}", "def/a.def:2: unexpected '}'"),
        ("\n\n{ }", "def/a.def:3: a declaration without a name"),
        ("model { }", "def/a.def:1: 'model' has no name"),
        ("model a {\n x", "def/a.def:1: the opening brace is never closed"),
        ("model a { }\nstray", "def/a.def:2: 'stray'"),
        ("stray material a { }", "def/a.def:1: 'stray'"),
    ],
)
def test_what_is_wrong_is_said_with_file_and_line(text: str, place: str) -> None:
    assert any(warning.startswith(place) for warning in warnings(text)), warnings(text)


def test_the_number_of_tokens_and_of_warnings_is_limited() -> None:
    file = parse_declarations("a { b } " * 1000, "x", ENTITY, max_tokens=10)
    assert file.token_count == 10
    assert len(file.declarations) == 3
    assert len(warnings("} " * 10_000)) < 100
