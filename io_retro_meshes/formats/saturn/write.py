# SPDX-License-Identifier: GPL-3.0-or-later
"""Document -> bytes."""

from __future__ import annotations

import numpy as np

from ..binary import Writer
from ..errors import FormatError
from . import budget, layout, lzss, packed, skeleton
from .chunk import END, Chunk
from .document import (
    ATTR,
    BONE_TABLE,
    DEFINITION,
    EVENT,
    FIXED,
    NORMAL,
    POLYGON,
    TEXTURE,
    XPDATA,
    Animation,
    BoneKeys,
    Character,
    Document,
    Mesh,
    Model,
    PackedSegment,
    Segment,
    Textures,
    same,
)
from .layout import ALL_ONES
from .read import read_animation, read_model, read_packed, read_segment, read_textures

TEXTURE_HEADER = 0x14


def write(document: Document) -> bytes:
    """An x8pc file if there are characters, else an x8an file. What had to move is told in the document's warnings."""
    notes: list[str] = []
    if not document.characters:
        return _checked(document, write_segments(document.segments, notes) + document.tail, notes)
    written = [write_character(character, notes) for character in document.characters]
    data = layout.slots(written, [character.source for character in document.characters], document.equal_slots, notes)
    beyond = budget.warnings(document, [len(slot) for slot in written])
    document.warnings += [warning for warning in beyond if warning not in document.warnings]
    return _checked(document, data + document.tail, notes)


def _checked(document: Document, data: bytes, notes: list[str]) -> bytes:
    if notes and document.keep_room:
        raise FormatError(f"{'; '.join(notes)}. Make it smaller, or switch Keep Room off")
    for note in notes:
        warning = f"{note[0].upper()}{note[1:]}, which the game may not expect."
        if warning not in document.warnings:
            document.warnings.append(warning)
    return data


def write_character(character: Character, notes: list[str] | None = None) -> bytes:
    """The slot of one character."""
    chunks = [
        *_texture_chunks(character.textures),
        _model(character.model),
        _animation(character.animation),
        *(_packed(segment) for segment in character.extra),
    ]
    return layout.slot(chunks, character.source, character.listed or len(chunks), [] if notes is None else notes)


# ------------------------------------------------------------------------------------------------------------ textures


def _texture_chunks(textures: Textures) -> tuple[bytes, bytes]:
    table, stream = textures.definitions_source, textures.source
    same_table = same_memory = False
    if table is not None and stream is not None:
        before = read_textures(_chunk(table), _chunk(stream), [])
        same_memory = same(before.memory, textures.memory)
        same_table = same(before.definitions, textures.definitions) and len(before.memory) == len(textures.memory)
    if table is None or not same_table:
        out = Writer(order=">")
        for value in (TEXTURE_HEADER, len(textures.definitions), 2 * len(textures.memory), 0, 0):
            out.u32(value)
        out.array(textures.definitions, TEXTURE)
        table = bytes(out.data)
    return table, stream if stream is not None and same_memory else lzss.compress(textures.memory)


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


# ------------------------------------------------------------------------------------------------------------ segments


def write_segments(segments: list[Segment], notes: list[str]) -> bytes:
    """The segments as an x8an file."""
    return layout.segments([_segment(segment) for segment in segments], [segment.source for segment in segments], notes)


def _segment(segment: Segment) -> bytes:
    if segment.source is not None and (not segment.bones or same(_segment_of(segment.source), segment)):
        return segment.source
    return _plain_segment(segment)


def _segment_of(source: bytes) -> Segment:
    return read_segment(_chunk(source), [])[0]


def _packed(segment: PackedSegment) -> bytes:
    source = segment.source
    if source is not None and (segment.damaged or same(read_packed(_chunk(source), []), segment)):
        return source
    return packed.pack(_plain_segment(segment))


def _plain_segment(segment: Segment) -> bytes:
    out = Writer(order=">")
    out.u32(0)
    out.patch_u32(0, _bones(out, segment.bones))
    return bytes(out.data)
