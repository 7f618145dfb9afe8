"""Imports and exports in every mode and state of the scene: each works, or reports why not."""

from __future__ import annotations

import bpy
import md5_scenes
import numpy as np
import pytest
from enabled_families import EXPORTERS, FAMILIES, IMPORTERS, export_file, import_file, write_samples
from installed import read_empty_scene
from md5_deviation import worst_error
from scripted_scenes import add_camera, rig, tube
from whole_state import whole_state

from io_idtech.io_md5.format import read_animation, read_mesh

pytestmark = pytest.mark.slow

MODEL, ANIMATION = ".md5mesh", ".md5anim"
KINDS = tuple(IMPORTERS)
OBJECT_KINDS = tuple(kind.suffix for family in FAMILIES for kind in family.kinds if kind.role.value != "animation")
"""The kinds of files from which objects are made."""


@pytest.fixture
def folder(tmp_path):
    write_samples(tmp_path)
    md5_scenes.write(tmp_path, walk=md5_scenes.animation(md5_scenes.skeleton()))
    return tmp_path


def importing(kind, folder, **options):
    """Imports a file of a kind; the animation is one for the model."""
    name = {MODEL: "test", ANIMATION: "walk"}.get(kind, "sample")
    return import_file(folder / f"{name}{kind}", **options)


def made(before):
    """The objects that were not there before, the active one first."""
    new = [obj for obj in bpy.data.objects if obj.name not in before]
    return sorted(new, key=lambda obj: obj != bpy.context.view_layer.objects.active)


def names():
    return {obj.name for obj in bpy.data.objects}


def users_model(folder):
    """The user's armature, which the animation is for, and its mesh."""
    importing(MODEL, folder)
    armature, mesh = made(())
    armature.name, mesh.name = "mine", "mine too"
    return armature, mesh


def is_done(kind, before):
    """Whether an import made what it should: an animation is for the armature that is there."""
    return bpy.data.objects["mine"].animation_data is not None if kind == ANIMATION else bool(made(before))


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_file_twice_is_two_things_that_share_their_materials(folder, kind):
    importing(kind, folder)
    first, materials = names(), set(bpy.data.materials)
    if kind == ANIMATION:
        # The second one is for the armature that is there.
        importing(kind, folder)
        assert names() == first
        assert len(bpy.data.actions) == 2
        return
    importing(kind, folder)
    second = made(first)
    assert len(second) == len(first)
    assert bpy.context.view_layer.objects.active == second[0]
    assert set(bpy.context.selected_objects) == set(second)
    assert set(bpy.data.materials) == materials


@pytest.mark.parametrize("kind", KINDS)
def test_names_already_used_by_other_data_blocks(folder, kind):
    importing(kind, folder)
    taken = {
        collection: [data.name for data in getattr(bpy.data, collection)]
        for collection in ("objects", "meshes", "armatures", "cameras", "actions", "materials", "collections")
    }
    read_empty_scene()
    for name in taken["objects"]:
        bpy.context.scene.collection.objects.link(bpy.data.objects.new(name, None))
    for collection in ("meshes", "armatures", "cameras", "actions", "materials", "collections"):
        for name in taken[collection]:
            getattr(bpy.data, collection).new(name)
    before = whole_state()
    users = names()
    assert importing(kind, folder) == {"FINISHED"}
    after = whole_state()
    for collection in taken:
        assert {row[0] for row in before[collection]} <= {row[0] for row in after[collection]}
    assert made(users)
    assert all(bpy.data.objects[name].type == "EMPTY" for name in users)
    assert not any(bpy.data.materials[name].users for name in taken["materials"])


def library_of_a_model(tmp_path, folder):
    """A .blend with the imported model in its collection."""
    importing(MODEL, folder)
    path = tmp_path / "library.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    read_empty_scene()
    return path


def link_collection(library):
    with bpy.data.libraries.load(str(library), link=True) as (_, into):
        into.collections = ["test"]
    bpy.context.scene.collection.children.link(into.collections[0])
    layer = bpy.context.view_layer.layer_collection.children["test"]
    bpy.context.view_layer.active_layer_collection = layer
    return into.collections[0]


def override_of_collection(library):
    linked = link_collection(library)
    linked.override_hierarchy_create(bpy.context.scene, bpy.context.view_layer, do_fully_editable=True)
    bpy.context.scene.collection.children.unlink(linked)
    bpy.context.view_layer.update()
    (armature,) = [obj for obj in bpy.data.objects if obj.type == "ARMATURE" and obj.override_library]
    return armature


@pytest.mark.parametrize("kind", OBJECT_KINDS)
def test_into_a_linked_collection_goes_beside_it(folder, tmp_path, kind):
    linked = link_collection(library_of_a_model(tmp_path, folder))
    inside, before = set(linked.all_objects), {obj.name_full for obj in bpy.data.objects}
    assert importing(kind, folder) == {"FINISHED"}
    assert set(linked.all_objects) == inside
    new = [obj for obj in bpy.data.objects if obj.name_full not in before]
    assert new
    assert all(obj.library is None and obj.name in bpy.context.view_layer.objects for obj in new)


@pytest.mark.parametrize("kind", OBJECT_KINDS)
def test_into_an_overridden_collection_goes_beside_it(folder, tmp_path, kind):
    override = override_of_collection(library_of_a_model(tmp_path, folder))
    collection = override.users_collection[0]
    inside = set(collection.all_objects)
    bpy.context.view_layer.active_layer_collection = bpy.context.view_layer.layer_collection.children[collection.name]
    assert importing(kind, folder) == {"FINISHED"}
    assert set(collection.all_objects) == inside


def test_an_animation_onto_a_linked_armature_says_why_not(folder, tmp_path):
    linked = link_collection(library_of_a_model(tmp_path, folder))
    bpy.context.view_layer.objects.active = next(obj for obj in linked.all_objects if obj.type == "ARMATURE")
    before = whole_state()
    with pytest.raises(RuntimeError, match=r"test is linked from library\.blend: .*editable library override"):
        importing(ANIMATION, folder)
    assert whole_state() == before


def test_an_animation_onto_a_library_override_plays(folder, tmp_path):
    armature = override_of_collection(library_of_a_model(tmp_path, folder))
    bpy.context.view_layer.objects.active = armature
    assert importing(ANIMATION, folder) == {"FINISHED"}
    assert armature.animation_data.action.name == "walk"
    model, animation = read_mesh(folder / "test.md5mesh"), read_animation(folder / "walk.md5anim")
    bpy.context.scene.frame_set(3)
    assert worst_error(armature, model, animation, 3) < 1e-4
    # It plays on after the file was saved and opened.
    saved = tmp_path / "overridden.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(saved))
    bpy.ops.wm.open_mainfile(filepath=str(saved))
    (armature,) = [obj for obj in bpy.context.view_layer.objects if obj.type == "ARMATURE"]
    bpy.context.scene.frame_set(2)
    assert worst_error(armature, model, animation, 2) < 1e-4
    target = tmp_path / "out"
    target.mkdir()
    bpy.ops.export_scene.md5mesh(filepath=str(target / "out.md5mesh"), actions="ACTIVE")
    assert (target / "out.md5mesh").read_bytes() == (folder / "test.md5mesh").read_bytes().replace(
        b'commandline ""', b'commandline "' + read_mesh(target / "out.md5mesh").commandline.encode() + b'"'
    )
    assert read_animation(target / "walk.md5anim").frame_count == animation.frame_count


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("mode", ["EDIT", "POSE", "WEIGHT_PAINT", "SCULPT", "VERTEX_PAINT", "TEXTURE_PAINT"])
def test_in_every_mode(folder, kind, mode):
    armature, mesh = users_model(folder)
    bpy.context.view_layer.objects.active = armature if mode == "POSE" else mesh
    bpy.ops.object.mode_set(mode=mode)
    before = names()
    assert importing(kind, folder) == {"FINISHED"}
    assert is_done(kind, before)
    assert bpy.context.mode == "OBJECT"
    assert all(obj.mode == "OBJECT" for obj in bpy.data.objects)


@pytest.mark.parametrize("kind", KINDS)
def test_an_armature_in_edit_mode(folder, kind):
    armature, _ = users_model(folder)
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode="EDIT")
    armature.data.edit_bones["head"].name = "renamed just now"
    before = names()
    assert importing(kind, folder) == {"FINISHED"}
    assert is_done(kind, before)
    assert "renamed just now" in armature.data.bones


@pytest.mark.parametrize("kind", KINDS)
def test_without_an_active_object(folder, kind):
    users_model(folder)
    bpy.context.view_layer.objects.active = None
    before = names()
    assert importing(kind, folder) == {"FINISHED"}
    assert is_done(kind, before)


@pytest.mark.parametrize("kind", KINDS)
def test_with_a_hidden_object_in_edit_mode(folder, kind):
    """An object that is hidden while it is active: Blender offers no way out of its mode."""
    _, mesh = users_model(folder)
    bpy.context.view_layer.objects.active = mesh
    bpy.ops.object.mode_set(mode="EDIT")
    mesh.hide_set(True)
    before = names()
    assert importing(kind, folder) == {"FINISHED"}
    assert is_done(kind, before)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("excluded", [False, True])
def test_imported_objects_are_visible_where_the_active_collection_is_excluded_or_hidden(folder, kind, excluded):
    collection = bpy.data.collections.new("mine")
    bpy.context.scene.collection.children.link(collection)
    layer = bpy.context.view_layer.layer_collection.children["mine"]
    bpy.context.view_layer.active_layer_collection = layer
    layer.exclude, collection.hide_viewport = excluded, not excluded
    before = names()
    assert importing(kind, folder) == {"FINISHED"}
    assert all(obj.name in bpy.context.view_layer.objects for obj in made(before))


@pytest.mark.parametrize(("system", "length"), [("NONE", 1.0), ("METRIC", 0.01), ("IMPERIAL", 0.3048)])
def test_in_other_units_and_at_another_rate_the_file_is_the_same(folder, tmp_path, system, length):
    target = tmp_path / "out"
    target.mkdir()
    written = []
    for factory in (True, False):
        read_empty_scene()
        if not factory:
            unit = bpy.context.scene.unit_settings
            unit.system, unit.scale_length = system, length
            bpy.context.scene.render.fps, bpy.context.scene.render.fps_base = 30, 1.0
        files = [{"name": "test.md5mesh"}, {"name": "walk.md5anim"}]
        bpy.ops.import_scene.md5(directory=str(folder), files=files, use_scene_timing=False)
        bpy.ops.export_scene.md5mesh(filepath=str(target / "out.md5mesh"), actions="ACTIVE")
        read_empty_scene()
        if not factory:
            bpy.context.scene.render.fps = 30
        importing(".md2", folder, use_scene_timing=False)
        bpy.ops.export_scene.md2(filepath=str(target / "out.md2"), game="ANY")
        importing(".md5camera", folder)
        bpy.ops.export_scene.md5camera(filepath=str(target / "out.md5camera"))
        written.append({path.name: path.read_bytes() for path in target.iterdir()})
    assert len(written[0]) == 4
    assert written[0] == written[1]


def test_a_scene_of_30_frames_a_second_plays_at_its_own_rate_on_request(folder):
    bpy.context.scene.render.fps = 30
    importing(ANIMATION, folder, use_scene_timing=False)
    assert bpy.context.scene.render.fps == 30
    importing(ANIMATION, folder)
    assert bpy.context.scene.render.fps / bpy.context.scene.render.fps_base == pytest.approx(24.0)


@pytest.mark.parametrize("suffix", EXPORTERS)
@pytest.mark.parametrize("mode", ["EDIT", "POSE", "WEIGHT_PAINT", "SCULPT"])
def test_exports_in_every_mode(tmp_path, suffix, mode):
    armature = rig()
    mesh = tube(armature)
    add_camera()
    export_file(tmp_path / f"a{suffix}")
    bpy.context.view_layer.objects.active = armature if mode == "POSE" else mesh
    bpy.ops.object.mode_set(mode=mode)
    before = whole_state()
    assert export_file(tmp_path / f"b{suffix}") == {"FINISHED"}
    assert whole_state() == before
    a, b = ((tmp_path / f"{name}{suffix}").read_bytes() for name in "ab")
    assert np.array_equal(a, b)


@pytest.mark.parametrize("suffix", EXPORTERS)
def test_an_export_of_nothing_says_so(tmp_path, suffix):
    before = whole_state()
    with pytest.raises(RuntimeError, match=r"there is no |has no active camera"):
        export_file(tmp_path / f"a{suffix}")
    assert whole_state() == before
    assert list(tmp_path.iterdir()) == []
