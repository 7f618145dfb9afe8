"""MD5 files as numpy arrays: reading, writing, and the arithmetic of their specification.

Nothing here needs Blender: ``from io_md5.format import read_mesh`` works in any Python program with numpy.
"""

from .anim_file import format_animation, parse_animation, read_animation, write_animation
from .camera_file import format_camera, parse_camera, read_camera, write_camera
from .errors import Md5Error
from .mesh_file import format_mesh, parse_mesh, read_mesh, write_mesh
from .model import ROOT, Animation, Camera, Joints, Mesh, Model

__all__ = [
    "ROOT",
    "Animation",
    "Camera",
    "Joints",
    "Md5Error",
    "Mesh",
    "Model",
    "format_animation",
    "format_camera",
    "format_mesh",
    "parse_animation",
    "parse_camera",
    "parse_mesh",
    "read_animation",
    "read_camera",
    "read_mesh",
    "write_animation",
    "write_camera",
    "write_mesh",
]
