"""Results have unique names on any disk, which differ from those of sources and stay in the output folder."""

from __future__ import annotations

from pathlib import Path

import game_folders
import pytest

from io_idtech.command_line.plan import Plan
from io_idtech.command_line.tasks import Records, path_key
from io_idtech.io_blender.options import Settings


def plan(folder: Path, *names: str, out: str = "out", **settings):
    """The tasks for files of these names, and the reasons for those that are refused."""
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    inputs = [str(folder / name) for name in names]
    found = Plan(Records(folder / out, Settings(**settings), "1"))
    found.add_files(inputs)
    return found.tasks, [outcome.reason for _, outcome in found.refused]


def test_names_that_differ_only_in_case_get_different_targets(tmp_path):
    names = ("a/imp.md5mesh", "b/IMP.md5mesh", "c/Imp.md2", "d/stra\u00dfe.md2", "e/STRASSE.md2")
    tasks, refused = plan(tmp_path, *names)
    assert refused == []
    assert len({path_key(task.target) for task in tasks}) == len(names)


def test_composed_and_decomposed_accents_get_different_targets(tmp_path):
    tasks, _ = plan(tmp_path, "a/caf\u00e9.md2", "b/cafe\u0301.md2")
    assert len({path_key(task.target) for task in tasks}) == 2


def test_a_generated_name_differs_from_all_other_files(tmp_path):
    names = ("a/imp.md5mesh", "b/imp.md5mesh", "c/imp_md5mesh.md5mesh", "d/imp_md5mesh_2.md2", "e/imp.md5mesh")
    tasks, refused = plan(tmp_path, *names)
    targets = {task.source.parent.name: task.target.name for task in tasks}
    assert refused == []
    assert targets == {
        "a": "imp.blend",
        "b": "imp_md5mesh_3.blend",
        "c": "imp_md5mesh.blend",
        "d": "imp_md5mesh_2.blend",
        "e": "imp_md5mesh_4.blend",
    }


def test_a_result_never_has_the_name_of_a_source_in_any_case(tmp_path):
    tasks, refused = plan(tmp_path, "IMP.md5mesh", "sub/imp.md2", out=".", format="md5")
    assert [task.target.name for task in tasks] == ["imp_md2.md5mesh"]
    (reason,) = refused
    assert "IMP.md5mesh is an input file of this run" in reason


STEMS = ["imp", "imp_", "imp_b", "imp_b_", "imp__b", "IMP_B_C", "b", "walk"]

ANIMATIONS = ["walk", "b_walk", "_b_walk", "b__walk", "_walk", "__b_walk", "c_walk", "B_WALK", ""]


def test_no_animation_of_a_model_has_the_name_of_another_models(tmp_path):
    names = [f"{stem}.md5mesh" for stem in STEMS]
    tasks, _ = plan(tmp_path, *names, "imp_b_walk.md5anim", "x.md5anim", format="md5", animations="same")
    models = [task for task in tasks if task.target.suffix == ".md5mesh"]
    results = [f"{task.prefix}{name}.md5anim".casefold() for task in models for name in dict.fromkeys(
        name.casefold() for name in ANIMATIONS)]  # fmt: skip
    results += [task.target.name.casefold() for task in tasks if task.target.suffix == ".md5anim"]
    assert len(results) == len(set(results))
    assert all(task.prefix.startswith(task.target.stem) for task in models)


def test_animations_of_a_single_model_are_not_prefixed_with_its_name(tmp_path):
    tasks, _ = plan(tmp_path, "imp.md5mesh", format="md5", animations="same")
    assert [task.prefix for task in tasks] == [""]


# Characters


def character_targets(folder: Path, text: str, format_name: str = "glb", pattern: str = "*") -> list[str]:
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
    assert character_targets(tmp_path, entity("Imp") + "model imp { mesh a.md5mesh }") == ["Imp.glb", "imp_model.glb"]


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
    assert character_targets(tmp_path, entity(name)) == [target]


def test_characters_whose_animations_are_files_have_a_folder_each(tmp_path: Path) -> None:
    assert character_targets(tmp_path, entity("a") + entity("b"), "md5") == ["a/a.md5mesh", "b/b.md5mesh"]
    assert character_targets(tmp_path, entity("a") + entity("b"), "md2") == ["a.md2", "b.md2"]


def test_the_files_of_a_character_are_not_overwritten(tmp_path: Path) -> None:
    text = 'entityDef a { "model" "a/a.md5mesh" }'
    game = game_folders.loose(tmp_path, {"def/a.def": text, "a/a.md5mesh": game_folders.md5mesh()})
    settings = Settings(format="md5", game_data=(str(game),))
    plan = Plan(Records(tmp_path, settings, "1"))
    plan.add_characters(["a"])
    assert plan.tasks == []
    ((task, outcome),) = plan.refused
    assert (task.target, "is an input file" in outcome.reason) == (tmp_path / "a/a.md5mesh", True)
