# SPDX-License-Identifier: GPL-3.0-or-later
"""Document -> bytes. The JSON that was read is written as it was, down to its spaces, while it still says the same."""

from __future__ import annotations

import json
import struct

import numpy as np

from ..errors import FormatError
from .document import JSON_CHUNK, MAGIC, VERSION, Document
from .read import BOM

HEADER = struct.Struct("<4sII")
CHUNK = struct.Struct("<I4s")


def write(document: Document) -> bytes:
    text = _text(document)
    if not document.binary:
        if document.chunks:
            raise FormatError("a .gltf has no place for binary chunks")
        return text
    pieces = []
    for kind, data in [(JSON_CHUNK, text), *((chunk.kind, chunk.data) for chunk in document.chunks)]:
        pieces += [CHUNK.pack(len(data), kind), data]
    pieces.append(document.trailing)
    length = HEADER.size + sum(map(len, pieces)) if document.length < 0 else document.length
    return b"".join([HEADER.pack(MAGIC, VERSION, length), *pieces])


def _text(document: Document) -> bytes:
    if document.text and _unchanged(document):
        return document.text
    try:
        if not document.binary:
            return json.dumps(document.json, indent=1, allow_nan=False, default=plain).encode("utf-8", "replace") + b"\n"
        text = json.dumps(document.json, separators=(",", ":"), allow_nan=False, default=plain).encode("utf-8", "replace")
    except (ValueError, RecursionError) as error:
        raise FormatError(f"the document cannot be written as JSON: {error}") from None
    return text + b" " * (-len(text) % 4)


def _unchanged(document: Document) -> bool:
    try:
        return bool(json.loads(document.text.removeprefix(BOM)) == document.json)
    except (ValueError, RecursionError):
        return False


def plain(value: object) -> object:
    """What numpy has, as JSON has it."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, bytes):
        return value.hex()
    raise TypeError(f"{type(value).__name__} is nothing that JSON has")
