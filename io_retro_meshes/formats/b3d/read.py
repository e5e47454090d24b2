# SPDX-License-Identifier: GPL-3.0-or-later
"""Bytes to document."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..binary import Reader
from ..errors import FormatError
from .document import (
    COLORS,
    MAX_UV_SETS,
    MAX_UV_SIZE,
    NORMALS,
    TRIANGLE,
    WEIGHT,
    Anim,
    Bone,
    Brush,
    Brushes,
    Chunk,
    Document,
    Keys,
    Mesh,
    Node,
    Sequence,
    Texture,
    Textures,
    Triangles,
    Unknown,
    Vertices,
    key_dtype,
)

HEADER = 8
MAJOR, MINOR = 0, 1  # version 1 is 0.01


def sniff(data: bytes) -> bool:
    return data[:4] == b"BB3D"


def read(data: bytes) -> Document:
    data = bytes(data)
    if not data:
        raise FormatError("the file is empty", offset=0, field="BB3D")
    if data[:4] != b"BB3D":
        raise FormatError(f"a .b3d file begins with BB3D, this one with {data[:4]!r}", offset=0, field="BB3D")
    document = Document()
    reader = Reader(data, offset=4)
    length = reader.i32("BB3D length")
    document.version = reader.i32("BB3D version")
    _check_version(document)
    end = _stated_end(document, length, len(data))
    _Chunks(document, data).read(reader.offset, end)
    if not any(isinstance(chunk, Node) for chunk in document.chunks):
        document.warnings.append("The file has no nodes: there is nothing to show.")
    return document


def _check_version(document: Document) -> None:
    version = document.version
    if version < 0 or version // 100 > MAJOR:
        raise FormatError(f"version {version / 100:.2f} is newer than 0.{MINOR:02}", offset=8, field="BB3D version")
    if version % 100 > MINOR:
        document.warnings.append(f"The file is of version {version / 100:.2f}; it was read as version 0.{MINOR:02}.")


def _stated_end(document: Document, length: int, size: int) -> int:
    """Where the chunks may end by the length in the header. One that counts its own header is taken for the whole file."""
    end = HEADER + length
    if end > size + HEADER:
        raise FormatError(f"the file is cut off: {size:,} of {end:,} bytes are there", offset=4, field="BB3D length")
    if end != size:
        document.length = length
    return min(end, size)


class _Chunks:
    """Reads chunks in chunks, without recursion: a stack of the chunks that are still open."""

    def __init__(self, document: Document, data: bytes) -> None:
        self.document = document
        self.data = data
        self.unknown: dict[bytes, int] = {}
        self.rests = 0
        self.nans = 0

    def read(self, offset: int, end: int) -> None:
        size = len(self.data)
        stack: list[tuple[Document | Node | Mesh, int]] = [(self.document, end)]
        while stack:
            holder, stop = stack[-1]
            if stop - offset < HEADER:
                if stop > offset:
                    holder.rest = self.data[offset:stop]
                    self.rests += 1
                offset = max(offset, stop)
                stack.pop()
                continue
            # The length of the whole is not to be trusted as much as those within: old tools forgot to set it.
            limit = size if holder is self.document else stop
            inner = self.header(offset, limit)
            offset += HEADER
            opened = self.chunk(holder, self.data[offset - HEADER : offset - 4], inner)
            if opened is None:
                offset = inner.end
            else:
                offset = inner.offset
                stack.append((opened, inner.end))
        self.document.trailing = self.data[offset:]
        self.warn(end, offset)

    def header(self, offset: int, limit: int) -> Reader:
        """The content of the chunk that begins at the offset."""
        reader = Reader(self.data, offset=offset, end=limit)
        tag = reader.take(4, "chunk tag").decode("latin-1")
        length = reader.i32(f"{tag} length")
        if not 0 <= length <= reader.remaining:
            message = f"a length of {length}, where {reader.remaining} bytes are left in the chunk around it"
            raise reader.error(message, f"{tag} length", offset + 4)
        return reader.window(length, tag)

    def chunk(self, holder: Document | Node | Mesh, tag: bytes, reader: Reader) -> Node | Mesh | None:
        """Adds one chunk to its holder; returns it if it holds others, which are then to be read."""
        readers = _DOCUMENT if isinstance(holder, Document) else _NODE if isinstance(holder, Node) else _MESH
        make = readers.get(tag)
        chunk = make(reader) if make else None
        if chunk is None:
            chunk = Unknown(tag, self.data[reader.offset : reader.end])
            self.unknown[tag] = self.unknown.get(tag, 0) + 1
        holder.chunks.append(chunk)
        self.nans += _nans(chunk)
        if isinstance(chunk, Node | Mesh):
            return chunk
        if getattr(chunk, "rest", b""):
            self.rests += 1
        return None

    def warn(self, end: int, offset: int) -> None:
        warnings = self.document.warnings
        if self.document.length is not None and (offset != end or not self.document.trailing):
            warnings.append(
                f"The file states a length of {self.document.length} bytes, which is wrong; its chunks were followed."
            )
        if self.document.trailing:
            warnings.append(f"{len(self.document.trailing)} bytes after the end of the model were kept, unread.")
        if self.rests:
            warnings.append(f"{self.rests} chunks end in bytes that fit nothing; they were kept, unread.")
        if self.nans:
            warnings.append(f"{self.nans} rates, rotations or shininesses are not numbers; they are written as a plain NaN.")
        for tag, count in self.unknown.items():
            if tag == b"XXXX":
                warnings.append("The file's textures are hidden from the engine (XXXX); they were left out.")
            elif tag != b"PIVO":
                warnings.append(f"{count} chunks {tag.decode('latin-1')!r} are not known; they were kept, unread.")


def _nans(chunk: Chunk) -> int:
    """How many of its single numbers are none: Python keeps of a NaN only that it is one."""
    numbers: list[float] = []
    if isinstance(chunk, Anim):
        numbers = [chunk.fps]
    elif isinstance(chunk, Textures):
        numbers = [texture.rotation for texture in chunk.textures]
    elif isinstance(chunk, Brushes):
        numbers = [brush.shininess for brush in chunk.brushes]
    return sum(number != number for number in numbers)


def _textures(reader: Reader) -> Textures:
    chunk = Textures()
    while reader.remaining:
        chunk.textures.append(
            Texture(
                reader.cstring("TEXS file"),
                reader.i32("TEXS flags"),
                reader.i32("TEXS blend"),
                reader.array("<f4", 2, "TEXS position"),
                reader.array("<f4", 2, "TEXS scale"),
                reader.f32("TEXS rotation"),
            )
        )
    return chunk


def _brushes(reader: Reader) -> Brushes:
    chunk = Brushes(reader.i32("BRUS n_texs"))
    if chunk.n_texs < 0:
        raise reader.error(f"a count of {chunk.n_texs}", "BRUS n_texs", reader.offset - 4)
    while reader.remaining:
        chunk.brushes.append(
            Brush(
                reader.cstring("BRUS name"),
                reader.array("<f4", 4, "BRUS color"),
                reader.f32("BRUS shininess"),
                reader.i32("BRUS blend"),
                reader.i32("BRUS fx"),
                reader.array("<i4", chunk.n_texs, "BRUS texture_id"),
            )
        )
    return chunk


def _node(reader: Reader) -> Node:
    return Node(
        reader.cstring("NODE name"),
        reader.array("<f4", 3, "NODE position"),
        reader.array("<f4", 3, "NODE scale"),
        reader.array("<f4", 4, "NODE rotation"),
    )


def _mesh(reader: Reader) -> Mesh:
    return Mesh(reader.i32("MESH brush_id"))


def _rows(reader: Reader, dtype: Any, field: str) -> tuple[Any, bytes]:
    """As many elements as there are, and the bytes that are left after them."""
    kind = np.dtype(dtype)
    rows = reader.array(kind, reader.remaining // kind.itemsize, field)
    return rows, reader.take(reader.remaining, field)


def _vertices(reader: Reader) -> Vertices:
    start = reader.offset
    flags, sets, size = (reader.i32(f"VRTS {name}") for name in ("flags", "tex_coord_sets", "tex_coord_set_size"))
    if flags & ~(NORMALS | COLORS):
        raise reader.error(f"flags of {flags}, where only 1 and 2 are known", "VRTS flags", start)
    if not 0 <= sets <= MAX_UV_SETS:
        raise reader.error(f"{sets} sets, more than {MAX_UV_SETS}", "VRTS tex_coord_sets", start + 4)
    if not 0 <= size <= MAX_UV_SIZE:
        raise reader.error(f"sets of {size} values, more than {MAX_UV_SIZE}", "VRTS tex_coord_set_size", start + 8)
    chunk = Vertices(flags, sets, size, np.zeros((0, 0), "<f4"))
    chunk.rows, chunk.rest = _rows(reader, ("<f4", chunk.row_size), "VRTS vertices")
    return chunk


def _triangles(reader: Reader) -> Triangles:
    brush = reader.i32("TRIS brush_id")
    rows, rest = _rows(reader, TRIANGLE, "TRIS vertex_id")
    return Triangles(brush, rows, rest)


def _bone(reader: Reader) -> Bone:
    return Bone(*_rows(reader, WEIGHT, "BONE weights"))


def _keys(reader: Reader) -> Keys:
    flags = reader.i32("KEYS flags")
    return Keys(flags, *_rows(reader, key_dtype(flags), "KEYS keys"))


def _anim(reader: Reader) -> Anim:
    anim = Anim(reader.i32("ANIM flags"), reader.i32("ANIM frames"), reader.f32("ANIM fps"))
    anim.rest = reader.take(reader.remaining, "ANIM")
    return anim


def _sequence(reader: Reader) -> Sequence | None:
    """None if it is not as the tools write it: the chunk is in no specification."""
    end = reader.data.find(b"\0", reader.offset, reader.end)
    if end < 0 or reader.end - end < 13:
        return None
    name = reader.cstring("SEQS name")
    sequence = Sequence(name, reader.i32("SEQS first"), reader.i32("SEQS last"), reader.i32("SEQS flags"))
    sequence.rest = reader.take(reader.remaining, "SEQS")
    return sequence


_Readers = dict[bytes, Callable[[Reader], Any]]
_DOCUMENT: _Readers = {b"TEXS": _textures, b"BRUS": _brushes, b"NODE": _node}
_NODE: _Readers = {b"MESH": _mesh, b"BONE": _bone, b"KEYS": _keys, b"ANIM": _anim, b"SEQS": _sequence, b"NODE": _node}
_MESH: _Readers = {b"VRTS": _vertices, b"TRIS": _triangles}
