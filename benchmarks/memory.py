"""The peak memory of imports, each measured in a separate process.

    python benchmarks/memory.py FILE [ARMATURE.md5mesh]

The resident memory of the process is measured before the import, at its peak (which Linux can reset), and afterwards,
when freed memory has been returned to the system. The difference between after and before is the size of the result.
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
    """The memory of an import, in bytes.

    Attributes:
        file: the size of the file.
        result: the memory that the result uses.
        above: the peak during the import, in addition to the result.
    """

    file: int
    result: int
    above: int


def is_measurable() -> bool:
    """Whether this system has the necessary measurements."""
    return sys.platform == "linux"


def measure(path: Path, armature: Path | None = None) -> Peak:
    """Measures an import in a new process; an animation needs the model with its armature."""
    arguments = [sys.executable, __file__, str(path), *([str(armature)] if armature else [])]
    output = subprocess.run(arguments, check=True, capture_output=True, text=True).stdout
    before, peak, after = json.loads(output.splitlines()[-1])
    return Peak(path.stat().st_size, after - before, peak - after)


def _status(field: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024
    raise KeyError(field)


def _return_freed_memory() -> None:
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)


def _main(path: str, *armature: str) -> None:
    import bpy
    from extension import load_extension, operator

    load_extension()
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    for name in armature:
        operator(name)()
    _return_freed_memory()
    before = _status("VmRSS")
    Path("/proc/self/clear_refs").write_text(_CLEAR_PEAK)
    operator(path)()
    peak = _status("VmHWM")
    _return_freed_memory()
    print()
    print(json.dumps([before, peak, _status("VmRSS")]), flush=True)
    os._exit(0)


if __name__ == "__main__":
    _main(*sys.argv[1:])
