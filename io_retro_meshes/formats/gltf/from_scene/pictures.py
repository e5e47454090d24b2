# SPDX-License-Identifier: GPL-3.0-or-later
"""Pictures in a file or beside it: as they are on disk where they are PNG or JPEG, else their pixels as PNG."""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from urllib.parse import quote

from ....pictures import png
from ....pictures.names import safe_name, shortened
from ....scene import Image, Scene
from .. import extras
from ..document import Json
from .buffers import Buffer

JPEG_MAGIC = b"\xff\xd8\xff"
EXTENSIONS = {"image/png": ".png", "image/jpeg": ".jpg"}
# The color type of a PNG: one with alpha; and the chunk that gives the others some.
ALPHA_TYPES, TRANSPARENCY = (4, 6), b"tRNS"


def kind_of(data: bytes) -> str:
    """The MIME type; empty for pictures that glTF does not have."""
    return "image/png" if data.startswith(png.MAGIC) else "image/jpeg" if data.startswith(JPEG_MAGIC) else ""


def needs_pixels(image: Image) -> bool:
    """Is there no file that can be taken as it is? Then its pixels, if they are there, are made a PNG."""
    if image.data:
        return not kind_of(image.data)
    return image.mask_black or image.mean_alpha or Path(image.path).suffix.lower() not in (".png", ".jpg", ".jpeg")


def image_flags(image: Image) -> dict[str, bool]:
    """What the extras say of a picture."""
    return {"mask_black": image.mask_black, "mean_alpha": image.mean_alpha, "no_alpha": not image.alpha}


class Pictures:
    def __init__(self, scene: Scene, buffer: Buffer, mode: str) -> None:
        self.scene = scene
        self.buffer = buffer
        self.mode = mode
        self.made: list[Json] = []
        self.files: dict[str, bytes] = {}
        self.known: dict[tuple[int, bool], int] = {}
        self.missing: list[str] = []

    def number(self, index: int, opaque: bool, material: str) -> int:
        """The number of a picture, -1 where there is none. opaque: its alpha must not show."""
        if self.mode == "NONE":
            return -1
        if (index, opaque) not in self.known:
            self.known[index, opaque] = self.add(self.scene.images[index], opaque, material)
        return self.known[index, opaque]

    def warn(self) -> None:
        if self.missing:
            names = ", ".join(self.missing)
            self.scene.warnings.append(f"These pictures were not found, or cannot be read, and were left out: {names}.")

    def add(self, image: Image, opaque: bool, material: str) -> int:
        data = encoded(image, opaque)
        if not data:
            self.missing.append(f'"{image.name}" of the material "{material}"')
            return -1
        kind = kind_of(data)
        made: Json = {"name": image.name, "mimeType": kind}
        if self.mode == "EMBED":
            made["bufferView"] = self.buffer.view(data)
        else:
            made["uri"] = self.separate(image, data, EXTENSIONS[kind])
        extras.pack(made, None, **image_flags(image))
        self.made.append(made)
        return len(self.made) - 1

    def separate(self, image: Image, data: bytes, extension: str) -> str:
        """Its name beside the file: one that every system can hold, and no other picture's."""
        stem = PurePosixPath(safe_name(image.name, (extension,))).stem
        uri, number = quote(shortened(stem, extension)), 0
        while self.files.get(uri, data) != data:
            number += 1
            uri = quote(shortened(stem, extension, number))
        self.files[uri] = data
        return uri


def encoded(image: Image, opaque: bool) -> bytes:
    """The picture as PNG or JPEG; nothing where it is not known."""
    if not needs_pixels(image):
        data = image.data or _read(image.path)
        if kind_of(data) and not (opaque and _has_alpha(data)):
            return data
    if image.pixels is None or not image.pixels.size:
        return b""
    pixels = image.pixels
    if opaque:
        pixels = pixels.copy()
        pixels[..., 3] = 255
    return png.encode(pixels)


def _has_alpha(data: bytes) -> bool:
    return data.startswith(png.MAGIC) and (data[25] in ALPHA_TYPES or TRANSPARENCY in data[: data.find(b"IDAT")])


def _read(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except (OSError, ValueError):
        return b""
