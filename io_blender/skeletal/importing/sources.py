"""What an import has read: skeletons to build or of the scene, and animations for them."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ....io_common.frames import FrameSequence
from ....io_common.game_tree.archives import listed_files, readable
from ....io_common.skeletal import quaternions as quat
from ....io_common.skeletal.formats import SkeletalFormat
from ....io_common.skeletal.model import Animation, Joints, Model, SkeletalError
from ....io_common.skeletal.scales import ScaleTable
from ....io_common.skeletal.skeleton import compose, depths, match_joints
from ....io_common.textures.conventions import MaterialImages
from ....io_common.textures.search import Search

if TYPE_CHECKING:
    from bpy.types import Action, Object

# Many times what any game accepts. Blender's time grows with the square of the first two, and it visits child bones
# recursively: a chain of some ten thousand bones crashes it.
_MAX_JOINTS, _MAX_MESHES, _MAX_DEPTH = 4096, 4096, 1000


@dataclass(eq=False)
class ImportSkeleton:
    """A skeleton that an animation can be imported onto: an armature of the scene, or one to be built."""

    name: str  # of the file or object
    joints: Joints  # in the coordinates of the file
    obj: Object | None = None  # None until it is built
    is_edited: bool = False  # whether bones of the import have another rest pose than the file
    model: Model | None = None
    # Found for each mesh's shader; empty if textures are off.
    images: list[MaterialImages] = field(default_factory=list)
    # For each mesh, the names of further skins and their images, None if textures are off.
    skins: list[list[tuple[str, MaterialImages | None]]] = field(default_factory=list)
    path: Path | None = None  # None for an armature of the scene


def read_skeleton(path: Path, model: Model, search: Search | None) -> ImportSkeleton:
    """The skeleton of a model in a file, with its images unless `search` is None; SkeletalError if it is too large."""
    check_size(model.joints, len(model.meshes), path)
    skeleton = ImportSkeleton(path.stem, model.joints, model=model, path=path)
    if search is not None:
        images = search.model(path, [mesh.shader for mesh in model.meshes])
        skeleton.images = [
            images.material(mesh.shader, mesh.name or mesh.comment_name or None) for mesh in model.meshes
        ]
    return skeleton


class Rest(NamedTuple):
    """The skeleton of an animation at rest."""

    joints: Joints
    is_known: bool  # whether it is that of a model; else it is the base frame


class UserMap(NamedTuple):
    """The map of joints in the file that the user chose."""

    name: str  # of the file
    pairs: dict[str, str]  # joints of other skeletons by those of the armature


@dataclass(eq=False)
class SourceAnimation:
    """An animation to import."""

    path: Path  # of its file
    animation: Animation
    name: str  # of the action
    scales: ScaleTable | None = None  # of the joints
    # How the files beside it are read, None if there are none.
    format: SkeletalFormat | None = None
    # Of the skeleton of another model, whose animation is transferred even if its joints fit; None to look for it.
    rest: Rest | None = None
    frame_start: float | None = None  # of its action, None for that of the options
    is_loop: bool | None = None  # whether games repeat it, None if the file does not say
    actions: list[Action] = field(default_factory=list)  # that were made of it
    # Its parts, in models whose animations are one.
    sequences: list[FrameSequence] = field(default_factory=list)

    def find_rest(self) -> Rest:
        """Its skeleton at rest: of a model in its folder with its joints, else its base frame."""
        return self.rest or self._rest_of_model() or Rest(base_pose(self.animation), False)

    def _rest_of_model(self) -> Rest | None:
        if self.format is None:
            return None
        animation = self.animation
        for model in listed_files(self.path.parent, self.format.model_suffix):
            with suppress(SkeletalError, OSError):
                joints = self.format.read_joints(readable(model))
                match = match_joints(animation, joints)
                if match.is_complete:
                    order = [bone for _, bone in sorted(zip(match.joints, match.bones, strict=True))]
                    positions, orientations = joints.positions[order], joints.orientations[order]
                    return Rest(Joints(animation.names, animation.parents, positions, orientations), True)
        return None


@dataclass(eq=False)
class SourceFiles:
    """The models and animations of an import."""

    format: SkeletalFormat
    skeletons: list[ImportSkeleton] = field(default_factory=list)
    animations: list[SourceAnimation] = field(default_factory=list)
    joint_map: UserMap | None = None

    def has(self, path: Path) -> bool:
        """Whether the animations of a file are read."""
        return any(one.path == path for one in self.animations)


def base_pose(animation: Animation) -> Joints:
    """The joints of an animation's base frame."""
    orientations = quat.wxyz_from_xyz(animation.base_orientations)
    return Joints(
        animation.names, animation.parents, *compose(animation.parents, animation.base_positions, orientations)
    )


def check_size(joints: Joints, mesh_count: int, path: Path) -> None:
    """Raises SkeletalError if too many bones or objects would freeze Blender, or too deep a hierarchy crash it."""
    depth = int(depths(joints.parents).max(initial=-1)) + 1
    for count, limit, reason in (
        (len(joints), _MAX_JOINTS, "too many joints"),
        (mesh_count, _MAX_MESHES, "too many meshes"),
        (depth, _MAX_DEPTH, "parent chain too deep"),
    ):
        if count > limit:
            raise SkeletalError(reason, path=str(path), found=str(count), expected=f"at most {limit}")
