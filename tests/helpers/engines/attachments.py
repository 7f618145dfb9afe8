"""Where Doom 3 and The Dark Mod put what hangs on an entity: their functions, one after the other, as they compute.

Vectors are rows and are multiplied from the left, as in the engines. Doom 3's `Actor.cpp`: `SetupHead`, `Attach`; The
Dark Mod's `Actor.cpp`: `SetupHead`, and `Entity.cpp`: `ParseAttachmentSpawnargs`, `ParseAttachPositions`,
`idAnimatedEntity::Attach`; `math/Angles.cpp`: `ToMat3`; `Entity.cpp`: `BindToJoint`, and `Physics_Static.cpp`:
`SetMaster`, `Evaluate`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

Values = dict[str, str]


@dataclass
class Transform:
    """An origin and an axis, whose rows are forward, left and up."""

    origin: np.ndarray
    axis: np.ndarray


@dataclass
class Hanging:
    """What hangs on a joint: the entity's or model's name, the joint, and the place that stays the same on it."""

    name: str
    joint: str
    local: Transform

    def on(self, joint: Transform) -> Transform:
        """Where it is while the joint is there (`Evaluate`)."""
        return Transform(joint.origin + self.local.origin @ joint.axis, self.local.axis @ joint.axis)


def get_vector(values: Values, key: str) -> np.ndarray:
    """`idDict::GetVector` and `GetAngles`: what sscanf reads."""
    result = np.zeros(3)
    for index, word in enumerate(values.get(key.lower(), "").split()[:3]):
        result[index] = float(word)
    return result


def to_mat3(angles: np.ndarray) -> np.ndarray:
    """`idAngles::ToMat3` of pitch, yaw and roll."""
    (sp, sy, sr), (cp, cy, cr) = np.sin(np.radians(angles)), np.cos(np.radians(angles))
    return np.array(
        [
            [cp * cy, cp * sy, -sp],
            [sr * sp * cy + cr * -sy, sr * sp * sy + cr * cy, sr * cp],
            [cr * sp * cy + -sr * -sy, cr * sp * sy + -sr * cy, cr * cp],
        ]
    )


def _bind_to_joint(name: str, joint_name: str, entity: Transform, joint: Transform) -> Hanging:
    local = Transform((entity.origin - joint.origin) @ joint.axis.T, entity.axis @ joint.axis.T)
    return Hanging(name, joint_name, local)


def doom3(values: Values, entities: dict[str, Values], joints: dict[str, Transform]) -> list[Hanging]:
    """`idActor::Spawn` of Doom 3.

    Args:
        values: of the entity.
        entities: the values of the others.
        joints: of its model, while things are attached.
    """
    render_axis = np.eye(3)
    result = []
    for key, classname in values.items():
        if not key.startswith("def_attach"):
            continue
        ent = entities[classname]
        joint = joints[ent["joint"]]
        angle_offset, origin_offset = get_vector(ent, "angles"), get_vector(ent, "origin")
        origin = joint.origin + origin_offset @ render_axis
        new_axis = to_mat3(angle_offset) @ joint.axis
        result.append(_bind_to_joint(classname, ent["joint"], Transform(origin, new_axis), joint))
    if values.get("def_head"):
        joint = joints[values["head_joint"]]
        entity = Transform(joint.origin @ render_axis, render_axis)
        result.append(_bind_to_joint(values["def_head"], values["head_joint"], entity, joint))
    return result


def dark_mod(
    classname: str, values: Values, entities: dict[str, Values], joints: dict[str, Transform]
) -> list[Hanging]:
    """The same of The Dark Mod; `classname` is the name of the entity."""
    render_axis = np.eye(3)
    result = []
    head = values.get("def_head", "")
    if head:
        head_offset = get_vector(values, head)
        head_offset = head_offset + get_vector(values, "offsetHeadModel")
        joint = joints[values["head_joint"]]
        entity = Transform((joint.origin + head_offset) @ render_axis, render_axis)
        result.append(_bind_to_joint(head, values["head_joint"], entity, joint))
    positions = []
    for key, name in values.items():
        if key.startswith("attach_pos_name_"):
            suffix = key[len("attach_pos_name_") :]
            positions.append(
                (
                    name,
                    values["attach_pos_joint_" + suffix],
                    get_vector(values, "attach_pos_origin_" + suffix),
                    get_vector(values, "attach_pos_angles_" + suffix),
                )
            )
    for key, attached in values.items():
        if not key.startswith("def_attach") or attached == "-":
            continue
        ent = entities[attached]
        pos_name = values.get("pos_attach" + key[len("def_attach") :], "")
        position = next((one for one in positions if one[0] == pos_name), None)
        origin_sub_offset, angle_sub_offset = np.zeros(3), np.zeros(3)
        if position is not None:
            _, joint_name, origin_offset, angle_offset = position
            origin_sub_offset = get_vector(ent, f"origin_{pos_name}")
            angle_sub_offset = get_vector(ent, f"angles_{pos_name}")
        else:
            joint_name = ent.get("joint", "")
            if joint_name not in joints:
                joint_name = ent["bindtojoint"]
            own = f"angles_{classname}".lower()
            angle_offset = get_vector(ent, own if own in ent else "angles")
            own = f"origin_{classname}".lower()
            origin_offset = get_vector(ent, own if own in ent else "origin")
        joint = joints[joint_name]
        new_axis = to_mat3(angle_offset) @ joint.axis
        origin = joint.origin + origin_offset @ joint.axis + origin_sub_offset @ new_axis
        axis = to_mat3(angle_sub_offset) @ new_axis
        result.append(_bind_to_joint(attached, joint_name, Transform(origin, axis), joint))
    return result
