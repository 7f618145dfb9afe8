"""Imports of damaged files, one after the other, each into a scene that must not change where it is refused."""

from __future__ import annotations

import re
from pathlib import Path

import bpy
import md2_samples
import md5_samples
from installed import read_empty_scene
from mutants import mutant
from scripted_scenes import rig, tube
from whole_state import whole_state

_LARGEST = {".md5mesh": 20_000, ".md5anim": 20_000, ".md5camera": 60_000, ".md2": 20_000}

# What is wrong, and then where: "Error: …; found … (file, line 3)".
_REASON = re.compile(r"Error: \w.* \(FILE(, line \d+|, byte \d+)?\)")


def made_files(folder: Path) -> list[Path]:
    """Small files by code, of every kind and layout."""
    files = {
        "made.md5mesh": md5_samples.MESH,
        "old.md5mesh": md5_samples.OLD_MESH,
        "made.md5anim": md5_samples.ANIMATION,
        "old.md5anim": md5_samples.OLD_ANIMATION,
        "made.md5camera": md5_samples.CAMERA,
    }
    for name, text in files.items():
        (folder / name).write_text(text)
    return [*(folder / name for name in files), md2_samples.write_sample(folder)]


def small_files(corpus: Path) -> list[Path]:
    """The small ones of the real files."""
    return [
        path
        # On Windows, paths are sorted without regard to case: the seeds would choose other files.
        for path in sorted(corpus.rglob("*"), key=lambda path: path.parts)
        if path.is_file() and path.stat().st_size <= _LARGEST.get(path.suffix.lower(), -1)
    ]


def is_animation(path):
    return path.suffix.lower() == ".md5anim"


def operator_of(path):
    return bpy.ops.import_scene.md2 if path.suffix.lower() == ".md2" else bpy.ops.import_scene.md5


def scene_in_edit_mode(has_armature=True):
    """A mesh of the user's is being edited, others are selected, an armature stands by, at an odd frame and rate."""
    armature = rig() if has_armature else None
    mesh = tube(armature, bind=has_armature)
    other = tube(armature, name="Other", bind=has_armature)
    scene = bpy.context.scene
    scene.frame_set(7)
    scene.render.fps, scene.render.fps_base = 30, 1.001
    scene.timeline_markers.new("mine", frame=3)
    for obj in bpy.data.objects:
        obj.select_set(obj in (mesh, other))
    bpy.context.view_layer.objects.active = mesh
    bpy.ops.object.mode_set(mode="EDIT")
    return scene


def try_mutants(sources, folder, count, seed):
    """How many mutants loaded and how many were refused; anything else fails the test."""
    loaded = refused = 0
    has_armature = before = None
    # Animations last: they are refused where an armature is that they do not fit.
    tries = sorted(
        ((number, sources[number % len(sources)]) for number in range(count)), key=lambda one: is_animation(one[1])
    )
    for number, source in tries:
        which = f"{number} of seed {seed}, {source.name}"
        if before is None or has_armature == is_animation(source):
            read_empty_scene()
            has_armature = not is_animation(source)
            scene_in_edit_mode(has_armature)
            before = whole_state()
        path = folder / f"mutant{source.suffix.lower()}"
        path.write_bytes(mutant(source.read_bytes(), number, source.suffix.lower() != ".md2", seed))
        try:
            result = operator_of(path)(filepath=str(path))
        except RuntimeError as error:
            text = str(error)
            assert _REASON.match(text.replace(str(path), "FILE")), f"{which}: {text}"
            assert "internal error of the add-on" not in text, f"{which}: {text}"
            assert whole_state() == before, f"{which} left something behind: {text}"
            refused += 1
        else:
            assert result == {"FINISHED"}
            bpy.context.evaluated_depsgraph_get().update()
            loaded += 1
            before = None
    return loaded, refused
