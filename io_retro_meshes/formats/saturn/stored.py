# SPDX-License-Identifier: GPL-3.0-or-later
"""The bytes that a character came from, as text that travels through a scene in the settings of its node; for both directions.

An export reads them again, and writes from them whatever nobody has edited.
"""

from __future__ import annotations

import base64
import binascii
import zlib

LARGEST = 1 << 26


def encode(data: bytes) -> str:
    return base64.b64encode(zlib.compress(data, 1)).decode("ascii") if data else ""


def decode(text: object) -> bytes:
    """Nothing for a text that was damaged."""
    try:
        packed = base64.b64decode(str(text), validate=True)
        unpacker = zlib.decompressobj()
        data = unpacker.decompress(packed, LARGEST)
    except (binascii.Error, zlib.error, ValueError):
        return b""
    return data if unpacker.eof else b""


def mark(data: bytes) -> str:
    """What tells the animations of one character from those of others."""
    return f"{zlib.crc32(data):08x}" if data else ""
