"""Records: what an import stores on data-blocks in a property group of its family, to restore it on export.

Anyone can edit custom properties: reading gives a valid value or None. Whether it still holds is for exporters to ask.
"""

from __future__ import annotations

import json
import sys
import types
from collections.abc import Sequence
from dataclasses import KW_ONLY, asdict, dataclass, field, is_dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar, Union, cast, get_args, get_origin, get_type_hints

import numpy as np
import numpy.typing as npt

from ..io_common.names import without_copy_suffix
from .scene.axes import Conversion

if TYPE_CHECKING:
    from bpy.types import ID, Image, Material

Value = TypeVar("Value")
LARGEST = float(np.finfo(np.float32).max)  # larger numbers fit neither into Blender nor into the files
_LARGEST_INTEGER = 2**31 - 1
_LONGEST_TEXT = 1024  # in a list
_ROTATION_TOLERANCE = 1e-4


def read_group(owner: Any, name: str) -> Any:
    """The property group of that name, empty if there is none; the owner itself for an empty name."""
    group = owner.get(name) if name else owner
    return group if not name or hasattr(group, "to_dict") else {}


def group_on(owner: Any, name: str) -> Any:
    """The same, but created if there is none; a value of another kind is replaced."""
    if not name:
        return owner
    if not hasattr(owner.get(name), "to_dict"):
        owner[name] = {}
    return owner[name]


def has_record(owner: Any, group: str) -> bool:
    """Whether something is stored for the files of a family; the owner may be None."""
    return owner is not None and bool(read_group(owner, group))


@dataclass(eq=False)
class Field(Generic[Value]):
    """A value in a property group; the group is empty for a custom property of the owner itself."""

    group: str
    key: str

    def read(self, owner: Any) -> Value | None:
        """The stored value; None if there is none, or it is not valid."""
        return self._decode(read_group(owner, self.group).get(self.key))

    def write(self, owner: Any, value: Value | None) -> None:
        """Stores a value; None removes it."""
        # Blender writes an array into one that is there, even beyond its end.
        if self.is_stored(owner):
            del read_group(owner, self.group)[self.key]
        if value is not None:
            group_on(owner, self.group)[self.key] = self._encode(value)

    def is_stored(self, owner: Any) -> bool:
        """Whether there is a value, valid or not."""
        return self.key in read_group(owner, self.group)

    def _decode(self, value: Any) -> Value | None:
        raise NotImplementedError

    def _encode(self, value: Value) -> Any:
        return value


@dataclass(eq=False)
class Integer(Field[int]):
    """An integer within limits."""

    lowest: int = 0
    highest: int = _LARGEST_INTEGER

    def _decode(self, value: Any) -> int | None:
        return value if type(value) is int and self.lowest <= value <= self.highest else None


@dataclass(eq=False)
class Number(Field[float]):
    """A number within limits; NaN is not valid."""

    lowest: float
    highest: float

    def _decode(self, value: Any) -> float | None:
        is_valid = type(value) in (int, float) and self.lowest <= value <= self.highest
        return float(value) if is_valid else None

    def _encode(self, value: float) -> float:
        return float(value)


@dataclass(eq=False)
class Text(Field[str]):
    """A text of a file, by default quotable on one line; what is not UTF-8 is stored as bytes."""

    is_quoted: bool = field(default=True, kw_only=True)

    def _decode(self, value: Any) -> str | None:
        if isinstance(value, bytes):
            value = value.decode("utf-8", "surrogateescape")
        return value if isinstance(value, str) and (not self.is_quoted or is_quotable(value)) else None

    def _encode(self, value: str) -> str | bytes:
        data = value.encode("utf-8", "surrogateescape")
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError:
            return data


def is_quotable(text: str) -> bool:
    """Whether a text could stand between double quotes on one line."""
    return '"' not in text and not any(letter < " " and letter != "\t" for letter in text)


class Name(Text):
    """The name in a file, which holds until the item is renamed in Blender."""

    @property
    def _shown_key(self) -> str:
        return f"{self.key}_shown"

    def store(self, owner: Any, name: str, shown: str) -> None:
        """Stores a name, and the one in Blender."""
        self.write(owner, name)
        group_on(owner, self.group)[self._shown_key] = shown

    def change(self, owner: Any, name: str, shown: str) -> None:
        """Stores another name, without what cannot be quoted; an empty one stands for the name in Blender."""
        fit = "".join(letter for letter in name if is_quotable(letter)).strip()
        if fit:
            self.store(owner, fit, shown)
            return
        for key in (self.key, self._shown_key):
            read_group(owner, self.group).pop(key, None)

    def current(self, owner: Any, shown: str) -> str:
        """The stored name, or that in Blender if none is stored or the item was renamed since."""
        stored = self.read(owner)
        before = read_group(owner, self.group).get(self._shown_key, shown)
        if stored is None or not isinstance(before, str):
            return shown
        is_same = shown in (before, without_copy_suffix(before)) or without_copy_suffix(shown) == before
        # Both have a number from Blender, unless the name in the file has one.
        is_same = is_same or without_copy_suffix(shown) == without_copy_suffix(before) == stored
        return stored if is_same else shown


@dataclass(eq=False)
class Table(Field[npt.NDArray[Any]]):
    """Rows of numbers within limits, (n, `width`); `highest` None allows even NaN."""

    dtype: str
    width: int = 1
    _: KW_ONLY
    rows: int | None = None
    lowest: float | None = None
    highest: float | None = LARGEST

    def read_rows(self, owner: Any) -> npt.NDArray[Any] | None:
        """The stored table, without rows if there is none; None if it is not valid."""
        return self.read(owner) if self.is_stored(owner) else np.zeros((0, self.width), self.dtype)

    def _decode(self, value: Any) -> npt.NDArray[Any] | None:
        kinds = "fd" if np.dtype(self.dtype).kind == "f" else "i"
        return self._valid(np.array(value)) if getattr(value, "typecode", "-") in kinds else None

    def _encode(self, value: npt.ArrayLike) -> Any:
        return np.ascontiguousarray(value, dtype=self.dtype).ravel()

    def _valid(self, numbers: npt.NDArray[Any]) -> npt.NDArray[Any] | None:
        if len(numbers) % self.width or self.rows not in (None, len(numbers) // self.width):
            return None
        if self.highest is not None:
            lowest = -self.highest if self.lowest is None else self.lowest
            if not ((numbers >= lowest) & (numbers <= self.highest)).all():
                return None
        return numbers.astype(self.dtype, copy=False).reshape(-1, self.width)


class Bytes(Table):
    """The same, stored as bytes."""

    def _decode(self, value: Any) -> npt.NDArray[Any] | None:
        if not isinstance(value, bytes) or len(value) % np.dtype(self.dtype).itemsize:
            return None
        return self._valid(np.frombuffer(value, self.dtype))

    def _encode(self, value: npt.ArrayLike) -> bytes:
        return super()._encode(value).tobytes()


class Texts(Field[list[str]]):
    """A list of texts, none very long."""

    def _decode(self, value: Any) -> list[str] | None:
        # Blender reads an empty list as an array without elements.
        if isinstance(value, str | bytes) or not hasattr(value, "__len__"):
            return None
        texts = list(value)
        is_valid = all(isinstance(text, str) and len(text) <= _LONGEST_TEXT for text in texts)
        return texts if is_valid else None


@dataclass(eq=False)
class Pointer(Field[Any]):
    """A data-block of a type, such as "Object"; it stays in the .blend file while something points at it."""

    kind: str

    def _decode(self, value: Any) -> Any:
        return value if getattr(getattr(value, "bl_rna", None), "identifier", "") == self.kind else None


@dataclass(eq=False)
class Json(Field[Value]):
    """A frozen dataclass as JSON."""

    kind: type[Value]

    def _decode(self, value: Any) -> Value | None:
        try:
            return cast("Value", _from_json(self.kind, json.loads(value))) if isinstance(value, str) else None
        except (TypeError, ValueError, RecursionError):
            return None

    def _encode(self, value: Any) -> str:
        return json.dumps(asdict(value))


def _from_json(kind: Any, value: Any) -> Any:
    """A value of JSON as a type, with defaults. Raises TypeError or ValueError if it does not fit."""
    origin, kinds = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        if value is None and type(None) in kinds:
            return None
        return _from_json(next(one for one in kinds if one is not type(None)), value)
    if isinstance(kind, type) and is_dataclass(kind) and isinstance(value, dict):
        hints = get_type_hints(kind)
        return kind(**{name: _from_json(hints[name], value[name]) for name in hints.keys() & value.keys()})
    if origin is tuple and isinstance(value, list):
        kinds = kinds[:1] * len(value) if kinds[-1] is Ellipsis else kinds
        return tuple(_from_json(one, item) for one, item in zip(kinds, value, strict=True))
    # This is false for NaN too, and `math.isfinite` fails for integers beyond the range of a float.
    if kind is float and type(value) in (int, float) and abs(value) <= sys.float_info.max:
        return float(value)
    if kind is not float and type(value) is kind:
        return value
    raise TypeError(f"{type(value).__name__} instead of {kind}")


@dataclass(eq=False)
class ConversionField(Field[Conversion]):
    """The scale and axes of an import, under two keys."""

    key: str = "global_scale"

    def __post_init__(self) -> None:
        # Imports take from 1e-6 to 1e6, in 32 bits.
        self._scale = Number(self.group, self.key, 0.9e-6, 1.1e6)
        self._axes = Table(self.group, "axes", "f8", 9, rows=1)

    def read(self, owner: Any) -> Conversion | None:
        """The stored scale and axes; None if they are missing or not valid."""
        scale, axes = self._scale.read(owner), self._axes.read(owner)
        if scale is None or axes is None:
            return None
        rotation = axes.reshape(3, 3)
        error = np.abs(rotation @ rotation.T - np.eye(3)).max()
        is_rotation = error <= _ROTATION_TOLERANCE and np.linalg.det(rotation) > 0.0
        return Conversion(scale, rotation) if is_rotation else None

    def write(self, owner: Any, value: Conversion | None) -> None:
        """Stores scale and axes; None removes them."""
        self._scale.write(owner, value and value.scale)
        self._axes.write(owner, None if value is None else value.rotation)


material_records: list[MaterialRecord] = []  # those of all families


class MaterialRecord:
    """What a family stores on materials and images."""

    def __init__(self, group: str, name: str, *, names_are_images: bool = False) -> None:
        # Whether the name in files is the path of an image with its extension.
        self.group, self.names_are_images = group, names_are_images
        self.name = Name(group, name, is_quoted=False)
        # The file found for it, empty if none was; None if none was looked for.
        self.image = Text(group, "image", is_quoted=False)
        self.game_folder = Text(group, "game_folder", is_quoted=False)  # that this file is in
        self.model = Text(group, "model")  # the file of the model for which it was made
        # The names of its images that were not found, and the places where they were looked for, each on a line.
        self.missing = Text(group, "missing", is_quoted=False)
        self.looked_in = Text(group, "looked_in", is_quoted=False)
        self.file = Text(group, "file", is_quoted=False)  # of an image: what it was packed from
        material_records.append(self)

    def is_renamed(self, material: Material) -> bool:
        """Whether a material that has a name of the file was renamed since."""
        return self.name.current(material, material.name) != self.name.read(material)


def is_named_by_import(material: Material) -> bool:
    """Whether a material has the name that an import of any family gave it."""
    return any(
        record.name.read(material) is not None and not record.is_renamed(material) for record in material_records
    )


def read_game_folder(material: Material) -> str:
    """The game folder of the image that an import found for a material; empty if there is none."""
    return next(filter(None, (record.game_folder.read(material) for record in material_records)), "")


def read_file(image: Image) -> str:
    """The file that an import of any family packed an image from; empty if there is none."""
    return next(filter(None, (record.file.read(image) for record in material_records)), "")


WARNINGS, FACTS = "import_warnings", "import_facts"
_MOST_WARNINGS, _LONGEST_WARNING = 200, 2000


def store_warnings(data: ID, group: str, warnings: Sequence[str], facts: Sequence[str]) -> None:
    """Stores what an import told instead of an earlier one's, but not on linked data-blocks."""
    if data.library is None and not (data.override_library and data.override_library.is_system_override):
        for key, texts in ((WARNINGS, warnings), (FACTS, facts)):
            lines = [" ".join(text.split())[:_LONGEST_WARNING] for text in texts[:_MOST_WARNINGS]]
            text = "\n".join(lines).encode("utf-8", "replace").decode("utf-8")
            Text(group, key, is_quoted=False).write(data, text if lines else None)


def load_warnings(data: ID, group: str, key: str) -> list[str]:
    """The WARNINGS or FACTS that `store_warnings` stored; none if there are none, or they are not valid."""
    text = Text(group, key, is_quoted=False).read(data)
    return [] if text is None else [line[:_LONGEST_WARNING] for line in text.split("\n")[:_MOST_WARNINGS]]


@dataclass(frozen=True, eq=False)
class SourceFrames:
    """The frames of an imported model."""

    frame_names: list[str]  # in the file
    key_names: list[str]  # of each frame's shape key in Blender; empty if none were made
    frame_start: int  # in the scene
    sequence_names: list[str]  # for which the import made markers


# Import numbers vertices and corners in an integer attribute. Modifiers and edits copy the numbers along with the
# elements, so several elements may bear the same one, and new ones bear 0.

NONE = -1  # stands for an element that is not in the file


def match_vertices(numbers: npt.NDArray[np.int32] | None, count: int, source_count: int) -> npt.NDArray[np.int32]:
    """The vertex of the file of each vertex of a mesh, or NONE, int32 (V,); each is matched at most once."""
    # Of several with the same number the first one is the original: Blender puts copies after it. The
    # attribute `numbers` is ignored unless it has V = `count` values.
    result = np.full(count, NONE, dtype=np.int32)
    values, firsts = np.unique(match_elements(numbers, count, source_count), return_index=True)
    result[firsts] = values
    return result


def match_elements(numbers: npt.NDArray[np.int32] | None, count: int, source_count: int) -> npt.NDArray[np.int32]:
    """The same, but several may share one of the file."""
    if numbers is None or len(numbers) != count:
        return np.full(count, NONE, dtype=np.int32)
    return np.where((numbers >= 0) & (numbers < source_count), numbers, NONE).astype(np.int32)
