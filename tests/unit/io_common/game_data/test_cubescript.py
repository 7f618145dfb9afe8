"""CubeScript: words, blocks, conditions, aliases and limits."""

from __future__ import annotations

import tracemalloc

import pytest
from work import lines_run

from io_idtech.io_common.game_data.cubescript import MAX_CHARACTERS, Interpreter, ScriptLimitError


def calls(text: str) -> list[tuple[str, ...]]:
    """The unknown commands that a script runs, with their arguments."""
    seen: list[tuple[str, ...]] = []
    Interpreter({}, lambda name, arguments, line: seen.append((name, *arguments))).run(text)
    return seen


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a b c", [("a", "b", "c")]),
        ("a;b\nc", [("a",), ("b",), ("c",)]),
        ('a "b c" // d', [("a", "b c")]),
        ('a "b c', [("a", "b c")]),
        ('exec "x/y.cfg\nb', [("exec", "x/y.cfg"), ("b",)]),
        ("a 15 0//3.5", [("a", "15", "0")]),
        ("a b/c//d", [("a", "b/c")]),
        ('a "^"b^n"', [("a", '"b\n')]),
        ("a [b\nc [d]]", [("a", "b\nc [d]")]),
        ("x = 3; a $x $y", [("a", "3", "")]),
        ("a (+ 1 2) (* 2 2.5)", [("a", "3", "5")]),
        ("a (- 5) (- 5 2) (min 5) (max -5) (div 5) (+) (*)", [("a", "-5", "3", "5", "-5", "5", "0", "1")]),
        ('a (format "%%1 %1 %0" b)', [("a", "%1 b %0")]),
        ("if (= 1 1) [a] [b]; if 0 [c] [d]", [("a",), ("d",)]),
        ('if (>= (strstr "x/blue" "blue") 0) [a]', [("a",)]),
        ("f = [a $arg1]; f 1; f 2", [("a", "1"), ("a", "2")]),
        ("g = [a $arg1 $arg2 $numargs]; f = [g $arg2; a $arg1]; f 1 2", [("a", "2", "", "1"), ("a", "1")]),
        ("f = [arg1 = 5; a $arg1]; f 1; a $arg1", [("a", "5"), ("a", "")]),
        ("a (div 1e308 1e-308) (div 7 2) (div 7 0)", [("a", "0", "3", "0")]),
        ('a [b "]" // ]\n c]', [("a", 'b "]" // ]\n c')]),
        ("loop i 3 [a $i]", [("a", "0"), ("a", "1"), ("a", "2")]),
        ('looplist i "p q" [a $i]', [("a", "p"), ("a", "q")]),
        ("i = 4; a [@i]", [("a", "4")]),
        ("(a b", [("a", "b"), ("",)]),
        ("]]) a", [("a",)]),
        ('a (+ "^n\t 5" 1) (+ "\x1e5" 1) (+ "\u0665" 1)', [("a", "6", "1", "1")]),
    ],
)
def test_scripts_run_the_commands_that_the_games_run(text, expected):
    assert calls(text) == expected


def test_a_command_gets_the_line_that_it_begins_on_in_blocks_as_well():
    lines = []
    Interpreter({"a": lambda arguments, line: lines.append(line)}).run("a\n\nif 1 [\n  a\n]\na")
    assert lines == [1, 4, 6]


def test_the_result_of_a_command_is_a_value():
    run = Interpreter({"mdlname": lambda arguments, line: "x/red"})
    assert run.run("strstr (mdlname) red") == "2"


@pytest.mark.parametrize(
    "text",
    ["while 1 [a]", "f = [f]; f", "loop i 100000000 []", "(" * 100_000, "a = [@[f]]; " + "[" * 50_000],
    ids=["while", "recursion", "loop", "brackets", "blocks"],
)
def test_a_script_that_never_ends_stops_with_an_error(text):
    if text.endswith("["):
        Interpreter({}).run(text)
        return
    with pytest.raises(ScriptLimitError):
        Interpreter({}).run(text)


def test_a_text_that_doubles_itself_stays_short():
    run = Interpreter({})
    with pytest.raises(ScriptLimitError):
        run.run("x = aaaaaaaa; loop i 1000 [x = (concatword $x $x)]")
    assert len(run.value("x")) <= 1 << 16


_LONG = "9" * 300_000


@pytest.mark.parametrize(
    "text",
    [
        f'loop i 9000 [a "{_LONG}"]',
        f'x = "{_LONG}"; loop i 9000 [+ $x]',
        f'x = "{_LONG}"; y = [{"@x" * 1000}]',
        f'x = "{_LONG}"; y = [{"@(getalias x)" * 1000}]',
        f'x = "{_LONG}"; y = (concat {"$x " * 1000})',
        f'x = "{_LONG}"; y = (format "{"%1" * 1000}" $x)',
        f'x = "{_LONG}"; while 1 [y = (getalias x); + $y]',
    ],
    ids=["loop", "values", "block", "results", "joined", "formatted", "while"],
)
def test_a_script_that_repeats_long_texts_stops_before_it_copies_them(text):
    tracemalloc.start()
    with pytest.raises(ScriptLimitError, match="too much text"):
        Interpreter({}).run(text)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 4 * MAX_CHARACTERS


def test_twice_the_aliases_and_calls_take_twice_the_work():
    def script(count):
        return "".join(f"n{i} = 1\n" for i in range(count)) + "f = []\n" + "f\n" * count

    few, many = (lines_run(Interpreter({}).run, script(count)) for count in (200, 400))
    assert many <= 2.2 * few


@pytest.mark.parametrize(
    "text", ["9" * 1_000_000 + "x", "a [" + "@" * 1_000_000 + "]"], ids=["digits", "at signs"]
)
def test_a_word_of_a_million_letters_does_not_take_minutes(text):
    assert Interpreter({}).run(text) == ""
