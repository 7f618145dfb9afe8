"""The commands of docs/command-line.md, run in order with a `blender` that has the command."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import needs
import pytest
from paths import HELPERS, ROOT, SAMPLES

PAGE = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")
PATIENCE = 300

# What the application does for `blender --command idtech …`, in a Blender that is a module.
BLENDER = """
import importlib, os, sys
import bpy
bpy.ops.preferences.addon_enable(module={name!r})
assert sys.argv[1:3] == ["--command", "idtech"]
status = importlib.import_module({name!r} + ".command_line.command").main(sys.argv[3:])
sys.stdout.flush()
os._exit(status)
"""


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)


def commands(script: str) -> list[str]:
    return [line for line in script.splitlines() if line.startswith(("blender", "python", "parallel"))]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory, extension: ModuleType) -> Path:
    """The folder of the reader, with the sample's models in it."""
    folder = tmp_path_factory.mktemp("reader")
    shutil.copytree(SAMPLES / "models", folder / "models")
    programs = folder / "programs"
    programs.mkdir()
    script = programs / "as_blender.py"
    script.write_text(BLENDER.format(name=extension.__name__))
    for name, words in (("blender", f'"{sys.executable}" "{script}"'), ("python", f'"{sys.executable}"')):
        (programs / name).write_text(f'#!/bin/sh\nexec {words} "$@"\n')
        (programs / name).chmod(0o755)
    return folder


def run(place: Path, words: list[str], **environment: str) -> subprocess.CompletedProcess[str]:
    path = f"{place / 'programs'}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        words,
        cwd=place,
        env={**os.environ, "PATH": path, "PYTHONPATH": str(HELPERS), **environment},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def results(folder: Path) -> set[str]:
    return {path.name for path in folder.rglob("*") if path.is_file() and path.suffix != ".json"}


@pytest.mark.slow
@needs.shell
def test_commands_run_one_after_the_other(place, idtech, monkeypatch):
    monkeypatch.chdir(place)
    # In one test: some use what others before them wrote.
    for command in [line for block in blocks("sh") for line in commands(block)]:
        words = shlex.split(command)
        if words[0] == "parallel":
            if shutil.which("parallel") is None:
                continue
            output = run(place, words).stdout
        else:
            assert words[:3] == ["blender", "--command", "idtech"]
            status, output, told = idtech(*words[3:])
            assert status == 0, told
        if "--json" in command:
            assert isinstance(json.loads(output[output.index("[") :]), list), command
        if " --to " in command:
            assert results(place / command.split(" --to ")[1].split()[0]), command


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
def test_the_parts_of_the_slurm_array_do_the_whole_work(place):
    (script,) = blocks("slurm")
    for number in ("1", "2"):
        run(place, ["bash", "-c", script], SLURM_ARRAY_TASK_ID=number, SLURM_ARRAY_TASK_COUNT="2")
    assert results(place / "from_slurm") == {"octopus.blend"}


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("node") is None, reason="Node.js, which runs the job type, is not installed")
def test_the_tasks_of_the_flamenco_job_do_the_whole_work(place):
    (script,) = blocks("javascript")
    # What Flamenco's Manager offers to a job type.
    stage = """
    const tasks = [];
    const author = {
        Task: (name, type) => ({ name, type, commands: [], addCommand(command) { this.commands.push(command); } }),
        Command: (name, parameters) => ({ name, parameters }),
    };
    const job = { settings: {}, addTask: (task) => tasks.push(task) };
    for (const setting of JOB_TYPE.settings) job.settings[setting.key] = setting.default;
    Object.assign(job.settings, { models: "models", results: "from_flamenco", parts: 2 });
    compileJob(job);
    console.log(JSON.stringify(tasks));
    """
    tasks = json.loads(run(place, ["node", "-e", script + stage]).stdout)
    assert [task["name"] for task in tasks] == ["convert-1", "convert-2"]
    for task in tasks:
        for command in task["commands"]:
            assert command["name"] == "exec"
            run(place, [command["parameters"]["exe"], *command["parameters"]["args"]])
    assert results(place / "from_flamenco") == {"octopus.blend"}


def test_every_option_is_explained():
    source = (ROOT / "command_line" / "arguments.py").read_text(encoding="utf-8")
    options = set(re.findall(r'"(--[a-z-]+)"', source))
    assert options
    assert [option for option in sorted(options) if f"`{option}" not in PAGE] == []
