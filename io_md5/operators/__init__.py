"""The operators of the MD5 family and their places in Blender's menus."""

from __future__ import annotations

from ...io_common.operators.registration import Family
from . import check_game, export_anim, export_camera, export_mesh, file_handler, import_md5

_FAMILY = Family(
    classes=(
        import_md5.IMPORT_SCENE_OT_md5,
        export_mesh.EXPORT_SCENE_OT_md5mesh,
        export_anim.EXPORT_SCENE_OT_md5anim,
        export_camera.EXPORT_SCENE_OT_md5camera,
        file_handler.IO_FH_md5,
        check_game.OBJECT_OT_md5_check_game,
        check_game.DATA_PT_md5_game,
    ),
    import_menus=(import_md5.menu,),
    export_menus=(export_mesh.menu, export_anim.menu, export_camera.menu),
)

register = _FAMILY.register
unregister = _FAMILY.unregister
