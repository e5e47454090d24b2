# SPDX-License-Identifier: GPL-3.0-or-later
"""The drafts before the published layout: objects that carry their own geometry. Read, never made.

A: position and texture coordinate. B: and a transform. C: and normals. D: names of 32 bytes, a tree, cameras and lights.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from ..binary import Reader, Writer
from . import tree
from .document import Array

Kind = Literal["A", "B", "C", "D"]
DRAFTS: tuple[Kind, ...] = ("D", "C", "B", "A")

_POINT = [("position", "<f4", 3), ("uv", "<f4", 2)]
POINT_VERTEX = np.dtype(_POINT)
NORMAL_VERTEX = np.dtype([*_POINT, ("normal", "<f4", 3)])
TRANSFORM = np.dtype([("translation", "<f4", 3), ("axis", "<f4", 3), ("angle", "<f4"), ("scale", "<f4", 3)])
CAMERA = np.dtype([("position", "<f4", 3), ("yaw", "<f4"), ("pitch", "<f4")])
LIGHT = np.dtype(
    [
        ("position", "<f4", 3),
        ("ambient", "<f4", 4),
        ("diffuse", "<f4", 4),
        ("specular", "<f4", 4),
        ("ambient_power", "<f4"),
        ("diffuse_power", "<f4"),
        ("specular_power", "<f4"),
    ]
)
INDEX = np.dtype("<u4")
NOTHING = {dtype: np.zeros(0, dtype) for dtype in (POINT_VERTEX, NORMAL_VERTEX, INDEX, TRANSFORM)}
NAME_SIZE = 32  # of draft D: a NUL ends the name, what follows it is anything
_SMALLEST = {"A": 9, "B": 9 + TRANSFORM.itemsize, "C": 9 + TRANSFORM.itemsize, "D": 8 + NAME_SIZE + TRANSFORM.itemsize}


@dataclass(slots=True)
class Object:
    name: bytes
    vertices: Array  # POINT_VERTEX, or NORMAL_VERTEX from draft C on
    indices: Array
    transform: Array  # TRANSFORM; none in draft A


@dataclass
class Draft:
    layout: Kind
    objects: list[Object]
    tree: bytes = b""
    cameras: Array = field(default_factory=lambda: np.zeros(0, CAMERA))
    lights: Array = field(default_factory=lambda: np.zeros(0, LIGHT))
    warnings: list[str] = field(default_factory=list)


def read(data: bytes, layout: Kind) -> Draft:
    """Raises unless the reading ends where the file does."""
    reader = Reader(data, offset=6)
    count = reader.u32("number of objects")
    cameras, lights = (reader.u32("number of cameras"), reader.u32("number of lights")) if layout == "D" else (0, 0)
    reader.need(count * _SMALLEST[layout], "objects")
    draft = Draft(layout, [_object(reader, layout, f"object {number}") for number in range(1, count + 1)])
    if layout == "D":
        start = reader.offset
        draft.tree = reader.cstring("object tree")
        tree.check(draft.tree, start)
        draft.cameras = reader.array(CAMERA, cameras, "cameras")
        draft.lights = reader.array(LIGHT, lights, "lights")
    if reader.remaining:
        raise reader.error(f"{reader.remaining} bytes are left over", "end")
    return draft


def _object(reader: Reader, layout: Kind, what: str) -> Object:
    size = NAME_SIZE if layout == "D" else reader.u8(f"{what}, namelen")
    vertices, indices = reader.u32(f"{what}, vertlen"), reader.u32(f"{what}, indlen")
    return Object(
        reader.take(size, f"{what}, name"),
        _array(reader, NORMAL_VERTEX if layout in "CD" else POINT_VERTEX, vertices, f"{what}, vertices"),
        _array(reader, INDEX, indices, f"{what}, indices"),
        _array(reader, TRANSFORM, 0 if layout == "A" else 1, f"{what}, transform"),
    )


def _array(reader: Reader, dtype: np.dtype[Any], count: int, field: str) -> Array:
    """A file may hold a million empty objects: they share their nothing."""
    return reader.array(dtype, count, field) if count else NOTHING[dtype]


def write(draft: Draft, out: Writer) -> None:
    out.u32(len(draft.objects))
    if draft.layout == "D":
        out.u32(len(draft.cameras))
        out.u32(len(draft.lights))
    for each in draft.objects:
        if draft.layout != "D":
            out.u8(len(each.name))
        out.u32(len(each.vertices))
        out.u32(len(each.indices))
        out.put(each.name)
        for values in (each.vertices, each.indices, each.transform):
            out.array(values)
    if draft.layout == "D":
        out.cstring(draft.tree)
        out.array(draft.cameras)
        out.array(draft.lights)
