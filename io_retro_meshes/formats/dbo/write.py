# SPDX-License-Identifier: GPL-3.0-or-later
"""Document -> bytes, with a stack: siblings nest thousands deep."""

from __future__ import annotations

import struct

from ..binary import Writer
from .document import Document
from .fields import Block, Record

# What is still to be written: a block, a record, bytes, or the place of a size that is known by then.
Step = Block | Record | bytes | int


def write(document: Document) -> bytes:
    writer = Writer()
    writer.u32(len(document.magic))
    writer.put(document.magic)
    for value in (document.version, *document.reserved):
        writer.u32(value)
    steps: list[Step] = [document.tail, document.root]
    while steps:
        step = steps.pop()
        if isinstance(step, Block):
            _block(writer, step, steps)
        elif isinstance(step, Record):
            _record(step, steps)
        elif isinstance(step, int):
            writer.patch_u32(step, len(writer) - step - 4)
        else:
            writer.put(step)
    return bytes(writer.data)


def _record(record: Record, steps: list[Step]) -> None:
    steps.append(record.end)
    steps.extend(reversed(record.blocks))


def _block(writer: Writer, block: Block, steps: list[Step]) -> None:
    data = block.data
    writer.u32(block.code)
    place = len(writer)
    if isinstance(data, bytes):
        writer.u32(len(data) if block.size is None else block.size)
        writer.put(data)
        return
    writer.u32(block.size or 0)
    if block.size is None:
        steps.append(place)
    if isinstance(data, Record):
        steps.append(data)
        return
    if not data.counted:
        steps.append(data.end)
    steps.extend(reversed(data.entries))
    if data.counted:
        steps.append(struct.pack("<I", len(data.entries)))
