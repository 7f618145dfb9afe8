from __future__ import annotations

from io_idtech.io_common.textures.skins import cfg_image, parse_model_cfg, parse_skin

CFG = """
exec "packages/models/somebody/other.cfg"
md5load "body.md5mesh" hero 70 // a comment
md5skin Head "<dds>head.png" "<dds>head_masks.png" .9 .8
md5bumpmap Head "<dds>head_n.png"
md5skin Body body.png .4; md5alphatest Body 0.3
md5cullface * 0
mdlspec 60
mdlalphatest 0.9
md5dir "hudguns/gl"
md5load gl.md5mesh
md5skin gl "gl.png"
"""


def test_commands_apply_to_the_part_loaded_last() -> None:
    config = parse_model_cfg(CFG)
    head = config.skin("BODY.md5mesh", "head")
    assert head is not None
    assert (head.image, head.masks, head.bump) == ("<dds>head.png", "<dds>head_masks.png", "<dds>head_n.png")
    assert (head.alpha_test, head.cull_face, head.folder) == (0.9, False, None)
    body = config.skin("body.md5mesh", "Body")
    assert body is not None
    assert (body.image, body.masks, body.alpha_test) == ("body.png", None, 0.3)
    gun = config.skin("gl.md5mesh", "gl")
    assert gun is not None
    assert (gun.image, gun.folder) == ("gl.png", "hudguns/gl")
    assert config.skin("gl.md5mesh", "Head") is None


def test_a_star_matches_every_mesh_and_a_config_without_a_load_applies_to_the_model() -> None:
    config = parse_model_cfg('md2skin * "red.jpg"')
    found = config.skin("tris.md2", "anything")
    assert found is not None
    assert found.image == "red.jpg"
    assert config.skin("tris.md2", None) == found


def test_the_last_branch_of_a_script_wins_and_variables_are_ignored() -> None:
    config = parse_model_cfg(
        """md5load a.md5mesh
        if (>= (strstr (mdlname) "blue") 0) [
            md5skin Hands "blue.png"
        ] [ md5skin Hands "plain.png" "mask.png" ]
        md5skin Feet $feet
        md5skin "unclosed "feet.png"
        """
    )
    hands = config.skin("a.md5mesh", "Hands")
    assert hands is not None
    assert (hands.image, hands.masks) == ("plain.png", "mask.png")
    assert config.skin("a.md5mesh", "Feet") is None


def test_prefixes_are_removed_and_absolute_names_are_shortened() -> None:
    assert cfg_image("<dds><mad:0.5/1>a\\b.png") == "a/b.png"
    assert cfg_image("../a.png") == "../a.png"
    assert cfg_image("C:/secret/a.png") == "a.png"
    assert cfg_image("/etc/a.png") == "a.png"


def test_garbage_is_skipped() -> None:
    for text in (
        "",
        '"',
        "md5skin",
        "md5skin a",
        "md5load",
        "[[[((",
        "md5alphatest a b",
        "md5dir",
        "// md5skin a b",
    ):
        found = parse_model_cfg(text).skin("a.md5mesh", "a")
        assert found is None or found.image is None


def test_skin_files_map_meshes_to_materials() -> None:
    text = 'Body, models/hero/body\r\ntag_head,\nhead,"models/hero/head" // no\nhead,second\nlonely\n\n'
    assert parse_skin(text) == {"body": "models/hero/body", "head": "models/hero/head"}
