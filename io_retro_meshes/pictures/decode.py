# SPDX-License-Identifier: GPL-3.0-or-later
"""Pictures of any kind as pixels, outside Blender: Pillow reads them, and is loaded when the first picture is."""

from __future__ import annotations

import io
import warnings
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..scene import Image
from . import masks

if TYPE_CHECKING:
    from PIL.Image import Image as Opened

Pixels = npt.NDArray[np.uint8]

MOST_PIXELS = 64 << 20
NEEDS_PILLOW = "Pillow is needed to decode pictures: python3 -m pip install Pillow"


class PictureError(ValueError):
    """A picture cannot be decoded, and why."""


@dataclass
class FilePicture:
    """The picture of one of a scene's images: in a file, or inside the model's own as a file or as pixels."""

    image: Image
    path: Path | None = None
    _data: bytes | None = field(default=None, init=False, repr=False)

    def encoded(self) -> bytes | None:
        """The file as it is."""
        if self._data is None and self.path is not None:
            self._data = self.path.read_bytes()
        return self.image.data or self._data

    def altered(self) -> bool:
        """Does the engine show it with an alpha that the file does not have?"""
        if self.image.pixels is not None or self.image.data or not (self.image.mask_black or self.image.mean_alpha):
            return False
        data = self.encoded()
        if data is None:
            return False
        dds = data.startswith(b"DDS ")
        has_alpha = not self.image.mask_black and _has_alpha(open_picture(data))
        return masks.alters(self.image.mask_black, self.image.mean_alpha, has_alpha, dds)

    def pixels(self) -> Pixels | None:
        """As the engine shows it."""
        return self._pixels

    @cached_property
    def _pixels(self) -> Pixels | None:
        data = self.encoded() if self.image.pixels is None else None
        if data is None:
            return self.image.pixels
        found = decode(data)
        if self.altered():
            masks.set_alpha(found, self.image.mask_black)
        return found


def open_picture(data: bytes) -> Opened:
    """What the header says; the pixels are not decoded yet. Raises PictureError."""
    try:
        import PIL.Image
    except ImportError:
        raise PictureError(NEEDS_PILLOW) from None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that it is large: that is asked below
            opened = PIL.Image.open(io.BytesIO(data))
    except PIL.Image.DecompressionBombError:
        raise PictureError(f"it has more than {MOST_PIXELS >> 20} megapixels") from None
    except Exception as error:  # whatever a decoder makes of bad bytes
        raise PictureError("it cannot be decoded") from error
    width, height = opened.size
    if width * height > MOST_PIXELS:
        raise PictureError(f"it is {width} x {height} pixels large, more than {MOST_PIXELS >> 20} megapixels")
    return opened


def decode(data: bytes) -> Pixels:
    """(height, width, 4) RGBA, bottom row first. Raises PictureError."""
    opened = open_picture(data)
    try:
        rows = _rgba(opened)
    except Exception as error:  # whatever a decoder makes of bad bytes
        raise PictureError("it cannot be decoded") from error
    return np.ascontiguousarray(rows[::-1])


def _rgba(opened: Opened) -> npt.NDArray[Any]:
    if opened.mode.startswith("I;16") or opened.mode in ("I", "F"):  # more than eight bits, which Pillow would cut off
        values = np.asarray(opened, np.float64)
        most = 1.0 if opened.mode == "F" else 65535.0
        grey = np.rint(np.clip(values / most, 0, 1) * 255).astype(np.uint8)
        return np.stack([grey, grey, grey, np.full_like(grey, 255)], -1)
    return np.asarray(opened.convert("RGBA"))


def _has_alpha(opened: Opened) -> bool:
    return opened.mode in ("RGBA", "LA", "PA", "RGBa", "La") or "transparency" in opened.info
