"""Game folders made by code, of every kind that characters are found in. Need no Blender."""

from __future__ import annotations

import struct
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from md2_samples import make_model

from io_idtech.io_md2.format import format_model

Files = Mapping[str, bytes | str]

BODY = (("origin", -1), ("Hips", 0), ("Waist", 1), ("Neck", 2), ("larm", 2), ("lleg", 1), ("rleg", 1))
"""The joints of a body, each with the index of its parent."""
HEAD = (("origin", -1), ("jaw", 0), ("leyelid", 0))
"""The joints of a head."""


def zipped(path: Path, files: Files) -> Path:
    """A zip file: .pk3, .pk4, .pkz, .dpk or .zip."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as target:
        for name, content in files.items():
            target.writestr(name, content)
    return path


def share_first(path: Path, names: Sequence[str]) -> None:
    """Adds members to a zip file that all have the content of its first one, at the cost of their names."""
    data = path.read_bytes()
    end = data.rindex(b"PK\x05\x06")
    count, size, start = struct.unpack_from("<H2I", data, end + 10)
    first = data[start : start + 46]
    added = b"".join(first[:28] + struct.pack("<H", len(name)) + first[30:] + name.encode() for name in names)
    count += len(names)
    closing = struct.pack("<4s4H2IH", b"PK\x05\x06", 0, 0, count, count, size + len(added), start, 0)
    path.write_bytes(data[:end] + added + closing)


def pak(path: Path, files: Files) -> Path:
    """A .pak file of Quake and Quake II."""
    path.parent.mkdir(parents=True, exist_ok=True)
    body, directory = b"", b""
    for name, content in files.items():
        data = content.encode() if isinstance(content, str) else content
        directory += struct.pack("<56s2i", name.encode("latin-1"), 12 + len(body), len(data))
        body += data
    path.write_bytes(struct.pack("<4s2i", b"PACK", 12 + len(body), len(directory)) + body + directory)
    return path


def packed(path: Path, files: Files) -> Path:
    """An archive of the kind that the extension of its name says."""
    return pak(path, files) if path.suffix == ".pak" else zipped(path, files)


def loose(folder: Path, files: Files) -> Path:
    """Files on disk; returns the folder."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


def md5mesh(joints: Sequence[tuple[str, int]] = BODY, *shaders: str) -> str:
    """A model with a square for each shader, which hangs on the last joint. Each joint lies 8 above its parent."""
    heights: list[int] = []
    for _, parent in joints:
        heights.append(8 * (parent >= 0) + (heights[parent] if parent >= 0 else 0))
    lines = [
        f'\t"{name}"\t{parent} ( 0 0 {height} ) ( 0 0 0 )\t//'
        for (name, parent), height in zip(joints, heights, strict=True)
    ]
    blocks = []
    for index, shader in enumerate(shaders or ("models/md5/square",)):
        corners = ((0, 0, -1, 1), (1, 0, 1, 1), (1, 1, 1, -1), (0, 1, -1, -1))
        rows = [f'shader "{shader}"', "numverts 4"]
        rows += [f"vert {i} ( {s} {t} ) {i} 1" for i, (s, t, _, _) in enumerate(corners)]
        rows += ["numtris 2", "tri 0 0 1 2", "tri 1 0 2 3", "numweights 4"]
        rows += [f"weight {i} {len(joints) - 1} 1 ( 0 {y} {z + 2 * index} )" for i, (_, _, y, z) in enumerate(corners)]
        blocks.append("mesh {\n\t" + "\n\t".join(rows) + "\n}\n")
    return (
        f'MD5Version 10\ncommandline ""\n\nnumJoints {len(joints)}\nnumMeshes {len(blocks)}\n\njoints {{\n'
        + "\n".join(lines)
        + "\n}\n\n"
        + "\n".join(blocks)
    )


def md5anim(joints: Sequence[tuple[str, int]] = BODY, frames: int = 4, rate: int = 24, step: float = 1.0) -> str:
    """An animation that moves the second joint by `step` along X on each frame."""
    hierarchy = [f'\t"{name}"\t{parent} {int(index == 1)} 0\t//' for index, (name, parent) in enumerate(joints)]
    bounds = ["\t( -20 -20 -20 ) ( 20 20 60 )"] * frames
    base = [f"\t( 0 0 {8 * (parent >= 0)} ) ( 0 0 0 )" for _, parent in joints]
    moves = [f"frame {index} {{\n\t{index * step}\n}}\n" for index in range(frames)]
    return (
        f'MD5Version 10\ncommandline ""\n\nnumFrames {frames}\nnumJoints {len(joints)}\nframeRate {rate}\n'
        "numAnimatedComponents 1\n\nhierarchy {\n" + "\n".join(hierarchy) + "\n}\n\nbounds {\n"
        "" + "\n".join(bounds) + "\n}\n\nbaseframe {\n" + "\n".join(base) + "\n}\n\n" + "\n".join(moves)
    )


def md2(frames: int = 4) -> bytes:
    """A model of Quake II that names no skins, as its players do not."""
    return format_model(replace(make_model(frames), skins=[]))


IMAGE = struct.pack("<3B5x4H2B", 0, 0, 2, 0, 0, 2, 2, 24, 0) + bytes((20, 40, 200)) * 4
"""A TGA of 2 by 2 pixels."""

IMP = "models/md5/monsters/imp"

IMP_DEF = """\
// The imp and what it inherits from.
model base_monster {
	mesh	models/md5/monsters/base/base.md5mesh
	offset	( 0 0 -4 )
	channel torso	( *Waist )
	channel legs	( origin Hips *lleg *rleg )
	anim stand	models/md5/monsters/imp/stand.md5anim
	anim evade	models/md5/monsters/imp/evade.md5anim
}

model monster_imp {
	inherit	base_monster
	mesh	models/md5/monsters/imp/imp.md5mesh
	skin	skins/monsters/imp
	channel head ( *Neck, -larm )
	remove	evade
	anim walk1	models/md5/monsters/imp/walk1.md5anim {
		frame 2	sound_body imp_step
		frame 4	call "foot fall"
		random_cycle_start
		ai_no_turn
	}
	/* two files that are blended in step */
	anim range "models/md5/monsters/imp/walk1.md5anim", models/md5/monsters/imp/run.md5anim { anim_turn }
	anim pain1	models/md5/monsters/imp/gone.md5anim
}

entityDef monster_default { "spawnclass" "idAI" "health" "100" "skin" "skins/monsters/imp_ice" }

entityDef monster_demon_imp {
	"inherit"	"monster_default"
	"model"		"monster_imp"
	"def_head"	"head_imp"
	"head_joint"	"Neck"
	"def_attach"	"attach_lamp"
}
"""

HEAD_DEF = """\
model head_imp_model { mesh models/md5/heads/imp/head.md5mesh anim idle models/md5/heads/imp/idle.md5anim }
entityDef head_imp { "model" "head_imp_model" "skin" "skins/heads/imp" }
entityDef attach_lamp { "model" "models/md5/items/lamp/lamp.md5mesh" "joint" "larm" "origin" "1 2 3" "angles" "0 90 0" }
"""

SKINS = """\
skin skins/monsters/imp { models/monsters/imp/body models/monsters/imp/body_brown }
skin skins/monsters/imp_ice {
	model	models/md5/monsters/imp/imp.md5mesh
	models/monsters/imp/body	models/monsters/imp/body_ice
	*	models/monsters/imp/ice
}
skin skins/heads/imp { * models/monsters/imp/head_ice }
skin skins/monsters/imp { models/monsters/imp/body models/wrong }
"""


def doom3_files() -> tuple[dict[str, bytes | str], dict[str, bytes | str], dict[str, bytes | str]]:
    """The files of a Doom 3 `base`: of `pak000.pk4`, of `pak001.pk4`, and loose ones, which override each other."""
    first: dict[str, bytes | str] = {
        "def/monster_imp.def": "model monster_imp { mesh models/old.md5mesh }\n",
        "skins/imp.skin": SKINS,
        "materials/imp.mtr": "models/monsters/imp/body { diffusemap models/monsters/imp/body.tga }\n",
        "models/monsters/imp/body.tga": IMAGE,
        f"{IMP}/imp.md5mesh": md5mesh(BODY, "models/monsters/imp/body"),
        f"{IMP}/stand.md5anim": md5anim(frames=2),
        f"{IMP}/evade.md5anim": md5anim(frames=3),
        f"{IMP}/walk1.md5anim": md5anim(frames=4, step=9),
        f"{IMP}/run.md5anim": md5anim(frames=4, step=2),
        "models/md5/heads/imp/head.md5mesh": md5mesh(HEAD, "models/monsters/imp/head"),
        "models/md5/heads/imp/idle.md5anim": md5anim(HEAD, frames=2),
    }
    second: dict[str, bytes | str] = {
        # Other case, as in real games.
        "Def/Monster_Imp.DEF": IMP_DEF,
        "def/zz_head.def": HEAD_DEF,
        f"{IMP}/imp.md5mesh": md5mesh(BODY, "models/monsters/imp/body", "models/monsters/imp/eyes"),
        "models/md5/items/lamp/lamp.md5mesh": md5mesh(HEAD[:1], "models/items/lamp"),
    }
    third: dict[str, bytes | str] = {f"{IMP}/walk1.md5anim": md5anim(frames=4, step=1)}
    return first, second, third


def doom3(folder: Path) -> Path:
    """A Doom 3 `base` with two archives and loose files; returns it."""
    first, second, third = doom3_files()
    zipped(folder / "pak000.pk4", first)
    zipped(folder / "pak001.pk4", second)
    return loose(folder, third)


def doom3_loose(folder: Path) -> Path:
    """The same game with all files on disk."""
    result: dict[str, bytes | str] = {}
    for files in doom3_files():
        for name, content in files.items():
            # On disk, names that differ only in case would be different files.
            result[name.lower()] = content
    return loose(folder, result)


def quake2(folder: Path) -> Path:
    """A Quake II `baseq2` with `.pak` archives: a player with weapons, skins and icons, and a monster; returns it."""
    files: dict[str, bytes | str] = {
        "players/hero/tris.md2": md2(),
        "players/hero/weapon.md2": md2(),
        "players/hero/w_shotgun.md2": md2(),
        "players/hero/weapon.tga": IMAGE,
        "models/monsters/hound/tris.md2": md2(3),
        "models/monsters/hound/skin.tga": IMAGE,
    }
    for name in ("blue", "red"):
        files[f"players/hero/{name}.tga"] = IMAGE
        files[f"players/hero/{name}_i.tga"] = IMAGE
    pak(folder / "pak0.pak", files)
    pak(folder / "pak2.pak", {"players/hero/tris.md2": md2(5)})
    pak(folder / "pak10.pak", {"players/hero/tris.md2": md2(6)})
    return folder


MD5_CFG = """\
// A hero with a hat on a tag.
md5dir hero
md5load hero.md5mesh hero
md5skin body skin.tga masks.tga
md5tag Neck tag_hat 0 0 2 0 90 0
md5adjust Waist 10 0 0
md5anim "idle|edit" idle.md5anim
md5anim forward run.md5anim 30 1
md5load hat.md5mesh hat
md5skin * hat.tga
md5link 0 1 tag_hat
mdlscale 50
mdltrans 0 0 -2
"""


def sauerbraten(folder: Path) -> Path:
    """A Sauerbraten folder with a model of two parts and an MD2 model; returns it."""
    models = "packages/models"
    return loose(
        folder,
        {
            f"{models}/hero/md5.cfg": MD5_CFG,
            f"{models}/hero/hero.md5mesh": md5mesh(BODY, "body"),
            f"{models}/hero/idle.md5anim": md5anim(frames=2),
            f"{models}/hero/run.md5anim": md5anim(frames=4),
            f"{models}/hero/hat.md5mesh": md5mesh(HEAD, "hat"),
            f"{models}/hero/skin.tga": IMAGE,
            f"{models}/hero/masks.tga": IMAGE,
            f"{models}/hero/hat.tga": IMAGE,
            f"{models}/hound/md2.cfg": "md2anim idle 0 2 10\nmdlscale 150\n",
            f"{models}/hound/tris.md2": md2(),
            f"{models}/hound/skin.tga": IMAGE,
        },
    )


def unvanquished(folder: Path) -> Path:
    """An Unvanquished `pkg` with packages in two versions and one that is not packed; returns it."""
    model = "models/players/human"
    zipped(folder / "res-players_0.9.dpk", {f"{model}/human.md5mesh": md5mesh(BODY, "old")})
    zipped(
        folder / "res-players_0.10.dpk",
        {f"{model}/human.md5mesh": md5mesh(BODY, f"{model}/human"), f"{model}/idle.md5anim": md5anim(frames=2)},
    )
    loose(
        folder / "tex-players_src.dpkdir",
        {
            "scripts/human.shader": f"{model}/human {{\n\tdiffuseMap {model}/body_d\n\tglowMap {model}/body_g\n}}\n",
            f"{model}/body_d.tga": IMAGE,
            f"{model}/body_g.tga": IMAGE,
        },
    )
    return folder
