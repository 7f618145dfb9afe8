"""The operators and panels of the MD5 family."""

from __future__ import annotations

from ...io_common.family import BlenderPart
from ..batch import load, save
from ..records import ACTION_RATE
from . import animation_choice, check_game, export_anim, export_camera, export_mesh, import_md5, panels

BLENDER = BlenderPart(
    importer=import_md5.IMPORT_SCENE_OT_md5,
    exporters=(
        export_mesh.EXPORT_SCENE_OT_md5mesh,
        export_anim.EXPORT_SCENE_OT_md5anim,
        export_camera.EXPORT_SCENE_OT_md5camera,
    ),
    load=load,
    save=save,
    groups=(animation_choice.IO_MD5_PG_animation_file,),
    classes=(
        animation_choice.IO_MD5_UL_animation_files,
        check_game.OBJECT_OT_md5_check_game,
        check_game.DATA_PT_md5_game,
        *panels.CLASSES,
    ),
    properties=panels.PROPERTIES,
    action_frame_rate=ACTION_RATE.read,
)
