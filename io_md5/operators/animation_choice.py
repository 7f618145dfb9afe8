"""The list of animations in the panel of the import, with a filter and a check box for each.

It is filled while it is drawn, as Blender does not tell operators that another file was selected. Only heads of files
are read, and each again only if it has changed.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty, StringProperty

from ...io_blender.operators import check_boxes
from ...io_blender.operators.file_operators import draw_wide
from ...io_blender.operators.row_list import RowList
from ...io_blender.reports import listing, printable
from ...io_common.counting import counted
from ...io_common.game_data.paths import readable, stamp
from ...io_common.name_patterns import matches
from ...io_common.textures.budget import Budget
from ..format import Joints, Md5Error, read_animation_header, read_joints
from ..format.model import MESH_SUFFIX
from ..importing.animation_files import AnimationFile, animation_paths, match_file, within_budget
from ..importing.plan import active_skeleton

if TYPE_CHECKING:
    from collections.abc import Callable

    from bpy.types import Context, UILayout

_Head = TypeVar("_Head")

_FITS = (
    ("FULL", "Full", "It has exactly the joints of the model"),
    ("PART", "Part", "It has some joints of the model"),
    ("NONE", "None", "It has no joint of the model, or cannot be read"),
)
_ICONS = {"FULL": "CHECKMARK", "PART": "ERROR", "NONE": "CANCEL"}

_MAX_LISTED = 4096
_CACHE_SIZE = 2 * _MAX_LISTED
_heads: OrderedDict[tuple[Any, ...], Any] = OrderedDict()


class IO_MD5_PG_animation_file(bpy.types.PropertyGroup):
    """An animation that can be chosen for the import."""

    if TYPE_CHECKING:
        name: str
        is_checked: bool
        frame_count: int
        frame_rate: float
        fit: str
        detail: str
    else:
        name: StringProperty(name="Name", description="Name of the file")
        is_checked: BoolProperty(name="Import", description="Import this animation", default=True)
        frame_count: IntProperty(name="Frames", description="Number of frames")
        frame_rate: FloatProperty(name="Frame Rate", description="Frames per second")
        fit: EnumProperty(
            name="Fit", description="How it fits the model or armature", items=_FITS, default="FULL"
        )
        detail: StringProperty(name="Detail", description="Which joints do not fit, or why it cannot be read")


class IO_MD5_UL_animation_files(RowList, bpy.types.UIList):
    """The list of animations to choose from."""

    def draw_row(self, layout: Any, item: Any, index: int) -> None:
        """Draws one animation."""
        del index
        row = layout.row(align=True)
        row.active = item.fit != "NONE"
        box = row.row(align=True)
        box.enabled = item.fit != "NONE"
        box.prop(item, "is_checked", text="")
        row.label(text=Path(item.name).stem, icon=_ICONS[item.fit])
        numbers = row.row()
        numbers.alignment = "RIGHT"
        if item.frame_count:
            numbers.label(text=f"{item.frame_count} @ {item.frame_rate:g}")

    def filter_items(self, context: Context, data: Any, attribute: str) -> Any:
        """The flags of the items: shown are those that the option *Filter* of the operator lets through."""
        del context
        shown = [
            self.bitflag_filter_item if matches(Path(item.name).stem, data.animation_filter) else 0
            for item in getattr(data, attribute)
        ]
        return shown, []

    def draw_filter(self, context: Context, layout: UILayout) -> None:
        """Draws nothing: the filter is an option of the operator."""


def shown_items(operator: Any) -> list[Any]:
    """The animations of the list that pass the filter and can be imported."""
    return [
        item
        for item in operator.animation_list
        if item.fit != "NONE" and matches(Path(item.name).stem, operator.animation_filter)
    ]


def chosen_names(operator: Any) -> tuple[str, ...] | None:
    """The names of the files that are checked; None if the list was never filled."""
    if not len(operator.animation_list) and not operator.listed_for:
        return None
    return tuple(item.name for item in operator.animation_list if item.is_checked)


def draw(layout: UILayout, context: Context, operator: Any, folder: Path, names: Sequence[str]) -> None:
    """Draws the list, its filter and what is active in it; fills it first.

    `folder` and `names` are those of the selected files.
    """
    fill(context, operator, folder, names)
    draw_wide(layout, operator, "animation_filter")
    column: Any = layout.column()
    column.use_property_split = False
    check_boxes.draw_check_boxes(column, operator, "check_animations")
    column.template_list(
        "IO_MD5_UL_animation_files",
        "",
        operator,
        "animation_list",
        operator,
        "active_animation",
        rows=6,
    )
    items = operator.animation_list
    checked = sum(item.is_checked for item in shown_items(operator))
    column.label(text=f"{checked} of {counted(len(items), 'animations')} to import")
    if 0 <= operator.active_animation < len(items) and items[operator.active_animation].detail:
        column.label(text=items[operator.active_animation].detail)


def fill(context: Context, operator: Any, folder: Path, names: Sequence[str]) -> None:
    """Fills the list if another folder, model or armature was chosen, or files of the folder have changed.

    What fits fully is checked at first if there is a model; what the user has checked stays as it is. `folder` and
    `names` are those of the selected files.
    """
    models = sorted({name for name in names if name.lower().endswith(MESH_SUFFIX)})
    active = None if models else active_skeleton(context)
    try:
        state = stamp(folder)
    except OSError:
        state = []
    key = printable(repr((str(folder), models, active.name if active is not None else "", state)))
    if operator.listed_for == key:
        return
    # All but the state of the folder, which is a list at the end.
    is_same = operator.listed_for.rpartition(", [")[0] == key.rpartition(", [")[0]
    checked = {item.name: item.is_checked for item in operator.animation_list} if is_same else {}
    operator.listed_for = key
    operator.animation_list.clear()
    skeletons = [active.joints] if active is not None else _skeletons(folder, models)
    selected = {name.lower() for name in names}
    for found in _files(folder, skeletons):
        if found.path.name.lower() in selected:
            # It is imported anyway.
            continue
        item = operator.animation_list.add()
        item.name = printable(found.path.name)
        item.fit = found.fit.upper()
        item.detail = printable(_detail(found))
        if found.header is not None:
            item.frame_count = min(found.header.frame_count, 2**31 - 1)
            item.frame_rate = found.header.frame_rate
        item.is_checked = checked.get(item.name, found.fit == "full" and bool(models))
    operator.active_animation = min(operator.active_animation, max(len(operator.animation_list) - 1, 0))


def _detail(found: AnimationFile) -> str:
    """What does not fit, in one line."""
    if found.error is not None:
        return str(found.error)
    match = found.match
    if match is None:
        return "Select a model, or make an armature active"
    if match.fit == "none":
        return "It has none of the bones"
    parts = (
        (match.missing, "Not moved"),
        (match.extra, "Without a bone"),
        (match.differing, "Other parent"),
    )
    return "; ".join(f"{label}: {listing(joints, 2)}" for joints, label in parts if joints)


def _skeletons(folder: Path, models: Sequence[str]) -> list[Joints]:
    """The skeletons of the selected models that can be read."""
    found = [_cached(folder / name, read_joints) for name in models]
    return [joints for joints in found if isinstance(joints, Joints)]


def _files(folder: Path, skeletons: Sequence[Joints]) -> list[AnimationFile]:
    """The animations of a folder: first what fits fully, then partly, then the others, each by name."""
    try:
        paths = within_budget(animation_paths(folder)[:_MAX_LISTED], Budget())
    except OSError:
        return []
    order = list(_ICONS)
    return sorted((_file(path, skeletons) for path in paths), key=lambda file: order.index(file.fit.upper()))


def _file(path: Path, skeletons: Sequence[Joints]) -> AnimationFile:
    head = _cached(path, read_animation_header)
    if isinstance(head, Exception):
        return AnimationFile(path, error=head)
    return match_file(path, head, skeletons)


def _cached(path: Path, read: Callable[[Any], _Head]) -> _Head | Md5Error | OSError:
    """What a function reads of a file, or why it cannot; read again if the file has changed."""
    try:
        key = (str(path), read, *stamp(path))
    except OSError as error:
        return error
    if key not in _heads:
        try:
            _heads[key] = read(readable(path))
        except (Md5Error, OSError) as error:
            _heads[key] = error
        while len(_heads) > _CACHE_SIZE:
            _heads.popitem(last=False)
    return _heads[key]
