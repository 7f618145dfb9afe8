"""Material declarations of game folders, found by name."""

from __future__ import annotations

from pathlib import Path

import pytest
from texture_rules import MD5_RULES

from io_idtech.io_common.textures import conventions
from io_idtech.io_common.textures.search import Search


def declaration(name: str, image: str) -> str:
    return f"{name} {{ diffusemap {image} }}\n"


@pytest.fixture
def search(tmp_path: Path):
    """A function that writes files into a game folder and finds the diffuse image that a shader declares."""

    def run(files: dict[str, str], shader: str = "models/imp/imp"):
        for name, text in files.items():
            path = tmp_path / "base" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        made = Search([tmp_path / "base"], MD5_RULES)
        found = made.model(tmp_path / "base/models/imp/imp.md5mesh", [shader]).material(shader)
        image = found.diffuse
        return (image.relative if image is not None else None), made.warnings

    return run


IMAGES = {"models/imp/one.tga": "x", "models/imp/two.tga": "x"}
ONE, TWO = (declaration("models/imp/imp", f"models/imp/{name}.tga") for name in ("one", "two"))


def test_the_declaration_in_the_first_file_by_name_wins(search):
    image, warnings = search({**IMAGES, "materials/b.mtr": TWO, "materials/a.mtr": ONE})
    assert image == "models/imp/one.tga"
    assert any("is already defined in" in warning for warning in warnings)


def test_files_beside_the_model_come_last(search):
    image, _ = search({**IMAGES, "models/imp/a.mtr": TWO, "materials/z.mtr": ONE})
    assert image == "models/imp/one.tga"
    image, _ = search({"materials/z.mtr": ""})
    assert image == "models/imp/two.tga"


@pytest.mark.parametrize("shader", ["MODELS/imp/IMP", "models\\imp\\imp", "models/imp/imp.tga"])
def test_names_are_found_without_regard_to_case_slashes_and_extension(search, shader):
    image, _ = search({**IMAGES, "materials/a.mtr": ONE}, shader)
    assert image == "models/imp/one.tga"


def test_a_file_is_parsed_only_when_a_name_occurs_in_its_text(search, monkeypatch):
    parsed = []

    def counting(text, source, *rest):
        parsed.append(Path(source).name)
        return parse(text, source, *rest)

    parse = conventions.parse_materials
    monkeypatch.setattr(conventions, "parse_materials", counting)
    search({**IMAGES, "materials/a.mtr": ONE, "materials/b.mtr": declaration("models/other", "x.tga")})
    assert parsed == ["a.mtr"]


def test_shader_files_of_unvanquished_are_material_files_too(search):
    image, warnings = search({**IMAGES, "scripts/a.shader": ONE})
    assert (image, warnings) == ("models/imp/one.tga", [])


def test_material_files_come_before_shader_files_and_of_these_the_last_comes_first(search):
    image, _ = search({**IMAGES, "scripts/a.shader": ONE, "scripts/b.shader": TWO})
    assert image == "models/imp/two.tga"
    image, _ = search({**IMAGES, "materials/a.mtr": ONE, "scripts/b.shader": TWO})
    assert image == "models/imp/one.tga"


def test_where_declarations_were_searched_is_told(tmp_path):
    path = tmp_path / "base/scripts/a.shader"
    path.parent.mkdir(parents=True)
    path.write_text(ONE)
    found = Search([tmp_path / "base"], MD5_RULES).model(tmp_path / "base/models/x.md5mesh").material("models/gone")
    assert str(tmp_path / "base" / "scripts" / "*.shader") in found.looked_in
    assert not any(place.endswith(".mtr") for place in found.looked_in)


def test_the_files_of_a_game_are_read_and_parsed_once_for_models_in_several_folders(tmp_path, monkeypatch):
    parsed = []

    def counting(text, source, *rest):
        parsed.append(Path(source).name)
        return parse(text, source, *rest)

    parse = conventions.parse_materials
    monkeypatch.setattr(conventions, "parse_materials", counting)
    base = tmp_path / "base"
    for name, text in {**IMAGES, "materials/a.mtr": ONE, "materials/b.mtr": TWO}.items():
        (base / name).parent.mkdir(parents=True, exist_ok=True)
        (base / name).write_bytes(text.encode())
    made = Search([base], MD5_RULES)
    remaining = made.budget.text
    for folder in ("imp", "demon", "zombie"):
        found = made.model(base / f"models/{folder}/x.md5mesh").material("models/imp/imp")
        assert found.diffuse.relative == "models/imp/one.tga"
    assert parsed == ["a.mtr", "b.mtr"]
    assert remaining - made.budget.text == len(ONE) + len(TWO)
    assert len(made.warnings) == 1


def test_files_beside_one_model_do_not_declare_shaders_of_another(tmp_path):
    base = tmp_path / "base"
    for name, text in {**IMAGES, "models/imp/a.mtr": declaration("own", "models/imp/one.tga")}.items():
        (base / name).parent.mkdir(parents=True, exist_ok=True)
        (base / name).write_bytes(text.encode())
    made = Search([base], MD5_RULES)
    assert made.model(base / "models/demon/x.md5mesh").material("own").declaration is None
    assert made.model(base / "models/imp/x.md5mesh").material("own").diffuse.relative == "models/imp/one.tga"
    assert made.model(base / "models/demon/y.md5mesh").material("own").declaration is None
