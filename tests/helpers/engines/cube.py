"""Sauerbraten, Tesseract and Red Eclipse (`md5.h`), and iqm's compiler: line by line, by `sscanf` and `strstr`.

Facts: a line holds 511 bytes; names of joints are read in quotes in a mesh, but by `%100s` in an animation, which ends
at white space; a mesh is known by the comment ``// meshes: NAME``; blocks end at a line that begins with a brace.
"""

from __future__ import annotations

import re

import numpy as np

from .posing import EngineMesh, Loaded, Refused, read_once, rotations, unpack

LINE_BYTES = 511
MOST_JOINTS, IQM_MOST_JOINTS = 256, 255
MOST_INDEX = 65535

_NUMBER = r"\s*(-?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)"
_VERT = re.compile(rf"\s*vert{_NUMBER}\s*\({_NUMBER}{_NUMBER}\s*\){_NUMBER}{_NUMBER}")
_TRI = re.compile(rf"\s*tri{_NUMBER}{_NUMBER}{_NUMBER}{_NUMBER}")
_WEIGHT = re.compile(rf"\s*weight{_NUMBER}{_NUMBER}{_NUMBER}\s*\({_NUMBER}{_NUMBER}{_NUMBER}\s*\)")
_JOINT = re.compile(rf"{_NUMBER}\s*\({_NUMBER}{_NUMBER}{_NUMBER}\s*\)\s*\({_NUMBER}{_NUMBER}{_NUMBER}\s*\)")
_BASE = re.compile(rf"\s*\({_NUMBER}{_NUMBER}{_NUMBER}\s*\)\s*\({_NUMBER}{_NUMBER}{_NUMBER}\s*\)")
_HIERARCHY = re.compile(rf"\s*(\S{{1,100}}){_NUMBER}{_NUMBER}{_NUMBER}")
_QUOTED_HIERARCHY = re.compile(rf"{_NUMBER}{_NUMBER}{_NUMBER}")
_NAMED = re.compile(r'\s*(?:"([^"]*)"?|(\S*))')


def load(mesh: bytes, animation: bytes, *, iqm: bool = False) -> Loaded:
    """A model and an animation of it; `Loaded.meshes` are those that get a texture by their name or shader."""
    loaded = _mesh(mesh, iqm)
    _animation(animation, loaded, iqm)
    return loaded


class _Lines:
    def __init__(self, data):
        text = data.decode("latin-1")
        # What is too long for the buffer goes on as another line.
        self.lines = [
            line[at : at + LINE_BYTES] for line in text.split("\n") for at in range(0, max(len(line), 1), LINE_BYTES)
        ]
        self.at = 0

    def __iter__(self):
        while self.at < len(self.lines):
            self.at += 1
            yield self.lines[self.at - 1]

    def block(self):
        """The lines up to one that begins with a closing brace."""
        for line in self:
            if line.startswith("}"):
                return
            yield line


def _header(line, key):
    found = re.match(rf"\s*{key}\s+(-?\d+)", line)
    return int(found[1]) if found else None


@read_once
def _mesh(data, iqm):
    lines = _Lines(data)
    joint_count, names, parents, rows, meshes = 0, [], [], [], []
    for line in lines:
        if (version := _header(line, "MD5Version")) is not None:
            if version != 10:
                raise Refused("version")
        elif (joints := _header(line, "numJoints")) is not None:
            joint_count = joints
            if joints < 1 or joints > (IQM_MOST_JOINTS if iqm else MOST_JOINTS):
                raise Refused("number of joints")
        elif (count := _header(line, "numMeshes")) is not None:
            if count < 1:
                raise Refused("no meshes")
        elif "joints {" in line:
            for row in lines.block():
                name = _NAMED.match(row)
                numbers = _JOINT.match(row, name.end())
                if numbers:
                    names.append(name[1] if name[1] is not None else name[2])
                    parents.append(int(float(numbers[1])))
                    rows.append([float(value) for value in numbers.groups()[1:]])
            if len(rows) != joint_count:
                raise Refused("number of joints")
        elif "mesh {" in line:
            mesh = _block(lines)
            if len(mesh.uvs) and len(mesh.triangles):
                meshes.append(mesh)
    if not meshes:
        raise Refused("no meshes")
    if iqm:
        # Of meshes with the same name and material one is left.
        meshes = list({(mesh.name, mesh.shader): mesh for mesh in meshes}.values())
    table = np.array(rows)
    loaded = Loaded(meshes, (rotations(table[:, 3:]), table[:, :3]), np.array(parents))
    loaded.joint_names = names
    return loaded


def _block(lines):
    name, shader = "", ""
    verts, tris, weights = {}, {}, {}
    counts = {"numverts": 0, "numtris": 0, "numweights": 0}
    for line in lines.block():
        if "// meshes:" in line:
            name = line[line.index(":") + 1 :].strip()
            continue
        if "shader" in line:
            found = re.search(r'"([^"]*)"', line)
            shader = found[1] if found else shader
            continue
        for key in counts:
            if (count := _header(line, key)) is not None:
                counts[key] = max(count, 0)
        for pattern, table in ((_VERT, verts), (_TRI, tris), (_WEIGHT, weights)):
            row = pattern.match(line)
            if row:
                values = [float(value) for value in row.groups()]
                table[int(values[0])] = values[1:]

    def filled(table, count, width):
        result = np.zeros((count, width))
        for index, values in table.items():
            if 0 <= index < count:
                result[index] = values
        return result

    verts = filled(verts, counts["numverts"], 4)
    weights = filled(weights, counts["numweights"], 5)
    if len(verts) > MOST_INDEX or len(weights) > MOST_INDEX:
        raise Refused("indices of 16 bits")
    return EngineMesh(
        uvs=verts[:, :2],
        starts=verts[:, 2].astype(int),
        counts=verts[:, 3].astype(int),
        triangles=filled(tris, counts["numtris"], 3).astype(int),
        joints=weights[:, 0].astype(int),
        biases=weights[:, 1],
        offsets=weights[:, 2:],
        shader=shader,
        name=name,
    )


def _animation(data, loaded, iqm):
    lines = _Lines(data)
    joint_count = len(loaded.parents)
    component_count = frame_count = 0
    parents, flags, starts, base, frames = [], [], [], [], []
    for line in lines:
        if (version := _header(line, "MD5Version")) is not None:
            if version != 10:
                raise Refused("version")
        elif (joints := _header(line, "numJoints")) is not None:
            if joints != joint_count:
                raise Refused("other joints")
        elif (count := _header(line, "numFrames")) is not None:
            frame_count = count
            if count < 1:
                raise Refused("no frames")
        elif (count := _header(line, "numAnimatedComponents")) is not None:
            component_count = count
        elif "bounds {" in line:
            for _ in lines.block():
                pass
        elif "hierarchy {" in line:
            for row in lines.block():
                name = _NAMED.match(row)
                numbers = _QUOTED_HIERARCHY.match(row, name.end()) if iqm else _HIERARCHY.match(row)
                if numbers:
                    parent, flag, start = (int(float(value)) for value in numbers.groups()[-3:])
                    parents.append(parent)
                    flags.append(flag)
                    starts.append(start)
            if len(parents) != joint_count:
                raise Refused("crashes: the hierarchy has fewer joints than the base frame")
        elif "baseframe {" in line:
            for row in lines.block():
                numbers = _BASE.match(row)
                if numbers:
                    base.append([float(value) for value in numbers.groups()])
            if len(base) != joint_count:
                raise Refused("base frame")
        elif _header(line, "frame") is not None:
            values = " ".join(lines.block()).split()
            try:
                frames.append(np.array(values[:component_count], dtype=np.float64))
            except ValueError:
                raise Refused("numbers of a frame") from None
            if len(frames[-1]) < component_count:
                raise Refused("numbers of a frame")
    if len(frames) != frame_count:
        raise Refused("number of frames")
    table = np.array(base)
    # A joint whose first component is not there keeps its base.
    flags = [flag if start < component_count else 0 for flag, start in zip(flags, starts, strict=True)]
    loaded.components = np.array([unpack(flags, starts, table, values) for values in frames])
    loaded.parents = np.array(parents)
