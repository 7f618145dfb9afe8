"""A Blender that converts files for another one, where Blender is a Python module: that enables no add-ons and has no
command line. Started as a script, with the name of the extension and the arguments of its command."""

from __future__ import annotations

import importlib
import signal
import sys

import bpy

if __name__ == "__main__":
    bpy.ops.preferences.addon_enable(module=sys.argv[1])
    command = importlib.import_module(f"{sys.argv[1]}.command_line.command")
    command.main(sys.argv[2:])
    command.end_process(signal.SIGTERM)
