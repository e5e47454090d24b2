# SPDX-License-Identifier: GPL-3.0-or-later
"""Poses a glTF file in numpy as its specification says: a witness for the project's files that shares nothing with it."""

from __future__ import annotations

import base64
import json
import struct
from pathlib import Path
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

TYPES = {5120: "i1", 5121: "u1", 5122: "<i2", 5123: "<u2", 5125: "<u4", 5126: "<f4"}
WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT4": 16}
BLENDER = np.array([[1, 0, 0], [0, 0, -1], [0, 1, 0]])


class Gltf:
    """From a path, or the bytes of a file that has all in it."""

    def __init__(self, source: Path | bytes) -> None:
        data = source if isinstance(source, bytes) else source.read_bytes()
        self.inside = b""
        if data[:4] == b"glTF":
            size = struct.unpack_from("<I", data, 12)[0]
            text, rest = data[20 : 20 + size], data[20 + size :]
            self.inside = rest[8 : 8 + struct.unpack_from("<I", rest)[0]] if rest else b""
        else:
            text = data
        self.json = json.loads(text.decode("utf-8", "replace"))
        self.buffers = [self._buffer(buffer, source) for buffer in self.json.get("buffers", ())]
        self.nodes = self.json.get("nodes", [])
        self.parents = {child: index for index, node in enumerate(self.nodes) for child in node.get("children", ())}

    def _buffer(self, buffer: dict[str, Any], source: Path | bytes) -> bytes:
        uri = buffer.get("uri")
        if uri is None:
            return self.inside
        if uri.startswith("data:"):
            return base64.b64decode(uri.partition(",")[2])
        assert isinstance(source, Path)
        return (source.parent / uri).read_bytes()

    def array(self, number: int) -> Array:
        accessor = self.json["accessors"][number]
        kind, width = np.dtype(TYPES[accessor["componentType"]]), WIDTHS[accessor["type"]]
        rows = np.zeros((accessor["count"], width))
        if "bufferView" in accessor:
            rows = self._rows(accessor["bufferView"], accessor.get("byteOffset", 0), kind, accessor["count"], width)
        if "sparse" in accessor:
            sparse = accessor["sparse"]
            where = sparse["indices"]
            kinds = np.dtype(TYPES[where["componentType"]])
            places = self._rows(where["bufferView"], where.get("byteOffset", 0), kinds, sparse["count"], 1)[:, 0]
            rows[places.astype(int)] = self._rows(
                sparse["values"]["bufferView"], sparse["values"].get("byteOffset", 0), kind, sparse["count"], width
            )
        if accessor.get("normalized"):
            rows = np.maximum(rows / np.iinfo(kind).max, -1)
        return rows

    def _rows(self, view_number: int, offset: int, kind: Any, count: int, width: int) -> Array:
        view = self.json["bufferViews"][view_number]
        stride = view.get("byteStride", kind.itemsize * width)
        start = view.get("byteOffset", 0) + offset
        return np.ndarray((count, width), kind, self.buffers[view["buffer"]], start, (stride, kind.itemsize)).astype(float)

    # ---------------------------------------------------------------------------------------------------------- poses

    def worlds(self, seconds: float | None, animation: int = 0) -> list[Array]:
        """Every node's matrix; seconds None: nothing animates."""
        channels = {} if seconds is None else self.channels(seconds, animation)
        found: dict[int, Array] = {}
        for start in range(len(self.nodes)):
            path = [start]
            while path[-1] in self.parents and path[-1] not in found:
                path.append(self.parents[path[-1]])
            for index in reversed(path):
                if index not in found:
                    own = local(self.nodes[index], channels.get(index, {}))
                    found[index] = found[self.parents[index]] @ own if index in self.parents else own
        return [found[index] for index in range(len(self.nodes))]

    def pose(self, seconds: float | None, animation: int = 0) -> list[Array]:
        """Every primitive's vertices in the world, in Blender's axes, in the order of the nodes."""
        return [points for _, points in self.posed(seconds, animation)]

    def posed(self, seconds: float | None, animation: int = 0) -> list[tuple[int, Array]]:
        """The same, with the node of each."""
        worlds = self.worlds(seconds, animation)
        found = []
        for index, node in enumerate(self.nodes):
            for primitive in self.json["meshes"][node["mesh"]]["primitives"] if "mesh" in node else ():
                attributes = primitive["attributes"]
                if "POSITION" not in attributes:
                    continue
                points = self.array(attributes["POSITION"])
                points = np.c_[points, np.ones(len(points))]
                if "skin" in node and "JOINTS_0" in attributes:
                    skin = self.json["skins"][node["skin"]]
                    moves = np.array([worlds[joint] for joint in skin["joints"]])
                    if "inverseBindMatrices" in skin:
                        moves = moves @ self.array(skin["inverseBindMatrices"]).reshape(-1, 4, 4).transpose(0, 2, 1)
                    joints = self.array(attributes["JOINTS_0"]).astype(int)
                    weights = self.array(attributes["WEIGHTS_0"])
                    points = np.einsum("nk,nkij,nj->ni", weights, moves[joints], points)
                else:
                    points = points @ worlds[index].T
                found.append((index, points[:, :3] @ BLENDER.T))
        return found

    def channels(self, seconds: float, animation: int = 0) -> dict[int, dict[str, Array]]:
        """The values of an animation at a time."""
        found: dict[int, dict[str, Array]] = {}
        for entry in self.json.get("animations", ())[animation : animation + 1]:
            for channel in entry["channels"]:
                sampler = entry["samplers"][channel["sampler"]]
                times, values = self.array(sampler["input"])[:, 0], self.array(sampler["output"])
                path = channel["target"]["path"]
                value = between(times, values, seconds, sampler.get("interpolation", "LINEAR"), path == "rotation")
                found.setdefault(channel["target"]["node"], {})[path] = value
        return found


def between(times: Array, values: Array, at: float, way: str, rotation: bool) -> Array:
    """Appendix C of the specification."""
    cubic = way == "CUBICSPLINE"
    rows = values.reshape(len(times), 3, -1) if cubic else values
    if at <= times[0] or at >= times[-1]:
        end = 0 if at <= times[0] else -1
        return rows[end, 1] if cubic else rows[end]
    right = int(np.searchsorted(times, at, "right"))
    left = right - 1
    span = times[right] - times[left]
    t = (at - times[left]) / span
    if cubic:
        t2, t3 = t * t, t * t * t
        found = (2 * t3 - 3 * t2 + 1) * rows[left, 1] + span * (t3 - 2 * t2 + t) * rows[left, 2]
        found = found + (-2 * t3 + 3 * t2) * rows[right, 1] + span * (t3 - t2) * rows[right, 0]
        return found / np.linalg.norm(found) if rotation else found
    if way == "STEP":
        return rows[left]
    if not rotation:
        return rows[left] * (1 - t) + rows[right] * t
    a, b = (row / np.linalg.norm(row) for row in (rows[left], rows[right]))
    b = -b if a @ b < 0 else b
    angle = 2 * np.arctan2(np.linalg.norm(a - b), np.linalg.norm(a + b))
    return a if angle < 1e-9 else (np.sin((1 - t) * angle) * a + np.sin(t * angle) * b) / np.sin(angle)


def local(node: dict[str, Any], animated: dict[str, Array]) -> Array:
    if "matrix" in node and not animated:
        return np.array(node["matrix"]).reshape(4, 4).T
    if "matrix" in node:
        matrix = np.array(node["matrix"]).reshape(4, 4).T
        scale = np.linalg.norm(matrix[:3, :3], axis=0)
        rest = {"translation": matrix[:3, 3], "scale": scale, "rotation": matrix[:3, :3] / scale}
    else:
        rest = {
            "translation": np.array(node.get("translation", (0, 0, 0))),
            "scale": np.array(node.get("scale", (1, 1, 1))),
            "rotation": rotation(np.array(node.get("rotation", (0, 0, 0, 1)))),
        }
    turn = rotation(animated["rotation"]) if "rotation" in animated else rest["rotation"]
    matrix = np.eye(4)
    matrix[:3, :3] = turn * animated.get("scale", rest["scale"])
    matrix[:3, 3] = animated.get("translation", rest["translation"])
    return matrix


def rotation(q: Array) -> Array:
    v, w = q[:3] / np.linalg.norm(q), q[3] / np.linalg.norm(q)
    x, y, z = v
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return (w * w - v @ v) * np.eye(3) + 2 * np.outer(v, v) + 2 * w * cross
