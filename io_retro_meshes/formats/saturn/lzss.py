# SPDX-License-Identifier: GPL-3.0-or-later
"""The packing of textures: 16-bit words, in groups of a control word and sixteen items.

An item is a word to take as it is or, where its control bit (the highest first) is set, a command: 0 ends the stream,
any other copies `(command & 31) + 2` words from `command >> 5` words back. A copy may run into what it writes itself.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Words = npt.NDArray[np.uint16]
Array = npt.NDArray[Any]

GROUP = 17
SHORTEST, LONGEST = 2, 33
FARTHEST = 0x7DF  # as far back as the games' own streams copy from; a command can say 0x7FF


class StreamError(ValueError):
    """The stream asks for words that were never written."""

    def __init__(self, message: str, item: int) -> None:
        super().__init__(message)
        self.offset = item // 16 * GROUP * 2 + (item % 16 + 1) * 2


def decompress(data: bytes, most: int | None = None) -> tuple[Words, bool]:
    """The words, and whether the stream had its end command. Stops after the item that reaches `most` words.

    Every item is one word, so that all of them can be looked at at once, and where each one writes is known beforehand.
    """
    items, copies, ended = _items(data)
    length = np.where(copies, (items & 31) + SHORTEST, 1).astype(np.int64)
    stop = np.cumsum(length)
    if most is not None and len(stop) and stop[-1] > most:
        count = int(np.searchsorted(stop, most)) + 1
        ended = ended and count == len(stop)
        items, copies, length, stop = items[:count], copies[:count], length[:count], stop[:count]
    start = stop - length
    back = (items >> 5).astype(np.int64)
    bad = np.flatnonzero(copies & ((back == 0) | (back > start)))
    if len(bad):
        item = int(bad[0])
        raise StreamError(f"a copy from {back[item]} words back after {start[item]} words", item)
    return _resolve(items, copies, start, length, back), ended


def _items(data: bytes) -> tuple[Array, npt.NDArray[np.bool_], bool]:
    """The items up to the end command: the words, which of them are commands; and whether there was an end."""
    words = np.frombuffer(data, ">u2", len(data) // 2).astype(np.uint16)
    groups = -(-len(words) // GROUP)
    table = np.zeros((groups, GROUP), np.uint16)
    table.reshape(-1)[: len(words)] = words
    copies = np.unpackbits(table[:, 0].astype(">u2").view(np.uint8)).astype(bool)
    items = table[:, 1:].reshape(-1)
    there = max(len(words) - groups, 0)
    ends = np.flatnonzero(copies[:there] & (items[:there] == 0))
    count = int(ends[0]) if len(ends) else there
    return items[:count], copies[:count], bool(len(ends))


def _resolve(items: Array, copies: Array, start: Array, length: Array, back: Array) -> Words:
    """The output. Every word of a copy is asked where it comes from, and that one again, twice as far each time, until all
    have come to words that were taken as they are."""
    count = int(start[-1] + length[-1]) if len(start) else 0
    origin = np.arange(count, dtype=np.int32)
    origin -= np.repeat(np.where(copies, back, 0).astype(np.int32), length)
    while not np.array_equal(origin, farther := origin.take(origin)):
        origin = farther
    literals = np.zeros(count, np.uint16)
    literals[start[~copies]] = items[~copies]
    return literals.take(origin)


def compress(words: npt.ArrayLike) -> bytes:
    """The smallest stream there is for the words.

    Every item costs the same, and what can be copied from one place on can also be copied, one word less, from the next:
    so always taking the longest copy gives the fewest items.
    """
    given = np.ascontiguousarray(words, np.uint16)
    longest, source = _matches(given)
    taken = _walk(np.arange(len(given)) + np.maximum(longest, 1))
    copies = longest[taken] > 0
    commands = ((taken - source[taken]) << 5) | (longest[taken] - SHORTEST)
    items = np.where(copies, commands, given[taken])
    items, copies = np.append(items, 0), np.append(copies, True)
    groups = -(-len(items) // 16)
    table = np.zeros((groups, GROUP), ">u2")
    bits = np.zeros(groups * 16, bool)
    bits[: len(copies)] = copies
    table[:, 0] = np.packbits(bits).view(">u2")
    padded = np.zeros(groups * 16, np.uint16)
    padded[: len(items)] = items
    table[:, 1:] = padded.reshape(groups, 16)
    return table.tobytes()[: 2 * (len(items) + groups)]


def _matches(words: Words) -> tuple[Array, Array]:
    """For every place the length of the longest copy that can start there (0: none), and where it copies from.

    Places are sorted into classes of equal words, for one word more each time. A class holds only places within reach of
    the one before, and places alone in theirs are left out: each round looks at what still repeats.
    """
    count = len(words)
    longest, source = np.zeros(count, np.int64), np.zeros(count, np.int64)
    places = np.arange(count)
    classes = np.zeros(count, np.int64)
    for length in range(1, LONGEST + 1):
        inside = places + length <= count
        places, classes = places[inside], classes[inside]
        if not len(places):
            break
        keys = (classes << 16) | words[places + length - 1]
        order = np.argsort(keys, kind="stable")
        places, keys = places[order], keys[order]
        joined = (np.diff(keys) == 0) & (np.diff(places) <= FARTHEST)
        if length >= SHORTEST:
            repeats = places[1:][joined]
            longest[repeats] = length
            source[repeats] = places[:-1][joined]
        classes = np.concatenate([[0], np.cumsum(~joined)])
        company = np.append(joined, False) | np.append(False, joined)
        places, classes = places[company], classes[company]
    return longest, source


def _walk(following: Array) -> Array:
    """The places that one comes by from 0 on, when each says where to go next: in steps of 1, 2, 4, 8 ... at once."""
    count = len(following)
    jump = np.append(following, count)
    seen = np.zeros(1, np.int64)
    while True:
        reached = jump[seen]
        reached = reached[reached < count]
        if not len(reached):
            return np.sort(seen[seen < count])
        seen = np.concatenate([seen, reached])
        jump = jump[jump]
