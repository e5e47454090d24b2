# SPDX-License-Identifier: GPL-3.0-or-later
"""Image nodes as texture layers: what they show, and where on the mesh. Both ways."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import atan2, cos, sin

import bpy
import numpy as np
from mathutils import Euler

from ....scene import TextureLayer, uv_name
from ... import compat, properties
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


# Nodes of the sphere and cube maps that make.py makes, which the kind of their source tells all of.
LEADS_ON = {"VECT_MATH", "MATH", "SEPXYZ"}


def _is_keyed(socket: Input) -> bool:
    """Has this input of a node keys or a driver?"""
    data = socket.socket.id_data.animation_data
    if data is None:
        return False
    path = socket.socket.path_from_id()
    curves = [curve for _, found in (compat.action_curves(data.action) if data.action else ()) for curve in found]
    return any(curve.data_path.startswith(path) for curve in (*curves, *data.drivers))


@dataclass
class Coordinates:
    uv: str = ""
    mapping: str = "UV"
    wraps: list[bool] = field(default_factory=list)  # an axis that is wrapped by hand, where one is
    moves: list[bpy.types.Node] = field(default_factory=list)  # mapping nodes, the last first
    lost: list[str] = field(default_factory=list)  # for people


def read_texture(source: Source, image: int, uv_names: Sequence[str], lost: list[str] | None = None) -> TextureLayer:
    """`lost`: is told what cannot be said, for people."""
    node = source.node
    found = _read_coordinates(source)
    layer = TextureLayer(image, nearest=node.interpolation == "Closest", settings=properties.collect(node))
    layer.uv = _uv_index(found.uv, uv_names)
    layer.map_name = found.uv if found.uv in uv_names else ""
    if found.uv and uv_names and not layer.map_name and not node.retro_meshes.use:
        found.lost.append(f'is laid on by the UV map "{found.uv}", which no mesh has that wears it: the first was used')
    layer.mapping = found.mapping  # type: ignore[assignment]
    clamped = node.extension in ("EXTEND", "CLIP")
    layer.clamp = (clamped and not found.wraps[0], clamped and not found.wraps[1]) if found.wraps else (clamped, clamped)
    _take_moves(layer, found.moves)
    if lost is not None:
        name = node.image.name if node.image else node.name
        lost += [f'the texture "{name}" {each}' for each in (*found.lost, *_odd_pictures(node))]
    return layer


def _odd_pictures(node: bpy.types.Node) -> list[str]:
    """What an image node can do and a texture cannot."""
    source = node.image.source if node.image else "FILE"
    found = {
        "is mirrored from one repeat to the next: it was exported as repeated": node.extension == "MIRROR",
        "is laid on as a box, a ball or a tube: the UV map was used": node.projection != "FLAT",
        "is a film: the picture of the current frame was exported": source in ("SEQUENCE", "MOVIE"),
        "is made of tiles (UDIM): the first was exported": source == "TILED",
    }
    return [words for words, is_so in found.items() if is_so]


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
            if at.output.name not in ("UV", "Normal") or (at.output.name == "Normal" and found.mapping != "SPHERE"):
                found.lost.append(f"is laid on by {at.output.name} coordinates: the UV map was used")
        elif at.kind == "COMBXYZ":
            wraps, socket = _by_axis(at)
            found.wraps = found.wraps or wraps
        else:
            if at.kind == "MAPPING":
                found.moves.append(at.node)
                if any(each.source() is not None or _is_keyed(each) for each in at.inputs() if each.socket.name != "Vector"):
                    found.lost.append("is moved by other nodes or by keys: it was exported as it is placed now")
            elif at.kind not in LEADS_ON:
                found.lost.append(f"has coordinates that the node {at.node.bl_label} changes: it was passed over")
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
    flat = all(node.vector_type == "POINT" and not any(value.turn[:2]) for node, value in zip(moves, values, strict=True))
    (x, y, _), (width, height, _) = values[0].offset, values[0].scale
    offset, scale, turn = (x, y), (width, height), values[0].turn[2]
    if flat and len(moves) == 1 and (not turn or scale[0] == scale[1]):
        layer.offset, layer.scale, layer.rotation = offset, scale, turn
    elif flat and len(moves) == 2 and not turn and (values[1].offset[:2], values[1].scale[:2]) == ((0, 0), (1, 1)):
        layer.offset, layer.scale, layer.rotation = offset, scale, values[1].turn[2]
    else:
        matrix = np.eye(4)
        for node, value in zip(moves, values, strict=True):
            matrix = matrix @ value.matrix(node.vector_type)
        _take_matrix(layer, matrix[:2, [0, 1, 3]])


def _take_matrix(layer: TextureLayer, matrix: np.ndarray) -> None:
    """As offset, scale and rotation where these can say it: where squares of the picture stay right-angled."""
    if abs(matrix[0, :2] @ matrix[1, :2]) > 1e-6 * max(float(np.abs(matrix[:, :2]).max()) ** 2, 1e-12):
        layer.matrix = tuple(tuple(map(float, row)) for row in matrix)
        return
    layer.offset = (float(matrix[0, 2]), float(matrix[1, 2]))
    layer.rotation = atan2(-matrix[0, 1], matrix[0, 0])
    across = (sin(layer.rotation), cos(layer.rotation))
    layer.scale = (float(np.hypot(*matrix[0, :2])), float(matrix[1, :2] @ across))


@dataclass
class Move:
    """The numbers of a mapping node."""

    offset: tuple[float, ...]
    scale: tuple[float, ...]
    turn: tuple[float, ...]

    def matrix(self, kind: str) -> np.ndarray:
        """What it does to coordinates, (4, 4)."""
        move, rotate = np.eye(4), np.eye(4)
        move[:3, 3] = self.offset
        rotate[:3, :3] = np.array(Euler(self.turn).to_matrix())
        if kind == "TEXTURE":  # the picture is moved, not the coordinates
            inverse = [1 / value if value else 0 for value in self.scale]
            move[:3, 3] *= -1
            return np.diag([*inverse, 1]) @ rotate.T @ move
        matrix = rotate @ np.diag([*self.scale, 1])
        return matrix if kind in ("VECTOR", "NORMAL") else move @ matrix


def _move(node: bpy.types.Node) -> Move:
    """Vectors have no location input."""
    location = node.inputs["Location"].default_value if "Location" in node.inputs else (0.0, 0.0, 0.0)
    return Move(tuple(location), tuple(node.inputs["Scale"].default_value), tuple(node.inputs["Rotation"].default_value))


def _uv_index(name: str, uv_names: Sequence[str]) -> int:
    """The place of a UV map among the mesh's; by its name alone where the mesh is not known."""
    if not name:
        return 0
    if name in uv_names:
        return list(uv_names).index(name)
    prefix = uv_name(1)[:-3]
    return int(name[len(prefix) :]) if name.startswith(prefix) and name[len(prefix) :].isdecimal() else 0
