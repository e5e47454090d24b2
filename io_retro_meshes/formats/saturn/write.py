# SPDX-License-Identifier: GPL-3.0-or-later
"""Document -> bytes."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ..binary import Writer
from . import lzss, skeleton
from .chunk import END, Chunk
from .document import (
    ATTR,
    BONE_TABLE,
    CHUNK_ENTRY,
    DEFINITION,
    EVENT,
    FIXED,
    NORMAL,
    POLYGON,
    SECTOR,
    TEXTURE,
    XPDATA,
    Animation,
    BoneKeys,
    Character,
    Document,
    Mesh,
    Model,
    Segment,
    Textures,
    same,
)
from .read import read_animation, read_model, read_segment, read_textures
from .segments import companion_name

FILL = b"\xff"
TEXTURE_HEADER = 0x14
ALL_ONES = b"\xff\xff\xff\xff"


def write(document: Document) -> bytes:
    """An x8pc file if there are characters, else an x8an file."""
    if not document.characters:
        return write_segments(document) + document.tail
    slots = [_character(character) for character in document.characters]
    if any(slot is not character.source for slot, character in zip(slots, document.characters, strict=True)):
        # Characters stand in slots of one size.
        size = max(len(slot) for slot in slots)
        slots = [slot + FILL * (size - len(slot)) for slot in slots]
    return b"".join(slots) + document.tail


def _character(character: Character) -> bytes:
    textures = character.textures
    chunks = [*_texture_chunks(textures), _model(character.model), _animation(character.animation), *character.extra]
    if character.source is not None and _chunks_of(character.source, len(chunks)) == chunks:
        return character.source
    out = Writer(order=">")
    out.put(bytes(SECTOR))
    entries = np.zeros(len(chunks), CHUNK_ENTRY)
    for entry, chunk in zip(entries, chunks, strict=True):
        entry["offset"], entry["data_size"] = len(out), len(chunk)
        out.put(chunk)
        out.align(SECTOR, FILL)
        entry["chunk_size"] = len(out) - entry["offset"]
    table = entries.tobytes() + (ALL_ONES if character.extra else b"")
    out.data[: len(table)] = table
    return bytes(out.data)


def _chunks_of(slot: bytes, count: int) -> list[bytes]:
    """The data of the chunks that a slot lists."""
    rows = np.frombuffer(slot, CHUNK_ENTRY, min(count, len(slot) // CHUNK_ENTRY.itemsize))
    return [slot[offset : offset + size] for offset, size, _, _ in rows.tolist()]


# ------------------------------------------------------------------------------------------------------------ textures


def _texture_chunks(textures: Textures) -> tuple[bytes, bytes]:
    table, packed = textures.definitions_source, textures.source
    if table is not None and packed is not None:
        before = read_textures(_chunk(table), _chunk(packed), [])
        if same(before, textures):
            return table, packed
    out = Writer(order=">")
    for value in (TEXTURE_HEADER, len(textures.definitions), 2 * len(textures.memory), 0, 0):
        out.u32(value)
    out.array(textures.definitions, TEXTURE)
    return bytes(out.data), lzss.compress(textures.memory)


def _chunk(source: bytes) -> Chunk:
    return Chunk(source, 0, len(source), "source")


# --------------------------------------------------------------------------------------------------------------- model


def _model(model: Model) -> bytes:
    if model.source is not None and same(read_model(_chunk(model.source), []), model):
        return model.source
    out = Writer(order=">")
    out.u32(8)
    out.u32(0)
    table = len(out)
    out.put(ALL_ONES * (len(model.lists) + 1))
    rows = [[_mesh(out, mesh) for mesh in meshes] for meshes in model.lists]
    for index, meshes in enumerate(rows):
        out.patch_u32(table + 4 * index, len(out))
        out.array(np.array(meshes, XPDATA))
        out.u32(END)
    out.patch_u32(4, len(out))
    out.put(skeleton.encode(model.skeleton))
    return bytes(out.data)


def _mesh(out: Writer, mesh: Mesh) -> tuple[int, ...]:
    """Writes the tables of a mesh; returns its XPDATA."""
    points = len(out)
    out.array(mesh.points, FIXED)
    normals = 0
    if mesh.normals is not None:
        normals = len(out)
        out.array(mesh.normals, NORMAL)
        out.align(4)
    polygons = len(out)
    out.array(mesh.polygons, POLYGON)
    attributes = len(out)
    out.array(mesh.attributes, ATTR)
    return points, len(mesh.points), polygons, len(mesh.polygons), attributes, normals


# ----------------------------------------------------------------------------------------------------------- animation


def _animation(animation: Animation) -> bytes:
    if animation.source is not None and same(read_animation(_chunk(animation.source), []), animation):
        return animation.source
    out = Writer(order=">")
    out.array(animation.bounds, FIXED)
    out.u32(0)
    table = len(out)
    out.put(bytes(DEFINITION.itemsize * len(animation.definitions)) + ALL_ONES)
    rows = []
    for definition in animation.definitions:
        rows.append((definition.start, definition.count, definition.type, definition.distance, len(out)))
        out.array(definition.events, EVENT)
        out.u16(0xFFFF)
    listed = np.array(rows, DEFINITION).tobytes()
    out.data[table : table + len(listed)] = listed
    out.align(4)
    out.patch_u32(0x18, _bones(out, animation.bones))
    return bytes(out.data)


def _bones(out: Writer, bones: list[BoneKeys]) -> int:
    """Writes keys and the bone table; returns where the table is."""
    rows = np.zeros(len(bones), BONE_TABLE)
    for row, bone in zip(rows, bones, strict=True):
        for channel, keys in enumerate(bone.channels):
            row["counts"][channel], row["times"][channel] = len(keys.frames), len(out)
            out.array(keys.frames, ">u2")
            out.align(4)
        for name, keys in zip(("translation", "rotation", "scale"), bone.channels, strict=True):
            for component in range(keys.values.shape[1]):
                row[name][component] = len(out)
                out.array(keys.values[:, component], ">i2" if name == "rotation" else FIXED)
            out.align(4)
    table = len(out)
    out.array(rows)
    out.u32(END)
    return table


def companion_files(path: Path, document: Document) -> list[tuple[Path, bytes]]:
    """What has to be written beside the x8pc file: the x8an file, if there are segments."""
    if not document.characters or not document.segments:
        return []
    return [(path.with_name(companion_name(path.stem) + path.suffix), write_segments(document))]


def write_segments(document: Document) -> bytes:
    """The segments as an x8an file."""
    out = Writer(order=">")
    for segment in document.segments:
        out.align(SECTOR)
        out.put(_segment(segment))
    return bytes(out.data)


def _segment(segment: Segment) -> bytes:
    if segment.source is not None and same(read_segment(_chunk(segment.source), [])[0], segment):
        return segment.source
    out = Writer(order=">")
    out.u32(0)
    out.patch_u32(0, _bones(out, segment.bones))
    return bytes(out.data)
