# SPDX-License-Identifier: GPL-3.0-or-later
"""Textures for a console that has no texture coordinates: every polygon shows the whole of one picture.

Most faces show an upright rectangle of an image, pixel by pixel: that rectangle becomes a picture. What any other face shows
is drawn anew.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from ...scene import Image
from ..binary import FormatError
from . import textures
from .document import Textures

Array = npt.NDArray[Any]

NEAR = 0.05  # of a pixel: UVs this close to one lie on it
WIDEST, HIGHEST = 504, 255  # what a texture definition can say
MOST = 8000  # the definitions have to stay below 64 KiB


@dataclass
class Book:
    """The pictures that the faces of a character need."""

    images: list[Image]
    largest: int
    warnings: list[str]
    words: list[Array] = field(default_factory=list)
    order: list[tuple[int, int]] = field(default_factory=list)  # what to sort by: the number wanted, the number here
    known: dict[Any, int] = field(default_factory=dict)
    drawn: int = 0

    def add(self, image: int, corners: Array, exact: Array, opaque: Array, wanted: Array) -> Array:
        """The number of the picture that each face shows. `corners` (f, 4, 2) are pixels, top down, unmirrored if `exact`."""
        numbers = np.zeros(len(corners), np.int64)
        rectangles = np.concatenate([corners.min(1), np.ptp(corners, 1)], 1)
        exact = exact & self._expressible(image, np.rint(rectangles[:, 2:]))
        rows = np.concatenate([np.rint(rectangles).astype(np.int64), opaque[:, None]], 1)[exact]
        if len(rows):
            distinct, inverse = np.unique(rows, axis=0, return_inverse=True)
            low = np.full(len(distinct), np.iinfo(np.int64).max)
            np.minimum.at(low, inverse.reshape(-1), wanted[exact])
            found = [self._rectangle(image, row, int(want)) for row, want in zip(distinct.tolist(), low, strict=True)]
            numbers[exact] = np.array(found)[inverse.reshape(-1)]
        for face in np.flatnonzero(~exact):
            numbers[face] = self._draw(image, corners[face], bool(opaque[face]))
        return numbers

    def _expressible(self, image: int, sizes: Array) -> Array:
        """Which rectangles can be textures as they are. The whole of an image must be; parts of one can be drawn anew."""
        width, height = sizes.T
        good = (width % 8 == 0) & (width <= WIDEST) & (height <= HIGHEST)
        high, wide = self._pixels(image).shape[:2]
        if ((width == wide) & (height == high) & ~good).any():
            raise FormatError(
                f'image "{self.images[image].name}" is {wide} x {high} pixels: the width of a texture must be a multiple of 8 '
                f"up to {WIDEST}, its height at most {HIGHEST}"
            )
        return good

    def _rectangle(self, image: int, row: list[int], wanted: int) -> int:
        left, top, width, height, opaque = row
        pixels = self._pixels(image)
        rows, columns = np.arange(top, top + height) % len(pixels), np.arange(left, left + width) % pixels.shape[1]
        return self._keep((image, *row), pixels[rows[:, None], columns], bool(opaque), wanted)

    def _draw(self, image: int, corners: Array, opaque: bool) -> int:
        """What a face shows of an image that is not an upright rectangle of its pixels."""
        pixels = self._pixels(image)
        across, down = np.linalg.norm(np.roll(corners, -1, 0) - corners, axis=1).reshape(2, 2).max(0).tolist()
        width = min(max(math.ceil(across / 8) * 8, 8), max(self.largest // 8 * 8, 8), WIDEST)
        height = min(max(math.ceil(down), 1), max(self.largest, 1), HIGHEST)
        s = ((np.arange(width) + 0.5) / width)[None, :, None]
        t = ((np.arange(height) + 0.5) / height)[:, None, None]
        top, bottom = corners[0] + s * (corners[1] - corners[0]), corners[3] + s * (corners[2] - corners[3])
        at = np.floor(top + t * (bottom - top)).astype(np.int64)
        self.drawn += 1
        picture = pixels[at[..., 1] % len(pixels), at[..., 0] % pixels.shape[1]]
        key = (picture.shape, opaque, picture.tobytes())
        return self._keep(key, picture, opaque, np.iinfo(np.int64).max)

    def _pixels(self, image: int) -> Array:
        """Top row first."""
        pixels = self.images[image].pixels
        assert pixels is not None
        return pixels[::-1]

    def _keep(self, key: Any, picture: Array, opaque: bool, wanted: int) -> int:
        if key not in self.known:
            self.known[key] = len(self.words)
            self.words.append(textures.words(picture) | np.uint16(textures.OPAQUE if opaque else 0))
            self.order.append((wanted, len(self.order)))
        number = self.known[key]
        self.order[number] = min(self.order[number], (wanted, self.order[number][1]))
        return number

    def finish(self) -> tuple[Textures, Array]:
        """All pictures in memory, and the final number of each."""
        sequence = sorted(range(len(self.words)), key=self.order.__getitem__)
        total = sum(-(-self.words[index].size // 4) * 4 for index in sequence)
        if len(sequence) > MOST:
            raise FormatError(f"the model shows {len(sequence)} textures: there can be {MOST}. Use fewer or larger images")
        if total > textures.MEMORY_WORDS:
            raise FormatError(
                f"the {len(sequence)} textures need {2 * total} bytes: there is room for {2 * textures.MEMORY_WORDS}. "
                "Use fewer or smaller images"
            )
        if self.drawn:
            self.warnings.append(
                f"{self.drawn} faces show slanted or stretched parts of images, which the console cannot: drawn anew for them."
            )
        final = np.zeros(len(sequence), np.int64)
        final[sequence] = np.arange(len(sequence))
        return textures.pack([self.words[index] for index in sequence]), final


def upright(corners: Array) -> Array:
    """Which (f, 4, 2) quads in pixels are rectangles along the pixels, their first edge running across."""
    whole = (np.abs(corners - np.rint(corners)) < NEAR).all((1, 2))
    a, b, c, d = (np.rint(corners[:, k]) for k in range(4))
    level = (a[:, 1] == b[:, 1]) & (c[:, 1] == d[:, 1]) & (a[:, 0] == d[:, 0]) & (b[:, 0] == c[:, 0])
    return whole & level & (a[:, 0] != b[:, 0]) & (a[:, 1] != d[:, 1])


def opened(corners: Array, pair: int) -> Array:
    """The rectangles that triangles show whose merged corner `pair` (of (f, 4, 2), with the next) has the mean of two."""
    a, b, c, d = pair, (pair + 1) % 4, (pair + 2) % 4, (pair + 3) % 4
    full = corners.copy()
    edge = (corners[:, c] + corners[:, d]) / 2 - corners[:, a]
    full[:, b], full[:, a] = corners[:, c] - edge, corners[:, d] - edge
    return full
