# SPDX-License-Identifier: GPL-3.0-or-later
"""Where chunks and segments go: where they were as long as they fit, so that a change moves as little as it can."""

from __future__ import annotations

import numpy as np

from ..errors import FormatError
from .document import CHUNK_ENTRY, SECTOR, Array

FILL = b"\xff"
MOST_BYTES = 1 << 26  # many times the memory of the console
ALL_ONES = b"\xff\xff\xff\xff"
CHUNK_NAMES = ("texture definitions", "textures", "model", "animation")


def sectors(size: int) -> int:
    """The bytes of the whole sectors that so many bytes need."""
    return -(-size // SECTOR) * SECTOR


def chunks_of(slot: bytes, count: int) -> list[bytes]:
    """The data of the chunks that a slot lists."""
    rows = np.frombuffer(slot, CHUNK_ENTRY, min(count, len(slot) // CHUNK_ENTRY.itemsize))
    return [slot[offset : offset + size] for offset, size, _, _ in rows.tolist()]


def slot(chunks: list[bytes], source: bytes | None, listed: int, notes: list[str]) -> bytes:
    """A character's header and chunks. `source` is its slot as it was read, with so many chunks `listed`.

    Chunks keep their places in it. One that has outgrown its room moves those behind it, by whole sectors; `notes` say so.
    """
    if source is None:
        return _fresh(chunks)
    if chunks_of(source, len(chunks)) == chunks and listed == len(chunks):
        return source
    old = np.frombuffer(source, CHUNK_ENTRY, listed).tolist()
    before = chunks_of(source, listed)
    out = bytearray(source)
    entries = np.zeros(len(chunks), CHUNK_ENTRY)
    order = sorted(range(min(listed, len(chunks))), key=lambda index: int(old[index][0]))
    ends = [old[index][0] for index in order[1:]] + [len(source)]
    moved = 0
    for index, end in zip(order, ends, strict=True):
        chunk, (offset, size, room, padding) = chunks[index], old[index]
        there = max(size, end - offset)
        needed = max(there, sectors(len(chunk)))
        if moved or chunk != before[index]:
            _put(out, offset + moved, chunk, needed)
            room = max(room, sectors(len(chunk)))
        entries[index] = (offset + moved, len(chunk), room, padding)
        if needed > there and end < len(source):
            more = f"{len(chunk):,} bytes, {len(chunk) - there:,} more than its room"
            notes.append(f"the {_name(index)} chunk has {more}: what follows it is moved by {needed - there:,} bytes")
        moved += needed - there
    for index in range(listed, len(chunks)):
        room = sectors(len(chunks[index]))
        place = max(entries["offset"][:index].astype(np.int64) + [sectors(len(chunk)) for chunk in chunks[:index]])
        entries[index] = (place, len(chunks[index]), room, 0)
        _put(out, place, chunks[index], room)
    return _with_header(out, entries, mark=len(chunks) != listed)


def _name(index: int) -> str:
    return CHUNK_NAMES[index] if index < len(CHUNK_NAMES) else f"packed animation {index - len(CHUNK_NAMES)}"


def _with_header(out: bytearray, entries: Array, mark: bool) -> bytes:
    """Entries behind the first four need a mark of their end."""
    table = entries.tobytes() + (ALL_ONES if mark else b"")
    if len(table) > SECTOR:
        raise FormatError(f"the character has {len(entries)} chunks, more than its header can list")
    out[: len(table)] = table
    return bytes(out)


def _put(out: bytearray, offset: int, chunk: bytes, room: int) -> None:
    """The chunk at its place, and fill up to the end of its room."""
    if offset + room > MOST_BYTES:
        raise FormatError(f"a chunk would end at {offset + room:,} bytes; a file has at most {MOST_BYTES:,}")
    out += FILL * (offset + room - len(out))
    out[offset : offset + room] = chunk + FILL * (room - len(chunk))


def _fresh(chunks: list[bytes]) -> bytes:
    out = bytearray(SECTOR)
    entries = np.zeros(len(chunks), CHUNK_ENTRY)
    for entry, chunk in zip(entries, chunks, strict=True):
        entry["offset"], entry["data_size"], entry["chunk_size"] = len(out), len(chunk), sectors(len(chunk))
        out += chunk + FILL * (sectors(len(chunk)) - len(chunk))
    return _with_header(out, entries, mark=len(chunks) > len(CHUNK_NAMES))


def slots(characters: list[bytes], sources: list[bytes | None], equal: bool, notes: list[str]) -> bytes:
    """Characters one after the other in slots of one size; or, unless `equal`, of the size that each had, if that is enough."""
    kept = all(source is not None and len(slot) == len(source) for slot, source in zip(characters, sources, strict=True))
    if kept and not equal:
        return b"".join(characters)
    size = max(len(slot) for slot in characters)
    known = [len(source) for source in sources if source is not None]
    if known and size > max(known):
        longer = (
            "the file is as much longer" if len(characters) == 1 else "each slot is as much larger, and what follows is moved"
        )
        notes.append(f"a character has {size:,} bytes, {size - max(known):,} more than its slot: {longer}")
    return b"".join(slot + FILL * (size - len(slot)) for slot in characters)


def segments(written: list[bytes], sources: list[bytes | None], notes: list[str]) -> bytes:
    """Segments at whole sectors, each with at least the room that it had."""
    out = bytearray()
    last = len(written) - 1
    for number, (data, source) in enumerate(zip(written, sources, strict=True)):
        out += bytes(sectors(len(out)) - len(out))
        room = len(source) if source is not None else 0
        if source is not None and data is not source and len(data) > sectors(room):
            moved = f"{sectors(len(data)) - sectors(room):,} bytes"
            notes.append(
                f"segment {number} of the x8an file has {len(data):,} bytes, {len(data) - room:,} more than its room: "
                + (f"what follows it is moved by {moved}" if number < last else "the file is as much longer")
            )
        out += data + bytes(max(room - len(data), 0))
    return bytes(out)
