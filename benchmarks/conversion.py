"""The conversion of whole trees by the command line, in new processes, and where its time goes.

    python benchmarks/conversion.py FOLDER OUT_FOLDER FORMAT [OPTION …]

converts the models of a folder in this process and prints the seconds of each part as JSON; with the word `floor`
instead of the output folder it prints what importing and saving the same models needs, with the operators.
"""

from __future__ import annotations

import compileall
import importlib
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from parts import TimedFunctions

ROOT = Path(__file__).resolve().parent.parent

STARTING, EMPTYING, READING, BUILDING, WRITING, RECORDING = (
    "starting Blender",
    "emptying the scene",
    "reading the files",
    "building the models",
    "writing the results",
    "records, temporary files and moving the results",
)
PICTURES = "making assets, with their pictures"
WHOLE, COMMAND, FLOOR = "all", "the command in a running Blender", "floor"
_ROUNDS = 3
_MEMORY = ("memory after a tenth", "memory after all")


def make_tree(folder: Path, models: list[Path], count: int) -> Path:
    """A folder with `count` copies of some models, each in turn."""
    for index in range(count):
        source = models[index % len(models)]
        target = folder / f"{index:05d}" / source.name
        target.parent.mkdir(parents=True)
        shutil.copyfile(source, target)
    return folder


def measure(tree: Path, out: Path, kind: str, *options: str) -> dict[str, float]:
    """The seconds of each part of a conversion in a new process, and of all of it from its start."""
    shutil.rmtree(out, ignore_errors=True)
    return _Process(tree, str(out), kind, *options).result()


def compare(tree: Path, out: Path) -> tuple[dict[str, float], float, float, float]:
    """What `measure` returns for one job, and the seconds of `_measure_floor`, of two jobs and of two processes.

    Medians of runs that take turns.
    """
    ones, others = [], []
    for _ in range(_ROUNDS):
        ones.append(measure(tree, out, "blend"))
        two = measure(tree, out, "blend", "--jobs", "2")[WHOLE]
        others.append((_measure_floor(tree), two, _measure_halves(tree, out)))
    one = sorted(ones, key=lambda measured: measured[WHOLE])[_ROUNDS // 2]
    floor, two, halves = map(statistics.median, zip(*others, strict=True))
    return one, floor, two, halves


def _measure_halves(tree: Path, out: Path) -> float:
    """The seconds that two separate processes at once need, each for half of a tree, with nothing in common."""
    shutil.rmtree(out, ignore_errors=True)
    processes = [_Process(tree, str(out / part), "blend", "--shard", f"{part}/2") for part in ("1", "2")]
    return max(process.result()[WHOLE] for process in processes)


def _measure_floor(tree: Path) -> float:
    """The seconds of importing and saving the models of a tree one after the other, without Blender's start."""
    return _Process(tree, FLOOR, "blend").result()[FLOOR]


class _Process:
    """A new process of this file, as if the extension was installed: its modules are compiled."""

    def __init__(self, *words: object) -> None:
        for package in sorted(ROOT.glob("*/__init__.py")):
            compileall.compile_dir(package.parent, quiet=2)
        compileall.compile_dir(ROOT, maxlevels=0, quiet=2)
        self._started = time.time()
        self._process = subprocess.Popen(
            [sys.executable, __file__, *map(str, words)],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip

    def result(self) -> dict[str, float]:
        """What it measured, with the seconds until Blender was ready, and those of all."""
        output, _ = self._process.communicate()
        assert self._process.returncode == 0
        result: dict[str, float] = json.loads(output.splitlines()[-1])
        # The clock of the other process started with its first line.
        result[STARTING] = result.pop("ready at") - self._started
        result[WHOLE] = result.pop("done at") - self._started
        return result


def resident_memory() -> int:
    """The resident memory of this process in bytes; 0 where that is not known."""
    status = Path("/proc/self/statm")
    return int(status.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") if status.exists() else 0


def _main(tree: str, out: str, kind: str, *options: str) -> None:
    stdout = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    with tempfile.TemporaryDirectory(prefix="io_idtech-") as resources:
        extension = _install(Path(resources))
        ready = time.time()
        seconds = _convert(extension, tree, out, kind, *options)
        done = time.time()
        print(json.dumps({**seconds, "ready at": ready, "done at": done}), file=stdout, flush=True)
    os._exit(0)


def _install(resources: Path) -> str:
    """Enables the working copy as an extension, as workers need it; returns the name of its package."""
    # Blender asks for its user folder when it is loaded.
    os.environ["BLENDER_USER_RESOURCES"] = str(resources)
    repository = resources / "extensions" / "user_default"
    repository.mkdir(parents=True)
    (repository / "io_idtech").symlink_to(ROOT, target_is_directory=True)
    importlib.import_module("bpy")
    # The module comes into reach by the import of bpy.
    addon_utils = importlib.import_module("addon_utils")
    name = "bl_ext.user_default.io_idtech"
    addon_utils.extensions_refresh(ensure_wheels=False)
    addon_utils.enable(name, default_set=True)
    return name


def _convert(extension: str, tree: str, out: str, kind: str, *options: str) -> dict[str, float]:
    """The seconds of the parts of a conversion, or of what Blender alone needs."""
    if out == FLOOR:
        return _floor(extension, Path(tree))
    names = ("command", "convert", "writers")
    command, convert, writers = (importlib.import_module(f"{extension}.command_line.{name}") for name in names)
    md2, md5 = (
        importlib.import_module(f"{extension}.{name}") for name in ("io_md2.format", "io_md5.importing.importer")
    )
    parts = TimedFunctions()
    parts.time(convert, "_load_file", "loading")
    parts.time(convert, "_empty_scene", EMPTYING)
    parts.time(md2, "read_model", READING)
    parts.time(md5, "read_mesh", READING)
    parts.time(writers.WRITERS, kind, WRITING)
    command.write_results = convert.write_results
    if kind == "assets":
        parts.time(convert, "make_asset", PICTURES)
        # In this process, which is measured.
        command.ASSETS = ""
    memory = _watch_memory(command, len(list(Path(tree).iterdir())))
    started = time.perf_counter()
    status = command.main(["convert", tree, "--to", out, "--format", kind, "--no-textures", *options])
    seconds = {COMMAND: time.perf_counter() - started}
    assert status == 0
    seconds |= memory
    found = parts.seconds
    if PICTURES in found:
        seconds[PICTURES] = found[PICTURES]
    elif found:
        seconds |= {part: found[part] for part in (EMPTYING, READING, WRITING)}
        seconds[BUILDING] = found["loading"] - found[READING] - seconds[EMPTYING]
        seconds[RECORDING] = seconds[COMMAND] - found["loading"] - found[WRITING]
    return seconds


def _watch_memory(command: Any, count: int) -> dict[str, float]:
    """The memory after a tenth of the files and after all, filled in as they are converted."""
    memory: dict[str, float] = {}
    function, done = command.write_results, [0]

    def watched(*arguments: Any) -> Any:
        result = function(*arguments)
        done[0] += 1
        if done[0] == max(1, count // 10):
            memory[_MEMORY[0]] = resident_memory()
        elif done[0] == count:
            memory[_MEMORY[1]] = resident_memory()
        return result

    command.write_results = watched
    return memory


def memory(measured: dict[str, float]) -> tuple[float, float]:
    """The resident memory of a conversion after a tenth of its files and after all of them, in bytes."""
    return measured[_MEMORY[0]], measured[_MEMORY[1]]


def _floor(extension: str, tree: Path) -> dict[str, float]:
    """The seconds of importing and saving each model of a tree in a new scene, as a script does with the operators."""
    import bpy

    families = importlib.import_module(f"{extension}.families").FAMILIES
    out = tree.parent / FLOOR
    started = time.perf_counter()
    for path in sorted(path for folder in tree.iterdir() for path in folder.iterdir()):
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        family = next(family for family in families if path.suffix in family.suffixes)
        module, _, name = family.blender().importer.bl_idname.partition(".")
        getattr(getattr(bpy.ops, module), name)(filepath=str(path), use_textures=False)
        # Like the command, not over the last one, which would take longer.
        target = out / path.parent.name / f"{path.stem}.blend"
        target.parent.mkdir(parents=True)
        bpy.ops.wm.save_as_mainfile(filepath=str(target), copy=True, check_existing=False)
    seconds = time.perf_counter() - started
    shutil.rmtree(out)
    return {FLOOR: seconds}


if __name__ == "__main__":
    _main(*sys.argv[1:])
