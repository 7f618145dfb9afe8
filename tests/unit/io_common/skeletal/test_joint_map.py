"""Joints of two skeletons are paired by names, naming schemes and structure."""

from __future__ import annotations

import numpy as np
import pytest

from io_idtech.io_common.skeletal.joint_map import Body, Pair, find_joint_map, format_joint_map, parse_joint_map
from io_idtech.io_md5.format import Joints, Md5Error

# The parts of a body with their parents and places; each scheme has a name for each, {} is the side.
PARTS = {
    "hips": ("", 0, 40), "spine": ("hips", 0, 46), "chest": ("spine", 0, 54), "neck": ("chest", 0, 64),
    "head": ("neck", 0, 68), "clavicle": ("chest", 2, 62), "upperarm": ("clavicle", 8, 62),
    "forearm": ("upperarm", 20, 62), "hand": ("forearm", 32, 62), "thigh": ("hips", 5, 38), "shin": ("thigh", 5, 20),
    "foot": ("shin", 5, 3), "toe": ("foot", 5, 0),
}  # fmt: skip
SCHEMES = {
    "mixamo": (
        "mixamorig:Hips Spine Spine1 Neck Head {}Shoulder {}Arm {}ForeArm {}Hand {}UpLeg {}Leg {}Foot {}ToeBase",
        "mixamorig:", ("Left", "Right"),
    ),
    "rigify": (
        "spine spine.001 spine.002 spine.004 spine.006 shoulder.{} upper_arm.{} forearm.{} hand.{} thigh.{} shin.{} "
        "foot.{} toe.{}",
        "DEF-", ("L", "R"),
    ),
    "doom 3": (
        "Hips Waist Chest Neck Head {}shoulder {}uparm {}loarm {}hand {}upleg {}loleg {}foot {}toe",
        "", ("L", "R"),
    ),
    "unreal": (
        "pelvis spine_01 spine_02 neck_01 head clavicle_{} upperarm_{} lowerarm_{} hand_{} thigh_{} calf_{} foot_{} "
        "ball_{}",
        "", ("l", "r"),
    ),
    "motion capture": (
        "Hips LowerBack Spine Neck Head {}Shoulder {}Arm {}ForeArm {}Hand {}UpLeg {}Leg {}Foot {}ToeBase",
        "", ("Left", "Right"),
    ),
    "motion capture files": (
        "root lowerback thorax upperneck head {}clavicle {}humerus {}radius {}hand {}femur {}tibia {}foot {}toes",
        "", ("l", "r"),
    ),
    "biped": (
        "Pelvis Spine Spine1 Neck Head {}_Clavicle {}_UpperArm {}_Forearm {}_Hand {}_Thigh {}_Calf {}_Foot {}_Toe0",
        "ValveBiped.Bip01_", ("L", "R"),
    ),
    "sauerbraten": (
        "Hips Spine1 Spine2 Neck Head Collar.{} Bicep.{} Forearm.{} Hand.{} Thigh.{} Shin.{} Foot.{} Toes.{}",
        "", ("L", "R"),
    ),
}  # fmt: skip


def skeleton(scheme):
    """A skeleton, and the part of each of its joints with the side."""
    words, prefix, sides = SCHEMES[scheme]
    words = dict(zip(PARTS, words.split(), strict=True))
    names, parents, positions, meanings = [], [], [], []
    for index, side in enumerate(sides):
        for part, (parent, across, up) in PARTS.items():
            if index and "{}" not in words[part]:
                continue
            above = next((one for one in ((parent, side), (parent, "")) if one in meanings), None)
            meanings.append((part, side if "{}" in words[part] else ""))
            names.append(prefix + words[part].format(side).removeprefix(prefix))
            parents.append(meanings.index(above) if above else -1)
            positions.append((0, (-1) ** index * across, up))
    orientations = np.tile([1.0, 0, 0, 0], (len(names), 1))
    joints = Joints(names, np.array(parents, np.int32), np.array(positions, float), orientations)
    return joints, [(part, side and "LR"[sides.index(side)]) for part, side in meanings]


def chain(names, parents, positions=None):
    count = len(names)
    places = np.zeros((count, 3)) if positions is None else np.array(positions, float)
    return Joints(names, np.array(parents, np.int32), places, np.tile([1.0, 0, 0, 0], (count, 1)))


@pytest.mark.parametrize("target", SCHEMES)
@pytest.mark.parametrize("source", SCHEMES)
def test_every_part_of_a_body_is_paired_between_naming_schemes(source, target):
    (theirs, their_parts), (ours, our_parts) = skeleton(source), skeleton(target)
    found = find_joint_map(theirs, ours)
    wrong = {
        name: (found.get(name), part)
        for name, part in zip(ours.names, our_parts, strict=True)
        if name not in found or their_parts[theirs.names.index(found[name].source)] != part
    }
    assert not wrong


@pytest.mark.parametrize("scheme", SCHEMES)
def test_legs_are_found_in_every_scheme(scheme):
    joints, parts = skeleton(scheme)
    assert [[parts[joint] for joint in leg] for leg in Body(joints).legs] == [
        [(part, side) for part in ("thigh", "shin", "foot")] for side in "LR"
    ]


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("Hips", "hips"), ("mixamorig:Tail", "Tail"), ("Bip01 Tail", "tail"), ("DEF-tail", "Tail"),
        ("ValveBiped.Tail", "tail"), ("J_Bip_C_Tail", "tail"), ("tail.L", "tail_l"), ("LeftTail", "tail.L"),
        ("l_tail", "TailLeft"), ("tail 01", "Tail1"), ("Tail.002", "tail_02"),
    ],
)  # fmt: skip
def test_spelling_prefixes_and_the_notation_of_sides_do_not_matter(source, target):
    found = find_joint_map(chain([source], [-1]), chain([target], [-1]))
    assert (found[target].source, found[target].how) == (source, "spelling")


def test_a_word_that_most_names_begin_with_does_not_matter():
    source = chain(["hips", "spine", "arm.L", "tail", "origin"], [-1, 0, 1, 0, -1])
    target = chain(["Imp_Hips", "Imp_Spine", "Imp_Arm_L", "Imp_Tail", "root"], [-1, 0, 1, 0, -1])
    found = {name: pair.source for name, pair in find_joint_map(source, target).items()}
    assert {"Imp_Hips": "hips", "Imp_Spine": "spine", "Imp_Arm_L": "arm.L", "Imp_Tail": "tail"}.items() <= found.items()


def test_a_letter_before_a_word_is_a_side_if_both_sides_have_it():
    source = chain(["body", "Lwing", "Rwing", "leg", "rest"], [-1, 0, 0, 0, 0])
    target = chain(["body", "wing.L", "wing.R", "eg.L"], [-1, 0, 0, 0])
    found = find_joint_map(source, target)
    assert {name: pair.source for name, pair in found.items() if pair.how == "spelling"} == {
        "wing.L": "Lwing", "wing.R": "Rwing",
    }  # fmt: skip
    assert "eg.L" not in found


def test_chains_of_equal_length_between_mapped_joints_are_paired_by_where_they_point():
    places = [(0, 0, 0), (1, 0, 0), (2, 0, 0), (0, 1, 0), (0, 2, 0)]
    source = chain(["hand", "a", "b", "c", "d"], [-1, 0, 1, 0, 3], places)
    target = chain(["hand", "x", "z", "y", "w"], [-1, 0, 0, 1, 2], [places[i] for i in (0, 3, 1, 4, 2)])
    found = find_joint_map(source, target)
    assert {name: pair.source for name, pair in found.items()} == {
        "hand": "hand", "x": "c", "y": "d", "z": "a", "w": "b",
    }  # fmt: skip


def test_joints_that_names_do_not_pair_are_paired_by_order_unless_names_say_another_one():
    source = chain(["hips", "leg.L", "leg.R", "a", "b"], [-1, 0, 0, 1, 2])
    target = chain(["Hips", "thing", "leg_r", "x", "y"], [-1, 0, 0, 1, 2])
    found = find_joint_map(source, target)
    assert [found[name].source for name in target.names] == source.names
    assert [found[name].how for name in target.names] == ["spelling", "order", "spelling", "order", "order"]
    target = chain(["Hips", "leg_r", "thing", "x", "y"], [-1, 0, 0, 1, 2])
    assert "order" not in {pair.how for pair in find_joint_map(source, target).values()}


def test_fingers_are_paired_from_the_hand_whether_or_not_they_have_a_joint_for_the_tip():
    source = chain([f"LeftHandIndex{number}" for number in (1, 2, 3, 4)], [-1, 0, 1, 2])
    target = chain(["finger_index.L", "finger_index2.L", "finger_index3.L"], [-1, 0, 1])
    found = find_joint_map(source, target)
    assert [found[name].source for name in target.names] == source.names[:3]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_limbs_are_arms_and_legs_without_feet_and_shoulders(scheme):
    joints, parts = skeleton(scheme)
    limbs = [(part, side) for side in "LR" for part in ("upperarm", "forearm", "hand", "thigh", "shin")]
    assert [parts[joint] for joint in Body(joints).limbs()] == limbs


def test_a_body_whose_left_is_named_right_is_mapped_by_where_its_feet_point():
    source, target = skeleton("mixamo")[0], skeleton("rigify")[0]
    for joints, ahead in ((source, 4), (target, -4)):
        for joint, name in enumerate(joints.names):
            if "oe" in name:
                joints.positions[joint, 0] += ahead
    found = find_joint_map(source, target)
    assert found["DEF-thigh.L"].source == "mixamorig:RightUpLeg"
    assert found["DEF-hand.R"].source == "mixamorig:LeftHand"
    assert find_joint_map(source, source) == {name: Pair(name, "name") for name in source.names}


def test_a_skeleton_without_sides_has_no_known_limbs():
    assert Body(chain(["body", "tail"], [-1, 0])).limbs() is None


def test_a_joint_at_the_place_of_another_on_another_branch_gets_its_source():
    source = chain(["body", "arm", "hand"], [-1, 0, 1], [(0, 0, 0), (0, 1, 0), (0, 2, 0)])
    target = chain(["body", "arm", "hand", "grip"], [-1, 0, 1, 0], [(0, 0, 0), (0, 1, 0), (0, 2, 0), (0, 2, 0)])
    found = find_joint_map(source, target)["grip"]
    assert (found.source, found.how) == ("hand", "place")


def test_a_map_comes_back_from_its_file():
    pairs = {"hüfte": "mixamorig:Hips", "a b": 'say "b"'}
    assert parse_joint_map(format_joint_map(pairs)) == pairs


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"joints": []}', '{"joints": {"a": 1}}', "[" * 100_000])
def test_what_is_no_map_is_an_error(text):
    with pytest.raises(Md5Error, match="not a map of joints"):
        parse_joint_map(text)
