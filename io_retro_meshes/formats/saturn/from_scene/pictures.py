# SPDX-License-Identifier: GPL-3.0-or-later
"""Images of the scene -> textures, for a console without texture coordinates: every polygon shows the whole of one picture.

Most faces show an upright rectangle of an image, pixel by pixel: that rectangle becomes a picture. What any other face shows
is drawn anew.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ....scene import Image, Material
from ...errors import FormatError
from .. import axes, textures
from ..document import DIR_KIND, DIR_TEXTURED, Textures
from ..shading import ID

Array = npt.NDArray[Any]

NEAR = 0.05  # of a pixel: UVs this close to one lie on it
WIDEST, HIGHEST = 504, 255  # what a texture definition can say
MOST = 8000  # the definitions have to stay below 64 KiB


NEW = 1 << 16  # of `wanted`: the face has no texture from a file


@dataclass
class Picture:
    """What some faces show."""

    pixels: Array  # RGBA, top row first
    opaque: bool
    votes: Counter[int]  # the textures that those faces had in their file

    @property
    def words(self) -> Array:
        return textures.words(self.pixels) | np.uint16(textures.OPAQUE if self.opaque else 0)


@dataclass
class TextureSet:
    """The pictures that the faces of a character need. `original` are the textures of the file that it came from."""

    images: list[Image]
    largest: int
    warnings: list[str]
    original: Textures | None = None
    pictures: list[Picture] = field(default_factory=list)
    known: dict[Any, int] = field(default_factory=dict)
    drawn: int = 0

    def add(self, image: int, corners: Array, exact: Array, opaque: Array, wanted: Array) -> Array:
        """The number of the picture that each face shows. `corners` (f, 4, 2) are pixels, top down, unmirrored if `exact`."""
        numbers = np.zeros(len(corners), np.int64)
        rectangles = np.concatenate([corners.min(1), np.ptp(corners, 1)], 1)
        exact = exact & self._expressible(image, np.rint(rectangles[:, 2:]), wanted)
        rows = np.concatenate([np.rint(rectangles).astype(np.int64), opaque[:, None]], 1)[exact]
        if len(rows):
            distinct, inverse = np.unique(rows, axis=0, return_inverse=True)
            found = np.array([self._rectangle(image, row) for row in distinct.tolist()])[inverse.reshape(-1)]
            numbers[exact] = found
            for (number, want), votes in Counter(zip(found.tolist(), wanted[exact].tolist(), strict=True)).items():
                self.pictures[number].votes[want] += votes
        for face in np.flatnonzero(~exact):
            numbers[face] = self._draw(image, corners[face], bool(opaque[face]))
        return numbers

    def in_file(self, texno: Array, dir: Array, material: Material) -> Array:
        """Which faces still have their texture in the file, though the material shows none: it was imported without."""
        if self.original is None or not material.settings[ID].get("textured", "imported" in material.settings[ID]):
            return np.zeros(len(texno), bool)
        return (dir & DIR_KIND == DIR_TEXTURED) & (texno < len(self.original.definitions))

    def add_from_file(self, texno: Array, name: str) -> Array:
        """The number of the picture for each face that keeps the texture of its file."""
        if not len(texno):
            return texno
        assert self.original is not None
        self.warnings.append(
            f'Material "{name}" shows no image: {len(texno)} faces keep the textures they have in the file. For plain ones '
            "give them another material."
        )
        words = self._words
        distinct, inverse = np.unique(texno, return_inverse=True)
        found = np.array([self._keep(("file", number), textures.rgba(words[number]), False) for number in distinct.tolist()])
        for number, picture in zip(distinct.tolist(), found.tolist(), strict=True):
            self.pictures[picture].votes[number] += 1
        return found[inverse.reshape(-1)]

    def _expressible(self, image: int, sizes: Array, wanted: Array) -> Array:
        """Which rectangles can be textures as they are. The whole of an image must be; parts of one can be drawn anew."""
        width, height = sizes.T
        good = (width % 8 == 0) & (width <= WIDEST) & (height <= HIGHEST)
        # One that the file has is one, of whatever size: those without pixels are shown as a single one.
        shapes: Array = np.array([piece.shape[::-1] for piece in self._words] + [(-1, -1)])
        good |= (sizes == shapes[np.minimum(wanted, len(shapes) - 1)]).all(1)
        high, wide = self._pixels(image).shape[:2]
        if ((width == wide) & (height == high) & ~good).any():
            raise FormatError(
                f'image "{self.images[image].name}" is {wide} x {high} pixels: the width of a texture must be a multiple of 8 '
                f"up to {WIDEST}, its height at most {HIGHEST}. Scale the image"
            )
        return good

    @cached_property
    def _words(self) -> list[Array]:
        """Of the file's textures."""
        return textures.cut(self.original) if self.original is not None else []

    def _rectangle(self, image: int, row: list[int]) -> int:
        left, top, width, height, opaque = row
        pixels = self._pixels(image)
        rows, columns = np.arange(top, top + height) % len(pixels), np.arange(left, left + width) % pixels.shape[1]
        return self._keep((image, *row), pixels[rows[:, None], columns], bool(opaque))

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
        return self._keep((picture.shape, opaque, picture.tobytes()), picture, opaque)

    def _pixels(self, image: int) -> Array:
        """Top row first."""
        pixels = self.images[image].pixels
        assert pixels is not None
        return axes.flip_rows(pixels)

    def _keep(self, key: Any, pixels: Array, opaque: bool) -> int:
        if key not in self.known:
            self.known[key] = len(self.pictures)
            self.pictures.append(Picture(pixels, opaque, Counter()))
            if len(self.pictures) > MOST:
                raise FormatError(f"the model shows more than {MOST} textures: there can be {MOST}. Use fewer or larger images")
        return self.known[key]

    def finish(self) -> tuple[Textures, Array]:
        """All pictures in memory, and the final number of each."""
        if self.drawn:
            self.warnings.append(
                f"{self.drawn} faces show slanted or stretched parts of images, which the console cannot: drawn anew for them."
            )
        if self.original is not None and len(self.original.definitions):
            found, numbers = repaint(self.original, self.pictures)
        else:
            # In the order of the numbers that they had in a file, if any.
            lowest = [(min(picture.votes, default=NEW), index) for index, picture in enumerate(self.pictures)]
            sequence = [index for _, index in sorted(lowest)]
            found = textures.pack(self._fitting([self.pictures[index].words for index in sequence]))
            numbers = np.zeros(len(sequence), np.int64)
            numbers[sequence] = np.arange(len(sequence))
        return found, numbers

    @staticmethod
    def _fitting(words: list[Array]) -> list[Array]:
        total = sum(-(-piece.size // 4) * 4 for piece in words)
        if total > textures.MEMORY_WORDS:
            raise FormatError(
                f"the {len(words)} textures need {2 * total} bytes: there is room for {2 * textures.MEMORY_WORDS}. "
                "Use fewer or smaller images"
            )
        return words


# ------------------------------------------------------------------------------------------------- textures of a file


def repaint(original: Textures, pictures: list[Picture]) -> tuple[Textures, Array]:
    """The textures of a file with what was painted over in them, and the number of each picture.

    Numbers, places in memory and the words of pixels that look as they did stay. New pictures follow behind.
    """
    words = textures.cut(original)
    looks = [_looks(piece) for piece in words]
    alike = {(shown.shape, shown.tobytes()): number for number in reversed(range(len(looks))) for shown in looks[number]}
    painter = _Painter(original, words)
    numbers = np.full(len(pictures), -1, np.int64)
    for index, picture in enumerate(pictures):
        same = _same_look(picture, looks)
        numbers[index] = same if same >= 0 else alike.get((picture.pixels.shape, picture.pixels.tobytes()), -1)
    taken = set(numbers.tolist())
    for index in np.argsort([-max(picture.votes.values(), default=0) for picture in pictures], kind="stable").tolist():
        picture = pictures[index]
        if numbers[index] < 0:
            numbers[index] = _same_look(picture, looks)  # one that was painted over just now
        if numbers[index] < 0:
            voted = [number for number, _ in picture.votes.most_common() if number < len(words) and number not in taken]
            number = next((number for number in voted if painter.paint(number, picture, looks[number])), -1)
            numbers[index] = number if number >= 0 else painter.append(picture.words)
            if number >= 0:
                looks[number] += _looks(painter.painted[number])
    return painter.finish(), numbers


def _looks(words: Array) -> list[Array]:
    """How polygons may show a texture: as it is, or with its end codes heeded."""
    found = [textures.rgba(words)]
    if (words == textures.END_CODE).any():
        found += [textures.end_coded(words, opaque) for opaque in (False, True)]
    return found


def _same_look(picture: Picture, looks: list[list[Array]]) -> int:
    """The texture that the picture's faces had, if it still looks like that; else -1."""
    voted = (number for number, _ in picture.votes.most_common() if number < len(looks))
    return next((n for n in voted if any(np.array_equal(shown, picture.pixels) for shown in looks[n])), -1)


class _Painter:
    def __init__(self, original: Textures, words: list[Array]) -> None:
        self.original = original
        self.words = words
        self.definitions = list(original.definitions)
        self.memory = original.memory
        self.painted: dict[int, Array] = {}
        self.touched: dict[int, Array] = {}  # which of their pixels
        self.added: list[Array] = []
        self.end = -(-len(original.memory) // 4) * 4

    def paint(self, number: int, picture: Picture, looks: list[Array]) -> bool:
        """Paints over a texture, in its place if it has the same size and the place is its own. False: another did already."""
        new, old = picture.words, self.words[number]
        if new.shape[1] % 8:  # a single pixel in place of none
            return False
        if new.shape != old.shape or self._is_shared(number):
            if number in self.painted:
                return False
            self.definitions[number] = self._place(new)
            self.painted[number], self.touched[number] = new, np.ones(new.shape, bool)
            return True
        changed = min(
            ((picture.pixels != shown).any(-1) for shown in looks if shown.shape[:2] == new.shape), key=np.count_nonzero
        )
        before, touched = self.painted.get(number, old), self.touched.get(number, np.zeros(old.shape, bool))
        if before.shape != new.shape or (changed & touched & (before != new)).any():
            return False
        start = int(self.definitions[number]["cgadr"]) * 4
        if self.memory is self.original.memory:
            self.memory = self.memory.copy()
        self.painted[number], self.touched[number] = np.where(changed, new, before), touched | changed
        self.memory[start : start + old.size] = self.painted[number].reshape(-1)
        return True

    def _is_shared(self, number: int) -> bool:
        table = self.original.definitions
        start = table["cgadr"].astype(np.int64) * 4
        end = start + table["width"].astype(np.int64) * table["height"]
        return int(((start < end[number]) & (end > start[number])).sum()) > 1

    def append(self, words: Array) -> int:
        self.definitions.append(self._place(words))
        return len(self.definitions) - 1

    def _place(self, words: Array) -> Any:
        """A definition for words behind all others."""
        height, width = words.shape
        if width % 8:
            raise FormatError(
                f"a texture of {width} x {height} pixels, which has none in the file, was painted over. Its width must be a "
                "multiple of 8: give its faces another image"
            )
        if self.end + words.size > textures.MEMORY_WORDS:
            raise FormatError(
                f"the textures need more than the {2 * textures.MEMORY_WORDS} bytes there are. Use fewer or smaller images"
            )
        made = np.array((width, height, self.end // 4, width // 8 << 8 | height), self.original.definitions.dtype)
        fill = -words.size % 4
        self.added += [words.reshape(-1).astype(">u2"), np.zeros(fill, ">u2")]
        self.end += words.size + fill
        return made

    def finish(self) -> Textures:
        original = self.original
        memory = self.memory
        if self.added:
            gap = np.zeros(-len(memory) % 4, ">u2")
            memory = np.concatenate([memory, gap, *self.added]).astype(">u2")
        table = np.array(self.definitions, original.definitions.dtype)
        return Textures(table, memory, original.definitions_source, original.source)


def upright(corners: Array) -> Array:
    """Which (f, 4, 2) quads in pixels are rectangles along the pixels, their first edge running across."""
    whole = (np.abs(corners - np.rint(corners)) < NEAR).all((1, 2))
    a, b, c, d = (np.rint(corners[:, k]) for k in range(4))
    level = (a[:, 1] == b[:, 1]) & (c[:, 1] == d[:, 1]) & (a[:, 0] == d[:, 0]) & (b[:, 0] == c[:, 0])
    return whole & level & (a[:, 0] != b[:, 0]) & (a[:, 1] != d[:, 1])


def unmerged(corners: Array, pair: int) -> Array:
    """(f, 4, 2): what triangles show whose corners `pair` and the next were merged into one with the mean of their UVs."""
    a, b, c, d = pair, (pair + 1) % 4, (pair + 2) % 4, (pair + 3) % 4
    full = corners.copy()
    edge = (corners[:, c] + corners[:, d]) / 2 - corners[:, a]
    full[:, b], full[:, a] = corners[:, c] - edge, corners[:, d] - edge
    return full
