"""The help pages of the extension: pages of docs/ as HTML, in help/, which the zip contains.

    python tools/help_pages.py

`python run.py build` runs this before it builds the zip. Links between the pages are kept. Links to pages that are not
part of the zip become plain text, and large pictures are left out. As the pages have no search, there is an index of
keywords.
"""

from __future__ import annotations

import html
import os
import re
import shutil
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from markdown import Markdown
from markdown.extensions import Extension
from markdown.treeprocessors import Treeprocessor

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
HELP = ROOT / "help"
LARGEST_PICTURE = 50_000  # bytes

PAGES = {
    "index": "Start",
    "md5": "MD5",
    "md2": "MD2",
    "md3": "MD3",
    "iqm": "IQM",
    "choosing-animations": "Choosing animations",
    "characters": "Characters from a game",
    "asset-library": "A game as an asset library",
    "recipes": "Recipes",
    "retargeting": "Animation between skeletons",
    "options": "Options",
    "games": "Games",
    "game-rules": "What each game accepts",
    "games/doom3": "Into Doom 3",
    "games/doom3-bfg": "Into Doom 3 BFG",
    "games/dark-mod": "Into The Dark Mod",
    "games/quake": "Into Quake",
    "games/quake2": "Into Quake II",
    "games/quake2-rerelease": "Into the Quake II re-release",
    "games/quake3": "Into Quake III",
    "games/gzdoom": "Into GZDoom",
    "games/sauerbraten": "Into Sauerbraten",
    "games/unvanquished": "Into Unvanquished",
    "games/other": "Into other games",
    "matching-blender": "How exports match Blender",
    "troubleshooting": "Troubleshooting",
    "command-line": "Command line",
    "scripts": "Scripts",
}
"""The pages of the zip, without suffix, and their names in the navigation."""

KEYWORDS = """
actions, animation.cfg, archives, asset browser, asset library, attachments, axes, Bendy Bones, bind pose,
bone direction, cameras, Check for Game, cloth, collections, command line, cyclic, declarations,
Deform Bones Only, doors, drivers, drop, empties, FBX, Flamenco, frame rate, game folder, heads, IQM,
joint names, levels of detail, library override, linked, loops, markers, materials, md5scale, MDL,
missing images, Mixamo, modifiers, motion capture, NLA, normals, palette, patterns, pk3, pk4, players,
Python, Rigify, root bone, scale, Sequence Actions, sequences, shaders, shape keys, skins, slots, Slurm,
sounds, Split at Sharp Edges, Split Surfaces, surfaces, tags, textures, transparent, triangulated, units,
UV, Verify, vertex groups, warnings, weapons, weights
"""
"""What a reader may look for: the pages in the zip have no search."""
MOST_SECTIONS = 4  # of a keyword

STYLE = """
:root { color-scheme: light dark; }
body { margin: 0 auto; max-width: 54em; padding: 1em; font: 16px/1.5 system-ui, sans-serif; }
nav { border-bottom: 1px solid gray; padding-bottom: .5em; }
nav a { margin-right: 1em; white-space: nowrap; }
img { max-width: 100%; }
table { border-collapse: collapse; }
th, td { border: 1px solid gray; padding: .2em .5em; text-align: left; vertical-align: top; }
pre { overflow-x: auto; padding: .5em; border: 1px solid gray; }
"""

PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>{title} - id Tech Models</title>
<link rel="stylesheet" href="{up}style.css">
</head>
<body>
<nav>
{links}
</nav>
{body}
</body>
</html>
"""


class _ShippedTargets(Treeprocessor):
    """Turns links to other pages into links to their HTML, and removes targets that are not part of the zip."""

    def __init__(self, parser: Markdown, folder: Path, pictures: set[str]) -> None:
        super().__init__(parser)
        self.folder = folder
        self.pictures = pictures

    def run(self, root: Any) -> None:
        """Changes the links and pictures of a page."""
        for parent in list(root.iter()):
            for element in list(parent):
                if element.tag == "a":
                    self._link(element)
                elif element.tag == "img" and not self._picture(element.get("src", "")):
                    parent.remove(element)

    def _link(self, element: Any) -> None:
        address = urlsplit(element.get("href", ""))
        if address.scheme or not address.path:
            return
        name = _within_docs(self.folder, address.path).removesuffix(".md")
        if name in PAGES:
            path = address.path.removesuffix(".md") + ".html"
            element.set("href", path + (f"#{address.fragment}" if address.fragment else ""))
        else:
            element.tag = "span"
            element.attrib.clear()

    def _picture(self, path: str) -> bool:
        """Whether a picture is part of the zip."""
        name = _within_docs(self.folder, path)
        if (DOCS / name).stat().st_size > LARGEST_PICTURE:
            return False
        self.pictures.add(name)
        return True


class _ShippedTargetsExtension(Extension):
    def __init__(self, folder: Path, pictures: set[str]) -> None:
        super().__init__()
        self.folder = folder
        self.pictures = pictures

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802 # Markdown's name
        # After the inline processor, which makes the links and has priority 20.
        md.treeprocessors.register(_ShippedTargets(md, self.folder, self.pictures), "shipped_targets", 5)


def _within_docs(folder: Path, path: str) -> str:
    """A path relative to a page's folder as one relative to docs/."""
    return Path(os.path.normpath(folder / path)).relative_to(DOCS).as_posix()


def body(name: str, pictures: set[str]) -> str:
    """The content of a page as HTML.

    Args:
        name: without suffix, relative to docs/.
        pictures: receives the pictures of the page, as paths relative to docs/.
    """
    source = DOCS / f"{name}.md"
    parser = Markdown(extensions=["tables", "fenced_code", "toc", _ShippedTargetsExtension(source.parent, pictures)])
    return parser.convert(source.read_text(encoding="utf-8"))


def page(name: str, title: str, content: str) -> str:
    """A whole page, with the links to the others."""
    up = "../" * name.count("/")
    shown = {**PAGES, "keywords": "Keywords"}
    links = "\n".join(f'<a href="{up}{other}.html">{html.escape(label)}</a>' for other, label in shown.items())
    return PAGE.format(title=html.escape(title), up=up, links=links, body=content)


def keywords(bodies: dict[str, str]) -> str:
    """The index of keywords: the sections that have a keyword in their heading, then those that have it most often."""
    section = re.compile(r'<h([123]) id="([^"]+)">(.*?)</h[123]>(.*?)(?=<h[123] |\Z)', re.DOTALL)
    sections = []
    for name, content in bodies.items():
        for level, anchor, heading, text in section.findall(content):
            title = PAGES[name] if level == "1" else f"{PAGES[name]}: {_plain(heading)}"
            sections.append((f"{name}.html#{anchor}", title, _plain(heading), _plain(text)))
    lines = []
    for keyword in re.split(r",\s", KEYWORDS.strip()):
        word = re.compile(rf"\b{re.escape(keyword.removesuffix('s'))}s?\b", re.IGNORECASE)
        ranked = sorted(sections, key=lambda one: (-len(word.findall(one[2])), -len(word.findall(one[3]))))
        found = [one for one in ranked if word.search(one[2]) or word.search(one[3])][:MOST_SECTIONS]
        links = "<br>".join(f'<a href="{address}">{html.escape(title)}</a>' for address, title, _, _ in found)
        if links:
            lines.append(f"<dt>{html.escape(keyword)}</dt>\n<dd>{links}</dd>")
    return "<h1>Keywords</h1>\n<dl>\n" + "\n".join(lines) + "\n</dl>"


def _plain(text: str) -> str:
    """The text of HTML without its tags."""
    return html.unescape(re.sub(r"<[^>]+>", "", text))


def build(folder: Path = HELP) -> None:
    """Writes all pages, their pictures and the style sheet; what was in the folder before is removed."""
    shutil.rmtree(folder, ignore_errors=True)
    pictures: set[str] = set()
    bodies = {name: body(name, pictures) for name in PAGES}
    written = {name: page(name, PAGES[name], content) for name, content in bodies.items()}
    for name, content in {**written, "keywords": page("keywords", "Keywords", keywords(bodies))}.items():
        target = folder / f"{name}.html"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(content, encoding="utf-8")
    for picture in sorted(pictures):
        target = folder / picture
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(DOCS / picture, target)
    (folder / "style.css").write_text(STYLE.lstrip(), encoding="utf-8")


if __name__ == "__main__":
    build(Path(sys.argv[1]) if len(sys.argv) > 1 else HELP)
