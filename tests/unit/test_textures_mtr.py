from __future__ import annotations

import time

import pytest

from io_common.textures.image_expressions import BuiltIn, Call, MapImage, map_uses
from io_common.textures.material_parser import Material
from io_common.textures.mtr import canonical_name, parse_mtr


def material(body: str) -> Material:
    return parse_mtr("models/x/y {" + body + "}").materials["models/x/y"]


def test_maps_given_by_the_short_keywords() -> None:
    found = material("\n diffusemap a/d.tga\n bumpmap a/local.tga\n specularmap a/s.tga\n")
    assert (found.diffuse, found.bump, found.specular) == (
        MapImage("a/d.tga"),
        MapImage("a/local.tga"),
        MapImage("a/s.tga"),
    )


def test_maps_given_by_stages() -> None:
    found = material("{ blend diffusemap map a/d } { blend bumpmap\nmap a/n\n} {map a/s\nblend specularMap}")
    assert (found.diffuse, found.bump, found.specular) == (MapImage("a/d"), MapImage("a/n"), MapImage("a/s"))


def test_expressions_become_trees() -> None:
    found = material(
        "bumpmap addnormals( models/a_local.tga, heightmap( models/a_h.tga, 4 ) )\n diffusemap _white"
    )
    assert found.bump == Call(
        "addnormals",
        (MapImage("models/a_local.tga"), Call("heightmap", (MapImage("models/a_h.tga"),), (4.0,))),
    )
    assert found.diffuse == BuiltIn("_white")
    assert found.diffuse.colour == (1, 1, 1, 1)


@pytest.mark.parametrize(
    "text", ["AddNormals(a,heightMap(b,-2.5))", "addnormals ( a , heightmap ( b , -2.5 ) )"]
)
def test_white_space_and_case_in_expressions_do_not_matter(text: str) -> None:
    uses = map_uses(material(f"bumpmap {text}").bump)
    assert [(use.name, use.height_scale) for use in uses] == [("a", None), ("b", -2.5)]


def test_what_is_done_to_each_image_of_an_expression() -> None:
    uses = map_uses(material("diffusemap scale(invertColor(makeAlpha(a/b)), 0.5, 1, 2)").diffuse)
    assert uses == [("a/b", ("scale", "invertcolor", "makealpha"), (0.5, 1, 2, 1), None)]


def test_expressions_nested_without_end_are_no_harm() -> None:
    parse_mtr("a/b { diffusemap " + "add(" * 100_000 + "x")


def test_settings_of_the_surface() -> None:
    found = material("twoSided translucent { blend diffusemap map a alphaTest 0.4 }")
    assert found.two_sided
    assert found.translucent
    assert found.alpha_test == 0.4
    assert found.alpha_image == MapImage("a")


@pytest.mark.parametrize("value", ["parm7", "0.4 + 0.6 * sintable[ time ]", "( parm3 )"])
def test_an_alpha_test_that_changes_counts_as_a_half(value: str) -> None:
    assert material("{ blend diffusemap map a alphaTest " + value + " }").alpha_test == 0.5


def test_the_first_blended_stage_stands_in_for_a_missing_diffuse() -> None:
    found = material("{ blend none map a/mask alphaTest 0.5 } { blend add map a/glow rgb 0.5 }")
    assert found.diffuse is None
    assert (found.fallback, found.fallback_blend) == (MapImage("a/glow"), "add")
    assert (found.alpha_test, found.alpha_image) == (0.5, MapImage("a/mask"))


def test_a_surface_of_blended_stages_alone_is_translucent() -> None:
    assert material("{ blend add map a }").translucent
    assert not material("diffusemap a { blend add map b }").translucent
    assert not material("forceOpaque { blend add map b }").translucent
    assert material("{ blend GL_SRC_ALPHA, GL_ONE map b }").fallback_blend == "gl_src_alpha,gl_one"


def test_the_editors_image_and_lines_that_only_look_like_maps() -> None:
    found = material(
        '\n qer_editorimage textures/e.tga\n description "diffusemap wrong"\n'
        " renderbump -size 512 512 diffusemap wrong.tga\n diffusemap right\n"
    )
    assert found.editor_image == "textures/e.tga"
    assert found.diffuse == MapImage("right")


def test_names_are_compared_without_case_slashes_and_extension() -> None:
    assert canonical_name("Models\\Imp\\Skin.TGA") == canonical_name("models/imp/skin")


def test_comments_quotes_and_missing_white_space() -> None:
    text = '/* one */material"models/a b"{diffusemap"models/a b.tga"}//two\n// three {\nmodels/c{bumpmap d}/* end'
    found = parse_mtr(text)
    assert list(found.materials) == ["models/a b", "models/c"]
    assert found.materials["models/a b"].diffuse == MapImage("models/a b.tga")
    assert not found.warnings


def test_other_declarations_are_passed_over() -> None:
    text = """
    table sinTable { snap { 0, 0.5, 1 } }
    skin models/red { models/a models/b }
    particle fire { { count 5 material fire.tga } }
    textures/wall { diffusemap wall }
    """
    found = parse_mtr(text)
    assert list(found.materials) == ["textures/wall"]
    assert not found.warnings


def test_the_first_of_two_declarations_stays() -> None:
    found = parse_mtr("a/b { diffusemap first }\nA\\B.tga { diffusemap second }", "x.mtr")
    assert found.materials["a/b"].diffuse == MapImage("first")
    assert "x.mtr:2" in found.warnings[0]


@pytest.mark.parametrize(
    "text",
    [
        "a/one {\n diffusemap 1d\n {\n blend add\n map x\n a/two\n {\n diffusemap 2d\n }\n",
        "a/one {\n diffusemap 1d\na/two\n{\n diffusemap 2d\n}\n",
        "a/one {\n diffusemap 1d\nmaterial a/two {\n diffusemap 2d\n}\n",
        "a/one { diffusemap 1d }\n}\n}\na/two { diffusemap 2d ",
        "{ diffusemap nameless }\na/one { diffusemap 1d }\n a/two { diffusemap 2d } junk",
        "a/one { diffusemap 1d }\nstray words here\na/two { diffusemap 2d }\n a/one {",
    ],
)
def test_unbalanced_files_lose_nothing_that_is_whole(text: str) -> None:
    found = parse_mtr(text)
    assert found.materials["a/one"].diffuse == MapImage("1d")
    assert found.materials["a/two"].diffuse == MapImage("2d")
    assert found.warnings


def test_xreals_words_are_understood() -> None:
    found = material("{ stage diffuseMap map a_d } normalMap a_n\n specularMap a_s\n cull none\n")
    assert (found.diffuse, found.bump, found.two_sided) == (MapImage("a_d"), MapImage("a_n"), True)


@pytest.mark.parametrize(
    "text", ["", "{", "}", '"', "a", "a {", "a { {", "a { map", "a { diffusemap heightmap(", "\0"]
)
def test_fragments_raise_nothing(text: str) -> None:
    parse_mtr(text)


def test_thousands_of_declarations_take_no_time() -> None:
    text = "".join(
        f"models/m{i} {{\n diffusemap models/m{i}_d\n {{ blend add\n map x }}\n}}\n" for i in range(3000)
    )
    start = time.perf_counter()
    assert len(parse_mtr(text).materials) == 3000
    assert time.perf_counter() - start < 2
