"""Characters of games come back: their files as they were, and declarations with the same meaning."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import bpy
import game_folders
import pytest
from installed import read_empty_scene

IMP = "monster_demon_imp"
DECLARATIONS = ("def", "Def", "skins", "packages/models/hero/md5.cfg", "packages/models/hound/md2.cfg")


@pytest.fixture
def declared(part):
    """The character that a game folder declares, without where it is declared."""

    def read(folder: Path, name: str):
        catalogue = part("io_common.catalogue").Catalogue(part("io_common.game_tree.tree").GameTree([folder]))
        assert not catalogue.files.warnings
        return replace(catalogue.character(catalogue.named(name)), declaration=None, warnings=())

    return read


def import_character(game: Path, name: str, **options) -> None:
    assert bpy.ops.import_scene.idtech_character(game=str(game), name=name, **options) == {"FINISHED"}


def export_character(folder: Path, **options) -> None:
    assert bpy.ops.export_scene.idtech_character(directory=str(folder), **options) == {"FINISHED"}


def without_declarations(game: Path, target: Path) -> Path:
    """A copy of a game without its declarations."""
    shutil.copytree(game, target)
    for name in DECLARATIONS:
        path = target / name
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    return target


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (game_folders.doom3_loose, IMP),
        (game_folders.doom3_loose, "monster_imp"),
        (game_folders.doom3_loose, "head_imp"),
        (game_folders.doom3_loose, "attach_lamp"),
        (game_folders.sauerbraten, "packages/models/hero"),
        (game_folders.sauerbraten, "packages/models/hound"),
    ],
    ids=lambda value: value if isinstance(value, str) else value.__name__,
)
def test_an_untouched_character_comes_back_with_the_same_meaning(tmp_path, declared, make, name):
    game = make(tmp_path / "game")
    before = declared(game, name) if make is game_folders.sauerbraten else None
    import_character(game, name)
    target = without_declarations(game, tmp_path / "target")
    export_character(target, use_models=False)
    if before is None:
        # The folder of the game has a declaration that appears twice, which is a warning.
        before = declared_with_warnings(declared, game, name)
    assert declared(target, name) == before


def declared_with_warnings(declared, game: Path, name: str):
    """The same for a game whose declarations have oddities."""
    (game / "skins/imp.skin").write_text(game_folders.SKINS.rpartition("skin skins/monsters/imp {")[0])
    return declared(game, name)


def test_the_files_of_an_untouched_character_come_back_as_they_were(tmp_path):
    game = game_folders.doom3_loose(tmp_path / "game")
    import_character(game, IMP, global_scale=0.5, axis_forward="X")
    export_character(tmp_path / "out", use_declarations=False)
    written = sorted(path for path in (tmp_path / "out").rglob("*") if path.is_file())
    assert {path.name for path in written} == {
        "imp.md5mesh", "stand.md5anim", "walk1.md5anim", "run.md5anim", "head.md5mesh", "idle.md5anim",
        "lamp.md5mesh",
    }  # fmt: skip
    import_character(tmp_path / "out", "imp.md5mesh", global_scale=0.5, axis_forward="X")


@pytest.mark.parametrize("name", ["imp.md5mesh", "walk1.md5anim"])
def test_models_are_written_without_the_place_that_the_game_gives_them(tmp_path, part, name):
    game = game_folders.doom3_loose(tmp_path / "game")
    import_character(game, IMP)
    export_character(tmp_path / "out", use_declarations=False)
    formats = part("io_md5.format")
    read = formats.read_mesh if name.endswith("mesh") else formats.read_animation
    path = f"models/md5/monsters/imp/{name}"
    before, after = read(game / path), read(tmp_path / "out" / path)
    if name.endswith("mesh"):
        assert after.joints.positions.tolist() == before.joints.positions.tolist()
        assert [mesh.shader for mesh in after.meshes] == [mesh.shader for mesh in before.meshes]
    else:
        assert after.frames.tolist() == before.frames.tolist()


def test_the_scene_is_as_before_after_an_export(tmp_path):
    import_character(game_folders.doom3_loose(tmp_path / "game"), IMP)

    def state():
        bpy.context.view_layer.update()
        return [
            (obj.name, [list(row) for row in obj.matrix_world], obj.parent_bone, obj.select_get())
            for obj in bpy.data.objects
        ] + [slot.material.name for obj in bpy.data.objects for slot in obj.material_slots]

    before = state()
    export_character(tmp_path / "out")
    assert state() == before


def test_adjusted_animations_are_written_as_they_were_before_md5adjust(tmp_path, part):
    game = game_folders.sauerbraten(tmp_path / "game")
    import_character(game, "hero")
    export_character(tmp_path / "out")
    read, poses = part("io_md5.format").read_animation, part("io_common.skeletal.skeleton").poses
    path = "packages/models/hero/run.md5anim"
    for before, after in zip(poses(read(game / path)), poses(read(tmp_path / "out" / path)), strict=True):
        assert abs(before - after).max() < 1e-4


def test_what_was_changed_in_blender_is_declared(tmp_path, declared):
    game = game_folders.doom3_loose(tmp_path / "game")
    import_character(game, IMP)
    walk = bpy.data.actions["walk1"]
    marker = walk.pose_markers.new("sound_body growl")
    marker.frame = 2
    walk["ai_no_turn"] = False
    walk["prevent_idle_override"] = True
    bpy.data.actions["stand"].name = "idle1"
    new = bpy.data.actions["range"].copy()
    new.name = "taunt"
    del new["idtech_character"]
    bpy.data.objects["monster_imp"].location.z = -6
    bpy.ops.object.idtech_character_skin(skin="skins/monsters/imp")
    target = without_declarations(game, tmp_path / "target")
    export_character(target)
    body = declared(target, IMP).parts[0]
    found = {animation.name: animation for animation in body.animations}
    assert set(found) == {"idle1", "walk1", "range", "pain1", "taunt"}
    assert found["walk1"].flags == ("random_cycle_start", "prevent_idle_override")
    assert [(one.frame, one.text) for one in found["walk1"].commands] == [
        (2, "sound_body imp_step"), (3, "sound_body growl"), (4, 'call "foot fall"'),
    ]  # fmt: skip
    assert found["taunt"].files == ("models/md5/monsters/imp/taunt.md5anim",)
    assert (target / "models/md5/monsters/imp/taunt.md5anim").is_file()
    assert body.offset == (0, 0, -6)
    assert body.default_skin == "skins/monsters/imp"


@pytest.mark.parametrize("name", ["a taunt", "zoom", "stand.001"])
def test_a_copy_of_an_action_is_a_new_animation_and_the_original_stays(tmp_path, declared, part, name):
    game = game_folders.doom3_loose(tmp_path / "game")
    import_character(game, IMP)
    before = {animation.name: animation for animation in declared(game, IMP).parts[0].animations}
    copy = bpy.data.actions["stand"].copy()
    copy.name = name
    for curve in part("io_blender.versions").fcurves_of_slot(copy, getattr(copy, "slots", [None])[0]):
        curve.keyframe_points[0].co.y += 0.25
    target = without_declarations(game, tmp_path / "target")
    stand = Path(before["stand"].files[0])
    export_character(target)
    found = {animation.name: animation for animation in declared(target, IMP).parts[0].animations}
    assert found["stand"] == before["stand"]
    assert set(found) == {*before, name}
    read = part("io_md5.format").read_animation
    assert read(target / stand).frames.tolist() == read(game / stand).frames.tolist()
    assert read(target / found[name].files[0]).frames.tolist() != read(game / stand).frames.tolist()


def test_animations_whose_actions_were_deleted_are_not_declared(tmp_path, declared, capfd):
    game = game_folders.doom3_loose(tmp_path / "game")
    import_character(game, IMP)
    for name in ("stand", "range (run)"):
        bpy.data.actions.remove(bpy.data.actions[name])
    before = {animation.name: animation for animation in declared(game, IMP).parts[0].animations}
    target = without_declarations(game, tmp_path / "target")
    capfd.readouterr()
    export_character(target)
    assert "Not declared, as their actions are gone: range, stand" in capfd.readouterr().out
    after = {animation.name: animation for animation in declared(target, IMP).parts[0].animations}
    # The file of pain1 was missing when it was imported.
    assert set(after) == {"walk1", "range", "pain1"}
    assert (after["walk1"], after["pain1"]) == (before["walk1"], before["pain1"])
    assert after["range"].files == before["range"].files[:1]


def test_adjustments_are_of_the_same_animations_after_others_were_deleted(tmp_path, declared):
    game = game_folders.sauerbraten(tmp_path / "game")
    script = game / "packages/models/hero/md5.cfg"
    script.write_text(script.read_text().replace("md5anim forward", "md5adjust Neck 5 0 0\nmd5anim forward"))
    before = declared(game, "hero").parts[0]
    import_character(game, "hero")
    bpy.data.actions.remove(bpy.data.actions["idle|edit"])
    export_character(game)
    after = declared(game, "hero").parts[0]
    assert after.animations == before.animations[1:]
    assert [(one.joint, one.first_animation) for one in before.adjustments] == [("Waist", 0), ("Neck", 1)]
    assert [(one.joint, one.first_animation) for one in after.adjustments] == [("Waist", 0), ("Neck", 0)]


@pytest.mark.parametrize(("linked", "names"), [(False, {"stand", "pain1"}), (True, None)], ids=["copied", "linked"])
def test_a_duplicated_character_declares_the_animations_that_it_has(tmp_path, declared, linked, names):
    game = game_folders.doom3_loose(tmp_path / "game")
    import_character(game, IMP)
    before = declared(game, IMP).parts[0]
    bpy.ops.object.select_all(action="SELECT")
    bpy.ops.object.duplicate(linked=linked)
    export_character(tmp_path / "out")
    after = declared(tmp_path / "out", IMP).parts[0]
    assert {one.name for one in after.animations} == (names or {one.name for one in before.animations})
    files = {file for one in after.animations for file in one.files if one.name != "pain1"}
    assert files == {
        path.relative_to(tmp_path / "out").as_posix() for path in (tmp_path / "out").rglob("imp/*.md5anim")
        if path.parent.parent.name == "monsters"
    }  # fmt: skip


def test_an_overridden_character_declares_and_writes_the_animations_that_are_linked(tmp_path, declared):
    import_character(game_folders.doom3_loose(tmp_path / "game"), IMP)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "library.blend"))
    read_empty_scene()
    scene = bpy.context.scene
    with bpy.data.libraries.load(str(tmp_path / "library.blend"), link=True) as (_, wanted):
        wanted.collections, wanted.actions = [IMP], ["stand", "walk1"]
    linked = wanted.collections[0]
    scene.collection.children.link(linked)
    override = linked.override_hierarchy_create(scene, bpy.context.view_layer, do_fully_editable=True)
    scene.collection.children.unlink(linked)
    bpy.context.view_layer.objects.active = next(obj for obj in override.all_objects if obj.name == "monster_imp")
    export_character(tmp_path / "out")
    assert {one.name for one in declared(tmp_path / "out", IMP).parts[0].animations} == {"stand", "walk1", "pain1"}
    assert {path.stem for path in (tmp_path / "out").rglob("*.md5anim")} == {"stand", "walk1", "idle"}


def test_a_new_animation_is_none_of_those_that_move_some_joints_alone(tmp_path, declared):
    game = game_folders.sauerbraten(tmp_path / "game")
    script = game / "packages/models/hero/md5.cfg"
    group = "md5animpart Waist\nmd5anim idle idle.md5anim\nmd5adjust Neck 5 0 0\nmd5anim forward"
    script.write_text(script.read_text().replace("md5anim forward", group))
    before = declared(game, "hero").parts[0]
    import_character(game, "hero")
    bpy.data.actions["forward"].copy().name = "swim"
    target = without_declarations(game, tmp_path / "target")
    export_character(target)
    after = declared(target, "hero").parts[0]
    assert [(one.name, one.joints) for one in before.animations] == [
        ("idle|edit", ""), ("idle", "Waist"), ("forward", "Waist")
    ]  # fmt: skip
    assert [(one.name, one.joints) for one in after.animations] == [
        ("idle|edit", ""), ("swim", ""), ("idle", "Waist"), ("forward", "Waist")
    ]  # fmt: skip
    assert [(one.joint, one.first_animation) for one in before.adjustments] == [("Waist", 0), ("Neck", 2)]
    assert [(one.joint, one.first_animation) for one in after.adjustments] == [("Waist", 0), ("Neck", 3)]


def test_joints_that_declarations_name_and_bones_do_not_have_are_warned_of(tmp_path, capfd):
    import_character(game_folders.doom3_loose(tmp_path / "game"), IMP)
    export_character(tmp_path / "before")
    assert "does not have" not in capfd.readouterr().out
    bones = bpy.data.objects["monster_imp"].data.bones
    bones["Neck"].name, bones["larm"].name, bones["rleg"].name = "collar", "left arm", "right leg"
    export_character(tmp_path / "after")
    told = capfd.readouterr().out
    assert "declarations name joints that models/md5/monsters/imp/imp.md5mesh does not have: " in told
    missing = told.partition("does not have: ")[2].partition(". Rename")[0]
    assert set(missing.split(", ")) == {"Neck", "larm", "rleg"}


def test_commands_are_about_renamed_meshes(tmp_path, declared):
    game = game_folders.sauerbraten(tmp_path / "game")
    folder = game / "packages/models/hero"
    model = folder / "hero.md5mesh"
    model.write_text(model.read_text().replace("mesh {", "mesh {\n\t// meshes: body"))
    script = folder / "md5.cfg"
    script.write_text(script.read_text().replace("md5tag", "md5spec body 60\nmd5pitch body 1\nmd5tag", 1))
    before = declared(game, "hero").parts[0]
    import_character(game, "hero")
    bpy.data.objects["body"].name = "torso"
    export_character(game)
    after = declared(game, "hero").parts[0]
    assert "// meshes: torso" in model.read_text()
    assert [replace(one, mesh="body") for one in after.textures if one.mesh == "torso"] == list(before.textures)
    assert after.settings == (("md5spec", "torso", "60"), ("md5pitch", "body", "1"))


def test_a_new_animation_does_not_get_the_file_of_another(tmp_path, declared):
    game = game_folders.doom3_loose(tmp_path / "game")
    import_character(game, IMP)
    # That of the animation "range", whose name is free.
    file = Path("models/md5/monsters/imp/run.md5anim")
    new = bpy.data.actions["range"].copy()
    del new["idtech_character"]
    new.name = file.stem
    target = without_declarations(game, tmp_path / "target")
    export_character(target)
    files = [animation.files[0] for animation in declared(target, IMP).parts[0].animations]
    assert file.with_stem(f"{file.stem}_2").as_posix() in files
    assert (target / file.with_stem(f"{file.stem}_2")).is_file()


def add_mesh(name):
    bpy.ops.mesh.primitive_cube_add()
    added = bpy.context.object
    added.name = name
    added.data.materials.append(bpy.data.materials.new(f"models/{name}"))
    return added


def test_what_was_put_on_a_bone_is_exported_with_the_model(tmp_path, part):
    game = game_folders.doom3_loose(tmp_path / "game")
    import_character(game, IMP)
    body = bpy.data.objects["monster_imp"]
    hat = add_mesh("hat")
    hat.parent, hat.parent_type, hat.parent_bone = body, "BONE", body.data.bones[1].name
    bpy.context.view_layer.objects.active = body
    export_character(tmp_path / "out")
    model = part("io_md5.format").read_mesh(tmp_path / "out/models/md5/monsters/imp/imp.md5mesh")
    assert "models/hat" in [mesh.shader for mesh in model.meshes]
    head = part("io_md5.format").read_mesh(next((tmp_path / "out").rglob("head.md5mesh")))
    assert "models/hat" not in [mesh.shader for mesh in head.meshes]


def test_a_mesh_that_moves_with_the_character_and_is_no_part_is_warned_of(tmp_path, capfd):
    import_character(game_folders.doom3_loose(tmp_path / "game"), IMP)
    body = bpy.data.objects["monster_imp"]
    add_mesh("apart")
    add_mesh("cape").modifiers.new("Armature", "ARMATURE").object = body
    bpy.context.view_layer.objects.active = body
    export_character(tmp_path / "out")
    told = capfd.readouterr().out
    assert "not exported, as none of its meshes: cape. Parent them" in told


def test_commands_keep_the_order_of_their_declaration(tmp_path, part):
    game = game_folders.doom3_loose(tmp_path / "game")
    declarations = next(path for path in game.glob("*/*.?*") if path.name.lower() == "monster_imp.def")
    text = declarations.read_text()
    declarations.write_text(
        text.replace("frame 2\tsound_body", "frame 9 last\n\t\tframe 0 never\n\t\tframe 2\tsound_body")
    )
    import_character(game, "monster_imp")
    found = part("io_characters.scene").find_character(bpy.context)
    current = part("io_characters.exporter").current_character(found)
    assert current == found.character
    assert [command.frame for command in current.parts[0].animations[1].commands] == [9, 0, 2, 4]


def test_a_speed_that_was_changed_is_declared(tmp_path, declared):
    game = game_folders.sauerbraten(tmp_path / "game")
    import_character(game, "hero")
    bpy.data.actions["forward"]["speed"] = 45.0
    export_character(game, use_models=False)
    assert [one.rate for one in declared(game, "hero").parts[0].animations] == [None, 45.0]


def test_the_models_of_a_player_come_back_as_the_export_of_md2_files_writes_them(tmp_path):
    game = game_folders.loose(
        tmp_path / "game", {f"players/hero/{name}.md2": game_folders.md2() for name in ("tris", "weapon")}
    )
    import_character(game, "hero")
    bpy.ops.object.idtech_character_animation(animation="stand")
    export_character(tmp_path / "out", use_declarations=False)
    read_empty_scene()
    bpy.ops.import_scene.md2(filepath=str(game / "players/hero/weapon.md2"))
    bpy.ops.export_scene.md2(filepath=str(tmp_path / "weapon.md2"))
    written = (tmp_path / "out/players/hero/weapon.md2").read_bytes()
    assert written == (tmp_path / "weapon.md2").read_bytes()


def test_a_player_of_quake_2_is_exported_without_a_warning(tmp_path, capfd):
    game = game_folders.loose(tmp_path / "game", {"players/hero/tris.md2": game_folders.md2()})
    import_character(game, "hero")
    capfd.readouterr()
    export_character(tmp_path / "out")
    told = capfd.readouterr().out
    assert "Quake II needs no declarations" in told
    assert "Warning" not in told


def test_a_packed_character_is_exported_to_a_real_folder(tmp_path):
    import_character(game_folders.doom3(tmp_path / "base"), IMP)
    export_character(tmp_path / "out")
    assert (tmp_path / "out/models/md5/monsters/imp/imp.md5mesh").is_file()
    assert (tmp_path / f"out/def/{IMP}.def").is_file()


def test_without_a_character_there_is_nothing_to_export(tmp_path):
    assert not bpy.ops.export_scene.idtech_character.poll()


def test_nothing_chosen_is_an_error(tmp_path):
    import_character(game_folders.doom3(tmp_path / "base"), IMP)
    with pytest.raises(RuntimeError, match="nothing to export"):
        bpy.ops.export_scene.idtech_character(directory=str(tmp_path), use_models=False, use_declarations=False)


# Names that a .blend file from elsewhere may hold


@pytest.mark.parametrize("name", ["autoexec.cfg", "pak.pk4", "C:/x/walk1.md5anim"])
def test_an_action_that_names_a_foreign_file_is_written_beside_the_model(tmp_path, name):
    import_character(game_folders.doom3_loose(tmp_path / "game"), IMP)
    action = next(one for one in bpy.data.actions if one.name.startswith("walk1"))
    action["idtech_character"]["file"] = name
    out = tmp_path / "out"
    out.mkdir()
    (out / "autoexec.cfg").write_text("a week of work")
    export_character(out, use_declarations=False)
    assert {path.suffix for path in out.rglob("*") if path.is_file()} == {".cfg", ".md5mesh", ".md5anim"}
    assert (out / "autoexec.cfg").read_text() == "a week of work"
    assert not any(":" in str(path.relative_to(out)) for path in out.rglob("*"))


@pytest.mark.parametrize(
    ("own", "lost"),
    [
        ('{declared}\nentityDef precious { "health" "1" }\n', "entitydef precious"),
        ("{declared}\nsound growl { growl.wav }\n", "sound growl"),
        ('entityDef monster_demon_imp { "model" "x" "health" "100" }\n', "'health' of monster_demon_imp"),
    ],
)
@pytest.mark.slow
def test_declarations_that_an_export_would_lose_are_not_replaced(tmp_path, own, lost):
    import_character(game_folders.doom3_loose(tmp_path / "game"), IMP)
    out = tmp_path / "out"
    export_character(out)
    export_character(out)
    path = out / "def" / f"{IMP}.def"
    path.write_text(own.replace("{declared}", path.read_text()))
    before = {file: file.read_bytes() for file in out.rglob("*") if file.is_file()}
    with pytest.raises(RuntimeError, match=f"would lose {lost}. Choose another folder"):
        export_character(out)
    assert before == {file: file.read_bytes() for file in out.rglob("*") if file.is_file()}
    export_character(out, use_declarations=False)


def test_an_export_keeps_the_case_of_folders_and_files_that_exist(tmp_path):
    import_character(game_folders.doom3_loose(tmp_path / "game"), IMP)
    out = tmp_path / "out"
    old = out / "Models/MD5/Monsters/imp/IMP.md5mesh"
    old.parent.mkdir(parents=True)
    old.write_text("")
    export_character(out, use_declarations=False)
    assert [path.name for path in out.iterdir()] == ["Models"]
    assert [path.name for path in (out / "Models").iterdir()] == ["MD5"]
    assert b"numJoints" in old.read_bytes()
    assert "imp.md5mesh" not in [path.name for path in old.parent.iterdir()]


def test_a_linked_character_that_shows_a_skin_is_refused_with_the_remedy(tmp_path):
    import_character(game_folders.doom3_loose(tmp_path / "game"), IMP)
    assert bpy.ops.object.idtech_character_skin(skin="skins/monsters/imp") == {"FINISHED"}
    collection = bpy.data.collections.new("Library")
    for obj in bpy.data.objects:
        collection.objects.link(obj)
    bpy.data.libraries.write(str(tmp_path / "library.blend"), {collection})
    read_empty_scene()
    with bpy.data.libraries.load(str(tmp_path / "library.blend"), link=True) as (_, wanted):
        wanted.collections = ["Library"]
    bpy.context.scene.collection.children.link(wanted.collections[0])
    bpy.context.view_layer.update()
    bpy.context.view_layer.objects.active = next(
        obj for obj in bpy.context.view_layer.objects if obj.type == "ARMATURE"
    )
    with pytest.raises(RuntimeError, match="is linked, so its skin cannot be switched: use Object > Library"):
        bpy.ops.object.idtech_character_skin(skin="")
    with pytest.raises(RuntimeError, match="is linked, so its skin cannot be switched: use Object > Library"):
        bpy.ops.export_scene.idtech_character(directory=str(tmp_path / "out"))


def test_meshes_keep_their_order_in_the_file_whatever_their_names_are(tmp_path, part):
    shaders = ("models/zebra", "models/ant", "models/mule")
    game = game_folders.loose(
        tmp_path / "game",
        {
            "def/a.def": "model zoo { mesh zoo.md5mesh }",
            "zoo.md5mesh": game_folders.md5mesh(game_folders.BODY, *shaders),
        },
    )
    import_character(game, "zoo", use_textures=False)
    export_character(tmp_path / "out", use_declarations=False)
    written = part("io_md5.format").read_mesh(tmp_path / "out/zoo.md5mesh")
    assert tuple(mesh.shader for mesh in written.meshes) == shaders
