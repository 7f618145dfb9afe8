"""What drivers inside Blender share: areas of the window, the mouse and keyboard, pictures, and the end."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import traceback
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import bpy
import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

from labels import drawn, note_labels

PLAN = json.loads(Path(sys.argv[sys.argv.index("--") + 1]).read_text(encoding="utf-8"))
"""What the test asks for: ``folder`` takes pictures and results."""

FOLDER = Path(PLAN["folder"])
EXTENSION = "bl_ext.user_default.io_idtech"
HEIGHT = 800
results: dict[str, Any] = {"pictures": {}, "labels": {}}


def area(kind: str) -> bpy.types.Area:
    """The largest area of a kind."""
    window = bpy.context.window_manager.windows[0]
    found = [found for found in window.screen.areas if found.type == kind]
    return max(found, key=lambda place: place.width * place.height)


def within(kind: str) -> Any:
    """Lets operators act in the largest area of a kind."""
    place = area(kind)
    region = next(found for found in place.regions if found.type == "WINDOW")
    window = bpy.context.window_manager.windows[0]
    return bpy.context.temp_override(window=window, area=place, region=region)


def show_tab(name: str) -> Iterator[float]:
    """Opens a tab in the sidebar of the 3D viewport."""
    view = area("VIEW_3D")
    view.spaces.active.show_region_ui = True
    yield 2.0
    next(region for region in view.regions if region.type == "UI").active_panel_category = name
    view.tag_redraw()
    yield 2.0


def xdotool(*words: object) -> None:
    """Moves the mouse, clicks and types."""
    subprocess.run(["xdotool", *map(str, words)], check=True)


def click(x: float, y: float) -> None:
    """Clicks a pixel of the picture, counted from the upper left corner."""
    xdotool("mousemove", round(x), round(y))
    xdotool("click", 1)


def take(name: str) -> dict[str, float]:
    """Saves the screen and says what is on it: how many colors, and the share of vivid red as the sample has it."""
    path = FOLDER / f"{name}.png"
    subprocess.run(["import", "-window", "root", str(path)], check=True)
    image = bpy.data.images.load(str(path))
    pixels = np.empty(len(image.pixels), np.float32)
    image.pixels.foreach_get(pixels)
    pixels = pixels.reshape(-1, image.channels)[:, :3]
    bpy.data.images.remove(image)
    red = (pixels[:, 0] > 0.5) & (pixels[:, 0] > 1.5 * pixels[:, 1]) & (pixels[:, 0] > 1.5 * pixels[:, 2])
    found = {"colors": len(np.unique((pixels[::7] * 255).astype(int), axis=0)), "red": float(red.mean())}
    results["pictures"][name] = found
    results["labels"][name] = dict(drawn)
    drawn.clear()
    return found


def shrink() -> None:
    """The pictures as pages show them."""
    for name, crop in PLAN["crops"].items():
        subprocess.run(
            ["convert", str(FOLDER / f"{name}.png"), "-crop", crop, "+repage", "-strip", "-resize", "960x>",
             "-dither", "None", "-colors", "255", str(FOLDER / "pages" / f"{name}.png")],
            check=True,
        )  # fmt: skip


def drive(steps: Iterator[float]) -> None:
    """Runs steps that yield how many seconds to wait, writes down the results, and ends Blender."""

    def run() -> float | None:
        try:
            return next(steps)
        except StopIteration:
            shrink()
        except Exception:
            results["error"] = traceback.format_exc()
            take("error")
        (FOLDER / "results.json").write_text(json.dumps(results, indent=1), encoding="utf-8")
        os._exit(0)

    view = bpy.context.preferences.view
    view.show_splash = False
    view.show_tooltips = False
    view.filebrowser_display_type = "SCREEN"
    addon_utils = import_module("addon_utils")
    addon_utils.extensions_refresh(ensure_wheels=False)
    addon_utils.enable(EXTENSION, default_set=True)
    note_labels(EXTENSION)
    bpy.app.timers.register(run, first_interval=1.0)
