"""File > Import > id Tech Game Character."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
import bpy.utils.previews
from bpy.props import CollectionProperty
from bpy.types import Context, Event, UILayout

from ...io_blender import versions
from ...io_blender.operators import file_operators, job_operator, panel_parts, preferences
from ...io_blender.operators.panel_parts import FilteredList, OperatorResult, check_boxes_option, draw_choice
from ...io_blender.operators.shared_options import ImportTransform
from ...io_blender.options import hidden, mixin_of, option, properties, values_of
from ...io_blender.reports import Job, printable
from ...io_common.asset_library import assets_of_game
from ...io_common.catalogue import Catalogue, CatalogueEntry, Kind, count_animations
from ...io_common.declarations.characters import Character
from ...io_common.game_tree.files import FileReadError
from ...io_common.game_tree.folders import inner_game
from ...io_common.texts import counted, matches
from .. import CharacterError
from ..importer import import_character
from ..reading import CharacterOptions, CharacterProperties, catalogue, game_folder

if TYPE_CHECKING:
    _Options = CharacterProperties
else:
    _Options = mixin_of(CharacterProperties)

_WIDTH = 640
_ROWS, _ROWS_WITH_ANIMATIONS = 12, 6
_PICTURE_SCALE = 6.0  # in heights of a row
_OPTIONS = (
    "base_game", "use_placement", "use_textures", "all_weapons", "merge_vertices", "bone_direction", "frame_start",
    "use_scene_timing", "global_scale", "axis_forward", "axis_up",
    "weapon",
)  # fmt: skip
_ICONS = {
    Kind.ENTITY: "OUTLINER_OB_ARMATURE",
    Kind.MODEL: "ARMATURE_DATA",
    Kind.PLAYER: "OUTLINER_OB_ARMATURE",
    Kind.CONFIG: "ARMATURE_DATA",
    Kind.LOOSE: "MESH_DATA",
}


# The pictures of characters in the user's asset libraries, by kind and name. Blender loads one when it is drawn first.
_pictures: dict[tuple[str, str], str] = {}
_loaded_pictures: list[Any] = []


def _picture(kind: str, name: str) -> int:
    """The number of the icon with the picture of a character; 0 if there is none."""
    path = _pictures.get((kind, name))
    if path is None:
        return 0
    if not _loaded_pictures:
        _loaded_pictures.append(bpy.utils.previews.new())
    return int((_loaded_pictures[0].get(path) or _loaded_pictures[0].load(path, path, "BLEND")).icon_id)


def remove_pictures() -> None:
    """Removes the pictures of characters."""
    _pictures.clear()
    while _loaded_pictures:
        bpy.utils.previews.remove(_loaded_pictures.pop())


# The list of a game's characters


@properties
class IO_IDTECH_PG_character(bpy.types.PropertyGroup):
    """A character, model or player of a game."""

    name: str = option("", "Name", "Name of the entity, model, player or file")
    kind: str = option("", "Kind", "What declares it")
    path: str = option("", "Path", "File or folder in the game")
    meshes: str = option("", "Meshes", "Model files found and missing")
    animations: str = option("", "Animations", "Animations found and missing")
    skins: str = option("", "Skins", "Skins found and missing")
    is_missing: bool = option(False, "Missing", "Files that it names are missing")


class IO_IDTECH_UL_characters(FilteredList, bpy.types.UIList):
    """The list of characters of a game."""

    def draw_row(self, layout: Any, item: Any, index: int) -> None:
        texts = (item.name, item.meshes, item.animations, item.skins)
        _draw_columns(layout, texts, _ICONS.get(item.kind, "DOT"), _picture(item.kind, item.name))

    def is_shown(self, data: Any, item: Any) -> bool:
        return all(word in f"{item.name} {item.path} {item.kind}".lower() for word in data.search.lower().split())


def _draw_columns(layout: Any, texts: Sequence[str], icon: str = "NONE", picture: int = 0) -> None:
    columns = layout.split(factor=0.5)
    columns.label(text=texts[0], **({"icon_value": picture} if picture else {"icon": icon}))
    for text, width in zip(texts[1:3], (0.2, 0.65), strict=True):
        columns = columns.split(factor=width)
        columns.label(text=text)
    columns.label(text=texts[3])


# The list of the animations of the chosen character, with a check box for each


@properties
class IO_IDTECH_PG_character_animation(bpy.types.PropertyGroup):
    """An animation that can be chosen for the import of a character."""

    name: str = option("", "Name", "Name that the game has for the animation")
    is_checked: bool = option(True, "Import", "Import this animation")
    file_count: int = option(0, "Files", "Number of files, which are blended in step")


class IO_IDTECH_UL_character_animations(FilteredList, bpy.types.UIList):
    """The list of animations to choose from."""

    def draw_row(self, layout: Any, item: Any, index: int) -> None:
        row = layout.row(align=True)
        row.prop(item, "is_checked", text="")
        row.label(text=item.name)
        if item.file_count > 1:
            numbers = row.row()
            numbers.alignment = "RIGHT"
            numbers.label(text=counted(item.file_count, "files"))

    def is_shown(self, data: Any, item: Any) -> bool:
        return matches(item.name, data.animation_filter)


def _shown_rows(operator: Any) -> list[Any]:
    return [row for row in operator.animations if matches(row.name, operator.animation_filter)]


def fill_animations(operator: Any, character: Character) -> None:
    """Lists the animations that a character declares, all checked."""
    operator.animations.clear()
    counts: dict[str, int] = {}
    for part in character.parts:
        for animation in part.animations:
            counts[animation.name] = max(counts.get(animation.name, 0), len(animation.files))
    for name, count in counts.items():
        row = operator.animations.add()
        row.name, row.file_count = printable(name), count
    # What the list of characters counts, if that is another number.
    total = count_animations(character)
    operator.animations_total = f"; counted as {total}" if str(total) != str(len(counts)) else ""
    operator.active_animation = 0


def unchecked_names(operator: Any) -> frozenset[str]:
    """The names of the animations that are not to be imported, as the list shows them."""
    return frozenset(row.name for row in operator.animations if not row.is_checked)


def _draw_animations(layout: UILayout, operator: Any) -> None:
    if not len(operator.animations):
        layout.label(text="No animations are declared", icon="INFO")
        return
    names_of = ("check_animations", "animations", "active_animation")
    rows = _ROWS_WITH_ANIMATIONS
    column = draw_choice(layout, "IO_IDTECH_UL_character_animations", operator, names_of, rows, maxrows=rows)
    checked = sum(row.is_checked for row in _shown_rows(operator))
    names = counted(len(operator.animations), "names")
    column.label(text=f"{checked} of {names} to import{operator.animations_total}")


def _known_games(operator: Any, context: Context, text: str) -> list[str]:
    """The game folders of the preferences, for completion."""
    return [folder for folder in preferences.game_folders() if text.lower() in folder.lower()]


def _entry_chosen(operator: Any, context: Context) -> None:
    if 0 <= operator.active_entry < len(operator.entries):
        operator.name = operator.entries[operator.active_entry].name


def _inner_chosen(operator: Any, context: Context) -> None:
    if operator.inner_game:
        operator.game = operator.inner_game


def _known_weapons(operator: Any, context: Context, text: str) -> list[str]:
    try:
        found = operator._catalogue()
    except (CharacterError, OSError):
        # The dialog shows why.
        return []
    return [path for path in found.weapons() if text.lower() in path.lower()]


@properties
class IMPORT_SCENE_OT_idtech_character(_Options, job_operator.JobOperator, ImportTransform, bpy.types.Operator):
    """Import a character, model or player with its animations, skins and attachments from the data of a game"""

    bl_idname = "import_scene.idtech_character"
    verb, bad_data = "Imported", (CharacterError, FileReadError)
    bl_label = "Import Game Character"
    bl_options = {"REGISTER", "UNDO", "PRESET"}

    game: str = option(
        "",
        "Game",
        "Game folder: its path, or the name of one in the add-on's preferences (base, baseq2, packages). Empty for the "
        "first of these. The folder of a mod uses base beside it as well",
        search=_known_games,
        subtype="DIR_PATH",
        options=versions.PATH_OPTIONS,
    )
    base_game: str = option(
        "",
        "Base Game",
        "Game folder that the mod needs. If empty, the folder base beside the mod",
        search=_known_games,
        options=versions.PATH_OPTIONS,
    )
    inner_game: str = hidden("")
    use_inner_game: bool = hidden(
        False, name="Choose", description="Use the game folder that is inside this folder", update=_inner_chosen
    )
    name: str = option("", "Name", "Name of the entity, model or player, or the path of a model in the game")
    kind: str = hidden(
        "ANY",
        name="Kind",
        description="What the name is of, if several things have it",
        items=(
            ("ANY", "Any", "The first of them, in the order of this list"),
            *((kind.name, kind.value.capitalize(), "") for kind in Kind),
        ),
    )
    weapon: str = option(
        "", "Weapon", "Path of the weapon that a player of Quake III holds, in models/weapons2", search=_known_weapons
    )
    search: str = option(
        "",
        "Search",
        "Show only what has these words in its name, path or kind",
        options={"SKIP_SAVE", "TEXTEDIT_UPDATE"},
    )
    entries: Any = CollectionProperty(type=IO_IDTECH_PG_character, options={"HIDDEN", "SKIP_SAVE"})
    active_entry: int = hidden(-1, update=_entry_chosen)
    listed_for: str = hidden("")
    problem: str = hidden("")
    animations: Any = CollectionProperty(type=IO_IDTECH_PG_character_animation, options={"HIDDEN", "SKIP_SAVE"})
    active_animation: int = hidden(0)
    animations_of: str = hidden("")
    animations_total: str = hidden("")
    check_animations: set[str] = check_boxes_option("check_animations", _shown_rows)
    show_animations: bool = hidden(False, name="Animations")

    def invoke(self, context: Context, event: Event) -> OperatorResult:
        self.set_default_scale()
        known = preferences.game_folders()
        if not self.game and known:
            self.game = known[0]
        return context.window_manager.invoke_props_dialog(
            self, width=_WIDTH, title="Import Game Character", confirm_text="Import"
        )

    def fill(self) -> None:
        """Fills the list with what is in the game, if it holds that of another one."""
        wanted = f"game {self.game} {self.base_game}"
        if self.listed_for == wanted:
            return
        self.listed_for = wanted
        self.entries.clear()
        self.problem = self.inner_game = ""
        if not self.game and not preferences.game_folders():
            self.problem = "Choose the folder of a game (base, baseq2, packages), or add it in the preferences"
            return
        try:
            self.inner_game = str(inner_game(self._folder()) or "")
            found = self._catalogue()
        except (CharacterError, OSError) as error:
            self.problem = printable(str(error))
            return
        _pictures.clear()
        for library in bpy.context.preferences.filepaths.asset_libraries:
            _pictures.update(assets_of_game(Path(bpy.path.abspath(library.path)), found.files.folders))
        for entry in found.entries:
            item = self.entries.add()
            item.name, item.kind, item.path = printable(entry.name), entry.kind.value, printable(entry.path)
            item.meshes, item.animations, item.skins = str(entry.meshes), str(entry.animations), str(entry.skins)
            item.is_missing = bool(entry.meshes.missing or entry.animations.missing or entry.skins.missing)
        if not found.entries:
            self.problem = "No models were found in this folder"
        names = [entry.name for entry in found.entries]
        self.active_entry = names.index(self.name) if self.name in names else -1

    def fill_animations(self) -> None:
        """Lists the animations of the chosen character, if those of another one are listed."""
        if self.animations_of == self._animations_key():
            return
        self.animations_of = self._animations_key()
        self.animations.clear()
        try:
            found = self._catalogue()
            entry = self._chosen(found)
            if entry is not None:
                fill_animations(self, found.character(entry))
        except (CharacterError, FileReadError, OSError) as error:
            self.problem = printable(str(error))

    def draw(self, context: Context) -> None:
        # Blender does not tell operators that a text was changed.
        self.fill()
        layout = panel_parts.panel_layout(self)
        layout.prop(self, "game")
        if self.inner_game:
            text = f"Choose {Path(self.inner_game).name} in It"
            button: Any = layout.column()
            button.use_property_split = False
            button.prop(self, "use_inner_game", text=text, toggle=True, icon="FILE_FOLDER")
        layout.prop(self, "search", icon="VIEWZOOM")
        column: Any = layout.column()
        column.use_property_split = False
        if self.problem:
            column.label(text=self.problem, icon="ERROR")
        _draw_columns(column, ("Name", "Meshes", "Animations", "Skins"))
        rows = _ROWS_WITH_ANIMATIONS if self.show_animations else _ROWS
        column.template_list(
            "IO_IDTECH_UL_characters", "", self, "entries", self, "active_entry", rows=rows, maxrows=rows
        )
        if 0 <= self.active_entry < len(self.entries):
            item = self.entries[self.active_entry]
            column.label(text=f"{item.kind.capitalize()}: {item.path}")
            if picture := _picture(item.kind, item.name):
                column.template_icon(picture, scale=_PICTURE_SCALE)
        layout.prop(self, "name")
        layout.prop(self, "animation_filter")
        wide: Any = layout
        header, body = wide.panel_prop(self, "show_animations")
        header.label(text="Animations")
        if body:
            self.fill_animations()
            _draw_animations(body, self)
        # Closed at first, so that the list and the buttons fit on small screens.
        header, body = wide.panel("IO_IDTECH_character_options", default_closed=True)
        header.label(text="Options")
        if body:
            for option in _OPTIONS:
                body.prop(self, option)

    def _folder(self) -> Path:
        return game_folder(bpy.path.abspath(self.game), preferences.game_folders())

    def _catalogue(self) -> Catalogue:
        known = preferences.game_folders()
        base = bpy.path.abspath(self.base_game)
        return catalogue(self._folder(), game_folder(base, known) if base else None)

    def _chosen(self, found: Catalogue) -> CatalogueEntry | None:
        """The entry of the chosen name; of an entity and a model of one name the one whose row is active."""
        return found.named(self.name, self._kind()) if self.name else None

    def _kind(self) -> str:
        """What the name is of: as asked for, else the active row's, if it has the chosen name; else empty."""
        if self.kind != "ANY":
            return Kind[self.kind].value
        row = self.entries[self.active_entry] if 0 <= self.active_entry < len(self.entries) else None
        return str(row.kind) if row is not None and row.name == self.name else ""

    def _animations_key(self) -> str:
        return f"{self.listed_for} {self._kind()} {self.name}"

    def _left_out(self) -> frozenset[str]:
        """The animations that were unchecked for this character."""
        # Scripts that pass rows do not say whose they are.
        is_of_another = self.animations_of not in ("", self._animations_key())
        return frozenset() if is_of_another else unchecked_names(self)

    def job(self, context: Context) -> Job[job_operator.Outcome]:
        folder = self._folder()
        found = self._catalogue()
        entry = self._chosen(found)
        if entry is None:
            raise CharacterError(_unknown(self.name, found.entries, folder))
        character = found.character(entry)
        options = CharacterOptions(
            **values_of(self, CharacterProperties),
            weapon=self.weapon,
            left_out=self._left_out(),
            game_folders=tuple(preferences.game_folders()),
            conversion=self.conversion(),
        )
        result = yield from import_character(context, character, found.files, options)
        file_operators.show_imported(context, result)
        return result.report, [Path(character.name)]


def _unknown(name: str, entries: list[CatalogueEntry], folder: Path) -> str:
    """Why no entry was found, with names that are similar."""
    if not entries:
        return f"{folder}: no models were found in this folder"
    if not name:
        return f"no character chosen: set the name, one of {counted(len(entries), 'entries')} in {folder.name}"
    similar = [entry.name for entry in entries if name.lower() in entry.name.lower()][:3]
    hint = f"; similar names: {', '.join(similar)}" if similar else ""
    return f"{name}: there is no such character in {folder}{hint}"
