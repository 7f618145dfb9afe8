"""Scripts of Sauerbraten's models: statements, conditions, aliases, other scripts, and what they say about meshes."""

from __future__ import annotations

import tracemalloc

import pytest

from io_idtech.io_common.declarations.cube_scripts import MAX_WORDS, ModelScript, image_name, read_script

PATH = "packages/models/hero/red/md5.cfg"


def script(text: str, kind: str = "md5", **files: str) -> ModelScript:
    """What a script says; other scripts are in its folder."""
    others = {f"packages/models/hero/red/{name}.cfg": content for name, content in files.items()}
    return read_script(text, PATH, kind, others.get)


def settings(text: str, **files: str) -> list[tuple[str, ...]]:
    """The commands about the whole model that a script runs, none of which is not understood."""
    read = script(text, **files)
    assert not read.warnings
    return read.settings


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("mdla b c", [("mdla", "b", "c")]),
        ("mdla;mdlb\nmdlc", [("mdla",), ("mdlb",), ("mdlc",)]),
        ('mdla "b c" // d', [("mdla", "b c")]),
        ('mdla "b c', [("mdla", "b c")]),
        ('exec "other.cfg\nmdlb', [("mdlx",), ("mdlb",)]),
        ("mdla 15 0//3.5", [("mdla", "15", "0")]),
        ("mdla b/c//d", [("mdla", "b/c")]),
        ('mdla "^"b^n"', [("mdla", '"b\n')]),
        ('x = 3; mdla $x; alias y "4 5"; mdla $y', [("mdla", "3"), ("mdla", "4 5")]),
        ("if (= 1 1) [mdla] [mdlb]; if 0 [mdlc] [mdld]", [("mdla",), ("mdld",)]),
        ('if (>= (strstr "x/blue" "blue") 0) [mdla]', [("mdla",)]),
        ('if (>= (strstr (mdlname) "blue") 0) [\nmdla\n] [\nif (>= (strstr (mdlname) red) 0) [mdlb]\n]', [("mdlb",)]),
        ("f = [mdla; mdlb]; f; f", [("mdla",), ("mdlb",)] * 2),
        ('if 1 [mdla "]" // ]\n mdlb]', [("mdla", "]"), ("mdlb",)]),
        ("if (< 1 2) mdla", [("mdla",)]),
        ("]]) mdla", [("mdla",)]),
        ("if 1 [mdla", [("mdla",)]),
    ],
)  # fmt: skip
def test_scripts_run_the_commands_that_the_games_run(text, expected):
    assert settings(text, other="mdlx") == expected


@pytest.mark.parametrize(
    ("text", "warning"),
    [
        ("\nloop i 3 [mdla]", "line 2: 'loop' is not understood"),
        ("if 1 [\n\nwhat\n]", "line 3: 'what' is not understood"),
        ("mdla $gone", "line 1: '$gone' is not known"),
        ("if (&& 1 1) [mdlb] [mdlc]", "line 1: '&&' is not understood"),
        ("mdla [x]", "line 1: 'mdla' is not understood"),
        ("exec", "line 1: exec without a file"),
    ],
)
def test_what_is_not_understood_is_left_out_with_file_and_line(text, warning):
    read = script(f"{text}\nmdllast")
    assert read.warnings == [f"{PATH}, {warning}"]
    assert ("mdla",) not in read.settings
    assert read.settings[-1] == ("mdllast",)


def test_a_condition_that_is_not_understood_does_not_hold():
    assert script("if (&& 1 1) [mdlb] [mdlc]").settings == [("mdlc",)]


@pytest.mark.parametrize(
    ("text", "files"),
    [
        ("f = [f]; f", {}),
        ("exec self.cfg", {"self": "exec self.cfg"}),
        ("mdla " + "(" * 100_000, {}),
        ("if 1 [" * 100_000, {}),
        ("f = [mdla b c d e]; g = [" + "f;" * 1000 + "]; h = [" + "g;" * 1000 + "]; h; mdlb", {}),
    ],
    ids=["recursion", "exec", "brackets", "blocks", "aliases"],
)
def test_a_script_that_never_ends_stops_with_a_warning(text, files):
    read = script(f"mdlfirst\n{text}\n", **files)
    assert len(read.warnings) == 1
    assert "stopped: too many" in read.warnings[0]
    assert len(read.settings) < MAX_WORDS


def test_aliases_of_long_texts_stop_before_they_are_read_again_and_again():
    text = f'x = "// {"9" * 50_000}"; f = [{"if 1 $x;" * 1000}]; f'
    tracemalloc.start()
    read = script(text)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert "too many statements" in read.warnings[0]
    assert peak < 100 * len(text)


@pytest.mark.parametrize("text", ["9" * 1_000_000 + "x", "mdla [" + "@" * 1_000_000 + "]"], ids=["digits", "signs"])
def test_a_word_of_a_million_letters_does_not_take_minutes(text):
    assert len(script(text).warnings[0]) < 1000


# --- Meshes

CFG = """
exec "packages/models/somebody/other.cfg"
md5load "body.md5mesh" hero 70 // a comment
md5skin Head "<dds>head.png" "<dds>head_masks.png" .9 .8
md5bumpmap Head "<dds>head_n.png"
md5skin Body body.png .4; md5alphatest Body 0.3
md5cullface * 0
mdlspec 60
mdlalphatest 0.9
md5dir "hudguns/gl"
md5load gl.md5mesh
md5skin gl "gl.png"
"""


def test_commands_apply_to_the_part_loaded_last() -> None:
    config = script(CFG)
    head = config.skin("BODY.md5mesh", "head")
    assert head is not None
    assert (head.image, head.masks, head.bump) == ("<dds>head.png", "<dds>head_masks.png", "<dds>head_n.png")
    assert (head.alpha_test, head.cull_face, head.folder) == (0.9, False, None)
    body = config.skin("body.md5mesh", "Body")
    assert body is not None
    assert (body.image, body.masks, body.alpha_test) == ("body.png", None, 0.3)
    gun = config.skin("gl.md5mesh", "gl")
    assert gun is not None
    assert (gun.image, gun.folder) == ("gl.png", "hudguns/gl")
    assert config.skin("gl.md5mesh", "Head") is None


def test_a_star_matches_every_mesh_and_an_md2_needs_no_load() -> None:
    config = script('md2skin * "red.jpg"', "md2")
    found = config.skin("tris.md2", "anything")
    assert found is not None
    assert found.image == "red.jpg"
    assert config.skin("tris.md2", None) == found


def test_the_skin_of_a_condition_that_holds_is_used() -> None:
    config = script(
        """md5load a.md5mesh
        if (>= (strstr (mdlname) "blue") 0) [
            md5skin Hands "blue.png"
        ] [ md5skin Hands "plain.png" "mask.png" ]
        md5skin Feet $feet
        md5skin "unclosed "feet.png"
        """
    )
    hands = config.skin("a.md5mesh", "Hands")
    assert hands is not None
    assert (hands.image, hands.masks) == ("plain.png", "mask.png")
    assert config.skin("a.md5mesh", "Feet") is None


def test_skins_of_other_scripts_count() -> None:
    config = script("exec hands.cfg\nmd5load gun.md5mesh", hands="md5load a.md5mesh\nmd5skin * a.png")
    found = config.skin("a.md5mesh", "Hands")
    assert found is not None
    assert found.image == "a.png"


def test_prefixes_are_removed_and_absolute_names_are_shortened() -> None:
    assert image_name("<dds><mad:0.5/1>a\\b.png") == "a/b.png"
    assert image_name("../a.png") == "../a.png"
    assert image_name("C:/secret/a.png") == "a.png"
    assert image_name("/etc/a.png") == "a.png"


@pytest.mark.parametrize(
    "text",
    ["", '"', "md5skin", "md5skin a", "md5load", "[[[((", "md5alphatest a b", "md5dir", "// md5skin a b", "$", "("],
)  # fmt: skip
def test_garbage_is_skipped(text) -> None:
    found = script(f"md5load a.md5mesh\n{text}").skin("a.md5mesh", "a")
    assert found is None or found.image is None
