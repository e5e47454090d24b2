# SPDX-License-Identifier: GPL-3.0-or-later
"""The packing of animations in later games: 16-bit words in two lanes, each predicted by a straight line through its last two.

What is left of a word is a residual z, small where a lane runs straight. Residuals are codes of a bit stream, k ones, a zero
and 3k bits; after one whose code would be longer than a word the next of its lane is a plain word, in a table of its own. There
is no choice in packing: the same words always give the same bytes.
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

HEADER = 8
LARGE = 585  # the first residual whose code is longer than a word
# The first residual of each number of leading ones: (8^k - 1) / 7.
FIRST = np.array([(8**k - 1) // 7 for k in range(7)], np.int64)
MOST_ONES = len(FIRST) - 1
LONGEST = 4 * (MOST_ONES + 1) + 1  # bits of a code, one that means nothing included
BLOCK = 1 << 13  # bytes of a bit stream that are looked at at once
LEAPS = 4


class PackedError(ValueError):
    """The chunk is damaged."""


def unpacked_size(data: bytes) -> int:
    """How many bytes a chunk unpacks to; checks what its header says against the bytes that are there."""
    if len(data) < HEADER:
        raise PackedError(f"it has {len(data)} bytes")
    count, length = struct.unpack_from(">II", data)
    if length < 4 or length % 2 or 4 + length > len(data):
        raise PackedError(f"its bit stream starts at byte {4 + length} of {len(data)}")
    if count > (length - 4) // 2 + 8 * (len(data) - 4 - length):
        raise PackedError(f"{count} words are more than {len(data)} bytes can hold")
    return 2 * int(count)


def unpack(data: bytes) -> bytes:
    """The plain bytes of a chunk."""
    count = unpacked_size(data) // 2
    (length,) = struct.unpack_from(">I", data, 4)
    raw = np.frombuffer(data, ">u2", (length - 4) // 2, HEADER).astype(np.int64)
    coded = _codes(data[4 + length :], count)
    is_raw = _interleave(count, raw >= LARGE, coded >= LARGE)
    residuals = np.empty(count, np.int64)
    taken = int(is_raw.sum())
    residuals[is_raw], residuals[~is_raw] = raw[:taken], coded[: count - taken]
    steps = np.where(residuals & 1, -(residuals + 1) >> 1, residuals >> 1)
    words = np.empty(count, np.int64)
    for lane in (0, 1):
        words[lane::2] = np.cumsum(np.cumsum(steps[lane::2]))  # the second differences of the lane are the steps
    return (words & 0xFFFF).astype(">u2").tobytes()


def _codes(stream: bytes, most: int) -> Array:
    """The residuals in a bit stream, up to `most`. Zero bits that fill its last bytes are read as residuals, too."""
    found: list[Array] = []
    place = count = 0
    for start in range(0, len(stream), BLOCK):
        starts, ones, place = _code_places(stream, start, place, most - count)
        codes = _values(stream, starts, ones)
        found.append(codes)
        count += len(codes)
        if count >= most or len(codes) < len(starts):
            break
    return np.concatenate(found) if found else np.zeros(0, np.int64)


def _code_places(stream: bytes, start: int, place: int, most: int) -> tuple[Array, Array, int]:
    """The codes that begin in a block of bytes: their first bits, how many ones each has, and where the next one begins."""
    bits = np.unpackbits(np.frombuffer(stream[start : start + BLOCK + 4], np.uint8))
    places = np.arange(len(bits), dtype=np.int32)
    # The next zero bit of every place, looked for from the end.
    zeros = np.minimum.accumulate(np.where(bits == 0, places, np.int32(len(bits)))[::-1])[::-1]
    ones = np.minimum(zeros - places, MOST_ONES + 1)
    base = 8 * start
    at, place = _walk(places + 4 * ones + 1, place - base, min(8 * BLOCK, len(bits)), most)
    if place + base > 8 * len(stream):  # the last one is cut off
        at = at[:-1]
    return at + base, ones[at].astype(np.int64), place + base


def _walk(following: Array, place: int, end: int, most: int) -> tuple[Array, int]:
    """The places that one comes by from `place` on, up to `most` of those before `end`; and the one behind them.

    In leaps of 2^LEAPS codes, between which those that were leaped over are found for all at once.
    """
    jumps = [np.concatenate([following, np.arange(len(following), len(following) + LONGEST, dtype=np.int32)])]
    for _ in range(LEAPS):
        jumps.append(jumps[-1].take(jumps[-1]))
    leap, seen = jumps[-1].data, [place]
    while seen[-1] < end:
        seen.append(leap[seen[-1]])
    at = np.array(seen, np.int64)
    for jump in reversed(jumps[:-1]):
        at = np.stack([at, jump.take(np.minimum(at, len(jump) - 1))], 1).reshape(-1)
    count = min(int(np.searchsorted(at, end)), most)
    return at[:count], int(at[count])


def _values(stream: bytes, starts: Array, ones: Array) -> Array:
    """The residuals of codes, up to the first that means none."""
    wrong = np.flatnonzero(ones > MOST_ONES)
    if len(wrong):
        starts, ones = starts[: wrong[0]], ones[: wrong[0]]
    first_bit = starts + ones + 1
    byte = first_bit >> 3
    low = int(byte[0]) if len(byte) else 0
    around = np.frombuffer(stream[low : low + BLOCK + 8] + bytes(8), np.uint8).astype(np.int64)
    byte = byte - low
    window = around[byte] << 24 | around[byte + 1] << 16 | around[byte + 2] << 8 | around[byte + 3]
    values = (window << (first_bit & 7) & 0xFFFFFFFF) >> (32 - 3 * ones)
    found: Array = FIRST[ones] + values
    large = np.flatnonzero(found > 0xFFFF)
    return found[: large[0]] if len(large) else found


def _interleave(count: int, raw_large: Array, code_large: Array) -> npt.NDArray[np.bool_]:
    """Which words are plain ones. A lane takes one after a large residual; where both lanes are small, whole runs are codes."""
    large_places = np.flatnonzero(code_large).tolist()
    raw_flags, code_flags = raw_large.tolist(), code_large.tolist()
    lanes = [True, True]
    plain: list[int] = []
    word = raws = codes = seen = 0
    while word < count:
        lane = word & 1
        if lanes[lane]:
            if raws == len(raw_flags):
                raise PackedError(f"it has no plain word left for word {word}")
            lanes[lane] = raw_flags[raws]
            plain.append(word)
            raws += 1
            word += 1
            continue
        run = 1
        if not lanes[1 - lane]:
            while seen < len(large_places) and large_places[seen] < codes:
                seen += 1
            run = (large_places[seen] + 1 if seen < len(large_places) else len(code_flags)) - codes
        run = min(run, count - word)
        if run < 1 or codes + run > len(code_flags):
            raise PackedError(f"its bit stream ends, or is wrong, after {codes} codes")
        codes += run
        word += run
        lanes[(word - 1) & 1] = code_flags[codes - 1]
    found = np.zeros(count, bool)
    found[plain] = True
    return found


def pack(plain: bytes) -> bytes:
    """The chunk for an even number of plain bytes."""
    words = np.frombuffer(plain, ">u2").astype(np.int64)
    residuals = np.zeros(len(words), np.int64)
    is_raw = np.zeros(len(words), bool)
    for lane in (0, 1):
        steps = np.diff(words[lane::2], n=2, prepend=[0, 0])
        steps = (steps + 0x8000 & 0xFFFF) - 0x8000
        residuals[lane::2] = np.where(steps < 0, -2 * steps - 1, 2 * steps)
        is_raw[lane::2] = np.concatenate([[True], residuals[lane::2] >= LARGE])[: len(steps)]
    raw = residuals[is_raw].astype(">u2").tobytes()
    raw += bytes(len(raw) % 4)
    return struct.pack(">II", len(words), 4 + len(raw)) + raw + _stream(residuals[~is_raw])


def _stream(residuals: Array) -> bytes:
    """The codes of residuals, filled with zero bits up to a multiple of four bytes."""
    k = np.searchsorted(FIRST, residuals, "right").astype(np.int32) - 1
    codes = ((1 << k) - 1 << 1) << 3 * k | (residuals - FIRST[k]).astype(np.int32)
    sizes = 4 * k + 1
    ends = np.cumsum(sizes)
    total = int(ends[-1]) if len(ends) else 0
    shift = np.repeat((ends - 1).astype(np.int32), sizes) - np.arange(total, dtype=np.int32)
    bits = np.zeros(-(-total // 32) * 32, np.uint8)
    bits[:total] = np.repeat(codes, sizes) >> shift & 1
    return np.packbits(bits).tobytes()
