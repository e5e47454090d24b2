# SPDX-License-Identifier: GPL-3.0-or-later
"""What a .b3d file holds: chunks in chunks, in the file's order and the file's axes.

Every chunk that holds others keeps them in `chunks`, those it does not know among them, so that writing gives the file
back. `rest` is what stood at a chunk's end and fits nothing. Arrays that were read are views of the file.

Compared by identity and never walked by recursion: nodes may be nested as deep as a file likes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from ..binary import decode

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int32]

# VRTS flags
NORMALS = 1
COLORS = 2
MAX_UV_SETS = 8
MAX_UV_SIZE = 4

# KEYS flags
POSITION = 1
SCALE = 2
ROTATION = 4

# Texture flags
TEXTURE_COLOR = 1
TEXTURE_ALPHA = 2
TEXTURE_MASKED = 4
TEXTURE_MIPMAP = 8
TEXTURE_CLAMP_U = 16
TEXTURE_CLAMP_V = 32
TEXTURE_SPHERE = 64
TEXTURE_CUBE = 128
TEXTURE_SECOND_UV = 65536

# Brush fx
FX_FULL_BRIGHT = 1
FX_VERTEX_COLORS = 2
FX_FLAT = 4
FX_NO_FOG = 8
FX_DOUBLE_SIDED = 16
FX_FORCE_ALPHA = 32

TRIANGLE = np.dtype(("<i4", 3))
WEIGHT = np.dtype([("vertex", "<i4"), ("weight", "<f4")])


def key_dtype(flags: int) -> np.dtype[Any]:
    """A key of a KEYS chunk with these flags."""
    fields: list[Any] = [("frame", "<i4")]
    if flags & POSITION:
        fields.append(("position", "<f4", (3,)))
    if flags & SCALE:
        fields.append(("scale", "<f4", (3,)))
    if flags & ROTATION:
        fields.append(("rotation", "<f4", (4,)))
    return np.dtype(fields)


def floats(*values: float) -> Floats:
    return np.array(values, "<f4")


@dataclass(eq=False)
class Unknown:
    """A chunk that means nothing to the engine: PIVO, XXXX, or anything else."""

    tag: bytes
    data: bytes


# ----------------------------------------------------------------------------------------------- textures and brushes


@dataclass(eq=False)
class Texture:
    file: bytes
    flags: int = 1
    blend: int = 2
    position: Floats = field(default_factory=lambda: floats(0, 0))
    scale: Floats = field(default_factory=lambda: floats(1, 1))
    rotation: float = 0.0


@dataclass(eq=False)
class Textures:
    """TEXS"""

    textures: list[Texture] = field(default_factory=list)


@dataclass(eq=False)
class Brush:
    name: bytes
    color: Floats = field(default_factory=lambda: floats(1, 1, 1, 1))
    shininess: float = 0.0
    blend: int = 1
    fx: int = 0
    texture_ids: Ints = field(default_factory=lambda: np.zeros(0, "<i4"))


@dataclass(eq=False)
class Brushes:
    """BRUS. A file may have several, each with a number of textures a brush of its own."""

    n_texs: int
    brushes: list[Brush] = field(default_factory=list)


# -------------------------------------------------------------------------------------------------------------- meshes


@dataclass(eq=False)
class Vertices:
    """VRTS: one row of floats a vertex."""

    flags: int
    tex_coord_sets: int
    tex_coord_set_size: int
    rows: Floats
    rest: bytes = b""

    @property
    def row_size(self) -> int:
        return self._uv_start + self.tex_coord_sets * self.tex_coord_set_size

    @property
    def _uv_start(self) -> int:
        return 3 + (3 if self.flags & NORMALS else 0) + (4 if self.flags & COLORS else 0)

    @property
    def positions(self) -> Floats:
        return self.rows[:, :3]

    @property
    def normals(self) -> Floats | None:
        return self.rows[:, 3:6] if self.flags & NORMALS else None

    @property
    def colors(self) -> Floats | None:
        return self.rows[:, self._uv_start - 4 : self._uv_start] if self.flags & COLORS else None

    def uvs(self, index: int) -> Floats:
        start = self._uv_start + index * self.tex_coord_set_size
        return self.rows[:, start : start + self.tex_coord_set_size]


@dataclass(eq=False)
class Triangles:
    """TRIS"""

    brush_id: int
    vertex_ids: Ints  # (n, 3)
    rest: bytes = b""


@dataclass(eq=False)
class Mesh:
    """MESH"""

    brush_id: int = -1
    chunks: list[Vertices | Triangles | Unknown] = field(default_factory=list)
    rest: bytes = b""

    @property
    def vertices(self) -> Vertices | None:
        return next((chunk for chunk in self.chunks if isinstance(chunk, Vertices)), None)

    @property
    def triangles(self) -> list[Triangles]:
        return [chunk for chunk in self.chunks if isinstance(chunk, Triangles)]


# --------------------------------------------------------------------------------------------------------------- nodes


@dataclass(eq=False)
class Bone:
    """BONE"""

    weights: Array  # WEIGHT
    rest: bytes = b""


@dataclass(eq=False)
class Keys:
    """KEYS"""

    flags: int
    keys: Array  # key_dtype(flags)
    rest: bytes = b""


@dataclass(eq=False)
class Anim:
    """ANIM"""

    flags: int = 0
    frames: int = 0
    fps: float = 60.0
    rest: bytes = b""


@dataclass(eq=False)
class Sequence:
    """SEQS, a later addition of some tools: a named range of frames."""

    name: bytes
    first: int
    last: int
    flags: int = 0
    rest: bytes = b""


@dataclass(eq=False)
class Node:
    """NODE"""

    name: bytes
    position: Floats = field(default_factory=lambda: floats(0, 0, 0))
    scale: Floats = field(default_factory=lambda: floats(1, 1, 1))
    rotation: Floats = field(default_factory=lambda: floats(1, 0, 0, 0))
    chunks: list[Mesh | Bone | Keys | Anim | Sequence | Node | Unknown] = field(default_factory=list, repr=False)
    rest: bytes = b""

    @property
    def text(self) -> str:
        return decode(self.name)


Chunk = Unknown | Textures | Brushes | Vertices | Triangles | Mesh | Bone | Keys | Anim | Sequence | Node
Kind = TypeVar("Kind", bound=Chunk)


def of_kind(chunks: list[Any], kind: type[Kind]) -> list[Kind]:
    return [chunk for chunk in chunks if isinstance(chunk, kind)]


@dataclass(eq=False)
class Document:
    """BB3D"""

    version: int = 1
    chunks: list[Textures | Brushes | Node | Unknown] = field(default_factory=list, repr=False)
    rest: bytes = b""
    length: int | None = None  # as the file states it, where that is not the truth
    trailing: bytes = b""  # after the chunk
    warnings: list[str] = field(default_factory=list)

    @property
    def textures(self) -> list[Texture]:
        return [texture for chunk in of_kind(self.chunks, Textures) for texture in chunk.textures]

    @property
    def brushes(self) -> list[Brush]:
        return [brush for chunk in of_kind(self.chunks, Brushes) for brush in chunk.brushes]

    def walk(self) -> Iterator[tuple[Node, int]]:
        """Every node and the number of its parent (-1 for a root), in the file's order."""
        stack = [(node, -1) for node in reversed(of_kind(self.chunks, Node))]
        number = 0
        while stack:
            node, parent = stack.pop()
            yield node, parent
            stack.extend((child, number) for child in reversed(of_kind(node.chunks, Node)))
            number += 1
