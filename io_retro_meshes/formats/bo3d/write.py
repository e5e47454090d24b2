# SPDX-License-Identifier: GPL-3.0-or-later
"""Document to bytes."""

from __future__ import annotations

import numpy as np

from ..binary import Writer
from .document import BONE, HEADER_SIZE, KEY, MAGIC, MESH, PIVOT, Document, Entity, vertex_dtype


def write(document: Document) -> bytes:
    writer = Writer()
    writer.put(MAGIC)
    writer.i32(document.version)
    writer.i32(len(document.entities))
    writer.i32(0)
    writer.i32(document.vfloat)
    for entity in document.entities:
        _entity(writer, entity, document.vfloat)
    size = len(writer) - HEADER_SIZE if document.size is None else document.size
    writer.patch_u32(12, size & 0xFFFFFFFF)
    writer.put(document.rest)
    return bytes(writer.data)


def _entity(writer: Writer, entity: Entity, vfloat: int) -> None:
    start = len(writer)
    mesh = entity.mesh
    header = np.zeros((), PIVOT)
    for name in ("parent", "position", "scale", "rotation", "length"):
        header[name] = getattr(entity, name)
    header["keys"], header["name"] = len(entity.keys), len(entity.name)
    header["vertices"] = len(mesh.vertices) if mesh else 0
    writer.array(header)
    if mesh:
        more = np.zeros((), MESH)
        for name in ("color", "alpha", "fx"):
            more[name] = getattr(mesh, name)
        for name in ("colors", "triangles", "texture", "bones"):
            more[name] = len(getattr(mesh, name))
        writer.array(more)
    writer.array(entity.keys, KEY)
    writer.put(entity.name)
    _pad(writer, entity, "name", start)
    if mesh:
        writer.array(mesh.vertices, vertex_dtype(vfloat))
        writer.array(mesh.colors, np.uint8)
        _pad(writer, entity, "colors", start)
        writer.array(mesh.triangles, "<u2")
        _pad(writer, entity, "triangles", start)
        writer.put(mesh.texture)
        _pad(writer, entity, "texture", start)
        writer.array(mesh.bones, BONE)
    writer.put(entity.rest)
    writer.patch_u32(start, len(writer) - start)
    writer.put(entity.gap)


def _pad(writer: Writer, entity: Entity, name: str, start: int) -> None:
    wanted = -(len(writer) - start) % 4
    writer.put(entity.padding.get(name, bytes(wanted))[:wanted])
