"""The operators and panels of the MD2 family."""

from __future__ import annotations

from ...io_common.family import BlenderPart
from ..batch import load, save
from . import check_game, export_md2, import_md2, panels

BLENDER = BlenderPart(
    importer=import_md2.IMPORT_SCENE_OT_md2,
    exporters=(export_md2.EXPORT_SCENE_OT_md2,),
    load=load,
    save=save,
    classes=(check_game.OBJECT_OT_md2_check_game, check_game.DATA_PT_md2_game, *panels.CLASSES),
    properties=panels.PROPERTIES,
)
