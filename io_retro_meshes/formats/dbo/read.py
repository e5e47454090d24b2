# SPDX-License-Identifier: GPL-3.0-or-later
"""Bytes -> document, as the engine reads: by terminators and counts, and by sizes only where nothing else is known.

The levels that are open are on a stack, since siblings nest as deep as a model has objects.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from ..binary import Reader, too_short
from ..errors import FormatError
from .document import MAGIC, Document, Root
from .fields import Block, Inline, Record, Records, Sub, Table

HEADER = struct.Struct("<II")

# Codes whose size the engine's own writers get wrong: nothing to warn of.
KNOWN_LIES = {115, 117, 118, 119, 120, 138, 154}

MOST_WARNINGS = 50  # a broken file could give one for every eight bytes


@dataclass(slots=True)
class _Open:
    """A container that is being read."""

    data: Record | Records
    start: int
    size: int  # as declared
    field: Sub | Table | None
    left: int = 0  # entries to come, of a table

    @property
    def name(self) -> str:
        return self.field.name if self.field else "file"


def sniff(data: bytes) -> bool:
    return data[:4] == b"\x08\0\0\0" and data[4:12].upper() == MAGIC


def read(data: bytes) -> Document:
    reader = Reader(data)
    length = reader.u32("magic length")
    if length != len(MAGIC):
        raise reader.error(f"a length of {length}: this is not a DBO file", "magic length", 0)
    magic = reader.take(length, "magic")
    if magic.upper() != MAGIC:
        raise reader.error(f"{magic!r}: this is not a DBO file", "magic", 4)
    version = reader.u32("version")
    reserved = (reader.u32("reserved 1"), reader.u32("reserved 2"))
    parser = _Parser(data, reader.offset)
    root = parser.run()
    document = Document(root, magic, version, reserved, data[parser.offset :], parser.warnings)
    if root.find(1) is None:
        raise FormatError("there is no root frame", offset=reader.offset, field="root frame")
    if document.tail.strip(b"\0"):
        document.warnings.append(f"{len(document.tail)} bytes after the end of the model were kept, unread.")
    return document


class _Parser:
    def __init__(self, data: bytes, offset: int) -> None:
        self.data = data
        self.offset = offset
        self.end = len(data)
        self.lies = 0
        self.warnings: list[str] = []
        self.root = Root()
        self.stack: list[_Open] = []
        self.open(_Open(self.root, offset, 0, None))

    def run(self) -> Root:
        while self.stack:
            top = self.stack[-1]
            if self.end - self.offset < 8:
                self.cut_short(top)
            elif isinstance(top.data, Record):
                self.record_step(top, top.data)
            else:
                self.table_step(top, top.data)
        if self.lies:
            self.warnings.append(
                f"{self.lies} blocks do not have the size they declare; they were read as the engine reads them."
            )
        return self.root

    def warn(self, sentence: str) -> None:
        if len(self.warnings) < MOST_WARNINGS:
            self.warnings.append(sentence)

    def cut_short(self, top: _Open) -> None:
        """The file ends, and containers are still open. Old files have no terminator after the last root block."""
        if isinstance(top.data, Records) and top.data.counted and not top.left:
            self.stack.pop()
            return
        for level in self.stack:
            level.data.end = b""
            if isinstance(level.data, Record):
                level.data.latest = None
            if isinstance(level.data, Records) and level.data.counted and level.left:
                raise FormatError(f"{level.left} sub-frames are missing", offset=self.offset, field=level.name)
        if len(self.stack) > 1:
            self.warn(f"The file ends within {len(self.stack) - 1} open blocks; what is there was kept.")
        self.stack.clear()

    def header(self) -> tuple[int, int]:
        code, size = HEADER.unpack_from(self.data, self.offset)
        self.offset += 8
        return code, size

    def open(self, level: _Open) -> None:
        if isinstance(level.data, Record):
            level.data.latest = {}  # counts are asked for by every block that follows them
        self.stack.append(level)

    def append(self, record: Record, block: Block) -> None:
        record.blocks.append(block)
        if record.latest is not None:
            record.latest[block.code] = block

    def close(self) -> None:
        level = self.stack.pop()
        if isinstance(level.data, Record):
            level.data.latest = None
        if level.field and level.size != self.offset - level.start and level.field.code not in KNOWN_LIES:
            self.lies += 1

    def record_step(self, level: _Open, record: Record) -> None:
        at = self.offset
        code, size = self.header()
        if code == 0:
            record.end = self.data[at : self.offset]
            self.close()
            return
        if self.unended(level, record, code, at):
            record.end = b""
            self.offset = at
            self.warn(f"The {level.name} before offset {at} has no terminator; its size ended it.")
            self.close()
            return
        field = record.FIELDS.get(code)
        if isinstance(field, Table):
            self.open_table(record, field, code, size)
        elif isinstance(field, Sub):
            child = field.kind()()
            self.append(record, Block(code, child, size))
            self.open(_Open(child, self.offset, size, field))
        else:
            name = field.name if field else f"block {code}"
            length = self.length(record, code, size)
            if length > self.end - self.offset:
                raise FormatError(too_short(length, self.offset, self.end, len(self.data)), offset=at, field=name)
            if length != size and code not in KNOWN_LIES:
                self.lies += 1
            self.append(record, Block(code, self.data[self.offset : self.offset + length], size))
            self.offset += length

    def unended(self, level: _Open, record: Record, code: int, at: int) -> bool:
        """Does the record end here without a terminator? Its size says so, and the next code is its parent's business."""
        if code in record.FIELDS or level.size != at - level.start or len(self.stack) < 2:
            return False
        above = self.stack[-2].data
        return isinstance(above, Record) and code in above.FIELDS

    def length(self, record: Record, code: int, declared: int) -> int:
        """How long a value is: what the engine would read, unless only the declared size leads to another block."""
        field = record.FIELDS.get(code)
        if field is None:
            return declared
        engine = field.length(record, self.data, self.offset, declared)
        if engine == declared or self.plausible(record, engine) or not self.plausible(record, declared):
            return engine
        place = self.offset - 8
        self.warn(
            f"{field.name} at offset {place} should take {engine} bytes by the file's counts; its size of {declared} fits."
        )
        return declared

    def plausible(self, record: Record, length: int) -> bool:
        offset = self.offset + length
        if offset + 8 > self.end:
            return offset == self.end
        code, size = HEADER.unpack_from(self.data, offset)
        return code in record.FIELDS or code == size == 0

    def open_table(self, record: Record, field: Table, code: int, size: int) -> None:
        table = Records(counted=isinstance(field, Inline))
        start = self.offset
        if table.counted:
            count = Reader(self.data, offset=start).u32(field.name)
            self.offset += 4
            if count * 8 > self.end - self.offset:
                raise FormatError(f"a count of {count}, in {self.end - self.offset} bytes", offset=start, field=field.name)
        else:
            count = int(getattr(record, field.count))
        self.append(record, Block(code, table, size))
        self.open(_Open(table, start, size, field, count))

    def table_step(self, level: _Open, table: Records) -> None:
        """The next entry, or the end: after as many entries as the count says, at a terminator."""
        assert isinstance(level.field, Table)
        at = self.offset
        code, _ = HEADER.unpack_from(self.data, at)
        if table.counted:
            if level.left == 0:
                self.stack.pop()
                return
        elif code == 0 and (level.left == 0 or at + 8 - level.start == level.size):
            if level.left:
                self.warn(f"{level.name} at offset {level.start} have {level.left} entries fewer than they count.")
            self.offset += 8
            table.end = self.data[at : self.offset]
            self.close()
            return
        elif level.left == 0:
            if code not in level.field.kind().FIELDS:
                table.end = b""
                self.warn(f"The {level.name} before offset {at} have no terminator; their count ended them.")
                self.close()
                return
            self.warn(f"{level.name} at offset {level.start} have more entries than they count.")
            level.left = 1
        level.left -= 1
        entry = level.field.kind()()
        table.entries.append(entry)
        self.open(_Open(entry, at, 0, None))
