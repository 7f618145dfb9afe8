"""MD3 files: reading, writing and description.

Every count and offset is checked against the size of the file, or of the surface, before anything is read. What would
index outside of them is refused; what real files have and can be understood is read with a warning.
"""

from __future__ import annotations

import struct
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...io_common.arrays import MAX_INT32, encode_names
from ...io_common.binary import INCOMPLETE, BinaryReader, write_contents
from ...io_common.files import Source, Target, read_source
from ...io_common.frames import FRAME_NAME_SIZE
from ...io_common.rules import Description, box_line, box_of, describe_findings, game_named
from ...io_common.texts import counted
from . import model as md3
from .games import Game, check_model
from .model import Md3Error, Model, Surface

_HEADER = struct.Struct(f"<4si{md3.NAME_SIZE}s9i")
_FIELDS = (
    "flags", "num_frames", "num_tags", "num_surfaces", "num_skins", "ofs_frames", "ofs_tags", "ofs_surfaces", "ofs_end",
)  # fmt: skip
_SURFACE = struct.Struct(f"<4s{md3.NAME_SIZE}s10i")
_SURFACE_FIELDS = (
    "flags", "num_frames", "num_shaders", "num_vertices", "num_triangles", "ofs_triangles", "ofs_shaders", "ofs_st",
    "ofs_vertices", "ofs_end",
)  # fmt: skip
# Where each field is in its header, at whose end they are.
_PLACES = dict(zip(_FIELDS, range(_HEADER.size - 4 * len(_FIELDS), _HEADER.size, 4), strict=True))
_SURFACE_PLACES = dict(
    zip(_SURFACE_FIELDS, range(_SURFACE.size - 4 * len(_SURFACE_FIELDS), _SURFACE.size, 4), strict=True)
)


def read_model(source: Source, name: str = "", *, preserve: bool = False) -> Model:
    """Reads a model from a file; for arguments, results and errors see ``io_md2.format.read_model``.

    It raises Md3Error if the file is not an MD3 model or is damaged.
    """
    return parse_model(*read_source(source, name), preserve=preserve)


def parse_model(data: bytes | bytearray | memoryview, name: str = "", *, preserve: bool = False) -> Model:
    """The model in the bytes of a file, of which ``name`` is the name for messages; see ``read_model``."""
    model = _Reader(bytes(data), name).model()
    model.preserved = bytes(data) if preserve else None
    return model


class _Reader(BinaryReader):
    ERROR = Md3Error

    def model(self) -> Model:
        name, head = self.header()
        count, tags = head["num_frames"], head["num_tags"]
        frames = self.table("frames", head, md3.FRAME_DTYPE, count, 0, len(self.data))
        tag_rows = self.table("tags", head, md3.TAG_DTYPE, count * tags, 0, len(self.data)).reshape(count, tags)
        if tags and (tag_rows["name"] != tag_rows["name"][:1]).any():
            self.warnings.append("The tags of some frames have other names than those of the first frame")
        model = Model(
            name=self.names_in([name], "model names")[0],
            frame_names=self.names_in(frames["name"].tolist(), "frame names"),
            bounds=frames["bounds"].copy(),
            origins=frames["origin"].copy(),
            radii=frames["radius"].copy(),
            tag_names=self.names_in(tag_rows["name"][0].tolist(), "tag names"),
            tag_origins=tag_rows["origin"].copy(),
            tag_axes=tag_rows["axes"].copy(),
            flags=head["flags"],
        )
        offset = head["ofs_surfaces"]
        for number in range(head["num_surfaces"]):
            surface, offset = self.surface(number, offset, count, is_last=number + 1 == head["num_surfaces"])
            model.surfaces.append(surface)
        if head["ofs_end"] != len(self.data):
            self.warnings.append(f"ofs_end is {head['ofs_end']}, the file has {len(self.data)} bytes")
        if not (np.isfinite(model.tag_origins).all() and np.isfinite(model.tag_axes).all()):
            self.warnings.append("Some tags have no finite position")
        model.warnings = list(dict.fromkeys(self.warnings))
        return model

    def header(self) -> tuple[bytes, dict[str, int]]:
        self.check_start(md3.MAGIC, _HEADER.size, "an MD3 model")
        _, version, name, *values = _HEADER.unpack_from(self.data)
        if version != md3.VERSION:
            raise self.error("unknown version of MD3", 4, version, md3.VERSION)
        head = dict(zip(_FIELDS, values, strict=True))
        for field, place in _PLACES.items():
            # ofs_end is not needed, skins are not used, and flags are bits.
            if head[field] < 0 and field not in ("flags", "num_skins", "ofs_end"):
                raise self.error(f"negative {field}", place, head[field], "0 or more")
        if head["num_frames"] == 0:
            raise self.error("the model has no frames", _PLACES["num_frames"], 0, "1 or more")
        return name, head

    def surface(self, number: int, start: int, frames: int, *, is_last: bool) -> tuple[Surface, int]:
        data, size = self.data, len(self.data)
        if start + _SURFACE.size > size:
            raise self.error(f"{INCOMPLETE}: surface {number} does not fit", start, size, start + _SURFACE.size)
        ident, name, *values = _SURFACE.unpack_from(data, start)
        head = dict(zip(_SURFACE_FIELDS, values, strict=True))
        if ident != md3.MAGIC:
            self.warnings.append(f"Surface {number} begins with {ident!r} instead of 'IDP3'")
        for field, place in _SURFACE_PLACES.items():
            # Nothing follows the last surface.
            if head[field] < 0 and field != "flags" and not (is_last and field == "ofs_end"):
                raise self.error(f"negative {field}", start + place, head[field], "0 or more")
        if head["num_frames"] < frames:
            reason = f"surface {number} has fewer frames than the model"
            raise self.error(reason, start + _SURFACE_PLACES["num_frames"], head["num_frames"], frames)
        if head["num_frames"] > frames:
            extra = counted(head["num_frames"] - frames, "frames", "were")
            self.warnings.append(f"{extra} left out that surface {number} has beyond those of the model")
        # Sections of a surface lie before the next one, so that all of them together are no larger than the file.
        end = size if is_last else start + head["ofs_end"]
        if not is_last and not _SURFACE.size <= head["ofs_end"] <= size - start:
            reason, expected = (f"{INCOMPLETE}: surface {number} does not fit", f"{_SURFACE.size} to {size - start}")
            raise self.error(reason, start + _SURFACE_PLACES["ofs_end"], head["ofs_end"], expected)
        count = head["num_vertices"]
        triangles = self.table("triangles", head, np.dtype(("<i4", 3)), head["num_triangles"], start, end)
        shaders = self.table("shaders", head, md3.SHADER_DTYPE, head["num_shaders"], start, end)
        st = self.table("st", head, np.dtype(("<f4", 2)), count, start, end)
        rows = self.table("vertices", head, md3.VERTEX_DTYPE, head["num_frames"] * count, start, end)
        bad = np.flatnonzero(((triangles < 0) | (triangles >= count)).ravel())
        if len(bad):
            place = start + head["ofs_triangles"] + 4 * int(bad[0])
            reason = f"triangle {bad[0] // 3} of surface {number} uses a vertex that does not exist"
            raise self.error(reason, place, triangles.ravel()[bad[0]], f"an index below {count}")
        rows = rows[: frames * count].reshape(frames, count)
        surface = Surface(
            name=self.names_in([name], "surface names")[0],
            shaders=self.names_in(shaders["name"].tolist(), "shader names"),
            triangles=triangles.astype(np.int32),
            st=st.astype(np.float32),
            vertices=rows["position"].astype(np.int16),
            normals=rows["normal"].copy(),
            flags=head["flags"],
        )
        return surface, start + head["ofs_end"]

    def table(
        self, name: str, head: dict[str, int], dtype: np.dtype[Any], count: int, start: int, end: int
    ) -> NDArray[Any]:
        """The rows of a section of the file or of a surface."""
        return self.rows(name, dtype, count, start + head[f"ofs_{name}"], start, end)


def write_model(model: Model, target: Target) -> None:
    """Writes a file to a path or a binary file object; raises as ``format_model``, OSError or TypeError."""
    write_contents(model, target, format_model)


def format_model(model: Model) -> bytes:
    """The bytes of the file of a model; ``parse_model`` returns an equal one.

    Raises Md3Error if the model is not valid; limits of games are checked by ``check_model``.
    """
    md3.validate_model(model)
    if model.preserved is not None and parse_model(model.preserved) == model:
        return model.preserved
    frames = np.zeros(model.frame_count, md3.FRAME_DTYPE)
    frames["bounds"], frames["origin"], frames["radius"] = model.bounds, model.origins, model.radii
    frames["name"] = encode_names(model.frame_names, FRAME_NAME_SIZE)
    tags = np.zeros((model.frame_count, len(model.tag_names)), md3.TAG_DTYPE)
    tags["name"] = encode_names(model.tag_names, md3.NAME_SIZE)
    tags["origin"], tags["axes"] = model.tag_origins, model.tag_axes
    parts = [frames.tobytes(), tags.tobytes(), *(_format_surface(one, model.frame_count) for one in model.surfaces)]
    offsets = list(accumulate(map(len, parts), initial=_HEADER.size))
    if offsets[-1] > MAX_INT32:
        raise Md3Error("the file would be too large", found=f"{offsets[-1]} bytes", expected=str(MAX_INT32))
    counts = model.frame_count, len(model.tag_names), len(model.surfaces), 0
    name = encode_names([model.name], md3.NAME_SIZE).tobytes()
    head = _HEADER.pack(md3.MAGIC, md3.VERSION, name, model.flags, *counts, *offsets[:3], offsets[-1])
    return b"".join([head, *parts])


def _format_surface(surface: Surface, frame_count: int) -> bytes:
    shaders = np.zeros(len(surface.shaders), md3.SHADER_DTYPE)
    shaders["name"] = encode_names(surface.shaders, md3.NAME_SIZE)
    shaders["index"] = np.arange(len(shaders))
    rows = np.zeros(surface.vertices.shape[:2], md3.VERTEX_DTYPE)
    rows["position"], rows["normal"] = surface.vertices, surface.normals
    tables = (shaders, surface.triangles.astype("<i4"), surface.st.astype("<f4"), rows)
    offsets = accumulate((table.nbytes for table in tables), initial=_SURFACE.size)
    of_shaders, of_triangles, of_st, of_vertices, end = offsets
    head = _SURFACE.pack(
        md3.MAGIC, encode_names([surface.name], md3.NAME_SIZE).tobytes(), surface.flags, frame_count, len(shaders),
        surface.vertex_count, surface.triangle_count, of_triangles, of_shaders, of_st, of_vertices, end,
    )  # fmt: skip
    return b"".join([head, *(table.tobytes() for table in tables)])


def describe(source: Source | Model, game: str = "", name: str = "") -> Description:
    """Describes an .md3 file or a model; see ``io_md2.format.describe``. Raises Md3Error or OSError."""
    model = source if isinstance(source, Model) else read_model(source, name)
    md3.validate_model(model)
    points = [md3.positions(surface.vertices).reshape(-1, 3) for surface in model.surfaces]
    surfaces = [
        {"name": one.name, "shaders": one.shaders, "vertices": one.vertex_count, "triangles": one.triangle_count}
        for one in model.surfaces
    ]
    facts: dict[str, Any] = {
        "kind": "md3",
        "frames": model.frame_count,
        "seconds": model.frame_count / md3.FRAMES_PER_SECOND,
        "vertices": model.vertex_count,
        "triangles": model.triangle_count,
        "surfaces": surfaces,
        "tags": model.tag_names,
        "box": box_of(np.concatenate([np.zeros((0, 3)), *points])),
        "warnings": list(dict.fromkeys([*model.warnings, *(str(finding) for finding in check_model(model))])),
    }
    lines = [
        "MD3 model",
        ", ".join(counted(facts[what], what) for what in ("frames", "vertices", "triangles")),
        *(
            f"surface {surface.name!r}: {counted(surface.vertex_count, 'vertices')}, "
            f"{counted(surface.triangle_count, 'triangles')}, {', '.join(surface.shaders) or 'no shader'}"
            for surface in model.surfaces
        ),
        *([f"tags: {', '.join(model.tag_names)}"] if model.tag_names else []),
        *box_line(facts["box"]),
    ]
    return describe_findings(facts, lines, game, check_model(model, game_named(Game, game)) if game else None)
