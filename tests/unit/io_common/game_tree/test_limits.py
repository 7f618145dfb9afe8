"""Archives, declarations and images cost no more than an import may spend, whatever they declare or unpack to."""

from __future__ import annotations

from pathlib import Path

import game_folders
import pytest
from texture_rules import MD5_RULES

from io_idtech.io_common.declarations.materials import parse_materials
from io_idtech.io_common.game_tree import files as limits
from io_idtech.io_common.textures import conventions
from io_idtech.io_common.textures.search import Search

SHADER = "models/imp/imp"

GOOD = f"{SHADER} {{ diffusemap models/imp/skin.tga }}\n"


def search_in(game: Path, shaders=(SHADER,)):
    """What is found for shaders of a model in a game folder, and the warnings."""
    search = Search([game], MD5_RULES)
    place = search.model(game / "models/imp/imp.md5mesh", shaders)
    return [place.material(shader) for shader in shaders], search.warnings


# Texts


@pytest.mark.slow
def test_an_archive_of_braces_is_read_up_to_the_limit_of_tokens(tmp_path, monkeypatch):
    read = []

    def counting(*arguments):
        read.append(parse_materials(*arguments))
        return read[-1]

    monkeypatch.setattr(conventions, "parse_materials", counting)
    path = game_folders.zipped(tmp_path / "a.pk4", {"materials/a.mtr": SHADER + " " + "{" * (15 << 20)})
    assert path.stat().st_size < 20_000
    (found,), warnings = search_in(tmp_path)
    assert sum(file.token_count for file in read) <= limits.MAX_TOKENS
    assert found.diffuse is None
    assert any("too many declarations" in warning for warning in warnings)


def test_entries_that_share_their_data_are_read_up_to_a_limit_and_looked_through_once(tmp_path, monkeypatch):
    """Each shader costs a search through what was read, not a new reading."""
    text = (GOOD + "// filler " * 50_000).encode()
    path = game_folders.zipped(tmp_path / "a.pk4", {"materials/0.mtr": text})
    game_folders.share_first(path, [f"materials/{number:04}.mtr" for number in range(1, 300)])
    monkeypatch.setattr(limits, "MAX_TEXT", 5 * len(text))
    reads = []
    read_member = limits._read_member
    monkeypatch.setattr(limits, "_read_member", lambda *a: reads.append(1) or read_member(*a))
    found, warnings = search_in(tmp_path, [f"{SHADER}{number}" for number in range(50)])
    assert len(reads) == 5
    assert sum("too many materials" in warning for warning in warnings) == 1
    assert len(found) == 50


def test_when_the_time_is_over_the_rest_is_left_out(tmp_path, monkeypatch):
    game_folders.zipped(tmp_path / "a.pk4", {"materials/a.mtr": GOOD})
    monkeypatch.setattr(limits, "MAX_SECONDS", -1.0)
    (found,), warnings = search_in(tmp_path)
    assert found.declaration is None
    assert any("because it took too long" in warning for warning in warnings)


def test_images_are_looked_for_until_the_time_is_over(tmp_path, monkeypatch):
    (tmp_path / "a").mkdir()
    for number in range(5):
        (tmp_path / "a" / f"{number}.tga").write_bytes(b"")
    seconds = iter(range(0, 10_000, 10))
    monkeypatch.setattr(limits.time, "monotonic", lambda: float(next(seconds)))
    found, warnings = search_in(tmp_path, [f"a/{number}" for number in range(5)])
    assert found[0].diffuse is not None
    assert found[4].diffuse is None
    assert sum("because it took too long" in warning for warning in warnings) == 1


def test_files_beside_a_model_are_read_up_to_a_limit(tmp_path, monkeypatch):
    folder = tmp_path / "models" / "imp"
    folder.mkdir(parents=True)
    for number in range(20):
        (folder / f"{number:02}.skin").write_text("imp,models/other/other\n" + "x" * 1000)
    monkeypatch.setattr(limits, "MAX_CONFIGS", 5000)
    search = Search([tmp_path], MD5_RULES)
    search.model(folder / "imp.md5mesh", [SHADER]).material(SHADER, "imp")
    assert sum("too many .cfg and .skin files" in warning for warning in search.warnings) == 16


# Archives


def test_the_directory_of_an_archive_is_read_up_to_a_limit(tmp_path, monkeypatch):
    game_folders.zipped(tmp_path / "a.pk4", {f"models/{number}.tga": b"" for number in range(5000)})
    game_folders.zipped(tmp_path / "b.pk4", {"materials/a.mtr": GOOD})
    monkeypatch.setattr(limits, "MAX_DIRECTORIES", 100_000)
    (found,), warnings = search_in(tmp_path)
    assert found.declaration is not None
    assert any("a.pk4: not a readable archive (the directories" in warning for warning in warnings)


# Images


def test_time_within_time_counts_once(monkeypatch):
    clock = iter([0.0, 10.0])
    monkeypatch.setattr(limits.time, "monotonic", lambda: next(clock))
    left = limits.Budget()
    with left.timed(), left.timed():
        pass
    assert left.seconds == 50.0


def test_only_the_time_that_textures_take_counts(monkeypatch):
    clock = iter([0.0, 10.0, 500.0, 540.0, 540.0, 540.0, 551.0, 552.0])
    monkeypatch.setattr(limits.time, "monotonic", lambda: next(clock))
    left = limits.Budget()
    with left.timed():
        pass
    assert not left.is_over()
    with left.timed():
        assert not left.is_over()
    assert left.seconds == 10.0
    with left.timed():
        assert left.is_over()
