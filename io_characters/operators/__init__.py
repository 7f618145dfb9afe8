"""What characters add to Blender: operators, a panel, and entries in File > Import and Export."""

from __future__ import annotations

from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from typing import Any

import bpy
from bpy.props import FloatVectorProperty
from bpy.types import Context, Event

from ...io_blender import versions
from ...io_blender.operators import documentation, job_operator, panel_parts, preferences, registration, shared_options
from ...io_blender.operators.animation_list import draw_problems
from ...io_blender.operators.panel_parts import OperatorResult, TabPanel, fail, set_timing
from ...io_blender.options import hidden, option, properties, scale_option
from ...io_blender.reports import Job, listing
from ...io_blender.scene import axes
from ...io_blender.scene.objects import ChosenConversion
from ...io_common.game_tree.files import FileReadError
from ...io_md3.exporting.players import export_player, problems_of, settings_of
from ...io_md3.format import Game
from ...io_md3.format.sequences import missing_sequences
from ...io_md3.options import ExportOptions as Md3Options
from ...io_md3.players import Player, find_player
from ...io_md3.records import FOOTSTEPS, PlayerSettings
from .. import CharacterError, scene
from ..exporter import CharacterExport, export_character
from . import import_character

_COLUMN_LENGTH = 24

# The property for a setting of a player that has another name.
_SETTINGS = {"name": "player_name"}


class _OfCharacter:
    @classmethod
    def poll(cls, context: Context) -> bool:
        return scene.find_character(context) is not None


def _player(context: Context) -> Player | None:
    """The player of Quake III that the active object is a part of."""
    return find_player(context.scene, context.object)


@properties
class EXPORT_SCENE_OT_idtech_character(job_operator.JobOperator, shared_options.ExportVerify, bpy.types.Operator):
    """Write the active character that was imported from a game, or a player of Quake III, with all its files"""

    bl_idname = "export_scene.idtech_character"
    verb, bad_data = "Exported", (CharacterError, FileReadError)
    bl_label = "Export Game Character"
    bl_options = {"REGISTER", "PRESET"}

    directory: str = option(
        "",
        "Folder",
        "Folder that stands for the game folder: files are written below it by their paths in the game",
        subtype="DIR_PATH",
        options={"SKIP_SAVE"} | versions.PATH_OPTIONS,
    )
    filter_folder: bool = hidden(True)
    use_models: bool = option(
        True, "Models and Animations", "Write the model of each part, and an animation for each of its actions"
    )
    use_declarations: bool = option(
        True,
        "Declarations",
        "Write what the game needs to find them: model, skin and entityDef in .def and .skin files for "
        "Doom 3, md5.cfg or md2.cfg for Sauerbraten",
    )

    player_name: str = option("player", "Name", "Name of the player's folder in models/players")
    sex: str = option(
        "m", "Sex", "Voice of the player", items=(("m", "Male", ""), ("f", "Female", ""), ("n", "Neuter", ""))
    )
    footsteps: str = option(
        "normal", "Footsteps", "Sound of the steps", items=tuple((one, one.capitalize(), "") for one in FOOTSTEPS)
    )
    head_offset: Any = FloatVectorProperty(name="Head Offset", description="Moves the head in the status bar")
    skins: str = option(
        "default", "Skins", "Names of skins, separated by spaces. The first has the first material of each mesh"
    )
    global_scale: float = scale_option("Scale", "Game units per Blender unit. An imported player keeps its own scale")

    @classmethod
    def poll(cls, context: Context) -> bool:
        return scene.find_character(context) is not None or _player(context) is not None

    def invoke(self, context: Context, event: Event) -> OperatorResult:
        player = _player(context)
        if player is not None:
            for name, value in asdict(settings_of(player)).items():
                setattr(self, _SETTINGS.get(name, name), value)
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def draw(self, context: Context) -> None:
        layout = panel_parts.panel_layout(self)
        player = _player(context)
        if player is None:
            layout.prop(self, "use_models")
            layout.prop(self, "use_declarations")
        else:
            for name in ("player_name", "sex", "footsteps", "head_offset", "skins", "global_scale"):
                layout.prop(self, name)
            draw_problems(layout, "", list(problems_of(player)))
        layout.prop(self, "verify")

    def job(self, context: Context) -> Job[job_operator.Outcome]:
        found, player = scene.find_character(context), _player(context)
        if not self.directory:
            raise CharacterError("no folder selected: select the folder that stands for the game folder")
        folder, game_folders = Path(bpy.path.abspath(self.directory)), tuple(preferences.game_folders())
        if player is not None:
            settings, model = self._player_options(player, game_folders)
            result = yield from export_player(context, player, folder, settings, model)
            return result.report, result.paths
        if found is None:
            raise CharacterError("no character: select an object of a character that was imported from a game")
        options = CharacterExport(self.use_models, self.use_declarations, self.verification(), game_folders)
        result = yield from export_character(context, found, folder, options)
        return result.report, result.paths

    def _player_options(self, player: Player, game_folders: tuple[str, ...]) -> tuple[PlayerSettings, Md3Options]:
        """The options of the export of a player: what a script does not set is as it was."""
        values = asdict(settings_of(player))
        for name in values:
            mine = _SETTINGS.get(name, name)
            if self.properties.is_property_set(mine):
                value = getattr(self, mine)
                values[name] = value if isinstance(value, str) else tuple(round(number, 5) for number in value)
        has_scale = self.properties.is_property_set("global_scale")
        scale = self.global_scale if has_scale else 1.0 / preferences.default_scale()
        conversion = ChosenConversion(axes.to_file(scale, "Y", "Z"))
        model = Md3Options(
            game=Game.QUAKE3, verify=self.verification(), conversion=conversion, game_folders=game_folders
        )
        return PlayerSettings(**values), model


class OBJECT_OT_idtech_player_template(bpy.types.Operator):
    """Create the actions that the active player of Quake III lacks, each with the current pose on one frame"""

    bl_idname = "object.idtech_player_template"
    bl_label = "Add Missing Sequences"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        return _player(context) is not None

    def execute(self, context: Context) -> OperatorResult:
        player = _player(context)
        if player is not None:
            added = player.add_missing(context.scene.frame_start)
            self.report({"INFO"}, f"Added {listing(added, 3)}" if added else "No sequence is missing")
        return {"FINISHED"}


@properties
class OBJECT_OT_idtech_character_skin(_OfCharacter, bpy.types.Operator):
    """Show a skin of the active character on all its meshes. Without a name, show the materials of the model"""

    bl_idname = "object.idtech_character_skin"
    bl_label = "Show Skin"
    bl_options = {"REGISTER", "UNDO"}

    skin: str = option("", "Skin", "Name of the skin; empty for the materials of the model")

    def execute(self, context: Context) -> OperatorResult:
        found = scene.find_character(context)
        meshes = scene.all_meshes(found) if found is not None else []
        if self.skin and self.skin not in scene.skin_names(meshes):
            known = ", ".join(scene.skin_names(meshes)) or "none"
            return fail(self, f"{self.skin}: the character has no such skin, only: {known}")
        try:
            scene.show_skin(meshes, self.skin)
        except CharacterError as error:
            return fail(self, str(error))
        return {"FINISHED"}


@properties
class OBJECT_OT_idtech_character_animation(_OfCharacter, bpy.types.Operator):
    """Play an animation of the active character on all its parts, and set the frame range of the scene to it"""

    bl_idname = "object.idtech_character_animation"
    bl_label = "Play Animation"
    bl_options = {"REGISTER", "UNDO"}

    animation: str = option("", "Animation", "Name of the animation in the game")
    use_scene_timing: bool = option(
        True,
        "Set Frame Range & Rate",
        "Set the scene's frame range to that of the animation, and its rate if the game has one for it",
    )

    def execute(self, context: Context) -> OperatorResult:
        found = scene.find_character(context)
        roots = list(found.roots.values()) if found is not None else []
        actions = scene.show_animation(roots, self.animation)
        if not actions:
            return fail(self, f"{self.animation}: the character has no such animation")
        if self.use_scene_timing:
            frames = actions[0].frame_range
            set_timing(self, context, frames[0], frames[1], scene.SPEED.read(actions[0]))
        return {"FINISHED"}


class IO_IDTECH_MT_character_animations(bpy.types.Menu):
    """The animations of the active character"""

    bl_idname = "IO_IDTECH_MT_character_animations"
    bl_label = "Animations"

    def draw(self, context: Context) -> None:
        found = scene.find_character(context)
        names = scene.animation_names(found.roots.values()) if found is not None else []
        row: Any = self.layout.row()
        for first in range(0, len(names), _COLUMN_LENGTH):
            column = row.column()
            for name in names[first : first + _COLUMN_LENGTH]:
                entry = column.operator(OBJECT_OT_idtech_character_animation.bl_idname, text=name)
                entry.animation = name


class IO_IDTECH_PT_character(TabPanel, bpy.types.Panel):
    """The skins and animations of a character that was imported from a game."""

    bl_idname = "IO_IDTECH_PT_character"
    bl_label = "Game Character"
    bl_order = 0

    @classmethod
    def poll(cls, context: Context) -> bool:
        return scene.find_character(context, context.object) is not None or _player(context) is not None

    def draw(self, context: Context) -> None:
        found = scene.find_character(context, context.object)
        layout: Any = self.layout
        if found is not None:
            _draw_character(layout, found)
        elif (player := _player(context)) is not None:
            layout.label(text=settings_of(player).name, icon="OUTLINER_OB_ARMATURE")
            missing = missing_sequences(player.actions)
            if missing:
                layout.operator(OBJECT_OT_idtech_player_template.bl_idname, icon="ADD")
        layout.operator("export_scene.idtech_character", icon="EXPORT")


def _draw_character(layout: Any, found: scene.SceneCharacter) -> None:
    character = found.character
    place = f" ({character.declaration.file})" if character.declaration is not None else ""
    layout.label(text=f"{character.name}{place}", icon="OUTLINER_OB_ARMATURE")
    meshes = scene.all_meshes(found)
    names = scene.skin_names(meshes)
    if names:
        shown = scene.shown_skin(meshes)
        column = layout.column(align=True)
        column.label(text="Skin")
        for name in ("", *names):
            button = column.operator(
                OBJECT_OT_idtech_character_skin.bl_idname, text=name or "Materials of the Model", depress=name == shown
            )
            button.skin = name
    if scene.animation_names(found.roots.values()):
        row = layout.row()
        row.label(text="Animation")
        row.menu(IO_IDTECH_MT_character_animations.bl_idname, text=scene.shown_animation(found.first) or "Choose…")


def _classes() -> list[type]:
    return [
        cls for module in (import_character, import_module(__name__)) for cls in registration.declared_in(module)[0]
    ]


def register() -> None:
    """Registers the classes and the menu entries, which `registration.unregister` removes."""
    registration.add(_classes(), ())
    for cls in _classes():
        if issubclass(cls, bpy.types.Operator):
            documentation.add_page(cls.bl_idname, "characters.html")
    text = "id Tech Game Character"
    registration.add_to_menu(bpy.types.TOPBAR_MT_file_import, import_character.IMPORT_SCENE_OT_idtech_character, text)
    registration.add_to_menu(bpy.types.TOPBAR_MT_file_export, EXPORT_SCENE_OT_idtech_character, text)


def unregister() -> None:
    """Removes what `register` added."""
    registration.remove(_classes(), ())
    import_character.remove_pictures()
