"""MD5 files as numpy arrays: reading, writing, checking, and the arithmetic of their specification.

Nothing here needs Blender: ``from io_md5.format import read_mesh`` works in any Python program with numpy. What
``__all__`` lists is public; everything else, such as the scanner of the text, may change.

Axes are the game's (+X forward, +Y left, +Z up), lengths its units, angles degrees, times seconds. Orientations are
unit quaternions w x y z, except those with three columns, which are x y z as in a file. Functions do not change their
arguments, and return arrays of their own.
"""

from ...io_common.files import Readable, Source, Target, Writable
from ...io_common.frames import Wrap
from ...io_common.rules import Description, Finding, Rule
from ...io_common.skeletal.joint_map import Pair, find_joint_map, retarget
from ...io_common.skeletal.model import ROOT, Animation, AnimationHeader, Joints, Mesh, Model
from ...io_common.skeletal.playback import (
    WRAPS,
    LoopType,
    Space,
    frame_pair,
    interpolate,
    local_pose_at,
    loop_type,
    pose_at,
)
from ...io_common.skeletal.quaternions import (
    conjugate,
    from_matrices,
    lerp,
    make_continuous,
    multiply,
    normalise,
    rotate,
    slerp,
    to_matrices,
    transforms,
    wxyz_from_xyz,
    xyz_from_wxyz,
)
from ...io_common.skeletal.scales import ScaleTable, scaled_poses
from ...io_common.skeletal.skeleton import (
    Fit,
    Match,
    Precision,
    components,
    compose,
    decompose,
    encode_local_poses,
    encode_poses,
    local_poses,
    match_joints,
    poses,
)
from ...io_common.skeletal.skinning import (
    VertexWeights,
    bind_pose,
    face_normals,
    normal_weights,
    skin,
    skin_normals,
    vertex_normals,
    vertex_tangents,
    vertex_weights,
)
from ...io_common.skeletal.weights import fit_weights, model_bounds, pose_bounds
from ...io_common.triangles import flip_v as flip_t
from .check import check_animation, check_camera, check_model, describe
from .games.checks import NameRule, Subject
from .games.profiles import PROFILES, Comments, Game, Profile, Writing
from .games.writing import prepare_animation, prepare_model, rest_pose
from .mdl_file import Mdl, parse_mdl, read_mdl
from .model import MAGIC, OLD_VERSION, VERSION, Camera, Md5Error
from .scale_file import Scales, format_scales, parse_scales, read_scales, scales_of_table, write_scales
from .text.anim_file import format_animation, parse_animation, read_animation, read_animation_header, write_animation
from .text.camera_file import format_camera, parse_camera, read_camera, timeline, write_camera
from .text.mesh_file import format_mesh, parse_mesh, read_joints, read_mesh, write_mesh
from .validation import validate_animation, validate_camera, validate_model

__all__ = [
    "MAGIC", "OLD_VERSION", "PROFILES", "ROOT", "VERSION", "WRAPS", "Animation", "AnimationHeader", "Camera",
    "Comments", "Description", "Finding", "Fit", "Game", "Joints", "LoopType", "Match", "Md5Error", "Mdl", "Mesh",
    "Model", "NameRule", "Pair", "Precision", "Profile", "Readable", "Rule", "ScaleTable", "Scales", "Source", "Space",
    "Subject", "Target", "VertexWeights", "Wrap", "Writable", "Writing", "bind_pose", "check_animation",
    "check_camera", "check_model", "components", "compose", "conjugate", "decompose", "describe",
    "encode_local_poses", "encode_poses", "face_normals", "find_joint_map", "fit_weights", "flip_t",
    "format_animation", "format_camera", "format_mesh", "format_scales", "frame_pair", "from_matrices",
    "interpolate", "lerp", "local_pose_at", "local_poses", "loop_type", "make_continuous", "match_joints",
    "model_bounds", "multiply", "normal_weights", "normalise", "parse_animation", "parse_camera", "parse_mdl",
    "parse_mesh", "parse_scales", "pose_at", "pose_bounds", "poses", "prepare_animation", "prepare_model",
    "read_animation", "read_animation_header", "read_camera", "read_joints", "read_mdl", "read_mesh", "read_scales",
    "rest_pose", "retarget", "rotate", "scaled_poses", "scales_of_table", "skin", "skin_normals", "slerp",
    "timeline", "to_matrices", "transforms", "validate_animation", "validate_camera", "validate_model",
    "vertex_normals", "vertex_tangents", "vertex_weights", "write_animation", "write_camera", "write_mesh",
    "write_scales", "wxyz_from_xyz", "xyz_from_wxyz",
]  # fmt: skip
