# SPDX-License-Identifier: GPL-3.0-or-later
"""How large a picture says that it is: asked before anything decodes it."""

from __future__ import annotations

import struct
from pathlib import Path

from . import kinds
from .decode import MOST_PIXELS

HEAD = 1 << 18  # bytes in which the size of a JPEG is found, behind its thumbnail
# Where the width and the height of a kind are, by its usual extension.
PLACES = {
    ".png": (16, ">II"),
    ".bmp": (18, "<ii"),
    ".gif": (6, "<HH"),
    ".tga": (12, "<HH"),
}
NO_SIZE = {0xD8, 0x01, *range(0xD0, 0xD8)}  # JPEG markers with nothing behind them
FRAMES = {*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC}


def trouble(path: Path) -> str:
    """Why a picture is not to be loaded; empty for one that may be."""
    try:
        with path.open("rb") as stream:
            head = stream.read(HEAD)
    except OSError as error:
        return error.strerror or str(error)
    width, height = size(head)
    if width * height > MOST_PIXELS:
        return f"it is {width} x {height} pixels large, more than {MOST_PIXELS >> 20} megapixels. Make it smaller"
    return ""


def size(head: bytes) -> tuple[int, int]:
    """Width and height, as the first bytes of the file say; (0, 0) where they do not."""
    kind = (*kinds.extensions(head[: kinds.HEAD]), "")[0]
    try:
        if kind == ".dds":
            height, width = struct.unpack_from("<II", head, 12)
        elif kind == ".psd":
            height, width = struct.unpack_from(">II", head, 14)
        elif kind == ".jpg":
            width, height = _jpeg(head)
        elif kind in PLACES:
            width, height = struct.unpack_from(PLACES[kind][1], head, PLACES[kind][0])
        else:
            return 0, 0
    except struct.error:  # cut off
        return 0, 0
    return abs(width), abs(height)


def _jpeg(head: bytes) -> tuple[int, int]:
    at = 0
    while at + 4 <= len(head) and head[at] == 0xFF:
        marker = head[at + 1]
        if marker in FRAMES:
            height, width = struct.unpack_from(">HH", head, at + 5)
            return width, height
        at += 2 if marker in NO_SIZE else 2 + max(struct.unpack_from(">H", head, at + 2)[0], 2)
    return 0, 0
