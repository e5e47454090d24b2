# SPDX-License-Identifier: GPL-3.0-or-later
"""Document to bytes."""

from __future__ import annotations

from ..binary import Writer
from .document import Document


def write(document: Document) -> bytes:
    writer = Writer()
    writer.put(b"TOY1")
    writer.u32(len(document.triangles))
    writer.array(document.triangles, "<f4")
    writer.put(document.rest)
    return bytes(writer.data)
