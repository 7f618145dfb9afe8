"""How much memory an import takes at its peak, each measured in a process of its own.

    python benchmarks/memory.py FILE [ARMATURE.md5mesh]

The resident memory of the process is what counts: before, at its peak (which Linux can set back), and afterwards, once
what was freed has been given back. What stays is the result's own size.
"""

from __future__ import annotations

import ctypes
import gc
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

_CLEAR_PEAK = "5"


@dataclass(frozen=True)
class Peak:
    """Bytes.

    Attributes:
        file: the size of the file.
        result: what stays of the import.
        above: what the peak was above that.
    """

    file: int
    result: int
    above: int


def is_measurable() -> bool:
    """Whether this system tells what is needed."""
    return sys.platform == "linux"


def measure(path: Path, armature: Path | None = None) -> Peak:
    """The memory of importing a file, in a fresh process; an animation wants its armature there."""
    arguments = [sys.executable, __file__, str(path), *([str(armature)] if armature else [])]
    output = subprocess.run(arguments, check=True, capture_output=True, text=True).stdout
    before, peak, after = json.loads(output.splitlines()[-1])
    return Peak(path.stat().st_size, after - before, peak - after)


def _status(field: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024
    raise KeyError(field)


def _give_back() -> None:
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)


def _main(path: str, *armature: str) -> None:
    import bpy
    from extension import load_extension, operator

    load_extension()
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    for name in armature:
        operator(name)()
    _give_back()
    before = _status("VmRSS")
    Path("/proc/self/clear_refs").write_text(_CLEAR_PEAK)
    operator(path)()
    peak = _status("VmHWM")
    _give_back()
    print()
    print(json.dumps([before, peak, _status("VmRSS")]), flush=True)
    os._exit(0)


if __name__ == "__main__":
    _main(*sys.argv[1:])
