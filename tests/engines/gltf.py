# SPDX-License-Identifier: GPL-3.0-or-later
"""Poses a .gltf file in numpy: a witness for what other programs make of the project's files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

TYPES = {5120: "i1", 5121: "u1", 5122: "<i2", 5123: "<u2", 5125: "<u4", 5126: "<f4"}
WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT4": 16}


class Gltf:
    def __init__(self, path: Path) -> None:
        self.json = json.loads(path.read_text("utf-8", "replace"))
        self.buffers = [(path.parent / buffer["uri"]).read_bytes() for buffer in self.json["buffers"]]
        self.nodes = self.json["nodes"]
        self.parents = {child: index for index, node in enumerate(self.nodes) for child in node.get("children", ())}

    def array(self, number: int) -> Array:
        accessor = self.json["accessors"][number]
        view = self.json["bufferViews"][accessor["bufferView"]]
        kind, width = np.dtype(TYPES[accessor["componentType"]]), WIDTHS[accessor["type"]]
        stride = view.get("byteStride", kind.itemsize * width)
        data = self.buffers[view["buffer"]]
        start = view.get("byteOffset", 0) + accessor.get("byteOffset", 0)
        rows = np.ndarray((accessor["count"], width), kind, data, start, (stride, kind.itemsize))
        return rows.astype(float)

    def pose(self, seconds: float) -> list[Array]:
        """Every primitive's vertices in the world, in Blender's axes."""
        channels = self.channels(seconds)
        worlds: dict[int, Array] = {}

        def world(index: int) -> Array:
            if index not in worlds:
                own = local(self.nodes[index], channels.get(index, {}))
                worlds[index] = world(self.parents[index]) @ own if index in self.parents else own
            return worlds[index]

        found = []
        for index, node in enumerate(self.nodes):
            for primitive in self.json["meshes"][node["mesh"]]["primitives"] if "mesh" in node else ():
                if "POSITION" not in primitive["attributes"]:
                    continue
                points = self.array(primitive["attributes"]["POSITION"])
                points = np.c_[points, np.ones(len(points))]
                if "skin" in node and "JOINTS_0" in primitive["attributes"]:
                    skin = self.json["skins"][node["skin"]]
                    inverse = self.array(skin["inverseBindMatrices"]).reshape(-1, 4, 4).transpose(0, 2, 1)
                    moves = np.array([world(joint) for joint in skin["joints"]]) @ inverse
                    joints = self.array(primitive["attributes"]["JOINTS_0"]).astype(int)
                    weights = self.array(primitive["attributes"]["WEIGHTS_0"])
                    points = np.einsum("nk,nkij,nj->ni", weights, moves[joints], points)
                else:
                    points = points @ world(index).T
                found.append(points[:, :3] @ np.array([[1, 0, 0], [0, 0, -1], [0, 1, 0]]).T)
        return found

    def channels(self, seconds: float) -> dict[int, dict[str, Array]]:
        """The values of the first animation on a key: it must have one there, or be constant around."""
        found: dict[int, dict[str, Array]] = {}
        for animation in self.json.get("animations", ())[:1]:
            for channel in animation["channels"]:
                sampler = animation["samplers"][channel["sampler"]]
                times, values = self.array(sampler["input"])[:, 0], self.array(sampler["output"])
                key = int(np.abs(times - seconds).argmin())
                found.setdefault(channel["target"]["node"], {})[channel["target"]["path"]] = values[key]
        return found


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
