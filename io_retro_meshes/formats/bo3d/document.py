# SPDX-License-Identifier: GPL-3.0-or-later
"""What a .bo3d file holds: a flat list of entities, each a pivot or a mesh, in the file's order and the file's axes.

Right-handed, Y up, quaternions w, x, y, z. Arrays that were read are views of the file.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from ..binary import decode

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float32]

MAGIC = b"BO3D"
VERSION = 100
HEADER_SIZE = 20
VERTEX_LIMIT = 65536  # a triangle counts its vertices in 16 bits

PIVOT = np.dtype(
    [
        ("size", "<i4"),  # of the whole entity, this header included
        ("parent", "<i4"),
        ("position", "<f4", 3),
        ("scale", "<f4", 3),
        ("rotation", "<f4", 4),
        ("length", "<i4"),
        ("keys", "<i4"),
        ("name", "<i4"),
        ("vertices", "<i4"),
    ]
)
# What follows when there are vertices.
MESH = np.dtype(
    [
        ("colors", "<i4"),
        ("triangles", "<i4"),
        ("texture", "<i4"),
        ("color", "u1", 4),  # blue, green, red, and an alpha that means nothing
        ("alpha", "<f4"),
        ("fx", "<i4"),
        ("bones", "<i4"),
    ]
)
KEY = np.dtype([("frame", "<i4"), ("position", "<f4", 3), ("scale", "<f4", 3), ("rotation", "<f4", 4)])
VERTEX = np.dtype([("uv", "<f4", 2), ("normal", "<f4", 3), ("position", "<f4", 3)])
HALF_VERTEX = np.dtype([("uv", "<f2", 2), ("normal", "<f2", 3), ("position", "<f2", 3)])
COLOR = np.dtype(("u1", 3))  # red, green, blue
TRIANGLE = np.dtype(("<u2", 3))
BONE = np.dtype([("entity", "<i4"), ("first", "<i4"), ("last", "<i4")])  # last is inclusive; an empty bone is f, f - 1

FX_FULL_BRIGHT = 1
FX_FLAT = 2
FX_NO_FOG = 4
FX_ADD = 8
FX_MULTIPLY = 16
FX_NO_CULL = 32
FX_STENCIL_INCREMENT = 128
FX_STENCIL_DECREMENT = 256
FX_STENCIL_BOTH = 1024


def vertex_dtype(vfloat: int) -> np.dtype[Any]:
    return HALF_VERTEX if vfloat == 16 else VERTEX


def floats(*values: float) -> Floats:
    return np.array(values, "<f4")


@dataclass(eq=False)
class Mesh:
    """The part of an entity that a pivot does not have."""

    vertices: Array  # VERTEX or HALF_VERTEX
    triangles: Array  # (n, 3)
    colors: Array = field(default_factory=lambda: np.empty((0, 3), np.uint8))  # a row for each vertex, or none
    texture: bytes = b""
    bones: Array = field(default_factory=lambda: np.empty(0, BONE))
    color: tuple[int, int, int, int] = (255, 255, 255, 255)  # blue, green, red, alpha
    alpha: float = 1.0
    fx: int = 0

    @property
    def has_colors(self) -> bool:
        """The engine uses them only when there is one for each vertex."""
        return len(self.colors) == len(self.vertices)

    @property
    def has_own_colors(self) -> bool:
        """Do vertices have other colours than the entity's? An export gives them that: the engine has it from nowhere else."""
        blue, green, red, _ = self.color
        if not self.has_colors or self.texture or not len(self.colors) or (red, green, blue) == (255, 255, 255):
            return self.has_colors
        return bool((self.colors != (red, green, blue)).any())


@dataclass(eq=False)
class Entity:
    name: bytes = b""
    parent: int = -1
    position: Floats = field(default_factory=lambda: floats(0, 0, 0))
    scale: Floats = field(default_factory=lambda: floats(1, 1, 1))
    rotation: Floats = field(default_factory=lambda: floats(1, 0, 0, 0))
    length: int = 0  # of the animation; the engine takes the greatest of all entities
    keys: Array = field(default_factory=lambda: np.empty(0, KEY))
    mesh: Mesh | None = None
    # What the file has where zeros are expected, by the list it follows; and what is left over at the end.
    padding: dict[str, bytes] = field(default_factory=dict)
    rest: bytes = b""
    gap: bytes = b""  # from the end of an entity of odd size to the next

    @property
    def text(self) -> str:
        return decode(self.name)


@dataclass(eq=False)
class Document:
    entities: list[Entity] = field(default_factory=list)
    vfloat: int = 32  # bits of a vertex float
    version: int = VERSION
    size: int | None = None  # of the entities, where the header says it wrongly
    rest: bytes = b""
    warnings: list[str] = field(default_factory=list)

    @property
    def length(self) -> int:
        """How many frames the engine plays: 0 to length - 1."""
        return max((entity.length for entity in self.entities), default=0)
