"""Data of imported files, stored on Blender's data-blocks so that an export can restore what was not edited.

Only this package uses the keys. Each data-block and bone has one property group ``md5``; meshes also have two
attributes:

==================  ===================================================================================================
armature data       ``commandline``, ``global_scale``, ``axes`` (of the import),
                    ``import_warnings`` (of the last import)
bone                ``index`` (in the file), ``name`` and ``name_shown`` (if Blender cannot hold the name),
                    ``axes`` (of the joint in the space of the bone, w x y z), ``bind`` (position and orientation in
                    the space of the armature, so that the rounding of Blender's matrices does not count as an edit)
mesh data           ``index``, ``name``, ``comment_name`` and ``comment_name_shown`` (the name in a comment, and that
                    of the object), ``weights`` (rows of joint, bias and position), ``weight_ranges``
                    (start and count for each vertex of the file), ``degenerate_triangles`` (number and three
                    vertices), ``unused_vertices`` (vertex, s and t), ``global_scale``, ``axes``
action              ``name`` and ``name_shown``, ``commandline``, ``frame_rate``, ``frame_range``,
                    ``scale_positions`` (joints whose scale also applies to their translation)
camera data         see `camera`
``md5_vertex``      attribute of vertices: the vertex of the file
``md5_corner_vertex``   attribute of face corners: the same, for vertices welded along a UV seam
==================  ===================================================================================================

Loading returns valid values or none. Valid values may no longer describe what Blender shows: exporters verify that.
"""

GROUP = "md5"
"""The name of the property group."""
