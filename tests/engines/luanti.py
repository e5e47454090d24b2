# SPDX-License-Identifier: GPL-3.0-or-later
"""What Luanti's loaders make of a .b3d and of a .glb, in its own axes: bones, and the numbers of texture slots.

The .b3d is taken from its bytes, the .glb from its JSON and its buffer: nothing here is shared with the project.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .gltf import Gltf

Array = np.ndarray[Any, Any]

FLIP = np.diag([1.0, 1.0, -1.0, 1.0])
WIDTHS = {"position": 3, "scale": 3, "rotation": 4}
BITS = {"position": 1, "scale": 2, "rotation": 4}
DEFAULT_FPS = 60.0


@dataclass
class Joint:
    """A node of a .b3d."""

    name: str
    parent: int
    rest: dict[str, Array]
    keys: dict[str, dict[int, Array]] = field(default_factory=dict)
    bone: bool = False
    surfaces: list[Array] = field(default_factory=list)  # the corners of each TRIS: (n, 3, 3)

    def local(self, frame: float | None) -> Array:
        values = {name: self.value(name, frame) for name in WIDTHS}
        matrix = np.eye(4)
        matrix[:3, :3] = turn(values["rotation"]) * values["scale"]
        matrix[:3, 3] = values["position"]
        return matrix

    def value(self, name: str, frame: float | None) -> Array:
        keys = self.keys.get(name)
        if frame is None or not keys:
            return self.rest[name]
        before = max((key for key in keys if key <= frame), default=min(keys))
        after = min((key for key in keys if key >= frame), default=max(keys))
        if before == after:
            return keys[before]
        t = (frame - before) / (after - before)
        return slerp(keys[before], keys[after], t) if name == "rotation" else keys[before] * (1 - t) + keys[after] * t


def turn(q: Array) -> Array:
    """The file's quaternion (w, x, y, z) turns the other way round than the usual one."""
    w, x, y, z = q / (np.linalg.norm(q) or 1) * [1, -1, -1, -1]
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.array(rows)


def slerp(a: Array, b: Array, t: float) -> Array:
    a, b = a / (np.linalg.norm(a) or 1), b / (np.linalg.norm(b) or 1)
    b = -b if a @ b < 0 else b
    angle = 2 * np.arctan2(np.linalg.norm(a - b), np.linalg.norm(a + b))
    return a if angle < 1e-9 else (np.sin((1 - t) * angle) * a + np.sin(t * angle) * b) / np.sin(angle)


class B3d:
    """The nodes of a .b3d, as they are in the file."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.joints: list[Joint] = []
        self.frames, self.fps = 0, DEFAULT_FPS
        for tag, start, end in self.chunks(12, 8 + struct.unpack_from("<i", data, 4)[0]):
            if tag == b"NODE":
                self.node(start, end, -1)

    def chunks(self, at: int, end: int) -> Iterator[tuple[bytes, int, int]]:
        while at + 8 <= end:
            tag, size = struct.unpack_from("<4si", self.data, at)
            yield tag, at + 8, at + 8 + size
            at += 8 + size

    def node(self, start: int, end: int, parent: int) -> None:
        after = self.data.index(b"\0", start) + 1
        numbers = np.frombuffer(self.data, "<f4", 10, after).astype(float)
        rest = {"position": numbers[:3], "scale": numbers[3:6], "rotation": numbers[6:]}
        made = Joint(self.data[start : after - 1].decode("latin-1"), parent, rest)
        number = len(self.joints)
        self.joints.append(made)
        for tag, at, stop in self.chunks(after + 40, end):
            if tag == b"NODE":
                self.node(at, stop, number)
            elif tag == b"KEYS":
                self.add_keys(made, at, stop)
            elif tag == b"BONE":
                made.bone = True
            elif tag == b"ANIM":
                _, self.frames, self.fps = struct.unpack_from("<iif", self.data, at)
            elif tag == b"MESH":
                self.mesh(made, at + 4, stop)

    def add_keys(self, joint: Joint, at: int, stop: int) -> None:
        flags = struct.unpack_from("<i", self.data, at)[0]
        names = [name for name in WIDTHS if flags & BITS[name]]
        rows = np.frombuffer(self.data[at + 4 : stop], "<f4").reshape(-1, 1 + sum(WIDTHS[name] for name in names))
        column = 1
        for name in names:
            values = rows[:, column : column + WIDTHS[name]].astype(float)
            joint.keys.setdefault(name, {}).update(zip(rows[:, 0].view("<i4").tolist(), values, strict=True))
            column += WIDTHS[name]

    def mesh(self, joint: Joint, start: int, end: int) -> None:
        points = np.zeros((0, 3))
        for tag, at, stop in self.chunks(start, end):
            if tag == b"VRTS":
                flags, sets, size = struct.unpack_from("<3i", self.data, at)
                width = 3 + 3 * (flags & 1) + 2 * (flags & 2) + sets * size
                points = np.frombuffer(self.data[at + 12 : stop], "<f4").reshape(-1, width)[:, :3].astype(float)
            elif tag == b"TRIS":
                joint.surfaces.append(points[np.frombuffer(self.data[at + 4 : stop], "<i4").reshape(-1, 3)])

    def worlds(self, frame: float | None) -> list[Array]:
        """Every node's matrix on a frame of the file; None: nothing animates."""
        found: list[Array] = []
        for joint in self.joints:
            local = joint.local(frame)
            found.append(local if joint.parent < 0 else found[joint.parent] @ local)
        return found

    def key_frames(self) -> list[int]:
        return sorted({frame for joint in self.joints for keys in joint.keys.values() for frame in keys})

    @property
    def surfaces(self) -> list[Array]:
        """In the order of the file: their numbers are Luanti's texture slots."""
        return [surface for joint in self.joints for surface in joint.surfaces]


def glb_worlds(file: Gltf, seconds: float | None) -> list[Array]:
    """Every node's matrix, as the loader has them."""
    return [FLIP @ world @ FLIP for world in file.worlds(seconds)]


def glb_surfaces(file: Gltf) -> list[tuple[int, Array]]:
    """The slot of every primitive and the corners of its triangles in the mesh's space, in the order of the scene graph.

    The loader turns the triangles round, as it flips an axis.
    """
    found: list[tuple[int, Array]] = []
    waiting = list(reversed(file.json["scenes"][file.json.get("scene", 0)].get("nodes", ())))
    while waiting:
        node = file.nodes[waiting.pop()]
        waiting += reversed(node.get("children", ()))
        for primitive in file.json["meshes"][node["mesh"]]["primitives"] if "mesh" in node else ():
            material = file.json["materials"][primitive["material"]] if "material" in primitive else {}
            texture = material.get("pbrMetallicRoughness", {}).get("baseColorTexture")
            points = file.array(primitive["attributes"]["POSITION"]) * [1, 1, -1]
            corners = points[file.array(primitive["indices"])[:, 0].astype(int)].reshape(-1, 3, 3)[:, [0, 2, 1]]
            found.append((len(found) if texture is None else texture["index"], corners))
    return found
