# SPDX-License-Identifier: GPL-3.0-or-later
"""Bytes to document."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..binary import Reader
from . import engine
from .document import BONE, COLOR, HEADER_SIZE, KEY, MAGIC, MESH, PIVOT, TRIANGLE, VERSION, Document, Entity, Mesh, vertex_dtype

COUNTS = ("keys", "name", "vertices", "colors", "triangles", "texture", "bones")


def sniff(data: bytes) -> bool:
    return data[:4] == MAGIC


def read(data: bytes) -> Document:
    """Raises FormatError where the engine's loader would give up, and nothing else."""
    reader = Reader(data)
    if not sniff(data):
        raise reader.error(f"the file begins with {data[:4]!r}, not with {MAGIC!r}", "magic number")
    reader.take(4, "magic number")
    version = reader.i32("version")
    if version > VERSION:
        raise reader.error(f"version {version} is newer than {VERSION}", "version", 4)
    count = reader.i32("number of entities")
    size = reader.i32("byte length of the entity list")
    vfloat = reader.i32("bit length of vertex floats")
    if vfloat not in (16, 32):
        raise reader.error(f"vertex floats have {vfloat} bits; they can have 16 or 32", "bit length of vertex floats", 16)
    if count < 1:
        raise reader.error(f"a file of {count} entities", "number of entities", 8)
    reader.need(count * PIVOT.itemsize, f"{count} entities")
    document = Document(vfloat=vfloat, version=version)
    for index in range(count):
        document.entities.append(_entity(reader, vfloat, f"entity {index}"))
    end = reader.offset
    document.rest = reader.take(reader.remaining, "rest")
    if size != end - HEADER_SIZE:
        document.size = size
        document.warnings.append(f"The header says that the entities take {size} bytes; they take {end - HEADER_SIZE}.")
    if document.rest:
        document.warnings.append(f"{len(document.rest)} bytes after the last entity were kept, unread.")
    document.warnings += engine.oddities(document)
    return document


def _entity(reader: Reader, vfloat: int, where: str) -> Entity:
    start = reader.offset
    reader.need(PIVOT.itemsize, where)
    size = reader.i32(f"{where}, byte length")
    if size < PIVOT.itemsize:
        raise reader.error(f"{size} bytes are too few for the header", f"{where}, byte length", start)
    reader.seek(start, where)
    inner = reader.window(size, f"{where}, byte length")
    header = inner.array(PIVOT, 1, where)[0]
    entity = Entity(
        parent=int(header["parent"]),
        position=header["position"],
        scale=header["scale"],
        rotation=header["rotation"],
        length=int(header["length"]),
    )
    more = inner.array(MESH, 1, f"{where}, mesh header")[0] if header["vertices"] else np.zeros((), MESH)
    for name in COUNTS:
        if (value := int((header if name in PIVOT.fields else more)[name])) < 0:  # type: ignore[operator]
            raise reader.error(f"a count of {value}", f"{where}, {name}", start)
    _lists(inner, entity, header, more, vfloat, where)
    entity.rest = inner.take(inner.remaining, where)
    entity.gap = reader.take(min(-size % 4, reader.remaining), where)
    return entity


def _lists(inner: Reader, entity: Entity, header: Any, more: Any, vfloat: int, where: str) -> None:
    def pad(name: str) -> None:
        """Each list is filled up with zeros to four bytes; the last of an entity may do without."""
        wanted = -(inner.offset - origin) % 4
        found = inner.take(min(wanted, inner.remaining), f"{where}, {name}")
        if found != bytes(wanted):
            entity.padding[name] = found

    origin = inner.offset
    entity.keys = inner.array(KEY, int(header["keys"]), f"{where}, keyframes")
    entity.name = inner.take(int(header["name"]), f"{where}, name")
    pad("name")
    if not header["vertices"]:
        return
    vertices = inner.array(vertex_dtype(vfloat), int(header["vertices"]), f"{where}, vertices")
    colors = inner.array(COLOR, int(more["colors"]), f"{where}, vertex colours")
    pad("colors")
    triangles = inner.array(TRIANGLE, int(more["triangles"]), f"{where}, triangles")
    pad("triangles")
    texture = inner.take(int(more["texture"]), f"{where}, texture name")
    pad("texture")
    bones = inner.array(BONE, int(more["bones"]), f"{where}, bones")
    blue, green, red, alpha = more["color"].tolist()
    entity.mesh = Mesh(vertices, triangles, colors, texture, bones, (blue, green, red, alpha), more["alpha"], int(more["fx"]))
