# SPDX-License-Identifier: GPL-3.0-or-later
"""What kind of picture some bytes are, whatever their file is called."""

from __future__ import annotations

HEAD = 4096  # bytes of a file that tell its kind

# Magic numbers: the extensions that a file of the kind may have, the usual one first; where the number is; and the number.
MAGIC: tuple[tuple[tuple[str, ...], int, bytes], ...] = (
    ((".png",), 0, b"\x89PNG\r\n\x1a\n"),
    ((".jpg", ".jpeg", ".jpe"), 0, b"\xff\xd8\xff"),
    ((".bmp", ".dib"), 0, b"BM"),
    ((".dds",), 0, b"DDS "),
    ((".gif",), 0, b"GIF8"),
    ((".webp",), 8, b"WEBP"),
    ((".tif", ".tiff"), 0, b"II*\0"),
    ((".tif", ".tiff"), 0, b"MM\0*"),
    ((".jp2",), 0, b"\0\0\0\x0cjP  "),
    ((".jp2",), 0, b"\xff\x4f\xff\x51"),
    ((".psd",), 0, b"8BPS"),
    ((".hdr",), 0, b"#?RADIANCE"),
    ((".hdr",), 0, b"#?RGBE"),
    ((".exr",), 0, b"\x76\x2f\x31\x01"),
    ((".iff", ".lbm"), 8, b"ILBM"),
    ((".iff", ".lbm"), 8, b"PBM "),
    ((".pcd",), 2048, b"PCD_"),
    ((".vtf",), 0, b"VTF\0"),
    ((".pic",), 0, b"\x53\x80\xf6\x34"),
    ((".tim",), 0, b"\x10\0\0\0"),
)


def extensions(head: bytes) -> tuple[str, ...]:
    """The extensions that a picture which begins so may have, the usual one first; none where it is no picture."""
    for names, at, magic in MAGIC:
        if head[at : at + len(magic)] == magic:
            return names
    if _is_pcx(head):
        return (".pcx",)
    return (".tga",) if _is_tga(head) else ()


def _is_pcx(head: bytes) -> bool:
    return len(head) >= 128 and head[0] == 10 and head[1] <= 5 and head[2] <= 1 and head[3] in (1, 2, 4, 8)


def _is_tga(head: bytes) -> bool:
    """It has no magic number: only a header of which every field makes sense."""
    if len(head) < 18 or head[1] > 1 or head[2] not in (1, 2, 3, 9, 10, 11):
        return False
    mapped = head[2] in (1, 9)
    width, height = int.from_bytes(head[12:14], "little"), int.from_bytes(head[14:16], "little")
    depths = (8, 16) if mapped or head[2] in (3, 11) else (15, 16, 24, 32)
    table = head[1] == 1 and head[7] in (15, 16, 24, 32) if mapped else head[1] == 0 or head[7] in (15, 16, 24, 32)
    return width > 0 and height > 0 and head[16] in depths and table and head[17] & 0xC0 == 0
