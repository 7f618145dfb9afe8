"""The import and export of the family, with and without an operator."""

from __future__ import annotations

import bpy
import numpy as np
from bpy.props import StringProperty

from ..io_blender import state
from ..io_blender.operators import file_operators
from ..io_blender.options import Scene
from ..io_blender.part import BlenderPart
from ..io_blender.reports import ExportResult, ImportResult, Report
from ..io_blender.scene.objects import export_conversion
from ..io_common.files import write_file
from . import format as tri


def load(context, path, settings, conversion) -> ImportResult:
    report = Report()
    corners = conversion.points(tri.read(path))
    mesh = bpy.data.meshes.new(path.stem)
    mesh.from_pydata(corners.tolist(), [], [(0, 1, 2)])
    obj = bpy.data.objects.new(path.stem, mesh)
    state.target_collection(context).objects.link(obj)
    report.count("triangles")
    return ImportResult([obj], report=report)


def save(context, path, settings, scene) -> ExportResult:
    report = Report()
    (obj,) = (obj for obj in context.view_layer.objects if obj.type == "MESH")
    corners = np.array([obj.matrix_world @ vertex.co for vertex in obj.data.vertices])
    conversion = export_conversion(scene.conversion, [obj], report)
    write_file(path, tri.text(conversion.points(corners)).encode())
    report.count("triangles")
    return ExportResult([path], report)


class IMPORT_SCENE_OT_tri(file_operators.ImportFiles, bpy.types.Operator):
    """Load a triangle"""

    bl_idname = "import_scene.tri"
    bl_label = "Import Triangle"
    filename_ext = ".tri"
    filter_glob: StringProperty(default="*.tri", options={"HIDDEN"})

    bad_data = tri.TriError

    def load(self, context, paths):
        yield 0.0
        return load(context, paths[0], None, self.conversion())


class EXPORT_SCENE_OT_tri(file_operators.ExportFile, bpy.types.Operator):
    """Save a triangle"""

    bl_idname = "export_scene.tri"
    bl_label = "Export Triangle"
    filename_ext = ".tri"
    filter_glob: StringProperty(default="*.tri", options={"HIDDEN"})

    def converted_objects(self, context):
        return list(context.view_layer.objects)

    bad_data = tri.TriError

    def save(self, context, path):
        yield 0.0
        return save(context, path, None, Scene(self.conversion()))


BLENDER = BlenderPart(importer=IMPORT_SCENE_OT_tri, exporters=(EXPORT_SCENE_OT_tri,), load=load, save=save)
