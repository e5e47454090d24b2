# SPDX-License-Identifier: GPL-3.0-or-later
"""glTF 2.0: a JSON object that says what there is, and binary buffers with the numbers.

A .glb has both in one file: a header of 12 bytes, then chunks (size, type, data), the JSON first and the buffer BIN next. A
.gltf is the JSON alone; its buffers are in files beside it, or in the JSON itself as data URIs.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ..errors import FormatError

Json = dict[str, Any]

MAGIC = b"glTF"
VERSION = 2
JSON_CHUNK = b"JSON"
BIN_CHUNK = b"BIN\0"

# Values of the enumerations.
FLOAT, UNSIGNED_BYTE, UNSIGNED_SHORT, UNSIGNED_INT = 5126, 5121, 5123, 5125
ARRAY_BUFFER, ELEMENT_ARRAY_BUFFER = 34962, 34963
POINTS, LINES, LINE_LOOP, LINE_STRIP, TRIANGLES, TRIANGLE_STRIP, TRIANGLE_FAN = range(7)
NEAREST, LINEAR, LINEAR_MIPMAP_LINEAR = 9728, 9729, 9987
NEAREST_FILTERS = (9728, 9984, 9986)  # of minFilter and magFilter: those that show pixels as squares
CLAMP_TO_EDGE, REPEAT = 33071, 10497

COMPONENTS = {5120: "<i1", 5121: "<u1", 5122: "<i2", 5123: "<u2", 5125: "<u4", 5126: "<f4"}
WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT4": 16}

LIGHTS = "KHR_lights_punctual"
UNLIT = "KHR_materials_unlit"
SPECULAR = "KHR_materials_specular"
EMISSIVE_STRENGTH = "KHR_materials_emissive_strength"
TEXTURE_TRANSFORM = "KHR_texture_transform"
QUANTIZATION = "KHR_mesh_quantization"
VISIBILITY = "KHR_node_visibility"
WEBP = "EXT_texture_webp"
DRACO = "KHR_draco_mesh_compression"
MESHOPT = ("EXT_meshopt_compression", "KHR_meshopt_compression")
# Required extensions that a file can have and be read right.
KNOWN_EXTENSIONS = {LIGHTS, UNLIT, SPECULAR, EMISSIVE_STRENGTH, TEXTURE_TRANSFORM, QUANTIZATION, VISIBILITY, WEBP}
# What is in another form in the file as well, where it is not required.
COMPRESSIONS = {DRACO, *MESHOPT, "KHR_texture_basisu"}


@dataclass
class Chunk:
    """A chunk of a .glb behind the JSON, with its padding."""

    kind: bytes
    data: bytes


@dataclass
class Document:
    json: Json = field(default_factory=dict)
    binary: bool = True  # a .glb
    chunks: list[Chunk] = field(default_factory=list)
    text: bytes = b""  # the JSON as it was read, with its padding: written as it is while it says the same
    length: int = -1  # that the header of a .glb declares; -1: what it should be
    trailing: bytes = b""  # behind the last chunk
    files: dict[str, bytes] = field(default_factory=dict)  # beside the document: buffers and pictures, by URI
    warnings: list[str] = field(default_factory=list)

    @property
    def root(self) -> Part:
        return Part(self.json, "")

    @property
    def buffer(self) -> bytes:
        """The buffer inside a .glb."""
        return self.chunks[0].data if self.chunks and self.chunks[0].kind == BIN_CHUNK else b""

    @property
    def size(self) -> int:
        """About how many bytes it was read from: what it asks for is measured by this."""
        files = sum(len(data) for data in self.files.values())
        return len(self.text) + sum(len(chunk.data) for chunk in self.chunks) + files


@dataclass(frozen=True)
class Part:
    """An object of the JSON, read field by field: what is of another type than it must be raises FormatError."""

    values: Json
    place: str  # "nodes[3]", for errors

    def bad(self, name: str, message: str) -> FormatError:
        return FormatError(message, field=f"{self.place}.{name}".strip("."))

    def __contains__(self, name: str) -> bool:
        return name in self.values

    def number(self, name: str, default: float) -> float:
        value = self.values.get(name, default)
        if not _is_number(value):
            raise self.bad(name, "not a number")
        return float(value)

    def numbers(self, name: str, count: int, default: tuple[float, ...]) -> list[float]:
        values = self.values.get(name, default)
        if not isinstance(values, list | tuple) or len(values) != count or not all(map(_is_number, values)):
            raise self.bad(name, f"not {count} numbers")
        return [float(value) for value in values]

    def integer(self, name: str, default: int | None = None) -> int:
        """A count or an offset: never negative. Without a default it must be there."""
        value: Any = self.values.get(name, default)
        if not _is_number(value) or value < 0 or value != int(value) or value > 2**53:
            raise self.bad(name, "not a whole number" if name in self.values else "missing")
        return int(value)

    def index(self, name: str, count: int) -> int:
        """A reference to one of `count` things; -1 where there is none."""
        if name not in self.values:
            return -1
        value = self.integer(name)
        if value >= count:
            raise self.bad(name, f"{value}, but there are only {count}")
        return value

    def indices(self, name: str, count: int) -> list[int]:
        values = self._list(name)
        good = all(isinstance(value, int) and not isinstance(value, bool) and 0 <= value < count for value in values)
        if not good:
            raise self.bad(name, f"not a list of numbers from 0 to {count - 1}")
        return values

    def text(self, name: str, default: str = "") -> str:
        value = self.values.get(name, default)
        if not isinstance(value, str):
            raise self.bad(name, "not a text")
        return value.encode("utf-8", "replace").decode()  # JSON can hold halves of characters

    def flag(self, name: str, default: bool = False) -> bool:
        value = self.values.get(name, default)
        if not isinstance(value, bool):
            raise self.bad(name, "neither true nor false")
        return value

    def texts(self, name: str) -> list[str]:
        values = self._list(name)
        if not all(isinstance(value, str) for value in values):
            raise self.bad(name, "not a list of texts")
        return values

    def part(self, name: str) -> Part:
        """An object within; an empty one where it is missing."""
        value = self.values.get(name, {})
        if not isinstance(value, dict):
            raise self.bad(name, "not an object")
        return Part(value, f"{self.place}.{name}".strip("."))

    def parts(self, name: str) -> list[Part]:
        """A list of objects; empty where it is missing."""
        values = self._list(name)
        place = f"{self.place}.{name}".strip(".")
        if not all(isinstance(value, dict) for value in values):
            raise self.bad(name, "not a list of objects")
        return [Part(value, f"{place}[{index}]") for index, value in enumerate(values)]

    def extension(self, name: str) -> Part | None:
        found = self.part("extensions")
        return found.part(name) if name in found else None

    def _list(self, name: str) -> list[Any]:
        values = self.values.get(name, [])
        if not isinstance(values, list):
            raise self.bad(name, "not a list")
        return values

    def items(self) -> Iterator[tuple[str, Any]]:
        return iter(self.values.items())


def _is_number(value: Any) -> bool:
    """Of JSON, and one that a float can hold."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return abs(value) <= 1e300 and math.isfinite(value)
