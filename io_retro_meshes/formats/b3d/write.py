# SPDX-License-Identifier: GPL-3.0-or-later
"""Document to bytes."""

from __future__ import annotations

from collections.abc import Iterator

from ..binary import Writer
from .document import (
    Anim,
    Bone,
    Brushes,
    Chunk,
    Document,
    Keys,
    Mesh,
    Node,
    Sequence,
    Textures,
    Triangles,
    Unknown,
    Vertices,
)

TAGS: dict[type[Chunk], bytes] = {
    Textures: b"TEXS",
    Brushes: b"BRUS",
    Vertices: b"VRTS",
    Triangles: b"TRIS",
    Mesh: b"MESH",
    Bone: b"BONE",
    Keys: b"KEYS",
    Anim: b"ANIM",
    Sequence: b"SEQS",
    Node: b"NODE",
}


def write(document: Document) -> bytes:
    writer = Writer()
    start = _open(writer, b"BB3D")
    writer.i32(document.version)
    # The chunks that are still open: what is left in each, what stands at its end, and where its length goes.
    stack: list[tuple[Iterator[Chunk], bytes, int]] = [(iter(document.chunks), document.rest, start)]
    while stack:
        chunks, rest, place = stack[-1]
        chunk = next(chunks, None)
        if chunk is None:
            writer.put(rest)
            _close(writer, place)
            stack.pop()
            continue
        place = _open(writer, chunk.tag if isinstance(chunk, Unknown) else TAGS[type(chunk)])
        _data(writer, chunk)
        if isinstance(chunk, Node | Mesh):
            stack.append((iter(chunk.chunks), chunk.rest, place))
        else:
            writer.put(getattr(chunk, "rest", b""))
            _close(writer, place)
    if document.length is not None:
        writer.patch_u32(start, document.length & 0xFFFFFFFF)
    writer.put(document.trailing)
    return bytes(writer.data)


def _open(writer: Writer, tag: bytes) -> int:
    """Begins a chunk; returns where its length is to be."""
    writer.put(tag)
    writer.u32(0)
    return len(writer) - 4


def _close(writer: Writer, place: int) -> None:
    writer.patch_u32(place, len(writer) - place - 4)


def _data(writer: Writer, chunk: Chunk) -> None:
    """What a chunk holds itself, before any chunks in it."""
    match chunk:
        case Unknown():
            writer.put(chunk.data)
        case Textures() | Brushes():
            _table(writer, chunk)
        case Vertices():
            for value in (chunk.flags, chunk.tex_coord_sets, chunk.tex_coord_set_size):
                writer.i32(value)
            writer.array(chunk.rows, "<f4")
        case Triangles():
            writer.i32(chunk.brush_id)
            writer.array(chunk.vertex_ids, "<i4")
        case Mesh():
            writer.i32(chunk.brush_id)
        case Bone():
            writer.array(chunk.weights)
        case Keys():
            writer.i32(chunk.flags)
            writer.array(chunk.keys)
        case Anim():
            writer.i32(chunk.flags)
            writer.i32(chunk.frames)
            writer.f32(chunk.fps)
        case Sequence():
            writer.cstring(chunk.name)
            for value in (chunk.first, chunk.last, chunk.flags):
                writer.i32(value)
        case Node():
            writer.cstring(chunk.name)
            for values in (chunk.position, chunk.scale, chunk.rotation):
                writer.array(values, "<f4")


def _table(writer: Writer, chunk: Textures | Brushes) -> None:
    if isinstance(chunk, Textures):
        for texture in chunk.textures:
            writer.cstring(texture.file)
            writer.i32(texture.flags)
            writer.i32(texture.blend)
            writer.array(texture.position, "<f4")
            writer.array(texture.scale, "<f4")
            writer.f32(texture.rotation)
        return
    writer.i32(chunk.n_texs)
    for brush in chunk.brushes:
        writer.cstring(brush.name)
        writer.array(brush.color, "<f4")
        writer.f32(brush.shininess)
        writer.i32(brush.blend)
        writer.i32(brush.fx)
        writer.array(brush.texture_ids, "<i4")
