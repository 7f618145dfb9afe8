"""Archives, declarations and images cost no more than an import may spend, whatever they claim and unpack to."""

from __future__ import annotations

import struct
import sys
import time
import tracemalloc
import zipfile
from pathlib import Path

import pytest
from paths import ROOT
from texture_rules import MD5_RULES

from io_common.textures import budget, game_files, material_parser
from io_common.textures.dimensions import pixel_count
from io_common.textures.image_expressions import Call, map_uses
from io_common.textures.mtr import parse_mtr
from io_common.textures.search import Search

sys.path.append(str(ROOT / "fuzz"))
from targets import TARGETS

SHADER = "models/imp/imp"
GOOD = f"{SHADER} {{ diffusemap models/imp/skin.tga }}\n"


def packed(path: Path, files: dict[str, bytes | str]) -> Path:
    """An archive."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as target:
        for name, content in files.items():
            target.writestr(name, content)
    return path


def search_in(game: Path, shaders=(SHADER,)):
    """What is found for shaders of a model in a game folder, and the warnings."""
    search = Search([game], MD5_RULES)
    place = search.model(game / "models/imp/imp.md5mesh", shaders)
    return [place.material(shader) for shader in shaders], search.warnings


# Expressions


@pytest.mark.parametrize("function", ["add", "addnormals", "scale", "makeintensity"])
def test_an_expression_of_thousands_of_images_is_cut_with_a_warning(function):
    text = (
        f"a {{ bumpmap {function}(" + ", ".join(f"i{number}" for number in range(2000)) + ") alphaTest 0.25 }"
    )
    found = parse_mtr(text, "a.mtr")
    assert len(map_uses(found.materials["a"].bump)) == material_parser.MAX_PARTS - 1
    assert found.warnings == [
        "a.mtr:1: an image expression of 'a' has more than 64 parts or 32 nested functions; the rest is ignored"
    ]
    # What stands behind it is read as before.
    assert found.materials["a"].alpha_test == 0.25


def test_an_expression_of_thousands_of_functions_in_each_other_is_cut_with_a_warning():
    found = parse_mtr("a { bumpmap " + "add( x, " * 2000 + "y" + " )" * 2000 + " alphaTest 0.25 }")
    assert len(map_uses(found.materials["a"].bump)) <= material_parser.MAX_PARTS
    assert len(found.warnings) == 1
    assert found.materials["a"].alpha_test == 0.25


def test_an_expression_as_long_as_games_have_them_is_whole():
    text = "a { bumpmap addnormals( a_local, heightmap( addnormals( b_local, heightmap( c, 4 ) ), 2 ) ) }"
    found = parse_mtr(text)
    assert [use.name for use in map_uses(found.materials["a"].bump)] == ["a_local", "b_local", "c"]
    assert found.warnings == []


@pytest.mark.parametrize("number", ["1e150", "-1e150", "1e999", "-1e999", "1e-999"])
def test_numbers_that_no_game_has_become_ones_that_can_be_reckoned_with(number):
    expression = parse_mtr(f"a {{ diffusemap scale( x, {number}, 1, 1, 1 ) }}").materials["a"].diffuse
    assert isinstance(expression, Call)
    assert all(abs(value) <= 1e6 for value in expression.numbers)


def test_what_is_no_number_is_none():
    found = parse_mtr("a { diffusemap scale( x, +nan ) alphaTest +nan }").materials["a"]
    assert found.alpha_test == 0.5


# Texts


def test_an_archive_of_braces_takes_little_memory_and_time(tmp_path):
    path = packed(tmp_path / "a.pk4", {"materials/a.mtr": SHADER + " " + "{" * (15 << 20)})
    assert path.stat().st_size < 20_000
    started = time.process_time()
    (found,), warnings = search_in(tmp_path)
    assert time.process_time() - started < 20
    assert found.diffuse is None
    assert any("too many materials" in warning for warning in warnings)


def test_a_file_of_declarations_is_read_up_to_a_number_of_tokens():
    tracemalloc.start()
    try:
        found = parse_mtr("{" * 4_000_000, "a.mtr", 100_000)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert found.token_count == 100_000
    assert peak < 40 << 20
    assert "a.mtr:1: too many materials; the rest of the file is skipped" in found.warnings


def test_comments_count_as_they_take_time_too():
    assert parse_mtr("//\n" * 1000, max_tokens=100).token_count == 100


def test_a_file_that_is_odd_throughout_has_few_warnings():
    assert len(parse_mtr("}\n" * 10_000).warnings) == 20


def test_entries_that_share_their_data_are_read_up_to_a_limit_and_looked_through_once(tmp_path, monkeypatch):
    """Each shader costs a search through what was read, not a new reading."""
    text = (GOOD + "// filler " * 50_000).encode()
    path = packed(tmp_path / "a.pk4", {"materials/0.mtr": text})
    share_entry(path, [f"materials/{number:04}.mtr" for number in range(1, 300)])
    monkeypatch.setattr(budget, "MAX_TEXT", 5 * len(text))
    reads = []
    read_member = game_files._read_member
    monkeypatch.setattr(game_files, "_read_member", lambda *a: reads.append(1) or read_member(*a))
    found, warnings = search_in(tmp_path, [f"{SHADER}{number}" for number in range(50)])
    assert len(reads) == 5
    assert sum("too many materials" in warning for warning in warnings) == 1
    assert len(found) == 50


def share_entry(path: Path, names: list[str]) -> None:
    """Adds entries to the directory of an archive that all lead to the data of its first one."""
    data = path.read_bytes()
    end = data.rindex(b"PK\x05\x06")
    (start,) = struct.unpack_from("<I", data, end + 16)
    first = data[start:end]
    entries = []
    for name in names:
        entry = first[:28] + struct.pack("<H", len(name)) + first[30:46]
        entries.append(entry + name.encode())
    directory = first + b"".join(entries)
    count = len(names) + 1
    closing = struct.pack("<4s4H2IH", b"PK\x05\x06", 0, 0, count, count, len(directory), start, 0)
    path.write_bytes(data[:start] + directory + closing)


def test_names_are_looked_for_up_to_a_limit(tmp_path, monkeypatch):
    packed(tmp_path / "a.pk4", {"materials/a.mtr": GOOD + " " * 10_000})
    monkeypatch.setattr(budget, "MAX_SCANNED", 35_000)
    found, warnings = search_in(tmp_path, [SHADER, "b/b", "c/c", "d/d", "e/e"])
    assert found[0].declaration is not None
    assert sum("too many materials: some" in warning for warning in warnings) == 1


def test_when_the_time_is_over_the_rest_is_left_out(tmp_path, monkeypatch):
    packed(tmp_path / "a.pk4", {"materials/a.mtr": GOOD})
    monkeypatch.setattr(budget, "MAX_SECONDS", -1.0)
    (found,), warnings = search_in(tmp_path)
    assert found.declaration is None
    assert any("too many materials" in warning for warning in warnings)


def test_files_beside_a_model_are_read_up_to_a_limit(tmp_path, monkeypatch):
    folder = tmp_path / "models" / "imp"
    folder.mkdir(parents=True)
    for number in range(20):
        (folder / f"{number:02}.skin").write_text("imp,models/other/other\n" + "x" * 1000)
    monkeypatch.setattr(budget, "MAX_CONFIGS", 5000)
    search = Search([tmp_path], MD5_RULES)
    search.model(folder / "imp.md5mesh", [SHADER]).material(SHADER, "imp")
    assert sum("too many .cfg and .skin files" in warning for warning in search.warnings) == 16


# Archives


def test_the_directory_of_an_archive_is_read_up_to_a_limit(tmp_path, monkeypatch):
    packed(tmp_path / "a.pk4", {f"models/{number}.tga": b"" for number in range(5000)})
    packed(tmp_path / "b.pk4", {"materials/a.mtr": GOOD})
    monkeypatch.setattr(budget, "MAX_DIRECTORIES", 100_000)
    (found,), warnings = search_in(tmp_path)
    assert found.declaration is not None
    assert any("a.pk4: not a readable archive (the directories" in warning for warning in warnings)


# Images


@pytest.mark.parametrize("seed", TARGETS["dimensions"].seeds, ids=lambda seed: repr(seed[:6]))
def test_the_number_of_pixels_is_known_from_the_header(seed):
    is_float = seed.startswith((b"#?", b"v/1", b"SDPX", b"\x80\x2a"))
    assert pixel_count(seed) == 64 * 32 * (4 if is_float else 1)


@pytest.mark.parametrize("seed", TARGETS["dimensions"].seeds, ids=lambda seed: repr(seed[:6]))
def test_the_header_of_a_cut_image_raises_nothing(seed):
    for length in range(len(seed)):
        assert pixel_count(seed[:length]) in (None, pixel_count(seed), 0)


def test_a_jpeg_is_gone_through_from_marker_to_marker():
    comment = b"\xff\xfe" + struct.pack(">H", 9) + b"\xff\xc0\0\0\0\0\0"
    size = b"\xff\xff\xc2" + struct.pack(">HB2H", 17, 8, 5000, 3000)
    assert pixel_count(b"\xff\xd8" + comment + size) == 15_000_000


@pytest.mark.parametrize(
    "data", [b"", b"\0" * 100, b"GIF89a", b"text", b"II+\0" + b"\xff" * 60, b"v/1\x01" + b"\0" * 60]
)
def test_what_is_no_image_has_no_size(data):
    assert pixel_count(data) is None


def test_only_the_time_that_textures_take_counts(monkeypatch):
    clock = iter([0.0, 10.0, 500.0, 540.0, 540.0, 540.0, 551.0, 552.0])
    monkeypatch.setattr(budget.time, "monotonic", lambda: next(clock))
    left = budget.Budget()
    with left.timed():
        pass
    assert not left.is_over()
    with left.timed():
        assert not left.is_over()
    assert left.seconds == 10.0
    with left.timed():
        assert left.is_over()
