"""The import of skeletal models, with the list of animations to choose from. The list is filled while it is drawn,
as Blender does not tell operators that another file was selected; of new or changed files only heads are read, and of
each further skeleton one animation."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

import bpy
from bpy.props import CollectionProperty
from bpy.types import Context, Event, UILayout

from ....io_common.game_tree.archives import readable, stamp
from ....io_common.game_tree.files import Budget
from ....io_common.skeletal.formats import SkeletalFormat
from ....io_common.skeletal.model import Joints, SkeletalError
from ....io_common.texts import counted, matches
from ...operators import file_operators, panel_parts, preferences
from ...options import Settings, hidden, option, properties, values_of
from ...reports import ImportResult, Job, finish, listing, printable
from ...scene.axes import Conversion
from ..importing.folder import AnimationFile, animation_paths, read_animations, within_budget
from ..importing.plan import active_skeleton, count_mapped
from ..importing.sources import ImportSkeleton

_Head = TypeVar("_Head")

ImportFiles = Callable[["Context", list[Path], Any], Job[ImportResult]]
"""Imports files with options."""


def loader(
    import_files: ImportFiles, options_type: Callable[..., Any]
) -> Callable[[Context, Path, Settings, Conversion], ImportResult]:
    """What imports a file with its animations on the command line."""

    def load(context: Context, path: Path, settings: Settings, conversion: Conversion) -> ImportResult:
        folder = settings.animation_folder(path)
        options = options_type(
            animations="NONE" if folder is None else "FOLDER",
            animation_folder=folder,
            # Only glTF holds the animations of a file separately.
            sequence_actions=settings.format == "glb",
            use_textures=settings.use_textures,
            game_folders=settings.game_folders,
            joint_map=settings.joint_map,
            conversion=conversion,
        )
        return finish(import_files(context, [path], options))

    return load


_ICONS = {"FULL": "CHECKMARK", "PART": "ERROR", "NONE": "CANCEL"}

_MAX_LISTED = 4096


@properties
class IO_MD5_PG_animation_file(bpy.types.PropertyGroup):
    """An animation that can be chosen for the import."""

    name: str = option("", "Name", "Name of the file")
    is_checked: bool = option(True, "Import", "Import this animation")
    frame_count: int = option(0, "Frames", "Number of frames")
    frame_rate: float = option(0.0, "Frame Rate", "Frames per second")
    fit: str = option("FULL", "Fit", "How its joints fit the model or armature: FULL, PART or NONE")
    detail: str = option("", "Detail", "Which joints do not fit, or why it cannot be read")


class IO_MD5_UL_animation_files(panel_parts.FilteredList, bpy.types.UIList):
    """The list of animations to choose from."""

    def draw_row(self, layout: Any, item: Any, index: int) -> None:
        row = layout.row(align=True)
        row.active = item.fit != "NONE"
        box = row.row(align=True)
        box.enabled = item.fit != "NONE"
        box.prop(item, "is_checked", text="")
        row.label(text=Path(item.name).stem, icon=_ICONS[item.fit])
        if item.frame_count:
            panel_parts.draw_right(row, f"{item.frame_count} @ {item.frame_rate:g}")

    def is_shown(self, data: Any, item: Any) -> bool:
        return _passes(data, item)


def _passes(operator: Any, item: Any) -> bool:
    return matches(Path(item.name).stem, operator.animation_filter)


def shown_items(operator: Any) -> list[Any]:
    """The animations of the list that pass the filter and can be imported."""
    return [item for item in operator.animation_list if item.fit != "NONE" and _passes(operator, item)]


def draw_choice(layout: UILayout, context: Context, operator: ImportModels, folder: Path, names: Sequence[str]) -> None:
    """Fills and draws the list, its filter and what is active in it, for the selected files."""
    fill(context, operator, operator.format, folder, names)
    panel_parts.draw_wide(layout, operator, "animation_filter")
    names_of = ("check_animations", "animation_list", "active_animation")
    column = panel_parts.draw_choice(layout, "IO_MD5_UL_animation_files", operator, names_of, 6)
    items = operator.animation_list
    checked = sum(item.is_checked for item in shown_items(operator))
    column.label(text=f"{checked} of {counted(len(items), 'animations')} to import")
    if 0 <= operator.active_animation < len(items) and items[operator.active_animation].detail:
        column.label(text=items[operator.active_animation].detail)


def fill(context: Context, operator: Any, kind: SkeletalFormat, folder: Path, names: Sequence[str]) -> None:
    """Fills the list if another folder, model or armature was chosen, or files of the folder have changed."""
    # What fits fully is checked at first if there is a model; what the user has checked stays as it is.
    models = sorted({name for name in names if name.lower().endswith(kind.model_suffix)})
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
    read = {name: _cached(folder / name, kind.read_joints) for name in models}
    targets = [active] if active is not None else []
    targets += [ImportSkeleton(name, joints) for name, joints in read.items() if isinstance(joints, Joints)]
    mapped: dict[tuple[str, ...], int] = {}
    selected = {name.lower() for name in names}
    for found in _files(folder, kind, [target.joints for target in targets]):
        if found.path.name.lower() in selected:
            # It is imported anyway.
            continue
        item = operator.animation_list.add()
        item.name = printable(found.path.name)
        item.fit = found.fit.upper()
        item.detail = printable(_detail(found))
        if found.header is not None:
            names = tuple(found.header.names)
            if found.match is not None and 2 * found.match.named_count < len(names):
                if names not in mapped:
                    mapped[names] = 0
                    with suppress(SkeletalError, OSError):
                        mapped[names] = count_mapped(read_animations(found.path, kind)[0], targets[0])
                if mapped[names]:
                    item.fit = "PART"
                    item.detail = f"{mapped[names]} of {counted(len(names), 'joints')} fit, with another skeleton"
            item.frame_count = min(found.header.frame_count, 2**31 - 1)
            item.frame_rate = found.header.frame_rate
        item.is_checked = checked.get(item.name, found.fit == "full" and bool(models))
    operator.active_animation = min(operator.active_animation, max(len(operator.animation_list) - 1, 0))


def _detail(found: AnimationFile) -> str:
    if found.error is not None:
        return str(found.error)
    match = found.match
    if match is None:
        return "Select a model, or make an armature active"
    if match.fit == "none":
        return "It has none of the bones. Animation Between Skeletons (tab id Tech) transfers it"
    if match.renamed:
        return f"Matched by the order of joints: {listing(match.renamed, 2)}"
    count = len(found.header.names) if found.header is not None else 0
    parts = ((match.missing, "Not moved"), (match.extra, "Without a bone"), (match.differing, "Other parent"))
    texts = [f"{label}: {listing(joints, 2)}" for joints, label in parts if joints]
    if 4 * len(match.joints) < count:
        texts.insert(0, f"{len(match.joints)} of {counted(count, 'joints')} fit")
    return "; ".join(texts)


def _files(folder: Path, kind: SkeletalFormat, skeletons: Sequence[Joints]) -> list[AnimationFile]:
    """The animations of a folder: first what fits fully, then partly, then the others, each by name."""
    try:
        paths = within_budget(animation_paths(folder, kind)[:_MAX_LISTED], Budget())
    except OSError:
        return []
    files = [AnimationFile(path, _cached(path, kind.read_header), skeletons) for path in paths]
    order = list(_ICONS)
    return sorted(files, key=lambda file: order.index(file.fit.upper()))


def _cached(path: Path, read: Callable[[Any], _Head]) -> _Head | SkeletalError | OSError:
    """What a function reads of a file, or why it cannot; read again if the file has changed."""
    try:
        return _read(path, read, tuple(stamp(path)))
    except OSError as error:
        return error


@lru_cache(2 * _MAX_LISTED)
def _read(path: Path, read: Callable[[Any], Any], state: tuple[Any, ...]) -> Any:
    try:
        return read(readable(path))
    except (SkeletalError, OSError) as error:
        return error


@properties
class ImportModels(file_operators.ImportFiles):
    """The import of models and animations of a format, without its identifiers and options."""

    bl_options = {"REGISTER", "UNDO", "PRESET"}

    format: SkeletalFormat
    panels = ""  # with which the identifiers of the panels of its dialog begin
    options_type: type
    import_files: ImportFiles
    animations: str
    animation_filter: str

    animation_list: Any = CollectionProperty(type=IO_MD5_PG_animation_file, options={"HIDDEN", "SKIP_SAVE"})
    active_animation: int = hidden(0)
    check_animations: set[str] = panel_parts.check_boxes_option("check_animations", shown_items)
    listed_for: str = hidden("")

    def invoke(self, context: Context, event: Event) -> panel_parts.OperatorResult:
        # From the menu, the animations of the folder are imported unless turned off. Of dropped files, only these are.
        if not self.files and not self.properties.is_property_set("animations"):
            self.animations = "FOLDER"
        return super().invoke(context, event)

    def draw(self, context: Context) -> None:
        layout = panel_parts.panel_layout(self)
        layout.prop(self, "animations")
        if self.animations == "CHOOSE":
            draw_choice(layout, context, self, *self._selection(context))
        self.draw_transform(layout, self.panels)
        body = panel_parts.draw_panel(layout, f"{self.panels}_model", "Model", self, "merge_vertices")
        if body:
            self.draw_model(body)
        panel_parts.draw_panel(layout, f"{self.panels}_armature", "Armature", self, "bone_direction")
        panel_parts.draw_panel(layout, f"{self.panels}_materials", "Materials", self, "use_textures")
        body = panel_parts.draw_panel(layout, f"{self.panels}_animation", "Animation", self)
        if body:
            self.draw_animation(body, context)

    def load(self, context: Context, paths: list[Path]) -> Job[ImportResult]:
        values = values_of(self, self.options_type) | self.import_options()
        return type(self).import_files(context, paths, self.options_type(**values))

    def draw_model(self, body: Any) -> None:
        """Draws further options of the model."""

    def draw_animation(self, body: Any, context: Context) -> None:
        """Draws the options of animations."""
        names = ("nla_tracks", "existing_actions", "frame_start", "joint_map", "keep_feet")
        panel_parts.draw_options(body, self, *names)
        panel_parts.draw_wide(body, self, "use_scene_timing")

    def import_options(self) -> dict[str, Any]:
        """The values of import options that are no properties, or depend on several."""
        is_listed = len(self.animation_list) or self.listed_for
        chosen = tuple(item.name for item in self.animation_list if item.is_checked) if is_listed else None
        return {
            "animations": self._animation_source(),
            "animation_folder": self._folder_for_armature(),
            "chosen": chosen if self.animations == "CHOOSE" else None,
            "game_folders": tuple(preferences.game_folders()),
            "conversion": self.conversion(),
            "use_conversion_of_armature": not (self.has_chosen_axes() or self.has_chosen_scale()),
        }

    def _animation_source(self) -> str:
        """The option *Animations*; a script that sets only a filter imports from the folder."""
        is_filtered = bool(self.animation_filter.strip()) and not self.properties.is_property_set("animations")
        return "FOLDER" if is_filtered else self.animations

    def _folder(self) -> Path:
        """The folder of the files, or the one that is chosen instead of a file."""
        if self.directory:
            return Path(bpy.path.abspath(self.directory))
        path = Path(bpy.path.abspath(self.filepath))
        return path if path.is_dir() else path.parent

    def _has_file(self) -> bool:
        if any(file.name for file in self.files):
            return True
        path = bpy.path.abspath(self.filepath)
        return bool(path) and not Path(path).is_dir()

    def _folder_for_armature(self) -> Path | None:
        """The folder with animations for the active armature: without a file, or if they are chosen without a model."""
        if self._animation_source() == "NONE":
            return None
        names = [self.filepath, *(file.name for file in self.files)]
        has_model = any(name.lower().endswith(self.format.model_suffix) for name in names)
        is_chosen = self.properties.animations == "CHOOSE" and not has_model
        return self._folder() if is_chosen or not self._has_file() else None

    def paths(self) -> list[Path]:
        """The files, or none to import a folder onto the active armature; raises NoFileError otherwise."""
        folder = self._folder_for_armature() if not self._has_file() and (self.directory or self.filepath) else None
        is_for_armature = folder is not None and folder.is_dir() and active_skeleton(bpy.context) is not None
        return [] if is_for_armature else super().paths()

    def _selection(self, context: Context) -> tuple[Path, list[str]]:
        params = getattr(context.space_data, "params", None)
        if params is not None and getattr(params, "directory", None):
            return Path(os.fsdecode(params.directory)), self.selected_names(context)
        names = [file.name for file in self.files if file.name]
        return self._folder(), names or [Path(self.filepath).name]
