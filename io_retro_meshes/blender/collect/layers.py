# SPDX-License-Identifier: GPL-3.0-or-later
"""An image texture node as a layer: what it shows, and where on the mesh."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import atan2, cos, sin

import bpy
import numpy as np

from ...scene import TextureLayer, uv_name
from .. import properties
from .wires import Source, Wire


@dataclass
class Coordinates:
    uv: str = ""
    mapping: str = "UV"
    wraps: list[bool] = field(default_factory=list)  # an axis that is wrapped by hand, where one is
    moves: list[bpy.types.Node] = field(default_factory=list)  # mapping nodes, the last first


def texture_layer(source: Source, image: int, uv_names: Sequence[str]) -> TextureLayer:
    node = source.node
    found = _coordinates(source)
    layer = TextureLayer(image, nearest=node.interpolation == "Closest", settings=properties.collect(node))
    layer.uv = _uv_index(found.uv, uv_names)
    layer.mapping = found.mapping  # type: ignore[assignment]
    clamped = node.extension in ("EXTEND", "CLIP")
    layer.clamp = (clamped and not found.wraps[0], clamped and not found.wraps[1]) if found.wraps else (clamped, clamped)
    _take_moves(layer, found.moves)
    return layer


def _coordinates(source: Source) -> Coordinates:
    """Back along the vector input to where the coordinates come from."""
    found = Coordinates()
    wire: Wire | None = source.input("Vector")
    while wire is not None and (at := wire.source()) is not None:
        wire = None
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
            wraps, wire = _by_axis(at)
            found.wraps = found.wraps or wraps
        else:
            if at.kind == "MAPPING":
                found.moves.append(at.node)
            wire = next((each for each in at.inputs() if each.source() is not None), None)
    return found


def _by_axis(combine: Source) -> tuple[list[bool], Wire | None]:
    """Which axes are wrapped by hand, and where both come from."""
    wraps = [False, False]
    onward: Wire | None = None
    for axis in (0, 1):
        wire = combine.input(axis)
        at = wire.source() if wire else None
        if at is not None and at.kind == "MATH":
            wraps[axis] = at.node.operation in ("WRAP", "FRACT", "MODULO", "FLOORED_MODULO")
            wire = at.input(0)
            at = wire.source() if wire else None
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
