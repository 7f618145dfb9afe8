"""What the panels of the operators show: which options, in which words, and that nothing is cut off."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import blf
import bpy
import md2_samples
import md5_scenes
import pytest
from md5_rerelease import mdl, write_md2
from scripted_scenes import rig
from sliding_box import model_with_actions

# Pixels that the file browser has for the options at Blender's default width and text size: labels of values are in the
# left part of a line, check boxes and choices in the right part.
LABEL_WIDTH, VALUE_WIDTH, LINE_WIDTH = 84, 108, 222
# An option over the whole width leaves room for the box or the value.
WIDE_WIDTH = 160
FONT_SIZE = 11
OPERATORS = ("import_scene.md5", "import_scene.md2", "export_scene.md5mesh", "export_scene.md5anim",
             "export_scene.md5camera", "export_scene.md2")  # fmt: skip
ICON_WIDTH = 20


class Layout:
    """Notes what is drawn."""

    closes_panels = False

    def __init__(
        self,
        drawn: list[tuple[str, str]] | None = None,
        wide: set[str] | None = None,
        icons: Any = None,
        buttons: Any = None,
    ) -> None:
        self.drawn = [] if drawn is None else drawn
        self.wide = set() if wide is None else wide
        self.icons: list[tuple[str, str]] = [] if icons is None else icons
        self.buttons: dict[str, SimpleNamespace] = {} if buttons is None else buttons
        self.use_property_split = self.use_property_decorate = self.active = True

    def _part(self, **options: Any) -> Layout:
        if options.get("heading"):
            self.drawn.append(("heading", options["heading"]))
        return Layout(self.drawn, self.wide, self.icons, self.buttons)

    row = column = split = _part

    def separator(self) -> None:
        """Nothing is noted."""

    def template_list(self, name: str, identifier: str, data: Any, prop: str, *others: Any, **options: Any) -> None:
        """Draws each row of the list."""
        cls = getattr(bpy.types, name)
        rows = SimpleNamespace(draw_row=partial(cls.draw_row, None))
        for index, item in enumerate(getattr(data, prop)):
            cls.draw_item(rows, None, self, data, item, 0, None, "", index)

    def panel(self, name: str, *, default_closed: bool = False) -> tuple[Layout, Layout | None]:
        self.drawn.append(("panel", name))
        parts = [Layout(self.drawn, self.wide, self.icons, self.buttons) for _ in range(2)]
        return parts[0], None if default_closed and self.closes_panels else parts[1]

    def operator(self, name: str, **options: Any) -> SimpleNamespace:
        self.drawn.append(("operator", name))
        return self.buttons.setdefault(name, SimpleNamespace())

    def label(self, text: str = "", icon: str = "") -> None:
        self.drawn.append(("label", text))
        self.icons.append((text, icon))

    def prop(self, operator: Any, name: str, text: str | None = None, **options: Any) -> None:
        self.drawn.append((name, "" if text is None else text))
        if not self.use_property_split:
            self.wide.add(name)

    @property
    def names(self) -> set[str]:
        return {name for name, _ in self.drawn}

    @property
    def labels(self) -> list[str]:
        return [text for name, text in self.drawn if name == "label"]


def operator_class(name: str) -> Any:
    module, _, operator = name.partition(".")
    return getattr(bpy.types, f"{module.upper()}_OT_{operator}")


def drawn(name: str, *, selected: str = "", folder: str = "", **values: Any) -> Layout:
    """Draws the panel of an operator in the file browser."""
    cls = operator_class(name)
    layout = Layout()
    properties = getattr(getattr(bpy.ops, name.partition(".")[0]), name.partition(".")[2]).get_rna_type().properties
    defaults = {
        p.identifier: tuple(p.default_array) if getattr(p, "is_array", False) else getattr(p, "default", None)
        for p in properties
    }
    defaults |= {"filepath": "", "files": (), "shown_scale": 1.0, "shown_axes": "Y Z"} | values
    state = SimpleNamespace(**defaults)
    attributes = {
        "layout": layout,
        "properties": SimpleNamespace(
            is_property_set=lambda name: name in values, bl_rna=SimpleNamespace(properties=properties)
        ),
        **{name: method for base in reversed(cls.__mro__) for name, method in vars(base).items() if callable(method)},
    }

    class Stand:
        """Stands for the operator, which Blender alone can make."""

        filename_ext, bl_idname = cls.filename_ext, name

        def __getattr__(self, name: str) -> Any:
            if name in attributes:
                found = attributes[name]
                return found.__get__(self) if hasattr(found, "__get__") and callable(found) else found
            return getattr(state if hasattr(state, name) else cls, name)

    params = SimpleNamespace(filename=selected, directory=folder.encode())
    context = SimpleNamespace(
        space_data=SimpleNamespace(type="FILE_BROWSER", params=params),
        selected_files=(),
        view_layer=bpy.context.view_layer,
        scene=bpy.context.scene,
        collection=bpy.context.collection,
        window_manager=bpy.context.window_manager,
        region=SimpleNamespace(width=LINE_WIDTH),
    )
    cls.draw(Stand(), context)
    return layout


def test_the_render_size_is_offered_only_for_cameras():
    assert "use_render_size" not in drawn("import_scene.md5", selected="imp.md5mesh").names
    assert "use_render_size" in drawn("import_scene.md5", selected="cut.md5camera").names


@pytest.mark.parametrize("name", OPERATORS)
def test_few_options_show_before_a_panel_is_opened(monkeypatch, tmp_path, name):
    bpy.ops.import_scene.md5(filepath=str(md5_scenes.write(tmp_path)))
    monkeypatch.setattr(Layout, "closes_panels", True)
    layout = drawn(name)
    options = [found for found, _ in layout.drawn if found not in ("panel", "label", "operator", "heading")]
    assert 1 <= len(options) <= 8


@pytest.mark.parametrize(
    ("game", "influences", "actions"),
    [
        ("ANY", 0, None),
        ("DOOM3", 0, None),
        ("DOOM3_BFG", 4, None),
        ("QUAKE", 4, "ALL"),
        ("QUAKE2", 0, "ALL"),
        ("SAUERBRATEN", 4, None),
        ("UNVANQUISHED", 4, None),
    ],
)
def test_a_game_sets_the_options_that_it_needs(part, game, influences, actions):
    values_of_game = part("io_md5.operators.export_md5").values_of_game
    rig()
    export = SimpleNamespace(
        game=game, collection="", use_selection=False, use_active_collection=False, attached_armatures="AUTOMATIC"
    )
    values = values_of_game(export, bpy.context)
    assert (values["max_influences"], values.get("actions")) == (influences, actions)
    assert values["make_names_safe"]
    # A game with a rate of its own plays new animations as fast as Blender, and keeps the frames of imported ones.
    assert values["frame_rate_from"] == ("GAME" if game in ("QUAKE", "QUAKE2") else "AUTO")


def test_the_dialog_marks_options_that_are_not_as_the_game_needs_them(tmp_path):
    bpy.ops.import_scene.md5(filepath=str(md5_scenes.write(tmp_path)))
    labels = drawn("export_scene.md5mesh", game="QUAKE", actions="ALL", max_influences=2).labels
    assert [label for label in labels if ": set " in label] == ["Quake re-release: set Bone Influences to 4"]


def test_the_export_of_animations_has_no_options_of_meshes():
    mesh = {"apply_modifiers", "max_influences", "min_weight"}
    assert mesh <= drawn("export_scene.md5mesh").names
    assert not mesh & drawn("export_scene.md5anim").names


def test_the_panel_lists_the_sequences_that_do_not_fit_the_md2_before_anything_is_written(tmp_path):
    armature = rig()
    bpy.data.actions["Bend"].name = "stand"
    bpy.context.view_layer.objects.active = armature
    folder = tmp_path / "md5"
    folder.mkdir()
    options = {"folder": str(folder), "selected": "tris.md5mesh", "game": "QUAKE2", "actions": "ALL"}
    labels = drawn("export_scene.md5mesh", **options).labels
    assert "Writes one animation: tris.md5anim" in labels
    assert "No MD2 or MDL to match: in alphabetical order" in " ".join(labels)
    write_md2(tmp_path / "tris.md2", [*(f"stand{frame}" for frame in range(9)), "run1", "run2"], ["skin.pcx"])
    layout = drawn("export_scene.md5mesh", **options)
    assert {"Does not fit tris.md2:", "stand: 10 frames instead of 9", "run: no animation, needs 2 frames"} <= set(
        layout.labels
    )
    assert "match_companion" in layout.names
    write_md2(tmp_path / "tris.md2", [f"stand{frame}" for frame in range(10)], ["skin.pcx"])
    assert "Fits tris.md2: 1 sequence" in drawn("export_scene.md5mesh", **options).labels


def test_the_panel_of_an_md3_has_what_its_game_needs_and_lists_what_does_not_fit_the_mdl(tmp_path):
    model_with_actions({"stand": 3})
    (tmp_path / "knight.mdl").write_bytes(mdl(["stand1", "stand2", "run1", "run2"]))
    options = {"folder": str(tmp_path), "selected": "knight.md3", "frames": "LIST"}
    layout = drawn("export_scene.md3", game="QUAKE", **options)
    assert {"match_companion", "write_skins"} <= layout.names
    assert {"Does not fit knight.mdl:", "stand: 3 frames instead of 2", "run: no animation, needs 2 frames"} <= set(
        layout.labels
    )
    names = drawn("export_scene.md3", game="GZDOOM", write_modeldef=True, **options).names
    assert {"write_modeldef", "modeldef_actor", "modeldef_sprite", "modeldef_held"} <= names
    assert not {"match_companion", "write_skins"} & names
    assert "write_modeldef" not in drawn("export_scene.md2", game="QUAKE2", **options).names


@pytest.mark.parametrize(
    ("name", "game", "other"), [("md5mesh", "DOOM3", "QUAKE"), ("md5anim", "DOOM3", "QUAKE"), ("md2", "QUAKE2", "ANY")]
)
def test_exports_show_the_problems_of_the_game_before_writing(tmp_path: Path, name, game, other):
    run = md5_scenes.animation(md5_scenes.skeleton())
    bpy.ops.import_scene.md5(filepath=str(md5_scenes.write(tmp_path, "imp", run=run)), animations="FOLDER")
    armature = bpy.context.object
    bpy.ops.object.mode_set(mode="EDIT")
    armature.data.edit_bones.new("stray").tail = (0, 0, 1)
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=60, y_subdivisions=60)
    bpy.context.view_layer.objects.active = armature
    press_check(name, game=game)
    found = [item.text for item in bpy.context.window_manager.io_idtech_findings]
    labels = drawn(f"export_scene.{name}", game=game).labels
    assert found
    assert any(label.startswith(("0 errors, 1 warning", "1 error, ")) for label in labels)
    assert all(text in " ".join(labels) for text in found)
    # The findings of one game are not those of another, nor those of other options.
    for options in ({"game": other}, {"game": game, "use_selection": True}):
        assert found[0] not in " ".join(drawn(f"export_scene.{name}", **options).labels)


def press_check(export: str, **options: Any) -> list[str]:
    """Presses *Check for Game* in the panel of an export, and returns the identifiers of what is found."""
    operator = f"md{'2' if export == 'md2' else '5'}_check_game"
    button = drawn(f"export_scene.{export}", **options).buttons[f"object.{operator}"]
    assert getattr(bpy.ops.object, operator)(**vars(button)) == {"FINISHED"}
    return [item.code for item in bpy.context.window_manager.io_idtech_findings]


def box_with_grid() -> tuple[Any, Any]:
    """A small mesh, and one that is too large for Quake II and in a collection of its own."""
    bpy.ops.mesh.primitive_cube_add()
    small = bpy.context.object
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=60, y_subdivisions=60)
    large = bpy.context.object
    other = bpy.data.collections.new("other")
    bpy.context.scene.collection.children.link(other)
    for found in list(large.users_collection):
        found.objects.unlink(large)
    other.objects.link(large)
    return small, large


def test_the_check_of_an_export_looks_at_the_objects_that_it_would_write():
    small, large = box_with_grid()
    assert "too_many_triangles" in press_check("md2", game="QUAKE2")
    large.select_set(False)
    small.select_set(True)
    assert "too_many_triangles" not in press_check("md2", game="QUAKE2", use_selection=True)
    large.select_set(True)
    assert "too_many_triangles" in press_check("md2", game="QUAKE2", use_selection=True)
    layers = bpy.context.view_layer.layer_collection
    bpy.context.view_layer.active_layer_collection = layers.children["other"]
    assert "too_many_triangles" in press_check("md2", game="QUAKE2", use_active_collection=True)
    bpy.data.collections["other"].objects.unlink(large)
    bpy.context.scene.collection.objects.link(large)
    bpy.data.collections["other"].objects.link(small)
    assert "too_many_triangles" not in press_check("md2", game="QUAKE2", use_active_collection=True)
    assert "too_many_triangles" not in press_check("md2", game="QUAKE2", collection="other")


def test_the_check_of_an_md5_export_looks_at_the_armature_that_it_would_write(tmp_path: Path):
    for name in ("imp", "ogre"):
        bpy.ops.import_scene.md5(filepath=str(md5_scenes.write(tmp_path, name)))
    imp, ogre = (bpy.data.objects[name] for name in ("imp", "ogre"))
    bpy.context.view_layer.objects.active = ogre
    bpy.ops.object.mode_set(mode="EDIT")
    ogre.data.edit_bones.new("stray").tail = (0, 0, 1)
    bpy.ops.object.mode_set(mode="OBJECT")
    for chosen, expected in ((imp, False), (ogre, True)):
        bpy.ops.object.select_all(action="DESELECT")
        chosen.select_set(True)
        bpy.context.view_layer.objects.active = chosen
        found = press_check("md5mesh", game="DOOM3", use_selection=True)
        assert ("roots" in "".join(found)) is expected, found


def test_turning_on_the_remedy_of_a_finding_removes_it_from_the_next_check(tmp_path: Path):
    armature = rig()
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode="EDIT")
    armature.data.edit_bones.new("stray").tail = (0, 0, 1)
    bpy.ops.object.mode_set(mode="OBJECT")
    options = {"game": "DOOM3", "actions": "ALL"}
    before = press_check("md5mesh", **options, add_origin="NEVER")
    after = press_check("md5mesh", **options)
    assert [code for code in before if "root" in code]
    assert not [code for code in after if "root" in code]


def test_the_check_of_an_export_looks_at_the_animations_that_it_would_write(tmp_path: Path):
    names = {name: md5_scenes.animation(md5_scenes.skeleton()) for name in ("run", "walk")}
    bpy.ops.import_scene.md5(filepath=str(md5_scenes.write(tmp_path, "imp", **names)), animations="FOLDER")

    def rates(**options: Any) -> list[str]:
        press_check(game="DOOM3", frame_rate=23.5, use_frame_rate=True, **options)
        found = bpy.context.window_manager.io_idtech_findings
        return [item.text.partition(":")[0] for item in found if item.code == "rate_fraction"]

    assert rates(export="md5mesh", actions="NONE") == []
    assert rates(export="md5mesh", actions="ALL") == ["run, walk"]
    assert rates(export="md5anim", actions="ACTIVE") == ["run"]


@pytest.mark.parametrize("name", ["md5mesh", "md5anim", "md2"])
def test_every_option_of_an_export_is_one_of_its_check(name):
    operator = f"md{'2' if name == 'md2' else '5'}_check_game"
    check = getattr(bpy.ops.object, operator).get_rna_type().properties
    export = getattr(bpy.ops.export_scene, name).get_rna_type().properties
    of_files = {"filter_glob", "check_existing"}
    assert {found.identifier for found in export} - of_files <= {found.identifier for found in check}


@pytest.mark.parametrize("family", ["md5", "md2"])
def test_a_check_outside_the_export_does_not_take_the_options_of_the_last_one(family):
    """Blender gives them to an operator that a button calls; without a window, no operator is called that way."""
    cls = operator_class(f"object.{family}_check_game")
    unset: set[str] = set()
    check = SimpleNamespace(
        is_export=True,
        bl_idname=cls.bl_idname,
        properties=SimpleNamespace(property_unset=unset.add),
        execute=lambda context: {"FINISHED"},
    )
    assert cls.invoke(check, bpy.context, None) == {"FINISHED"}
    assert unset == set()
    check.is_export = False
    assert cls.invoke(check, bpy.context, None) == {"FINISHED"}
    assert {"use_selection", "use_active_collection", "collection", "global_scale"} <= unset
    assert "game" not in unset


@pytest.mark.parametrize("kind", ["md5mesh", "md5anim"])
def test_all_actions_says_how_many_files_are_new_and_whether_the_file_name_is_used(tmp_path: Path, kind):
    names = {name: md5_scenes.animation(md5_scenes.skeleton()) for name in ("run", "walk", "die")}
    path = md5_scenes.write(tmp_path, "imp", **names)
    bpy.ops.import_scene.md5(filepath=str(path), animations="FOLDER")
    out = tmp_path / "out"
    out.mkdir()
    (out / "run.md5anim").touch()
    labels = drawn(f"export_scene.{kind}", folder=str(out), actions="ALL").labels
    assert "2 new files, 1 replaced" in labels
    assert ("The file name is not used" in labels) == (kind == "md5anim")
    others = drawn(f"export_scene.{kind}", folder=str(out), actions="ACTIVE").labels
    assert not any("new file" in text for text in others)


@pytest.mark.parametrize("kind", ["md5mesh", "md5anim"])
def test_the_list_shows_frames_rate_file_and_what_is_replaced(tmp_path: Path, kind):
    names = {name: md5_scenes.animation(md5_scenes.skeleton(), frames=7) for name in ("run", "walk", "die")}
    bpy.ops.import_scene.md5(filepath=str(md5_scenes.write(tmp_path, "imp", **names)), animations="FOLDER")
    armature = bpy.context.view_layer.objects.active
    bpy.ops.object.io_idtech_list_animations(source="ACTIONS")
    settings = armature.io_idtech_animations
    settings.prefix = "imp_"
    settings.rows[1].is_checked = False
    out = tmp_path / "out"
    out.mkdir()
    (out / "imp_die.md5anim").touch()
    shown = drawn(f"export_scene.{kind}", folder=str(out), actions="LIST")
    labels = shown.labels
    assert [row.name for row in settings.rows] == ["die", "run", "walk"]
    assert labels.count("7 @ 24") == 3
    rows = [text for text in labels if "→" in text]
    assert rows == [f"{name} → imp_{name}" for name in ("die", "run", "walk")]
    following = [icon for text, icon in shown.icons if not text]
    assert following == ["FILE_REFRESH", "BLANK1", "BLANK1"]
    assert "Replaces imp_die.md5anim" in labels
    assert "7 frames at 24 fps" in labels
    assert "1 new file, 1 replaced" in labels


def test_the_list_of_an_md2_shows_frames_and_what_the_template_misses(tmp_path: Path):
    bpy.ops.import_scene.md2(filepath=str(md2_samples.write_sample(tmp_path)))
    bpy.ops.object.io_idtech_list_animations(source="MARKERS")
    shown = drawn(
        "export_scene.md2", frames="LIST", sequence_template="QUAKE2_PLAYER", selected="sample", folder=str(tmp_path)
    )
    assert "Replaces sample.md2" in shown.labels
    assert "8 frames in 4 sequences" in shown.labels
    assert "2 frames" in shown.labels
    told = " ".join(shown.labels)
    assert "run: 3 frames instead of 6" in told
    assert "attack: no animation, needs 8 frames" in told
    assert "Not yet a Quake II player:" in shown.labels


def test_a_wrong_pattern_is_told_in_the_panel_before_the_export(tmp_path: Path):
    path = md5_scenes.write(tmp_path, "imp", run=md5_scenes.animation(md5_scenes.skeleton()))
    bpy.ops.import_scene.md5(filepath=str(path), animations="FOLDER")
    bpy.context.view_layer.objects.active.io_idtech_animations.pattern = "{walk}"
    labels = drawn("export_scene.md5anim", folder=str(tmp_path), actions="LIST").labels
    assert "unknown field {walk}" in " ".join(labels)


def test_the_list_says_that_there_is_no_armature():
    labels = drawn("export_scene.md5anim", actions="LIST").labels
    assert any("no armature" in label for label in labels)


def test_the_size_of_the_skin_is_a_fallback_when_automatic():
    assert ("skin_size", "Fallback Size") in drawn("export_scene.md2").drawn
    assert ("skin_size", "Size") in drawn("export_scene.md2", skin_size_from="CUSTOM").drawn


@pytest.mark.parametrize(("actions", "frames"), [("ALL", "AUTO"), ("LIST", "LIST")])
@pytest.mark.parametrize("name", OPERATORS)
def test_no_label_is_cut_off_at_the_default_width(tmp_path: Path, name, actions, frames):
    path = md5_scenes.write(tmp_path, "imp", run=md5_scenes.animation(md5_scenes.skeleton()))
    bpy.ops.import_scene.md5(filepath=str(path), animations="FOLDER")
    bpy.ops.object.io_idtech_list_animations()
    properties = getattr(getattr(bpy.ops, name.partition(".")[0]), name.partition(".")[2]).get_rna_type().properties
    layout = drawn(name, actions=actions, frames=frames, use_frame_range=True, selected="x.md5camera")
    blf.size(0, FONT_SIZE)
    wide = []
    for identifier, text in layout.drawn:
        if identifier == "label":
            limit = LINE_WIDTH - ICON_WIDTH
        elif identifier in properties:
            text = text or properties[identifier].name
            limit = (
                WIDE_WIDTH
                if identifier in layout.wide
                else VALUE_WIDTH
                if properties[identifier].type == "BOOLEAN"
                else LABEL_WIDTH
            )
            for item in getattr(properties[identifier], "enum_items", ()):
                if blf.dimensions(0, item.name)[0] > VALUE_WIDTH:
                    wide.append(item.name)
        else:
            continue
        if blf.dimensions(0, text)[0] > limit:
            wide.append(text)
    assert wide == []


@pytest.mark.parametrize("name", OPERATORS)
def test_every_option_has_a_tooltip_and_none_speaks_of_loading_and_saving(name):
    properties = getattr(getattr(bpy.ops, name.partition(".")[0]), name.partition(".")[2]).get_rna_type().properties
    shown = [p for p in properties if p.identifier not in ("rna_type", "check_existing") and not p.is_hidden]
    assert [p.identifier for p in shown if not p.description] == []
    assert [p.identifier for p in shown if p.description.startswith(("Load", "Save"))] == []


def test_the_file_menu_imports_the_animations_of_the_folder_and_drops_and_scripts_do_not(tmp_path: Path):
    properties = bpy.ops.import_scene.md5.get_rna_type().properties
    assert properties["animations"].default == "NONE"
    cls = operator_class("import_scene.md5")
    for given, dropped, expected in (
        ((), [], "FOLDER"),
        (("animations",), [], "NONE"),
        ((), [SimpleNamespace(name="imp.md5mesh")], "NONE"),
    ):
        stand = SimpleNamespace(
            files=dropped,
            properties=SimpleNamespace(is_property_set=lambda name, given=given: name in given),
            animations="NONE",
        )
        with pytest.raises(TypeError):
            # The stand-in is no operator, so that no file browser opens.
            cls.invoke(stand, bpy.context, None)
        assert stand.animations == expected


@pytest.mark.parametrize("family", ["md5", "md2"])
def test_after_an_import_the_current_frame_is_in_the_range(tmp_path: Path, family):
    scene = bpy.context.scene
    scene.frame_set(200)
    if family == "md5":
        path = md5_scenes.write(tmp_path, "imp", run=md5_scenes.animation(md5_scenes.skeleton()))
        bpy.ops.import_scene.md5(filepath=str(path), animations="FOLDER")
    else:
        path = md2_samples.write_sample(tmp_path)
        bpy.ops.import_scene.md2(filepath=str(path))
    assert scene.frame_start <= scene.frame_current <= scene.frame_end
    assert scene.frame_end < 200


def test_a_frame_rate_counts_when_it_is_enabled_or_a_script_sets_it(tmp_path: Path):
    from io_idtech.io_md5.format import read_animation

    path = md5_scenes.write(tmp_path, "imp", run=md5_scenes.animation(md5_scenes.skeleton(), rate=24))
    bpy.ops.import_scene.md5(filepath=str(path), animations="FOLDER")
    out = tmp_path / "out.md5anim"
    for options, rate in (
        ({}, 24),
        ({"frame_rate": 12.0}, 12),
        ({"use_frame_rate": True, "frame_rate": 12.0}, 12),
        ({"use_frame_rate": False, "frame_rate": 12.0}, 24),
    ):
        bpy.ops.export_scene.md5anim(filepath=str(out), **options)
        assert read_animation(out).frame_rate == rate


def test_a_folder_without_models_materials_and_archives_is_no_game_folder(tmp_path: Path, part):
    looks_like = part("io_common.game_tree.folders").looks_like_game_folder
    (tmp_path / "documents").mkdir()
    assert not looks_like(tmp_path)
    assert not looks_like(tmp_path / "nowhere")
    for name in ("models", "materials"):
        (tmp_path / name / name).mkdir(parents=True)
        assert looks_like(tmp_path / name)
    (tmp_path / "archives").mkdir()
    (tmp_path / "archives" / "pak000.pk4").touch()
    assert looks_like(tmp_path / "archives")


def test_the_preferences_say_what_is_wrong_with_the_selected_game_folder(tmp_path: Path):
    (tmp_path / "base" / "models").mkdir(parents=True)
    folders = [SimpleNamespace(path=str(tmp_path / name)) for name in ("base", "nowhere", "")]

    def labels(active: int) -> str:
        layout = Layout()
        shown = SimpleNamespace(layout=layout, game_folders=folders, active_game_folder=active)
        bpy.types.AddonPreferences.bl_rna_get_subclass_py("IO_IDTECH_preferences").draw(shown, bpy.context)
        return " ".join(layout.labels)

    assert "exist" not in labels(0)
    assert "This folder does not exist" in labels(1)
    folders[2].path = str(tmp_path)
    assert "No models, materials or archives in it. Choose the folder that holds them" in labels(2)
    folders.clear()
    assert "in it" not in labels(0)


def test_attached_armatures_show_only_where_an_armature_hangs_on_a_bone(tmp_path):
    bpy.ops.import_scene.md5(filepath=str(md5_scenes.write(tmp_path)))
    body = bpy.context.view_layer.objects.active
    assert "attached_armatures" not in drawn("export_scene.md5mesh").names
    weapon = bpy.data.objects.new("weapon", bpy.data.armatures.new("weapon"))
    bpy.context.collection.objects.link(weapon)
    weapon.parent, weapon.parent_type, weapon.parent_bone = body, "BONE", body.data.bones[-1].name
    assert "attached_armatures" in drawn("export_scene.md5mesh").names
