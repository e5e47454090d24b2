# SPDX-License-Identifier: GPL-3.0-or-later
"""Tables found by offset, inside a chunk whose size is known."""

from __future__ import annotations

import struct
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ..binary import Array
from ..errors import FormatError

END = 0xFFFFFFFF

# Tables and chunks may overlap, but what they hold together may not be out of proportion to the file.
OVERLAP = 12
SPARE = 3 << 20
SEARCH_COST = 32  # looking in vain for the end of a table costs one byte for so many
# Bytes that a thing of the document takes, beside its arrays' data; about.
OBJECT_COST = {"list": 512, "mesh": 1024, "definition": 512, "bone": 1536, "command": 160, "texture": 256}


class BattleError(FormatError):
    """A FormatError that also says in one word of what kind it is."""

    def __init__(self, kind: str, message: str, *, offset: int | None = None, field: str = "") -> None:
        super().__init__(message, offset=offset, field=field)
        self.kind = kind


class Budget:
    """The memory, and with it the time, that reading one file may take. All that is made from its bytes is counted here."""

    def __init__(self, size: int) -> None:
        self.left = OVERLAP * size + SPARE

    def spend(self, size: int) -> bool:
        """False: there is not so much left. Nothing is taken then."""
        if size > self.left:
            return False
        self.left -= size
        return True


class Chunk:
    """bytes[start:end] of a file; offsets are relative to `start`, those in errors to the file."""

    def __init__(self, data: bytes, start: int, end: int, name: str, budget: Budget | None = None) -> None:
        self.data = data
        self.start = start
        self.end = end
        self.name = name
        self.budget = budget or Budget(end - start)

    def __len__(self) -> int:
        return self.end - self.start

    @cached_property
    def bytes(self) -> bytes:
        return self.data[self.start : self.end]

    def spend(self, size: int, field: str, offset: int = 0) -> None:
        if not self.budget.spend(size):
            raise self.error("count_too_large", "the tables hold far more than the file", offset, field)

    def spend_on(self, kind: str, count: int, field: str) -> None:
        """Before so many objects of the document are made."""
        self.spend(OBJECT_COST[kind] * count, field)

    def error(self, kind: str, message: str, offset: int, field: str) -> BattleError:
        return BattleError(kind, message, offset=self.start + offset, field=f"{self.name} {field}")

    def array(self, offset: int, dtype: npt.DTypeLike, count: int, field: str) -> Array:
        """`count` elements at `offset`, as a view of the file."""
        kind = np.dtype(dtype)
        size = count * kind.itemsize
        if offset > len(self):
            raise self.error("offset_out_of_range", f"starts 0x{offset:X} bytes into a chunk of 0x{len(self):X}", 0, field)
        if size > len(self) - offset:
            word = "count_too_large" if count > 1 else "truncated"
            raise self.error(word, f"{count} need {size} bytes, {len(self) - offset} are left", offset, field)
        self.spend(size, field, offset)
        return np.frombuffer(self.data, kind, count, self.start + offset)

    def u32(self, offset: int, field: str) -> int:
        if offset + 4 > len(self):
            raise self.error("truncated", "the chunk ends before it", offset, field)
        (value,) = struct.unpack_from(">I", self.data, self.start + offset)
        return int(value)

    def rows(self, offset: int, dtype: npt.DTypeLike, end: int, field: str) -> Array:
        """The elements from `offset` up to the one whose first number has all bits set: `end`, as that type's number."""
        kind = np.dtype(dtype)
        if offset > len(self):
            raise self.error("offset_out_of_range", f"starts 0x{offset:X} bytes into a chunk of 0x{len(self):X}", 0, field)
        # The end mark need not be a whole element: look at the first numbers alone, farther and farther.
        mark = np.dtype(">u4") if end == END else np.dtype(">u2")
        width = kind.itemsize // mark.itemsize
        numbers = np.frombuffer(self.data, mark, (len(self) - offset) // mark.itemsize, self.start + offset)[::width]
        reach = 64
        while True:
            found = np.flatnonzero(numbers[:reach] == end)
            if len(found):
                return self.array(offset, kind, int(found[0]), field)
            if reach >= len(numbers):
                self.spend(numbers.nbytes // SEARCH_COST, field, offset)
                raise self.error("unterminated", "the end mark is missing", offset, field)
            reach *= 8
