# SPDX-License-Identifier: GPL-3.0-or-later
"""PNG files of RGB and RGBA bytes, as small as zlib makes them without filters."""

from __future__ import annotations

import struct
import zlib

import numpy as np
import numpy.typing as npt

MAGIC = b"\x89PNG\r\n\x1a\n"
RGB, RGBA = 2, 6  # colour types


def encode(pixels: npt.NDArray[np.uint8]) -> bytes:
    """(height, width, 4) RGBA or (height, width, 3) RGB, bottom row first, as Blender has it."""
    height, width, channels = pixels.shape
    rows = np.zeros((height, 1 + width * channels), np.uint8)
    rows[:, 1:] = pixels[::-1].reshape(height, -1)
    header = struct.pack(">IIBBBBB", width, height, 8, {3: RGB, 4: RGBA}[channels], 0, 0, 0)
    return MAGIC + _chunk(b"IHDR", header) + _chunk(b"IDAT", zlib.compress(rows.tobytes(), 6)) + _chunk(b"IEND", b"")


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
