"""The operators of the MD2 family and their places in Blender's menus."""

from __future__ import annotations

from ...io_common.operators.registration import Family
from . import check_game, export_md2, file_handler, import_md2

_FAMILY = Family(
    classes=(
        import_md2.IMPORT_SCENE_OT_md2,
        export_md2.EXPORT_SCENE_OT_md2,
        file_handler.IO_FH_md2,
        check_game.OBJECT_OT_md2_check_game,
        check_game.DATA_PT_md2_game,
    ),
    import_menus=(import_md2.menu,),
    export_menus=(export_md2.menu,),
)

register = _FAMILY.register
unregister = _FAMILY.unregister
