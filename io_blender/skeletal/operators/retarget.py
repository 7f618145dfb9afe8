"""*Animation Between Skeletons*: the map of joints to bones in the tab id Tech, and the transfer of many animations."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from bpy.props import CollectionProperty
from bpy.types import Context, Object

from ....io_common.game_tree.archives import files_in
from ....io_common.skeletal.formats import SkeletalFormat
from ....io_common.skeletal.joint_map import find_joint_map, format_joint_map, read_joint_map
from ....io_common.skeletal.model import SkeletalError
from ....io_common.skeletal.retargeting import nearest_axes
from ....io_common.texts import counted, matches
from ... import state, versions
from ...clips.actions import suitable_actions
from ...clips.clip import action_clip
from ...clips.playing import Player
from ...operators.file_operators import ExportHelper, ImportHelper
from ...operators.job_operator import JobOperator, NoFileError, Outcome
from ...operators.panel_parts import NamedList, Operator, OperatorResult, TabPanel, draw_options, draw_right, fail
from ...operators.preferences import registered
from ...options import frame_start_option, hidden, option, properties
from ...reports import ImportResult, Job, Progress, Report, printable
from ...scene import axes, mesh_data
from ...scene.objects import armature_of
from ..exporting.animation import encode_clip, sample_clip
from ..exporting.clips import AnimationOptions, Clip, listed_clip
from ..exporting.skeleton import NO_VOLUME, ArmaturePart, Skeleton, build_skeleton, nearest_rotations
from ..importing.action import ActionBuilder
from ..importing.folder import read_animations
from ..importing.importer import set_scene_timing
from ..importing.plan import Transfer, check_editable, plan_transfer, read_user_map
from ..importing.sources import ImportSkeleton, Rest, SourceAnimation
from ..options import ImportOptions
from ..records import ACTION_RATE, SOURCE_HOW, SOURCE_JOINT, load_joint_map, store_joint_map
from ..rig import read_rig


def _target(context: Context, name: str = "") -> Object:
    """The armature of a name, or the active one; raises SkeletalError."""
    target = armature_of(bpy.data.objects.get(name) if name else context.view_layer.objects.active)
    if target is None or not target.data.bones:
        raise SkeletalError(f"there is no armature {name} with bones" if name else "make an armature with bones active")
    return target


def other_armatures(context: Context) -> list[Object]:
    """The selected armatures but for the active one."""
    active = context.view_layer.objects.active
    return [obj for obj in context.view_layer.objects.selected if obj.type == "ARMATURE" and obj != active]


def _has_armature(cls: type, context: Context) -> bool:
    active = context.view_layer.objects.active
    return active is not None and active.type == "ARMATURE" and bool(active.data.bones)


@properties
class _SourceOption(Operator):
    """The choice of a source: an armature or a file of any skeletal family."""

    source: str = option("", "Source", "Armature with the joints and actions. Empty: the selected armature, or files")
    filepath: str = option("", "File", "Animation of any skeletal format", subtype="FILE_PATH", options={"SKIP_SAVE"})
    filter_glob: str = hidden("")

    def source_name(self, context: Context) -> str:
        """The name of the armature that is the source; empty for files."""
        is_of_files = any(getattr(self, name, None) for name in ("files", "filepath", "directory"))
        others = [] if is_of_files else other_armatures(context)
        return self.source or (others[0].name if others else "")

    def select_file(self, context: Context) -> OperatorResult:
        self.filter_glob = ";".join(f"*{suffix}" for suffix in _formats())
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}


def _source_skeleton(context: Context, name: str, target: Object) -> Skeleton:
    """The joints of an armature as a source; raises SkeletalError."""
    source = _target(context, name)
    if source == target:
        raise SkeletalError("the source is the target: choose another armature")
    bones = source.data.bones
    world = np.array(mesh_data.world_matrix(source))
    part = ArmaturePart(source, read_rig(source.data), world)
    # Joints lie along the axes of the scene, however far the object is turned.
    rotation, _ = nearest_rotations(world[:3, :3])
    conversion = axes.Conversion(1.0, nearest_axes(rotation) @ rotation.T)
    if any(bone.use_deform for bone in bones):
        # The controls of a rig have the names of parts of a body too.
        mapped = load_joint_map(target.data).values()
        part.left_out = {bone.name for bone in bones if not bone.use_deform and bone.name not in mapped}

    def rest_pose(names: list[str]) -> np.ndarray:
        return np.array([[bones[name].matrix_local for name in names]])

    return build_skeleton([part], conversion, Report(), sample=rest_pose)


@properties
class ARMATURE_OT_idtech_retarget(_SourceOption, JobOperator, bpy.types.Operator):
    """Transfer the animations of another armature or of files to the active armature, an action for each"""

    bl_idname = "armature.idtech_retarget"
    bl_label = "Animation Between Skeletons"
    bl_options = {"REGISTER", "UNDO"}

    verb = "Transferred"

    target: str = option("", "Target", "Armature that gets the actions. Empty: the active one", options={"SKIP_SAVE"})
    animation_filter: str = option(
        "", "Filter", "Transfer only animations with this in their names. With * and ? it is a pattern for the whole "
        "name, such as walk*",
    )  # fmt: skip
    joint_map: str = option(
        "", "Joint Map", "File with the map. Empty: that of the armature, else one found by names", subtype="FILE_PATH",
        options=versions.PATH_OPTIONS,
    )  # fmt: skip
    keep_feet: bool = option(False, "Keep Feet", "Bend the legs so that feet stand still where those of the source do")
    frame_start: int = frame_start_option("each file. Actions keep their frames")
    directory: str = option("", "Folder", "Folder with the animations", subtype="DIR_PATH", options={"SKIP_SAVE"})
    files: Any = CollectionProperty(type=bpy.types.OperatorFileListElement, options={"SKIP_SAVE", "HIDDEN"})

    poll: Any = classmethod(_has_armature)

    def invoke(self, context: Context, event: Any) -> OperatorResult:
        self.source = self.source_name(context)
        return context.window_manager.invoke_props_dialog(self) if self.source else self.select_file(context)

    def draw(self, context: Context) -> None:
        layout = self.layout
        layout.use_property_split = True
        layout.prop_search(self, "source", bpy.data, "objects", icon="ARMATURE_DATA")
        frame_start = () if self.source else ("frame_start",)
        draw_options(layout, self, "animation_filter", "joint_map", "keep_feet", *frame_start)

    def _paths(self) -> list[Path]:
        """The chosen animations, or all of the folder; raises NoFileError."""
        folder = Path(bpy.path.abspath(self.directory or "//"))
        paths = [folder / file.name for file in self.files if file.name]
        if not paths and self.filepath and not Path(bpy.path.abspath(self.filepath)).is_dir():
            paths = [Path(bpy.path.abspath(self.filepath))]
        if not paths and self.directory:
            paths = [path for path in files_in(folder) if path.suffix.lower() in _formats()]
        paths = [path for path in paths if matches(path.stem, self.animation_filter)]
        if not paths:
            raise NoFileError(f"No animation was chosen: set Source to an armature, or choose {_suffixes()} files")
        return paths

    def job(self, context: Context) -> Job[Outcome]:
        """Transfers the animations of a source, or of files; all are read before the first action is made."""
        target, name = _target(context, self.target), self.source_name(context)
        check_editable(target)
        if abs(target.matrix_world.determinant()) < NO_VOLUME:
            raise SkeletalError(f"{target.name} has a scale of 0: set it to 1")
        progress, result = Progress(), ImportResult()
        options = ImportOptions(
            keep_feet=self.keep_feet, frame_start=self.frame_start, use_conversion_of_armature=not name
        )
        user_map = read_user_map(bpy.path.abspath(self.joint_map))
        with state.temporary_object_mode(context):
            skeleton = ImportSkeleton(target.name, read_rig(target.data).joints, obj=target)
            if name:
                found, clips = yield from self._read_actions(context, name, target, result.report, progress)
            else:
                found, clips = [one for path in self._paths() for one in _read(path)], []
            progress.expect(len(found))
            # Skeletons with the same joints have the same map.
            plans: dict[tuple[str, ...], Transfer] = {}
            for source in found:
                source.rest = source.find_rest()
                key = tuple(source.rest.joints.names)
                plan = plans.get(key) or plan_transfer(source, skeleton, user_map)
                if plan is None:
                    raise SkeletalError("no joint is mapped: map them in the tab id Tech", path=str(source.path))
                plans[key] = plan
            builder = ActionBuilder(context, target, options, result)
            for source in found:
                builder.build(source, replace(plans[tuple(source.rest.joints.names)], rest=source.rest))
                yield progress.step()
            for action, clip in zip(result.actions, clips, strict=False):
                if clip.stored is None or clip.stored.frame_rate is None:
                    # It plays at the rate of the scene, as its source does.
                    ACTION_RATE.write(action, None)
            if not name:
                set_scene_timing(context.scene, found[0], options, result.report)
        return result.report, [one.path for one in found]

    def _read_actions(
        self, context: Context, name: str, target: Object, report: Report, progress: Progress
    ) -> Job[tuple[list[SourceAnimation], list[Clip]]]:
        """The actions of an armature with the filter in their names, and its rest pose; raises SkeletalError."""
        skeleton = _source_skeleton(context, name, target)
        source: Any = skeleton.armature
        clips = [
            listed_clip(action_clip(action, slot), context.scene)
            for action, slot in suitable_actions(source).chosen
            if matches(action.name, self.animation_filter)
        ]
        if not clips:
            filtered = " with the filter in its name" if self.animation_filter else ""
            raise SkeletalError(f"{source.name} has no action{filtered}")
        found = []
        options = AnimationOptions()
        progress.expect(len(clips))
        with Player(context, [source], clips) as player:
            for clip in clips:
                sampled = yield from sample_clip(clip, skeleton, player, options, report, progress)
                animation = encode_clip(sampled, skeleton, options, "")
                rest = Rest(skeleton.joints, True)
                found.append(SourceAnimation(Path(clip.name), animation, clip.name, rest=rest, frame_start=clip.start))
                yield progress.step()
        return found, clips


def _formats() -> dict[str, SkeletalFormat]:
    """The formats of the registered families, by the suffix of their animations."""
    return {family.skeletal.animation_suffix: family.skeletal for family in registered if family.skeletal}


def _suffixes() -> str:
    return " or ".join(_formats())


def _read(path: Path) -> list[SourceAnimation]:
    """The animations in a file; raises SkeletalError or OSError."""
    kind = _formats().get(path.suffix.lower())
    if kind is None:
        raise SkeletalError("unknown file type", path=str(path), found=repr(path.suffix), expected=_suffixes())
    return read_animations(path, kind)


class _JointMapOperator(Operator):
    """An operator with the map of the active armature, without its identifiers."""

    @classmethod
    def poll(cls, context: Context) -> bool:
        # The end of Edit Mode would undo changes of the map.
        return _has_armature(cls, context) and context.view_layer.objects.active.mode != "EDIT"

    def execute(self, context: Context) -> OperatorResult:
        try:
            self.run(_target(context))
        except (SkeletalError, OSError) as error:
            return fail(self, str(error))
        return {"FINISHED"}

    def run(self, target: Object) -> None:
        """Does the work; raises SkeletalError or OSError."""
        raise NotImplementedError


@properties
class _JointMapFile(_JointMapOperator):
    filepath: str
    filename_ext = ".json"
    filter_glob: str = option("*.json", options={"HIDDEN"})


class ARMATURE_OT_idtech_find_joint_map(_SourceOption, _JointMapOperator, bpy.types.Operator):
    """Find the joints of another armature, or of an animation, that stand for the bones of the active armature"""

    bl_idname = "armature.idtech_find_joint_map"
    bl_label = "Find Joint Map"
    bl_options = {"REGISTER", "UNDO"}

    def invoke(self, context: Context, event: Any) -> OperatorResult:
        return self.execute(context) if other_armatures(context) else self.select_file(context)

    def run(self, target: Object) -> None:
        if target.data.library is not None:
            raise SkeletalError(f"The armature {target.data.name} is linked: make it local, so that the map is saved")
        name = self.source_name(bpy.context)
        if name:
            rest = _source_skeleton(bpy.context, name, target).joints
        elif self.filepath:
            rest = _read(Path(bpy.path.abspath(self.filepath)))[0].find_rest().joints
        else:
            raise SkeletalError(f"Select the armature with the joints as well, or choose an {_suffixes()} file")
        found = find_joint_map(rest, read_rig(target.data).joints)
        store_joint_map(target.data, {name: (pair.source, pair.how) for name, pair in found.items()})
        count = len({pair.source for pair in found.values()})
        self.report({"INFO"}, f"{count} of {counted(len(rest), 'joints')} fit")


class ARMATURE_OT_idtech_save_joint_map(_JointMapFile, ExportHelper, bpy.types.Operator):
    """Save the joint map of the active armature to a file (JSON), for other armatures and the command line"""

    bl_idname = "armature.idtech_save_joint_map"
    bl_label = "Save Joint Map"

    def run(self, target: Object) -> None:
        Path(self.filepath).write_text(format_joint_map(load_joint_map(target.data)), "utf-8")


class ARMATURE_OT_idtech_load_joint_map(_JointMapFile, ImportHelper, bpy.types.Operator):
    """Load a joint map from a file (JSON) for the active armature"""

    bl_idname = "armature.idtech_load_joint_map"
    bl_label = "Load Joint Map"
    bl_options = {"REGISTER", "UNDO"}

    def run(self, target: Object) -> None:
        pairs = read_joint_map(Path(self.filepath))
        if not pairs.keys() & set(read_rig(target.data).joints.names):
            raise SkeletalError("The map names none of the bones")
        store_joint_map(target.data, {name: (source, "user") for name, source in pairs.items()})


class IO_MD5_UL_joint_map(NamedList, bpy.types.UIList):
    """The bones of an armature, with the joints whose motion they take."""

    def draw_row(self, layout: Any, item: Any, index: int) -> None:
        row = layout.row(align=True)
        row.label(text=item.name, icon="BONE_DATA")
        row.prop(item, "md5_source_joint", text="")
        draw_right(row, printable(SOURCE_HOW.read(item) or ""))

    def draw_filter(self, context: Context, layout: Any) -> None:
        row = layout.row()
        row.prop(self, "filter_name", text="")
        row.prop(bpy.context.window_manager, "md5_unmapped_only")

    def shown(self, context: Context, rows: Any) -> set[Any]:
        is_unmapped_only = context.window_manager.md5_unmapped_only  # type: ignore[attr-defined]
        return {bone for bone in rows if not (is_unmapped_only and SOURCE_JOINT.read(bone))}


class VIEW3D_PT_idtech_retarget(TabPanel, bpy.types.Panel):
    """The joint map of the active armature, and the transfer."""

    bl_label = "Animation Between Skeletons"
    bl_options = {"DEFAULT_CLOSED"}

    poll: Any = classmethod(_has_armature)

    def draw(self, context: Context) -> None:
        layout: Any = self.layout
        armature: Any = context.view_layer.objects.active
        if armature.mode == "EDIT":
            layout.label(text="Leave Edit Mode to map joints", icon="INFO")
            return
        if not other_armatures(context):
            layout.label(text="Select the source, then this armature", icon="INFO")
        active = ("bones", context.window_manager, "md5_active_joint")
        layout.template_list("IO_MD5_UL_joint_map", "", armature.data, *active, rows=4)
        layout.operator(ARMATURE_OT_idtech_find_joint_map.bl_idname)
        row = layout.row(align=True)
        row.operator(ARMATURE_OT_idtech_load_joint_map.bl_idname, text="Load")
        row.operator(ARMATURE_OT_idtech_save_joint_map.bl_idname, text="Save")
        layout.operator(ARMATURE_OT_idtech_retarget.bl_idname, text="Transfer Animations")


def _set_source_joint(bone: Any, name: str) -> None:
    SOURCE_JOINT.write(bone, name or None)
    SOURCE_HOW.write(bone, "user" if name else None)


_DECLARED: dict[tuple[Any, str], Any] = {
    (bpy.types.Bone, "md5_source_joint"): bpy.props.StringProperty(
        name="Source Joint",
        description="Joint of another skeleton whose motion the bone takes. Empty: it follows its parent",
        get=lambda bone: printable(SOURCE_JOINT.read(bone) or ""),
        set=_set_source_joint,
    ),
    (bpy.types.WindowManager, "md5_active_joint"): bpy.props.IntProperty(
        name="Active Bone", description="The bone that is active in the list"
    ),
    (bpy.types.WindowManager, "md5_unmapped_only"): bpy.props.BoolProperty(
        name="Not Mapped", description="Show only bones without a joint"
    ),
}
PROPERTIES = tuple((*place, declared) for place, declared in _DECLARED.items())
