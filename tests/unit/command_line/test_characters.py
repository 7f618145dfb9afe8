"""Characters of a game as tasks: each has a target of its own, inside the output folder."""

from __future__ import annotations

from pathlib import Path

import game_folders
import pytest

from io_idtech.command_line.plan import Plan
from io_idtech.command_line.records import Records
from io_idtech.command_line.tasks import path_key
from io_idtech.io_common.batch import Settings


def targets(folder: Path, text: str, format_name: str = "glb", pattern: str = "*") -> list[str]:
    """The targets of the characters that a file declares, relative to the output folder."""
    mesh = game_folders.md5mesh()
    game = game_folders.loose(folder / "base", {"def/a.def": text, "a.md5mesh": mesh})
    settings = Settings(format=format_name, game_data=(str(game),))
    plan = Plan(Records(folder / "out", settings, "1"))
    plan.add_characters([pattern])
    assert not plan.refused
    assert len({path_key(task.target) for task in plan.tasks}) == len(plan.tasks)
    return sorted(task.target.relative_to(folder / "out").as_posix() for task in plan.tasks)


def entity(name: str) -> str:
    return f'entityDef "{name}" {{ "model" "a.md5mesh" }}\n'


def test_a_model_with_the_name_of_an_entity_gets_another_target(tmp_path: Path) -> None:
    assert targets(tmp_path, entity("Imp") + "model imp { mesh a.md5mesh }") == ["Imp.glb", "imp_model.glb"]


@pytest.mark.parametrize(
    ("name", "target"),
    [
        ("../../evil", "evil.glb"),
        ("/etc/evil", "evil.glb"),
        ("c:\\evil", "evil.glb"),
        ("a:b|c?", "b_c_.glb"),
        ("sub/imp", "sub/imp.glb"),
        ("dots...", "dots.glb"),
        ("..", "character.glb"),
    ],
)
def test_no_name_leads_out_of_the_output_folder(tmp_path: Path, name: str, target: str) -> None:
    assert targets(tmp_path, entity(name)) == [target]


def test_characters_whose_animations_are_files_have_a_folder_each(tmp_path: Path) -> None:
    assert targets(tmp_path, entity("a") + entity("b"), "md5") == ["a/a.md5mesh", "b/b.md5mesh"]
    assert targets(tmp_path, entity("a") + entity("b"), "md2") == ["a.md2", "b.md2"]


def test_the_files_of_a_character_are_not_overwritten(tmp_path: Path) -> None:
    text = 'entityDef a { "model" "a/a.md5mesh" }'
    game = game_folders.loose(tmp_path, {"def/a.def": text, "a/a.md5mesh": game_folders.md5mesh()})
    settings = Settings(format="md5", game_data=(str(game),))
    plan = Plan(Records(tmp_path, settings, "1"))
    plan.add_characters(["a"])
    assert plan.tasks == []
    ((task, outcome),) = plan.refused
    assert (task.target, "is an input file" in outcome.reason) == (tmp_path / "a/a.md5mesh", True)
