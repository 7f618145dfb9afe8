"""Heads and attachments hang where Doom 3 and The Dark Mod put them, as `engines.attachments` computes it."""

from __future__ import annotations

import random
from pathlib import Path

import bpy
import game_folders
import numpy as np
import pytest
from engines.attachments import Transform, dark_mod, doom3, to_mat3
from installed import read_empty_scene

NAMES = ("origin", "Hips", "Neck", "hand")
JOINTS = tuple((name, index - 1) for index, name in enumerate(NAMES))
FRAME = 1
ATDM = 'entityDef atdm:ai_base { "spawnclass" "idAI" }\n'


class Skeleton:
    """Four joints, each the child of the one before, in a pose: local positions and rotations of columns."""

    def __init__(self, rng: random.Random) -> None:
        self.locals = [
            (np.array([rng.uniform(-1, 1) for _ in range(3)]), to_mat3([rng.uniform(-70, 70) for _ in range(3)]).T)
            for _ in NAMES
        ]

    def world(self, offset=(0.0, 0.0, 0.0)) -> dict[str, Transform]:
        """The joints in the space of the model, with rows for axes, as the engine has them."""
        origin, turn = np.array(offset), np.eye(3)
        result = {}
        for name, (position, rotation) in zip(NAMES, self.locals, strict=True):
            origin, turn = origin + turn @ position, turn @ rotation
            result[name] = Transform(origin, turn.T)
        return result

    def md5mesh(self) -> str:
        lines = game_folders.md5mesh(JOINTS).splitlines()
        for name, joint in self.world().items():
            row = next(index for index, line in enumerate(lines) if f'"{name}"' in line)
            parent = NAMES.index(name) - 1
            lines[row] = f'\t"{name}"\t{parent} ( {words(joint.origin)} ) ( {quaternion(joint.axis.T)} )\t//'
        return "\n".join(lines) + "\n"

    def md5anim(self, frames: int = 3) -> str:
        hierarchy = [f'\t"{name}"\t{index - 1} 63 {6 * index}\t//' for index, name in enumerate(NAMES)]
        rows = [f"\t{words(position)} {quaternion(rotation)}" for position, rotation in self.locals]
        base = [f"\t( {words(position)} ) ( {quaternion(rotation)} )" for position, rotation in self.locals]
        blocks = [f"frame {index} {{\n" + "\n".join(rows) + "\n}\n" for index in range(frames)]
        return (
            f'MD5Version 10\ncommandline ""\n\nnumFrames {frames}\nnumJoints 4\nframeRate 24\n'
            "numAnimatedComponents 24\n\nhierarchy {\n" + "\n".join(hierarchy) + "\n}\n\nbounds {\n"
            + "\t( -9 -9 -9 ) ( 9 9 9 )\n" * frames + "}\n\nbaseframe {\n" + "\n".join(base) + "\n}\n\n"
            + "\n".join(blocks)
        )  # fmt: skip


def words(values) -> str:
    return " ".join(f"{value:.15f}" for value in values)


def quaternion(matrix) -> str:
    """x, y and z of a rotation with w below 0, as the files have it."""
    values, vectors = np.linalg.eigh(
        [
            [matrix[0, 0] - matrix[1, 1] - matrix[2, 2], 0, 0, 0],
            [matrix[0, 1] + matrix[1, 0], matrix[1, 1] - matrix[0, 0] - matrix[2, 2], 0, 0],
            [matrix[0, 2] + matrix[2, 0], matrix[1, 2] + matrix[2, 1], matrix[2, 2] - matrix[0, 0] - matrix[1, 1], 0],
            [matrix[2, 1] - matrix[1, 2], matrix[0, 2] - matrix[2, 0], matrix[1, 0] - matrix[0, 1], np.trace(matrix)],
        ]
    )
    x, y, z, w = vectors[:, values.argmax()]
    if w < 0:
        x, y, z = -x, -y, -z
    return words((-x, -y, -z))


def numbers(rng: random.Random, most: float = 2) -> str:
    count = rng.choice((3, 3, 3, 2, 1))
    return " ".join(f"{rng.uniform(-most, most):.3f}" for _ in range(count))


def body_values(rng: random.Random, is_dark_mod: bool) -> tuple[dict[str, str], dict[str, dict[str, str]]]:
    """The values of a body and of two entities that hang on it, with the keys that say where."""
    values = {"model": "body"}
    entities = {name: {"model": f"{name}_model", "rotation": "0 1 0 -1 0 0 0 0 1"} for name in ("one", "two")}
    if rng.random() < 0.7:
        values |= {"def_head": "head", "head_joint": rng.choice(NAMES)}
        if is_dark_mod:
            entities["head"] = {"model": "head"}
            values |= {"head": numbers(rng), "offsetheadmodel": numbers(rng)}
    for index, name in enumerate(("one", "two")):
        suffix = rng.choice(("", "_x", "7")) + str(index)
        values[f"def_attach{suffix}"] = name
        own = entities[name]
        own |= {"joint": rng.choice(NAMES), "origin": numbers(rng), "angles": numbers(rng, 180)}
        if is_dark_mod and rng.random() < 0.3:
            own |= {"bindtojoint": own.pop("joint")}
        if is_dark_mod and rng.random() < 0.3:
            own |= {"origin_hero": numbers(rng), "angles_hero": numbers(rng, 180)}
        if is_dark_mod and rng.random() < 0.6:
            values |= {
                f"pos_attach{suffix}": f"Place{index}",
                f"attach_pos_name_{index}": f"Place{index}",
                f"attach_pos_joint_{index}": rng.choice(NAMES),
                f"attach_pos_origin_{index}": numbers(rng),
                f"attach_pos_angles_{index}": numbers(rng, 180),
            }
            own |= {f"origin_place{index}": numbers(rng), f"angles_place{index}": numbers(rng, 180)}
    if is_dark_mod:
        values["def_attach_none"] = "-"
    return values, entities


def entity_text(name: str, values: dict[str, str]) -> str:
    pairs = "".join(f'\t"{key}"\t"{value}"\n' for key, value in values.items())
    return f"entityDef {name} {{\n{pairs}}}\n"


def model_text(name: str, offset: str, *animations: str) -> str:
    anims = "".join(f" anim {one} {name}/{one}.md5anim" for one in animations)
    return f"model {name} {{ mesh {name}/{name}.md5mesh offset ( {offset} ){anims} }}\n"


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_100_generated_declarations_hang_where_the_engines_put_them(tmp_path: Path, seed: int) -> None:
    for number in range(25 * seed, 25 * seed + 25):
        read_empty_scene()
        rng = random.Random(number)
        is_dark_mod = bool(number % 2)
        values, entities = body_values(rng, is_dark_mod)
        body, attaching, playing = (Skeleton(rng) for _ in range(3))
        has_pose = rng.random() < 0.5
        offsets = {name: words([rng.uniform(-1, 1) for _ in range(3)]) for name in ("body", "one", "two", "head")}
        text = ATDM if is_dark_mod else ""
        text += model_text("body", offsets["body"], *(("ik_pose",) if has_pose else ()), "stand")
        text += model_text("head", offsets["head"])
        text += "".join(model_text(f"{name}_model", offsets[name]) for name in ("one", "two"))
        text += "".join(entity_text(name, own) for name, own in entities.items()) + entity_text("hero", values)
        game = game_folders.loose(
            tmp_path / str(number),
            {
                "def/a.def": text,
                "body/body.md5mesh": body.md5mesh(),
                "body/ik_pose.md5anim": attaching.md5anim(),
                "body/stand.md5anim": playing.md5anim(),
                **{f"{name}/{name}.md5mesh": body.md5mesh() for name in ("head", "one_model", "two_model")},
            },
        )
        assert bpy.ops.import_scene.idtech_character(
            game=str(game), name="hero", animation_filter="stand", use_textures=False
        ) == {"FINISHED"}
        bpy.context.scene.frame_set(FRAME)
        origin = [float(word) for word in offsets["body"].split()]
        joints = (attaching if has_pose else body).world(origin)
        expected = dark_mod("hero", values, entities, joints) if is_dark_mod else doom3(values, entities, joints)
        assert len(expected) == 2 + ("def_head" in values)
        played = playing.world(origin)
        for one in expected:
            place = one.on(played[one.joint])
            name = one.name if one.name == "head" else f"{one.name}_model"
            matrix = np.array(bpy.data.objects[name].matrix_world)
            own = np.array([float(word) for word in offsets[one.name].split()])
            np.testing.assert_allclose(matrix[:3, :3], place.axis.T, atol=1e-4, err_msg=str(number))
            np.testing.assert_allclose(matrix[:3, 3], place.origin + own @ place.axis, atol=1e-4, err_msg=str(number))


BODY = "model body { mesh body/body.md5mesh anim stand body/stand.md5anim anim walk body/walk.md5anim }\n"


def small_game(folder: Path, values: str, others: str = "") -> Path:
    """A game with an entity `hero` that has these values."""
    text = BODY + "model skull { mesh skull.md5mesh anim nod nod.md5anim }\n" + others
    return game_folders.loose(
        folder,
        {
            "def/a.def": f'{text}\nentityDef hero {{ "model" "body" {values} }}\n',
            "body/body.md5mesh": game_folders.md5mesh(game_folders.BODY, "skin"),
            "body/stand.md5anim": game_folders.md5anim(frames=2, step=0),
            "body/walk.md5anim": game_folders.md5anim(frames=6, step=3),
            "skull.md5mesh": game_folders.md5mesh(game_folders.HEAD, "head"),
            "nod.md5anim": game_folders.md5anim(game_folders.HEAD, frames=3),
        },
    )


def test_a_head_that_is_a_model_is_on_its_joint_without_a_warning_and_is_exported_as_one(tmp_path, capfd):
    game = small_game(tmp_path / "game", '"def_head" "skull" "head_joint" "Neck"')
    bpy.ops.import_scene.idtech_character(game=str(game), name="hero", use_textures=False)
    bpy.context.view_layer.update()
    head = bpy.data.objects["skull"]
    assert head.parent_bone == "Neck"
    assert [round(value, 4) for value in head.matrix_world.translation] == [0, 0, 24]
    assert "Warning" not in capfd.readouterr().out
    assert bpy.ops.export_scene.idtech_character(directory=str(tmp_path / "out")) == {"FINISHED"}
    text = (tmp_path / "out/def/hero.def").read_text()
    assert '"def_head"\t"skull"' in text
    assert '"head_joint"\t"Neck"' in text
    assert (tmp_path / "out/skull.md5mesh").is_file()


def test_what_cannot_be_imported_is_an_empty_in_its_place_and_one_warning(tmp_path, capfd):
    game = small_game(
        tmp_path,
        '"def_attach" "flame" "def_attach2" "mug" "def_attach3" "glow"',
        'entityDef flame { "model" "torch.prt" "joint" "larm" "origin" "1 2 3" "angles" "0 90 0" }\n'
        'entityDef mug { "model" "models/mug.lwo" "joint" "rleg" }\n'
        'entityDef glow { "spawnclass" "idLight" "joint" "Neck" }\n',
    )
    bpy.ops.import_scene.idtech_character(game=str(game), name="hero", use_textures=False)
    bpy.context.scene.frame_set(0)
    empties = {obj.name: obj for obj in bpy.data.objects if obj.type == "EMPTY"}
    assert {name: obj.parent_bone for name, obj in empties.items()} == {
        "flame": "larm", "mug": "rleg", "glow": "Neck",
    }  # fmt: skip
    assert [round(value, 4) for value in empties["flame"].matrix_world.translation] == [1, 2, 27]
    (warning,) = [line for line in capfd.readouterr().out.splitlines() if "Warning" in line]
    for what in ("flame (torch.prt) on larm", "mug (models/mug.lwo) on rleg", "glow (no model) on Neck"):
        assert what in warning
    assert bpy.ops.export_scene.idtech_character(directory=str(tmp_path / "out")) == {"FINISHED"}
    text = (tmp_path / "out/def/hero.def").read_text()
    assert all(f'"{name}"' in text for name in ("flame", "mug", "glow"))


def test_an_action_plays_what_the_game_plays_in_place_of_its_animation(tmp_path):
    game = small_game(tmp_path, '"replace_anim_stand" "walk"')
    bpy.ops.import_scene.idtech_character(game=str(game), name="hero", use_textures=False)
    assert {action.name: list(action.frame_range) for action in bpy.data.actions} == {
        "stand": [0, 5], "walk": [0, 5],
    }  # fmt: skip
    assert bpy.ops.export_scene.idtech_character(directory=str(tmp_path / "out")) == {"FINISHED"}
    text = (tmp_path / "out/def/hero.def").read_text()
    assert '"replace_anim_stand"\t"walk"' in text
    assert "anim stand\tbody/stand.md5anim" in text
