"""What a reviewer of Blender's extension platform sees in the zip, and what breaks the platform's written rules.

    python tools/review.py build/io_idtech-1.2.0.zip

The rules are those of the platform's terms of service, of the manual's pages on extensions, and of the guidelines for
add-ons in Blender's developer handbook.
"""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import PurePosixPath
from zipfile import ZipFile

LONGEST_TEXT = 64  # characters of the tagline and of a permission's reason
LARGEST_ZIP = 200 << 20  # bytes
TAGS = {
    "3D View", "Add Curve", "Add Mesh", "Animation", "Bake", "Camera", "Compositing", "Development", "Game Engine",
    "Geometry Nodes", "Grease Pencil", "Import-Export", "Lighting", "Material", "Modeling", "Mesh", "Node", "Object",
    "Paint", "Pipeline", "Physics", "Render", "Rigging", "Scene", "Sculpt", "Sequencer", "System", "Text Editor",
    "Tracking", "User Interface", "UV",
}  # fmt: skip
SUFFIXES = {".py", ".toml", ".html", ".css", ".png", ""}  # "" is that of LICENSE
# Only the conversion with several Blenders starts another program, which is Blender: see docs/command-line.md.
STARTS_BLENDER = "command_line/blenders.py"
# Modules that reach the network, run code in parallel in one Blender, or call other libraries.
FORBIDDEN_MODULES = {
    "ctypes", "ftplib", "http", "multiprocessing", "pip", "requests", "smtplib", "socket", "ssl", "threading",
    "urllib.request", "webbrowser",
}  # fmt: skip
FORBIDDEN_CALLS = {"eval", "exec", "compile", "__import__", "os._exit", "os.system", "os.popen", "os.startfile"}


def review_manifest(manifest: dict) -> Iterator[str]:
    """What is wrong with the manifest."""
    if "blender" in manifest["name"].lower():
        yield 'the name contains "Blender"'
    texts = {"tagline": manifest["tagline"], **manifest.get("permissions", {})}
    for what, text in texts.items():
        if len(text) > LONGEST_TEXT:
            yield f"{what} has {len(text)} characters, more than {LONGEST_TEXT}"
        if not text[-1:].isalnum() and not text.endswith(")"):
            yield f"{what} ends with punctuation"
    if set(manifest.get("permissions", {})) - {"files"}:
        yield "a permission other than files is asked for"
    for tag in sorted(set(manifest.get("tags", ())) - TAGS):
        yield f"the platform has no tag {tag!r}"
    if manifest["license"] != ["SPDX:GPL-3.0-or-later"]:
        yield "the license is not GPL-3.0-or-later"
    for holder in manifest.get("copyright", ()) or [""]:
        if not re.fullmatch(r"\d{4}(-\d{4})? \S.*", holder):
            yield f"copyright {holder!r} is not a year and a name"
    if not re.fullmatch(r"\d+\.\d+\.\d+", manifest["version"]):
        yield f"the version {manifest['version']} is not a release by semantic versioning"


def _dotted(node: ast.AST) -> str:
    if isinstance(node, ast.Attribute):
        return f"{_dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def review_code(name: str, text: str) -> Iterator[str]:
    """What a module does that the platform does not allow, or asks about."""
    for node in ast.walk(ast.parse(text)):
        line = getattr(node, "lineno", 0)
        modules = []
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            modules = [str(node.module)]
        for module in modules:
            roots = {module, module.partition(".")[0]}
            if roots & FORBIDDEN_MODULES:
                yield f"{name}:{line} imports {module}"
            if module.partition(".")[0] == "io_idtech":
                yield f"{name}:{line} imports itself by its absolute name"
            if module == "subprocess" and name != STARTS_BLENDER:
                yield f"{name}:{line} starts other programs"
        if isinstance(node, ast.Call):
            call = _dotted(node.func)
            if call in FORBIDDEN_CALLS:
                yield f"{name}:{line} calls {call}"
            if call.startswith("sys.path"):
                yield f"{name}:{line} changes where modules are found"
        if isinstance(node, ast.Constant) and node.value == "-c":
            yield f"{name}:{line} runs code from a string"


def review_files(archive: ZipFile) -> Iterator[str]:
    """What is wrong with the files of the zip."""
    for info in archive.infolist():
        path = PurePosixPath(info.filename)
        if info.is_dir():
            continue
        if path.is_absolute() or ".." in path.parts or any(part.startswith(".") for part in path.parts):
            yield f"{path} does not belong into a zip"
        if path.suffix not in SUFFIXES or "__pycache__" in path.parts:
            yield f"{path} is neither code nor help"
    size = sum(info.compress_size for info in archive.infolist())
    if size > LARGEST_ZIP:
        yield f"the zip has {size:,} bytes, more than {LARGEST_ZIP:,}"


def review(archive: ZipFile) -> list[str]:
    """All that breaks a rule."""
    manifest = tomllib.loads(archive.read("blender_manifest.toml").decode())
    problems = [*review_manifest(manifest), *review_files(archive)]
    for name in archive.namelist():
        if name.endswith(".py"):
            problems += review_code(name, archive.read(name).decode())
    return problems


def summary(archive: ZipFile) -> list[str]:
    """What the platform shows, and what the zip holds."""
    manifest = tomllib.loads(archive.read("blender_manifest.toml").decode())
    sizes: Counter[str] = Counter()
    for info in archive.infolist():
        sizes[PurePosixPath(info.filename).suffix or info.filename] += info.compress_size
    permissions = [f"{key}: {reason}" for key, reason in manifest.get("permissions", {}).items()]
    return [
        f"{manifest['name']} {manifest['version']}: {manifest['tagline']}",
        f"by {manifest['maintainer']}, {', '.join(manifest['copyright'])}, {', '.join(manifest['license'])}",
        f"website: {manifest.get('website', 'none')}; tags: {', '.join(manifest['tags'])}",
        f"Blender {manifest['blender_version_min']} or later; permissions: {'; '.join(permissions) or 'none'}",
        f"starts another program: Blender itself, in {STARTS_BLENDER}",
        f"{sum(sizes.values()):,} bytes: " + ", ".join(f"{suffix} {size:,}" for suffix, size in sizes.most_common()),
    ]


def main(path: str) -> int:
    with ZipFile(path) as archive:
        print("\n".join(summary(archive)))
        problems = review(archive)
    print("\n".join([f"PROBLEM: {problem}" for problem in problems] or ["No problem found"]))
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
