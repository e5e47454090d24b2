# SPDX-License-Identifier: GPL-3.0-or-later
"""Pictures: 16-bit words <-> RGBA, cut out of the texture memory and put into it, side by side in an atlas."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .document import TEXTURE, Textures

Array = npt.NDArray[Any]
Pixels = npt.NDArray[np.uint8]

OPAQUE = 0x8000
END_CODE = 0x7FFF
GUTTER = 1  # pixels around each picture of an atlas that repeat its border: what is shown never bleeds into its neighbour
MEMORY_WORDS = 0x10000 * 4  # what a CGadr can address


def rgba(words: Array) -> Pixels:
    """R in the low five bits, then G, B; 0x0000 is transparent. Five bits become eight by repeating the first ones."""
    given = words.astype(np.uint16)
    five = np.stack([given & 31, given >> 5 & 31, given >> 10 & 31], -1)
    eight = (five << 3 | five >> 2).astype(np.uint8)
    return np.concatenate([eight, np.where(given == 0, 0, 255).astype(np.uint8)[..., None]], -1)


def words(pixels: Pixels) -> Array:
    """The nearest colours of five bits each; less than half opaque is transparent."""
    five = (pixels[..., :3].astype(np.uint32) * 31 + 127) // 255
    colour = OPAQUE | five[..., 0] | five[..., 1] << 5 | five[..., 2] << 10
    return np.where(pixels[..., 3] < 128, 0, colour).astype(np.uint16)


def cut(textures: Textures) -> list[Array]:
    """The words of every texture, top row first; of one that lies outside the memory the rows that are there."""
    found = []
    for width, height, cgadr in textures.definitions[["width", "height", "cgadr"]].tolist():
        start = cgadr * 4
        rows = min(height, max(len(textures.memory) - start, 0) // width) if width else 0
        piece = textures.memory[start : start + rows * width].reshape(rows, width) if rows else np.zeros((1, 1), np.uint16)
        found.append(piece)
    return found


def pictures(textures: Textures) -> list[Pixels]:
    """Every texture as RGBA, top row first."""
    return [rgba(piece) for piece in cut(textures)]


def end_coded(words: Array, opaque: bool) -> Pixels:
    """A texture as RGBA where polygons heed end codes: such a pixel is not drawn, nor is the rest of a row after its second.

    `opaque`: polygons draw 0x0000 as black.
    """
    ends = words == END_CODE
    shown = rgba(words)
    if opaque:
        shown[..., 3] = 255
    shown[ends | (np.cumsum(ends, 1) >= 2)] = 0
    return shown


def pack(pictures: Sequence[Array]) -> Textures:
    """Pictures as words, one after the other in memory, each at a multiple of eight bytes."""
    definitions = np.zeros(len(pictures), TEXTURE)
    pieces: list[Array] = []
    total = 0
    for definition, picture in zip(definitions, pictures, strict=True):
        height, width = picture.shape
        definition["width"], definition["height"] = width, height
        definition["cgadr"], definition["hvsize"] = total // 4, width // 8 << 8 | height
        fill = -picture.size % 4
        pieces += [picture.reshape(-1), np.zeros(fill, np.uint16)]
        total += picture.size + fill
    memory = np.concatenate(pieces) if pieces else np.zeros(0, np.uint16)
    return Textures(definitions, memory.astype(">u2"))


def atlas(pictures: Sequence[Pixels]) -> tuple[Pixels, Array]:
    """All pictures in one, and the place of each: (n, 4) left, top, width, height. Shelves of falling height."""
    edge = ((GUTTER, GUTTER), (GUTTER, GUTTER), (0, 0))
    framed = [np.pad(picture, edge, "edge") for picture in pictures]
    sizes = np.array([picture.shape[1::-1] for picture in framed], np.int64).reshape(-1, 2)
    side = 8
    while side * side < sizes.prod(1).sum() or (len(sizes) and side < sizes[:, 0].max()):
        side *= 2
    places = np.zeros((len(pictures), 4), np.int64)
    x = y = shelf = 0
    for index in np.argsort(-sizes[:, 1], kind="stable"):
        width, height = sizes[index]
        if x + width > side:
            x, y, shelf = 0, y + shelf, 0
        places[index] = x, y, width, height
        x, shelf = x + width, max(shelf, height)
    canvas = np.zeros((max(int(y + shelf), 1), side, 4), np.uint8)
    for (left, top, width, height), picture in zip(places.tolist(), framed, strict=True):
        canvas[top : top + height, left : left + width] = picture
    return canvas, places + np.array([GUTTER, GUTTER, -2 * GUTTER, -2 * GUTTER])
