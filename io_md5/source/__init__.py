"""What an import stores on Blender's data for the export of what was not edited: the only place that knows the keys.

Each data-block, and each bone, has one property group ``md5``; two attributes of meshes are public besides:

==================  ===================================================================================================
armature data       ``commandline``, ``global_scale``, ``axes`` (of the import, if it converted coordinates)
bone                ``index`` (place in the file), ``name`` and ``name_shown`` (where Blender cannot hold the name),
                    ``axes`` (of the joint in the space of the bone, w x y z), ``bind`` (position and orientation in
                    the space of the armature, so that the rounding of Blender's matrices is not taken for an edit)
mesh data           ``index``, ``name``, ``comment_name`` and ``comment_name_shown`` (the name in a comment, and that
                    of the object made of it), ``weights`` (rows of joint, bias and position), ``weight_ranges``
                    (start and count for each vertex of the file), ``degenerate_triangles`` (number and three
                    vertices), ``unused_vertices`` (vertex, s and t)
action              ``name`` and ``name_shown``, ``commandline``, ``frame_rate``, ``frame_range``
camera data         see `camera`
``md5_vertex``      attribute of vertices: the vertex of the file
``md5_corner_vertex``   attribute of face corners: the same where a vertex stands for several along a UV seam
==================  ===================================================================================================

Reading returns valid values or none. That they are valid does not mean that they still describe what Blender shows:
that is for the exporters to prove.
"""

GROUP = "md5"
"""The name of the property group."""
