"""``convert`` and ``list`` on archives and games: what is packed gives the same as what is loose."""

from __future__ import annotations

import json
import os
import zipfile
from pathlib import Path

import game_folders
import needs
import pytest
from paths import CORPUS


def results(folder: Path) -> dict[str, bytes]:
    """The content of all files below a folder but the records."""
    found = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    return {name: path.read_bytes() for name, path in sorted(found.items()) if not name.startswith(".idtech")}


def game() -> dict[str, bytes | str]:
    """The files of a small game: models of both families, animations, images and a declaration."""
    first, second, third = game_folders.doom3_files()
    files = {name.lower(): content for part in (first, second, third) for name, content in part.items()}
    return {**files, "models/hound/tris.md2": game_folders.md2(), "models/hound/skin.tga": game_folders.IMAGE}


@pytest.mark.slow
@pytest.mark.parametrize("extension", [".pk4", ".pak", ".zip"])
@pytest.mark.parametrize("format_name", ["md5", "glb"])
def test_an_archive_converts_to_the_same_files_as_its_content_on_disk(
    idtech, tmp_path: Path, extension: str, format_name: str
) -> None:
    packed = game_folders.packed(tmp_path / "packed" / f"pak000{extension}", game())
    loose = game_folders.loose(tmp_path / "loose", game())
    for source, out in ((packed, "from packed"), (loose, "from loose")):
        status, table, _ = idtech(
            "convert", source, "--to", tmp_path / out, "--format", format_name, "--animations", "same"
        )
        assert status == 0, table
    found = results(tmp_path / "from packed")
    assert len([name for name in found if name.endswith((".md5mesh", ".glb"))]) == 4
    assert found == results(tmp_path / "from loose")
    # Nothing was unpacked beside the archive.
    assert os.listdir(tmp_path / "packed") == [packed.name]


def test_images_in_an_archive_are_in_the_result(idtech, tmp_path: Path) -> None:
    packed = game_folders.packed(tmp_path / "pak000.pk4", game())
    idtech("convert", packed, "--to", tmp_path / "out", "--format", "glb")
    for name in ("models/hound/tris.glb", "models/md5/monsters/imp/imp.glb"):
        data = results(tmp_path / "out")[name]
        length = int.from_bytes(data[12:16], "little")
        assert json.loads(data[20 : 20 + length])["images"], name


def test_a_path_into_an_archive_is_one_model_or_a_folder(idtech, tmp_path: Path) -> None:
    packed = game_folders.packed(tmp_path / "pak000.pk4", game())
    status, _, _ = idtech("convert", packed / "models/hound/tris.md2", "--to", tmp_path / "one", "--format", "md2")
    assert (status, list(results(tmp_path / "one"))) == (0, ["tris.md2"])
    status, _, _ = idtech("convert", packed / "models/md5/heads", "--to", tmp_path / "two", "--format", "md5")
    assert (status, list(results(tmp_path / "two"))) == (0, ["imp/head.md5mesh"])
    status, _, told = idtech("convert", packed / "models/gone.md2", "--to", tmp_path / "three")
    assert status == 1
    assert "gone.md2" in told


def test_what_was_converted_from_an_archive_is_up_to_date_until_the_archive_changes(idtech, tmp_path: Path) -> None:
    packed = game_folders.packed(tmp_path / "pak000.pk4", {"a.md2": game_folders.md2()})
    words = ("convert", packed, "--to", tmp_path / "out", "--format", "md2")
    idtech(*words)
    assert "up to date" in idtech(*words)[1]
    first = results(tmp_path / "out")
    game_folders.packed(packed, {"a.md2": game_folders.md2(7)})
    idtech(*words)
    assert results(tmp_path / "out") != first


def test_a_damaged_archive_and_a_damaged_model_in_one_are_failures_that_are_named(idtech, tmp_path: Path) -> None:
    bad = tmp_path / "bad.pk4"
    bad.write_bytes(b"PK\x03\x04 nothing")
    packed = game_folders.packed(
        tmp_path / "pak.pk4", {"bad.md5mesh": "MD5Version 10\njoints {", "a.md2": game_folders.md2()}
    )
    status, _, told = idtech("convert", bad, packed, "--to", tmp_path / "out", "--format", "md2")
    assert status == 1
    assert "not a readable archive" in told
    assert "bad.md5mesh" in told
    assert list(results(tmp_path / "out")) == ["a.md2"]


def test_a_game_is_listed_with_what_is_there_and_what_is_missing(idtech, tmp_path: Path) -> None:
    base = game_folders.doom3(tmp_path / "base")
    status, told, _ = idtech("list", base, "--search", "monster", "entity")
    assert status == 0
    assert [line.split() for line in told.splitlines()[1:]] == [
        ["entity", "monster_demon_imp", "3", "4", "(1", "missing)", "3", "def/Monster_Imp.DEF"]
    ]
    status, told, _ = idtech("list", base / "pak001.pk4", "--json")
    entries = {entry["name"]: entry for entry in json.loads(told)}
    assert entries["attach_lamp"]["meshes"] == {"found": 1, "missing": 0}
    status, told, warnings = idtech("list", tmp_path, "--search", "nothing")
    assert (status, told) == (1, "")
    assert "No character or model" in warnings


def test_files_are_unpacked_on_request_as_the_game_would_use_them(idtech, tmp_path: Path) -> None:
    base = game_folders.doom3(tmp_path / "base")
    out = tmp_path / "out"
    words = ("extract", base, "--files", "MODELS/*/imp/walk1*", "--files", "def/*", "--to", out)
    status, told, _ = idtech(*words)
    assert (status, told) == (0, "3 written, 0 failed\n")
    found = results(out)
    assert {name.lower() for name in found} == {
        *("def/monster_imp.def", "def/zz_head.def", f"{game_folders.IMP}/walk1.md5anim")
    }
    assert found[f"{game_folders.IMP}/walk1.md5anim"].decode() == game_folders.md5anim(frames=4, step=1)
    status, told, warnings = idtech(*words)
    assert (status, told) == (1, "0 written, 3 failed\n")
    assert "exists" in warnings
    assert idtech(*words, "--force")[0] == 0
    assert idtech("extract", base, "--files", "nothing", "--to", out)[0] == 1


@needs.any_name
def test_extract_replaces_no_file_that_another_name_in_the_archive_is_like(idtech, tmp_path: Path) -> None:
    """Names are compared and written as they are, not without the spaces and control characters around them."""
    names = ("cfg/auto.cfg", "cfg/auto.cfg ", "cfg/a\x01uto.cfg")
    packed = game_folders.zipped(tmp_path / "t.zip", {name: f"from {name!r}" for name in names})
    out = game_folders.loose(tmp_path / "out", {names[0]: "mine"})
    status, told, problems = idtech("extract", packed, "--files", "*", "--to", out)
    assert (status, told, "auto.cfg exists" in problems) == (1, "2 written, 1 failed\n", True)
    assert results(out) == {name: f"from {name!r}".encode() for name in names} | {names[0]: b"mine"}
    assert idtech("extract", packed, "--files", "*", "--to", out, "--force")[:2] == (0, "3 written, 0 failed\n")
    assert results(out) == {name: f"from {name!r}".encode() for name in names}


# --- Characters


def glb(path: Path) -> dict:
    """The description in a .glb file."""
    data = path.read_bytes()
    return json.loads(data[20 : 20 + int.from_bytes(data[12:16], "little")])


def test_characters_of_a_game_are_converted_by_their_names_with_all_that_belongs_to_them(
    idtech, tmp_path: Path
) -> None:
    base = game_folders.doom3(tmp_path / "base")
    out = tmp_path / "out"
    status, table, told = idtech("convert", base, "--characters", "monster_*", "--to", out, "--format", "glb")
    assert status == 0, told
    assert list(results(out)) == ["monster_demon_imp.glb", "monster_imp.glb"]
    assert [line.split()[:2] for line in table.splitlines()[1:3]] == [["entity", "1"], ["model", "1"]]
    whole, alone = glb(out / "monster_demon_imp.glb"), glb(out / "monster_imp.glb")
    assert len(whole["skins"]) == 3
    assert {"stand", "walk1", "range", "idle"} <= {one["name"] for one in whole["animations"]}
    assert {"stand", "walk1", "range"} <= {one["name"] for one in alone["animations"]}
    assert "gone.md5anim" in told
    assert "up to date" in idtech("convert", base, "--characters", "monster_*", "--to", out, "--format", "glb")[1]


@pytest.mark.slow
def test_characters_of_a_packed_game_convert_to_the_same_files_as_on_disk(idtech, tmp_path: Path) -> None:
    for make, out in ((game_folders.doom3, "packed"), (game_folders.doom3_loose, "loose")):
        game = make(tmp_path / f"{out} game")
        assert idtech("convert", game, "--characters", "*", "--to", tmp_path / out, "--format", "glb")[0] == 1
    found = results(tmp_path / "packed")
    assert set(found) == {
        *("attach_lamp.glb", "head_imp.glb", "head_imp_model.glb", "monster_demon_imp.glb", "monster_imp.glb")
    }
    assert found == results(tmp_path / "loose")


def test_a_character_whose_model_is_missing_fails_alone(idtech, tmp_path: Path) -> None:
    base = game_folders.doom3(tmp_path / "base")
    status, _, told = idtech("convert", base, "--characters", "*_m*", "--to", tmp_path / "out")
    assert status == 1
    assert "base.md5mesh" in told
    assert list(results(tmp_path / "out")) == ["head_imp_model.blend"]
    status, _, told = idtech("convert", base, "--characters", "nobody", "--to", tmp_path / "out")
    assert status == 1
    assert "no character nobody" in told


@pytest.mark.slow
def test_characters_are_converted_by_several_blenders(idtech, tmp_path: Path) -> None:
    base = game_folders.doom3(tmp_path / "base")
    words = ("convert", base, "--characters", "monster_*", "--characters", "head_imp", "--format", "glb")
    assert idtech(*words, "--to", tmp_path / "one")[0] == 0
    assert idtech(*words, "--to", tmp_path / "two", "--jobs", "2")[0] == 0
    assert len(results(tmp_path / "one")) == 3
    assert results(tmp_path / "one") == results(tmp_path / "two")


def test_a_changed_declaration_converts_the_character_again(idtech, tmp_path: Path) -> None:
    base = game_folders.doom3_loose(tmp_path / "base")
    words = ("convert", base, "--characters", "monster_imp", "--to", tmp_path / "out", "--format", "md5")
    assert idtech(*words)[0] == 0
    assert "monster_imp/walk1.md5anim" in results(tmp_path / "out")
    path = base / "def/monster_imp.def"
    path.write_text(path.read_text().replace("anim walk1", "anim march"))
    assert idtech(*words)[0] == 0
    assert "monster_imp/march.md5anim" in results(tmp_path / "out")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("make", "pattern", "expected"),
    [
        (game_folders.quake2, "hero", "players/hero"),
        (game_folders.quake2, "*hound*", "models/monsters/hound/tris"),
        (game_folders.sauerbraten, "packages/models/*", "packages/models/hero"),
        (game_folders.unvanquished, "human", "models/players/human/human"),
    ],
)
@pytest.mark.parametrize("format_name", ["blend", "glb", "fbx"])
def test_games_of_all_kinds_are_converted(
    idtech, tmp_path: Path, make, pattern: str, expected: str, format_name: str
) -> None:
    game = make(tmp_path / "game")
    status, _, told = idtech(
        "convert", game, "--characters", pattern, "--to", tmp_path / "out", "--format", format_name
    )
    assert status == 0, told
    assert f"{expected}.{format_name}" in results(tmp_path / "out")


@pytest.mark.slow
@pytest.mark.corpus
@pytest.mark.skipif(not CORPUS.is_dir(), reason=f"no real files at {CORPUS}")
def test_real_models_in_an_archive_convert_to_the_same_files_as_on_disk(idtech, tmp_path: Path) -> None:
    folders = sorted(
        {path.parent for path in CORPUS.rglob("*.md5mesh")} | {path.parent for path in CORPUS.rglob("*.md2")}
    )
    project = tmp_path / "real"
    with zipfile.ZipFile(tmp_path / "real.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for folder in folders[::40]:
            for path in sorted(folder.iterdir()):
                if path.is_file():
                    name = path.relative_to(CORPUS)
                    archive.write(path, name.as_posix())
                    game_folders.loose(project, {name.as_posix(): path.read_bytes()})
    for source, out in ((tmp_path / "real.zip", "packed"), (project, "loose")):
        idtech("convert", source, "--to", tmp_path / out, "--format", "glb", "--animations", "same")
    found = results(tmp_path / "packed")
    assert found
    assert found == results(tmp_path / "loose")
