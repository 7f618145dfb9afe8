"""Run by a Blender of its own: converts the files that standard input names, one after the other."""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import sys
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

MARK = "io_idtech outcome: "
"""What the lines begin with that are meant for the process that started this one."""

_ROOT = Path(__file__).resolve().parent.parent
_PACKAGE = "io_idtech_at_work"


def work() -> None:
    """Converts until there is no more input."""
    # The extension need not be enabled here, nor be where extensions are.
    spec = importlib.util.spec_from_file_location(
        _PACKAGE, _ROOT / "__init__.py", submodule_search_locations=[str(_ROOT)]
    )
    assert spec is not None
    assert spec.loader is not None
    sys.modules[_PACKAGE] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sys.modules[_PACKAGE])
    room = f"{_PACKAGE}.command_line"
    settings = importlib.import_module(f"{room}.settings")
    records = importlib.import_module(f"{room}.record")
    convert = importlib.import_module(f"{room}.convert").convert
    version = importlib.import_module(f"{_PACKAGE}.io_common.manifest").version()
    stopping = importlib.import_module(f"{room}.stopping")
    with suppress(KeyboardInterrupt), stopping.stoppable() as stop:
        for line in sys.stdin:
            given = json.loads(line)
            how = settings.Settings.from_plain(given["settings"])
            kept = records.Records(Path(given["out"]), how, version)
            outcome = convert(settings.Task.from_plain(given["task"]), kept)
            # On a line of its own, whatever Blender printed before.
            print(f"\n{MARK}{json.dumps(asdict(outcome))}", flush=True)
            stop.check()


if __name__ == "__main__":
    import bpy  # noqa: F401 # the module, where this is no Blender yet, before anything of it is asked for

    work()
    sys.stdout.flush()
    # Some versions of Blender as a module hang in the end.
    os._exit(0)
