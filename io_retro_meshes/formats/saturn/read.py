# SPDX-License-Identifier: GPL-3.0-or-later
"""Bytes -> document."""

from __future__ import annotations

import struct

import numpy as np

from . import lzss, packed, skeleton
from .chunk import END, OVERLAP, BattleError, Budget, Chunk
from .document import (
    ATTR,
    BODY,
    BONE_TABLE,
    CHUNK_ENTRY,
    DEFINITION,
    DIR_KIND,
    DIR_TEXTURED,
    DRAW,
    EVENT,
    FIXED,
    NORMAL,
    POLYGON,
    PUSH,
    SECTOR,
    TEXTURE,
    XPDATA,
    Animation,
    Array,
    BoneKeys,
    Character,
    Definition,
    Document,
    Keys,
    Mesh,
    Model,
    PackedSegment,
    Segment,
    Textures,
)
from .layout import ALL_ONES, CHUNK_NAMES

SIGNATURE = b"\0\0\x08\0\0\0"
HEADER = 4 * CHUNK_ENTRY.itemsize
UNPACKING_COST = 48  # bytes that a word needs while it is unpacked


def sniff(data: bytes) -> bool:
    """An x8pc header in every detail, or an x8an file whose first bone table is there and can be read."""
    if is_header(data, 0):
        return True
    if len(data) < 8 or data[:6] == SIGNATURE:
        return False
    try:
        read_segment(Chunk(data, 0, len(data), "segment 0"), [])
    except BattleError:
        return False
    return True


def is_header(data: bytes, base: int) -> bool:
    """Do the four chunks at `base` start at ascending sectors, the first right behind the header?"""
    if data[base : base + 6] != SIGNATURE or len(data) < base + HEADER:
        return False
    entries = np.frombuffer(data, CHUNK_ENTRY, 4, base)
    offsets = entries["offset"].astype(np.int64)
    fits = entries["data_size"].astype(np.int64) <= entries["chunk_size"]
    return bool((offsets % SECTOR == 0).all() and (np.diff(offsets) > 0).all() and fits.all() and not entries["padding"].any())


def read(data: bytes) -> Document:
    if len(data) < 8:
        raise BattleError("truncated", f"the file has {len(data)} bytes", offset=0, field="header")
    if data[:6] == SIGNATURE:
        return _read_characters(data)
    (table,) = struct.unpack_from(">I", data)
    if table < 4 or table % 4 or (table > len(data) and data[:3] != b"\0\0\0"):
        raise BattleError("bad_header", "neither an x8pc nor an x8an file", offset=0, field="header")
    return _read_segments(data)


# ---------------------------------------------------------------------------------------------------------------- x8pc


def _read_characters(data: bytes) -> Document:
    document = Document()
    budget = Budget(len(data))
    bases = [0]
    while bases:
        base = bases.pop()
        found: list[str] = []
        try:
            character, end = _read_character(data, base, found, budget)
        except BattleError as error:
            if not base:
                raise
            document.warnings.append(f"The character at 0x{base:X} was left out ({error.kind}): {error}.")
            document.tail = data[base:]
            break
        later = range(-(-end // SECTOR) * SECTOR, len(data), SECTOR)
        following = next((place for place in later if is_header(data, place)), len(data))
        character.source = data[base:following]
        number = len(document.characters)
        document.characters.append(character)
        document.warnings += [f"Character {number}: {text}" for text in found] if base or following < len(data) else found
        if following < len(data):
            bases.append(following)
    return document


def _read_character(data: bytes, base: int, warnings: list[str], budget: Budget) -> tuple[Character, int]:
    """A character, and where its last chunk ends in the file."""
    if len(data) - base < HEADER:
        raise BattleError("truncated", "the file ends inside the table of chunks", offset=base, field="header")
    entries = np.frombuffer(data, CHUNK_ENTRY, 4, base)
    chunks = [chunk_at(data, base, entry, name, budget) for entry, name in zip(entries, CHUNK_NAMES, strict=True)]
    end = base + max(offset + max(size, room) for offset, size, room, _ in entries.tolist())
    textures = read_textures(chunks[0], chunks[1], warnings)
    model = read_model(chunks[2], warnings)
    animation = read_animation(chunks[3], warnings)
    extra, end = _extra_chunks(data, base, end, warnings, budget)
    character = Character(textures, model, animation, extra, listed=len(CHUNK_NAMES) + len(extra))
    _check_character(character, warnings)
    return character, max(end, base + SECTOR)


def chunk_at(data: bytes, base: int, entry: np.void, name: str, budget: Budget) -> Chunk:
    offset, size = int(entry["offset"]), int(entry["data_size"])
    room = len(data) - base
    if offset > room:
        raise BattleError("offset_out_of_range", f"starts at 0x{offset:X} of 0x{room:X} bytes", offset=base, field=name)
    if size > room - offset:
        kind = "count_too_large" if size > room else "truncated"
        raise BattleError(kind, f"{size} bytes are needed, {room - offset} are left", offset=base + offset, field=name)
    chunk = Chunk(data, base + offset, base + offset + size, name, budget)
    chunk.spend(size, "bytes")
    return chunk


def _extra_chunks(data: bytes, base: int, end: int, warnings: list[str], budget: Budget) -> tuple[list[PackedSegment], int]:
    """What later games list behind the four chunks: packed animations."""
    extra: list[PackedSegment] = []
    room = min(SECTOR, len(data) - base) - HEADER
    for entry in np.frombuffer(data, CHUNK_ENTRY, room // CHUNK_ENTRY.itemsize, base + HEADER):
        if entry["offset"] in (0, END):
            break
        try:
            chunk = chunk_at(data, base, entry, f"chunk {4 + len(extra)}", budget)
        except BattleError as error:
            warnings.append(f"A further chunk was passed over ({error.kind}): {error}.")
            break
        extra.append(read_packed(chunk, warnings))
        end = max(end, chunk.end, base + int(entry["offset"]) + int(entry["chunk_size"]))
    return extra, end


def read_packed(chunk: Chunk, warnings: list[str]) -> PackedSegment:
    """A packed animation; of one that is damaged just the bytes."""
    odd: list[str] = []
    try:
        words = packed.unpacked_size(chunk.bytes) // 2
        if UNPACKING_COST * words > chunk.budget.left:
            raise packed.PackedError(f"{words} words are far more than the file holds")
        plain = packed.unpack(chunk.bytes)
        chunk.spend(len(plain), "plain data")
        segment, _ = read_segment(Chunk(plain, 0, len(plain), f"unpacked {chunk.name}", chunk.budget), odd)
    except (packed.PackedError, BattleError) as error:
        warnings.append(f"The animation in {chunk.name} is damaged ({error}): it was kept as it is, but is not shown.")
        return PackedSegment(source=chunk.bytes, damaged=True)
    warnings += odd
    return PackedSegment(segment.bones, chunk.bytes)


def _check_character(character: Character, warnings: list[str]) -> None:
    commands = character.model.skeleton
    bones = sum(command.code == PUSH for command in commands)
    draws = sum(command.code in DRAW for command in commands)
    body = len(character.model.lists[BODY]) if character.model.lists else 0
    if bones != len(character.animation.bones):
        warnings.append(
            f"The skeleton has {bones} bones, the animation keys for {len(character.animation.bones)} (bone_count_mismatch): "
            "bones without keys rest, keys without a bone are passed over."
        )
    if draws != body:
        warnings.append(
            f"The skeleton draws {draws} meshes, the body has {body} (mesh_count_mismatch): those not drawn never move."
        )
    count = len(character.textures.definitions)
    attributes = [mesh.attributes for meshes in character.model.lists for mesh in meshes]
    wrong = sum(int(((a["dir"] & DIR_KIND == DIR_TEXTURED) & (a["texno"] >= count)).sum()) for a in attributes)
    if wrong:
        warnings.append(f"{wrong} polygons name textures that do not exist (texno_out_of_range); they are shown without.")


# ------------------------------------------------------------------------------------------------------------ textures


def read_textures(definitions: Chunk, packed: Chunk, warnings: list[str]) -> Textures:
    header, count, size = (definitions.u32(4 * i, name) for i, name in enumerate(("header size", "count", "unpacked bytes")))
    table = definitions.array(header, TEXTURE, count, "definitions")
    definitions.spend_on("texture", count, "definitions")
    most = size // 2
    try:
        memory, ended = lzss.decompress(packed.bytes, most)
    except lzss.StreamError as error:
        raise packed.error("texture_stream", str(error), error.offset, "stream") from None
    packed.spend(memory.nbytes, "stream")
    if not ended and len(memory) <= most:
        warnings.append("The packed textures have no end command (texture_stream); they were read as far as they go.")
    elif len(memory) > most or not ended:
        warnings.append(
            f"The packed textures hold more than the {size} bytes they should (texture_stream): the rest was cut off."
        )
        memory = memory[:most]
    elif len(memory) < most:
        warnings.append(f"The textures unpack to {2 * len(memory)} bytes instead of {size} (texture_stream).")
    area = table["width"].astype(np.int64) * table["height"]
    outside = int(((area == 0) | (table["cgadr"] * np.int64(4) + area > len(memory))).sum())
    if outside:
        warnings.append(
            f"{outside} textures have no pixels, or lie outside the unpacked data (texture_out_of_range): they are cut short."
        )
    if int(area.clip(max=len(memory)).sum()) > OVERLAP * (len(memory) + SECTOR):
        raise definitions.error("count_too_large", "the textures hold far more than their memory", header, "definitions")
    return Textures(table, memory.astype(">u2"), definitions.bytes, packed.bytes)


# --------------------------------------------------------------------------------------------------------------- model


def read_model(chunk: Chunk, warnings: list[str]) -> Model:
    table, stream = chunk.u32(0, "table of lists"), chunk.u32(4, "skeleton offset")
    offsets = chunk.rows(table, ">u4", END, "table of lists").tolist()
    chunk.spend_on("list", len(offsets), "table of lists")
    lists = [_read_meshes(chunk, offset, index, warnings) if offset else [] for index, offset in enumerate(offsets)]
    return Model(lists, skeleton.decode(chunk, stream, warnings), chunk.bytes)


def _read_meshes(chunk: Chunk, offset: int, index: int, warnings: list[str]) -> list[Mesh]:
    meshes = []
    wrong = 0
    rows = chunk.rows(offset, XPDATA, END, f"list {index}")
    chunk.spend_on("mesh", len(rows), f"list {index}")
    for number, row in enumerate(rows.tolist()):
        points, point_count, polygons, polygon_count, attributes, normals = row
        name = f"list {index} mesh {number}"
        mesh = Mesh(
            chunk.array(points, FIXED, 3 * point_count, f"{name} points").reshape(-1, 3),
            chunk.array(polygons, POLYGON, polygon_count, f"{name} polygons"),
            chunk.array(attributes, ATTR, polygon_count, f"{name} attributes"),
            chunk.array(normals, NORMAL, 3 * point_count, f"{name} vertex normals").reshape(-1, 3) if normals else None,
        )
        wrong += int((mesh.polygons["vertices"] >= point_count).any(1).sum())
        meshes.append(mesh)
    if wrong:
        warnings.append(
            f"{wrong} polygons of list {index} name points that do not exist (index_out_of_range); they are not shown."
        )
    return meshes


# ----------------------------------------------------------------------------------------------------------- animation


def read_animation(chunk: Chunk, warnings: list[str]) -> Animation:
    bounds = chunk.array(0, FIXED, 6, "bounds")
    table = chunk.u32(0x18, "bone table offset")
    rows = chunk.rows(0x1C, DEFINITION, 0xFFFF, "definitions")
    chunk.spend_on("definition", len(rows), "definitions")
    definitions = [
        Definition(start, count, type_, distance, _read_events(chunk, events, number, warnings))
        for number, (start, count, type_, distance, events) in enumerate(rows.tolist())
    ]
    bones, _ = _read_bones(chunk, table, warnings)
    return Animation(bounds, definitions, bones, chunk.bytes)


def _read_events(chunk: Chunk, offset: int, number: int, warnings: list[str]) -> Array:
    if 0 < offset < len(chunk):
        return chunk.rows(offset, EVENT, 0xFFFF, f"events of definition {number}")
    if offset:
        warnings.append(f"The events of animation {number} lie outside the chunk (offset_out_of_range): it has none.")
    return np.zeros(0, EVENT)


def _read_bones(chunk: Chunk, table: int, warnings: list[str]) -> tuple[list[BoneKeys], int]:
    """The keys of every bone, and where the table ends."""
    rows = chunk.rows(table, BONE_TABLE, END, "bone table")
    chunk.spend_on("bone", len(rows), "bone table")
    bones = [_read_bone(chunk, row, number) for number, row in enumerate(rows)]
    channels = [keys for bone in bones for keys in bone.channels]
    if any((np.diff(keys.frames.astype(np.int32)) <= 0).any() for keys in channels):
        warnings.append("Some key times do not ascend (bad_key): they were sorted, and the first key of each time was kept.")
    if any(not bone.rotation.values.any(1).all() for bone in bones):
        warnings.append("Some rotation keys are zero (bad_key): they were taken as no rotation.")
    return bones, table + rows.nbytes + 4


def _read_bone(chunk: Chunk, row: np.void, number: int) -> BoneKeys:
    def keys(channel: int, name: str, dtype: np.dtype[np.generic]) -> Keys:
        count = int(row["counts"][channel])
        where = f"{name} of bone {number}"
        if not count:
            return Keys(np.zeros(0, ">u2"), np.zeros((0, len(row[name])), dtype))
        times = chunk.array(int(row["times"][channel]), ">u2", count, f"times of the {where}")
        columns = [chunk.array(int(offset), dtype, count, where) for offset in row[name]]
        return Keys(times, np.stack(columns, 1).astype(dtype))

    return BoneKeys(keys(0, "translation", FIXED), keys(1, "rotation", np.dtype(">i2")), keys(2, "scale", FIXED))


# ---------------------------------------------------------------------------------------------------------------- x8an


def _read_segments(data: bytes) -> Document:
    """An error that the segments of a damaged file give has the document of those that can be read in `partial`."""
    document = Document()
    budget = Budget(len(data))
    starts: list[int] = []
    problem: BattleError | None = None
    offset = 0
    while offset < len(data):
        if data[offset : offset + 4] in (b"\0\0\0\0", ALL_ONES):  # fill
            offset += SECTOR
            continue
        chunk = Chunk(data, offset, len(data), f"segment {len(starts)}", budget)
        try:
            segment, size = read_segment(chunk, document.warnings)
        except BattleError as error:
            problem = problem or error
            segment, size = Segment(), _next_segment(data, offset, budget) - offset
        document.segments.append(segment)
        starts.append(offset)
        offset += -(-size // SECTOR) * SECTOR
    for segment, start, end in zip(document.segments, starts, [*starts[1:], len(data)], strict=True):
        segment.source = data[start:end]
    if problem is not None:
        if any(segment.bones for segment in document.segments):
            problem.partial = document
        raise problem
    return document


def _next_segment(data: bytes, offset: int, budget: Budget) -> int:
    """Where the next segment that can be read starts behind a damaged one."""
    for start in range(offset + SECTOR, len(data), SECTOR):
        if data[start : start + 4] in (b"\0\0\0\0", ALL_ONES):
            continue
        try:
            segment, _ = read_segment(Chunk(data, start, len(data), "", budget), [])
        except BattleError:
            continue
        if segment.bones:
            return start
    return len(data)


def read_segment(chunk: Chunk, warnings: list[str]) -> tuple[Segment, int]:
    """A segment, and how many bytes it has."""
    bones, size = _read_bones(chunk, chunk.u32(0, "bone table offset"), warnings)
    return Segment(bones), size
