from __future__ import annotations

import tracemalloc

import pytest
from work import lines_run

from io_idtech.io_common.declarations import materials
from io_idtech.io_common.declarations.declaration_files import MAX_WARNINGS, canonical_name
from io_idtech.io_common.declarations.materials import BuiltIn, Call, MapImage, Material, map_uses, parse_materials


def material(body: str) -> Material:
    return parse_materials("models/x/y {" + body + "}").materials["models/x/y"]


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


def test_expressions_are_parsed_into_trees() -> None:
    found = material("bumpmap addnormals( models/a_local.tga, heightmap( models/a_h.tga, 4 ) )\n diffusemap _white")
    assert found.bump == Call(
        "addnormals", (MapImage("models/a_local.tga"), Call("heightmap", (MapImage("models/a_h.tga"),), (4.0,)))
    )
    assert found.diffuse == BuiltIn("_white")
    assert found.diffuse.color == (1, 1, 1, 1)


@pytest.mark.parametrize("text", ["AddNormals(a,heightMap(b,-2.5))", "addnormals ( a , heightmap ( b , -2.5 ) )"])
def test_white_space_and_case_in_expressions_do_not_matter(text: str) -> None:
    uses = map_uses(material(f"bumpmap {text}").bump)
    assert uses == [("a", False), ("b", True)]


def test_height_maps_are_told_from_other_images_of_an_expression() -> None:
    text = "addnormals(displaceMap(a, b), heightMap(scale(add(c, d), 0.5), 2), e)"
    uses = map_uses(material(f"bumpmap {text}").bump)
    assert uses == [("a", False), ("b", True), ("c", True), ("d", True), ("e", False)]


@pytest.mark.slow
def test_deeply_nested_expressions_are_parsed() -> None:
    parse_materials("a/b { diffusemap " + "add(" * 100_000 + "x")


def test_settings_of_the_surface() -> None:
    found = material("twoSided translucent { blend diffusemap map a alphaTest 0.4 }")
    assert found.two_sided
    assert found.translucent
    assert found.alpha_test == 0.4
    assert found.alpha_image == MapImage("a")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("0.4 + 0.6 * sintable[ time ]", 0.5),
        ("0.3 + 0.5 * (time - parm7)", 0.3),
        ("parm7", 0),
        ("( parm3 )", 1),
        ("0.9 - 0.5 - 0.2", 0.6),
        ("-1", 0),
        ("1 / 0", 0.5),
        ("( 0.25", 0.25),
        ("unknown", 0.5),
        ("1 + " * 5000 + "1", 0.5),
        ("(" * 5000, 0.5),
    ],
)
def test_an_alpha_test_has_its_value_at_the_start_or_a_half_if_that_is_unknown(value: str, expected: float) -> None:
    found = material("{ blend diffusemap map a alphaTest " + value + " }").alpha_test
    assert found == pytest.approx(expected)


@pytest.mark.parametrize(
    ("condition", "is_on"),
    [
        ("parm7", False),
        ("( parm7 == 0 )", True),
        ("parm0&&!=", True),
        ("(time<5)", True),
        ("time >= 5", False),
        ("parm4 || parm3", True),
        ("parm4 && parm3", False),
        ("5 % 5", False),
        ("global3", False),
        ("fragmentPrograms", True),
        ("someTable[ time * 2 ] > 2", True),
        ("nonsense", True),
    ],
)
def test_a_stage_counts_if_its_condition_holds_as_an_entity_appears(condition: str, is_on: bool) -> None:
    found = material("{ if " + condition + "\n blend diffusemap map a alphaTest 0.4 } diffusemap b")
    assert found.diffuse == MapImage("a" if is_on else "b")
    assert found.alpha_test == (0.4 if is_on else None)


BURNING = """
    bumpmap b
    diffusemap d
    { if parm7  blend gl_zero, gl_one  map burn  alphaTest 0.03 * (time - parm7) }
    { if parm7  blend add  map burn  alphaTest 0.03 * (time - parm7) }
"""


def test_a_corpse_that_does_not_burn_has_no_holes() -> None:
    found = material(BURNING)
    assert (found.diffuse, found.alpha_test, found.glow) == (MapImage("d"), None, None)
    burns = material(BURNING.replace("if parm7", "if parm0"))
    assert (burns.alpha_test, burns.alpha_image, burns.glow) == (0, MapImage("burn"), MapImage("burn"))


def test_an_alpha_test_of_another_drawn_stage_is_not_one_of_the_diffuse_stage() -> None:
    found = material("diffusemap d { blend add map g alphaTest 0.5 }")
    assert (found.alpha_test, found.glow) == (None, MapImage("g"))


@pytest.mark.parametrize(
    "text",
    [
        "noShadows qer_editorimage textures/e.tga",
        "{ if parm7 map a }",
        "{ blend gl_zero, gl_one map a }",
        "{ blend none map a alphaTest 0.5 }",
        "{ blend add map a rgb parm7 }",
        "{ blend blend map a alpha 0 }",
    ],
)
def test_a_material_without_a_drawn_stage_is_not_drawn(text: str) -> None:
    found = material(text)
    assert not found.is_drawn
    assert found.fallback is None


@pytest.mark.parametrize("text", ["diffusemap a", "bumpmap a", "{ map a }", "guisurf entity", "implicitMap -"])
def test_a_material_with_a_drawn_stage_is_drawn(text: str) -> None:
    assert material(text).is_drawn


def test_colors_of_a_stage_are_factors_of_its_image() -> None:
    found = material("{ blend add map a rgb 0.5 green parm4 } { blend filter map b }")
    assert found.fallback == Call("scale", (MapImage("a"),), (0.5, 0, 0.5, 1))
    assert material("{ blend add map a color 1, parm0, 0.5, 1 }").fallback == Call(
        "scale", (MapImage("a"),), (1, 1, 0.5, 1)
    )
    assert material("{ blend add map a colored }").fallback == MapImage("a")
    huge = material("{ blend add map a rgb " + "1e300 * " * 40 + "1e300 }").fallback
    assert huge == Call("scale", (MapImage("a"),), (1e6, 1e6, 1e6, 1))


def test_light_that_several_stages_add_is_their_sum() -> None:
    found = material("{ blend add map a } { if parm7 blend add map off } { blend gl_one, gl_one map b }")
    assert found.fallback == Call("add", (MapImage("a"), MapImage("b")))
    many = material("{ blend add map a }" * 5000).fallback
    assert len(map_uses(many)) == 4


def test_the_first_blended_stage_stands_in_for_a_missing_diffuse() -> None:
    found = material("{ blend none map a/mask alphaTest 0.5 } { blend add map a/glow }")
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
    found = parse_materials(text)
    assert list(found.materials) == ["models/a b", "models/c"]
    assert found.materials["models/a b"].diffuse == MapImage("models/a b.tga")
    assert not found.warnings


def test_other_declarations_are_skipped() -> None:
    text = """
    table sinTable { snap { 0, 0.5, 1 } }
    skin models/red { models/a models/b }
    particle fire { { count 5 material fire.tga } }
    textures/wall { diffusemap wall }
    """
    found = parse_materials(text)
    assert list(found.materials) == ["textures/wall"]
    assert not found.warnings


def test_the_first_of_two_declarations_stays() -> None:
    found = parse_materials("a/b { diffusemap first }\nA\\B.tga { diffusemap second }", "x.mtr")
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
def test_unbalanced_braces_lose_no_complete_declaration(text: str) -> None:
    found = parse_materials(text)
    assert found.materials["a/one"].diffuse == MapImage("1d")
    assert found.materials["a/two"].diffuse == MapImage("2d")
    assert found.warnings


def test_keywords_of_xreal_are_read() -> None:
    found = material("{ stage diffuseMap map a_d } normalMap a_n\n specularMap a_s\n cull none\n")
    assert (found.diffuse, found.bump, found.two_sided) == (MapImage("a_d"), MapImage("a_n"), True)


@pytest.mark.parametrize("text", ["", "{", "}", '"', "a", "a {", "a { {", "a { map", "a { diffusemap heightmap(", "\0"])
def test_fragments_raise_nothing(text: str) -> None:
    parse_materials(text)


@pytest.mark.slow
def test_each_of_thousands_of_declarations_is_as_much_work_as_each_of_a_few() -> None:
    def declarations(count: int) -> str:
        return "".join(
            f"models/m{i} {{\n diffusemap models/m{i}_d\n {{ blend add\n map x }}\n}}\n" for i in range(count)
        )

    assert len(parse_materials(declarations(3000)).materials) == 3000
    assert lines_run(parse_materials, declarations(3000)) < 31 * lines_run(parse_materials, declarations(100))


# Expressions


@pytest.mark.parametrize("function", ["add", "addnormals", "scale", "makeintensity"])
def test_an_expression_of_thousands_of_images_is_cut_with_a_warning(function):
    text = f"a {{ bumpmap {function}(" + ", ".join(f"i{number}" for number in range(2000)) + ") alphaTest 0.25 }"
    found = parse_materials(text, "a.mtr")
    assert len(map_uses(found.materials["a"].bump)) == materials.MAX_PARTS - 1
    assert found.warnings == [
        "a.mtr:1: an image expression of 'a' has more than 64 parts or 32 nested functions; the rest is ignored"
    ]
    # What stands behind it is read as before.
    assert found.materials["a"].alpha_test == 0.25


def test_an_expression_of_thousands_of_functions_in_each_other_is_cut_with_a_warning():
    found = parse_materials("a { bumpmap " + "add( x, " * 2000 + "y" + " )" * 2000 + " alphaTest 0.25 }")
    assert len(map_uses(found.materials["a"].bump)) <= materials.MAX_PARTS
    assert len(found.warnings) == 1
    assert found.materials["a"].alpha_test == 0.25


def test_an_expression_of_the_length_games_use_is_not_cut():
    text = "a { bumpmap addnormals( a_local, heightmap( addnormals( b_local, heightmap( c, 4 ) ), 2 ) ) }"
    found = parse_materials(text)
    assert [use.name for use in map_uses(found.materials["a"].bump)] == ["a_local", "b_local", "c"]
    assert found.warnings == []


@pytest.mark.parametrize("number", ["1e150", "-1e150", "1e999", "-1e999", "1e-999"])
def test_extreme_numbers_are_clamped(number):
    expression = parse_materials(f"a {{ diffusemap scale( x, {number}, 1, 1, 1 ) }}").materials["a"].diffuse
    assert isinstance(expression, Call)
    assert all(abs(value) <= 1e6 for value in expression.numbers)


def test_nan_is_not_a_number():
    found = parse_materials("a { diffusemap scale( x, +nan ) alphaTest +nan }").materials["a"]
    assert found.alpha_test == 0.5


# Texts


@pytest.mark.slow
def test_a_file_of_declarations_is_read_up_to_a_number_of_tokens():
    tracemalloc.start()
    try:
        found = parse_materials("{" * 4_000_000, "a.mtr", 100_000)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert found.token_count == 100_000
    assert peak < 40 << 20
    assert "a.mtr:1: too many declarations; the rest of the file is skipped" in found.warnings


def test_comments_count_towards_the_limit_of_tokens():
    assert parse_materials("//\n" * 1000, max_tokens=100).token_count == 100


def test_a_file_full_of_oddities_gives_few_warnings():
    assert len(parse_materials("}\n" * 10_000).warnings) == MAX_WARNINGS


# --- Unvanquished and XreaL


def test_a_stage_may_name_its_images_by_their_roles() -> None:
    (found,) = parse_materials(
        """models/human
        {
            qer_editorImage models/human_d
            cull none
            {
                diffuseMap models/human_d
                normalMap models/human_n
                SpecularMap models/human_s
                glowMap models/human_g
                specularExponentMin 3
                alphaFunc GE128
            }
        }"""
    ).materials.values()
    names = [map_uses(one)[0].name for one in (found.diffuse, found.bump, found.specular, found.glow)]
    assert names == [f"models/human_{suffix}" for suffix in "dnsg"]
    assert (found.alpha_test, found.two_sided, found.translucent) == (0.5, True, False)


def test_glow_maps_may_be_stages_of_their_own_or_lines() -> None:
    for text in ("a { { stage glowMap map g } }", "a { { blend glowmap map g } }", "a { glowMap g }"):
        (found,) = parse_materials(text).materials.values()
        assert map_uses(found.glow)[0].name == "g"
        assert found.diffuse is None


def test_a_stage_with_a_diffuse_image_may_be_blended() -> None:
    for blend in ("blend blend", "blendFunc blend", "blendFunc GL_SRC_ALPHA GL_ONE_MINUS_SRC_ALPHA"):
        (found,) = parse_materials(f"a {{ {{ diffuseMap d {blend} }} }}").materials.values()
        assert found.translucent, blend


@pytest.mark.parametrize(
    ("text", "name", "alpha_test", "translucent"),
    [
        ("models/a { implicitMap - }", "models/a", None, False),
        ("models/a { implicitMask models/b.tga }", "models/b.tga", 0.5, False),
        ("models/a { implicitBlend - }", "models/a", None, True),
    ],
)
def test_an_implicit_map_is_a_material_of_one_image(text, name, alpha_test, translucent) -> None:
    (found,) = parse_materials(text).materials.values()
    assert map_uses(found.diffuse)[0].name == name
    assert (found.alpha_test, found.translucent) == (alpha_test, translucent)


def test_of_an_animated_image_the_first_is_used() -> None:
    (found,) = parse_materials("a { { animMap 8 one two three\n rgbGen identity } }").materials.values()
    assert map_uses(found.fallback)[0].name == "one"
