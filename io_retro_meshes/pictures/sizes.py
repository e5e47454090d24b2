# SPDX-License-Identifier: GPL-3.0-or-later
"""How large a picture says that it is: asked before anything decodes it."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

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
TIFF_NUMBERS = {3: "H", 4: "I"}  # by the type of a tag
RADIANCE = re.compile(rb"\n[-+]([XY]) (\d{1,9}) [-+][XY] (\d{1,9})\n")
NO_SIZE = {0xD8, 0x01, *range(0xD0, 0xD8)}  # JPEG markers with nothing behind them
FRAMES = {*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC}


def trouble(path: Path) -> str:
    """Why a picture is not to be loaded; empty for one that may be."""
    try:
        with path.open("rb") as stream:
            head = _with_tags(stream, stream.read(HEAD))
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
        elif kind in OTHERS:
            width, height = OTHERS[kind](head)
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


def _webp(head: bytes) -> tuple[int, int]:
    kind, bits = head[12:16], int.from_bytes(head[20:30], "little")
    if kind == b"VP8X":
        return (bits >> 32 & 0xFFFFFF) + 1, (bits >> 56) + 1
    if kind == b"VP8L":
        return (bits >> 8 & 0x3FFF) + 1, (bits >> 22 & 0x3FFF) + 1
    return bits >> 48 & 0x3FFF, bits >> 64 & 0x3FFF


def _with_tags(stream: BinaryIO, head: bytes) -> bytes:
    """Of a TIFF, whose tags may be anywhere in the file: its header with the tags of the first picture behind it."""
    if len(head) < 8 or ".tif" not in kinds.extensions(head[: kinds.HEAD]):
        return head
    order = "<" if head[:1] == b"I" else ">"
    stream.seek(struct.unpack_from(f"{order}I", head, 4)[0])
    return head[:4] + struct.pack(f"{order}I", 8) + stream.read(HEAD)


def _tiff(head: bytes) -> tuple[int, int]:
    order = "<" if head[:1] == b"I" else ">"
    (start,) = struct.unpack_from(f"{order}I", head, 4)
    (count,) = struct.unpack_from(f"{order}H", head, start)
    found = {}
    for at in range(start + 2, start + 2 + 12 * count, 12):
        tag, kind = struct.unpack_from(f"{order}HH", head, at)
        if tag in (256, 257) and kind in TIFF_NUMBERS:
            (found[tag],) = struct.unpack_from(order + TIFF_NUMBERS[kind], head, at + 8)
    return found.get(256, 0), found.get(257, 0)


def _jpeg_2000(head: bytes) -> tuple[int, int]:
    """Of the box "ihdr", or of the SIZ marker that a bare stream begins with."""
    at = head.find(b"ihdr")
    if head[:1] == b"\xff":
        right, lower, left, top = struct.unpack_from(">IIII", head, 8)
        return right - left, lower - top
    height, width = struct.unpack_from(">II", head, at + 4) if at > 0 else (0, 0)
    return width, height


def _radiance(head: bytes) -> tuple[int, int]:
    found = RADIANCE.search(head)
    if not found:
        return 0, 0
    first, second = int(found[2]), int(found[3])
    return (first, second) if found[1] == b"X" else (second, first)


def _exr(head: bytes) -> tuple[int, int]:
    at = head.find(b"dataWindow\0box2i\0")
    if at < 0:
        return 0, 0
    left, top, right, lower = struct.unpack_from("<iiii", head, at + 21)
    return right - left + 1, lower - top + 1


OTHERS: dict[str, Callable[[bytes], tuple[int, int]]] = {
    ".webp": _webp,
    ".tif": _tiff,
    ".jp2": _jpeg_2000,
    ".hdr": _radiance,
    ".exr": _exr,
}
