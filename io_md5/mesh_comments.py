"""Names of meshes that stand in comments.

Exporters for Sauerbraten write `// meshes: NAME` into each mesh block, and Sauerbraten's own reader takes the name
from there (`md5.h`): its `md5.cfg` says by these names which image belongs to which mesh.
"""

from __future__ import annotations

import re
from pathlib import Path

from .format.regular_files import read_file

_MARKS = re.compile(rb"^[ \t]*(mesh)[ \t]*\{|//[ \t]*meshes:[ \t]*([^\r\n]*)", re.MULTILINE)


def read_mesh_comments(path: Path, count: int) -> list[str]:
    """The name in the comment of each mesh block, empty where there is none.

    Args:
        path: an md5mesh file.
        count: how many mesh blocks it has; where that is not what is seen here, no name is believed.

    Raises:
        OSError: the file cannot be read.
    """
    found: list[str] = []
    for match in _MARKS.finditer(read_file(path)):
        if match[1] is not None:
            found.append("")
        elif found and not found[-1]:
            found[-1] = match[2].decode("utf-8", "replace").strip()
    return found if len(found) == count else [""] * count
