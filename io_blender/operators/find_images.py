"""Look Up Images, an operator of each family: searches a material's images again and rebuilds its nodes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import bpy
from bpy.props import StringProperty
from bpy.types import Context, Material, Object

from ...io_common.names import as_utf8, short
from ...io_common.texts import counted
from ...io_common.textures.conventions import MaterialImages, TextureRules
from ...io_common.textures.search import Search
from .. import reports
from ..materials.library import MaterialLibrary, name_for_file
from ..options import option, properties
from ..records import MaterialRecord, has_record, material_records, read_game_folder
from . import preferences
from .panel_parts import Operator, OperatorResult, PropertiesPanel, fail, operator_of, split_layout

Find = Callable[["Search", Path, "Material", str], MaterialImages]
"""A function that finds the images of a material, given a search, the file of the model, the material and its name."""


@properties
class FindImages(Operator):
    """The operator of a family, without its identifiers."""

    bl_options = {"REGISTER", "UNDO"}

    record: MaterialRecord
    rules: TextureRules
    find: Find
    material: str = option("", "Material", "Name of the material; empty for the active one", options={"SKIP_SAVE"})
    folder: str = option(
        "",
        "Folder",
        "Folder to search, as if the model were in it; empty for the folder that the model was in",
        subtype="DIR_PATH",
        options={"SKIP_SAVE"},
    )

    @classmethod
    def description(cls, context: Context, properties: Any) -> str:
        material = bpy.data.materials.get(properties.material)
        places = cls.record.looked_in.read(material) if material is not None else None
        names = cls.record.missing.read(material) if places else ""
        text = f"Not found:\n{names}\n\nLooked for:\n{places}\n\n{cls.__doc__}" if places else cls.__doc__ or ""
        return reports.printable(text)

    def execute(self, context: Context) -> OperatorResult:
        material = bpy.data.materials.get(self.material) if self.material else active_material(context)
        if material is None:
            return fail(self, "There is no such material: select an object with a material")
        if material.library is not None:
            return fail(self, f"{material.name} is linked from another .blend file: make it local")
        if material.is_grease_pencil:
            return fail(self, f"{material.name} is a material for strokes, which has no images")
        name = name_for_file(material, self.record, preferences.game_folders())
        model = self._model(material)
        # Families may share what they store on materials.
        rules = next((one.textures for one in preferences.registered if model.suffix.lower() in one.suffixes), None)
        # The last folder is the one where the image of the material was before.
        folders = dict.fromkeys([*preferences.game_folders(), read_game_folder(material)])
        search = Search([folder for folder in folders if folder], rules or self.rules)
        found = type(self).find(search, model, material, name)
        if found.diffuse is None and found.color is None:
            places = ", ".join(map(short, found.looked_in))
            text = f"No image was found for {short(name) or 'the empty name'}"
            reports.report_message(self, "WARNING", text + (f" (looked for {places})" if places else ""))
            return {"CANCELLED"}
        library = MaterialLibrary(self.record)
        library.rebuild(material, found)
        if self.record.name.read(material) is not None:
            self.record.name.store(material, name, material.name)
        report = reports.Report()
        library.add_to_report(report, search.warnings)
        reports.report_message(self, "WARNING", *report.warnings)
        image = found.diffuse
        reports.report_message(self, "INFO", f"{material.name}: {image if image is not None else 'a color'}")
        return {"FINISHED"}

    def _model(self, material: Material) -> Path:
        model = self.record.model.read(material) or ""
        if self.folder:
            return Path(bpy.path.abspath(self.folder)) / (Path(model).name or "model")
        if model and Path(model).is_absolute():
            return Path(model)
        return Path(bpy.path.abspath("//") if bpy.data.filepath else ".") / "model"


@properties
class OBJECT_OT_io_idtech_find_all_images(bpy.types.Operator):
    """Search for the images of all materials of the model again, and rebuild their nodes"""

    bl_idname = "object.io_idtech_find_all_images"
    bl_label = "Look Up All Images"
    bl_options = {"REGISTER", "UNDO"}

    group: str = option("", "Format", "Name of the format of the imported model; if empty, that of each material")

    def execute(self, context: Context) -> OperatorResult:
        wanted = [
            (material, record.group)
            for material in model_materials(context)
            for record in material_records
            if self.group in ("", record.group) and has_record(material, record.group)
        ]
        if not wanted:
            return fail(self, "select an imported model")
        found = sum(
            getattr(bpy.ops.material, f"{group}_find_images")(material=material.name) == {"FINISHED"}
            for material, group in wanted
            if material.library is None
        )
        reports.report_message(self, "INFO", f"Images for {found} of {counted(len(wanted), 'materials')} found")
        return {"FINISHED"}


def model_materials(context: Context) -> list[Material]:
    """The materials of all meshes of the active model, each once."""
    slots = [slot for obj in model_meshes(context) for slot in obj.material_slots]
    return list(dict.fromkeys(slot.material for slot in slots if slot.material is not None))


def model_meshes(context: Context) -> list[Object]:
    """The meshes that have the armature of the active object, or lie below the same parent."""
    objects = context.view_layer.objects
    root = _root(objects.active) if objects.active is not None else None
    return [obj for obj in objects if obj.type == "MESH" and _root(obj) == root]


def _root(obj: Object) -> Object:
    found = (obj.find_armature() if obj.type == "MESH" else None) or obj
    while found.parent is not None:
        found = found.parent
    return found


class MaterialPanel(PropertiesPanel):
    """The panel of a material that was imported, without its identifiers."""

    bl_context = "material"

    record: MaterialRecord

    @classmethod
    def poll(cls, context: Context) -> bool:
        material = active_material(context)
        if material is None:
            return False
        obj = context.object
        mesh = obj.data if obj is not None and obj.type == "MESH" else None
        return any(has_record(data, cls.record.group) for data in (mesh, material))

    def draw(self, context: Context) -> None:
        material: Any = active_material(context)
        layout = split_layout(self)
        draw_name(layout, material, self.record)
        image = self.record.image.read(material)
        if image is not None:
            text, icon = (reports.printable(image), "IMAGE_DATA") if image else ("No image was found", "ERROR")
            layout.label(text=text, icon=icon)


def active_material(context: Context) -> Material | None:
    """The material in the Properties editor, else that of the active object."""
    pinned: Material | None = getattr(context, "material", None)
    if pinned is not None:
        return pinned
    active = context.view_layer.objects.active
    return active.active_material if active is not None else None


def name_property(record: MaterialRecord, name: str, description: str) -> Any:
    """The property of materials with the name in the files."""

    def shown(material: Any) -> str:
        return reports.printable(as_utf8(name_for_file(material, record, preferences.game_folders())))

    def change(material: Any, value: str) -> None:
        if value.strip():
            record.name.change(material, value, material.name)
        else:
            record.name.store(material, material.name, material.name)

    return StringProperty(name=name, description=description, get=shown, set=change)


def draw_name(layout: Any, material: Material, record: MaterialRecord) -> None:
    """Draws the name of a material in the files, and the button that looks up its images."""
    row = layout.row(align=True)
    row.prop(material, f"{record.group}_{record.name.key}")
    row.operator(f"material.{record.group}_find_images", text="", icon="VIEWZOOM").material = material.name


def draw_names(layout: Any, mesh: Any, record: MaterialRecord) -> None:
    """Draws the names of all materials of a mesh, see `draw_name`."""
    for material in dict.fromkeys(mesh.materials):
        if material is not None:
            draw_name(layout, material, record)


def classes_of(record: MaterialRecord, rules: TextureRules, find: Find, description: str) -> tuple[type, type]:
    """The operator of a family, with its tooltip, and the panel of its materials."""
    family = record.group
    members = {"record": record, "rules": rules, "find": staticmethod(find)}
    panel = {"__doc__": "The name of an imported material.", "bl_label": family.upper(), "record": record}
    return (
        operator_of("material", family, "find_images", "Look Up Images", description, FindImages, **members),
        type(f"MATERIAL_PT_{family}", (MaterialPanel, bpy.types.Panel), panel),
    )
