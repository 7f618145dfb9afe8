"""The extension opens no connection, starts no process and writes only the named files (by Python's audit hook)."""

from __future__ import annotations

import ast
import os
import re
import sys
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path

import bpy
import md2_samples
import md5_samples
import md5_scenes
import pytest
from enabled_families import EXPORTERS, IMPORTERS, export_file, import_file, write_samples
from paths import PACKAGES, ROOT
from scripted_scenes import rig, tube

# `--jobs` of the command line starts Blenders; nothing else starts anything.
STARTS_PROCESSES = {Path("command_line/blenders.py")}
_OUTWARD = {
    "_socket", "aiohttp", "asyncio", "ctypes", "ftplib", "http", "imaplib", "multiprocessing", "poplib", "pty",
    "requests", "smtplib", "socket", "socketserver", "ssl", "subprocess", "telnetlib", "urllib", "urllib3",
    "webbrowser", "xmlrpc",
}  # fmt: skip
_OUTWARD_CALLS = {"system", "popen", "fork", "forkpty", "startfile"}
_OUTWARD_CALL = re.compile(r"exec[lv]|spawn|posix_spawn")

# Events of the audit: https://docs.python.org/3/library/audit_events.html
_CHANGING = {
    "os.chflags", "os.chmod", "os.chown", "os.link", "os.mkdir", "os.remove", "os.rename", "os.rmdir", "os.removexattr",
    "os.setxattr", "os.symlink", "os.truncate", "os.utime", "shutil.chown", "shutil.copyfile", "shutil.move",
    "shutil.rmtree", "shutil.make_archive", "shutil.unpack_archive", "winreg.CreateKey", "winreg.SetValue",
}  # fmt: skip
_REACHING = ("socket.", "subprocess.", "os.exec", "os.fork", "os.posix_spawn", "os.spawn", "os.startfile", "os.system",
             "os.kill", "pty.", "urllib.", "http.", "ftplib.", "smtplib.", "poplib.", "imaplib.", "telnetlib.",
             "webbrowser.", "ctypes.")  # fmt: skip
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_TRUNC

_seen: list[tuple[str, str]] | None = None


def _watch(event, arguments):
    if _seen is None:
        return
    if event == "open":
        path, mode, flags = arguments
        if isinstance(path, int):
            return
        if any(letter in (mode or "") for letter in "wax+") or (isinstance(flags, int) and flags & _WRITING):
            _seen.append(("write", os.fsdecode(path)))
    elif event in _CHANGING:
        _seen.extend(
            (event, os.fsdecode(path)) for path in arguments[:2] if isinstance(path, str | bytes | os.PathLike)
        )
    elif event.startswith(_REACHING):
        _seen.append((event, repr(arguments)))


# A hook stays for the life of the process, so there is one, which is asleep but for the tests below.
sys.addaudithook(_watch)


@contextmanager
def watched() -> Iterator[list[tuple[str, str]]]:
    """What the block writes, changes and reaches out for."""
    global _seen
    _seen = []
    try:
        yield _seen
    finally:
        _seen = None


@pytest.fixture
def folder(tmp_path):
    md5_scenes.write(tmp_path, walk=md5_scenes.animation(md5_scenes.skeleton()))
    (tmp_path / "shot.md5camera").write_text(md5_samples.CAMERA)
    md2_samples.write_sample(tmp_path)
    return tmp_path


def test_the_audit_hook_records_files_processes_and_connections(tmp_path):
    import socket
    import subprocess

    with watched() as seen:
        (tmp_path / "a").write_bytes(b"")
        (tmp_path / "a").rename(tmp_path / "b")
        (tmp_path / "b").unlink()
        socket.socket().close()
        subprocess.run([sys.executable, "--version"], check=True, capture_output=True)
    assert {"write", "os.rename", "os.remove", "socket.__new__", "subprocess.Popen"} <= {event for event, _ in seen}


@pytest.mark.parametrize("suffix", IMPORTERS)
def test_an_import_writes_nothing(tmp_path, suffix):
    path = write_samples(tmp_path)[suffix]
    before = sorted(tmp_path.rglob("*"))
    with watched() as seen:
        assert import_file(path) == {"FINISHED"}
    assert seen == []
    assert sorted(tmp_path.rglob("*")) == before


def test_an_import_that_is_refused_writes_nothing(folder):
    (folder / "bad.md5mesh").write_text("MD5Version 10")
    with watched() as seen, pytest.raises(RuntimeError):
        bpy.ops.import_scene.md5(filepath=str(folder / "bad.md5mesh"))
    assert seen == []


def test_an_import_with_textures_from_folders_and_archives_writes_nothing(corpus):
    model = next(path for path in sorted(corpus.rglob("*.md5mesh")) if list(path.parent.glob("*.jpg")))
    with watched() as seen:
        bpy.ops.import_scene.md5(filepath=str(model))
    assert len(bpy.data.images)
    assert seen == []


@pytest.mark.parametrize("suffix", EXPORTERS)
@pytest.mark.parametrize("exists", [False, True])
def test_an_export_writes_the_files_it_was_asked_for_and_nothing_else(tmp_path, suffix, exists):
    tube(rig())
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    bpy.context.scene.collection.objects.link(camera)
    bpy.context.scene.camera = camera
    path = tmp_path / f"out{suffix}"
    wanted = {path}
    options = {}
    if suffix == ".md5mesh":
        options, wanted = {"actions": "ALL"}, {path, tmp_path / "Bend.md5anim"}
    if exists:
        path.write_bytes(b"old")
    with watched() as seen:
        assert export_file(path, **options) == {"FINISHED"}
    assert set(tmp_path.iterdir()) == wanted
    for event, place in seen:
        assert event in ("write", "os.chmod", "os.rename", "os.remove"), (event, place)
        # Its own, or the temporary file that becomes it.
        assert Path(place).parent == tmp_path
        assert Path(place) in wanted or Path(place).name.startswith(".io_idtech-")
        if event == "os.remove":
            assert Path(place) not in wanted


def test_preferences_and_game_folders_write_nothing(folder):
    with watched() as seen:
        bpy.ops.preferences.io_idtech_game_folder_add(directory=str(folder))
        bpy.ops.import_scene.md5(filepath=str(folder / "test.md5mesh"))
        bpy.ops.preferences.io_idtech_game_folder_remove()
    assert seen == []


def test_disabling_and_enabling_write_no_files_of_their_own(extension):
    addon_utils = import_module("addon_utils")
    with watched() as seen:
        addon_utils.disable(extension.__name__)
        addon_utils.enable(extension.__name__)
    own = ("__pycache__", str(Path("extensions", ".cache")))  # compiled code, and Blender's list of extensions
    assert [place for _, place in seen if not any(word in place for word in own)] == []


@pytest.mark.slow
def test_a_conversion_writes_results_records_and_what_blenders_tell_each_other(part, folder, tmp_path):
    out = tmp_path / "out"
    with watched() as seen:
        assert part("command_line.command").main(["convert", str(folder), "--to", str(out), "--jobs", "2"]) == 0
    assert any(event == "subprocess.Popen" for event, _ in seen)
    for event, place in seen:
        if not event.startswith(_REACHING) and place != os.devnull:
            # `shutil.rmtree` is watched itself, and may remove what is in a folder by its bare name.
            is_bare = event in ("os.remove", "os.rmdir") and os.path.basename(place) == place
            is_known = is_bare or "io_idtech-jobs-" in place
            assert is_known or out in (Path(place), *Path(place).parents), (event, place)


def test_the_manifest_asks_for_files_alone():
    manifest = tomllib.loads((ROOT / "blender_manifest.toml").read_text(encoding="utf-8"))
    assert list(manifest["permissions"]) == ["files"]
    assert "wheels" not in manifest


def sources():
    return [ROOT / "__init__.py", *(path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py")))]


@pytest.mark.slow
def test_only_jobs_start_processes_and_nothing_opens_connections():
    """What no test happens to run is read."""
    reaching = {}
    for path in sources():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.level == 0:
                names = [node.module or ""]
            found = {name.partition(".")[0] for name in names} & _OUTWARD
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "os":
                called = node.attr
                if called in _OUTWARD_CALLS or _OUTWARD_CALL.match(called):
                    found = {f"os.{called}"}
            if found:
                reaching.setdefault(path.relative_to(ROOT), set()).update(found)
    assert len(sources()) > 50
    assert set(reaching) == STARTS_PROCESSES
    assert reaching[Path("command_line/blenders.py")] == {"subprocess"}


def test_no_source_changes_how_python_finds_modules_or_starts_threads():
    """What reviewers of the extension platform refuse."""
    words = re.compile(
        r"sys\.(?:path|modules)\b|exec_module|spec_from_file|\bthreading\b|concurrent\.futures|\b_thread\b"
    )
    assert [path for path in sources() if words.search(path.read_text(encoding="utf-8"))] == []
