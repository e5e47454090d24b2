# SPDX-License-Identifier: GPL-3.0-or-later
"""Bytes to document."""

from __future__ import annotations

from ..binary import Reader
from .document import Document


def read(data: bytes) -> Document:
    reader = Reader(data)
    if reader.take(4, "magic") != b"TOY1":
        raise reader.error("this is not TOY1", "magic", 0)
    triangles = reader.array("<f4", reader.u32("number of triangles") * 9, "triangles").reshape(-1, 3, 3)
    document = Document(triangles, reader.take(reader.remaining, "rest"))
    if document.rest:
        document.warnings.append(f"{len(document.rest)} bytes behind the triangles are kept, and mean nothing.")
    return document
