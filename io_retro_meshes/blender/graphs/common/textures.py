# SPDX-License-Identifier: GPL-3.0-or-later
"""Image nodes as texture layers: what they show, and where on the mesh. Both ways."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import atan2, cos, sin

import bpy
import numpy as np

from ....scene import TextureLayer, uv_name
from ... import properties
from ..links import Input, Source
from ..nodes import Tree
from .names import layer_name


def make_texture(
    tree: Tree, index: int, layer: TextureLayer, image: bpy.types.Image | None, explicit: bool, node: bpy.types.Node | None
) -> bpy.types.Node:
    """The image node of a layer, with the coordinates it is looked up at. `node`: one that is there and stays."""
    node = node or tree.add("ShaderNodeTexImage")
    node.name, node.image = layer_name(index), image
    coordinates = _make_coordinates(tree, layer, explicit)
    if coordinates is not None:
        tree.put(node.inputs["Vector"], coordinates)
    node.label = f"{layer.use} {layer.blend}".replace("_", " ").title()
    node.interpolation = "Closest" if layer.nearest else "Linear"
    node.extension = "EXTEND" if any(layer.clamp) else "REPEAT"
    node.retro_meshes.use = layer.use
    node.retro_meshes.blend = layer.blend
    properties.apply(node, layer.settings)
    return node


def _make_coordinates(tree: Tree, layer: TextureLayer, explicit: bool) -> bpy.types.NodeSocket | None:
    """None: those of the mesh's first UV map."""
    moved = layer.offset != (0, 0) or layer.scale != (1, 1) or layer.rotation != 0
    one_axis = layer.clamp[0] != layer.clamp[1]
    if layer.mapping == "UV" and not (moved or one_axis or explicit):
        return None
    if layer.mapping == "UV":
        vector = tree.add("ShaderNodeUVMap", uv_map=tree.uv_name(layer.uv)).outputs[0]
    else:
        vector = _environment(tree, layer.mapping)
    if moved:
        vector = _moved(tree, layer, vector)
    if one_axis:
        # The picture's edges are drawn out; the other axis is wrapped by hand.
        axes = tree.add("ShaderNodeSeparateXYZ", {0: vector}).outputs
        x, y = (axes[axis] if layer.clamp[axis] else tree.math("WRAP", axes[axis], 0.0, 1.0) for axis in (0, 1))
        vector = tree.add("ShaderNodeCombineXYZ", {0: x, 1: y}).outputs[0]
    return vector


def _moved(tree: Tree, layer: TextureLayer, vector: bpy.types.NodeSocket) -> bpy.types.NodeSocket:
    """A mapping node scales and then turns; layers turn and then scale, which is the same only for an even scale."""
    offset, scale, turn = (*layer.offset, 0.0), (*layer.scale, 1.0), (0.0, 0.0, layer.rotation)
    if layer.rotation and layer.scale[0] != layer.scale[1]:
        vector = tree.add("ShaderNodeMapping", {"Vector": vector, "Rotation": turn}).outputs[0]
        turn = (0.0, 0.0, 0.0)
    return tree.add("ShaderNodeMapping", {"Vector": vector, "Location": offset, "Rotation": turn, "Scale": scale}).outputs[0]


def _environment(tree: Tree, mapping: str) -> bpy.types.NodeSocket:
    """Where a sphere map is looked up: by the normal as the camera sees it. A cube map: by the reflection."""
    if mapping == "CUBE":
        direction = tree.add("ShaderNodeTexCoord").outputs["Reflection"]
    else:
        normal = tree.add("ShaderNodeNewGeometry").outputs["Normal"]
        transform = tree.add("ShaderNodeVectorTransform", {0: normal}, vector_type="NORMAL")
        transform.convert_from, transform.convert_to = "WORLD", "CAMERA"
        direction = transform.outputs[0]
    return tree.vector("MULTIPLY_ADD", direction, (0.5, 0.5, 0.5), (0.5, 0.5, 0.5))


# ------------------------------------------------------------------------------------------------------------- reading


@dataclass
class Coordinates:
    uv: str = ""
    mapping: str = "UV"
    wraps: list[bool] = field(default_factory=list)  # an axis that is wrapped by hand, where one is
    moves: list[bpy.types.Node] = field(default_factory=list)  # mapping nodes, the last first


def read_texture(source: Source, image: int, uv_names: Sequence[str]) -> TextureLayer:
    node = source.node
    found = _read_coordinates(source)
    layer = TextureLayer(image, nearest=node.interpolation == "Closest", settings=properties.collect(node))
    layer.uv = _uv_index(found.uv, uv_names)
    layer.mapping = found.mapping  # type: ignore[assignment]
    clamped = node.extension in ("EXTEND", "CLIP")
    layer.clamp = (clamped and not found.wraps[0], clamped and not found.wraps[1]) if found.wraps else (clamped, clamped)
    _take_moves(layer, found.moves)
    return layer


def _read_coordinates(source: Source) -> Coordinates:
    """Back along the vector input to where the coordinates come from."""
    found = Coordinates()
    socket: Input | None = source.input("Vector")
    while socket is not None and (at := socket.source()) is not None:
        socket = None
        if at.kind == "UVMAP":
            found.uv = at.node.uv_map
        elif at.kind == "ATTRIBUTE":
            found.uv = at.node.attribute_name
        elif at.kind == "TEX_COORD" and at.output.name == "Reflection":
            found.mapping = "CUBE"
        elif at.kind == "VECT_TRANSFORM" and at.node.convert_to == "CAMERA":
            found.mapping = "SPHERE"
        elif at.kind == "TEX_COORD" or at.kind == "NEW_GEOMETRY":
            pass
        elif at.kind == "COMBXYZ":
            wraps, socket = _by_axis(at)
            found.wraps = found.wraps or wraps
        else:
            if at.kind == "MAPPING":
                found.moves.append(at.node)
            socket = next((each for each in at.inputs() if each.source() is not None), None)
    return found


def _by_axis(combine: Source) -> tuple[list[bool], Input | None]:
    """Which axes are wrapped by hand, and where both come from."""
    wraps = [False, False]
    onward: Input | None = None
    for axis in (0, 1):
        socket = combine.input(axis)
        at = socket.source() if socket else None
        if at is not None and at.kind == "MATH":
            wraps[axis] = at.node.operation in ("WRAP", "FRACT", "MODULO", "FLOORED_MODULO")
            socket = at.input(0)
            at = socket.source() if socket else None
        if at is not None and at.kind == "SEPXYZ":
            onward = onward or at.input(0)
    return wraps, onward


def _take_moves(layer: TextureLayer, moves: list[bpy.types.Node]) -> None:
    """Mapping nodes as the layer's own offset, scale and rotation: to the digit where the project made them."""
    if not moves:
        return
    values = [_move(node) for node in moves]
    plain = all(node.vector_type == "POINT" for node in moves)
    offset, scale, turn = values[0]
    if plain and len(moves) == 1 and (not turn or scale[0] == scale[1]):
        layer.offset, layer.scale, layer.rotation = offset, scale, turn
    elif plain and len(moves) == 2 and not turn and values[1][:2] == ((0, 0), (1, 1)):
        layer.offset, layer.scale, layer.rotation = offset, scale, values[1][2]
    else:
        matrix = np.eye(3)
        for node, value in zip(moves, values, strict=True):
            matrix = matrix @ _matrix(node.vector_type, *value)
        layer.offset = (float(matrix[0, 2]), float(matrix[1, 2]))
        layer.rotation = atan2(-matrix[0, 1], matrix[0, 0])
        across = (sin(layer.rotation), cos(layer.rotation))
        layer.scale = (float(np.hypot(*matrix[0, :2])), float(matrix[1, :2] @ across))


def _move(node: bpy.types.Node) -> tuple[tuple[float, float], tuple[float, float], float]:
    """Location, scale and rotation; vectors have no location input."""
    location = node.inputs["Location"].default_value if "Location" in node.inputs else (0.0, 0.0)
    scale, turn = node.inputs["Scale"].default_value, node.inputs["Rotation"].default_value[2]
    return (location[0], location[1]), (scale[0], scale[1]), turn


def _matrix(kind: str, offset: tuple[float, float], scale: tuple[float, float], turn: float) -> np.ndarray:
    move = np.array([[1, 0, offset[0]], [0, 1, offset[1]], [0, 0, 1]])
    rotate = np.array([[cos(turn), -sin(turn), 0], [sin(turn), cos(turn), 0], [0, 0, 1]])
    if kind == "TEXTURE":  # the picture is moved, not the coordinates
        inverse = [1 / value if value else 0 for value in scale]
        return np.diag([*inverse, 1]) @ rotate.T @ np.array([[1, 0, -offset[0]], [0, 1, -offset[1]], [0, 0, 1]])
    matrix = rotate @ np.diag([*scale, 1])
    return matrix if kind in ("VECTOR", "NORMAL") else move @ matrix


def _uv_index(name: str, uv_names: Sequence[str]) -> int:
    """The place of a UV map among the mesh's; by its name alone where the mesh is not known."""
    if not name:
        return 0
    if name in uv_names:
        return list(uv_names).index(name)
    prefix = uv_name(1)[:-3]
    return int(name[len(prefix) :]) if name.startswith(prefix) and name[len(prefix) :].isdecimal() else 0
