"""Characters are found: in which folder, by which name, with which warnings, and how often the folders are listed."""

from __future__ import annotations

import os
from pathlib import Path

import bpy
import game_folders
import iqm_samples
import pytest

from io_idtech.io_iqm.format import animations_alone, format_iqm, read_iqm

IMP = "monster_demon_imp"


def import_character(game: Path, name: str, **options) -> None:
    assert bpy.ops.import_scene.idtech_character(game=str(game), name=name, **options) == {"FINISHED"}


def test_the_folder_above_the_game_says_which_one_to_choose(tmp_path):
    game = game_folders.doom3(tmp_path / "DoomQW/base")
    with pytest.raises(RuntimeError, match=r"DoomQW holds no game data itself: choose base in it, .*base"):
        import_character(game.parent, IMP)


def test_the_dialog_offers_the_game_in_the_folder(tmp_path, part):
    game = game_folders.doom3(tmp_path / "DoomQW/base")
    dialog = bpy.context.window_manager.operator_properties_last("import_scene.idtech_character")
    dialog.game = str(game.parent)
    try:
        assert part("io_common.game_tree.folders").inner_game(game.parent) == game
        dialog.inner_game = str(game)
        dialog.use_inner_game = True
        assert dialog.game == str(game)
    finally:
        dialog.game = ""


def test_a_mod_is_played_with_the_base_game_that_is_named(tmp_path):
    base = game_folders.doom3(tmp_path / "games/somewhere")
    mod = game_folders.loose(
        tmp_path / "mods/mine", {"def/mod.def": 'entityDef mod_imp { "inherit" "monster_demon_imp" }'}
    )
    with pytest.raises(RuntimeError, match="no models were found"):
        import_character(mod, "mod_imp")
    import_character(mod, "mod_imp", base_game=str(base))
    assert "monster_imp" in bpy.data.objects


@pytest.mark.parametrize(("kind", "expected"), [("ANY", "second"), ("ENTITY", "second"), ("MODEL", "first")])
def test_scripts_choose_between_an_entity_and_a_model_of_one_name(tmp_path, kind, expected):
    text = 'model imp { mesh first.md5mesh } entityDef imp { "model" "second.md5mesh" }'
    meshes = {f"{name}.md5mesh": game_folders.md5mesh() for name in ("first", "second")}
    import_character(game_folders.loose(tmp_path, {"def/imp.def": text, **meshes}), "imp", kind=kind)
    character = bpy.context.view_layer.objects.active["idtech_character"]["character"]
    assert f"{expected}.md5mesh" in character


def test_a_second_import_lists_nothing(tmp_path, monkeypatch):
    game = game_folders.doom3_loose(tmp_path / "base")
    import_character(game, IMP)
    listed: list[str] = []
    scan = os.scandir

    def counting(path="."):
        listed.append(os.fspath(path))
        return scan(path)

    monkeypatch.setattr(os, "scandir", counting)
    import_character(game, IMP)
    assert [path for path in listed if path.startswith(str(tmp_path))] == []


@pytest.mark.parametrize("where", ["def/zz_head.def", "models/md5/heads/imp/blink.md5anim", "pak9.pk4"])
def test_what_has_changed_since_the_last_import_counts(tmp_path, where):
    game = game_folders.doom3_loose(tmp_path / "base")
    import_character(game, "head_imp_model")
    folder = "models/md5/heads/imp"
    text = f"model head_imp_model {{ mesh {folder}/head.md5mesh anim blink {folder}/blink.md5anim }}"
    blink = game_folders.md5anim(game_folders.HEAD, frames=2)
    if where.endswith(".def"):
        (game / where).write_text(text.replace("blink.md5anim", "idle.md5anim"))
    elif where.endswith(".pk4"):
        (game / "def/zz_head.def").unlink()
        game_folders.zipped(game / where, {"def/zz_head.def": text, "models/md5/heads/imp/blink.md5anim": blink})
    else:
        (game / "def/zz_head.def").write_text(text)
        import_character(game, "head_imp_model")
        assert "blink" not in bpy.data.actions
        (game / where).write_text(blink)
    import_character(game, "head_imp_model")
    assert "blink" in bpy.data.actions


def test_warnings_are_about_what_was_asked_for(tmp_path, capfd):
    text = f"""model mine {{ inherit base mesh a.md5mesh
    nonsense }}
    model base {{ odd }}
    model other {{ {"strange " * 20} }}
    entityDef {{ }} }} stray"""
    game = game_folders.loose(tmp_path, {"def/npcs.def": text, "a.md5mesh": game_folders.md5mesh()})
    import_character(game, "mine", use_textures=False)
    told = capfd.readouterr().out
    assert "def/npcs.def:2: unknown word 'nonsense'" in told
    assert "def/npcs.def:3: unknown word 'odd'" in told
    for other in ("strange", "stray", "without a name"):
        assert other not in told


def test_the_count_of_animations_says_how_many_files_they_are(tmp_path, part):
    anims = "".join(f"md5anim {name}{number} {name}.md5anim\n" for name in ("run", "jump") for number in range(3))
    game = game_folders.loose(
        tmp_path,
        {
            "packages/models/hero/md5.cfg": f"md5load hero.md5mesh\n{anims}",
            "packages/models/hero/hero.md5mesh": game_folders.md5mesh(),
            **{f"packages/models/hero/{name}.md5anim": game_folders.md5anim() for name in ("run", "jump")},
        },
    )
    found = part("io_characters.reading").catalogue(game)
    entry = found.named("hero", "config")
    assert str(entry.animations) == "6 entries, 2 files"
    dialog = bpy.context.window_manager.operator_properties_last("import_scene.idtech_character")
    part("io_characters.operators.import_character").fill_animations(dialog, found.character(entry))
    assert len(dialog.animations) == 6
    assert dialog.animations_total == "; counted as 6 entries, 2 files"


def test_models_that_configs_of_unvanquished_and_xreal_name_are_listed(tmp_path, part):
    game = game_folders.loose(
        tmp_path,
        {
            "configs/buildables/arm.model.cfg": "model 0 models/buildables/arm/arm.md5mesh\nmodelScale 2\n",
            "configs/buildables/tube.model.cfg": "model 0 models/buildables/tube/tube.iqm\n",
            "configs/classes/level0.model.cfg": "model level0\nskin default\n",
            "configs/classes/spectator.model.cfg": "model null\n",
            "models/buildables/arm/arm.md5mesh": game_folders.md5mesh(),
            "models/buildables/arm/idle.md5anim": game_folders.md5anim(),
            "models/buildables/tube/tube.iqm": format_iqm(iqm_samples.iqm()),
            "models/players/level0/level0.iqm": format_iqm(iqm_samples.iqm()),
            "models/players/shina/character.cfg": "sex f\n",
            "models/players/shina/body.md5mesh": game_folders.md5mesh(),
            "models/players/shina/idle.md5anim": game_folders.md5anim(),
        },
    )
    found = part("io_characters.reading").catalogue(game)
    listed = {(str(entry.kind), entry.name): entry.meshes.found for entry in found.entries}
    assert listed == {
        ("config", "configs/buildables/arm"): 1,
        ("config", "models/players/shina"): 1,
        ("loose model", "models/buildables/arm/arm.md5mesh"): 1,
        ("loose model", "models/players/shina/body.md5mesh"): 1,
        ("loose model", "models/buildables/tube/tube.iqm"): 1,
        ("loose model", "models/players/level0/level0.iqm"): 1,
        ("config", "configs/buildables/tube"): 1,
        ("config", "configs/classes/level0"): 1,
    }
    import_character(game, "arm", kind="CONFIG", use_textures=False)
    assert [round(value, 4) for value in bpy.data.objects["arm"].scale] == [2, 2, 2]
    assert "idle" in bpy.data.actions
    import_character(game, "level0", kind="CONFIG", use_textures=False)
    assert {"walk", "grow"} <= {action.name for action in bpy.data.actions}
    bpy.context.view_layer.objects.active = bpy.data.objects["level0"]
    assert bpy.ops.export_scene.iqm(filepath=str(tmp_path / "level0.iqm")) == {"FINISHED"}
    assert (tmp_path / "level0.iqm").read_bytes() == format_iqm(iqm_samples.iqm())


def test_the_script_of_an_iqm_names_its_animations_and_images(tmp_path, part):
    iqm = iqm_samples.iqm()
    script = "iqmload arm.iqm\niqmanim idle walk.iqm 30\niqmanim attack arm.iqm:grow\niqmspec body 20\n"
    game = game_folders.loose(
        tmp_path,
        {
            "models/arm/iqm.cfg": script,
            "models/arm/arm.iqm": format_iqm(iqm),
            "models/arm/walk.iqm": format_iqm(animations_alone(iqm, 0)),
        },
    )
    found = part("io_characters.reading").catalogue(game)
    assert [(str(entry.kind), entry.name) for entry in found.entries] == [("config", "models/arm")]
    import_character(game, "arm", kind="CONFIG", use_textures=False)
    actions = {action.name: action for action in bpy.data.actions}
    assert {name: int(action.frame_range[1]) for name, action in actions.items()} == {"idle": 6, "attack": 6, "walk": 6}
    assert [name for name, action in actions.items() if action.use_cyclic] == ["attack"]
    # Its file names it otherwise than the script.
    assert bpy.ops.export_scene.iqm(filepath=str(tmp_path / "arm.iqm")) == {"FINISHED"}
    assert [one.name for one in read_iqm(tmp_path / "arm.iqm").animations] == ["walk", "grow", "idle"]
    assert [bone.name for bone in bpy.data.objects["arm"].data.bones] == iqm_samples.NAMES
